//! Packages and examples for other build tools, each configured, built and run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::tools::{find, path_with_layoutc};
use crate::world::World;

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

/// A world with a copy of the example.
fn copy() -> World {
    let world = World::new(&[]);
    copy_to(&world, "example", "");
    world
}

/// Copies an integration into a world, below `to`.
pub(crate) fn copy_to(world: &World, name: &str, to: &str) {
    let (from, mut found) = (integrations().join(name), Vec::new());
    files(&from, Path::new(""), &mut found);
    for path in found {
        let text = fs::read_to_string(from.join(&path)).expect("a text");
        world.write(Path::new(to).join(&path).to_str().expect("UTF-8"), &text);
    }
}

/// A command in the world's folder, with layoutc on the path.
pub(crate) fn command(world: &World, program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(world.path(""));
    command.env("PATH", path_with_layoutc());
    for variable in ["MAKEFLAGS", "MAKELEVEL", "CFLAGS", "LAYOUTC", "CMAKE_GENERATOR", "DESTDIR"] {
        command.env_remove(variable);
    }
    command
}

pub(crate) fn said(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// Output of a command, which must succeed.
pub(crate) fn run(world: &World, program: &str, args: &[&str]) -> String {
    let output = command(world, program, args).output().expect("it starts");
    let said = said(&output);
    assert!(output.status.success(), "{program} {args:?}: {said}");
    said
}

pub(crate) fn edit(world: &World, path: &str, from: &str, to: &str) {
    // make and ninja do not see a change within one tick of the file system's clock.
    thread::sleep(Duration::from_millis(20));
    let old = world.read(path).expect("there");
    let new = old.replace(from, to);
    assert_ne!(old, new, "{path}");
    world.write(path, &new);
}

/// A configured example: its build command and its program.
struct Ready<'a> {
    world: &'a World,
    build: &'a [&'a str],
    program: &'a str,
}

impl Ready<'_> {
    fn build(&self) -> String {
        run(self.world, self.build[0], &self.build[1..])
    }

    fn is_idle(&self) {
        let said = self.build();
        assert!(!ACTS.iter().any(|act| said.contains(act)), "{said}");
    }

    fn runs(&self, line: &str) {
        let program = self.world.path(self.program);
        let said = run(self.world, program.to_str().expect("UTF-8"), &[]);
        assert_eq!(said, format!("{line}\n"));
    }

    fn modified(&self) -> SystemTime {
        let program = self.world.path(self.program);
        fs::metadata(program).and_then(|m| m.modified()).expect("a time")
    }

    /// Builds; checks that nothing is rebuilt; builds after edits of the manifest, of a used one, and of a comment.
    fn lives(&self) {
        self.build();
        self.runs("6 x 10 scores, 12 slots of padding");
        self.is_idle();
        edit(self.world, "layouts/scores.kdl", "column 10", "column 9");
        self.build();
        self.runs("6 x 9 scores, 18 slots of padding");
        self.is_idle();
        edit(self.world, "shared/blocks.kdl", "by=4", "by=8");
        self.build();
        self.runs("6 x 9 scores, 42 slots of padding");
        self.is_idle();
        let before = self.modified();
        edit(self.world, "shared/blocks.kdl", "by=8", "by=8 // wide");
        let said = self.build();
        assert_eq!(self.modified(), before, "the same text was compiled again: {said}");
        self.is_idle();
    }
}

const CMAKE: &[(&str, &str)] = &[("Ninja", "ninja"), ("Unix Makefiles", "make")];

/// Configures the example with `CMake`.
fn configure(world: &World, generator: &str, more: &[&str]) -> Output {
    let package = format!("-Dlayoutc_DIR={}", integrations().join("cmake").display());
    let args = [&["-S", ".", "-B", "b", "-G", generator, &package], more].concat();
    command(world, "cmake", &args).output().expect("it starts")
}

#[test]
fn the_cmake_example_is_built_again_when_an_input_changes() {
    let Some(_) = find("cmake") else { return };
    for (generator, program) in CMAKE {
        let Some(_) = find(program) else { continue };
        let world = copy();
        let configured = configure(&world, generator, &[]);
        assert!(configured.status.success(), "{}", said(&configured));
        let ready = Ready { world: &world, build: &["cmake", "--build", "b"], program: "b/scores" };
        ready.lives();
        // A manifest with an old time is added and removed.
        let text = world.read("layouts/scores.kdl").expect("there");
        world.write("layouts/more.kdl", &text.replace("tensor scores", "tensor more"));
        let file = fs::File::options().append(true).open(world.path("layouts/more.kdl"));
        file.expect("there").set_modified(SystemTime::UNIX_EPOCH).expect("set");
        assert!(ready.build().contains("more.c.o"));
        ready.is_idle();
        fs::remove_file(world.path("layouts/more.kdl")).expect("gone");
        assert!(!ready.build().contains("more.c.o"));
        ready.is_idle();
        ready.is_idle();
    }
}

