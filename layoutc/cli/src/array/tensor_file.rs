//! A file that holds, or should hold, a tensor: what is asked of its header, its size and its elements.

use std::borrow::Cow;
use std::collections::BTreeMap;

use layoutc_compiler::codes::Code;
use layoutc_compiler::diagnostic::Diagnostic;
use layoutc_compiler::dtype::Dtype;
use layoutc_compiler::model::Tensor;
use layoutc_compiler::run::{self, Packing, RunError};

use super::npy::{self, NpyHeader};
use super::{descr, is_compatible, packed, to_c_order};
use crate::command_error::CommandError;
use crate::report::counted;

/// The values of symbols.
pub(crate) type SymbolValues = BTreeMap<String, i128>;

/// A file that holds, or should hold, a tensor.
pub(crate) struct TensorFile<'a> {
    /// What it is called.
    pub(crate) name: &'a str,
    /// The tensor.
    pub(crate) tensor: &'a Tensor,
}

/// How the elements of a tensor share bytes, where they do.
pub(crate) fn packing(tensor: &Tensor) -> Option<Packing> {
    Packing::new(tensor.dtype.element_bits(), tensor.high_first)
}

/// How the elements of the dense side share bytes, where they do.
pub(crate) fn dense_packing(tensor: &Tensor) -> Option<Packing> {
    Packing::new(tensor.logical_dtype().element_bits(), tensor.high_first)
}

/// What a buffer holds: packed elements are bytes there.
pub(crate) fn descr_of_buffer(tensor: &Tensor) -> Cow<'static, str> {
    if packing(tensor).is_some() { "|u1".into() } else { descr(tensor.dtype) }
}

/// The lanes of a vector are one more axis.
pub(crate) fn with_lanes(mut shape: Vec<u64>, tensor: &Tensor) -> Vec<u64> {
    if tensor.dtype.lanes > 1 {
        shape.push(u64::from(tensor.dtype.lanes));
    }
    shape
}

/// Why a tensor could not be moved that was found good.
pub(crate) fn relayout_error(tensor: &Tensor, error: &RunError) -> CommandError {
    let code = if *error == RunError::TooLarge { Code::LimitSize } else { Code::LimitGenerated };
    fault(code, format!("`{}` cannot be moved: {error}", tensor.name), None)
}

/// The fault of a file whose element `at` is a byte that the type does not have; `kind` is `NumPy`'s.
pub(crate) fn invalid_value_error(
    name: &str,
    (at, byte): (u64, u8),
    kind: char,
    dtype: Dtype,
) -> CommandError {
    let value = if kind == 'i' { i32::from(byte.cast_signed()) } else { i32::from(byte) };
    let message = format!("element {at} of `{name}` is {value}, which no `{dtype}` is");
    fault(Code::DtypeData, message, None)
}

fn fault(code: Code, message: String, help: Option<String>) -> CommandError {
    let mut diagnostic: Diagnostic = Diagnostic::without_span(code, message);
    diagnostic.help.extend(help);
    CommandError::Input(vec![diagnostic])
}

