//! Command-line arguments, and errors about invalid ones.

mod algebra;
mod bench;
mod command;
mod completions;
mod fmt;
mod import;
mod man;
mod pack;
mod show;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, ValueEnum};
use layoutc_compiler::base::nearest::nearest;

use crate::console::{ColorMode, Console, ReportFormat, write_plainly};

pub(crate) use algebra::{AlgebraCommand, InverseSide};
pub(crate) use bench::BenchArgs;
pub(crate) use command::{
    CleanArgs, Command, DepsArgs, IndexArgs, OutputsArgs, SameArgs, SwizzleArgs, TemplatesCommand,
    TraceArgs, TranslateArgs, WatchArgs,
};
pub(crate) use fmt::FmtArgs;
pub(crate) use import::ImportArgs;
pub(crate) use man::ManArgs;
pub(crate) use pack::{PackArgs, RelayoutArgs, UnpackArgs};
pub(crate) use show::ShowArgs;

/// Proven tensor layouts: manifests in; C, OpenCL and CUDA out.
#[derive(Debug, Parser)]
#[command(name = "layoutc", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = "\
Exit codes: 0 success; 1 error in the input; 2 error in the command line; 3 error of the system.
PATHS are manifests or folders; default: the project (layoutc.toml) of this folder or of a parent.")]
pub(crate) struct CliArgs {
    #[command(flatten)]
    pub(crate) common: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

// Options of every command.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArgs {
    /// Format of results and diagnostics; json: one object per line, on standard output
    #[arg(long, global = true, value_enum, default_value_t = FormatArg::Text, value_name = "HOW")]
    pub(crate) format: FormatArg,
    /// Color diagnostics (auto: on a terminal, unless `NO_COLOR` is set)
    #[arg(long, global = true, value_enum, default_value_t = ColorMode::Auto, value_name = "WHEN")]
    pub(crate) color: ColorMode,
    /// Print only errors and warnings
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Also print the folder and manifests of each project, and unchanged outputs
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

impl GlobalArgs {
    /// Console with the options `--format`, `--color`, `--quiet` and `--verbose`; all formats but `json` print text.
    /// `command` is the name of the command, such as `build`, which error messages show.
    pub(crate) fn console(&self, command: &'static str) -> Console {
        let format = match self.format {
            FormatArg::Json => ReportFormat::Json,
            FormatArg::Text | FormatArg::Cmake | FormatArg::Ninja | FormatArg::Dot => {
                ReportFormat::Text
            }
        };
        let mut console = Console::new(format, self.color, command);
        console.quiet = self.quiet;
        console.verbose = self.verbose;
        console
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    Text,
    Json,
    /// List of outputs as a `CMake` command, only for `outputs`.
    #[value(hide = true)]
    Cmake,
    /// Build file for ninja, only for `outputs`.
    #[value(hide = true)]
    Ninja,
    /// Graph in the language of Graphviz, only for `deps` and `solve`.
    #[value(hide = true)]
    Dot,
}

const COMMANDS: &[&str] = &[
    "init",
    "new",
    "check",
    "build",
    "watch",
    "clean",
    "inspect",
    "swizzle",
    "index",
    "show",
    "trace",
    "pack",
    "unpack",
    "bench",
    "translate",
    "same",
    "solve",
    "import",
    "outputs",
    "lock",
    "deps",
    "templates",
    "library",
    "algebra",
    "fmt",
    "explain",
    "lsp",
    "completions",
    "man",
];

/// Result of an argument parser that leaves no command to run: an error, or the text for `--help` or `--version`.
#[derive(Debug)]
pub(crate) enum UsageError {
    Clap(Box<clap::Error>),
    /// A one-line message, without `error: `.
    Line(String),
}

impl UsageError {
    /// Prints the error. Exit code: 0 for help and version, else 2.
    pub(crate) fn show(self) -> ExitCode {
        match self {
            // A closed pipe (`layoutc --help | head`) is not an error.
            UsageError::Clap(error) => match error.print() {
                Ok(()) | Err(_) if error.exit_code() == 0 => ExitCode::SUCCESS,
                Ok(()) | Err(_) => ExitCode::from(2),
            },
            UsageError::Line(line) => {
                write_plainly(&format!("error: {line}\n"));
                ExitCode::from(2)
            }
        }
    }
}

/// Parses the command line `args`, whose first member is the name of the program. An unknown command is an error, and
/// so is a `--format` that the command does not have.
pub(crate) fn parse(args: impl Iterator<Item = OsString>) -> Result<CliArgs, UsageError> {
    let mut are_options = true;
    let guarded = args.map(|arg| {
        are_options &= arg != "--";
        if are_options { guard_minus(arg) } else { arg }
    });
    let args =
        CliArgs::try_parse_from(guarded).map_err(|error| UsageError::Clap(Box::new(error)))?;
    let elsewhere = match (args.common.format, &args.command) {
        (FormatArg::Text | FormatArg::Json, _)
        | (FormatArg::Cmake | FormatArg::Ninja, Command::Outputs(_))
        | (FormatArg::Dot, Command::Deps(_) | Command::Solve { .. }) => None,
        (FormatArg::Cmake, _) => Some(("cmake", "`layoutc outputs`")),
        (FormatArg::Ninja, _) => Some(("ninja", "`layoutc outputs`")),
        (FormatArg::Dot, _) => Some(("dot", "`layoutc deps` and `layoutc solve`")),
    };
    if let Some((format, command)) = elsewhere {
        return Err(UsageError::Line(format!(
            "`--format {format}` is only for {command}; expected `text` or `json`"
        )));
    }
    match &args.command {
        Command::Other(words) => Err(UsageError::Line(unknown_command(words))),
        Command::Init(_)
        | Command::New(_)
        | Command::Check { .. }
        | Command::Build(_)
        | Command::Watch(_)
        | Command::Clean(_)
        | Command::Inspect { .. }
        | Command::Swizzle(_)
        | Command::Index(_)
        | Command::Show(_)
        | Command::Trace(_)
        | Command::Pack(_)
        | Command::Unpack(_)
        | Command::Bench(_)
        | Command::Translate(_)
        | Command::Same(_)
        | Command::Solve { .. }
        | Command::Import(_)
        | Command::Outputs(_)
        | Command::Lock { .. }
        | Command::Deps(_)
        | Command::Templates { .. }
        | Command::Library { .. }
        | Command::Algebra { .. }
        | Command::Fmt(_)
        | Command::Explain { .. }
        | Command::Lsp
        | Command::Completions(_)
        | Command::Man(_) => Ok(args),
    }
}

/// Clap's description of the command line, for completion scripts and man pages.
pub(crate) fn command() -> clap::Command {
    CliArgs::command()
}

fn unknown_command(words: &[OsString]) -> String {
    let word = words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let hint = nearest(&word, COMMANDS.iter().copied()).map_or_else(
        || "see `layoutc --help`".to_owned(),
        |near| format!("did you mean `{near}`?"),
    );
    format!("unknown command `{word}`; {hint}")
}

/// Character that replaces a leading `-` before a digit while clap parses the arguments: clap would take the coordinate
/// `-1,2` for an option.
const MINUS: char = '\u{2212}';

fn guard_minus(arg: OsString) -> OsString {
    match arg.to_str().and_then(|text| text.strip_prefix('-')) {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => {
            format!("{MINUS}{rest}").into()
        }
        Some(_) | None => arg,
    }
}

/// Argument `coordinate` with its first [`MINUS`], as [`guard_minus`] puts it at the start, replaced by `-`.
pub(crate) fn restore_minus(coordinate: &str) -> String {
    coordinate.replacen(MINUS, "-", 1)
}
