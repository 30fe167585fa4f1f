//! `mdbook-layoutc` as run by mdBook.

#![expect(clippy::expect_used, reason = "a test that cannot go on fails")]

#[path = "../../cli/tests/common/manifests.rs"]
mod manifests;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use layoutc_compiler::config::Config;
use layoutc_compiler::query::picture::{
    Coloring, PictureLimits, PictureSubject, SliceFrame, extents, picture, svg,
};
use layoutc_compiler::{Compiler, MemorySources};
use layoutc_testing::process::Finished;
use serde_json::{Value, json};

use manifests::{BLOCKED, BROKEN};

/// Runs the preprocessor with this input.
fn run(args: &[&str], input: &str) -> Finished {
    Finished::run(Command::new(env!("CARGO_BIN_EXE_mdbook-layoutc")).args(args), input)
}

/// mdBook's input for chapters, each nested in the previous one.
fn input(renderer: &str, chapters: &[(&str, &str)]) -> Value {
    let mut items = json!(["Separator", { "PartTitle": "a part" }]);
    for (path, content) in chapters.iter().rev() {
        let sub_items = items;
        items = json!([{ "Chapter": {
            "name": "A name", "content": content, "number": [1], "sub_items": sub_items,
            "path": path, "source_path": path, "parent_names": [], "of_later": { "kept": null },
        } }]);
    }
    let config = json!({ "book": { "src": "src" }, "preprocessor": { "layoutc": {} } });
    let context = json!({ "root": "/book", "config": config, "renderer": renderer, "mdbook_version": "0.5.4" });
    json!([context, { "items": items, "of_later": 1 }])
}

/// Picture of the first tensor as `layoutc show --svg` draws it, with these axes and fixed indices of others.
fn figure(manifest: &str, axes: &[&str], at: &[(&str, i128)]) -> String {
    let sources = MemorySources::of("a.kdl", manifest);
    let checked = Compiler::new(&sources, &Config::default()).check(&["a.kdl".to_owned()]);
    let mut tensors = checked.manifests.iter().flat_map(|manifest| &manifest.tensors);
    let tensor = tensors.next().expect("a tensor");
    let symbols = BTreeMap::new();
    let axes: Vec<String> = axes.iter().map(ToString::to_string).collect();
    let at: Vec<(String, i128)> = at.iter().map(|(name, at)| ((*name).to_owned(), *at)).collect();
    let extents = extents(tensor, &symbols).expect("extents");
    let frame = SliceFrame::new(&extents, &axes, &at).expect("a slice");
    let room = PictureLimits::FIGURE;
    svg(&picture(tensor, &symbols, frame, room, (PictureSubject::Tensor, Coloring::Tiles))
        .expect("a picture"))
}

/// Rendered text of one chapter.
fn drawn(content: &str) -> String {
    let input = input("html", &[("a.md", content)]);
    let ran = run(&[], &input.to_string());
    let book: Value = serde_json::from_str(ran.success()).expect("a book");
    let content = book.pointer("/items/0/Chapter/content").and_then(Value::as_str);
    content.expect("a chapter").to_owned()
}

/// Errors of one chapter.
fn refused(content: &str) -> String {
    let ran = run(&[], &input("html", &[("b.md", ""), ("part/a.md", content)]).to_string());
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    ran.failure().1.to_owned()
}

/// A fenced block with this info string.
fn block(words: &str, text: &str) -> String {
    format!("```{words}\n{text}```\n")
}

