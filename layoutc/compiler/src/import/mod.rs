//! ONNX models: bytes in, the text of a manifest with one graph out.
//!
//! What depends on the order of axes says so: inputs, outputs and constants have the row-major layout that ONNX implies,
//! and each operator accepts what ONNX means by it. A transposition moves nothing here: it becomes a change of layout.

mod axis_attributes;
mod axis_relations;
mod call;
mod defaults;
mod elements;
mod error;
mod extents;
mod functions;
mod infer;
mod kdl_text;
mod letter_assignment;
mod letter_classes;
mod limits;
mod loops;
mod name_map;
mod names;
mod network;
mod open_extents;
mod operator;
mod properties;
mod proto;
mod shape_inference;
mod subgraphs;
#[cfg(test)]
mod subgraphs_tests;
#[cfg(test)]
mod tests;
mod write;

use prost::Message;
use prost::bytes::Bytes;

use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use limits::{LimitExcess, MAX_DEPTH, MAX_PARTS, excess};

pub use error::ImportError;
pub(crate) use names::ReservedPredicate;

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct ImportOptions<'a> {
    /// The graph's name, before it is made one of a manifest; empty: the model's own.
    pub name: &'a str,
    /// The name of the file, for the first line.
    pub file: &'a str,
    /// The backend's name.
    pub backend: &'a str,
    /// Manifests that the graph uses, for its backend.
    pub uses: &'a [String],
    /// Extents that the model calls by a name.
    pub sizes: &'a [(String, u64)],
    /// Shapes of inputs, in place of the model's own.
    pub shapes: &'a [(String, Vec<u64>)],
}

/// A graph as a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedGraph {
    /// The manifest.
    pub text: String,
    /// The graph's name.
    pub graph: String,
    /// How many operators it has.
    pub nodes: usize,
    /// How many inputs, constants and results it has.
    pub tensors: usize,
    /// How many transpositions became changes of layout.
    pub transposes: usize,
    /// How many operators are gone because what they give is known before the model runs.
    pub folded: usize,
    /// Extents that the model leaves open, with what was assumed: by name, or as `input[axis]`.
    pub assumed: Vec<(String, u64)>,
    /// The model's names of nodes and tensors with those of the manifest, and the constants: `import --format json`.
    pub map: serde_json::Value,
}

/// The graph of a model.
///
/// # Errors
/// What was asked for is not there, or the file is no model that a graph can say: codes `import::…`.
pub(crate) fn import(
    file: Bytes,
    asked: &ImportOptions<'_>,
    is_reserved: &ReservedPredicate<'_>,
) -> Result<ImportedGraph, ImportError> {
    let mut model = decode(file)?;
    functions::inline(&mut model)?;
    let (mut network, assumed) = open_extents::infer_network(&model, asked)?;
    let letters = letter_assignment::letters(&mut network)?;
    let mut imported = write::write(&network, &letters, asked, is_reserved);
    if !assumed.is_empty() {
        let list: Vec<String> =
            assumed.iter().map(|(name, size)| format!("{name}={size}")).collect();
        let line = format!("// The model leaves extents open; assumed: {}\n", list.join(" "));
        imported.text.insert_str(0, &line);
        imported.assumed = assumed;
    }
    Ok(imported)
}

/// The messages of a file.
fn decode(file: Bytes) -> Result<proto::OnnxModel, Box<Diagnostic>> {
    let too_much = excess(&file).map(|excess| match excess {
        LimitExcess::Parts => format!("the model has more than {MAX_PARTS} parts"),
        LimitExcess::Depth => {
            format!("the model has graphs within graphs, more than {MAX_DEPTH} deep")
        }
    });
    if let Some(message) = too_much {
        return Err(Box::new(Diagnostic::without_span(Code::LimitGraph, message)));
    }
    let bytes = file.len();
    let model = proto::OnnxModel::decode(file).map_err(|fault| {
        let message = "the file is not an ONNX model";
        let found = Diagnostic::without_span(Code::ImportMalformed, message);
        Box::new(found.note(fault.to_string()).note(format!("it has {bytes} bytes")))
    })?;
    if model.graph.is_some() {
        return Ok(model);
    }
    let found = Diagnostic::without_span(
        Code::ImportMalformed,
        "the file has no graph, so it is not an ONNX model",
    );
    Err(Box::new(found.help("models are files as `onnx.save` writes them")))
}
