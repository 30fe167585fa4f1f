//! `layoutc pack` and `layoutc unpack`: a tensor in a file laid out, or dense again, in process.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use layoutc_compiler::codes::Code;
use layoutc_compiler::diagnostic::Diagnostic;
use layoutc_compiler::dtype::Dtype;
use layoutc_compiler::emit::array::c_array;
use layoutc_compiler::fill;
use layoutc_compiler::model::Tensor;
use layoutc_compiler::run::{self, Packing, RunError};
use serde_json::json;

use crate::args::{Format, Moved, Pack, Unpack};
use crate::array::file::{STANDARD, called, is_standard, keep, read, write};
use crate::array::npy::{self, Npy};
use crate::array::{descr, in_order, is_taken, packed, unpacked};
use crate::console::Console;
use crate::fault::Fault;
use crate::report::counted;
use crate::session::{Session, localized};

use super::Ending;
use super::element::{one_manifest, symbols, tensor};

/// The values of symbols.
type Values = BTreeMap<String, i128>;

/// Writes the layout of a dense tensor.
pub(crate) fn pack(args: &Pack, console: &mut Console) -> Result<Ending, Fault> {
    let Some(tensor) = opened(&args.moved, console)? else { return Ok(Ending::Bad) };
    let output = args.output.as_deref().unwrap_or(Path::new(STANDARD));
    keep(&[&args.moved.file, &args.moved.input], output)?;
    let file = read(&args.moved.input)?;
    let name = called(&args.moved.input, "standard input");
    let held = Held { name: &name, tensor: &tensor };
    let input = &args.moved.input;
    let is_npy = !args.moved.raw && (is_standard(input) || is_npy(input));
    let (values, dense) = if is_npy {
        let npy = held.npy(&file)?;
        let values = held.symbols(&args.moved.set, &npy)?;
        let shape = run::logical_shape(&tensor, &values).map_err(|error| held.unmoved(&error))?;
        held.shape(&npy, &[with_lanes(shape, &tensor)])?;
        (values, held.elements(&npy)?)
    } else {
        (symbols(&args.moved.set, &tensor)?, Cow::Borrowed(file.as_slice()))
    };
    let ready = run::pack(&tensor, &values).map_err(|error| held.unmoved(&error))?;
    held.bytes(dense.len(), ready.from_bytes, "dense")?;
    let mut physical = held.zeros(ready.to_bytes)?;
    ready.run(&dense, &mut physical).map_err(|error| held.unmoved(&error))?;
    if args.c_array {
        let text = c_array(&format!("{}_data", tensor.name), tensor.dtype, &physical);
        write(output, &[text.as_bytes()], console)?;
    } else if is_npy_output(output, &args.moved, false) {
        let header = npy::header(descr_of_buffer(&tensor), &held.physical_shape(&values)?);
        write(output, &[&header, &physical], console)?;
    } else {
        write(output, &[&physical], console)?;
    }
    told(&args.moved, output, physical.len(), console);
    Ok(Ending::Good)
}

/// Writes a laid out tensor, dense.
pub(crate) fn unpack(args: &Unpack, console: &mut Console) -> Result<Ending, Fault> {
    let Some(tensor) = opened(&args.moved, console)? else { return Ok(Ending::Bad) };
    keep(&[&args.moved.file, &args.moved.input], &args.output)?;
    let values = symbols(&args.moved.set, &tensor)?;
    let file = read(&args.moved.input)?;
    let name = called(&args.moved.input, "standard input");
    let held = Held { name: &name, tensor: &tensor };
    let physical = if is_npy(&args.moved.input) && !args.moved.raw {
        let npy = held.npy(&file)?;
        let shape = held.physical_shape(&values)?;
        let flat = vec![shape.iter().product()];
        held.shape(&npy, &[shape, flat])?;
        held.laid_out(&npy)?
    } else {
        Cow::Borrowed(file.as_slice())
    };
    let ready = run::unpack(&tensor, &values).map_err(|error| held.unmoved(&error))?;
    held.bytes(physical.len(), ready.from_bytes, "laid out")?;
    let mut dense = held.zeros(ready.to_bytes)?;
    ready.run(&physical, &mut dense).map_err(|error| held.unmoved(&error))?;
    let bytes = dense.len();
    if is_npy_output(&args.output, &args.moved, true) {
        let shape = run::logical_shape(&tensor, &values).map_err(|error| held.unmoved(&error))?;
        if let Some(packing) = dense_packing(&tensor) {
            let count = usize::try_from(shape.iter().product::<u64>()).unwrap_or(0);
            dense = unpacked(&dense, tensor.dtype, packing, count);
        }
        let header = npy::header(descr(tensor.logical_dtype()), &with_lanes(shape, &tensor));
        write(&args.output, &[&header, &dense], console)?;
    } else {
        write(&args.output, &[&dense], console)?;
    }
    told(&args.moved, &args.output, bytes, console);
    Ok(Ending::Good)
}

