//! Reference for element type conversions, by definition: values, a search for the nearest, and the bit patterns worth
//! testing. Shares no code with the compiler.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::unwrap_used,
    reason = "Rust's own conversions are defined, and are the reference"
)]

use layoutc_testing::Random;
use std::collections::BTreeSet;

/// Element types: name, bits, and for floats exponent bits and mantissa bits.
pub(crate) const TYPES: &[(&str, u32, u32, u32)] = &[
    ("f64", 64, 11, 52),
    ("f32", 32, 8, 23),
    ("f16", 16, 5, 10),
    ("bf16", 16, 8, 7),
    ("f8e4m3fn", 8, 4, 3),
    ("f8e4m3fnuz", 8, 4, 3),
    ("f8e5m2", 8, 5, 2),
    ("f8e5m2fnuz", 8, 5, 2),
    ("f6e2m3fn", 6, 2, 3),
    ("f6e3m2fn", 6, 3, 2),
    ("f4e2m1fn", 4, 2, 1),
    ("i64", 64, 0, 0),
    ("i32", 32, 0, 0),
    ("i16", 16, 0, 0),
    ("i8", 8, 0, 0),
    ("i6", 6, 0, 0),
    ("i5", 5, 0, 0),
    ("i4", 4, 0, 0),
    ("i3", 3, 0, 0),
    ("i2", 2, 0, 0),
    ("u64", 64, 0, 0),
    ("u32", 32, 0, 0),
    ("u16", 16, 0, 0),
    ("u8", 8, 0, 0),
    ("u6", 6, 0, 0),
    ("u5", 5, 0, 0),
    ("u4", 4, 0, 0),
    ("u3", 3, 0, 0),
    ("u2", 2, 0, 0),
    ("u1", 1, 0, 0),
];

#[derive(Debug, Clone, Copy)]
enum Value {
    /// Sign, and payload with the leading bit at 63.
    Nan(bool, u64),
    Float(f64),
    Integer(i128),
}

/// An element type.
#[derive(Clone)]
pub(crate) struct Type {
    pub(crate) name: &'static str,
    pub(crate) bits: u32,
    exponent: u32,
    mantissa: u32,
    /// Non-negative finite values in the order of their patterns, for floats of at most 16 bits.
    values: Vec<f64>,
}

pub(crate) fn types() -> Vec<Type> {
    let of = |(name, bits, exponent, mantissa): &(&'static str, u32, u32, u32)| {
        let mut ty = Type {
            name,
            bits: *bits,
            exponent: *exponent,
            mantissa: *mantissa,
            values: Vec::new(),
        };
        if ty.is_float() && ty.bits <= 16 {
            ty.values = (0..=ty.greatest()).map(|pattern| ty.magnitude(pattern)).collect();
        }
        ty
    };
    TYPES.iter().map(of).collect()
}

impl Type {
    pub(crate) fn is_float(&self) -> bool {
        self.exponent > 0
    }

    fn is_signed(&self) -> bool {
        self.name.starts_with('i')
    }

    /// True if the greatest exponent encodes infinity and NaN.
    fn is_ieee(&self) -> bool {
        !self.name.ends_with("fn") && !self.has_no_minus_zero()
    }

    /// True if the pattern of minus zero is the only NaN; the exponent bias is then larger by one.
    fn has_no_minus_zero(&self) -> bool {
        self.name.ends_with("fnuz")
    }

    /// True if every pattern is a finite number.
    fn is_finite(&self) -> bool {
        self.name.ends_with("fn") && self.bits < 8
    }

