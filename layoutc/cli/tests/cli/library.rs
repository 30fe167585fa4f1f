//! layoutc as a library, as used by build scripts.

use std::fs;
use std::path::Path;
use std::process::Command;

const MANIFEST: &str = "tensor t dtype=f32 {\n    shape { h 4; w 8 }\n    layout { tile 2 4 }\n}\n";

#[test]
fn build_script_api_writes_only_below_the_out_dir() {
    let folder = tempfile::tempdir().expect("a folder");
    let (project, out) = (folder.path().join("kernels"), folder.path().join("out"));
    fs::create_dir_all(project.join("layouts")).expect("folders");
    fs::create_dir_all(&out).expect("a folder");
    fs::write(project.join("layoutc.toml"), "[project]\nprefix = \"k_\"\n").expect("a file");
    fs::write(project.join("layouts/a.kdl"), MANIFEST).expect("a file");
    let generated = layoutc::build(&project, &out).expect("a good build");
    let header = fs::read_to_string(generated.include.join("a.h")).expect("a header");
    assert!(header.contains("K_T_BYTES"), "{header}");
    let sources: Vec<&Path> = generated.with_extension("c").collect();
    assert_eq!(sources, ["a.c", "tests/a_test.c"].map(|path| generated.include.join(path)));
    assert_eq!(generated.c_sources().collect::<Vec<_>>(), [generated.include.join("a.c")]);
    let real = project.canonicalize().expect("there");
    assert_eq!(generated.inputs, [real.join("layoutc.toml"), real.join("layouts/a.kdl")]);
    assert_eq!(generated.folders, [real.join("layouts")]);
    let mut names: Vec<_> =
        fs::read_dir(&project).expect("there").map(|e| e.expect("one").file_name()).collect();
    names.sort();
    assert_eq!(names, ["layoutc.toml", "layouts"]);
    let time = || fs::metadata(generated.include.join("a.h")).and_then(|m| m.modified()).expect("");
    let before = time();
    assert_eq!(layoutc::build(&project, &out).as_ref(), Ok(&generated));
    assert_eq!(time(), before);
    fs::write(project.join("layouts/a.kdl"), MANIFEST.replace("tile 2 4", "tile 2 0")).expect("");
    let failure = layoutc::build(&project, &out).expect_err("a tile without an element");
    assert!(failure.text.starts_with("error["), "{failure}");
    assert!(failure.text.contains("layouts/a.kdl:3:"), "{failure}");
}

#[test]
fn c_sources_are_those_of_a_library() {
    let folder = tempfile::tempdir().expect("a folder");
    let (project, out) = (folder.path().join("kernels"), folder.path().join("out"));
    // An exchange in `mpi/a_mpi.c`, and manifests with paths of that form.
    let sharded = "mesh m { x 2 }\ntensor rows dtype=f32 {\n    shape { r 8; c 4 }\n    shard m r=\"x\"\n}\n\
        tensor columns dtype=f32 {\n    shape { r 8; c 4 }\n    shard m c=\"x\"\n}\nconvert rows to=columns\n";
    for (name, text) in [
        ("a", sharded.to_owned()),
        ("mpi/b_mpi", MANIFEST.replace("tensor t", "tensor b")),
        ("tests/c_test", MANIFEST.replace("tensor t", "tensor c")),
    ] {
        let path = project.join(format!("layouts/{name}.kdl"));
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, text).expect("a file");
    }
    fs::create_dir_all(&out).expect("a folder");
    let config = "[target.c]\nemit = [\"pack\", \"test\", \"bench\"]\n";
    fs::write(project.join("layoutc.toml"), config).expect("a file");
    let generated = layoutc::build(&project, &out).unwrap_or_else(|failure| panic!("{failure}"));
    let sources = ["a.c", "mpi/b_mpi.c", "tests/c_test.c"];
    let sources = sources.map(|path| generated.include.join(path));
    assert_eq!(generated.c_sources().collect::<Vec<_>>(), sources);
    assert!(generated.outputs.contains(&generated.include.join("mpi/a_mpi.c")));
}

#[test]
fn library_without_the_cli_needs_no_cli_crates() {
    let args = ["-p", "layoutc", "-e", "normal", "--no-default-features", "--prefix", "none"];
    let mut command = Command::new(env!("CARGO"));
    command.args(["tree", "--offline"]).args(args).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = command.output().expect("it runs");
    let tree = String::from_utf8(output.stdout).expect("UTF-8");
    let crates: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(crates.contains(&"layoutc-compiler"), "{}", String::from_utf8_lossy(&output.stderr));
    for name in
        ["clap", "ctrlc", "indicatif", "lsp-server", "lsp-types", "mimalloc", "notify", "prost"]
    {
        assert!(!crates.contains(&name), "{name}");
    }
}
