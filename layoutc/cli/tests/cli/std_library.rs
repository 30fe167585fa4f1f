//! The library of manifests: `library`, builds and editors with `use "std/…"`, pictures of fragments.

use serde_json::{Value, json};

use crate::client::{Client, position};
use crate::sandbox::Sandbox;

const FRAGMENT: &str = "\
use \"std/nvidia.kdl\"
tensor a dtype=f16 {
    shape { m 16; k 16 }
    layout mma_m16n8k16_a
    memory none
}
tensor d dtype=f32 {
    shape { m 64; n 64 }
    layout wgmma_m64_d n=64
    memory none
}
tensor part dtype=f16 {
    shape { m 7; n 7 }
    layout { apply mma_m16n8k8_b; padding allow }
    memory none
}
";

fn project() -> Sandbox {
    Sandbox::new(&[("layoutc.toml", ""), ("layouts/a.kdl", FRAGMENT)])
}

#[test]
fn the_library_is_listed_and_printed() {
    let sandbox = Sandbox::new(&[]);
    let listed = sandbox.run(&["library"]).success().to_owned();
    let paths: Vec<&str> = listed.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(paths, ["std/amd.kdl", "std/nvidia.kdl"]);
    for path in paths {
        let text = sandbox.run(&["library", path]).success().to_owned();
        assert!(text.contains("\ntransform matrix_tiles "), "{text}");
        let short = path.trim_start_matches("std/").trim_end_matches(".kdl");
        assert_eq!(sandbox.run(&["library", short]).success(), text);
        let object = sandbox.run(&["library", short, "--format", "json"]).success().to_owned();
        let object: Value = serde_json::from_str(&object).expect("JSON");
        assert_eq!((&object["path"], &object["text"]), (&json!(path), &json!(text)));
        // A copy in a project is a manifest in the common style.
        sandbox.write("own.kdl", &text);
        sandbox.run(&["fmt", "--check", "own.kdl"]).success();
        sandbox.run(&["check", "own.kdl"]).success();
    }
    let ran = sandbox.run(&["library", "nvida"]);
    let line = "error: the library has no manifest `nvida`; did you mean `nvidia`? \
                (`layoutc library` lists all)\n";
    assert_eq!(ran.failure(), (Some(2), line));
}

#[test]
fn builds_with_the_library_are_incremental_and_list_only_files() {
    let sandbox = project();
    sandbox.run(&["build"]).success();
    let before = sandbox.files("generated");
    let timings = ["build", "--timings", "--format", "json"];
    let object: Value = serde_json::from_str(sandbox.run(&timings).success()).expect("JSON");
    let all = object["outputs"].as_array().expect("a list");
    assert!(all.iter().all(|output| output["status"] == "unchanged"), "{object}");
    // Nothing was checked.
    let trace = sandbox.read(".layoutc/trace.json").expect("a trace");
    assert!(trace.contains("build") && !trace.contains("check"), "{trace}");
    assert!(!sandbox.run(&["deps"]).success().contains("std"));
    sandbox.run(&["build", "--depfile", "d.d"]).success();
    assert!(!sandbox.read("d.d").expect("a rule").contains("std"));
    assert_eq!(sandbox.files("generated"), before);
}

#[test]
fn a_file_with_a_path_of_the_library_is_refused_before_and_after_a_build() {
    let sandbox = project();
    let mine = "transform mine {\n    order ...\n}\n";
    for is_built in [false, true] {
        if is_built {
            sandbox.run(&["build"]).success();
        }
        sandbox.write("layouts/std/nvidia.kdl", mine);
        let ran = sandbox.run(&["build"]);
        assert_eq!(ran.failure().0, Some(1), "built before: {is_built}");
        let message = "`std/nvidia.kdl` is both a manifest of the library and a file";
        assert!(ran.err.contains(message), "{}", ran.err);
        std::fs::remove_dir_all(sandbox.path("layouts/std")).expect("removed");
    }
    sandbox.run(&["build"]).success();
    // A folder `std` elsewhere is not beside the manifest.
    sandbox.write("std/nvidia.kdl", mine);
    sandbox.run(&["build"]).success();
}

#[test]
fn errors_show_the_text_of_the_library() {
    let sandbox = project();
    let again = format!("{FRAGMENT}transform mma_m16n8k16_a {{\n    order ...\n}}\n");
    sandbox.write("layouts/a.kdl", &again);
    for command in ["check", "build"] {
        let ran = sandbox.run(&[command]);
        assert_eq!(ran.failure().0, Some(1));
        for part in ["<std>/nvidia.kdl:", "transform mma_m16n8k16_a {\n", "first here"] {
            assert!(ran.err.contains(part), "{part}: {}", ran.err);
        }
    }
}

