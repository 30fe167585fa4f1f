//! Validation of a file that holds a tensor: of its header, its size and its elements.

use std::borrow::Cow;
use std::collections::BTreeMap;

use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::base::dtype::Dtype;
use layoutc_compiler::model::Tensor;
use layoutc_compiler::pack::{self, PackError, Packing};

use super::file::InputLength;
use super::npy::{self, NpyHeader};
use super::{descr, is_compatible, packed, to_c_order};
use crate::command_error::CommandError;
use crate::report::counted;

/// Values of a layout's symbols, by name.
pub(crate) type SymbolValues = BTreeMap<String, i128>;

/// Input file of `pack` or `unpack`, and the tensor against which its header, size and elements are checked. The file
/// is .npy or raw bytes: the dense array of logical elements for `pack`, the physical buffer for `unpack`.
pub(crate) struct TensorFile<'a> {
    /// Name of the file in messages.
    pub(crate) name: &'a str,
    pub(crate) tensor: &'a Tensor,
}

/// Packing of sub-byte elements in the physical buffer, `None` if an element takes whole bytes.
pub(crate) fn packing(tensor: &Tensor) -> Option<Packing> {
    Packing::new(tensor.dtype.element_bits(), tensor.high_first)
}

/// Packing of sub-byte elements in the dense array, `None` if an element takes whole bytes.
pub(crate) fn dense_packing(tensor: &Tensor) -> Option<Packing> {
    Packing::new(tensor.logical_dtype().element_bits(), tensor.high_first)
}

/// `NumPy` type string of the physical buffer: `|u1` (bytes) if elements are packed, else that of the element type.
pub(crate) fn descr_of_buffer(tensor: &Tensor) -> Cow<'static, str> {
    if packing(tensor).is_some() { "|u1".into() } else { descr(tensor.dtype) }
}

/// Shape of the `NumPy` array for `shape`, the logical or physical shape of `tensor` in elements. A vector type appends
/// its number of lanes as the innermost axis; a type with one lane leaves the shape as it is.
pub(crate) fn with_lanes(mut shape: Vec<u64>, tensor: &Tensor) -> Vec<u64> {
    if tensor.dtype.lanes > 1 {
        shape.push(u64::from(tensor.dtype.lanes));
    }
    shape
}

/// Command error for the error `error` in a conversion of `tensor` whose input file passed the checks.
pub(crate) fn relayout_error(tensor: &Tensor, error: &PackError) -> CommandError {
    let code = if *error == PackError::TooLarge { Code::LimitSize } else { Code::LimitGenerated };
    fault(code, format!("cannot convert `{}`: {error}", tensor.name), None)
}

/// Error for the element at index `at` of the file `name`, with the value `byte`, which is out of range for `dtype`.
/// `kind` is the `NumPy` kind letter of the bytes in the file.
pub(crate) fn invalid_value_error(
    name: &str,
    (at, byte): (u64, u8),
    kind: char,
    dtype: Dtype,
) -> CommandError {
    let value = if kind == 'i' { i32::from(byte.cast_signed()) } else { i32::from(byte) };
    let message = format!("element {at} of `{name}` is {value}, out of range for `{dtype}`");
    fault(Code::DtypeData, message, None)
}

fn fault(code: Code, message: String, help: Option<String>) -> CommandError {
    let mut diagnostic: Diagnostic = Diagnostic::without_span(code, message);
    diagnostic.help.extend(help);
    CommandError::Input(vec![diagnostic])
}