    fn mask(&self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    fn infinity(&self) -> u64 {
        ((1 << self.exponent) - 1) << self.mantissa
    }

    /// Pattern of the greatest finite float.
    fn greatest(&self) -> u64 {
        match self.name {
            "f8e4m3fn" => 0x7E,
            _ if self.is_finite() || self.has_no_minus_zero() => self.mask() >> 1,
            _ => self.infinity() - 1,
        }
    }

    /// Value of a finite pattern without sign.
    fn magnitude(&self, pattern: u64) -> f64 {
        if self.bits == 64 {
            return f64::from_bits(pattern);
        }
        let bias = (1 << (self.exponent - 1)) - i32::from(!self.has_no_minus_zero());
        let field = (pattern >> self.mantissa) as i32;
        let fraction = pattern & ((1 << self.mantissa) - 1);
        let units = if field == 0 { fraction } else { fraction | 1 << self.mantissa };
        let exponent = field.max(1) - bias - self.mantissa.cast_signed();
        // Two factors: `powi` of a large negative exponent would take the reciprocal of infinity.
        units as f64 * 2_f64.powi(exponent / 2) * 2_f64.powi(exponent - exponent / 2)
    }

    fn value(&self, bits: u64) -> Value {
        let bits = bits & self.mask();
        if !self.is_float() {
            let sign = self.is_signed() && bits >> (self.bits - 1) == 1;
            return Value::Integer(i128::from(bits) - if sign { 1 << self.bits } else { 0 });
        }
        let negative = bits >> (self.bits - 1) == 1;
        let magnitude = bits & (self.mask() >> 1);
        let signed = |value: f64| Value::Float(if negative { -value } else { value });
        if self.is_ieee() && magnitude == self.infinity() {
            return signed(f64::INFINITY);
        }
        if self.has_no_minus_zero() && negative && magnitude == 0 {
            return Value::Nan(true, 1 << 63);
        }
        if magnitude > self.greatest() {
            let fraction = magnitude & ((1 << self.mantissa) - 1);
            let payload = if self.is_ieee() { fraction << (64 - self.mantissa) } else { 0 };
            return Value::Nan(negative, payload | 1 << 63);
        }
        signed(self.magnitude(magnitude))
    }

    /// Bits of the float of this type nearest to a value.
    fn nearest_float(&self, value: Value, saturates: bool) -> u64 {
        let minus_zero = 1 << (self.bits - 1);
        let beyond = match (saturates, self.name) {
            (false, "f8e4m3fn") => 0x7F,
            (false, _) if self.has_no_minus_zero() => minus_zero,
            (false, _) if self.is_ieee() => self.infinity(),
            _ => self.greatest(),
        };
        let signed = |negative: bool, pattern| pattern | u64::from(negative) << (self.bits - 1);
        let (negative, pattern) = match value {
            Value::Nan(negative, payload) => {
                let nan = match self.name {
                    "f8e4m3fn" => 0x7F,
                    _ if self.has_no_minus_zero() => minus_zero,
                    _ if self.is_finite() => self.greatest(),
                    _ => self.infinity() | payload >> (64 - self.mantissa),
                };
                return signed(negative, nan);
            }
            Value::Float(value) => (value.is_sign_negative(), self.nearest(value)),
            Value::Integer(value) => (value < 0, self.nearest_of_integer(value)),
        };
        if self.has_no_minus_zero() && pattern == 0 {
            return 0;
        }
        signed(negative, if pattern > self.greatest() { beyond } else { pattern })
    }

    fn nearest(&self, value: f64) -> u64 {
        match self.name {
            "f64" => value.abs().to_bits(),
            "f32" => u64::from((value.abs() as f32).to_bits()),
            _ => self.search(|x| x.total_cmp(&value.abs())),
        }
    }

    fn nearest_of_integer(&self, value: i128) -> u64 {
        let value = value.abs();
        match self.name {
            "f64" => (value as f64).to_bits(),
            "f32" => u64::from((value as f32).to_bits()),
            // `x` is a multiple of 1/2 or much smaller: `2 * x` is an integer or less than 1.
            _ => self.search(|x| {
                ((2.0 * x).ceil() as i128).cmp(&(2 * value)).then({
                    if (2.0 * x).fract() > 0.0 {
                        std::cmp::Ordering::Less
                    } else {
                        std::cmp::Ordering::Equal
                    }
                })
            }),
        }
    }

    /// Pattern of the value nearest to the one that `compare` compares with, ties to even; one more beyond the
    /// greatest.
    fn search(&self, compare: impl Fn(f64) -> std::cmp::Ordering) -> u64 {
        let below = self.values.partition_point(|x| compare(*x).is_le()) - 1;
        let low = self.values[below];
        let step = |at: usize| self.values[at] - self.values[at - 1];
        let high = self.values.get(below + 1).copied().unwrap_or_else(|| low + step(below));
        // Exact: both have few mantissa bits.
        let half = f64::midpoint(low, high);
        let up = match compare(half) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Equal => below % 2 == 1,
            std::cmp::Ordering::Greater => false,
        };
        (below + usize::from(up)) as u64
    }