/// The tensor of a manifest; `None` if what is wrong was printed.
fn opened(args: &Moved, console: &mut Console) -> Result<Option<Tensor>, Fault> {
    let mut session = Session::open(one_manifest(&args.file)?, console)?;
    let Some(tensor) = tensor(&session, &args.tensor, console)?.cloned() else { return Ok(None) };
    let Some(fault) = fill::fault(&tensor) else { return Ok(Some(tensor)) };
    let project = session.projects.first().map(|(project, _)| project);
    let fault = project.map_or_else(|| fault.clone(), |project| localized(&fault, project));
    session.report.add([fault]);
    session.report.print(console);
    Ok(None)
}

fn is_npy(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"))
}

/// `standard` says whether a .npy goes to standard output.
fn is_npy_output(path: &Path, args: &Moved, standard: bool) -> bool {
    !args.raw && if is_standard(path) { standard } else { is_npy(path) }
}

fn packing(tensor: &Tensor) -> Option<Packing> {
    Packing::new(tensor.dtype.element_bits(), tensor.high_first)
}

/// How the elements of the dense side share bytes, where they do.
fn dense_packing(tensor: &Tensor) -> Option<Packing> {
    Packing::new(tensor.logical_dtype().element_bits(), tensor.high_first)
}

fn told(args: &Moved, output: &Path, bytes: usize, console: &mut Console) {
    // What stands on standard output is the tensor alone.
    if is_standard(output) {
        return;
    }
    let (input, output) = (args.input.display().to_string(), output.display().to_string());
    match console.format {
        Format::Json => {
            let told = json!({
                "version": 1, "kind": console.command, "tensor": args.tensor,
                "input": input, "output": output, "bytes": bytes,
            });
            console.result(&format!("{told}\n"));
        }
        Format::Text if !console.quiet => {
            console.result(&format!("written    {output}: {}\n", counted(bytes, "byte")));
        }
        Format::Text => {}
    }
}

/// The lanes of a vector are one more axis.
fn with_lanes(mut shape: Vec<u64>, tensor: &Tensor) -> Vec<u64> {
    if tensor.dtype.lanes > 1 {
        shape.push(u64::from(tensor.dtype.lanes));
    }
    shape
}

/// What a buffer holds: packed elements are bytes there.
fn descr_of_buffer(tensor: &Tensor) -> &'static str {
    if packing(tensor).is_some() { "|u1" } else { descr(tensor.dtype) }
}

/// A file that holds, or should hold, a tensor.
struct Held<'a> {
    name: &'a str,
    tensor: &'a Tensor,
}

