//! The command line: what may be typed, and what is said about what may not.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use layoutc_compiler::nearest::nearest;

use crate::console::write_plainly;

/// Proven tensor layouts: manifests in, C out.
#[derive(Debug, Parser)]
#[command(name = "layoutc", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = "\
Exit codes: 0 all well; 1 the input is at fault; 2 the command line is; 3 the machine is.
PATHS are manifests or folders; none means the project (layoutc.toml) of this folder or of a parent.")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command understands.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Common {
    /// How results and diagnostics are printed; json: one object a line, on standard output
    #[arg(long, global = true, value_enum, default_value_t = Format::Text, value_name = "HOW")]
    pub(crate) format: Format,
    /// Colours in diagnostics (auto: on a terminal, unless `NO_COLOR` is set)
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,
    /// Say nothing but errors and warnings
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more: unchanged outputs, the projects found
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

/// Whether diagnostics are coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Parse, validate and prove the manifests; write nothing
    Check {
        /// Manifests or folders [none: the project of this folder or of a parent]
        paths: Vec<PathBuf>,
    },
    /// Check, then write the outputs that changed
    Build(Build),
    /// Everything known of a tensor: shapes, maps, inverse, proof, sizes
    Inspect {
        /// Manifests or folders [none: the project of this folder or of a parent]
        paths: Vec<PathBuf>,
        /// Only this tensor; may be given again
        #[arg(long, value_name = "NAME")]
        tensor: Vec<String>,
    },
    /// Where an element lives; with --inverse, who lives at a physical index
    #[command(after_help = "\
Example: layoutc index layouts/a.kdl texture 11,37,23,101
An empty line (or an empty argument) is the coordinate of a tensor of rank 0.")]
    Index(Index),
    /// The long form of a diagnostic, with a wrong and a mended example
    Explain {
        /// The code, as printed in the brackets: `map::not_injective` [none: list all codes]
        code: Option<String>,
    },
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

/// The arguments of `build`.
#[derive(Debug, clap::Args)]
pub(crate) struct Build {
    /// Manifests or folders [none: the project of this folder or of a parent]
    pub(crate) paths: Vec<PathBuf>,
    /// Only this target; may be given again
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Vec<String>,
    /// Write below this folder instead of the project's own
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Overwrite files that layoutc did not write, or that were edited since
    #[arg(long)]
    pub(crate) force: bool,
    /// Say what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write nothing; exit 1 if an output on disk differs from what would be written
    #[arg(long, conflicts_with_all = ["dry_run", "force"])]
    pub(crate) check: bool,
}

/// The arguments of `index`.
#[derive(Debug, clap::Args)]
pub(crate) struct Index {
    /// The manifest
    pub(crate) file: PathBuf,
    /// The tensor
    pub(crate) tensor: String,
    /// Coordinates, `I,J,...` [none: one a line from standard input]
    #[arg(value_name = "I,J,...")]
    pub(crate) coordinates: Vec<String>,
    /// The coordinates are physical; say which element lives there
    #[arg(long)]
    pub(crate) inverse: bool,
    /// The value of a symbol; may be given again
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
}

/// Commands of later releases.
const LATER: &[&str] = &[
    "watch",
    "init",
    "new",
    "clean",
    "show",
    "trace",
    "pack",
    "unpack",
    "translate",
    "same",
    "solve",
    "algebra",
    "import",
    "bench",
    "fmt",
    "deps",
    "outputs",
    "lock",
    "templates",
    "completions",
    "man",
    "lsp",
];

/// The commands of this release.
const COMMANDS: &[&str] = &["check", "build", "inspect", "index", "explain"];

/// Why the command line was not taken; help and version are such reasons too.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Clap's own.
    Clap(Box<clap::Error>),
    /// One line of ours.
    Line(String),
}

impl Refusal {
    /// Prints it; 0 for help and version, else 2.
    pub(crate) fn show(self) -> ExitCode {
        match self {
            // A closed pipe (`layoutc --help | head`) is no fault.
            Refusal::Clap(error) => match error.print() {
                Ok(()) | Err(_) if error.exit_code() == 0 => ExitCode::SUCCESS,
                Ok(()) | Err(_) => ExitCode::from(2),
            },
            Refusal::Line(line) => {
                write_plainly(&format!("error: {line}\n"));
                ExitCode::from(2)
            }
        }
    }
}

/// The arguments, or why they are none.
pub(crate) fn parse(args: impl Iterator<Item = OsString>) -> Result<Args, Refusal> {
    let args = Args::try_parse_from(args.map(guard_minus))
        .map_err(|error| Refusal::Clap(Box::new(error)))?;
    match &args.command {
        Command::Other(words) => Err(Refusal::Line(unknown_command(words))),
        Command::Check { .. }
        | Command::Build(_)
        | Command::Inspect { .. }
        | Command::Index(_)
        | Command::Explain { .. } => Ok(args),
    }
}

fn unknown_command(words: &[OsString]) -> String {
    let word = words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    if LATER.contains(&word.as_str()) {
        return format!("`layoutc {word}` is not built yet");
    }
    let hint = nearest(&word, COMMANDS.iter().copied()).map_or_else(
        || "see `layoutc --help`".to_owned(),
        |near| format!("did you mean `{near}`?"),
    );
    format!("there is no command `{word}`; {hint}")
}

/// Stands for the minus sign of a coordinate while clap looks at the arguments: no option begins with a digit, but
/// clap takes `-1,2` for one.
const MINUS: char = '\u{2212}';

fn guard_minus(arg: OsString) -> OsString {
    match arg.to_str().and_then(|text| text.strip_prefix('-')) {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => {
            format!("{MINUS}{rest}").into()
        }
        Some(_) | None => arg,
    }
}

/// A coordinate as it was typed.
pub(crate) fn typed(coordinate: &str) -> String {
    coordinate.replacen(MINUS, "-", 1)
}
