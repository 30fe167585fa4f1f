//! The commands and their own arguments.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Subcommand;

use crate::build::{BuildArgs, SelectArgs};

use super::algebra::AlgebraCommand;
use super::bench::{BENCHING, BenchArgs};
use super::completions::{COMPLETING, CompletionsArgs};
use super::fmt::{FORMATTING, FmtArgs};
use super::import::{IMPORTING, ImportArgs};
use super::man::{MANUAL, ManArgs};
use super::pack::{PACKING, PackArgs, UNPACKING, UnpackArgs};
use super::show::{SHOWING, ShowArgs};

/// Commands of layoutc. Clap builds the arguments of a command only if that command was typed (`defer`).
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Make the folder a project, with an example manifest
    Init(InitArgs),
    /// Create a folder with a project and an example manifest
    New(NewArgs),
    /// Parse, validate and prove manifests; write nothing
    Check {
        /// Manifests or folders [default: the project of this folder or of a parent]
        paths: Vec<PathBuf>,
    },
    /// Check, then write the outputs that changed
    Build(BuildArgs),
    /// Build, and rebuild on every change of a manifest, a template or layoutc.toml
    #[command(after_help = "\
Ctrl-C stops it with exit code 130. The command of --exec is stopped before each restart and at the end.")]
    Watch(WatchArgs),
    /// Remove outputs that were not edited since layoutc wrote them
    Clean(CleanArgs),
    /// Print a tensor: shapes, maps, inverse, proof, sizes
    Inspect {
        /// Manifests or folders [default: the project of this folder or of a parent]
        paths: Vec<PathBuf>,
        /// Print only this tensor; repeatable
        #[arg(long, value_name = "NAME")]
        tensor: Vec<String>,
        /// Print the plan of pack, unpack and conversions in C: digits, loops, tiles
        #[arg(long)]
        plan: bool,
        /// Print the memory accesses of warps: bank conflicts and sectors of declared accesses and of GPU kernels
        #[arg(long)]
        access: bool,
    },
    /// Find the swizzle or row padding of a tensor in shared memory with the fewest bank conflicts
    #[command(after_help = "\
Example: layoutc swizzle tiles.kdl stage
The tensor declares its accesses: access load from=\"(lane) -> (lane % 16, lane // 16 * 8)\" vector=8")]
    Swizzle(SwizzleArgs),
    /// Physical index of an element; with --inverse, the element at a physical index
    #[command(after_help = "\
Example: layoutc index layouts/a.kdl texture 11,37,23,101
An empty line or argument is the coordinate of a tensor of rank 0.")]
    Index(IndexArgs),
    /// Draw a layout: offsets in a grid, next to the memory; on the terminal, as SVG or as a page
    #[command(after_help = SHOWING)]
    Show(ShowArgs),
    /// Trace an index through every step of a layout, as arithmetic
    #[command(after_help = "\
Example: layoutc trace layouts/a.kdl texture 11,37,23,101
An empty argument is the coordinate of a tensor of rank 0.")]
    Trace(TraceArgs),
    /// Convert a dense tensor in a file to its layout, without a C compiler
    #[command(after_help = PACKING)]
    Pack(PackArgs),
    /// Convert a tensor in a file from its layout to dense
    #[command(after_help = UNPACKING)]
    Unpack(UnpackArgs),
    /// Compile and time pack, unpack and conversions
    #[command(after_help = BENCHING)]
    Bench(BenchArgs),
    /// Translate a layout from one notation to another, with a proof that the map is the same
    #[command(after_help = "\
Notations: tvm, xla, glow, onednn, cute, mlir, einops, numpy, mdspan, triton; or
`--to all`.
Without --shape, the result holds for all extents, if the text does.
Shardings: --from xla-sharding, to xla-v1, xla-v2, xla-v3, jax or all; with --shape, JSON
and -v print the shard of each device.
Example: layoutc translate NCHW16c --from tvm --to onednn
Example: layoutc translate '{devices=[2,4]<=[8]}' --from xla-sharding --to xla-v3")]
    Translate(TranslateArgs),
    /// Prove two tensors of a manifest the same map, or print the first index that differs
    #[command(after_help = "\
Axes are matched by name. Exit code: 0 the same map; 1 different, or not comparable.")]
    Same(SameArgs),
    /// Choose the cheapest layouts for the tensors of a graph, with a proof; write nothing
    #[command(after_help = "\
--format json prints one object, --format dot each graph for Graphviz.
Costs are in bytes: those declared by alternatives, and the reads and writes of each conversion.")]
    Solve {
        /// Manifests or folders [default: the project of this folder or of a parent]
        paths: Vec<PathBuf>,
        /// Solve only this graph; repeatable
        #[arg(long, value_name = "NAME")]
        graph: Vec<String>,
        /// Stop after this time and report the best plan found, with a bound
        #[arg(long, value_name = "SECONDS", default_value_t = 60)]
        time_limit: u64,
        /// Compile and time the conversions, and weight slow ones by their time
        #[arg(long)]
        measure: bool,
        /// C compiler for --measure [default: $CC, else cc]
        #[arg(long, value_name = "CC", requires = "measure")]
        cc: Option<String>,
    },
    /// Convert the graph of an ONNX model to a manifest
    #[command(after_help = IMPORTING)]
    Import(ImportArgs),
    /// List the files that a build writes; write nothing
    #[command(after_help = "\
