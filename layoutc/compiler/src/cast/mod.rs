//! Conversions of elements from one type into another: which there are, what they are called, what they give.
//!
//! Floats are rounded to nearest, ties to even. `round` lets a float beyond the finite ones become infinite, and an
//! integer wrap; `saturate` takes the nearest finite value in both cases. An integer that a float is rounded to is the
//! nearest there is in both modes, and 0 of a NaN. A NaN keeps its sign and the leading bits of its payload, and is
//! quiet.

mod bits;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::dtype::{Dtype, Scalar};
use crate::fill;

pub use self::bits::CastEvaluator;
pub(crate) use self::bits::overflow_bits;

/// What becomes of a value that the destination does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CastMode {
    /// A float becomes infinite, an integer wraps.
    Round,
    /// The nearest finite value is taken.
    Saturate,
}

impl CastMode {
    /// Both, with their words in manifests.
    pub const ALL: &[(&str, CastMode)] =
        &[("round", CastMode::Round), ("saturate", CastMode::Saturate)];

    /// Its word in manifests.
    pub fn word(self) -> &'static str {
        match self {
            Self::Round => "round",
            Self::Saturate => "saturate",
        }
    }
}

/// A conversion between two different types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cast {
    from: Scalar,
    to: Scalar,
    mode: CastMode,
}

/// Why there is no conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CastError {
    /// The type that has none.
    pub dtype: Dtype,
}

impl Cast {
    /// The conversion from one type into another; `None` where both are the same. Where the two modes give the same, it
    /// is that of [`CastMode::Round`].
    ///
    /// # Errors
    /// [`CastError`]: vectors, complex numbers, `bool` and `f8e8m0fnu` are not converted.
    pub fn new(from: Dtype, to: Dtype, mode: CastMode) -> Result<Option<Self>, CastError> {
        if from == to {
            return Ok(None);
        }
        if let Some(dtype) = [from, to].into_iter().find(|dtype| !is_castable(*dtype)) {
            return Err(CastError { dtype });
        }
        let (from, to) = (from.scalar, to.scalar);
        let all_finite = fill::format(to).is_some_and(|f| f.infinity.is_none() && f.nan.is_none());
        let same = Self { from, to, mode }.is_lossless()
            || is_float(from) && !is_float(to)
            || Self { from, to, mode }.never_overflows()
            || all_finite;
        Ok(Some(Self { from, to, mode: if same { CastMode::Round } else { mode } }))
    }

    /// The type of what is converted.
    pub fn from(self) -> Dtype {
        Dtype { scalar: self.from, lanes: 1 }
    }

    /// The type of what comes out.
    pub fn to(self) -> Dtype {
        Dtype { scalar: self.to, lanes: 1 }
    }

    /// What becomes of a value that the destination does not hold.
    pub fn mode(self) -> CastMode {
        self.mode
    }

    /// Whether every value of the source is one of the destination.
    pub fn is_lossless(self) -> bool {
        match (fill::format(self.from), fill::format(self.to)) {
            (Some(from), Some(to)) => {
                // The least subnormal of both: 2^(1 - bias - mantissa bits).
                let least = |f: &fill::FloatFormat| 1 - f.bias - mantissa_bits(f);
                mantissa_bits(&from) <= mantissa_bits(&to)
                    && from.bias <= to.bias
                    && least(&from) >= least(&to)
                    && (from.infinity.is_none() || to.infinity.is_some())
                    && (from.nan.is_none() || to.nan.is_some())
                    && (from.unsigned_zero || !to.unsigned_zero)
            }
            (None, Some(to)) => {
                value_bits(self.from) <= to.mantissa_bits + 1 && self.never_overflows()
            }
            (Some(_), None) => false,
            (None, None) => {
                let ((low, high), (least, most)) = (range(self.from), range(self.to));
                least <= low && high <= most
            }
        }
    }

    /// Whether no integer of the source lies beyond the floats of the destination.
    pub(crate) fn never_overflows(self) -> bool {
        match (fill::format(self.from), fill::format(self.to)) {
            // 2^(bias + 1) is the first power of two that is not finite: one less where the bias is one more, and more where
            // there is no infinity.
            (None, Some(to)) => {
                let greatest = if to.unsigned_zero { to.bias - 1 } else { to.bias };
                i32::try_from(value_bits(self.from)).is_ok_and(|bits| bits <= greatest)
            }
            _ => false,
        }
    }

