//! Template model of element conversions; a part of the [model](super::model).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bit cast between a float and the integer of its width.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FloatBits {
    /// Macro that is defined together with the function, so that a second definition is skipped.
    pub guard: String,
    /// Name of the function, whose result has the same bits as its argument.
    pub name: String,
    /// Type of the argument: the float, or the integer with its bits.
    pub from: String,
    /// Type of the result: the integer for an argument of the float type, else the float.
    pub to: String,
}

/// Conversion of one element to another type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CastUnit {
    /// Conversion name, as in syntax trees: `f32_to_f16_saturate`.
    pub cast: String,
    /// Name of the function.
    pub name: String,
    /// Macro that is defined together with the function, so that a second definition is skipped.
    pub guard: String,
    /// Description of the result, on one line, for a comment.
    pub doc: String,
    /// Algorithm of the function:
    /// - `parts`: two other conversions, one after the other.
    /// - `plain`: a cast of the language. It preserves the value, or rounds it to the nearest f32 or f64, ties to even.
    /// - `wrap`: the low bits of an integer.
    /// - `clamp`: an integer, clamped to the limits of the destination type.
    /// - `from_integer`: an integer to a float, rounded.
    /// - `to_integer`: a float to an integer, rounded and clamped.
    /// - `widen`: a float to a float type that represents all values of its type.
    /// - `narrow`: a float to any other float type, rounded.
    /// - `to_integer_choice`, `widen_choice`, `narrow_choice`: like `to_integer`, `widen` and `narrow`, between f32 and
    ///   small types, without branches and partly by float arithmetic.
    pub form: String,
    /// Functions that the form `parts` calls: the first on the argument, the second on its result. Empty in other
    /// forms.
    pub parts: Vec<String>,
    /// Source type.
    pub from: CastSide,
    /// Destination type.
    pub to: CastSide,
    /// Unsigned type of the computation, of 32 or 64 bits.
    pub word: String,
    /// Signed type of the same width as `word`.
    pub signed_word: String,
    /// Bits of `word`: 32 or 64.
    pub word_bits: u32,
    /// Exponent field, minus 1, of the float that `from_integer` makes of an integer with the highest bit of `word`
    /// set.
    pub top_field: i64,
    /// Number of mantissa bits that `from_integer`, `narrow` and `narrow_choice` round away.
    pub dropped: u32,
    /// Number of mantissa bits that `widen` and `widen_choice` add.
    pub shift: u32,
    /// True if `widen` or `widen_choice` only shifts, because both types have the same exponent bias.
    pub shift_only: bool,
    /// Exponent field of the source for the least normal exponent of the destination, in `narrow` and `narrow_choice`.
    pub least: i64,
    /// Bit pattern, without sign, of a value that overflows a float destination, as a literal: infinity, NaN, or the
    /// greatest finite pattern. `0x0` for an integer destination.
    pub beyond: String,
    /// False for a conversion of integers that are known to be in the finite range of a float destination; true for any
    /// other conversion.
    pub may_overflow: bool,
    /// Least source value that `clamp`, `to_integer` and `to_integer_choice` do not clamp, as a literal. `null` if no
    /// source value is less, and in other forms.
    pub low: Option<String>,
    /// Greatest source value that `clamp`, `to_integer` and `to_integer_choice` do not clamp, as a literal. `null` if
    /// no source value is greater, and in other forms.
    pub high: Option<String>,
    /// Result of `clamp`, `to_integer` and `to_integer_choice` for values below `low`, as a literal; empty in other
    /// forms.
    pub low_result: String,
    /// Result of `clamp`, `to_integer` and `to_integer_choice` for values above `high`, as a literal; empty in other
    /// forms.
    pub high_result: String,
    /// Name of the function from an f32 to its bits.
    pub single_bits: String,
    /// Name of the function from bits to an f32.
    pub single_of_bits: String,
    /// Difference of the exponent biases of source and destination, shifted to the exponent field of an f32, as a
    /// literal; `0x0` in other forms than `widen_choice` and `narrow_choice`.
    pub rebias: String,
    /// Float literal. `widen_choice`: least positive value of the source. `narrow_choice`: f32 whose last mantissa bit
    /// has the weight of the least positive value of the destination. `to_integer_choice`: f32 whose last mantissa bit
    /// has the weight 1. `to_integer`: 0.5, of the source type. Other forms: 0.
    pub unit: String,
    /// Bit pattern of `unit` as an f32, as a literal.
    pub unit_bits: String,
}

/// Element type of the source or the destination of a conversion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CastSide {
    /// Element type in manifest notation.
    pub dtype: String,
    /// Element type in the language.
    pub element: String,
    /// Unsigned type that holds the bits of an element.
    pub bits_type: String,
    /// Name of the function from an element to its bits. Empty for an integer type, and for a float type whose elements
    /// are represented by their bits.
    pub to_bits: String,
    /// Name of the function from bits to an element. Empty for an integer type, and for a float type whose elements are
    /// represented by their bits.
    pub of_bits: String,
    /// Mask of all bits of an element, as a literal.
    pub mask: String,
    /// Greatest value of an integer type, as a literal; without meaning for a float type.
    pub most: String,
    /// True if an integer type is signed.
    pub signed: bool,
    /// Format of a float type; `null` for an integer type.
    pub float: Option<CastFloat>,
}

/// Format of a float type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CastFloat {
    /// Width of the mantissa field in bits.
    pub mantissa_bits: u32,
    /// Exponent bias: the value of the exponent field for 2^0.
    pub bias: i64,
    /// Bit position of the sign; 0 is the lowest bit.
    pub sign_shift: u32,
    /// Greatest finite bit pattern without sign, as a literal.
    pub greatest: String,
    /// Greatest bit pattern without sign that is no NaN, as a literal: infinity, or the greatest finite pattern.
    pub last: String,
    /// Bit pattern of a quiet NaN, as a literal; the greatest finite pattern if the type has no NaN.
    pub nan: String,
    /// True if the greatest exponent field encodes infinity and NaN, as in IEEE 754.
    pub ieee: bool,
    /// True if the type has a NaN.
    pub has_nan: bool,
    /// True if the only NaN has the bit pattern of negative zero.
    pub unsigned_zero: bool,
}

/// Element type that pack reads and unpack writes, if it differs from the tensor's own element type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PackFromUnit {
    /// Element type in manifest notation.
    pub dtype: String,
    /// Type of the items of a buffer with this element type.
    pub in_buffer: String,
    /// Function that converts an element to the tensor's element type.
    pub pack: String,
    /// Function that converts an element of the tensor to this element type.
    pub unpack: String,
}