#[test]
fn cmake_learns_of_used_manifests_from_the_depfile_alone() {
    let Some(_) = find("cmake") else { return };
    for (generator, program) in CMAKE {
        let Some(_) = find(program) else { continue };
        let world = copy();
        let whole = "layoutc_add(layouts ${CMAKE_CURRENT_SOURCE_DIR})";
        let one = "layoutc_add(layouts layouts/scores.kdl OUT made TARGETS c)";
        edit(&world, "CMakeLists.txt", whole, one);
        let layoutc = format!("-DLAYOUTC_EXECUTABLE={}", env!("CARGO_BIN_EXE_layoutc"));
        let configured = configure(&world, generator, &[&layoutc]);
        assert!(configured.status.success(), "{}", said(&configured));
        let ready = Ready { world: &world, build: &["cmake", "--build", "b"], program: "b/scores" };
        ready.build();
        ready.is_idle();
        edit(&world, "shared/blocks.kdl", "by=4", "by=8");
        let said = ready.build();
        assert!(!said.contains("Configuring"), "{said}");
        ready.runs("6 x 10 scores, 36 slots of padding");
        ready.is_idle();
        assert!(world.read("b/made/c/scores.h").is_some());
    }
}

#[test]
fn cmake_says_what_is_missing() {
    let Some(_) = find("cmake") else { return };
    let world = copy();
    let configured = configure(&world, "Unix Makefiles", &["-DLAYOUTC_EXECUTABLE=/none/layoutc"]);
    let text = said(&configured);
    assert!(!configured.status.success());
    assert!(text.contains("LAYOUTC_EXECUTABLE"), "{text}");
    let world = copy();
    edit(&world, "CMakeLists.txt", "layoutc 0.1 ", "layoutc 7.0 ");
    let configured = configure(&world, "Unix Makefiles", &[]);
    let text = said(&configured);
    assert!(!configured.status.success() && text.contains("requested version \"7.0\""), "{text}");
    let version = fs::read_to_string(integrations().join("cmake/layoutc-config-version.cmake"));
    let line = format!("set(PACKAGE_VERSION \"{}\")", env!("CARGO_PKG_VERSION"));
    assert!(version.expect("there").contains(&line), "the package is of another version");
    let world = copy();
    edit(&world, "layouts/scores.kdl", "layout blocks", "layout blox");
    let configured = configure(&world, "Unix Makefiles", &[]);
    let text = said(&configured);
    assert!(!configured.status.success() && text.contains("error[name::unknown]"), "{text}");
}

#[test]
fn the_meson_example_is_built_again_when_an_input_changes() {
    let (Some(_), Some(_)) = (find("meson"), find("ninja")) else { return };
    let world = copy();
    run(&world, "meson", &["setup", "b"]);
    Ready { world: &world, build: &["ninja", "-C", "b"], program: "b/scores" }.lives();
}

#[test]
fn the_make_example_is_built_again_when_an_input_changes() {
    let Some(_) = find("make") else { return };
    let world = copy();
    let ready = Ready { world: &world, build: &["make"], program: "scores" };
    ready.lives();
    let text = world.read("layouts/scores.kdl").expect("there");
    world.write("layouts/more.kdl", &text.replace("tensor scores", "tensor more"));
    ready.build();
    assert!(world.read("generated/c/more.h").is_some());
    ready.is_idle();
    fs::remove_file(world.path("layouts/more.kdl")).expect("gone");
    ready.build();
    assert!(world.read("generated/c/more.h").is_none());
    ready.is_idle();
    run(&world, "make", &["clean"]);
    assert!(!world.path("generated").exists());
}

#[test]
fn the_ninja_file_of_the_book_builds_the_example_again_when_an_input_changes() {
    let Some(_) = find("ninja") else { return };
    let chapter = integrations().join("../book/src/build_tools.md");
    let chapter = fs::read_to_string(chapter).expect("the chapter");
    let (_, block) = chapter.split_once("```ninja\n").expect("a block");
    let (block, _) = block.split_once("```").expect("its end");
    let world = copy();
    world.write("build.ninja", block);
    Ready { world: &world, build: &["ninja", "-v"], program: "scores" }.lives();
}
