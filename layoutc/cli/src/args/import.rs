//! The arguments of `import`.

use std::path::PathBuf;

pub(crate) const IMPORTING: &str = "\
Writes the graph to standard output, or to the file of -o. Weights are not copied: layouts need
none. Transpose operators become layout conversions; shape computations are dropped. With
--format json, prints a map from the names of the model to those of the manifest.
Example: layoutc import model.onnx --set batch=1 --backend cpu --use cpu.kdl -o model.kdl";

#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// ONNX model; `-`: standard input
    pub(crate) model: PathBuf,
    /// Manifest to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite an existing file with different content
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Name of the graph [default: from the file name]
    #[arg(long, value_name = "NAME")]
    pub(crate) graph: Option<String>,
    /// Backend of the graph
    #[arg(long, value_name = "NAME", default_value = "onnx")]
    pub(crate) backend: String,
    /// Manifest that the graph uses, for example the one of its backend; repeatable
    #[arg(long, value_name = "FILE")]
    pub(crate) r#use: Vec<String>,
    /// Size of a symbolic extent of the model; repeatable [default: a size with which shape inference succeeds]
    #[arg(long, value_name = "NAME=EXTENT")]
    pub(crate) set: Vec<String>,
    /// Shape of an input, overriding the model's; repeatable
    #[arg(long, value_name = "INPUT=N,N,...")]
    pub(crate) shape: Vec<String>,
}
