//! Bit casts of floats: built-in functions of the language, or functions that the unit has to define.

use std::collections::BTreeSet;

use super::casts::{self, holder};
use super::dialect::Dialect;
use super::element;
use super::model::FloatBits;
use crate::base::cast::Cast;
use crate::base::dtype::{Dtype, Scalar};
use crate::base::fill;

/// Names of the bit casts between a float type and the integer type of its width.
pub(super) struct Names {
    /// Function from the float to its bits.
    pub(super) to_bits: String,
    /// Function from bits to the float.
    pub(super) of_bits: String,
}

/// Names of the bit casts of an element type; `None` if the type is no float, or if its elements are represented by
/// their bits.
pub(super) fn names(dtype: Dtype, dialect: &Dialect) -> Option<Names> {
    fill::format(dtype.scalar)?;
    if type_of(dtype, dialect) == bits_type(dtype, dialect) {
        return None;
    }
    let own = dialect.reinterpreted.iter().find(|row| row.0 == dtype.scalar);
    let (to_bits, of_bits) = match own {
        Some((_, to_bits, of_bits)) => ((*to_bits).to_owned(), (*of_bits).to_owned()),
        None => {
            let name = format!("{}{dtype}", dialect.structure);
            (format!("{name}_bits"), format!("{name}_from_bits"))
        }
    };
    Some(Names { to_bits, of_bits })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum BitCast {
    ToBits,
    OfBits,
}

/// Bit casts that a unit has to define: those that the conversion functions `casts` call, and those of f32 if
/// `has_small_floats` is true, as far as the language lacks them.
pub(super) fn of(casts: &[Cast], has_small_floats: bool, dialect: &Dialect) -> Vec<FloatBits> {
    let single = Dtype { scalar: Scalar::F32, lanes: 1 };
    let mut called = BTreeSet::new();
    for cast in casts {
        let (reads, makes) = ((cast.from(), BitCast::ToBits), (cast.to(), BitCast::OfBits));
        match casts::form(*cast, dialect) {
            "from_integer" => called.extend([makes]),
            "to_integer" => called.extend([reads, (cast.from(), BitCast::OfBits)]),
            "to_integer_choice" => called.extend([reads]),
            "widen" | "narrow" => called.extend([reads, makes]),
            "widen_choice" => called.extend([reads, makes, (single, BitCast::ToBits)]),
            "narrow_choice" => called.extend([reads, makes, (single, BitCast::OfBits)]),
            _ => {}
        }
    }
    // The helpers for small floats convert to and from f32.
    if has_small_floats {
        called.extend([(single, BitCast::ToBits), (single, BitCast::OfBits)]);
    }
    let own = |dtype: Dtype| dialect.reinterpreted.iter().any(|row| row.0 == dtype.scalar);
    let defined = called.into_iter().filter(|(dtype, _)| !own(*dtype));
    defined.filter_map(|(dtype, way)| function(dtype, way, dialect)).collect()
}

fn function(dtype: Dtype, way: BitCast, dialect: &Dialect) -> Option<FloatBits> {
    let Names { to_bits, of_bits } = names(dtype, dialect)?;
    let (float, bits) = (type_of(dtype, dialect), bits_type(dtype, dialect));
    let (name, from, to) = match way {
        BitCast::ToBits => (to_bits, float, bits),
        BitCast::OfBits => (of_bits, bits, float),
    };
    Some(FloatBits { guard: name.to_ascii_uppercase(), name, from, to })
}

fn type_of(dtype: Dtype, dialect: &Dialect) -> String {
    element::type_name(dialect, &dtype.to_string(), false)
}

fn bits_type(dtype: Dtype, dialect: &Dialect) -> String {
    (dialect.scalars)(holder(dtype)).to_owned()
}
