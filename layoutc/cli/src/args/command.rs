//! The commands and their own arguments.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Subcommand;

use super::algebra::AlgebraCommand;
use super::bench::{BENCHING, BenchArgs};
use super::completions::{COMPLETING, CompletionsArgs};
use super::fmt::{FORMATTING, FmtArgs};
use super::import::{IMPORTING, ImportArgs};
use super::man::{MANUAL, ManArgs};
use super::pack::{PACKING, PackArgs, UNPACKING, UnpackArgs};
use super::show::{SHOWING, ShowArgs};

/// The commands. What each understands is only worked out of the one that was typed.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Make a project of a folder, one that builds at once
    Init(InitArgs),
    /// Make a new folder with a project that builds at once
    New(NewArgs),
    /// Parse, validate and prove the manifests; write nothing
    Check {
        /// Manifests or folders [none: the project of this folder or of a parent]
        paths: Vec<PathBuf>,
    },
    /// Check, then write the outputs that changed
    Build(BuildArgs),
    /// Build, then again on every change of a manifest, a template or layoutc.toml
    #[command(after_help = "\
Ctrl-C ends it, with exit code 130. The command of --exec is stopped before it is run again, and at the end.")]
    Watch(WatchArgs),
    /// Remove the files that layoutc wrote and nobody changed since
    Clean(CleanArgs),
    /// Everything known of a tensor: shapes, maps, inverse, proof, sizes
    Inspect {
        /// Manifests or folders [none: the project of this folder or of a parent]
        paths: Vec<PathBuf>,
        /// Only this tensor; may be given again
        #[arg(long, value_name = "NAME")]
        tensor: Vec<String>,
        /// How pack, unpack and conversions go about it, as C does them: digits, loops, blocks
        #[arg(long)]
        plan: bool,
    },
    /// Where an element lives; with --inverse, who lives at a physical index
    #[command(after_help = "\
Example: layoutc index layouts/a.kdl texture 11,37,23,101
An empty line (or an empty argument) is the coordinate of a tensor of rank 0.")]
    Index(IndexArgs),
    /// A layout as a picture: offsets in a grid, beside the memory; for the terminal, as SVG, as a page
    #[command(after_help = SHOWING)]
    Show(ShowArgs),
    /// The way of one index through every step of a layout, as arithmetic
    #[command(after_help = "\
Example: layoutc trace layouts/a.kdl texture 11,37,23,101
An empty argument is the coordinate of a tensor of rank 0.")]
    Trace(TraceArgs),
    /// Lay out a dense tensor that a file holds, without a compiler
    #[command(after_help = PACKING)]
    Pack(PackArgs),
    /// A laid out tensor that a file holds, dense again
    #[command(after_help = UNPACKING)]
    Unpack(UnpackArgs),
    /// Compile and time pack, unpack and conversions
    #[command(after_help = BENCHING)]
    Bench(BenchArgs),
    /// A layout from one notation to another, proven the same map or refused
    #[command(after_help = "\
Notations: tvm, xla, glow, onednn, cute, mlir, einops, numpy, mdspan, triton; `--to all`
prints every one.
Without --shape the answer holds for all sizes, where the text does.
Shardings: --from xla-sharding, to xla-v1, xla-v2, xla-v3, jax or all; with --shape, JSON
and -v say what each device holds.
Example: layoutc translate NCHW16c --from tvm --to onednn
Example: layoutc translate '{devices=[2,4]<=[8]}' --from xla-sharding --to xla-v3")]
    Translate(TranslateArgs),
    /// Whether two tensors of a manifest are the same map; else the first index that differs
    #[command(after_help = "\
Axes are matched by name. Exit code 0: the same; 1: not, or not to be compared.")]
    Same(SameArgs),
    /// The cheapest layouts for the tensors of a graph, with a proof; writes nothing
    #[command(after_help = "\
--format json prints one object; --format dot one graph after the other for Graphviz; --format
svg the picture of one graph.
Costs are bytes: what alternatives say, and for each conversion what it reads and writes.")]
    Solve {
        /// Manifests or folders [none: the project of this folder or of a parent]
        paths: Vec<PathBuf>,
        /// Only this graph; may be given again
        #[arg(long, value_name = "NAME")]
        graph: Vec<String>,
        /// Give the best plan found after so many seconds, with a bound
        #[arg(long, value_name = "SECONDS", default_value_t = 60)]
        time_limit: u64,
        /// Compile and time the conversions, and count slow ones for more than their bytes
        #[arg(long)]
        measure: bool,
        /// The C compiler for that [default: $CC, else cc]
        #[arg(long, value_name = "CC", requires = "measure")]
        cc: Option<String>,
    },
    /// The graph of an ONNX model as a manifest
    #[command(after_help = IMPORTING)]
    Import(ImportArgs),
    /// Which files a build writes; writes nothing
    #[command(after_help = "\
