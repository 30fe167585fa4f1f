//! Packages and examples for other build tools, each configured, built and run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::sandbox::{Sandbox, path_with_layoutc};
use layoutc_testing::process::needed_program;

/// Text that the tools print when they run something.
const ACTS: &[&str] = &[
    "Laying out",
    "Building C",
    "Linking",
    "layoutc build",
    "Generating c/layouts",
    "Compiling",
    "cc -",
    "-o scores",
];

pub(crate) fn integrations() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../integrations").canonicalize().expect("there")
}

/// All files below a folder, relative to it, without build products.
fn files(folder: &Path, below: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder.join(below)).expect("a folder") {
        let name = entry.expect("an entry").file_name();
        let is_left = name == "generated" || name == ".layoutc";
        if is_left || name.to_string_lossy().starts_with("bazel-") {
            continue;
        }
        let path = below.join(name);
        if folder.join(&path).is_dir() { files(folder, &path, found) } else { found.push(path) }
    }
}

/// A sandbox with a copy of the example.
fn copy() -> Sandbox {
    let sandbox = Sandbox::new(&[]);
    copy_to(&sandbox, "example", "");
    sandbox
}

/// Copies an integration into a sandbox, below `to`.
pub(crate) fn copy_to(sandbox: &Sandbox, name: &str, to: &str) {
    let (from, mut found) = (integrations().join(name), Vec::new());
    files(&from, Path::new(""), &mut found);
    for path in found {
        let text = fs::read_to_string(from.join(&path)).expect("a text");
        sandbox.write(Path::new(to).join(&path).to_str().expect("UTF-8"), &text);
    }
}

/// A command in the sandbox, with layoutc on the path.
pub(crate) fn command(sandbox: &Sandbox, program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(sandbox.path(""));
    command.env("PATH", path_with_layoutc());
    for variable in ["MAKEFLAGS", "MAKELEVEL", "CFLAGS", "LAYOUTC", "CMAKE_GENERATOR", "DESTDIR"] {
        command.env_remove(variable);
    }
    command
}

pub(crate) fn merged_output(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// Output of a command, which must succeed.
pub(crate) fn run(sandbox: &Sandbox, program: &str, args: &[&str]) -> String {
    let output = command(sandbox, program, args).output().expect("it starts");
    let message = merged_output(&output);
    assert!(output.status.success(), "{program} {args:?}: {message}");
    message
}

pub(crate) fn edit(sandbox: &Sandbox, path: &str, from: &str, to: &str) {
    // make and ninja do not see a change within one tick of the file system's clock.
    thread::sleep(Duration::from_millis(20));
    let old = sandbox.read(path).expect("there");
    let new = old.replace(from, to);
    assert_ne!(old, new, "{path}");
    sandbox.write(path, &new);
}

/// A configured example: its build command and its program.
struct Ready<'a> {
    sandbox: &'a Sandbox,
    build: &'a [&'a str],
    program: &'a str,
}

impl Ready<'_> {
    fn build(&self) -> String {
        run(self.sandbox, self.build[0], &self.build[1..])
    }

    fn is_idle(&self) {
        let message = self.build();
        assert!(!ACTS.iter().any(|act| message.contains(act)), "{message}");
    }

    fn runs(&self, line: &str) {
        let program = self.sandbox.path(self.program);
        let message = run(self.sandbox, program.to_str().expect("UTF-8"), &[]);
        assert_eq!(message, format!("{line}\n"));
    }

    fn modified(&self) -> SystemTime {
        let program = self.sandbox.path(self.program);
        fs::metadata(program).and_then(|m| m.modified()).expect("a time")
    }

    /// Builds; checks that nothing is rebuilt; builds after edits of the manifest, of a used one, and of a comment.
    fn lives(&self) {
        self.build();
        self.runs("6 x 10 scores, 12 slots of padding");
        self.is_idle();
        edit(self.sandbox, "layouts/scores.kdl", "column 10", "column 9");
        self.build();
        self.runs("6 x 9 scores, 18 slots of padding");
        self.is_idle();
        edit(self.sandbox, "shared/blocks.kdl", "by=4", "by=8");
        self.build();
        self.runs("6 x 9 scores, 42 slots of padding");
        self.is_idle();
        let before = self.modified();
        edit(self.sandbox, "shared/blocks.kdl", "by=8", "by=8 // wide");
        let message = self.build();
        assert_eq!(self.modified(), before, "the same text was compiled again: {message}");
        self.is_idle();
    }
}

const CMAKE: &[(&str, &str)] = &[("Ninja", "ninja"), ("Unix Makefiles", "make")];

/// Configures the example with `CMake`.
fn configure(sandbox: &Sandbox, generator: &str, more: &[&str]) -> Output {
    let package = format!("-Dlayoutc_DIR={}", integrations().join("cmake").display());
    let args = [&["-S", ".", "-B", "b", "-G", generator, &package], more].concat();
    command(sandbox, "cmake", &args).output().expect("it starts")
}

