//! Runs a page from top to bottom, in its own folder or in one shared by several pages.

use std::ops::Range;
use std::process::{Command, Stdio};

use super::compare::{difference, fits};
use super::page::{Block, Shown, blocks, comment, is_path, shown};
use crate::sandbox::{Sandbox, path_with_layoutc};

/// Programs that pages may run besides layoutc and what they compile.
const PROGRAMS: &[&str] = &[
    "cat", "cc", "cmp", "cp", "echo", "grep", "head", "ls", "mkdir", "mpicc", "mpirun", "mv",
    "python3", "rm", "sed",
];

/// Commands that are not run: this very test, and one that does not end.
const NOT_RUN: &[&str] = &["./test", "layoutc watch"];

/// Languages of blocks without a path that are checked elsewhere.
const CHECKED_ELSEWHERE: &[&str] = &["kdl", "toml", "jinja"];

/// Result of a page.
pub(super) struct Comparison {
    pub(super) faults: Vec<String>,
    /// The page with the actual output.
    pub(super) page: String,
}

/// A folder in which pages are run.
pub(super) struct Place {
    pub(super) sandbox: Sandbox,
    /// Working directory, relative to the sandbox.
    folder: String,
}

impl Place {
    /// An empty folder.
    pub(super) fn empty() -> Self {
        Self { sandbox: Sandbox::new(&[]), folder: ".".to_owned() }
    }
}

/// Runs a page in its own folder, with `examples/` or `integrations/` if it mentions them.
pub(super) fn tell(name: &str, page: &str, examples: &[(String, Vec<u8>)]) -> Comparison {
    let mut place = Place::empty();
    for (path, text) in examples {
        let folder = path.split_inclusive('/').next().unwrap_or_default();
        if page.contains(folder) {
            place.sandbox.write(path, text);
        }
    }
    go_on(&mut place, name, page)
}

/// Continues with another page in the same folder.
pub(super) fn go_on(place: &mut Place, name: &str, page: &str) -> Comparison {
    let mut story = Story { name, place, faults: Vec::new(), edits: Vec::new() };
    for block in blocks(page) {
        story.block(&block);
    }
    let mut lines: Vec<String> = page.lines().map(str::to_owned).collect();
    for (place, printed) in story.edits.into_iter().rev() {
        lines.splice(place, printed);
    }
    Comparison { faults: story.faults, page: lines.join("\n") + "\n" }
}

struct Story<'a> {
    name: &'a str,
    place: &'a mut Place,
    faults: Vec<String>,
    /// Line ranges of the page, with their replacements.
    edits: Vec<(Range<usize>, Vec<String>)>,
}

/// Exit code and output of a command.
pub(super) struct Output {
    pub(super) code: i32,
    pub(super) text: String,
}