impl TensorFile<'_> {
    /// Parses the header from the first bytes of the file.
    pub(crate) fn npy(&self, first: &[u8]) -> Result<NpyHeader, CommandError> {
        npy::read(first).map_err(|error| {
            let message = format!("`{}` is not a valid .npy file: {error}", self.name);
            let help = "use `--raw` to read the file as raw bytes";
            fault(Code::ShapeData, message, Some(help.to_owned()))
        })
    }

    /// Texts `NAME=VALUE` for symbols. First come the texts in `set`. Then comes one for each other symbol that is the
    /// extent of an axis, with the value from the shape of the array. It is an error if that value is outside the
    /// declared range of the symbol, or not a multiple of its declared divisor.
    pub(crate) fn sets(
        &self,
        set: &[String],
        npy: &NpyHeader,
    ) -> Result<Vec<String>, CommandError> {
        let mut all = set.to_vec();
        let layout = &self.tensor.layout;
        for (number, symbol) in (0..).zip(layout.symbols()) {
            let is_given = set.iter().any(|text| {
                text.split_once('=').is_some_and(|(name, _)| name.trim() == symbol.name)
            });
            let axis = pack::axis_of_symbol(self.tensor, number);
            let Some(extent) = axis.and_then(|axis| npy.shape.get(axis)) else { continue };
            if is_given {
                continue;
            }
            let (value, multiple) = (i128::from(*extent), symbol.multiple.max(1));
            if value < symbol.min || value > symbol.max || value % multiple != 0 {
                let (name, min, max) = (&symbol.name, symbol.min, symbol.max);
                let message = format!(
                    "`{}` has shape {}, where `{name}` is {value}",
                    self.name,
                    tuple(&npy.shape)
                );
                let of = if multiple > 1 {
                    format!(", a multiple of {multiple}")
                } else {
                    String::new()
                };
                let help = format!("`{name}` is declared as {min} to {max}{of}");
                return Err(fault(Code::ShapeData, message, Some(help)));
            }
            all.push(format!("{}={value}", symbol.name));
        }
        Ok(all)
    }

    /// Error if the shape of the array is not in `wanted`, the list of accepted shapes. The message names the first of
    /// them.
    pub(crate) fn shape(&self, npy: &NpyHeader, wanted: &[Vec<u64>]) -> Result<(), CommandError> {
        if wanted.contains(&npy.shape) {
            return Ok(());
        }
        let (given, tensor) = (tuple(&npy.shape), &self.tensor.name);
        let needed = wanted.first().map_or_else(String::new, |shape| tuple(shape));
        let message =
            format!("`{}` has shape {given}, but `{tensor}` has shape {needed}", self.name);
        let lanes = (self.tensor.dtype.lanes > 1).then(|| {
            let dtype = self.tensor.dtype;
            format!("the last axis holds the {} lanes of `{dtype}`", dtype.lanes)
        });
        Err(fault(Code::ShapeData, message, lanes))
    }

    /// Checks the header of a dense file: its element type can hold the elements of the tensor, and a file of `length`
    /// bytes has as many bytes of elements as the header declares.
    pub(crate) fn dense(&self, npy: &NpyHeader, length: InputLength) -> Result<(), CommandError> {
        let dtype = self.tensor.logical_dtype();
        self.dtype(npy, dtype, is_compatible(&npy.descr, dtype), &descr(dtype))?;
        self.whole(npy, length)
    }

    /// Elements of a dense array in the format of the compiler's buffers: in C order, little-endian, with sub-byte
    /// elements packed. `data` has the bytes of the elements in the file. A sub-byte element out of range is an error.
    pub(crate) fn elements<'f>(
        &self,
        npy: &NpyHeader,
        data: &'f [u8],
    ) -> Result<Cow<'f, [u8]>, CommandError> {
        let bytes = to_c_order(npy, data);
        let Some(packing) = dense_packing(self.tensor) else { return Ok(bytes) };
        let (kind, dtype) = (npy.descr.kind, self.tensor.logical_dtype());
        let refused = |(at, byte)| invalid_value_error(self.name, (at as u64, byte), kind, dtype);
        packed(&bytes, kind, dtype, packing).map(Cow::Owned).map_err(refused)
    }

    /// Checks the header of a physical file: its element type can hold the elements of the buffer, and a file of
    /// `length` bytes has as many bytes of elements as the header declares.
    pub(crate) fn laid_out(
        &self,
        npy: &NpyHeader,
        length: InputLength,
    ) -> Result<(), CommandError> {
        let is_bytes = npy.descr.kind == 'u' && npy.descr.bytes == 1;
        let fits = match packing(self.tensor) {
            Some(_) => is_bytes,
            None => is_compatible(&npy.descr, self.tensor.dtype),
        };
        self.dtype(npy, self.tensor.dtype, fits, &descr_of_buffer(self.tensor))?;
        self.whole(npy, length)
    }

    fn dtype(
        &self,
        npy: &NpyHeader,
        dtype: Dtype,
        fits: bool,
        wanted: &str,
    ) -> Result<(), CommandError> {
        if fits {
            return Ok(());
        }
        let tensor = &self.tensor.name;
        let of = if dtype == self.tensor.dtype { "has elements of" } else { "is packed from" };
        let message =
            format!("`{}` holds `{}`, but `{tensor}` {of} `{dtype}`", self.name, npy.descr);
        let help = format!("save it as `{wanted}`");
        Err(fault(Code::DtypeData, message, Some(help)))
    }

    /// Error if a file of `length` bytes has more or fewer bytes of elements than its header declares.
    fn whole(&self, npy: &NpyHeader, length: InputLength) -> Result<(), CommandError> {
        let count = npy.shape.iter().try_fold(1_u64, |all, extent| all.checked_mul(*extent));
        let width = u64::try_from(npy.descr.bytes).ok();
        let needed = count.zip(width).and_then(|(count, width)| count.checked_mul(width));
        let given = length.behind(npy.start as u64);
        if needed.map(InputLength::Exactly) == Some(given) {
            return Ok(());
        }
        let given = given.text(&given.bytes().to_string());
        let needed =
            needed.map_or_else(|| "more than fits in memory".to_owned(), |n| n.to_string());
        let message = format!(
            "`{}` has {given} bytes of elements, but its header declares {needed}",
            self.name
        );
        Err(fault(Code::ShapeData, message, None))
    }

    /// Error if a file has `given` bytes of elements instead of `needed`. `what` precedes the name of the tensor in the
    /// message: `dense` or `physical`.
    pub(crate) fn bytes(
        &self,
        given: InputLength,
        needed: u64,
        what: &str,
    ) -> Result<(), CommandError> {
        if given == InputLength::Exactly(needed) {
            return Ok(());
        }
        let bytes = usize::try_from(given.bytes()).unwrap_or(usize::MAX);
        let held = given.text(&counted(bytes, "byte"));
        let (name, tensor) = (self.name, &self.tensor.name);
        let message = format!("`{name}` holds {held}, but {what} `{tensor}` has {needed}");
        Err(fault(Code::ShapeData, message, None))
    }

    /// Error for a file in Fortran order that exceeds the memory limit; its help suggests `--memory` with
    /// `memory_bytes`, a limit that suffices.
    pub(crate) fn transpose_too_large(&self, memory_bytes: u64) -> CommandError {
        let message =
            format!("`{}` is in Fortran order and too large to transpose in memory", self.name);
        let help = format!("save it in C order, or raise the limit: `--memory {memory_bytes}`");
        fault(Code::ShapeData, message, Some(help))
    }

    /// Shape of the array in a .npy file of the physical buffer: that of [`pack::physical_shape`], with the lanes of a
    /// vector type as a further axis. If elements are packed, it is the number of bytes.
    pub(crate) fn physical_shape(&self, values: &SymbolValues) -> Result<Vec<u64>, CommandError> {
        let tensor = self.tensor;
        let shape = if packing(tensor).is_some() {
            let bytes = pack::sizes(tensor, values).map(|(_, bytes)| bytes);
            bytes.and_then(|b| Ok(vec![u64::try_from(b).map_err(|_| PackError::TooLarge)?]))
        } else {
            pack::physical_shape(tensor, values).map(|shape| with_lanes(shape, tensor))
        };
        shape.map_err(|error| self.relayout_error(&error))
    }

    /// Buffer of `bytes` zeros; an error if memory does not suffice.
    pub(crate) fn zeros(&self, bytes: usize) -> Result<Vec<u8>, CommandError> {
        let is_room = Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
        if is_room { Ok(vec![0; bytes]) } else { Err(self.relayout_error(&PackError::TooLarge)) }
    }

    /// Command error for the error `error` in a conversion of the tensor, whose input file passed the checks.
    pub(crate) fn relayout_error(&self, error: &PackError) -> CommandError {
        relayout_error(self.tensor, error)
    }
}

/// Shape as a Python tuple, such as `(3, 4)` or `(3,)`.
fn tuple(shape: &[u64]) -> String {
    match shape {
        [only] => format!("({only},)"),
        _ => format!("({})", shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}