--format cmake prints `set(LAYOUTC_OUTPUTS ...)`, with absolute paths, for `include()`.
--format ninja prints a build file for ninja with one edge a manifest, for `include`.")]
    Outputs(OutputsArgs),
    /// Write layoutc.lock: the layout ABI that `build --locked` keeps
    Lock {
        /// Projects [none: the project of this folder or of a parent]
        paths: Vec<PathBuf>,
        /// Also overwrite a layoutc.lock that was edited, or that layoutc did not write
        #[arg(long)]
        force: bool,
    },
    /// What depends on what: manifests, templates, configuration, outputs; writes nothing
    #[command(after_help = "\
--format dot prints a graph for Graphviz.")]
    Deps(DepsArgs),
    /// The built-in templates, and copies of them to change
    Templates {
        /// What to do with them
        #[command(subcommand)]
        what: TemplatesCommand,
    },
    /// CuTe's algebra on layout texts, each answer checked: `(4,(2,2)):(1,(4,8))`
    Algebra {
        /// What to do
        #[command(subcommand)]
        what: AlgebraCommand,
    },
    /// Manifests in one style, every comment and spelling kept
    #[command(after_help = FORMATTING)]
    Fmt(FmtArgs),
    /// The long form of a diagnostic, with a wrong and a fixed example
    Explain {
        /// The code, as printed in the brackets: `map::not_injective` [none: list all codes]
        code: Option<String>,
    },
    /// Tell an editor of manifests while they are typed: the Language Server Protocol on standard input and output
    Lsp,
    /// A script that makes a shell complete the command line of layoutc
    #[command(after_help = COMPLETING)]
    Completions(CompletionsArgs),
    /// The manual: a page of layoutc, or one for each command too
    #[command(after_help = MANUAL)]
    Man(ManArgs),
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

impl Command {
    /// The word that is typed for it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Command::Init(_) => "init",
            Command::New(_) => "new",
            Command::Check { .. } => "check",
            Command::Build(_) => "build",
            Command::Watch(_) => "watch",
            Command::Clean(_) => "clean",
            Command::Inspect { .. } => "inspect",
            Command::Index(_) => "index",
            Command::Show(_) => "show",
            Command::Trace(_) => "trace",
            Command::Pack(_) => "pack",
            Command::Unpack(_) => "unpack",
            Command::Bench(_) => "bench",
            Command::Translate(_) => "translate",
            Command::Same(_) => "same",
            Command::Solve { .. } => "solve",
            Command::Import(_) => "import",
            Command::Outputs(_) => "outputs",
            Command::Lock { .. } => "lock",
            Command::Deps(_) => "deps",
            Command::Templates { .. } => "templates",
            Command::Algebra { .. } => "algebra",
            Command::Fmt(_) => "fmt",
            Command::Explain { .. } => "explain",
            Command::Lsp => "lsp",
            Command::Completions(_) => "completions",
            Command::Man(_) => "man",
            Command::Other(_) => "",
        }
    }
}

// Which outputs a command is about, and where they are.
#[derive(Debug, clap::Args)]
pub(crate) struct SelectArgs {
    /// Manifests or folders [none: the project of this folder or of a parent]
    pub(crate) paths: Vec<PathBuf>,
    /// Only this target; may be given again
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Vec<String>,
    /// Write below this folder instead of the project's own
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Be one action of another build: the project is this folder; look at nothing above it, remember nothing
    #[arg(long, value_name = "DIR", requires = "out")]
    pub(crate) root: Option<PathBuf>,
}

// The arguments of `build`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    pub(crate) select: SelectArgs,
    /// Work on so many threads [default: as many as there are processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// Overwrite files that layoutc did not write, or that were edited since
    #[arg(long)]
    pub(crate) force: bool,
    /// Say what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write nothing; exit 1 if an output on disk differs from what would be written
    #[arg(long, conflicts_with_all = ["dry_run", "force"])]
    pub(crate) check: bool,
    /// Say how long each stage took
    #[arg(long)]
    pub(crate) timings: bool,
    /// Refuse layouts that differ from layoutc.lock
    #[arg(long)]
    pub(crate) locked: bool,
    /// Give up if another build writes to the same folder, instead of waiting for it
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// Touch this file after a good build
    #[arg(long, value_name = "FILE")]
    pub(crate) stamp: Option<PathBuf>,
    /// Write what the outputs (or the stamp) depend on to this file, as a rule for make or ninja
    #[arg(long, value_name = "FILE")]
    pub(crate) depfile: Option<PathBuf>,
}

