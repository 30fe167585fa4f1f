//! Generator of random kernel values: their text in a manifest, and their reference evaluation in Rust.

use std::fmt::Write as _;

use layoutc_compiler::base::cast::{Cast, CastEvaluator, CastMode};
use layoutc_compiler::base::dtype::Dtype;

use layoutc_testing::Random;

/// A type of arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    I32,
    I64,
    U32,
    U64,
    F32,
    F64,
    Bool,
}

impl Type {
    pub const NUMBERS: [Type; 6] =
        [Type::I32, Type::I64, Type::U32, Type::U64, Type::F32, Type::F64];

    pub fn word(self) -> &'static str {
        match self {
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Bool => "bool",
        }
    }

    fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    pub fn bits(self) -> u32 {
        if matches!(self, Self::I64 | Self::U64 | Self::F64) { 64 } else { 32 }
    }

    /// Wraps an integer to this type.
    fn wrapped(self, value: i128) -> i128 {
        let low = value & ((1 << self.bits()) - 1);
        let is_signed = matches!(self, Self::I32 | Self::I64);
        if is_signed && low >> (self.bits() - 1) == 1 { low - (1 << self.bits()) } else { low }
    }
}

/// Element types, each with its type of arithmetic.
pub const ELEMENTS: [(&str, Type); 12] = [
    ("i8", Type::I32),
    ("u8", Type::I32),
    ("i16", Type::I32),
    ("u16", Type::I32),
    ("i32", Type::I32),
    ("i64", Type::I64),
    ("u32", Type::U32),
    ("u64", Type::U64),
    ("f16", Type::F32),
    ("bf16", Type::F32),
    ("f32", Type::F32),
    ("f64", Type::F64),
];

/// A value of one of the types of arithmetic.
#[derive(Debug, Clone, Copy)]
pub enum Value {
    Int(i128),
    Single(f32),
    Double(f64),
    Truth(bool),
}

