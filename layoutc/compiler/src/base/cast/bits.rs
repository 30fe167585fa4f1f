//! Bit-exact conversion of one element in integer arithmetic: [`CastEvaluator`] maps the bits of a source value to the
//! bits of the converted value.

use super::{Cast, CastMode, range};
use crate::base::dtype::{Dtype, Scalar};
use crate::base::fill::{self, FloatFormat};

/// Evaluator of a cast on the bit patterns of single elements.
#[derive(Debug, Clone, Copy)]
pub struct CastEvaluator {
    from: CastEndpoint,
    to: CastEndpoint,
    mode: CastMode,
}

/// Source or destination type of a cast, with its number format.
#[derive(Debug, Clone, Copy)]
struct CastEndpoint {
    /// Mask with a one for each bit that an element occupies in a `u64`, the low ones: 0xFF for 8 bits.
    mask: u64,
    kind: ScalarFormat,
}

#[derive(Debug, Clone, Copy)]
enum ScalarFormat {
    Float(FloatFormat),
    /// Integer type, with its least and greatest value, inclusive.
    Integer(i128, i128),
}

/// Number that an element's bit pattern encodes.
#[derive(Debug, Clone, Copy)]
enum UnpackedNumber {
    /// NaN with its sign, and its payload left-aligned to 64 bits. The leading bit of the payload is the quiet bit,
    /// which is always set: signaling NaNs become quiet. The other bits are 0 for a format whose NaN has no payload.
    Nan {
        negative: bool,
        payload: u64,
    },
    Infinite {
        negative: bool,
    },
    /// Finite number with the magnitude `mantissa * 2^exponent`.
    Finite {
        negative: bool,
        mantissa: u64,
        exponent: i32,
    },
}

/// Quiet bit of a NaN payload that is left-aligned to 64 bits: the most significant bit.
const QUIET: u64 = 1 << 63;

impl CastEndpoint {
    fn new(scalar: Scalar) -> Self {
        let bits = Dtype { scalar, lanes: 1 }.element_bits();
        let (low, high) = range(scalar);
        let kind =
            fill::format(scalar).map_or(ScalarFormat::Integer(low, high), ScalarFormat::Float);
        Self { mask: u64::MAX >> 64_u32.saturating_sub(bits).min(63), kind }
    }
}

impl CastEvaluator {
    /// Creates the evaluator of `cast`.
    pub fn new(cast: Cast) -> Self {
        Self { from: CastEndpoint::new(cast.from), to: CastEndpoint::new(cast.to), mode: cast.mode }
    }

    /// Converts the bits of `value` to the destination type. Bits above the element's width are ignored in the input
    /// and 0 in the output: `f32_to_i8` of -1.5, which is 0xBFC00000, is 0xFE.
    pub fn convert(&self, value: u64) -> u64 {
        let value = value & self.from.mask;
        let number = match self.from.kind {
            ScalarFormat::Float(format) => of_float(&format, value),
            ScalarFormat::Integer(low, high) => {
                // Sign extension.
                let is_negative = i128::from(value) > high && low < 0;
                let value = if is_negative { value | !self.from.mask } else { value };
                if let (ScalarFormat::Integer(..), CastMode::Round) = (self.to.kind, self.mode) {
                    return value & self.to.mask;
                }
                let mantissa = if is_negative { value.wrapping_neg() } else { value };
                UnpackedNumber::Finite { negative: is_negative, mantissa, exponent: 0 }
            }
        };
        match self.to.kind {
            ScalarFormat::Float(format) => to_float(&format, self.mode, number),
            ScalarFormat::Integer(low, high) => to_integer([low, high], number) & self.to.mask,
        }
    }
}

fn of_float(format: &FloatFormat, bits: u64) -> UnpackedNumber {
    let magnitude = bits & ((1 << (format.exponent_bits + format.mantissa_bits)) - 1);
    let negative = bits != magnitude;
    let fraction = magnitude & ((1 << format.mantissa_bits) - 1);
    if format.infinity == Some(magnitude) {
        return UnpackedNumber::Infinite { negative };
    }
    if format.unsigned_zero && negative && magnitude == 0 {
        return UnpackedNumber::Nan { negative, payload: QUIET };
    }
    if magnitude > format.greatest {
        // Formats without infinities have a single NaN without a payload.
        let own = if format.infinity.is_some() { fraction } else { 0 };
        return UnpackedNumber::Nan {
            negative,
            payload: own << (64 - format.mantissa_bits) | QUIET,
        };
    }
    let field = magnitude >> format.mantissa_bits;
    let mantissa = if field == 0 { fraction } else { fraction | 1 << format.mantissa_bits };
    let field = i32::try_from(field.max(1)).unwrap_or(i32::MAX);
    let point = i32::try_from(format.mantissa_bits).unwrap_or(0);
    UnpackedNumber::Finite { negative, mantissa, exponent: field - format.bias - point }
}