impl BuildArgs {
    /// A plain build of `select`.
    pub(crate) fn of(select: SelectArgs) -> Self {
        Self {
            select,
            jobs: None,
            force: false,
            dry_run: false,
            check: false,
            timings: false,
            locked: false,
            no_wait: false,
            stamp: None,
            depfile: None,
        }
    }
}

// The arguments of `watch`.
#[derive(Debug, clap::Args)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    pub(crate) build: BuildArgs,
    /// Run this through the shell after each good build
    #[arg(long, value_name = "CMD")]
    pub(crate) exec: Option<String>,
    /// Look at the inputs twice a second instead of waiting for the system to report changes
    #[arg(long)]
    pub(crate) poll: bool,
}

// The arguments of `clean`.
#[derive(Debug, clap::Args)]
pub(crate) struct CleanArgs {
    /// Manifests or folders [none: the project of this folder or of a parent]
    pub(crate) paths: Vec<PathBuf>,
    /// Clean this folder instead of the project's own
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

// The arguments of `init`.
#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// The folder
    #[arg(default_value = ".")]
    pub(crate) dir: PathBuf,
}

// The arguments of `new`.
#[derive(Debug, clap::Args)]
pub(crate) struct NewArgs {
    /// The folder to be made; its last part is the project's name
    pub(crate) name: PathBuf,
}

// The arguments of `outputs`.
#[derive(Debug, clap::Args)]
pub(crate) struct OutputsArgs {
    #[command(flatten)]
    pub(crate) select: SelectArgs,
}

// The arguments of `deps`.
#[derive(Debug, clap::Args)]
pub(crate) struct DepsArgs {
    #[command(flatten)]
    pub(crate) select: SelectArgs,
}

// The commands of `templates`.
#[derive(Debug, Subcommand)]
pub(crate) enum TemplatesCommand {
    /// The built-in templates, each with its target and what it is for
    List,
    /// Put a copy into the project's templates folder, where it takes the place of the built-in one
    Eject {
        /// The template: c/header.h.j2
        name: String,
        /// Overwrite the file that stands there
        #[arg(long)]
        force: bool,
    },
}

// The arguments of `index`.
#[derive(Debug, clap::Args)]
pub(crate) struct IndexArgs {
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

// The arguments of `trace`.
#[derive(Debug, clap::Args)]
pub(crate) struct TraceArgs {
    /// The manifest
    pub(crate) file: PathBuf,
    /// The tensor
    pub(crate) tensor: String,
    /// The coordinate, `I,J,...`
    #[arg(value_name = "I,J,...")]
    pub(crate) coordinate: String,
    /// The value of a symbol; may be given again
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
}
// The arguments of `translate`.
#[derive(Debug, clap::Args)]
pub(crate) struct TranslateArgs {
    /// The text, in the notation of --from
    #[arg(allow_hyphen_values = true)]
    pub(crate) text: String,
    /// The notation of the text
    #[arg(long, value_name = "NOTATION")]
    pub(crate) from: String,
    /// The notation to write it in, or `all`
    #[arg(long, value_name = "NOTATION")]
    pub(crate) to: String,
    /// The extents of the axes [none: those of the text, or any]
    #[arg(long, value_name = "N,N,...")]
    pub(crate) shape: Option<String>,
    /// The element type
    #[arg(long, value_name = "TYPE")]
    pub(crate) dtype: Option<String>,
    /// The names of the axes [none: the letters of the text, or a,b,...]
    #[arg(long, value_name = "A,B,...")]
    pub(crate) axis_names: Option<String>,
    /// A size that stands beside the text, as einops has them; may be given again
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
}

// The arguments of `same`.
#[derive(Debug, clap::Args)]
pub(crate) struct SameArgs {
    /// The manifest
    pub(crate) file: PathBuf,
    /// A tensor
    #[arg(value_name = "A")]
    pub(crate) first: String,
    /// Another one
    #[arg(value_name = "B")]
    pub(crate) second: String,
}