/// The expression of a kernel value.
#[derive(Debug, Clone)]
pub enum Tree {
    Constant(Type, Value),
    /// An element of a tensor, `before` rows above; `outside` replaces elements above the first row.
    Read {
        element: usize,
        before: usize,
        outside: Option<Box<Tree>>,
    },
    Negate(Box<Tree>),
    Abs(Box<Tree>),
    Floor(Box<Tree>),
    Sqrt(Box<Tree>),
    Not(Box<Tree>),
    Binary(&'static str, Box<Tree>, Box<Tree>),
    Select(Box<Tree>, Box<Tree>, Box<Tree>),
    /// Conversion to an element type and back to the type of arithmetic.
    Cast(&'static str, Box<Tree>),
}

/// Value of a read of a tensor, `before` rows above; `None` if it is out of bounds.
pub type Read<'a> = &'a dyn Fn(usize, usize) -> Option<Value>;

impl Tree {
    /// A random expression of this type with `depth` levels of operators.
    pub fn random(random: &mut Random, ty: Type, depth: usize) -> Self {
        if depth == 0 {
            return Self::leaf(random, ty);
        }
        if ty == Type::Bool {
            return match random.below(8) {
                0 => Self::Not(Box::new(Self::random(random, ty, depth - 1))),
                1 | 2 => {
                    let sign = *random.pick(&["and", "or"]);
                    let [a, b] = [0, 1].map(|_| Box::new(Self::random(random, ty, depth - 1)));
                    Self::Binary(sign, a, b)
                }
                _ => {
                    let sign = *random.pick(&["<", "<=", ">", ">=", "==", "!="]);
                    let ty = *random.pick(&Type::NUMBERS);
                    let [a, b] = [0, 1].map(|_| Box::new(Self::random(random, ty, depth - 1)));
                    Self::Binary(sign, a, b)
                }
            };
        }
        let of = |random: &mut Random, ty| Box::new(Self::random(random, ty, depth - 1));
        match random.below(16) {
            0 => Self::leaf(random, ty),
            1 => Self::Negate(of(random, ty)),
            2 => Self::Abs(of(random, ty)),
            3 | 4 => {
                let condition = of(random, Type::Bool);
                Self::Select(condition, of(random, ty), of(random, ty))
            }
            5 | 6 => {
                let into = ELEMENTS.iter().filter(|(_, computed)| *computed == ty);
                let into: Vec<&str> = into.map(|(element, _)| *element).collect();
                let into = *random.pick(&into);
                let from = *random.pick(&Type::NUMBERS);
                Self::Cast(into, of(random, from))
            }
            7 if ty.is_float() => Self::Floor(of(random, ty)),
            8 if ty.is_float() => Self::Sqrt(of(random, ty)),
            _ => {
                let sign = if ty.is_float() {
                    *random.pick(&["+", "-", "*", "/", "min", "max"])
                } else {
                    *random.pick(&["+", "-", "*", "//", "%", "min", "max"])
                };
                Self::Binary(sign, of(random, ty), of(random, ty))
            }
        }
    }

    fn leaf(random: &mut Random, ty: Type) -> Self {
        if ty == Type::Bool {
            let number = *random.pick(&Type::NUMBERS);
            let [a, b] = [0, 1].map(|_| Box::new(Self::leaf(random, number)));
            let sign = *random.pick(&["<", "=="]);
            return Self::Binary(sign, a, b);
        }
        if random.below(4) == 0 {
            return Self::constant(random, ty);
        }
        let elements = (0..ELEMENTS.len()).filter(|k| ELEMENTS[*k].1 == ty).collect::<Vec<_>>();
        let element = *random.pick(&elements);
        let before = random.below(3);
        let outside = (before > 0).then(|| Box::new(Self::constant(random, ty)));
        Self::Read { element, before, outside }
    }

    /// A random constant, written with its type.
    fn constant(random: &mut Random, ty: Type) -> Self {
        let small = [0, 1, -1, 2, -2, 3, 7, -7, 100];
        let value = match ty {
            Type::F32 => Value::Single(*random.pick(&[0.0, -0.0, 1.0, -1.5, 3.0e38, 1.0e-40, 0.1])),
            Type::F64 => Value::Double(*random.pick(&[0.0, -0.0, 1.0, -2.5, 1.0e300, 0.1])),
            _ => {
                let least = 1_i128 << (ty.bits() - 1);
                let all = [small.as_slice(), &[least - 1, 1 - least]].concat();
                let value = *random.pick(&all);
                let is_unsigned = matches!(ty, Type::U32 | Type::U64);
                Value::Int(if is_unsigned { value.abs() } else { value })
            }
        };
        Self::Constant(ty, value)
    }

    /// Text in a manifest, with parentheses around every operator.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) {
        match self {
            Self::Constant(ty, value) => match value {
                Value::Int(value) => write!(text, "{}({value})", ty.word()).unwrap(),
                Value::Single(value) => write!(text, "f32({value:?})").unwrap(),
                Value::Double(value) => write!(text, "f64({value:?})").unwrap(),
                Value::Truth(value) => write!(text, "{value}").unwrap(),
            },
            Self::Read { element, before, outside } => {
                let name = ELEMENTS[*element].0;
                match (before, outside) {
                    (0, _) | (_, None) => write!(text, "T_{name}[j, i]").unwrap(),
                    (_, Some(outside)) => {
                        write!(text, "(T_{name}[j - {before}, i] ?? ").unwrap();
                        outside.write(text);
                        text.push(')');
                    }
                }
            }
            Self::Negate(a) => a.called("-", text),
            Self::Abs(a) => a.called("abs", text),
            Self::Floor(a) => a.called("floor", text),
            Self::Sqrt(a) => a.called("sqrt", text),
            Self::Not(a) => {
                text.push_str("(not ");
                a.called("", text);
                text.push(')');
            }
            Self::Cast(into, a) => a.called(into, text),
            Self::Binary(sign @ ("min" | "max"), a, b) => {
                write!(text, "{sign}(").unwrap();
                a.write(text);
                text.push_str(", ");
                b.write(text);
                text.push(')');
            }
            Self::Binary(sign, a, b) => {
                text.push('(');
                a.write(text);
                write!(text, " {sign} ").unwrap();
                b.write(text);
                text.push(')');
            }
            Self::Select(condition, a, b) => {
                text.push_str("select(");
                condition.write(text);
                text.push_str(", ");
                a.write(text);
                text.push_str(", ");
                b.write(text);
                text.push(')');
            }
        }
    }

    fn called(&self, function: &str, text: &mut String) {
        write!(text, "{function}(").unwrap();
        self.write(text);
        text.push(')');
    }

    fn ty(&self) -> Type {
        match self {
            Self::Constant(ty, _) => *ty,
            Self::Read { element, .. } => ELEMENTS[*element].1,
            Self::Negate(a) | Self::Abs(a) | Self::Floor(a) | Self::Sqrt(a) => a.ty(),
            Self::Not(_) => Type::Bool,
            Self::Binary("and" | "or" | "<" | "<=" | ">" | ">=" | "==" | "!=", ..) => Type::Bool,
            Self::Binary(_, a, _) | Self::Select(_, a, _) => a.ty(),
            Self::Cast(into, _) => ELEMENTS.iter().find(|(name, _)| name == into).unwrap().1,
        }
    }

    /// Value by definition.
    pub fn value(&self, read: Read<'_>) -> Value {
        let ty = self.ty();
        match self {
            Self::Constant(_, value) => *value,
            Self::Read { element, before, outside } => match (read(*element, *before), outside) {
                (Some(value), _) => value,
                (None, Some(outside)) => outside.value(read),
                (None, None) => panic!("an element outside without a value"),
            },
            Self::Negate(a) => match a.value(read) {
                Value::Int(a) => Value::Int(ty.wrapped(-a)),
                Value::Single(a) => Value::Single(-a),
                Value::Double(a) => Value::Double(-a),
                Value::Truth(_) => panic!("no number"),
            },
            Self::Abs(a) => match a.value(read) {
                Value::Int(a) => Value::Int(ty.wrapped(a.abs())),
                Value::Single(a) => Value::Single(a.abs()),
                Value::Double(a) => Value::Double(a.abs()),
                Value::Truth(_) => panic!("no number"),
            },
            Self::Floor(a) => a.value(read).float(f32::floor, f64::floor),
            Self::Sqrt(a) => a.value(read).float(f32::sqrt, f64::sqrt),
            Self::Not(a) => Value::Truth(!a.value(read).truth()),
            Self::Binary(sign, a, b) => binary(sign, ty, a.value(read), b.value(read)),
            Self::Select(condition, a, b) => {
                if condition.value(read).truth() {
                    a.value(read)
                } else {
                    b.value(read)
                }
            }
            Self::Cast(into, a) => {
                let value = converted(a.value(read), a.ty(), into);
                element(into, value)
            }
        }
    }
}

impl Value {
    pub fn truth(self) -> bool {
        matches!(self, Self::Truth(true))
    }