impl Held<'_> {
    fn fault(code: Code, message: String, help: Option<String>) -> Fault {
        let mut diagnostic: Diagnostic = Diagnostic::placeless(code, message);
        diagnostic.help.extend(help);
        Fault::Input(vec![diagnostic])
    }

    fn npy<'f>(&self, file: &'f [u8]) -> Result<Npy<'f>, Fault> {
        npy::read(file).map_err(|error| {
            let message = format!("`{}` is no .npy: {error}", self.name);
            let help = "`--raw` takes the bytes of a file as they are";
            Self::fault(Code::ShapeData, message, Some(help.to_owned()))
        })
    }

    /// The values of the symbols: those given, and those that are an extent of the array.
    fn symbols(&self, set: &[String], npy: &Npy<'_>) -> Result<Values, Fault> {
        let mut all = set.to_vec();
        let layout = &self.tensor.layout;
        for (number, symbol) in (0..).zip(&layout.symbols) {
            let is_given = set.iter().any(|text| {
                text.split_once('=').is_some_and(|(name, _)| name.trim() == symbol.name)
            });
            let axis = run::axis_of_symbol(self.tensor, number);
            let Some(extent) = axis.and_then(|axis| npy.shape.get(axis)) else { continue };
            if is_given {
                continue;
            }
            let (value, multiple) = (i128::from(*extent), symbol.multiple.max(1));
            if value < symbol.min || value > symbol.max || value % multiple != 0 {
                let (name, min, max) = (&symbol.name, symbol.min, symbol.max);
                let message =
                    format!("`{}` has {}, where `{name}` is {value}", self.name, tuple(&npy.shape));
                let of = if multiple > 1 {
                    format!(", a multiple of {multiple}")
                } else {
                    String::new()
                };
                let help = format!("`{name}` is promised to be {min} to {max}{of}");
                return Err(Self::fault(Code::ShapeData, message, Some(help)));
            }
            all.push(format!("{}={value}", symbol.name));
        }
        symbols(&all, self.tensor)
    }

    /// Refuses another shape than the first of `wanted`, or one of the others.
    fn shape(&self, npy: &Npy<'_>, wanted: &[Vec<u64>]) -> Result<(), Fault> {
        if wanted.contains(&npy.shape) {
            return Ok(());
        }
        let (given, tensor) = (tuple(&npy.shape), &self.tensor.name);
        let needed = wanted.first().map_or_else(String::new, |shape| tuple(shape));
        let message = format!("`{}` has shape {given}, and `{tensor}` has {needed}", self.name);
        let lanes = (self.tensor.dtype.lanes > 1).then(|| {
            let dtype = self.tensor.dtype;
            format!("the last axis is that of the {} lanes of `{dtype}`", dtype.lanes)
        });
        Err(Self::fault(Code::ShapeData, message, lanes))
    }

    /// The elements of a dense array, as the compiler's buffers hold them.
    fn elements<'f>(&self, npy: &Npy<'f>) -> Result<Cow<'f, [u8]>, Fault> {
        let dtype = self.tensor.logical_dtype();
        self.dtype(npy, dtype, is_taken(&npy.descr, dtype), descr(dtype))?;
        self.whole(npy)?;
        let bytes = in_order(npy);
        let Some(packing) = dense_packing(self.tensor) else { return Ok(bytes) };
        packed(&bytes, npy.descr.kind, dtype, packing).map(Cow::Owned).map_err(|(at, byte)| {
            let signed = npy.descr.kind == 'i';
            let value = if signed { i32::from(byte.cast_signed()) } else { i32::from(byte) };
            let message =
                format!("element {at} of `{}` is {value}, which no `{dtype}` is", self.name);
            Self::fault(Code::DtypeData, message, None)
        })
    }

    /// The bytes of a laid out array.
    fn laid_out<'f>(&self, npy: &Npy<'f>) -> Result<Cow<'f, [u8]>, Fault> {
        let is_bytes = npy.descr.kind == 'u' && npy.descr.bytes == 1;
        let fits = match packing(self.tensor) {
            Some(_) => is_bytes,
            None => is_taken(&npy.descr, self.tensor.dtype),
        };
        self.dtype(npy, self.tensor.dtype, fits, descr_of_buffer(self.tensor))?;
        self.whole(npy)?;
        Ok(in_order(npy))
    }

    /// Refuses elements of another type.
    fn dtype(&self, npy: &Npy<'_>, dtype: Dtype, fits: bool, wanted: &str) -> Result<(), Fault> {
        if fits {
            return Ok(());
        }
        let tensor = &self.tensor.name;
        let of = if dtype == self.tensor.dtype { "is of" } else { "is packed from" };
        let message =
            format!("`{}` holds `{}`, and `{tensor}` {of} `{dtype}`", self.name, npy.descr);
        let help = format!("save it as `{wanted}`");
        Err(Self::fault(Code::DtypeData, message, Some(help)))
    }

    /// Refuses an array that has not as many bytes as its own header says.
    fn whole(&self, npy: &Npy<'_>) -> Result<(), Fault> {
        let count = npy.shape.iter().try_fold(1_u64, |all, extent| all.checked_mul(*extent));
        let width = u64::try_from(npy.descr.bytes).ok();
        let needed = count.zip(width).and_then(|(count, width)| count.checked_mul(width));
        let given = u64::try_from(npy.data.len()).ok();
        if needed.is_some() && needed == given {
            return Ok(());
        }
        let needed = needed.map_or_else(|| "more than memory holds".to_owned(), |n| n.to_string());
        let given = npy.data.len();
        let message = format!(
            "`{}` has {given} bytes of elements, and its header promises {needed}",
            self.name
        );
        Err(Self::fault(Code::ShapeData, message, None))
    }

    fn bytes(&self, given: usize, needed: usize, what: &str) -> Result<(), Fault> {
        if given == needed {
            return Ok(());
        }
        let tensor = &self.tensor.name;
        let message = format!(
            "`{}` holds {}, and {what} `{tensor}` has {needed}",
            self.name,
            counted(given, "byte")
        );
        Err(Self::fault(Code::ShapeData, message, None))
    }

    /// The shape of a laid out tensor in a .npy: that of its memory; of packed elements that of the bytes.
    fn physical_shape(&self, values: &Values) -> Result<Vec<u64>, Fault> {
        let tensor = self.tensor;
        let shape = if packing(tensor).is_some() {
            let bytes = run::sizes(tensor, values).map(|(_, bytes)| bytes);
            bytes.and_then(|b| Ok(vec![u64::try_from(b).map_err(|_| RunError::TooLarge)?]))
        } else {
            run::physical_shape(tensor, values).map(|shape| with_lanes(shape, tensor))
        };
        shape.map_err(|error| self.unmoved(&error))
    }

    /// As many bytes, if memory has them.
    fn zeros(&self, bytes: usize) -> Result<Vec<u8>, Fault> {
        let is_room = Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
        if is_room { Ok(vec![0; bytes]) } else { Err(self.unmoved(&RunError::TooLarge)) }
    }

    /// Why a tensor could not be moved that was found good.
    fn unmoved(&self, error: &RunError) -> Fault {
        let code =
            if *error == RunError::TooLarge { Code::LimitSize } else { Code::LimitGenerated };
        Self::fault(code, format!("`{}` cannot be moved: {error}", self.tensor.name), None)
    }
}

/// `(3, 4)`, `(3,)`
fn tuple(shape: &[u64]) -> String {
    match shape {
        [only] => format!("({only},)"),
        _ => format!("({})", shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}