    fn nearest_integer(&self, value: Value, saturates: bool) -> u64 {
        let (low, high) = if self.is_signed() {
            (-(1_i128 << (self.bits - 1)), (1_i128 << (self.bits - 1)) - 1)
        } else {
            (0, (1_i128 << self.bits) - 1)
        };
        let whole = match value {
            Value::Nan(..) => 0,
            Value::Float(value) => (value.round_ties_even() as i128).clamp(low, high),
            Value::Integer(value) if saturates => value.clamp(low, high),
            Value::Integer(value) => value,
        };
        whole as u64 & self.mask()
    }
}

/// For a type, the types whose values it represents exactly, including infinities: both modes agree there.
const HOLDS: &[(&str, &[&str])] = &[
    ("f64", &["f32", "f16", "bf16", "f8e5m2"]),
    ("f32", &["f16", "bf16", "f8e5m2"]),
    ("f16", &["f8e5m2"]),
    ("bf16", &["f8e5m2"]),
];

/// Bits of an element after the conversion.
pub(crate) fn converted(from: &Type, to: &Type, saturates: bool, bits: u64) -> u64 {
    let value = from.value(bits);
    if to.is_float() {
        let held = HOLDS.iter().any(|row| row.0 == to.name && row.1.contains(&from.name));
        to.nearest_float(value, saturates && !held)
    } else {
        to.nearest_integer(value, saturates)
    }
}

/// Bit patterns worth testing: all of a small type; for a large one, those near the rounding points of other types.
pub(crate) fn worth_trying(ty: &Type, all: &[Type]) -> Vec<u64> {
    if ty.bits <= 16 {
        return (0..=ty.mask()).collect();
    }
    let mut found = BTreeSet::new();
    let mut around = |bits: u64| {
        for near in [bits.wrapping_sub(1), bits, bits.wrapping_add(1)] {
            found.extend([near & ty.mask(), (near ^ 1 << (ty.bits - 1)) & ty.mask()]);
            if !ty.is_float() {
                found.insert(near.wrapping_neg() & ty.mask());
            }
        }
    };
    if ty.is_float() {
        let bits_of = |value: f64| ty.nearest(value);
        for other in all.iter().filter(|other| !other.values.is_empty()) {
            for pair in other.values.windows(2) {
                around(bits_of(pair[0]));
                around(bits_of(f64::midpoint(pair[0], pair[1])));
            }
            let last = other.values.len() - 1;
            let (before, last) = (other.values[last - 1], other.values[last]);
            around(bits_of(last));
            around(bits_of(last + (last - before) / 2.0));
        }
        for k in 0..600 {
            around(bits_of(f64::from(k) / 2.0));
        }
        for k in 0..70 {
            let power = 2_f64.powi(k);
            for value in [power, power - 0.5, power - 1.0, power * 1.5] {
                around(bits_of(value));
            }
        }
        // Midpoints between adjacent `f32` values.
        for k in 0_u32..4096 {
            let single = f32::from_bits(k.wrapping_mul(0x000F_FFF1) & 0x7F7F_FFFF);
            let next = f32::from_bits(single.to_bits() + 1);
            around(bits_of(f64::midpoint(f64::from(single), f64::from(next))));
        }
        for payload in 0..ty.mantissa {
            around(ty.infinity() | 1 << payload);
        }
        around(ty.infinity());
        around(0);
    } else {
        for k in 0..ty.bits {
            let power = 1_u64 << k;
            around(power);
            // Rounding points of mantissas of these sizes.
            for mantissa in [1, 2, 3, 7, 10, 23, 52] {
                for odd in [1_u64, 3] {
                    around(power.wrapping_add(odd << k.saturating_sub(mantissa + 1)));
                }
            }
        }
        let mut random = Random::new(1);
        for _ in 0..4000 {
            around(random.bits() >> random.below(u64::from(ty.bits)));
        }
    }
    found.into_iter().collect()
}