#[test]
fn editors_complete_and_describe_the_library() {
    let sandbox = project();
    let mut client = Client::start(&sandbox);
    let path = "layouts/a.kdl";
    client.open(path, &FRAGMENT.replace("std/nvidia", "std/nvida"));
    let found = client.diagnostics(path);
    let message = "the library has no manifest `std/nvida.kdl`\ndid you mean";
    let text = found[0]["message"].as_str().expect("a text").replace("help: ", "");
    assert!(found.len() == 1 && text.starts_with(message), "{found:?}");
    client.change(path, json!([{ "text": FRAGMENT }]));
    assert_eq!(client.diagnostics(path), [] as [Value; 0]);
    let used = position(FRAGMENT, "nvidia.kdl", 0);
    let list = client.at("textDocument/completion", path, &used);
    let labels: Vec<&str> = list["items"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|i| i["label"].as_str())
        .collect();
    assert!(labels.contains(&"std/amd.kdl") && labels.contains(&"std/nvidia.kdl"), "{labels:?}");
    assert!(!labels.iter().any(|label| label.contains('<')), "{labels:?}");
    let name = position(FRAGMENT, "mma_m16n8k16_a", 0);
    let hover = client.at("textDocument/hover", path, &name);
    let text = hover["contents"]["value"].as_str().expect("a text");
    for part in ["// A of `mma.m16n8k16`", "transform mma_m16n8k16_a {", "in `<std>/nvidia.kdl`"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // The library has no file to which an editor could go, and no name that it could change.
    for place in [&used, &name] {
        assert_eq!(client.at("textDocument/definition", path, place), Value::Null);
    }
    assert_eq!(client.at("textDocument/prepareRename", path, &name), Value::Null);
    let rename = json!({
        "textDocument": { "uri": client.uri(path) }, "position": name, "newName": "mine",
    });
    let id = client.ask("textDocument/rename", rename);
    let message = "`<std>/nvidia.kdl` declares this name, a manifest of the library";
    assert_eq!(client.answer(id)["error"]["message"], message);
    let found = client.with_more(
        "textDocument/references",
        path,
        &name,
        json!({ "context": { "includeDeclaration": true } }),
    );
    let uris: Vec<&Value> =
        found.as_array().expect("a list").iter().map(|one| &one["uri"]).collect();
    assert_eq!(uris, [&json!(client.uri(path))]);
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn pictures_of_fragments_have_threads_as_colors_and_texts() {
    let sandbox = project();
    let show = |tensor: &str, more: &[&str]| {
        let args = [&["show", "layouts/a.kdl", tensor], more].concat();
        sandbox.run(&args).success().to_owned()
    };
    let part = show("part", &["--width", "80"]);
    let (grid, _) = part.split_once("\n\nmemory").expect("the memory");
    assert_eq!(
        grid,
        "\
part: f16 [m 7, n 7]
storage: tile_row 1, tile_column 1, lane 32, register 2
letters: lane; ░ padding

lane:register: m down, n across
       0      1      2      3      4      5      6      7
 0   0:0A   4:0E   8:0C  12:0A  16:0E  20:0C  24:0A  ░░░░░
 1   0:1A   4:1E   8:1C  12:1A  16:1E  20:1C  24:1A  ░░░░░
   ────────────────────────────────────────────────────────
 2   1:0B   5:0F   9:0D  13:0B  17:0F  21:0D  25:0B  ░░░░░
 3   1:1B   5:1F   9:1D  13:1B  17:1F  21:1D  25:1B  ░░░░░
   ────────────────────────────────────────────────────────
 4   2:0C   6:0A  10:0E  14:0C  18:0A  22:0E  26:0C  ░░░░░
 5   2:1C   6:1A  10:1E  14:1C  18:1A  22:1E  26:1C  ░░░░░
   ────────────────────────────────────────────────────────
 6   3:0D   7:0B  11:0F  15:0D  19:0B  23:0F  27:0D  ░░░░░
 7  ░░░░░  ░░░░░  ░░░░░  ░░░░░  ░░░░░  ░░░░░  ░░░░░  ░░░░░"
    );
    // The thread and the element of every drawn cell, by the formula of the PTX ISA.
    let text = show("a", &["--format", "json"]);
    let object: Value = serde_json::from_str(&text).expect("one object");
    assert_eq!(object["colored_by"], json!(["lane"]));
    for cell in
        object["cells"].as_array().expect("rows").iter().flat_map(|r| r.as_array().expect("cells"))
    {
        let lane = cell["storage"][2].as_u64().expect("a lane");
        assert_eq!(cell["color"], lane % 6, "{cell}");
    }
    let text = show("a", &["--width", "200"]);
    let rows: Vec<&str> = text.lines().collect();
    let head = rows.iter().position(|line| *line == "lane:register: m down, k across");
    let grid = &rows[head.expect("the labels") + 2..];
    let grid = grid.iter().take_while(|line| !line.is_empty()).filter(|line| !line.contains('─'));
    let mut count = 0;
    for (row, line) in (0_u64..).zip(grid) {
        let cells = line.split([' ', '│']).filter(|cell| cell.contains(':'));
        for (column, cell) in (0_u64..).zip(cells) {
            let (lane, register) =
                (row % 8 * 4 + column % 8 / 2, column / 8 * 4 + row / 8 * 2 + column % 2);
            assert_eq!(cell.trim_end_matches(char::is_alphabetic), format!("{lane}:{register}"));
            count += 1;
        }
    }
    assert_eq!(count, 256);
    let svg = show("d", &["--svg", "-"]);
    for part in [">in each cell thread:register<", ">0:0<", ">4:1<", "color: thread"] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
    let page = show("d", &["--html", "-"]);
    for part in ["\"labelAxes\":\"thread:register\"", "\"label\":\"0:0\""] {
        assert!(page.contains(part), "{part}");
    }
}
