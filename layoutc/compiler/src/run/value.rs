//! Integer expressions in a form for fast evaluation: affine sums of slots, and operations on them.
//!
//! Symbols are constants here. Arithmetic wraps: a plan is proven to stay within 64 bits, and every access is
//! bounds-checked.

use layoutc_algebra::expr::curve::CurveGrid;

/// Number of innermost iterations that [`Program::lanes`] evaluates per call.
pub(super) const LANES: usize = 64;

/// Affine expression `constant + sum(slot * coefficient)`, with the pairs (slot, coefficient) in `terms`. Each slot
/// occurs once, and no coefficient is 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Affine {
    pub(super) constant: i64,
    pub(super) terms: Vec<(usize, i64)>,
}

impl Affine {
    pub(super) fn constant(constant: i64) -> Self {
        Self { constant, terms: Vec::new() }
    }

    fn scaled(mut self, factor: i64) -> Self {
        self.constant = self.constant.wrapping_mul(factor);
        for term in &mut self.terms {
            term.1 = term.1.wrapping_mul(factor);
        }
        self.terms.retain(|term| term.1 != 0);
        self
    }

    fn plus(mut self, other: &Self) -> Self {
        self.constant = self.constant.wrapping_add(other.constant);
        for (slot, coefficient) in &other.terms {
            match self.terms.iter_mut().find(|term| term.0 == *slot) {
                Some(term) => term.1 = term.1.wrapping_add(*coefficient),
                None => self.terms.push((*slot, *coefficient)),
            }
        }
        self.terms.retain(|term| term.1 != 0);
        self
    }

    fn at(&self, slots: &[i64]) -> i64 {
        let value = |slot: usize| slots.get(slot).copied().unwrap_or(0);
        let add = |sum: i64, (slot, coefficient): &(usize, i64)| {
            sum.wrapping_add(value(*slot).wrapping_mul(*coefficient))
        };
        self.terms.iter().fold(self.constant, add)
    }

    /// Coefficient of a slot; 0 if the slot does not occur.
    pub(super) fn along(&self, slot: usize) -> i64 {
        self.terms.iter().find(|term| term.0 == slot).map_or(0, |term| term.1)
    }
}

/// Operation on two integers. Comparisons give 0 or 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Mul,
    FloorDiv,
    FloorMod,
    ShiftRight,
    And,
    Xor,
    Min,
    Max,
    Equal,
    Less,
    LessEqual,
    /// Position of cell `(a, b)`, row and column, along the Hilbert curve of a grid.
    Distance(CurveGrid),
}

impl Binary {
    pub(super) fn apply(self, a: i64, b: i64) -> i64 {
        match self {
            Self::Add => a.wrapping_add(b),
            Self::Mul => a.wrapping_mul(b),
            Self::FloorDiv => floor_div(a, b),
            Self::FloorMod => a.wrapping_sub(floor_div(a, b).wrapping_mul(b)),
            Self::ShiftRight => a >> (b & 63),
            Self::And => a & b,
            Self::Xor => a ^ b,
            Self::Min => a.min(b),
            Self::Max => a.max(b),
            Self::Equal => i64::from(a == b),
            Self::Less => i64::from(a < b),
            Self::LessEqual => i64::from(a <= b),
            Self::Distance(grid) => narrow(grid.distance(i128::from(a), i128::from(b))),
        }
    }
}

/// Floor division for positive divisors; 0 for divisor 0.
fn floor_div(a: i64, b: i64) -> i64 {
    // Most operands are small, and a 32-bit division takes a third of the time of a 64-bit one.
    if let (Ok(a), Ok(b)) = (u32::try_from(a), u32::try_from(b)) {
        return i64::from(a.checked_div(b).unwrap_or(0));
    }
    // For positive divisors, Euclidean division rounds toward minus infinity.
    a.checked_div_euclid(b).unwrap_or(0)
}

