//! Integer expressions in a form that is quick to evaluate: sums of multiples of slots, and the operations over them.
//!
//! Symbols have become numbers before. Arithmetic wraps: a plan is proven to stay within 64 bits, and every access is
//! checked against its buffer.

use layoutc_algebra::expr::curve::CurveGrid;

/// How many values of the innermost loop are computed at once.
pub(super) const LANES: usize = 64;

/// `constant + sum(slot * coefficient)`; every slot once, no coefficient 0.
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

    /// What one step of a slot adds.
    pub(super) fn along(&self, slot: usize) -> i64 {
        self.terms.iter().find(|term| term.0 == slot).map_or(0, |term| term.1)
    }
}

/// An operation on two integers; conditions are 0 and 1.
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
    /// How far along the Hilbert curve of a box a cell is.
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

/// 0 by a divisor of 0, which stands in no plan.
fn floor_div(a: i64, b: i64) -> i64 {
    // Most numbers are small, and a division of 32 bits takes a third of the time of one of 64.
    if let (Ok(a), Ok(b)) = (u32::try_from(a), u32::try_from(b)) {
        return i64::from(a.checked_div(b).unwrap_or(0));
    }
    // Divisors are positive: the rounding of Euclid is that towards minus infinity.
    a.checked_div_euclid(b).unwrap_or(0)
}

fn narrow(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// An expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Affine(Affine),
    Binary(Binary, Box<(Value, Value)>),
    /// The cell so far along the Hilbert curve of a box.
    Cell(CurveGrid, Box<Value>),
    /// Condition, then, otherwise.
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

    /// `self op b`, folded where that is a sum or a number.
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

/// The exponent of a power of two.
fn power(value: &Value) -> Option<u32> {
    let value = u64::try_from(value.as_const()?).ok()?;
    value.is_power_of_two().then(|| value.trailing_zeros())
}

/// One step of a [`Program`]; operands are the numbers of steps before it.
#[derive(Debug, Clone)]
pub(super) enum Op {
    Affine(Affine),
    Binary(Binary, usize, usize),
    Cell(CurveGrid, usize),
    Select(usize, usize, usize),
}

/// An expression as steps, each of which gives one number; the last one's is the value.
#[derive(Debug, Clone)]
pub(super) struct Program {
    ops: Vec<Op>,
}

/// Room for the numbers that the steps of programs give.
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

    /// Its steps.
    pub(super) fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The sum that it is, where it is no more than that.
    pub(super) fn as_affine(&self) -> Option<&Affine> {
        match self.ops.as_slice() {
            [Op::Affine(affine)] => Some(affine),
            _ => None,
        }
    }

    /// Its value.
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

    /// Its values where `slot` is what it is now, and `step` more each time.
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

/// The operation is chosen once, not for every lane.
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

/// Appends the steps of `value`; gives the number of the last.
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
