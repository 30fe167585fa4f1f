//! Element types: [`Scalar`] types, and [`Dtype`], a scalar or a vector of scalars; their names, widths and aliases.

pub mod record;

use std::fmt;

use self::record::Record;

/// Scalar element type, named as in manifests: `Bf16` is `bf16`. A record is an opaque scalar, moved as a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the variants are their own names")]
pub enum Scalar {
    F64,
    F32,
    F16,
    Bf16,
    F8e4m3fn,
    F8e4m3fnuz,
    F8e5m2,
    F8e5m2fnuz,
    F8e8m0fnu,
    F6e2m3fn,
    F6e3m2fn,
    F4e2m1fn,
    I64,
    I32,
    I16,
    I8,
    I6,
    I5,
    I4,
    I3,
    I2,
    U64,
    U32,
    U16,
    U8,
    U6,
    U5,
    U4,
    U3,
    U2,
    U1,
    Bool,
    C64,
    C128,
    Record(Record),
}

/// Scalar types except records, each as (type, name in manifests, width in bits).
pub const SCALARS: &[(Scalar, &str, u32)] = &[
    (Scalar::F64, "f64", 64),
    (Scalar::F32, "f32", 32),
    (Scalar::F16, "f16", 16),
    (Scalar::Bf16, "bf16", 16),
    (Scalar::F8e4m3fn, "f8e4m3fn", 8),
    (Scalar::F8e4m3fnuz, "f8e4m3fnuz", 8),
    (Scalar::F8e5m2, "f8e5m2", 8),
    (Scalar::F8e5m2fnuz, "f8e5m2fnuz", 8),
    (Scalar::F8e8m0fnu, "f8e8m0fnu", 8),
    (Scalar::F6e2m3fn, "f6e2m3fn", 6),
    (Scalar::F6e3m2fn, "f6e3m2fn", 6),
    (Scalar::F4e2m1fn, "f4e2m1fn", 4),
    (Scalar::I64, "i64", 64),
    (Scalar::I32, "i32", 32),
    (Scalar::I16, "i16", 16),
    (Scalar::I8, "i8", 8),
    (Scalar::I6, "i6", 6),
    (Scalar::I5, "i5", 5),
    (Scalar::I4, "i4", 4),
    (Scalar::I3, "i3", 3),
    (Scalar::I2, "i2", 2),
    (Scalar::U64, "u64", 64),
    (Scalar::U32, "u32", 32),
    (Scalar::U16, "u16", 16),
    (Scalar::U8, "u8", 8),
    (Scalar::U6, "u6", 6),
    (Scalar::U5, "u5", 5),
    (Scalar::U4, "u4", 4),
    (Scalar::U3, "u3", 3),
    (Scalar::U2, "u2", 2),
    (Scalar::U1, "u1", 1),
    (Scalar::Bool, "bool", 8),
    (Scalar::C64, "c64", 64),
    (Scalar::C128, "c128", 128),
];