/// Visible text of the first block.
fn text_of(html: &str) -> String {
    let code = html.split_once("<code class=\"kdl nohighlight hljs\">").expect("code").1;
    let code = code.split_once("</code>").expect("its end").0;
    let text: String = code
        .split('<')
        .enumerate()
        .map(|(k, part)| if k == 0 { part } else { part.split_once('>').expect("a tag").1 })
        .collect();
    let text = text.replace("&#10;", "\n").replace("&#13;", "\r");
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[test]
fn only_html_is_drawn() {
    assert_eq!(run(&["supports", "html"], "").code, Some(0));
    assert_eq!(run(&["supports", "markdown"], "").code, Some(1));
    let given = input("markdown", &[("a.md", &block("kdl,layout=t", BLOCKED))]);
    let book: Value = serde_json::from_str(run(&[], &given.to_string()).success()).expect("a book");
    assert_eq!(Some(&book), given.get(1));
}

#[test]
fn unknown_arguments_print_the_usage() {
    let ran = run(&["draw"], "");
    let (code, told) = ran.failure();
    assert_eq!(code, Some(2));
    assert!(told.contains("[preprocessor.layoutc]"), "{told}");
    assert_eq!(run(&["--help"], "").success(), told);
    let ran = run(&[], "{}");
    let (code, told) = ran.failure();
    assert_eq!(code, Some(1));
    assert!(told.starts_with("error: invalid input from mdBook: "), "{told}");
}

#[test]
fn other_content_is_unchanged() {
    let content =
        "# A\n\n```c\nint x;\n```\n\n~~~text\n```kdl,layout=t\n```\n~~~\n\n`kdl` <b>x</b>\n";
    let given = input("html", &[("a.md", content), ("b.md", content)]);
    let book: Value = serde_json::from_str(run(&[], &given.to_string()).success()).expect("a book");
    assert_eq!(Some(&book), given.get(1));
}

#[test]
fn a_block_that_names_a_tensor_is_followed_by_its_picture() {
    let page = drawn(&format!("before\n\n{}\nafter\n", block("kdl,layout=t", BLOCKED)));
    assert!(page.starts_with("before\n\n<pre><code class=\"kdl nohighlight hljs\">"), "{page}");
    assert!(page.ends_with("</svg></div>\n\nafter\n"), "{page}");
    assert_eq!(text_of(&page), BLOCKED);
    let file = figure(BLOCKED, &[], &[]);
    let marks = |svg: &str| {
        let from = svg.find("<rect class=\"paper\"").expect("a picture");
        svg.get(from..).unwrap_or_default().replace('\n', "")
    };
    assert!(marks(&page).starts_with(&marks(&file)), "{page}");
}

#[test]
fn fence_words_select_the_slice() {
    let manifest = "tensor t dtype=u8 {\n    shape { n 2; h 3; w 4 }\n}\n";
    let page = drawn(&block("kdl,layout=t axes=n,w at=h=2", manifest));
    let file = figure(manifest, &["n", "w"], &[("h", 2)]);
    let caption = file.lines().find(|line| line.contains("logical: ")).expect("a caption");
    assert!(caption.contains("h = 2") && page.contains(caption), "{caption}\n{page}");
}

#[test]
fn pictures_of_a_page_share_one_style_for_light_and_dark_themes() {
    let one = block("kdl,layout=t", BLOCKED);
    let page = drawn(&format!("{one}\n{one}"));
    assert_eq!(page.matches("<style>").count(), 1);
    assert_eq!(page.matches("<svg class=\"layoutc-picture\"").count(), 2);
    assert_eq!(page.matches(" id=").count(), 1, "{page}");
    let style = page.split_once("<style>").and_then(|(_, rest)| rest.split_once("</style>"));
    for rule in style.expect("a style").0.split_inclusive('}') {
        let (selectors, _) = rule.split_once('{').expect("a rule");
        for selector in selectors.replace(":is(.ayu,.coal,.navy) ", "").split(',') {
            let ours = ["svg.layoutc-picture", "#layoutc-picture-hatch "];
            assert!(ours.iter().any(|start| selector.starts_with(start)), "{selector}");
        }
    }
    assert!(page.contains(":is(.ayu,.coal,.navy) svg.layoutc-picture .paper{fill:#16181c}"));
    assert!(!drawn(&block("kdl", BLOCKED)).contains("<style>"));
}

#[test]
fn colors_do_not_change_the_text() {
    for text in [
        BLOCKED,
        BROKEN,
        "",
        "\n\n// a <b> & \"c\"\n\n\n/* d\n\n e */ f g=\"<h>\" #true 1.5 \\ // i\n j\n",
        "tensor \"never closed\n{ } } \"\"\"\n a",
        "é\t\"層\" &amp; &#10;\n",
    ] {
        let given =
            if text.is_empty() || text.ends_with('\n') { text.into() } else { format!("{text}\n") };
        let page = drawn(&block("kdl", &given));
        assert_eq!(text_of(&page), given);
        assert_eq!(page.lines().count(), 1, "{page}");
    }
    let page = drawn(&block("kdl", "a b=1 // c\n"));
    for part in ["keyword\">a", "attr\">b", "number\">1", "comment\">// c"] {
        assert!(page.contains(&format!("<span class=\"hljs-{part}</span>")), "{page}");
    }
}

#[test]
fn highlighted_block_replaces_its_fence_in_place() {
    let page = drawn("- a\n  ```kdl\n  b 1\n  ```\n- c\n\n> ```kdl\n> d\n> ```\n> e\n");
    let lines: Vec<&str> = page.lines().collect();
    assert!(lines.get(1).is_some_and(|line| line.starts_with("  <pre>")), "{page}");
    assert_eq!(lines.get(2), Some(&"- c"), "{page}");
    assert!(lines.get(4).is_some_and(|line| line.starts_with("> <pre>")), "{page}");
    assert_eq!(lines.get(5), Some(&"> e"), "{page}");
}

#[test]
fn block_can_use_files_of_its_page() {
    let shared = "// lib/shared.kdl\nsymbol batch min=3\n";
    let text = "// layouts/t.kdl\nuse \"../lib/shared.kdl\"\ntensor t dtype=u8 {\n    shape { n batch; c 4 }\n}\n";
    let both = format!("{}\n{}", block("kdl", shared), block("kdl,layout=t", text));
    assert!(drawn(&both).contains("batch = 3"));
    let told = refused(&block("kdl,layout=t", text));
    assert!(told.contains("src/part/a.md:3:6"), "{told}");
}

#[test]
fn invalid_blocks_are_reported_by_chapter_and_line() {
    let told = refused(&format!("# A\n\ntext\n\n{}", block("kdl,layout=t", BROKEN)));
    let shown = "error[map::not_injective]: two elements of `t` share a slot\n  ┌─ src/part/a.md:9:28\n6 │ tensor t dtype=f32 {\n...\n9 │         map \"(h, w) -> (h, w % 4)\"\n  │                            ^^^^^ ";
    assert!(told.starts_with(shown), "{told}");
    let told = refused(
        "- list\n\n  ```kdl,layout=t\n  tensor t dtype=f99 {\n      shape { n 2 }\n  }\n  ```\n",
    );
    assert!(told.contains("┌─ src/part/a.md:4:18\n"), "{told}");
}

#[test]
fn picture_errors_are_reported_by_chapter_and_line() {
    for (words, what) in [
        ("kdl,layout=other", "unknown tensor `other`; expected one of `t`"),
        ("kdl,layout=t axes=h,x", "`t`: there is no axis `x`; there are `h`, `w`"),
        ("kdl,layout=t at=h", "`at=h`: expected NAME=INDEX with an integer"),
        ("kdl,layout=t,more", "unknown word `more`; expected `kdl,layout=NAME`, then"),
    ] {
        let told = refused(&format!("\n\n{}", block(words, BLOCKED)));
        assert!(told.starts_with(&format!("error: src/part/a.md:3: {what}")), "{told}");
    }
    // All errors are reported.
    let told = refused(&[block("kdl,layout=u", BLOCKED), block("kdl,layout=v", BLOCKED)].concat());
    assert_eq!(told.matches("error: ").count(), 2, "{told}");
}

#[test]
fn the_pages_of_this_book_are_drawn() {
    let folder = root().join("book/src");
    let mut pictures = 0;
    for entry in fs::read_dir(folder).expect("the book") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let page = fs::read_to_string(&path).expect("a page");
            pictures += drawn(&page).matches("<svg class=").count();
        }
    }
    assert!(pictures >= 5, "{pictures}");
}

