//! The one place that prints. Results go to standard output, everything else to standard error.

use std::io::{self, BufWriter, ErrorKind, IsTerminal, Stdout, Write};

use layoutc_compiler::picture::ColorDepth;

use crate::args::{ColorMode, FormatArg, GlobalArgs, ReportFormat};

/// Where a command prints. A reader that went away ends the printing, not the command.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an answer of its own")]
pub(crate) struct Console {
    /// How results and diagnostics are printed.
    pub(crate) format: ReportFormat,
    /// Whether diagnostics are coloured.
    pub(crate) color: bool,
    /// Whether results are, where they are for people.
    pub(crate) paints_results: bool,
    /// Whether only faults are told.
    pub(crate) quiet: bool,
    /// Whether more is told.
    pub(crate) verbose: bool,
    /// The command that was typed.
    pub(crate) command: &'static str,
    out: BufWriter<Stdout>,
    failure: Option<io::Error>,
}

impl Console {
    /// The console that the arguments of a command ask for.
    pub(crate) fn new(common: &GlobalArgs, command: &'static str) -> Self {
        let is_colored = |is_terminal: bool| match common.color {
            ColorMode::Always => true,
            ColorMode::Never => false,
            ColorMode::Auto => is_terminal && wants_color(),
        };
        Self {
            format: match common.format {
                FormatArg::Json => ReportFormat::Json,
                FormatArg::Text
                | FormatArg::Cmake
                | FormatArg::Ninja
                | FormatArg::Dot
                | FormatArg::Svg => ReportFormat::Text,
            },
            color: is_colored(io::stderr().is_terminal()),
            paints_results: is_colored(io::stdout().is_terminal()),
            quiet: common.quiet,
            verbose: common.verbose,
            command,
            out: BufWriter::new(io::stdout()),
            failure: None,
        }
    }

    /// One that only tells of faults.
    pub(crate) fn silent() -> Self {
        Self {
            format: ReportFormat::Text,
            color: false,
            paints_results: false,
            quiet: true,
            verbose: false,
            command: "",
            out: BufWriter::new(io::stdout()),
            failure: None,
        }
    }

    /// Prints to standard output. After a failure nothing more is printed there.
    pub(crate) fn result(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// The same with bytes that may be no text.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        if self.failure.is_none()
            && let Err(error) = self.out.write_all(bytes)
        {
            self.failure = Some(error);
        }
    }

    /// Makes what was printed so far visible.
    pub(crate) fn flush(&mut self) {
        if self.failure.is_none()
            && let Err(error) = self.out.flush()
        {
            self.failure = Some(error);
        }
    }

    /// Whether what is printed is for programs.
    pub(crate) fn is_for_programs(&self) -> bool {
        self.format == ReportFormat::Json
    }

    /// The colours of results.
    pub(crate) fn depth(&self) -> ColorDepth {
        let word = |name: &str| std::env::var(name).unwrap_or_default();
        match word("COLORTERM").as_str() {
            _ if !self.paints_results => ColorDepth::None,
            "truecolor" | "24bit" => ColorDepth::True,
            _ if word("TERM").ends_with("-direct") => ColorDepth::True,
            _ => ColorDepth::Indexed,
        }
    }

    /// Whether nobody reads standard output any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.failure.is_some()
    }

    /// Prints to standard error, after all results so far.
    pub(crate) fn remark(&mut self, text: &str) {
        self.flush();
        write_plainly(text);
    }

    /// Ends the printing.
    ///
    /// # Errors
    /// What kept standard output from being written; a closed pipe is none.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.flush();
        match self.failure.take() {
            Some(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
            Some(_) | None => Ok(()),
        }
    }
}

/// Prints to standard error. Nobody can be told when that fails.
pub(crate) fn write_plainly(text: &str) {
    let mut stderr = io::stderr().lock();
    let written = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    drop(written);
}

/// Whether the environment has nothing against colours.
fn wants_color() -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb")
}
