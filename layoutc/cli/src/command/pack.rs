//! `layoutc pack` and `layoutc unpack`: convert a tensor in a file between a dense array and its layout, in
//! this process.

use std::borrow::Cow;
use std::path::Path;

use layoutc_compiler::emit::array::c_array;
use layoutc_compiler::model::Tensor;
use layoutc_compiler::model::fill_fault;
use layoutc_compiler::run::pieces::{DenseFile, Direction, Order};
use layoutc_compiler::run::{self, RunError};
use serde_json::json;

use crate::args::{PackArgs, RelayoutArgs, UnpackArgs};
use crate::array::file::{
    ByteSource, STANDARD, check_not_input, display_name, is_placed, is_standard, write,
};
use crate::array::npy::{self, NpyHeader};
use crate::array::out_of_core::{
    ElementCodec, InputFile, RelayoutJob, UnpackedBits, dense_bits, memory, part_path,
};
use crate::array::tensor_file::{
    SymbolValues, TensorFile, dense_packing, descr_of_buffer, relayout_error, with_lanes,
};
use crate::array::{descr, is_reordered, to_c_order, unpacked};
use crate::check_session::CheckSession;
use crate::command_error::CommandError;
use crate::console::{Console, ReportFormat};
use crate::report::counted;

use super::CommandOutcome;
use super::element::{one_manifest, symbols, tensor};

/// Converts a dense array in a file to the layout of the tensor that `args` names, and writes the result to a file or
/// standard output: as raw bytes, in the .npy format, or as text of a C array. The outcome is
/// [`CommandOutcome::InputError`] if the tensor is not found in a manifest with errors, or cannot be filled with its
/// fill value.
///
/// # Errors
/// Any error of [`CheckSession::open`]. Also an error if the arguments are invalid, the input does not fit the tensor,
/// or a file cannot be read or written.
pub(crate) fn pack(args: &PackArgs, console: &mut Console) -> Result<CommandOutcome, CommandError> {
    let Some(tensor) = opened(&args.moved, console)? else { return Ok(CommandOutcome::InputError) };
    let output = args.output.as_deref().unwrap_or(Path::new(STANDARD));
    check_not_input(&[&args.moved.file, &args.moved.input], output)?;
    let input = &args.moved.input;
    let source = ByteSource::open(input)?;
    let name = display_name(input, "standard input");
    let tensor_file = TensorFile { name: &name, tensor: &tensor };
    let is_npy = !args.moved.raw && (is_standard(input) || is_npy(input));
    let npy = is_npy.then(|| tensor_file.npy(source.first())).transpose()?;
    let values = match &npy {
        Some(npy) => {
            let values = symbols(&tensor_file.sets(&args.moved.set, npy)?, &tensor)?;
            let shape =
                run::logical_shape(&tensor, &values).map_err(|e| tensor_file.relayout_error(&e))?;
            tensor_file.shape(npy, &[with_lanes(shape, &tensor)])?;
            tensor_file.dense(npy, source.length())?;
            values
        }
        None => symbols(&args.moved.set, &tensor)?,
    };
    let is_npy_output = is_npy_output(output, &args.moved, false) && !args.c_array;
    let header = if is_npy_output {
        npy::header(&descr_of_buffer(&tensor), &tensor_file.physical_shape(&values)?)
    } else {
        Vec::new()
    };
    let job = PackJob {
        args: &args.moved,
        output,
        tensor_file,
        values: &values,
        npy: npy.as_ref(),
        direction: Direction::Pack,
        header,
    };
    if !args.c_array && job.is_large(&source)? {
        return job.in_pieces(source, console);
    }
    let PackJob { tensor_file, header, .. } = job;
    let file = source.read_all(input)?;
    let dense = match &npy {
        Some(npy) => tensor_file.elements(npy, file.get(npy.start..).unwrap_or_default())?,
        None => Cow::Borrowed(file.as_slice()),
    };
    let ready = run::pack(&tensor, &values).map_err(|error| tensor_file.relayout_error(&error))?;
    tensor_file.bytes(dense.len() as u64, ready.from_bytes as u64, "dense")?;
    let mut physical = tensor_file.zeros(ready.to_bytes)?;
    ready.run(&dense, &mut physical).map_err(|error| tensor_file.relayout_error(&error))?;
    if args.c_array {
        let text = c_array(&format!("{}_data", tensor.name), tensor.dtype, &physical);
        write(output, &[text.as_bytes()], console)?;
    } else {
        write(output, &[&header, &physical], console)?;
    }
    report_written(&args.moved, output, (physical.len() as u64, None), console);
    Ok(CommandOutcome::Success)
}

