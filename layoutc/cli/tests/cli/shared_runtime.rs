//! `runtime = "shared"` in `[target.c]`: one header for the C sources of a project.

use std::fs;

use crate::sandbox::Sandbox;

/// Manifest whose source calls a transposition.
const TRANSPOSED: &str =
    "tensor t dtype=f32 {\n    shape { h 40; w 80 }\n    layout { order w h }\n}\n";
const HEADER: &str = "generated/c/layoutc_runtime.h";

/// Project of two manifests, one in a folder, with more keys of `[target.c]`.
fn project(keys: &str) -> Sandbox {
    let config = format!("[target.c]\nruntime = \"shared\"\n{keys}");
    Sandbox::new(&[
        ("layoutc.toml", config.as_str()),
        ("layouts/a.kdl", TRANSPOSED),
        ("layouts/deep/b.kdl", &TRANSPOSED.replace("tensor ", "tensor other_")),
    ])
}

#[test]
fn the_header_is_written_once_and_restored() {
    // The umbrella header is the other file that belongs to no manifest.
    for keys in ["", "umbrella-header = \"all.h\"\n"] {
        let sandbox = project(keys);
        let ran = sandbox.run(&["build"]);
        assert_eq!(ran.success().matches("layoutc_runtime.h\n").count(), 1, "{}", ran.out);
        let text = sandbox.read(HEADER).expect("the header");
        for (path, include) in [("a", "layoutc_runtime.h"), ("deep/b", "../layoutc_runtime.h")] {
            let source = sandbox.read(&format!("generated/c/{path}.c")).expect("a source");
            assert!(source.contains(&format!("#include \"{include}\"\n")), "{source}");
        }
        let built = sandbox.files("generated");
        for _ in 0..2 {
            assert!(!sandbox.run(&["build"]).success().contains("written"));
            sandbox.run(&["build", "--check"]).success();
        }
        // A missing header is written again, alone or by a build of one manifest.
        for arguments in [&["build"][..], &["build", "layouts/a.kdl"]] {
            fs::remove_file(sandbox.path(HEADER)).expect("the header");
            assert_eq!(sandbox.run(&["build", "--check"]).code, Some(1));
            sandbox.run(arguments).success();
            assert_eq!(sandbox.read(HEADER).as_ref(), Some(&text));
            assert_eq!(sandbox.files("generated"), built);
        }
        // An edit of a manifest leaves it unchanged.
        sandbox.write("layouts/a.kdl", &TRANSPOSED.replace("40", "30"));
        let ran = sandbox.run(&["build"]);
        assert!(ran.success().contains(&format!("unchanged  {HEADER}")), "{}", ran.out);
    }
}

#[test]
fn the_header_is_an_output_of_the_project() {
    let sandbox = project("");
    let outputs = sandbox.run(&["outputs"]);
    assert!(outputs.success().contains(&format!("{HEADER}\n")), "{}", outputs.out);
    let ninja = sandbox.run(&["outputs", "--format", "ninja"]);
    // It is an output of the first manifest's edge alone.
    let edge = format!(
        "\nbuild generated/c/a.c generated/c/a.h {HEADER} generated/c/tests/a_test.c: layoutc "
    );
    assert!(ninja.success().contains(&edge), "{}", ninja.out);
    assert_eq!(ninja.out.matches(&format!(" {HEADER} ")).count(), 2, "{}", ninja.out);
    sandbox.run(&["build"]).success();
    sandbox.run(&["clean"]).success();
    assert_eq!(sandbox.read(HEADER), None);
}

#[test]
fn the_header_goes_with_the_setting() {
    let sandbox = project("");
    sandbox.run(&["build"]).success();
    sandbox.write("layoutc.toml", "[target.c]\nruntime = \"inline\"\n");
    sandbox.run(&["build"]).success();
    assert_eq!(sandbox.read(HEADER), None);
    let source = sandbox.read("generated/c/a.c").expect("a source");
    assert!(!source.contains("layoutc_runtime.h"), "{source}");
    sandbox.write("layoutc.toml", "[target.c]\nruntime = \"local\"\n");
    let ran = sandbox.run(&["build"]);
    let (code, text) = ran.failure();
    assert_eq!(code, Some(1));
    assert!(text.contains("config::value") && text.contains("`inline`"), "{text}");
}