--format cmake prints `set(LAYOUTC_OUTPUTS ...)`, with absolute paths, for `include()`.
--format ninja prints a build file for ninja with one edge per manifest, for `include`.")]
    Outputs(OutputsArgs),
    /// Write layoutc.lock: the layout ABI that `build --locked` enforces
    Lock {
        /// Projects [default: the project of this folder or of a parent]
        paths: Vec<PathBuf>,
        /// Overwrite a layoutc.lock that was edited, or that layoutc did not write
        #[arg(long)]
        force: bool,
    },
    /// Print how outputs and manifests depend on manifests, templates and configuration; write nothing
    #[command(after_help = "\
--format dot prints a graph for Graphviz.")]
    Deps(DepsArgs),
    /// List the built-in templates, or copy one for editing
    Templates {
        #[command(subcommand)]
        what: TemplatesCommand,
    },
    /// List the manifests of the library, or print one: layouts of matrix instructions
    Library {
        /// Manifest to print: std/nvidia.kdl, or nvidia [default: list all]
        name: Option<String>,
    },
    /// CuTe's layout algebra, each result verified: `(4,(2,2)):(1,(4,8))`
    Algebra {
        #[command(subcommand)]
        what: AlgebraCommand,
    },
    /// Format manifests; comments, numbers and strings keep their spelling
    #[command(after_help = FORMATTING)]
    Fmt(FmtArgs),
    /// Explain a diagnostic code, with a wrong and a fixed example
    Explain {
        /// Code as printed in brackets: `map::not_injective` [default: list all codes]
        code: Option<String>,
    },
    /// Run the language server for manifests on standard input and output
    Lsp,
    /// Print a shell completion script
    #[command(after_help = COMPLETING)]
    Completions(CompletionsArgs),
    /// Print the man page of layoutc, or write one per command
    #[command(after_help = MANUAL)]
    Man(ManArgs),
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

impl Command {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Command::Init(_) => "init",
            Command::New(_) => "new",
            Command::Check { .. } => "check",
            Command::Build(_) => "build",
            Command::Watch(_) => "watch",
            Command::Clean(_) => "clean",
            Command::Inspect { .. } => "inspect",
            Command::Swizzle(_) => "swizzle",
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
            Command::Library { .. } => "library",
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

#[derive(Debug, clap::Args)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    pub(crate) build: BuildArgs,
    /// Run this shell command after each successful build
    #[arg(long, value_name = "CMD")]
    pub(crate) exec: Option<String>,
    /// Poll the inputs twice a second instead of waiting for change notifications
    #[arg(long)]
    pub(crate) poll: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CleanArgs {
    /// Manifests or folders [default: the project of this folder or of a parent]
    pub(crate) paths: Vec<PathBuf>,
    /// Clean this folder instead of the project's `out_dir`
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print what would be removed, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// Folder of the project
    #[arg(default_value = ".")]
    pub(crate) dir: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct NewArgs {
    /// Folder to create; its last component is the name of the project
    pub(crate) name: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct OutputsArgs {
    #[command(flatten)]
    pub(crate) select: SelectArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DepsArgs {
    #[command(flatten)]
    pub(crate) select: SelectArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TemplatesCommand {
    /// List the built-in templates, with target and purpose
    List,
    /// Copy a template to the project's templates folder, where it overrides the built-in one
    Eject {
        /// Name of the template: c/header.h.j2
        name: String,
        /// Overwrite an existing file
        #[arg(long)]
        force: bool,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct IndexArgs {
    /// Manifest
    pub(crate) file: PathBuf,
    /// Name of the tensor
    pub(crate) tensor: String,
    /// Coordinates, `I,J,...` [default: one per line from standard input]
    #[arg(value_name = "I,J,...")]
    pub(crate) coordinates: Vec<String>,
    /// Take physical coordinates and print the element at each
    #[arg(long)]
    pub(crate) inverse: bool,
    /// Value of a symbol; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TraceArgs {
    /// Manifest
    pub(crate) file: PathBuf,
    /// Name of the tensor
    pub(crate) tensor: String,
    /// Coordinate, `I,J,...`
    #[arg(value_name = "I,J,...")]
    pub(crate) coordinate: String,
    /// Value of a symbol; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
}
#[derive(Debug, clap::Args)]
pub(crate) struct TranslateArgs {
    /// Text in the notation of --from
    #[arg(allow_hyphen_values = true)]
    pub(crate) text: String,
    /// Notation of the text
    #[arg(long, value_name = "NOTATION")]
    pub(crate) from: String,
    /// Notation to write, or `all`
    #[arg(long, value_name = "NOTATION")]
    pub(crate) to: String,
    /// Extents of the axes [default: those in the text, else a symbol for each axis]
    #[arg(long, value_name = "N,N,...")]
    pub(crate) shape: Option<String>,
    /// Element type
    #[arg(long, value_name = "TYPE")]
    pub(crate) dtype: Option<String>,
    /// Names of the axes [default: the letters of the text, or a,b,...]
    #[arg(long, value_name = "A,B,...")]
    pub(crate) axis_names: Option<String>,
    /// Size of a name in the text, as c=16 in einops; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SameArgs {
    /// Manifest
    pub(crate) file: PathBuf,
    /// Name of the first tensor
    #[arg(value_name = "A")]
    pub(crate) first: String,
    /// Name of the second tensor
    #[arg(value_name = "B")]
    pub(crate) second: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SwizzleArgs {
    /// Manifest
    pub(crate) file: PathBuf,
    /// Name of the tensor
    pub(crate) tensor: String,
    /// Name of an access to count; repeatable [default: all accesses of the tensor]
    #[arg(long, value_name = "NAME")]
    pub(crate) access: Vec<String>,
}