/// Aliases of scalar types, as pairs (name in another language or tool, type). Names are in lower case and without the
/// suffix `_t` of C: `uint8` stands for `uint8_t` too.
const ALIASES: &[(&str, Scalar)] = &[
    ("double", Scalar::F64),
    ("float64", Scalar::F64),
    ("fp64", Scalar::F64),
    ("float", Scalar::F32),
    ("float32", Scalar::F32),
    ("fp32", Scalar::F32),
    ("single", Scalar::F32),
    ("half", Scalar::F16),
    ("__half", Scalar::F16),
    ("float16", Scalar::F16),
    ("fp16", Scalar::F16),
    ("bfloat", Scalar::Bf16),
    ("bfloat16", Scalar::Bf16),
    ("__nv_bfloat16", Scalar::Bf16),
    ("fp8", Scalar::F8e4m3fn),
    ("float8", Scalar::F8e4m3fn),
    ("e4m3", Scalar::F8e4m3fn),
    ("fp8_e4m3", Scalar::F8e4m3fn),
    ("float8_e4m3", Scalar::F8e4m3fn),
    ("e5m2", Scalar::F8e5m2),
    ("fp8_e5m2", Scalar::F8e5m2),
    ("e8m0", Scalar::F8e8m0fnu),
    ("fp4", Scalar::F4e2m1fn),
    ("e2m1", Scalar::F4e2m1fn),
    ("s64", Scalar::I64),
    ("s32", Scalar::I32),
    ("s16", Scalar::I16),
    ("s8", Scalar::I8),
    ("s6", Scalar::I6),
    ("s5", Scalar::I5),
    ("s4", Scalar::I4),
    ("s3", Scalar::I3),
    ("s2", Scalar::I2),
    ("pred", Scalar::Bool),
    ("float8_e4m3fn", Scalar::F8e4m3fn),
    ("float8_e4m3fnuz", Scalar::F8e4m3fnuz),
    ("float8_e5m2", Scalar::F8e5m2),
    ("float8_e5m2fnuz", Scalar::F8e5m2fnuz),
    ("float8_e8m0fnu", Scalar::F8e8m0fnu),
    ("float6_e2m3fn", Scalar::F6e2m3fn),
    ("float6_e3m2fn", Scalar::F6e3m2fn),
    ("e2m3", Scalar::F6e2m3fn),
    ("e3m2", Scalar::F6e3m2fn),
    ("fp6", Scalar::F6e3m2fn),
    ("float4_e2m1fn", Scalar::F4e2m1fn),
    ("int64", Scalar::I64),
    ("long", Scalar::I64),
    ("int32", Scalar::I32),
    ("int", Scalar::I32),
    ("int16", Scalar::I16),
    ("short", Scalar::I16),
    ("int8", Scalar::I8),
    ("char", Scalar::I8),
    ("int6", Scalar::I6),
    ("int5", Scalar::I5),
    ("int4", Scalar::I4),
    ("int3", Scalar::I3),
    ("int2", Scalar::I2),
    ("uint64", Scalar::U64),
    ("ulong", Scalar::U64),
    ("uint32", Scalar::U32),
    ("uint", Scalar::U32),
    ("uint16", Scalar::U16),
    ("ushort", Scalar::U16),
    ("uint8", Scalar::U8),
    ("uchar", Scalar::U8),
    ("byte", Scalar::U8),
    ("uint6", Scalar::U6),
    ("uint5", Scalar::U5),
    ("uint4", Scalar::U4),
    ("uint3", Scalar::U3),
    ("uint2", Scalar::U2),
    ("uint1", Scalar::U1),
    ("bit", Scalar::U1),
    ("boolean", Scalar::Bool),
    ("complex64", Scalar::C64),
    ("complex128", Scalar::C128),
];

impl Scalar {
    /// Element type with one lane of this scalar type.
    #[must_use]
    pub fn element(self) -> Dtype {
        Dtype { scalar: self, lanes: 1 }
    }

    /// Type in which kernels compute on elements of this scalar type: `f32` for floats of fewer than 64 bits except
    /// `f8e8m0fnu`, `i32` for integers of fewer than 32 bits, otherwise the type itself.
    #[must_use]
    pub fn compute_type(self) -> Self {
        match self {
            Self::F32
            | Self::F16
            | Self::Bf16
            | Self::F8e4m3fn
            | Self::F8e4m3fnuz
            | Self::F8e5m2
            | Self::F8e5m2fnuz
            | Self::F6e2m3fn
            | Self::F6e3m2fn
            | Self::F4e2m1fn => Self::F32,
            Self::I32
            | Self::I16
            | Self::I8
            | Self::I6
            | Self::I5
            | Self::I4
            | Self::I3
            | Self::I2
            | Self::U16
            | Self::U8
            | Self::U6
            | Self::U5
            | Self::U4
            | Self::U3
            | Self::U2
            | Self::U1 => Self::I32,
            Self::F64
            | Self::I64
            | Self::U64
            | Self::U32
            | Self::Bool
            | Self::F8e8m0fnu
            | Self::C64
            | Self::C128
            | Self::Record(_) => self,
        }
    }
}

/// Pair `(elements, bytes)` of the smallest group of elements of `bits` bits that fills whole bytes: (2, 1) for 4 bits,
/// (8, 3) for 3 bits, (1, 4) for 32 bits.
pub fn byte_group(bits: u32) -> (u32, u32) {
    // gcd(8, bits) is a power of two.
    let shared = 1_u32 << bits.trailing_zeros().min(3);
    (8 / shared, bits / shared)
}

/// Numbers of lanes that vector types may have.
pub const LANES: &[u32] = &[2, 3, 4, 8, 16];

/// Element type: a scalar, or a vector of scalars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dtype {
    /// Scalar type of each lane.
    pub scalar: Scalar,
    /// Number of scalars (lanes) per element; 1 unless the type is a vector.
    pub lanes: u32,
}

impl Dtype {
    /// Unsigned integer type of `bytes` bytes, a power of two: `u8`, `u16`, `u32`; above 4 bytes a vector of `u32`.
    #[must_use]
    pub fn integers(bytes: i64) -> Self {
        let (scalar, lanes) = match bytes {
            ..=1 => (Scalar::U8, 1),
            2 => (Scalar::U16, 1),
            _ => (Scalar::U32, u32::try_from(bytes / 4).unwrap_or(1)),
        };
        Self { scalar, lanes }
    }

