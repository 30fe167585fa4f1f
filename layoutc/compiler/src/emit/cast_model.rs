//! What templates see of conversions of elements; a part of the [model](super::model).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A conversion of runs of elements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunCast {
    /// The conversion, as trees name it.
    pub cast: String,
    /// The element type that is read.
    pub from: String,
    /// The element type that is written.
    pub to: String,
    /// What a buffer of the first holds.
    pub from_type: String,
    /// What a buffer of the second holds.
    pub to_type: String,
    /// Bytes of an element that is read.
    pub from_bytes: u32,
    /// Bytes of an element that is written.
    pub to_bytes: u32,
    /// Whether the nearest finite value is taken for what lies beyond.
    pub saturates: bool,
    /// Whether runs are converted.
    pub runs: bool,
    /// What blocks are transposed of on the way.
    pub transposes: Vec<RunTranspose>,
}

/// What stays together when a block is converted and transposed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunTranspose {
    /// How many elements.
    pub together: u32,
    /// Their bytes in the narrower of the two types.
    pub bytes: u32,
}

/// How the bits of a float are reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FloatBits {
    /// The macro that guards the function.
    pub guard: String,
    /// The function: it gives the same bits in another type.
    pub name: String,
    /// What it takes: a float, or the integer that holds its bits.
    pub from: String,
    /// What it gives: the other.
    pub to: String,
}

/// A conversion of an element into another type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CastUnit {
    /// The conversion, as trees name it: `f32_to_f16_saturate`.
    pub cast: String,
    /// The function that does it.
    pub name: String,
    /// The macro that guards it.
    pub guard: String,
    /// What it gives, in a line.
    pub doc: String,
    /// How it is computed: `parts`, `exact`, `wrap`, `clamp`, `from_integer`, `to_integer`, `widen`, `narrow`; or without branches, by sums
    /// of floats: `to_integer_choice`, `widen_choice`, `narrow_choice`. `to_integer` has no branches either.
    pub form: String,
    /// The two functions that `parts` calls one after another.
    pub parts: Vec<String>,
    /// What is converted.
    pub from: CastSide,
    /// What comes out.
    pub to: CastSide,
    /// The unsigned type that is computed in.
    pub word: String,
    /// The same with a sign.
    pub signed_word: String,
    /// Its bits.
    pub word_bits: u32,
    /// One less than the exponent field of a float of `from_integer` whose leading bit is the word's.
    pub top_field: i64,
    /// How many bits of the mantissa are rounded away.
    pub dropped: u32,
    /// How many bits `widen` gives to the mantissa.
    pub shift: u32,
    /// Whether `widen` does nothing else.
    pub shift_only: bool,
    /// The exponent field of the source that is the least of `narrow`'s destination.
    pub least: i64,
    /// What is taken for what lies beyond the finite floats, as a literal.
    pub beyond: String,
    /// Whether something may.
    pub may_overflow: bool,
    /// The least number that `clamp`, `to_integer` and `to_integer_choice` leave as it is, where there are others.
    pub low: Option<String>,
    /// The greatest.
    pub high: Option<String>,
    /// The result of `clamp` and `to_integer` below `low`; empty in other forms.
    pub low_result: String,
    /// Their result above `high`; empty in other forms.
    pub high_result: String,
    /// The function that gives the bits of an f32.
    pub single_bits: String,
    /// The function that makes an f32 of bits.
    pub single_of_bits: String,
    /// What lies between the exponents of the two types of `widen_choice` and `narrow_choice`, in place, as a literal.
    pub rebias: String,
    /// An f32: the least number above 0 of the source of `widen_choice`; the number whose last place is the least of the
    /// destination of `narrow_choice`; the one whose last place is 1.
    pub unit: String,
    /// Its bits.
    pub unit_bits: String,
}

/// The element type on one side of a conversion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CastSide {
    /// The type as the manifest calls it.
    pub dtype: String,
    /// The type of an element.
    pub element: String,
    /// The unsigned type that holds its bits.
    pub bits_type: String,
    /// The function that gives the bits; empty where the element is its bits.
    pub to_bits: String,
    /// The function that makes an element of bits; empty likewise.
    pub of_bits: String,
    /// All bits of an element, as a literal.
    pub mask: String,
    /// The greatest integer, as a literal.
    pub most: String,
    /// Whether integers have a sign.
    pub signed: bool,
    /// How floats look; `null` for integers.
    pub float: Option<CastFloat>,
}

/// How floats of a type look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CastFloat {
    /// Bits of the mantissa.
    pub mantissa_bits: u32,
    /// What is added to the exponent.
    pub bias: i64,
    /// The position of the sign.
    pub sign_shift: u32,
    /// The greatest finite pattern, without sign, as a literal.
    pub greatest: String,
    /// The last pattern that is a number: infinity, or the greatest finite one.
    pub last: String,
    /// The pattern of a quiet NaN; for a type without NaN the greatest.
    pub nan: String,
    /// Whether the greatest exponent means infinity and NaN, as IEEE 754 has it.
    pub ieee: bool,
    /// Whether there is a NaN.
    pub has_nan: bool,
    /// Whether the pattern of minus zero is the NaN, and the only one.
    pub unsigned_zero: bool,
}

/// What pack takes and unpack gives, where that is another element type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PackFromUnit {
    /// The element type as the manifest calls it.
    pub dtype: String,
    /// The type of what a buffer of them holds.
    pub in_buffer: String,
    /// The function that makes an element of the tensor's type.
    pub pack: String,
    /// The function that makes one of this type.
    pub unpack: String,
}