/// Converts a tensor in a file from its layout to a dense array, and writes that to a file or standard output: as raw
/// bytes, or in the .npy format. The outcome is [`CommandOutcome::InputError`] if the tensor is not found in a manifest
/// with errors, or cannot be filled with its fill value.
///
/// # Errors
/// Any error of [`CheckSession::open`]. Also an error if the arguments are invalid, the input does not fit the tensor,
/// or a file cannot be read or written.
pub(crate) fn unpack(
    args: &UnpackArgs,
    console: &mut Console,
) -> Result<CommandOutcome, CommandError> {
    let Some(tensor) = opened(&args.moved, console)? else { return Ok(CommandOutcome::InputError) };
    check_not_input(&[&args.moved.file, &args.moved.input], &args.output)?;
    let values = symbols(&args.moved.set, &tensor)?;
    let input = &args.moved.input;
    let source = ByteSource::open(input)?;
    let name = display_name(input, "standard input");
    let tensor_file = TensorFile { name: &name, tensor: &tensor };
    let is_npy = is_npy(input) && !args.moved.raw;
    let npy = is_npy.then(|| tensor_file.npy(source.first())).transpose()?;
    if let Some(npy) = &npy {
        let shape = tensor_file.physical_shape(&values)?;
        let flat = vec![shape.iter().product()];
        tensor_file.shape(npy, &[shape, flat])?;
        tensor_file.laid_out(npy, source.length())?;
    }
    let header = if is_npy_output(&args.output, &args.moved, true) {
        let shape = run::logical_shape(&tensor, &values)
            .map_err(|error| tensor_file.relayout_error(&error))?;
        npy::header(&descr(tensor.logical_dtype()), &with_lanes(shape, &tensor))
    } else {
        Vec::new()
    };
    let job = PackJob {
        args: &args.moved,
        output: &args.output,
        tensor_file,
        values: &values,
        npy: npy.as_ref(),
        direction: Direction::Unpack,
        header,
    };
    if job.is_large(&source)? {
        return job.in_pieces(source, console);
    }
    let PackJob { tensor_file, header, .. } = job;
    let file = source.read_all(input)?;
    let physical = match &npy {
        Some(npy) => to_c_order(npy, file.get(npy.start..).unwrap_or_default()),
        None => Cow::Borrowed(file.as_slice()),
    };
    let ready =
        run::unpack(&tensor, &values).map_err(|error| tensor_file.relayout_error(&error))?;
    tensor_file.bytes(physical.len() as u64, ready.from_bytes as u64, "physical")?;
    let mut dense = tensor_file.zeros(ready.to_bytes)?;
    ready.run(&physical, &mut dense).map_err(|error| tensor_file.relayout_error(&error))?;
    let bytes = dense.len() as u64;
    if let (Some(packing), false) = (dense_packing(&tensor), header.is_empty()) {
        let shape = run::logical_shape(&tensor, &values)
            .map_err(|error| tensor_file.relayout_error(&error))?;
        let count = usize::try_from(shape.iter().product::<u64>()).unwrap_or(0);
        dense = unpacked(&dense, tensor.logical_dtype(), packing, count);
    }
    write(&args.output, &[&header, &dense], console)?;
    report_written(&args.moved, &args.output, (bytes, None), console);
    Ok(CommandOutcome::Success)
}

/// Conversion between a dense file and a file in the layout of a tensor. The header of a .npy input has passed its
/// checks; the size of raw bytes is not checked yet.
struct PackJob<'a> {
    args: &'a RelayoutArgs,
    output: &'a Path,
    tensor_file: TensorFile<'a>,
    values: &'a SymbolValues,
    /// Parsed .npy header of the input, `None` for raw bytes.
    npy: Option<&'a NpyHeader>,
    direction: Direction,
    /// Bytes of the .npy header of the output, empty for raw bytes.
    header: Vec<u8>,
}

