//! Import of ONNX models: bytes of a model in, text of a manifest with one graph out.
//!
//! Inputs, outputs and constants have the row-major layout that ONNX implies, and each operator accepts the layouts
//! that ONNX defines. Where possible, a transposition becomes a change of layout, which moves no data.

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

use crate::base::codes::Code;
use crate::base::diagnostic::Diagnostic;
use limits::{LimitExcess, MAX_DEPTH, MAX_PARTS, excess};

pub use error::ImportError;

/// Options of the import of an ONNX model.
#[derive(Debug, Clone, Default)]
pub struct ImportOptions<'a> {
    /// Name of the graph, converted to a manifest name. If it has no ASCII letter or digit, the graph's name in the
    /// model is used, then `model`.
    pub name: &'a str,
    /// Name of the ONNX file, for the comment `// Imported from …` of the manifest; if empty, the manifest has no such
    /// comment.
    pub file: &'a str,
    /// Name of the backend for which the graph is planned.
    pub backend: &'a str,
    /// Paths of the manifests that the imported manifest includes with `use`, because they define the backend.
    pub uses: &'a [String],
    /// Values of the model's dimension parameters, by parameter name: `("batch", 1)`. The first entry of a name counts.
    pub sizes: &'a [(String, u64)],
    /// Shapes of inputs that replace those of the model, by input name, outermost extent first. The first entry of a
    /// name counts.
    pub shapes: &'a [(String, Vec<u64>)],
}

/// Manifest of an imported graph, with counts for a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedGraph {
    /// Text of the manifest in KDL syntax.
    pub text: String,
    /// Name of the graph.
    pub graph: String,
    /// Number of operators in the graph, without those that the import removed.
    pub nodes: usize,
    /// Number of inputs, constants and results in the graph.
    pub tensors: usize,
    /// Number of transpositions that became changes of layout instead of operators.
    pub transposes: usize,
    /// Number of operators that the import removed because their results are constant, except `Constant`, plus the
    /// number of `If` operators replaced by one of their branches.
    pub folded: usize,
    /// Pairs `(name, size)` of the open extents whose sizes were assumed. The name is that of the dimension parameter,
    /// or `input[axis]` for an extent without one.
    pub assumed: Vec<(String, u64)>,
    /// Map from names in the model to names in the manifest, of nodes, tensors and constants, as `import --format json`
    /// prints it.
    pub map: serde_json::Value,
}

/// Imports the graph of an ONNX model as the text of a manifest. `file` has the bytes of the ONNX file.
///
/// # Errors
/// [`ImportError::InvalidOption`] if an option does not match the model. [`ImportError::Faulty`], with a code
/// `import::…` or `limit::graph`, if the model is malformed, unsupported or too large.
pub fn import_onnx(
    file: Vec<u8>,
    options: &ImportOptions<'_>,
) -> Result<ImportedGraph, ImportError> {
    let mut model = decode(file.into())?;
    functions::inline(&mut model)?;
    let Some(graph) = &model.graph else {
        let message = "the file has no graph, so it is not an ONNX model";
        let found = Diagnostic::without_span(Code::ImportMalformed, message);
        return Err(Box::new(found.help("expected a file written by `onnx.save`")).into());
    };
    let own = |set: &&proto::OnnxOpset| ["", "ai.onnx"].contains(&set.domain.as_str());
    let opset = model.opset_import.iter().find(own).map_or(1, |set| set.version);
    let (mut network, assumed) = open_extents::infer_network(graph, opset, options)?;
    let letters = letter_assignment::letters(&mut network)?;
    let mut imported = write::write(&network, &letters, options);
    if !assumed.is_empty() {
        let list: Vec<String> =
            assumed.iter().map(|(name, size)| format!("{name}={size}")).collect();
        let line = format!("// The model leaves extents open; assumed: {}\n", list.join(" "));
        imported.text.insert_str(0, &line);
        imported.assumed = assumed;
    }
    Ok(imported)
}

/// Decodes an ONNX file, after a check against the limits of size and nesting.
///
/// # Errors
/// `limit::graph` if the file exceeds a limit, `import::malformed` if it is no valid protobuf encoding of a model.
fn decode(file: Bytes) -> Result<proto::OnnxModel, Box<Diagnostic>> {
    let too_much = excess(&file).map(|excess| match excess {
        LimitExcess::Parts => format!("the model has more than {MAX_PARTS} parts"),
        LimitExcess::Depth => {
            format!("the graphs of the model are nested more than {MAX_DEPTH} deep")
        }
    });
    if let Some(message) = too_much {
        return Err(Box::new(Diagnostic::without_span(Code::LimitGraph, message)));
    }
    let bytes = file.len();
    proto::OnnxModel::decode(file).map_err(|fault| {
        let message = "the file is not an ONNX model";
        let found = Diagnostic::without_span(Code::ImportMalformed, message);
        Box::new(found.note(fault.to_string()).note(format!("it has {bytes} bytes")))
    })
}
