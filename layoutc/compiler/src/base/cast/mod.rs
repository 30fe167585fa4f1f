//! Element type conversions ([`Cast`]): the supported pairs of types, the names of the conversions and their semantics.
//!
//! Floats are rounded to nearest, ties to even. On overflow, `round` yields infinity for a float type (NaN without
//! infinities, the greatest finite value without both) and wraps integers; `saturate` yields the nearest finite value.
//! A float converted to an integer is rounded and clamped in both modes; NaN becomes 0. In a float type, NaN becomes a
//! quiet NaN with its sign and the leading bits of its payload, as far as the type has them; the greatest finite value,
//! with its sign, in a type without NaN.

mod bits;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::base::dtype::{Dtype, Scalar};
use crate::base::fill;

pub use self::bits::CastEvaluator;
pub(crate) use self::bits::overflow_bits;

/// Treatment of values that are out of the destination type's range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CastMode {
    /// Out-of-range values become infinity in a float type, NaN if it has no infinity, the greatest finite value if it
    /// has neither. In an integer type, integers wrap, and floats become the nearest value.
    Round,
    /// Out-of-range values become the nearest finite value of the destination type.
    Saturate,
}

impl CastMode {
    /// All modes, each as (keyword in manifests, mode).
    pub const ALL: &[(&str, CastMode)] =
        &[("round", CastMode::Round), ("saturate", CastMode::Saturate)];

    /// Keyword of the mode in manifests.
    pub fn word(self) -> &'static str {
        match self {
            Self::Round => "round",
            Self::Saturate => "saturate",
        }
    }
}

/// Conversion between two different element types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cast {
    from: Scalar,
    to: Scalar,
    mode: CastMode,
}

/// Error of [`Cast::new`] for a type that layoutc cannot convert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CastError {
    /// Type that cannot be converted: the source type, or the destination type if the source type can be.
    pub dtype: Dtype,
}

impl Cast {
    /// Conversion from `from` to `to`; `None` if the two are equal. For a pair of types for which the mode is known to
    /// make no difference, such as a lossless conversion, it is [`CastMode::Round`].
    ///
    /// # Errors
    /// [`CastError`] if the types differ and one is a vector, a complex number, a record, `bool` or `f8e8m0fnu`.
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

    /// Source type of the conversion.
    pub fn from(self) -> Dtype {
        Dtype { scalar: self.from, lanes: 1 }
    }

    /// Destination type of the conversion.
    pub fn to(self) -> Dtype {
        Dtype { scalar: self.to, lanes: 1 }
    }

    /// Treatment of values that are out of the destination type's range.
    pub fn mode(self) -> CastMode {
        self.mode
    }

    /// True if elements of the destination type have more bits than those of the source type.
    pub(crate) fn widens(self) -> bool {
        self.to().element_bits() > self.from().element_bits()
    }

    /// True if the destination type is known to represent every value of the source type. False for a few small types
    /// although it does, such as `u2` to `f4e2m1fn`.
    pub fn is_lossless(self) -> bool {
        match (fill::format(self.from), fill::format(self.to)) {
            (Some(from), Some(to)) => {
                // Exponent of the least subnormal number.
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

    /// True if the source is an integer type, the destination a float type, and every source value is known to be in
    /// the finite range of the destination. False for a few small types although it is, such as `u2` to `f4e2m1fn`.
    pub(crate) fn never_overflows(self) -> bool {
        match (fill::format(self.from), fill::format(self.to)) {
            // The greatest exponent of a finite value is at least `bias`. In formats whose bias is one greater than in
            // IEEE 754 it is `bias - 1`.
            (None, Some(to)) => {
                let greatest = if to.unsigned_zero { to.bias - 1 } else { to.bias };
                i32::try_from(value_bits(self.from)).is_ok_and(|bits| bits <= greatest)
            }
            _ => false,
        }
    }

    /// Name of the conversion in generated code, without the project's prefix: `f32_to_f16`, `f32_to_f16_saturate`.
    pub fn name(self) -> String {
        let saturate = if self.mode == CastMode::Saturate { "_saturate" } else { "" };
        format!("{}_to_{}{saturate}", self.from(), self.to())
    }

    /// Conversion with the [`name`](Self::name) `name`; `None` if there is none. A suffix `_saturate` that makes no
    /// difference is ignored.
    pub fn parse(name: &str) -> Option<Self> {
        let (name, mode) = match name.strip_suffix("_saturate") {
            Some(name) => (name, CastMode::Saturate),
            None => (name, CastMode::Round),
        };
        let (from, to) = name.split_once("_to_")?;
        Self::new(Dtype::parse(from)?, Dtype::parse(to)?, mode).ok().flatten()
    }

    /// Pair of conversions, to `f32` and from `f32`, that together give the result of this one:
    /// `[f8e5m2 → f32, f32 → i8]` for `f8e5m2_to_i8`. `None` if the conversion is implemented directly.
    pub fn decompose(self) -> Option<[Self; 2]> {
        let is_small = |scalar| is_float(scalar) && !matches!(scalar, Scalar::F32 | Scalar::F64);
        let single = Dtype { scalar: Scalar::F32, lanes: 1 };
        let narrows = |from: &fill::FloatFormat, to: &fill::FloatFormat| {
            let are_signed = !from.unsigned_zero && !to.unsigned_zero;
            // A narrowing conversion loses at least one mantissa bit.
            from.mantissa_bits > to.mantissa_bits && from.bias >= to.bias && are_signed
        };
        let through = match (fill::format(self.from), fill::format(self.to)) {
            (Some(_), None) => is_small(self.from),
            (Some(from), Some(to)) => {
                is_small(self.from) && !self.is_lossless() && !narrows(&from, &to)
            }
            // Integers of at most 24 bits are exact in f32.
            (None, Some(_)) => is_small(self.to) && value_bits(self.from) <= 24,
            (None, None) => false,
        };
        let part = |from, to| Self::new(from, to, self.mode).ok().flatten();
        if through { Some([part(self.from(), single)?, part(single, self.to())?]) } else { None }
    }

    /// Description of the conversion's result, for comments in generated files: "Every f16 is a value of f32."
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

/// True if elements of the type can be converted: integers and floats with one lane, except `bool` and `f8e8m0fnu`.
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

/// Number of bits of an integer type, without the sign bit: 7 for `i8`, 8 for `u8`.
fn value_bits(scalar: Scalar) -> u32 {
    let bits = Dtype { scalar, lanes: 1 }.element_bits();
    if fill::is_signed(scalar) { bits.saturating_sub(1) } else { bits }
}

/// Least and greatest value of an integer type, both inclusive.
pub(crate) fn range(scalar: Scalar) -> (i128, i128) {
    let bits = value_bits(scalar);
    let above = 1_i128 << bits;
    (if fill::is_signed(scalar) { -above } else { 0 }, above - 1)
}
