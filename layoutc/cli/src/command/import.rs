//! `layoutc import`: converts the graph of an ONNX model to a manifest.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use layoutc_compiler::base::diagnostic::{Diagnostic, FileSpan, Label};
use layoutc_compiler::import::{ImportError, ImportOptions, ImportedGraph, import_onnx};
use serde_json::json;

use crate::args::ImportArgs;
use crate::array::file::{STANDARD, check_not_input, display_name, is_standard, read, write};
use crate::command_error::CommandError;
use crate::console::{Console, ReportFormat};
use crate::report::{Report, counted};

use super::CommandOutcome;

/// Converts an ONNX model to a manifest, and writes it to the file of `-o` or to standard output.
pub(crate) fn run(
    args: &ImportArgs,
    console: &mut Console,
) -> Result<CommandOutcome, CommandError> {
    let sizes = args.set.iter().map(|text| size(text)).collect::<Result<Vec<_>, _>>()?;
    let shapes = args.shape.iter().map(|text| shape(text)).collect::<Result<Vec<_>, _>>()?;
    let output = args.output.as_deref().unwrap_or(Path::new(STANDARD));
    check_not_input(&[&args.model], output)?;
    let file = read(&args.model)?;
    let part = |part: Option<&OsStr>| {
        let part = part.filter(|_| !is_standard(&args.model));
        part.map(|part| part.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let (stem, name) = (part(args.model.file_stem()), part(args.model.file_name()));
    let options = ImportOptions {
        name: args.graph.as_deref().unwrap_or(&stem),
        file: &name,
        backend: &args.backend,
        uses: &args.r#use,
        sizes: &sizes,
        shapes: &shapes,
    };
    let imported = match import_onnx(file, &options) {
        Ok(imported) => imported,
        Err(ImportError::InvalidOption(line)) => return Err(CommandError::Usage(line)),
        Err(ImportError::Faulty(error)) => {
            let path: Arc<str> = Arc::from(display_name(&args.model, "standard input"));
            let label =
                Label { place: FileSpan::new(&path, 0..0), message: String::new(), primary: true };
            let mut report = Report::default();
            report.add([Diagnostic { labels: vec![label], ..*error }]);
            report.print(console);
            return Ok(CommandOutcome::InputError);
        }
    };
    if !imported.assumed.is_empty() {
        let list: Vec<String> =
            imported.assumed.iter().map(|(name, size)| format!("{name}={size}")).collect();
        let list = list.join(" ");
        console
            .remark(&format!("assumed extents: {list}; override them with `--set` or `--shape`\n"));
    }
    let status = written(args, output, &imported, console)?;
    report_import(output, &imported, status, console);
    Ok(CommandOutcome::Success)
}

/// Writes the text of the manifest in `imported` to the file `output`. If `output` is `-`, prints it, except as JSON,
/// which [`report_import`] prints. Returns the status as a word: `printed`, `unchanged` or `written`.
///
/// # Errors
/// [`CommandError::Usage`] if the file exists with different content, is not empty, and `--force` is not given; also if
/// the path is that of a folder or in a missing folder. [`CommandError::Machine`] if the file cannot be written.
fn written(
    args: &ImportArgs,
    output: &Path,
    imported: &ImportedGraph,
    console: &mut Console,
) -> Result<&'static str, CommandError> {
    if is_standard(output) {
        if console.format == ReportFormat::Text {
            console.result(&imported.text);
        }
        return Ok("printed");
    }
    match fs::read(output) {
        Ok(there) if there == imported.text.as_bytes() => return Ok("unchanged"),
        Ok(there) if !there.is_empty() && !args.force => {
            let path = output.display();
            let line = format!("`{path}` exists with different content");
            return Err(CommandError::Usage(format!("{line}; use `--force` to overwrite it")));
        }
        Ok(_) | Err(_) => {}
    }
    write(output, &[imported.text.as_bytes()], console)?;
    Ok("written")
}

fn report_import(output: &Path, imported: &ImportedGraph, status: &str, console: &mut Console) {
    let ImportedGraph { graph, nodes, tensors, transposes, folded, assumed, map, text } = imported;
    if console.format == ReportFormat::Json {
        let mut object = json!({
            "version": 1,
            "kind": "import",
            "graph": graph,
            "nodes": nodes,
            "tensors": tensors,
            "transposes": transposes,
            "folded": folded,
            "assumed": assumed.iter().cloned().collect::<BTreeMap<String, u64>>(),
            "map": map,
        });
        if is_standard(output) {
            object["text"] = text.as_str().into();
        } else {
            object["path"] = output.display().to_string().into();
            object["status"] = status.into();
        }
        console.result(&format!("{object}\n"));
        return;
    }
    if is_standard(output) || console.quiet {
        return;
    }
    let mut parts = vec![counted(*nodes, "operator"), counted(*tensors, "tensor")];
    if *transposes > 0 {
        parts.push(format!("{} as layout conversions", counted(*transposes, "transposition")));
    }
    if *folded > 0 {
        parts.push(format!("{} folded", counted(*folded, "operator")));
    }
    let line = format!("{status:9}  {}\n{graph}: {}\n", output.display(), parts.join(", "));
    console.result(&line);
}

/// Parses the text `NAME=EXTENT` of `--set`, such as `batch=8`, to a pair of name and extent.
///
/// # Errors
/// [`CommandError::Usage`] if the extent is not an integer from 1 to 2^63 - 1.
fn size(text: &str) -> Result<(String, u64), CommandError> {
    let (name, value) = text.rsplit_once('=').unwrap_or((text, ""));
    match extent(value) {
        Some(value) => Ok((name.to_owned(), value)),
        None => {
            let line = format!(
                "`--set {text}`: expected NAME=EXTENT with a positive integer, as in batch=8"
            );
            Err(CommandError::Usage(line))
        }
    }
}

/// Parses the text of `--shape`, such as `input=1,3,224,224`, to a pair of the name of an input and its extents,
/// outermost first. `input=` is an input of rank 0.
///
/// # Errors
/// [`CommandError::Usage`] if an extent is not an integer from 1 to 2^63 - 1.
fn shape(text: &str) -> Result<(String, Vec<u64>), CommandError> {
    let (name, list) = text.rsplit_once('=').unwrap_or((text, "?"));
    let extents: Option<Vec<u64>> = match list.trim() {
        "" => Some(Vec::new()),
        list => list.split(',').map(extent).collect(),
    };
    match extents {
        Some(extents) => Ok((name.to_owned(), extents)),
        None => {
            let line = format!(
                "`--shape {text}`: expected INPUT=EXTENTS with positive integers, as in input=1,3,224,224"
            );
            Err(CommandError::Usage(line))
        }
    }
}

fn extent(text: &str) -> Option<u64> {
    text.trim().parse().ok().filter(|value: &u64| *value > 0 && i64::try_from(*value).is_ok())
}