    fn float(self, single: fn(f32) -> f32, double: fn(f64) -> f64) -> Self {
        match self {
            Self::Single(a) => Self::Single(single(a)),
            Self::Double(a) => Self::Double(double(a)),
            Self::Int(_) | Self::Truth(_) => panic!("no float"),
        }
    }

    /// Bits of the value; all NaNs have the same.
    pub fn bits(self) -> u64 {
        match self {
            Self::Int(value) => u64::try_from(value & i128::from(u64::MAX)).unwrap(),
            Self::Single(value) if value.is_nan() => u64::from(f32::NAN.to_bits()),
            Self::Single(value) => u64::from(value.to_bits()),
            Self::Double(value) if value.is_nan() => f64::NAN.to_bits(),
            Self::Double(value) => value.to_bits(),
            Self::Truth(value) => u64::from(value),
        }
    }

    /// Value with these bits.
    pub fn of(ty: Type, bits: u64) -> Self {
        match ty {
            Type::F32 => Self::Single(f32::from_bits(u32::try_from(bits & 0xFFFF_FFFF).unwrap())),
            Type::F64 => Self::Double(f64::from_bits(bits)),
            _ => Self::Int(ty.wrapped(i128::from(bits))),
        }
    }
}

fn binary(sign: &str, ty: Type, a: Value, b: Value) -> Value {
    match (a, b) {
        (Value::Truth(a), Value::Truth(b)) => {
            Value::Truth(if sign == "and" { a && b } else { a || b })
        }
        (Value::Int(a), Value::Int(b)) => match integers(sign, a, b) {
            Value::Int(value) => Value::Int(ty.wrapped(value)),
            other => other,
        },
        (Value::Single(a), Value::Single(b)) => {
            // For f32 operands, double arithmetic rounded to f32 is correctly rounded.
            match floats(sign, f64::from(a), f64::from(b)) {
                #[expect(clippy::cast_possible_truncation, reason = "it is rounded")]
                Value::Double(value) => Value::Single(value as f32),
                other => other,
            }
        }
        (Value::Double(a), Value::Double(b)) => floats(sign, a, b),
        _ => panic!("two types"),
    }
}

fn integers(sign: &str, a: i128, b: i128) -> Value {
    let floor = |a: i128, b: i128| {
        let quotient = a / b;
        if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
    };
    Value::Int(match sign {
        "+" => a + b,
        "-" => a - b,
        "*" => a.wrapping_mul(b),
        "//" if b == 0 => 0,
        "//" => floor(a, b),
        "%" if b == 0 => a,
        "%" => a - floor(a, b) * b,
        "min" => a.min(b),
        "max" => a.max(b),
        "<" => return Value::Truth(a < b),
        "<=" => return Value::Truth(a <= b),
        ">" => return Value::Truth(a > b),
        ">=" => return Value::Truth(a >= b),
        "==" => return Value::Truth(a == b),
        _ => return Value::Truth(a != b),
    })
}

#[expect(clippy::float_cmp, reason = "what the operators are")]
fn floats(sign: &str, a: f64, b: f64) -> Value {
    Value::Double(match sign {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        "min" if a < b || b.is_nan() => a,
        "max" if a > b || b.is_nan() => a,
        "min" | "max" => b,
        "<" => return Value::Truth(a < b),
        "<=" => return Value::Truth(a <= b),
        ">" => return Value::Truth(a > b),
        ">=" => return Value::Truth(a >= b),
        "==" => return Value::Truth(a == b),
        _ => return Value::Truth(a != b),
    })
}

/// Bits of a number converted to an element type.
fn converted(value: Value, from: Type, into: &str) -> u64 {
    let [from, to] = [from.word(), into].map(|name| Dtype::parse(name).unwrap());
    let bits = value.bits();
    match Cast::new(from, to, CastMode::Round).unwrap() {
        Some(cast) => {
            let width = from.element_bits();
            CastEvaluator::new(cast).convert(if width == 64 {
                bits
            } else {
                bits & ((1 << width) - 1)
            })
        }
        None => bits,
    }
}

/// Value of an element with these bits.
pub fn element(name: &str, bits: u64) -> Value {
    let ty = ELEMENTS.iter().find(|(known, _)| *known == name).unwrap().1;
    let [from, to] = [name, ty.word()].map(|name| Dtype::parse(name).unwrap());
    Value::of(
        ty,
        match Cast::new(from, to, CastMode::Round).unwrap() {
            Some(cast) => CastEvaluator::new(cast).convert(bits),
            None => bits,
        },
    )
}