fn narrow(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Expression over slots, the numbered variables of a lowered plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Affine(Affine),
    Binary(Binary, Box<(Value, Value)>),
    /// Cell at this position along the Hilbert curve of a grid, as `row * columns + column`.
    Cell(CurveGrid, Box<Value>),
    /// Condition, value if it is not 0, value if it is 0.
    Select(Box<(Value, Value, Value)>),
}

impl Value {
    pub(super) fn int(value: i64) -> Self {
        Self::Affine(Affine::constant(value))
    }

    pub(super) fn slot(slot: usize) -> Self {
        Self::Affine(Affine { constant: 0, terms: vec![(slot, 1)] })
    }

    pub(super) fn as_const(&self) -> Option<i64> {
        match self {
            Self::Affine(affine) if affine.terms.is_empty() => Some(affine.constant),
            _ => None,
        }
    }

    pub(super) fn cell(grid: CurveGrid, a: Self) -> Self {
        match a.as_const() {
            Some(a) => Self::int(narrow(grid.cell(i128::from(a)))),
            None => Self::Cell(grid, Box::new(a)),
        }
    }

    pub(super) fn select(condition: Self, then: Self, otherwise: Self) -> Self {
        match condition.as_const() {
            Some(0) => otherwise,
            Some(_) => then,
            None => Self::Select(Box::new((condition, then, otherwise))),
        }
    }

    /// Simplified `self op b`: constants are folded, sums and constant multiples stay affine, and division and
    /// remainder by a power of two become a shift and a mask.
    pub(super) fn binary(self, op: Binary, b: Self) -> Self {
        if let (Some(a), Some(b)) = (self.as_const(), b.as_const()) {
            return Self::int(op.apply(a, b));
        }
        match (op, self, b) {
            (Binary::Add, Self::Affine(a), Self::Affine(b)) => Self::Affine(a.plus(&b)),
            (Binary::Mul, Self::Affine(a), b) if b.as_const().is_some() => {
                Self::Affine(a.scaled(b.as_const().unwrap_or(0)))
            }
            (Binary::Mul, a, Self::Affine(b)) if a.as_const().is_some() => {
                Self::Affine(b.scaled(a.as_const().unwrap_or(0)))
            }
            (Binary::FloorDiv, a, b) if power(&b).is_some() => {
                let shift = i64::from(power(&b).unwrap_or(0));
                Self::Binary(Binary::ShiftRight, Box::new((a, Self::int(shift))))
            }
            (Binary::FloorMod, a, b) if power(&b).is_some() => {
                let mask = b.as_const().unwrap_or(1).wrapping_sub(1);
                Self::Binary(Binary::And, Box::new((a, Self::int(mask))))
            }
            (op, a, b) => Self::Binary(op, Box::new((a, b))),
        }
    }
}

/// Base-2 logarithm of a constant power of two; `None` for any other value.
fn power(value: &Value) -> Option<u32> {
    let value = u64::try_from(value.as_const()?).ok()?;
    value.is_power_of_two().then(|| value.trailing_zeros())
}

/// Operation of a [`Program`]. Operands are positions of earlier operations.
#[derive(Debug, Clone)]
pub(super) enum Op {
    Affine(Affine),
    Binary(Binary, usize, usize),
    Cell(CurveGrid, usize),
    Select(usize, usize, usize),
}

/// Expression as a sequence of operations. The result of the last one is the value.
#[derive(Debug, Clone)]
pub(super) struct Program {
    ops: Vec<Op>,
}

/// Scratch buffers for the results of the operations of a program.
#[derive(Debug, Default)]
pub(super) struct Room {
    scalars: Vec<i64>,
    lanes: Vec<[i64; LANES]>,
}

impl Program {
    pub(super) fn of(value: &Value) -> Self {
        let mut ops = Vec::new();
        flatten(value, &mut ops);
        Self { ops }
    }

    /// Operations, in order of evaluation.
    pub(super) fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// Affine expression that equals the program; `None` if other operations are needed.
    pub(super) fn as_affine(&self) -> Option<&Affine> {
        match self.ops.as_slice() {
            [Op::Affine(affine)] => Some(affine),
            _ => None,
        }
    }