impl PackJob<'_> {
    /// Memory limit of the conversion in bytes: that of `--memory`, else the default of [`memory::default_limit`].
    fn memory(&self) -> u64 {
        self.args.memory.unwrap_or_else(memory::default_limit)
    }

    /// Format of the dense file if it has one byte per element although elements are smaller than a byte, as .npy files
    /// do; `None` if it has any other format.
    fn spread(&self) -> Option<UnpackedBits> {
        let kind = match self.direction {
            Direction::Pack => self.npy.map(|npy| npy.descr.kind),
            Direction::Unpack => (!self.header.is_empty()).then_some('u'),
        };
        let tensor = self.tensor_file.tensor;
        let (kind, packing) = kind.zip(dense_packing(tensor))?;
        Some(UnpackedBits { kind, dtype: tensor.logical_dtype(), packing })
    }

    /// Pair `[input, output]` of the sizes in bytes of all elements in the input and in the output, without headers.
    fn bytes(&self) -> Result<[u64; 2], CommandError> {
        let unmoved = |error: RunError| self.tensor_file.relayout_error(&error);
        let (tensor, values) = (self.tensor_file.tensor, self.values);
        let (dense, slots) = run::sizes(tensor, values).map_err(unmoved)?;
        let dense = match self.spread() {
            Some(_) => run::logical_shape(tensor, values).map_err(unmoved)?.iter().product(),
            None => dense as u64,
        };
        Ok(match self.direction {
            Direction::Pack => [dense, slots as u64],
            Direction::Unpack => [slots as u64, dense],
        })
    }

    /// True if the conversion must run in chunks: the input `source` is a regular file, the output is one or does not
    /// exist, both have elements, and together they exceed the memory limit.
    fn is_large(&self, source: &ByteSource) -> Result<bool, CommandError> {
        let [from, to] = self.bytes()?;
        let is_file = source.is_file() && is_placed(self.output);
        let all = source.length().saturating_add(to);
        Ok(is_file && from > 0 && to > 0 && all > self.memory())
    }

    /// Converts the tensor in `source` in chunks within the memory limit, and reports the output ([`report_written`]).
    ///
    /// # Errors
    /// An error if the input has the wrong size, if its elements are in an order that chunks do not support, or if a
    /// file cannot be read or written.
    fn in_pieces(
        self,
        source: ByteSource,
        console: &mut Console,
    ) -> Result<CommandOutcome, CommandError> {
        let (tensor, length) = (self.tensor_file.tensor, source.length());
        let [from, to] = self.bytes()?;
        let start = self.npy.map_or(0, |npy| npy.start as u64);
        let is_dense = self.direction == Direction::Pack;
        let what = if is_dense { "dense" } else { "physical" };
        self.tensor_file.bytes(length.saturating_sub(start), from, what)?;
        let is_turned = self.npy.is_some_and(is_reordered);
        if is_turned && !(is_dense && tensor.dtype.lanes == 1) {
            return Err(self.tensor_file.transpose_too_large(length.saturating_add(to)));
        }
        let input = &self.args.input;
        let place = self.output.canonicalize().unwrap_or_else(|_| self.output.to_owned());
        check_not_input(&[&self.args.file, input], &part_path(&place))?;
        let unpacked_bits = self.spread();
        let order = if is_turned { Order::FirstFastest } else { Order::LastFastest };
        let element_bits = dense_bits(tensor.logical_dtype(), unpacked_bits);
        let swap_width = self.npy.and_then(|npy| ElementCodec::swap_width_of(&npy.descr));
        let memory = usize::try_from(self.memory()).unwrap_or(usize::MAX);
        let job = RelayoutJob {
            tensor,
            values: self.values,
            direction: self.direction,
            input: InputFile::new(source.file(input)?, input, start)?,
            output: self.output,
            place,
            header: self.header,
            bytes: [from, to],
            file: DenseFile { order, element_bits },
            codec: ElementCodec { swap_width, unpacked_bits, recast: None },
            padding: None,
            memory,
        };
        let pieces = job.run(console)?;
        let sizes = run::sizes(tensor, self.values).map_err(|error| relayout_error(tensor, &error));
        let (dense, slots) = sizes?;
        let bytes = if is_dense { slots } else { dense };
        report_written(self.args, self.output, (bytes as u64, Some(pieces)), console);
        Ok(CommandOutcome::Success)
    }
}

/// Tensor that `args` names. `None` if there is no such tensor in a manifest with errors, or if the element type of the
/// tensor cannot represent its fill value; the diagnostics are then printed.
///
/// # Errors
/// [`CommandError::Usage`] if the path is a folder, the name is that of a view, or there is no such tensor in a
/// manifest without errors. Any error of [`CheckSession::open`].
fn opened(args: &RelayoutArgs, console: &mut Console) -> Result<Option<Tensor>, CommandError> {
    let mut session = CheckSession::open(one_manifest(&args.file)?, console)?;
    let Some(tensor) = tensor(&session, &args.tensor, console)?.cloned() else { return Ok(None) };
    let Some(fault) = fill_fault(&tensor) else { return Ok(Some(tensor)) };
    let project = session.projects.first().map(|(project, _)| project);
    let fault = project.map_or_else(|| fault.clone(), |project| project.with_shown_paths(&fault));
    session.report.add([fault]);
    session.report.print(console);
    Ok(None)
}

fn is_npy(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"))
}

/// True if the output at `path` is a .npy file, by its extension; false with `--raw`. For standard output without
/// `--raw`, the result is `standard`.
fn is_npy_output(path: &Path, args: &RelayoutArgs, standard: bool) -> bool {
    !args.raw && if is_standard(path) { standard } else { is_npy(path) }
}

/// Prints the path of the output and the size of the converted tensor in bytes, without a header and with sub-byte
/// elements packed. As JSON, also prints the number of chunks, if the conversion ran in chunks. The pair `(bytes,
/// pieces)` has these numbers. Prints nothing if the output is standard output, or as text with `--quiet`.
fn report_written(
    args: &RelayoutArgs,
    output: &Path,
    (bytes, pieces): (u64, Option<u64>),
    console: &mut Console,
) {
    // Standard output carries only the tensor.
    if is_standard(output) {
        return;
    }
    let (input, output) = (args.input.display().to_string(), output.display().to_string());
    match console.format {
        ReportFormat::Json => {
            let mut summary = json!({
                "version": 1, "kind": console.command, "tensor": args.tensor,
                "input": input, "output": output, "bytes": bytes,
            });
            if let Some(pieces) = pieces {
                summary["pieces"] = json!(pieces);
            }
            console.result(&format!("{summary}\n"));
        }
        ReportFormat::Text if !console.quiet => {
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
            console.result(&format!("written    {output}: {}\n", counted(bytes, "byte")));
        }
        ReportFormat::Text => {}
    }
}