    /// Its name behind a prefix: `f32_to_f16`, `f32_to_f16_saturate`.
    pub fn name(self) -> String {
        let saturate = if self.mode == CastMode::Saturate { "_saturate" } else { "" };
        format!("{}_to_{}{saturate}", self.from(), self.to())
    }

    /// The conversion of that name.
    pub fn parse(name: &str) -> Option<Self> {
        let (name, mode) = match name.strip_suffix("_saturate") {
            Some(name) => (name, CastMode::Saturate),
            None => (name, CastMode::Round),
        };
        let (from, to) = name.split_once("_to_")?;
        Self::new(Dtype::parse(from)?, Dtype::parse(to)?, mode).ok().flatten()
    }

    /// The conversions that this one is made of, where it is made of others: a small float becomes `f32` first, which
    /// holds all of its values.
    pub fn decompose(self) -> Option<[Self; 2]> {
        let is_small = |scalar| is_float(scalar) && !matches!(scalar, Scalar::F32 | Scalar::F64);
        let single = Dtype { scalar: Scalar::F32, lanes: 1 };
        let narrows = |from: &fill::FloatFormat, to: &fill::FloatFormat| {
            let are_signed = !from.unsigned_zero && !to.unsigned_zero;
            // What is narrowed loses at least a bit.
            from.mantissa_bits > to.mantissa_bits && from.bias >= to.bias && are_signed
        };
        let through = match (fill::format(self.from), fill::format(self.to)) {
            (Some(_), None) => is_small(self.from),
            (Some(from), Some(to)) => {
                is_small(self.from) && !self.is_lossless() && !narrows(&from, &to)
            }
            // 24 bits are exact in f32.
            (None, Some(_)) => is_small(self.to) && value_bits(self.from) <= 24,
            (None, None) => false,
        };
        let part = |from, to| Self::new(from, to, self.mode).ok().flatten();
        if through { Some([part(self.from(), single)?, part(single, self.to())?]) } else { None }
    }

    /// What the generated files say of it.
    pub fn doc(self) -> String {
        let (from, to) = (self.from(), self.to());
        if self.is_lossless() {
            return format!("Every {from} is a value of {to}.");
        }
        match (is_float(self.from), fill::format(self.to), self.mode) {
            (_, Some(format), CastMode::Round) if format.infinity.is_some() => {
                format!("The nearest {to}, ties to even; infinite beyond the finite ones.")
            }
            (_, Some(format), CastMode::Round) if format.nan.is_some() => {
                format!("The nearest {to}, ties to even; NaN beyond the finite ones.")
            }
            (_, Some(_), _) => format!("The nearest finite {to}, ties to even."),
            (true, None, _) => format!("The nearest {to}, ties to even; 0 of a NaN."),
            (false, None, CastMode::Round) => format!("The low bits: what {to} cannot hold wraps."),
            (false, None, CastMode::Saturate) => format!("The nearest {to}."),
        }
    }
}

impl fmt::Display for Cast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

/// Whether elements of a type are converted.
pub fn is_castable(dtype: Dtype) -> bool {
    let none = [Scalar::F8e8m0fnu, Scalar::Bool, Scalar::C64, Scalar::C128];
    dtype.lanes == 1 && dtype.record().is_none() && !none.contains(&dtype.scalar)
}

fn is_float(scalar: Scalar) -> bool {
    fill::format(scalar).is_some()
}

fn mantissa_bits(format: &fill::FloatFormat) -> i32 {
    i32::try_from(format.mantissa_bits).unwrap_or(0)
}

/// Bits of an integer without its sign.
fn value_bits(scalar: Scalar) -> u32 {
    let bits = Dtype { scalar, lanes: 1 }.element_bits();
    if fill::is_signed(scalar) { bits.saturating_sub(1) } else { bits }
}

/// The least and the greatest integer of a type.
pub(crate) fn range(scalar: Scalar) -> (i128, i128) {
    let bits = value_bits(scalar);
    let above = 1_i128 << bits;
    (if fill::is_signed(scalar) { -above } else { 0 }, above - 1)
}