    /// Value of the program for the values `slots` of the variables; `room` is scratch memory.
    pub(super) fn at(&self, slots: &[i64], room: &mut Room) -> i64 {
        if let [Op::Affine(affine)] = self.ops.as_slice() {
            return affine.at(slots);
        }
        let numbers = &mut room.scalars;
        numbers.clear();
        for op in &self.ops {
            let of = |k: &usize| numbers.get(*k).copied().unwrap_or(0);
            numbers.push(match op {
                Op::Affine(affine) => affine.at(slots),
                Op::Binary(op, a, b) => op.apply(of(a), of(b)),
                Op::Cell(grid, a) => narrow(grid.cell(i128::from(of(a)))),
                Op::Select(condition, then, otherwise) => {
                    if of(condition) != 0 {
                        of(then)
                    } else {
                        of(otherwise)
                    }
                }
            });
        }
        numbers.last().copied().unwrap_or(0)
    }

    /// Values for [`LANES`] consecutive iterations: in lane `k`, `slot` is its current value plus `k * step`.
    pub(super) fn lanes(
        &self,
        slots: &[i64],
        (slot, step): (usize, i64),
        room: &mut Room,
    ) -> [i64; LANES] {
        room.lanes.resize(self.ops.len().max(room.lanes.len()), [0; LANES]);
        for (k, op) in self.ops.iter().enumerate() {
            let (done, rest) = room.lanes.split_at_mut(k);
            let Some(out) = rest.first_mut() else { continue };
            let of = |k: &usize| done.get(*k).unwrap_or(&[0; LANES]);
            match op {
                Op::Affine(affine) => {
                    let (first, by) = (affine.at(slots), affine.along(slot).wrapping_mul(step));
                    let mut value = first;
                    for out in out {
                        *out = value;
                        value = value.wrapping_add(by);
                    }
                }
                Op::Binary(op, a, b) => binary_lanes(*op, of(a), of(b), out),
                Op::Cell(grid, a) => {
                    for (out, a) in out.iter_mut().zip(of(a)) {
                        *out = narrow(grid.cell(i128::from(*a)));
                    }
                }
                Op::Select(condition, then, otherwise) => {
                    let parts = of(condition).iter().zip(of(then)).zip(of(otherwise));
                    for (out, ((condition, then), otherwise)) in out.iter_mut().zip(parts) {
                        *out = if *condition != 0 { *then } else { *otherwise };
                    }
                }
            }
        }
        let last = self.ops.len().checked_sub(1).and_then(|last| room.lanes.get(last));
        last.copied().unwrap_or([0; LANES])
    }
}

/// Applies `op` in every lane. The operation is matched once, outside the loop over the lanes.
fn binary_lanes(op: Binary, a: &[i64; LANES], b: &[i64; LANES], out: &mut [i64; LANES]) {
    let mut each = |apply: fn(i64, i64) -> i64| {
        for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
            *out = apply(*a, *b);
        }
    };
    match op {
        Binary::Add => each(i64::wrapping_add),
        Binary::Mul => each(i64::wrapping_mul),
        Binary::ShiftRight => each(|a, b| a >> (b & 63)),
        Binary::And => each(|a, b| a & b),
        Binary::Xor => each(|a, b| a ^ b),
        _ => {
            for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
                *out = op.apply(*a, *b);
            }
        }
    }
}

/// Appends the operations of `value`; returns the position of the last one.
fn flatten(value: &Value, ops: &mut Vec<Op>) -> usize {
    let op = match value {
        Value::Affine(affine) => Op::Affine(affine.clone()),
        Value::Binary(op, parts) => {
            let (a, b) = (flatten(&parts.0, ops), flatten(&parts.1, ops));
            Op::Binary(*op, a, b)
        }
        Value::Cell(grid, a) => Op::Cell(*grid, flatten(a, ops)),
        Value::Select(parts) => {
            let condition = flatten(&parts.0, ops);
            let (then, otherwise) = (flatten(&parts.1, ops), flatten(&parts.2, ops));
            Op::Select(condition, then, otherwise)
        }
    };
    ops.push(op);
    ops.len() - 1
}