#[test]
fn mdbook_builds_a_book_with_pictures_and_fails_with_them() {
    let Some(mdbook) = std::env::var_os("LAYOUTC_MDBOOK") else {
        eprintln!("not run: there is no mdbook");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| fs::write(folder.path().join(path), text).expect("a file");
    fs::create_dir(folder.path().join("src")).expect("a folder");
    let config = "[book]\ntitle = \"a\"\n[preprocessor.layoutc]\ncommand = \"mdbook-layoutc\"\n";
    write("book.toml", config);
    write("src/SUMMARY.md", "# Summary\n\n- [A](a.md)\n");
    let chapter = format!("# A\n\n{}\n*after*\n", block("kdl,layout=t", BLOCKED));
    write("src/a.md", &chapter);
    let build = || {
        let mut command = Command::new(&mdbook);
        command.arg("build").current_dir(folder.path()).env("PATH", path_with_preprocessor());
        let output = command.output().expect("it runs");
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&text).into_owned())
    };
    let (is_good, log) = build();
    assert!(is_good && !log.contains("WARN"), "{log}");
    let page = fs::read_to_string(folder.path().join("book/a.html")).expect("a page");
    assert!(page.contains("<svg class=\"layoutc-picture\"") && page.contains("<em>after</em>"));
    assert!(page.contains("<span class=\"hljs-keyword\">tensor</span>"), "{page}");
    assert!(page.contains(".paper{fill:#16181c}"), "{page}");
    write("src/a.md", &format!("# A\n\n{}", block("kdl,layout=t", BROKEN)));
    let (is_good, log) = build();
    assert!(!is_good && log.contains("src/a.md:7:28"), "{log}");
}

/// `PATH`, with the preprocessor in front.
fn path_with_preprocessor() -> OsString {
    let binary = Path::new(env!("CARGO_BIN_EXE_mdbook-layoutc")).parent().expect("a folder");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(binary.to_owned()).chain(std::env::split_paths(&path));
    std::env::join_paths(folders).expect("a path")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