impl Story<'_> {
    /// Adds an error at a line, from 0.
    fn fault(&mut self, line: usize, what: &str) {
        self.faults.push(format!("{}:{}: {what}", self.name, line + 1));
    }

    fn block(&mut self, block: &Block<'_>) {
        let comment = block.lines.first().and_then(|first| comment(first)).unwrap_or_default();
        match (block.language, comment.strip_prefix("from ")) {
            ("text", _) => {}
            ("console", _) => self.console(block),
            ("sh", _) => self.commands(block),
            (_, Some(path)) if is_path(path) => self.quote(block, path),
            _ if is_path(comment) => {
                let path = self.below(comment);
                self.place.sandbox.write(&path, &(block.lines.join("\n") + "\n"));
            }
            (language, _) if CHECKED_ELSEWHERE.contains(&language) => {}
            (language, _) => {
                self.fault(block.line, &format!("a block of `{language}` without a path"));
            }
        }
    }

    fn below(&self, path: &str) -> String {
        format!("{}/{path}", self.place.folder)
    }

    /// Runs commands and compares their output.
    fn console(&mut self, block: &Block<'_>) {
        let all = match shown(block) {
            Ok(all) => all,
            Err(line) => return self.fault(line, "no `$ ` before what is shown"),
        };
        for one in all {
            match self.run(&one.command) {
                Ok(Some(ran)) => self.compare(one, &ran),
                Ok(None) => {}
                Err(what) => self.fault(one.line, &what),
            }
        }
    }

    fn compare(&mut self, shown: Shown<'_>, ran: &Output) {
        let (command, code) = (&shown.command, ran.code);
        let printed: Vec<String> =
            ran.text.trim_end().lines().map(|line| line.trim_end().to_owned()).collect();
        let is_error =
            |line: &String| line.starts_with("error") || line.contains(r#""severity":"error""#);
        let refused = printed.iter().any(is_error);
        if printed.iter().any(|line| line.starts_with("```")) {
            self.fault(shown.line, &format!("`{command}` prints a fence"));
        } else if refused != (code != 0) {
            let what = if refused { "shows an error" } else { "shows no error" };
            self.fault(shown.line, &format!("`{command}` {what} and ends with {code}"));
        } else if !fits(&shown.output, &printed) {
            let difference = difference(&shown.output, &printed);
            self.fault(shown.line, &format!("`{command}` prints\n{difference}"));
            self.edits.push((shown.place, printed));
        }
    }

    /// Runs commands that must succeed.
    fn commands(&mut self, block: &Block<'_>) {
        for (number, command) in block.lines.iter().enumerate() {
            let line = block.line + 1 + number;
            match self.run(command) {
                Ok(Some(Output { code, .. })) if code != 0 => {
                    self.fault(line, &format!("`{command}` ends with {code}"));
                }
                Ok(_) => {}
                Err(what) => self.fault(line, &what),
            }
        }
    }

    /// Checks quoted lines of a file.
    fn quote(&mut self, block: &Block<'_>, path: &str) {
        let text = self.place.sandbox.read(&self.below(path)).unwrap_or_default();
        let text: Vec<String> = text.lines().map(str::to_owned).collect();
        let wanted = [&["…"], &block.lines[1..], &["…"]].concat();
        if !fits(&wanted, &text) {
            self.fault(block.line, &format!("{path} has no such lines"));
        }
    }

    /// Runs a command, with standard output and error merged; `None` if it is not run.
    fn run(&mut self, command: &str) -> Result<Option<Output>, String> {
        // Pages run layoutc from a clone.
        let command = command.replace("cargo run --release -- ", "layoutc ");
        if NOT_RUN.iter().any(|prefix| command.starts_with(prefix)) {
            return Ok(None);
        }
        if let Some(folder) = command.strip_prefix("cd ") {
            self.place.folder = self.below(folder);
            return if self.place.sandbox.path(&self.place.folder).is_dir() {
                Ok(None)
            } else {
                Err(format!("there is no folder `{folder}`"))
            };
        }
        let unquoted: String = command.split('\'').step_by(2).collect();
        for part in unquoted.split(['|', ';']).flat_map(|part| part.split("&&")) {
            let program = part.split_whitespace().next().unwrap_or_default();
            let own = program == "layoutc" || program.starts_with("./");
            if !own && !PROGRAMS.contains(&program) {
                return Err(format!("pages do not run `{program}`"));
            }
        }
        Ok(Some(shell(&self.place.sandbox, &self.place.folder, &command)))
    }
}

/// Runs a script in a folder of the sandbox, with layoutc on the path.
pub(super) fn shell(sandbox: &Sandbox, folder: &str, script: &str) -> Output {
    let output = Command::new("sh")
        .arg("-c")
        .arg(format!("exec 2>&1\n{script}"))
        .current_dir(sandbox.path(folder))
        .env("PATH", path_with_layoutc())
        // Open MPI needs these to run as root.
        .envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")])
        .env_remove("NO_COLOR")
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    // Pages must not depend on the path of the folder.
    let home = sandbox.path(".").canonicalize().expect("a folder");
    let text = text.replace(home.to_str().expect("UTF-8"), "/home/me");
    // Progress depends on the machine.
    let is_progress = |line: &&str| line.starts_with("building: ") && line.contains(" steps");
    let text: String = text.split_inclusive('\n').filter(|line| !is_progress(line)).collect();
    // Killed by a signal.
    Output { code: output.status.code().unwrap_or(-1), text }
}
