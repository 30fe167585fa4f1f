//! Runs of a program, and manifests for them.

use std::io::Write;
use std::process::{Command, Stdio};

/// Result of a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Exit code and standard error of a run that printed no result.
    pub(crate) fn refused(&self) -> (Option<i32>, &str) {
        assert_eq!(self.out, "", "{}", self.err);
        (self.code, &self.err)
    }

    /// Standard output of a successful run.
    pub(crate) fn good(&self) -> &str {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{}", self.out);
        &self.out
    }
}

/// Runs a command with this input.
pub(crate) fn ran(command: &mut Command, input: &str) -> Ran {
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A program that does not read its input may exit before all is written.
    drop(stdin.write_all(input.as_bytes()));
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// Four rows of eight, in blocks of four.
pub(crate) const BLOCKED: &str = "\
tensor t dtype=f32 {
    shape { h 4; w 8 }
    layout {
        map \"(h, w) -> (w // 4, h, w % 4)\"
    }
}
";

/// A map that drops a digit.
pub(crate) const BROKEN: &str = "\
tensor t dtype=f32 {
    shape { h 4; w 8 }
    layout {
        map \"(h, w) -> (h, w % 4)\"
    }
}
";
