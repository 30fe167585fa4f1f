//! Editor configuration for the language server and highlighting.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

fn text(path: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(path)).expect(path)
}

fn json(path: &str) -> Value {
    serde_json::from_str(&text(path)).expect(path)
}

#[test]
fn vs_code_starts_the_server() {
    let package = json("editors/vscode/package.json");
    assert_eq!(package["main"], "./extension.js");
    let language = &package["contributes"]["languages"][0];
    assert_eq!(language["id"], "layoutc");
    for part in [&language["configuration"], &package["contributes"]["grammars"][0]["path"]] {
        let path = part.as_str().expect("a path").trim_start_matches("./");
        assert!(json(&format!("editors/vscode/{path}")).is_object());
    }
    let settings = &package["contributes"]["configuration"]["properties"];
    assert_eq!(settings["layoutc.path"]["default"], "layoutc");
    let extension = text("editors/vscode/extension.js");
    assert!(extension.contains(r#"args: ["lsp"]"#), "{extension}");
}

#[test]
fn helix_and_neovim_start_the_server_as_documented() {
    let page = text("book/src/editor.md");
    let helix = text("editors/helix/languages.toml");
    let table: toml::Table = helix.parse().expect("TOML");
    let server = &table["language-server"]["layoutc"];
    assert_eq!(server["command"].as_str(), Some("layoutc"));
    assert_eq!(server["args"].as_array().map(Vec::len), Some(1));
    assert_eq!(server["args"][0].as_str(), Some("lsp"));
    assert_eq!(table["language"][0]["language-servers"][0].as_str(), Some("layoutc"));
    let neovim = text("editors/neovim/layoutc.lua");
    assert!(neovim.contains(r#"cmd = { "layoutc", "lsp" }"#), "{neovim}");
    for own in [&helix, &neovim] {
        let code: String = own.split_inclusive('\n').skip(1).collect();
        assert!(page.contains(code.trim()), "the page lacks:\n{code}");
    }
}

#[test]
fn tree_sitter_query_path_is_as_documented() {
    // Neovim stops at the first line that is not a comment, so it ignores the part for Helix.
    let query = text("editors/tree-sitter/highlights.scm");
    assert!(query.starts_with(";; extends\n\n; inherits: kdl\n\n"), "{query}");
    let helix: toml::Table = text("editors/helix/highlights.toml").parse().expect("TOML");
    let language = &helix["language"][0];
    assert_eq!(language["grammar"].as_str(), Some("kdl"));
    assert_eq!(language["language-servers"][0].as_str(), Some("layoutc"));
    // In Helix's folder for `kdl`, the query would inherit itself.
    let name = language["name"].as_str().expect("a name");
    for page in [text("editors/README.md"), text("book/src/editor.md")] {
        assert!(page.contains("nvim/after/queries/kdl/"), "{page}");
        assert!(page.contains(&format!("helix/runtime/queries/{name}/")), "{page}");
    }
}
