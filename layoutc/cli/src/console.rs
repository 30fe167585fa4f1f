//! Printing of the command line: results, and diagnostics as JSON, go to standard output; everything else goes to
//! standard error.

use std::io::{self, BufWriter, ErrorKind, IsTerminal, Stdout, Write};

use layoutc_compiler::query::picture::ColorDepth;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReportFormat {
    Text,
    Json,
}

/// Policy for colors in diagnostics and results. With `Auto`, output to a terminal is colored, unless the environment
/// forbids it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub(crate) enum ColorMode {
    Auto,
    Always,
    Never,
}

/// Output streams and output options of a command. After a failed write to standard output, such as to a closed pipe,
/// further results are not printed, but the command continues.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent setting")]
pub(crate) struct Console {
    pub(crate) format: ReportFormat,
    /// True if diagnostics printed as text, which go to standard error, are colored.
    pub(crate) color: bool,
    /// True if results printed as text are colored.
    pub(crate) paints_results: bool,
    /// True if `--quiet` suppresses summaries and progress. Diagnostics are printed, and so are results that are the
    /// purpose of a command, such as the lines of `layoutc index`.
    pub(crate) quiet: bool,
    /// True if `--verbose` requests more details, for example the folder of each project, and unchanged outputs.
    pub(crate) verbose: bool,
    /// Name of the command that prints, such as `build`, for error messages and JSON.
    pub(crate) command: &'static str,
    out: BufWriter<Stdout>,
    failure: Option<io::Error>,
}

impl Console {
    pub(crate) fn new(format: ReportFormat, color: ColorMode, command: &'static str) -> Self {
        let is_colored = |is_terminal: bool| match color {
            ColorMode::Always => true,
            ColorMode::Never => false,
            ColorMode::Auto => is_terminal && wants_color(),
        };
        Self {
            format,
            color: is_colored(io::stderr().is_terminal()),
            paints_results: is_colored(io::stdout().is_terminal()),
            quiet: false,
            verbose: false,
            command,
            out: BufWriter::new(io::stdout()),
            failure: None,
        }
    }

    /// Quiet console without colors, which prints as text; for builds in a build script.
    pub(crate) fn silent() -> Self {
        Self { quiet: true, ..Self::new(ReportFormat::Text, ColorMode::Never, "") }
    }

    /// Prints `text`, a result of the command, to standard output. Does nothing after a failed write to it.
    pub(crate) fn result(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Prints `bytes`, which need not be UTF-8, to standard output. Does nothing after a failed write to it.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        if self.failure.is_none()
            && let Err(error) = self.out.write_all(bytes)
        {
            self.failure = Some(error);
        }
    }

    /// Flushes standard output; does nothing after a failed write.
    pub(crate) fn flush(&mut self) {
        if self.failure.is_none()
            && let Err(error) = self.out.flush()
        {
            self.failure = Some(error);
        }
    }

    /// True if the output is JSON, which only programs read.
    pub(crate) fn is_for_programs(&self) -> bool {
        self.format == ReportFormat::Json
    }

    /// Color depth of results that are printed as text: none if [`Self::paints_results`] is false; 24 bits per color if
    /// the environment variable `COLORTERM` is `truecolor` or `24bit`, or `TERM` ends with `-direct`; else the 256
    /// indexed colors of terminals.
    pub(crate) fn depth(&self) -> ColorDepth {
        let word = |name: &str| std::env::var(name).unwrap_or_default();
        match word("COLORTERM").as_str() {
            _ if !self.paints_results => ColorDepth::None,
            "truecolor" | "24bit" => ColorDepth::True,
            _ if word("TERM").ends_with("-direct") => ColorDepth::True,
            _ => ColorDepth::Indexed,
        }
    }

    /// True after a write to standard output failed, as after its pipe was closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.failure.is_some()
    }

    /// Flushes standard output, then prints `text` to standard error, so that the two streams stay in order on a
    /// terminal.
    pub(crate) fn remark(&mut self, text: &str) {
        self.flush();
        write_plainly(text);
    }

    /// Flushes standard output at the end of a command.
    ///
    /// # Errors
    /// The first failed write to standard output, unless its pipe was closed.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.flush();
        match self.failure.take() {
            Some(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
            Some(_) | None => Ok(()),
        }
    }
}

/// Prints `text` unchanged to standard error, without a line end of its own. Ignores failed writes.
pub fn write_plainly(text: &str) {
    let mut stderr = io::stderr().lock();
    let written = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    drop(written);
}

/// True unless the environment sets `NO_COLOR` to a text that is not empty, or `TERM` to `dumb`.
fn wants_color() -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb")
}
