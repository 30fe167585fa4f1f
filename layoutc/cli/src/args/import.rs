//! The arguments of `import`.

use std::path::PathBuf;

/// What `import --help` says besides.
pub(crate) const IMPORTING: &str = "\
The graph goes to standard output, or to the file of -o. Weights are not copied: layouts need
none. Transpositions become changes of layout; shapes that are worked out are left out. With
--format json a map has the names of the model with those of the manifest.
Example: layoutc import model.onnx --set batch=1 --backend cpu --use cpu.kdl -o model.kdl";

// The arguments of `import`.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// An ONNX model; `-` is standard input
    pub(crate) model: PathBuf,
    /// The manifest to write [none: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write over a file that says something else
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// The graph's name [none: that of the file]
    #[arg(long, value_name = "NAME")]
    pub(crate) graph: Option<String>,
    /// The backend that the graph is for
    #[arg(long, value_name = "NAME", default_value = "onnx")]
    pub(crate) backend: String,
    /// A manifest that the graph uses, for its backend; may be given again
    #[arg(long, value_name = "FILE")]
    pub(crate) r#use: Vec<String>,
    /// An extent that the model leaves open [none: one that fits is assumed]; may be given again
    #[arg(long, value_name = "NAME=EXTENT")]
    pub(crate) set: Vec<String>,
    /// The shape of an input, in place of the model's; may be given again
    #[arg(long, value_name = "INPUT=N,N,...")]
    pub(crate) shape: Vec<String>,
}