impl TensorFile<'_> {
    /// The header of an array, from what the file begins with.
    pub(crate) fn npy(&self, first: &[u8]) -> Result<NpyHeader, CommandError> {
        npy::read(first).map_err(|error| {
            let message = format!("`{}` is no .npy: {error}", self.name);
            let help = "`--raw` takes the bytes of a file as they are";
            fault(Code::ShapeData, message, Some(help.to_owned()))
        })
    }

    /// `NAME=VALUE` of the symbols: those given, and those that are an extent of the array.
    pub(crate) fn sets(
        &self,
        set: &[String],
        npy: &NpyHeader,
    ) -> Result<Vec<String>, CommandError> {
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
                return Err(fault(Code::ShapeData, message, Some(help)));
            }
            all.push(format!("{}={value}", symbol.name));
        }
        Ok(all)
    }

    /// Refuses another shape than the first of `wanted`, or one of the others.
    pub(crate) fn shape(&self, npy: &NpyHeader, wanted: &[Vec<u64>]) -> Result<(), CommandError> {
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
        Err(fault(Code::ShapeData, message, lanes))
    }

    /// Refuses a dense array of other elements, or of more or fewer bytes than its own header says.
    pub(crate) fn dense(&self, npy: &NpyHeader, length: u64) -> Result<(), CommandError> {
        let dtype = self.tensor.logical_dtype();
        self.dtype(npy, dtype, is_compatible(&npy.descr, dtype), &descr(dtype))?;
        self.whole(npy, length)
    }

    /// The elements of a dense array, as the compiler's buffers hold them.
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

    /// Refuses a laid out array of other elements, or of more or fewer bytes than its own header says.
    pub(crate) fn laid_out(&self, npy: &NpyHeader, length: u64) -> Result<(), CommandError> {
        let is_bytes = npy.descr.kind == 'u' && npy.descr.bytes == 1;
        let fits = match packing(self.tensor) {
            Some(_) => is_bytes,
            None => is_compatible(&npy.descr, self.tensor.dtype),
        };
        self.dtype(npy, self.tensor.dtype, fits, &descr_of_buffer(self.tensor))?;
        self.whole(npy, length)
    }

    /// Refuses elements of another type.
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
        let of = if dtype == self.tensor.dtype { "is of" } else { "is packed from" };
        let message =
            format!("`{}` holds `{}`, and `{tensor}` {of} `{dtype}`", self.name, npy.descr);
        let help = format!("save it as `{wanted}`");
        Err(fault(Code::DtypeData, message, Some(help)))
    }

    /// Refuses an array in a file of `length` bytes that has not as many as its own header says.
    fn whole(&self, npy: &NpyHeader, length: u64) -> Result<(), CommandError> {
        let count = npy.shape.iter().try_fold(1_u64, |all, extent| all.checked_mul(*extent));
        let width = u64::try_from(npy.descr.bytes).ok();
        let needed = count.zip(width).and_then(|(count, width)| count.checked_mul(width));
        let given = length.saturating_sub(npy.start as u64);
        if needed == Some(given) {
            return Ok(());
        }
        let needed = needed.map_or_else(|| "more than memory holds".to_owned(), |n| n.to_string());
        let message = format!(
            "`{}` has {given} bytes of elements, and its header promises {needed}",
            self.name
        );
        Err(fault(Code::ShapeData, message, None))
    }

    /// Refuses another number of bytes than the tensor has.
    pub(crate) fn bytes(&self, given: u64, needed: u64, what: &str) -> Result<(), CommandError> {
        if given == needed {
            return Ok(());
        }
        let tensor = &self.tensor.name;
        let given = usize::try_from(given).unwrap_or(usize::MAX);
        let message = format!(
            "`{}` holds {}, and {what} `{tensor}` has {needed}",
            self.name,
            counted(given, "byte")
        );
        Err(fault(Code::ShapeData, message, None))
    }

    /// Refuses an order that only memory as large as the file could turn.
    pub(crate) fn transpose_too_large(&self, memory_bytes: u64) -> CommandError {
        let message =
            format!("`{}` is in Fortran's order, and too large to be turned in memory", self.name);
        let help = format!("save it in C order, or give it more: `--memory {memory_bytes}`");
        fault(Code::ShapeData, message, Some(help))
    }

    /// The shape of a laid out tensor in a .npy: that of its memory; of packed elements that of the bytes.
    pub(crate) fn physical_shape(&self, values: &SymbolValues) -> Result<Vec<u64>, CommandError> {
        let tensor = self.tensor;
        let shape = if packing(tensor).is_some() {
            let bytes = run::sizes(tensor, values).map(|(_, bytes)| bytes);
            bytes.and_then(|b| Ok(vec![u64::try_from(b).map_err(|_| RunError::TooLarge)?]))
        } else {
            run::physical_shape(tensor, values).map(|shape| with_lanes(shape, tensor))
        };
        shape.map_err(|error| self.relayout_error(&error))
    }

    /// As many bytes, if memory has them.
    pub(crate) fn zeros(&self, bytes: usize) -> Result<Vec<u8>, CommandError> {
        let is_room = Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
        if is_room { Ok(vec![0; bytes]) } else { Err(self.relayout_error(&RunError::TooLarge)) }
    }

    /// Why the tensor could not be moved that was found good.
    pub(crate) fn relayout_error(&self, error: &RunError) -> CommandError {
        relayout_error(self.tensor, error)
    }
}

/// `(3, 4)`, `(3,)`
fn tuple(shape: &[u64]) -> String {
    match shape {
        [only] => format!("({only},)"),
        _ => format!("({})", shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}