/// Bits, without the sign, that replace a value beyond the finite range of a float type. With [`CastMode::Round`] they
/// are infinity, NaN if the type has no infinity, or the greatest finite value if it has neither. With
/// [`CastMode::Saturate`] they are the greatest finite value.
pub(crate) fn overflow_bits(format: &FloatFormat, mode: CastMode) -> u64 {
    match mode {
        CastMode::Round => format.infinity.or(format.nan).unwrap_or(format.greatest),
        CastMode::Saturate => format.greatest,
    }
}

fn to_float(format: &FloatFormat, mode: CastMode, number: UnpackedNumber) -> u64 {
    let beyond = overflow_bits(format, mode);
    let (negative, magnitude) = match number {
        UnpackedNumber::Nan { negative, payload } => {
            let nan = match format.infinity {
                Some(infinity) => infinity | payload >> (64 - format.mantissa_bits),
                None => format.nan.unwrap_or(format.greatest),
            };
            (negative, nan)
        }
        UnpackedNumber::Infinite { negative } => (negative, beyond),
        UnpackedNumber::Finite { negative, mantissa, exponent } => {
            let magnitude = rounded(format, mantissa, exponent);
            (negative, if magnitude > format.greatest { beyond } else { magnitude })
        }
    };
    if format.unsigned_zero && magnitude == 0 {
        return 0;
    }
    magnitude | u64::from(negative) << (format.exponent_bits + format.mantissa_bits)
}

/// Bit pattern, without the sign, of the float nearest to `mantissa * 2^exponent`, ties to even. A result above
/// `format.greatest` means overflow: it encodes no finite value, and the caller replaces it by [`overflow_bits`].
fn rounded(format: &FloatFormat, mantissa: u64, exponent: i32) -> u64 {
    if mantissa == 0 {
        return 0;
    }
    let zeros = mantissa.leading_zeros();
    let leading = exponent + 63 - i32::try_from(zeros).unwrap_or(0);
    let field = (leading + format.bias).max(1);
    // A subnormal result has fewer mantissa bits.
    let below = u32::try_from(field - leading - format.bias).unwrap_or(0);
    let units = units(mantissa << zeros, 63 - format.mantissa_bits + below);
    let above = u64::try_from(field - 1).unwrap_or(0);
    above.saturating_mul(1 << format.mantissa_bits).saturating_add(units)
}

/// Quotient `mantissa / 2^shift`, rounded to nearest, ties to even; `shift` is at least 1.
fn units(mantissa: u64, shift: u32) -> u64 {
    let truncated = mantissa.checked_shr(shift).unwrap_or(0);
    let Some(half) = 1_u64.checked_shl(shift - 1) else { return 0 };
    let rest = mantissa & (half | (half - 1));
    truncated + u64::from(rest > half || rest == half && truncated & 1 == 1)
}

fn to_integer([low, high]: [i128; 2], number: UnpackedNumber) -> u64 {
    let value = match number {
        UnpackedNumber::Nan { .. } => 0,
        UnpackedNumber::Infinite { negative } => {
            if negative {
                low
            } else {
                high
            }
        }
        UnpackedNumber::Finite { negative, mantissa, exponent } => {
            let magnitude = match u32::try_from(exponent) {
                // A mantissa shifted left by 63 exceeds every integer type, and fits 128 bits.
                Ok(up) => i128::from(mantissa).checked_shl(up.min(63)).unwrap_or(i128::MAX),
                Err(_) => i128::from(units(mantissa, exponent.unsigned_abs())),
            };
            (if negative { -magnitude } else { magnitude }).clamp(low, high)
        }
    };
    u64::try_from(value & i128::from(u64::MAX)).unwrap_or(0)
}
