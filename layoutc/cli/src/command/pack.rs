//! `layoutc pack` and `layoutc unpack`: convert a tensor in a file between a dense array and its layout, in
//! this process.

use std::borrow::Cow;
use std::path::Path;

use layoutc_compiler::emit::array::c_array;
use layoutc_compiler::model::Tensor;
use layoutc_compiler::model::fill_fault;
use layoutc_compiler::pack::pieces::{DenseFile, Direction, Order};
use layoutc_compiler::pack::{self, PackError};
use serde_json::json;

use crate::args::{PackArgs, RelayoutArgs, UnpackArgs};
use crate::array::file::{
    ByteSource, InputLength, STANDARD, check_not_input, display_name, is_placed, is_standard, write,
};
use crate::array::npy::{self, NpyHeader};
use crate::array::out_of_core::{
    ElementCodec, InputFile, RelayoutJob, UnpackedBits, dense_bits, memory, part_path,
};
use crate::array::tensor_file::{
    SymbolValues, TensorFile, dense_packing, descr_of_buffer, with_lanes,
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
    let mut source = ByteSource::open(input)?;
    let name = display_name(input, "standard input");
    let tensor_file = TensorFile { name: &name, tensor: &tensor };
    let is_npy = !args.moved.raw && (is_standard(input) || is_npy(input));
    let npy = is_npy.then(|| tensor_file.npy(source.npy_header(input)?)).transpose()?;
    let values = match &npy {
        Some(npy) => {
            let values = symbols(&tensor_file.sets(&args.moved.set, npy)?, &tensor)?;
            let shape = pack::logical_shape(&tensor, &values)
                .map_err(|e| tensor_file.relayout_error(&e))?;
            tensor_file.shape(npy, &[with_lanes(shape, &tensor)])?;
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
    job.read_stream(&mut source)?;
    if let Some(npy) = &npy {
        job.tensor_file.dense(npy, source.length())?;
    }
    if args.c_array {
        let physical = job.converted(source)?;
        let text = c_array(&format!("{}_data", tensor.name), tensor.dtype, &physical);
        write(output, &[text.as_bytes()], console)?;
        report_written(&args.moved, output, (text.len() as u64, None), console);
        return Ok(CommandOutcome::Success);
    }
    job.run(source, console)
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
    let mut source = ByteSource::open(input)?;
    let name = display_name(input, "standard input");
    let tensor_file = TensorFile { name: &name, tensor: &tensor };
    let is_npy = is_npy(input) && !args.moved.raw;
    let npy = is_npy.then(|| tensor_file.npy(source.npy_header(input)?)).transpose()?;
    if let Some(npy) = &npy {
        let shape = tensor_file.physical_shape(&values)?;
        let flat = vec![shape.iter().product()];
        tensor_file.shape(npy, &[shape, flat])?;
    }
    let header = if is_npy_output(&args.output, &args.moved, true) {
        let shape = pack::logical_shape(&tensor, &values)
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
    job.read_stream(&mut source)?;
    if let Some(npy) = &npy {
        job.tensor_file.laid_out(npy, source.length())?;
    }
    job.run(source, console)
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
        let unmoved = |error: PackError| self.tensor_file.relayout_error(&error);
        let (tensor, values) = (self.tensor_file.tensor, self.values);
        let (dense, slots) = pack::sizes(tensor, values).map_err(unmoved)?;
        let dense = match self.spread() {
            Some(_) => pack::logical_shape(tensor, values).map_err(unmoved)?.iter().product(),
            None => dense as u64,
        };
        Ok(match self.direction {
            Direction::Pack => [dense, slots as u64],
            Direction::Unpack => [slots as u64, dense],
        })
    }

    /// Number of bytes in front of the elements of the input.
    fn start(&self) -> u64 {
        self.npy.map_or(0, |npy| npy.start as u64)
    }

    /// Reads `source`, if it is a stream, up to the size of the input and at most one byte more.
    fn read_stream(&self, source: &mut ByteSource) -> Result<(), CommandError> {
        let [from, _] = self.bytes()?;
        source.read_stream(self.start().saturating_add(from), &self.args.input)
    }

    /// Error if `source` has not as many bytes as the tensor.
    fn check_length(&self, source: &ByteSource) -> Result<(), CommandError> {
        let [from, _] = self.bytes()?;
        let what = if self.direction == Direction::Pack { "dense" } else { "physical" };
        self.tensor_file.bytes(source.length().behind(self.start()), from, what)
    }

    /// Converts the tensor in `source`, in memory or in chunks, writes and reports the output.
    fn run(
        self,
        source: ByteSource,
        console: &mut Console,
    ) -> Result<CommandOutcome, CommandError> {
        if self.is_large(&source)? {
            return self.in_pieces(source, console);
        }
        let mut elements = self.converted(source)?;
        let (args, tensor) = (self.args, self.tensor_file.tensor);
        if let (Some(bits), Direction::Unpack) = (self.spread(), self.direction) {
            let [_, count] = self.bytes()?;
            let count = usize::try_from(count).unwrap_or(0);
            elements = unpacked(&elements, tensor.logical_dtype(), bits.packing, count);
        }
        write(self.output, &[&self.header, &elements], console)?;
        let bytes = self.header.len().saturating_add(elements.len());
        report_written(args, self.output, (bytes as u64, None), console);
        Ok(CommandOutcome::Success)
    }

    /// Elements of the tensor in `source` after the conversion in memory, with sub-byte elements packed.
    ///
    /// # Errors
    /// An error if the input has the wrong size or elements out of range, or cannot be read.
    fn converted(&self, source: ByteSource) -> Result<Vec<u8>, CommandError> {
        self.check_length(&source)?;
        let file = source.read_all(&self.args.input)?;
        let start = usize::try_from(self.start()).unwrap_or(usize::MAX);
        let data = file.get(start..).unwrap_or_default();
        let (tensor_file, values) = (&self.tensor_file, self.values);
        let unmoved = |error: PackError| tensor_file.relayout_error(&error);
        let (what, elements, relayout) = match self.direction {
            Direction::Pack => {
                let elements = self.npy.map(|npy| tensor_file.elements(npy, data)).transpose()?;
                ("dense", elements, pack::pack(tensor_file.tensor, values))
            }
            Direction::Unpack => {
                let elements = self.npy.map(|npy| to_c_order(npy, data));
                ("physical", elements, pack::unpack(tensor_file.tensor, values))
            }
        };
        let (elements, relayout) =
            (elements.unwrap_or(Cow::Borrowed(data)), relayout.map_err(unmoved)?);
        let length = InputLength::Exactly(elements.len() as u64);
        tensor_file.bytes(length, relayout.from_bytes as u64, what)?;
        let mut converted = tensor_file.zeros(relayout.to_bytes)?;
        relayout.run(&elements, &mut converted).map_err(unmoved)?;
        Ok(converted)
    }

    /// True if the conversion must run in chunks: the input `source` is a regular file, the output is one or does not
    /// exist, both have elements, and together they exceed the memory limit.
    fn is_large(&self, source: &ByteSource) -> Result<bool, CommandError> {
        let [from, to] = self.bytes()?;
        let is_file = source.is_file() && is_placed(self.output);
        let all = source.length().bytes().saturating_add(to);
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
        self.check_length(&source)?;
        let (tensor, start) = (self.tensor_file.tensor, self.start());
        let [from, to] = self.bytes()?;
        let is_dense = self.direction == Direction::Pack;
        let is_turned = self.npy.is_some_and(is_reordered);
        if is_turned && !(is_dense && tensor.dtype.lanes == 1) {
            return Err(self
                .tensor_file
                .transpose_too_large(start.saturating_add(from).saturating_add(to)));
        }
        let input = &self.args.input;
        let place = self.output.canonicalize().unwrap_or_else(|_| self.output.to_owned());
        check_not_input(&[&self.args.file, input], &part_path(&place))?;
        let unpacked_bits = self.spread();
        let order = if is_turned { Order::FirstFastest } else { Order::LastFastest };
        let element_bits = dense_bits(tensor.logical_dtype(), unpacked_bits);
        let swap_width = self.npy.and_then(|npy| ElementCodec::swap_width_of(&npy.descr));
        let memory = usize::try_from(self.memory()).unwrap_or(usize::MAX);
        let written = (self.header.len() as u64).saturating_add(to);
        let job = RelayoutJob {
            tensor,
            values: self.values,
            direction: self.direction,
            input: InputFile::new(source.into_file(), input, start)?,
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
        report_written(self.args, self.output, (written, Some(pieces)), console);
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

/// Prints the path of the output and its size in bytes. As JSON, also prints the number of chunks, if the conversion
/// ran in chunks. The pair `(bytes, pieces)` has these numbers. Prints nothing if the output is standard output, or as
/// text with `--quiet`.
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