#[test]
fn the_cmake_example_is_built_again_when_an_input_changes() {
    let Some(_) = needed_program("cmake") else { return };
    for (generator, program) in CMAKE {
        let Some(_) = needed_program(program) else { continue };
        let sandbox = copy();
        let configured = configure(&sandbox, generator, &[]);
        assert!(configured.status.success(), "{}", merged_output(&configured));
        let ready =
            Ready { sandbox: &sandbox, build: &["cmake", "--build", "b"], program: "b/scores" };
        ready.lives();
        // A manifest with an old time is added and removed.
        let text = sandbox.read("layouts/scores.kdl").expect("there");
        sandbox.write("layouts/more.kdl", &text.replace("tensor scores", "tensor more"));
        let file = fs::File::options().append(true).open(sandbox.path("layouts/more.kdl"));
        file.expect("there").set_modified(SystemTime::UNIX_EPOCH).expect("set");
        assert!(ready.build().contains("more.c.o"));
        ready.is_idle();
        fs::remove_file(sandbox.path("layouts/more.kdl")).expect("gone");
        assert!(!ready.build().contains("more.c.o"));
        ready.is_idle();
        ready.is_idle();
    }
}

#[test]
fn cmake_finds_used_manifests_through_the_depfile() {
    let Some(_) = needed_program("cmake") else { return };
    for (generator, program) in CMAKE {
        let Some(_) = needed_program(program) else { continue };
        let sandbox = copy();
        let whole = "layoutc_add(layouts ${CMAKE_CURRENT_SOURCE_DIR})";
        let one = "layoutc_add(layouts layouts/scores.kdl OUT made TARGETS c)";
        edit(&sandbox, "CMakeLists.txt", whole, one);
        let layoutc = format!("-DLAYOUTC_EXECUTABLE={}", env!("CARGO_BIN_EXE_layoutc"));
        let configured = configure(&sandbox, generator, &[&layoutc]);
        assert!(configured.status.success(), "{}", merged_output(&configured));
        let ready =
            Ready { sandbox: &sandbox, build: &["cmake", "--build", "b"], program: "b/scores" };
        ready.build();
        ready.is_idle();
        edit(&sandbox, "shared/blocks.kdl", "by=4", "by=8");
        let message = ready.build();
        assert!(!message.contains("Configuring"), "{message}");
        ready.runs("6 x 10 scores, 36 slots of padding");
        ready.is_idle();
        assert!(sandbox.read("b/made/c/scores.h").is_some());
    }
}

#[test]
fn cmake_reports_missing_files() {
    let Some(_) = needed_program("cmake") else { return };
    let sandbox = copy();
    let configured = configure(&sandbox, "Unix Makefiles", &["-DLAYOUTC_EXECUTABLE=/none/layoutc"]);
    let text = merged_output(&configured);
    assert!(!configured.status.success());
    assert!(text.contains("LAYOUTC_EXECUTABLE"), "{text}");
    let sandbox = copy();
    edit(&sandbox, "CMakeLists.txt", "layoutc 0.1 ", "layoutc 7.0 ");
    let configured = configure(&sandbox, "Unix Makefiles", &[]);
    let text = merged_output(&configured);
    assert!(!configured.status.success() && text.contains("requested version \"7.0\""), "{text}");
    let version = fs::read_to_string(integrations().join("cmake/layoutc-config-version.cmake"));
    let line = format!("set(PACKAGE_VERSION \"{}\")", env!("CARGO_PKG_VERSION"));
    assert!(version.expect("there").contains(&line), "the package is of another version");
    let sandbox = copy();
    edit(&sandbox, "layouts/scores.kdl", "layout blocks", "layout blox");
    let configured = configure(&sandbox, "Unix Makefiles", &[]);
    let text = merged_output(&configured);
    assert!(!configured.status.success() && text.contains("error[name::unknown]"), "{text}");
}

#[test]
fn the_meson_example_is_built_again_when_an_input_changes() {
    let (Some(_), Some(_)) = (needed_program("meson"), needed_program("ninja")) else { return };
    let sandbox = copy();
    run(&sandbox, "meson", &["setup", "b"]);
    Ready { sandbox: &sandbox, build: &["ninja", "-C", "b"], program: "b/scores" }.lives();
}

#[test]
fn the_make_example_is_built_again_when_an_input_changes() {
    let Some(_) = needed_program("make") else { return };
    let sandbox = copy();
    let ready = Ready { sandbox: &sandbox, build: &["make"], program: "scores" };
    ready.lives();
    let text = sandbox.read("layouts/scores.kdl").expect("there");
    sandbox.write("layouts/more.kdl", &text.replace("tensor scores", "tensor more"));
    ready.build();
    assert!(sandbox.read("generated/c/more.h").is_some());
    ready.is_idle();
    fs::remove_file(sandbox.path("layouts/more.kdl")).expect("gone");
    ready.build();
    assert!(sandbox.read("generated/c/more.h").is_none());
    ready.is_idle();
    run(&sandbox, "make", &["clean"]);
    assert!(!sandbox.path("generated").exists());
}

#[test]
fn ninja_file_of_the_book_rebuilds_when_an_input_changes() {
    let Some(_) = needed_program("ninja") else { return };
    let chapter = integrations().join("../book/src/build_tools.md");
    let chapter = fs::read_to_string(chapter).expect("the chapter");
    let (_, block) = chapter.split_once("```ninja\n").expect("a block");
    let (block, _) = block.split_once("```").expect("its end");
    let sandbox = copy();
    sandbox.write("build.ninja", block);
    Ready { sandbox: &sandbox, build: &["ninja", "-v"], program: "scores" }.lives();
}