    /// Type named `name` in a manifest: `f32`, `bf16`, `f32x4`. `None` for any other name; vectors of sub-byte scalars
    /// do not exist.
    pub fn parse(name: &str) -> Option<Self> {
        let scalar = |name: &str| SCALARS.iter().find(|(_, n, _)| *n == name).map(|row| row.0);
        if let Some(scalar) = scalar(name) {
            return Some(Self { scalar, lanes: 1 });
        }
        let (base, lanes) = name.rsplit_once('x')?;
        let lanes = *LANES.iter().find(|l| l.to_string() == lanes)?;
        let dtype = Self { scalar: scalar(base)?, lanes };
        (dtype.scalar_bits() >= 8).then_some(dtype)
    }

    /// Type named `name` in another language or tool: `float32`, `half`, `uint8_t`; `float4` of OpenCL and CUDA is
    /// `f32x4`. Case and module prefixes (`torch.`) are ignored. `None` for an unknown name.
    pub fn from_foreign_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        // `torch.float16`, `np.float32`, `tl.float32`.
        let name = name.rsplit('.').next().unwrap_or(&name);
        let name = name.strip_suffix("_t").unwrap_or(name);
        let scalar = |name: &str| ALIASES.iter().find(|row| row.0 == name).map(|row| row.1);
        if let Some(scalar) = scalar(name) {
            return Some(Self { scalar, lanes: 1 });
        }
        let base = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let lanes =
            *LANES.iter().find(|lanes| name.strip_prefix(base) == Some(&lanes.to_string()))?;
        Some(Self { scalar: scalar(base)?, lanes })
    }

    /// Element type with the text `name` in a serialized plan: a name accepted by [`Dtype::parse`], or the text of a
    /// record that the process has created. `None` for any other text.
    pub fn of_plan(name: &str) -> Option<Self> {
        if name.starts_with('{') { Record::parse(name).map(Self::from) } else { Self::parse(name) }
    }

    /// Record type of the element; `None` if the element type is not a record.
    pub fn record(self) -> Option<Record> {
        if let Scalar::Record(record) = self.scalar { Some(record) } else { None }
    }

    /// Number of bits of one scalar; for a record, of the whole record.
    pub fn scalar_bits(self) -> u32 {
        if let Scalar::Record(record) = self.scalar {
            return record.bytes().saturating_mul(8);
        }
        SCALARS.iter().find(|row| row.0 == self.scalar).map_or(0, |row| row.2)
    }

    /// Pair `(elements, bytes)` of the smallest group of elements of this type that fills whole bytes: (2, 1) for `i4`.
    pub fn byte_group(self) -> (u32, u32) {
        byte_group(self.element_bits())
    }

    /// Number of bits of one element: 128 for `f32x4`.
    pub fn element_bits(self) -> u32 {
        self.scalar_bits() * self.lanes
    }
}

/// Text with all element types, for help: the names of the scalars, then the numbers of lanes of vectors with an
/// example.
pub fn known_types() -> String {
    let names: Vec<&str> = SCALARS.iter().map(|(_, name, _)| *name).collect();
    let lanes: Vec<String> = LANES.iter().map(ToString::to_string).collect();
    format!("{}, or a vector of {} lanes: `f32x4`", names.join(", "), lanes.join(", "))
}

impl From<Record> for Dtype {
    fn from(record: Record) -> Self {
        Self { scalar: Scalar::Record(record), lanes: 1 }
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Scalar::Record(record) = self.scalar {
            return f.write_str(record.text());
        }
        let name = SCALARS.iter().find(|row| row.0 == self.scalar).map_or("", |row| row.1);
        if self.lanes == 1 { f.write_str(name) } else { write!(f, "{name}x{}", self.lanes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_type_names_map_to_dtypes() {
        let ours = |name: &str| Dtype::from_foreign_name(name).map(|dtype| dtype.to_string());
        for (name, wanted) in [
            ("float", "f32"),
            ("Float32", "f32"),
            ("half", "f16"),
            ("fp16", "f16"),
            ("bfloat16", "bf16"),
            ("int8", "i8"),
            ("uint8_t", "u8"),
            ("complex64", "c64"),
            ("float4", "f32x4"),
            ("uchar16", "u8x16"),
        ] {
            assert_eq!(ours(name).as_deref(), Some(wanted), "{name}");
        }
        for name in ["", "_t", "string", "float5", "4", "f32"] {
            assert_eq!(ours(name), None, "{name}");
        }
    }
}
