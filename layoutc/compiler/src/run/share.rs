//! Selection of the loop of a nest to run in parallel: the iterations write to consecutive, disjoint windows of the
//! destination, whatever the values of the other loop variables.

use std::cmp::Ordering;

use super::step::{Each, Loop, Operand, Step, Width};
use super::value::{Binary, Op, Program};

/// Maximum number of iterations of loops over blocks, whose step exceeds 1, that the analysis of one candidate loop
/// enumerates.
const BLOCKS: u32 = 4096;

/// Loop to run in parallel, whose variable `slot` takes the values `from`, `from + step`, … below `to`. Iteration
/// `value` writes only to the `window` bytes of the destination from `first + window * (value - from) / step`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) slot: usize,
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) step: i64,
    /// Offset of the first window in the destination, in bytes.
    pub(super) first: usize,
    /// Size of the window of one iteration, in bytes.
    pub(super) window: usize,
}

/// Linear bound `times * v + constant`, where `v` is the variable of the candidate loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Line {
    times: i64,
    constant: i64,
}

/// Inclusive lower and upper bounds of a value, linear in the variable of the candidate loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    low: Line,
    high: Line,
}

impl Line {
    fn constant(constant: i64) -> Self {
        Self { times: 0, constant }
    }

    /// Bound with the same coefficient and another constant.
    fn constant_of(self, constant: i64) -> Self {
        Self { constant, ..self }
    }

    fn plus(self, other: Self) -> Option<Self> {
        let times = self.times.checked_add(other.times)?;
        Some(Self { times, constant: self.constant.saturating_add(other.constant) })
    }

    fn scaled(self, factor: i64) -> Option<Self> {
        let times = self.times.checked_mul(factor)?;
        Some(Self { times, constant: self.constant.saturating_mul(factor) })
    }
}

impl Span {
    fn constant(value: i64) -> Self {
        Self { low: Line::constant(value), high: Line::constant(value) }
    }

    /// True if the value is a known constant.
    fn is_constant(self) -> bool {
        self.is_still() && self.low == self.high
    }

    /// True if neither bound depends on the variable of the candidate loop.
    fn is_still(self) -> bool {
        self.low.times == 0 && self.high.times == 0
    }

    fn plus(self, other: Self) -> Option<Self> {
        Some(Self { low: self.low.plus(other.low)?, high: self.high.plus(other.high)? })
    }

    fn scaled(self, factor: i64) -> Option<Self> {
        let (low, high) = (self.low.scaled(factor)?, self.high.scaled(factor)?);
        Some(if factor < 0 { Self { low: high, high: low } } else { Self { low, high } })
    }
}

/// Outermost loop of the nest with disjoint windows and at least two iterations for each of `threads` threads; `None`
/// if no loop qualifies. `slots` is the number of variables of the program.
pub(super) fn share(nest: &Loop, slots: usize, threads: usize) -> Option<Share> {
    let wanted = i64::try_from(threads).ok()?.checked_mul(2)?;
    let mut open = nest;
    let mut all = vec![nest];
    while let Some((Step::Loop(next), before)) = open.body.split_last()
        && before.iter().all(|step| matches!(step, Step::Let { .. }))
    {
        all.push(next);
        open = next;
    }
    all.into_iter().find_map(|candidate| {
        let share = of(nest, candidate, slots)?;
        let rounds = share.to.checked_sub(share.from)?.checked_div(share.step)?;
        (rounds >= wanted).then_some(share)
    })
}

fn of(nest: &Loop, candidate: &Loop, slots: usize) -> Option<Share> {
    let [from, to] = [&candidate.from, &candidate.to]
        .map(|bound| bound.as_affine().filter(|sum| sum.terms.is_empty()).map(|sum| sum.constant));
    let (from, to) = (from?, to?);
    let (slot, of) = (candidate.slot, vec![None; slots]);
    let mut spans = Spans { of, candidate: slot, blocks: BLOCKS, written: None };
    spans.counted(nest)?;
    let Span { low, high } = spans.written?;
    let window = low.times.checked_mul(candidate.step)?;
    let fits = low.times == high.times
        && candidate.step > 0
        && high.constant.checked_sub(low.constant)? <= window;
    let first = low.constant.checked_add(low.times.checked_mul(from)?)?;
    let window = usize::try_from(window).ok().filter(|window| fits && *window > 0)?;
    let first = usize::try_from(first).ok()?;
    Some(Share { slot: candidate.slot, from, to, step: candidate.step, first, window })
}

struct Spans {
    of: Vec<Option<Span>>,
    candidate: usize,
    /// Number of iterations of loops over blocks that may still be enumerated.
    blocks: u32,
    /// Bounds of all written byte offsets, the upper one exclusive; `None` before the first write.
    written: Option<Span>,
}

impl Spans {
    fn counted(&mut self, nest: &Loop) -> Option<()> {
        if nest.step <= 1 || nest.slot == self.candidate {
            self.variable(nest.slot, &nest.from, &nest.to)?;
            return self.body(&nest.body);
        }
        // The last block of an axis may be smaller than the others: each iteration is analyzed separately.
        let [from, to] = [&nest.from, &nest.to].map(|bound| self.span(bound));
        let (from, to) = (from?, to?);
        if !from.is_constant() || !to.is_constant() {
            return None;
        }
        let mut value = from.low.constant;
        while value < to.low.constant {
            self.blocks = self.blocks.checked_sub(1)?;
            *self.of.get_mut(nest.slot)? = Some(Span::constant(value));
            self.body(&nest.body)?;
            value = value.checked_add(nest.step)?;
        }
        Some(())
    }

    fn variable(&mut self, slot: usize, from: &Program, to: &Program) -> Option<()> {
        let span = if slot == self.candidate {
            let line = Line { times: 1, constant: 0 };
            Span { low: line, high: line }
        } else {
            let last = self.span(to)?.high.plus(Line::constant(-1))?;
            Span { low: self.span(from)?.low, high: last }
        };
        *self.of.get_mut(slot)? = Some(span);
        Some(())
    }

    fn body(&mut self, body: &[Step]) -> Option<()> {
        body.iter().try_for_each(|step| self.step(step))
    }

    fn step(&mut self, step: &Step) -> Option<()> {
        match step {
            Step::Let { slot, value } => {
                let span = self.span(value);
                *self.of.get_mut(*slot)? = span;
                Some(())
            }
            Step::Loop(inner) => self.counted(inner),
            Step::If { body, otherwise, .. } => {
                self.body(body)?;
                self.body(otherwise)
            }
            Step::Each(Each {
                slot, from, to, width: Width::Bytes(bytes), index, operand, ..
            }) => {
                let Operand::Load(_) = operand else { return None };
                self.variable(*slot, from, to)?;
                let bytes = i64::try_from(*bytes).ok()?;
                let start = self.span(index)?.scaled(bytes)?;
                self.writes(start, Span::constant(bytes))
            }
            Step::Copy { to, bytes, .. } => {
                let (start, length) = (self.span(to)?, self.span(bytes)?);
                self.writes(start, length)
            }
            Step::Runs(runs) => {
                let [_, _, to, stride, count, bytes] = &**runs;
                let length = self.reach(stride, count, self.span(bytes)?)?;
                self.writes(self.span(to)?, length)
            }
            Step::Transpose { element_bytes, block } => {
                let [_, _, to, stride, rows, columns] = &**block;
                let run = self.span(rows)?.scaled(i64::from(*element_bytes))?;
                let length = self.reach(stride, columns, run)?;
                self.writes(self.span(to)?, length)
            }
            Step::Zeros(runs) => {
                let [to, stride, count, bytes] = &**runs;
                let length = self.reach(stride, count, self.span(bytes)?)?;
                self.writes(self.span(to)?, length)
            }
            Step::Each(_) | Step::Assert { .. } => None,
        }
    }

    /// Length from the start of the first run to the end of the last one, in bytes: `stride * (count - 1) + run`.
    /// `None` if no bounds of `count` are known, the stride is not a nonnegative constant, or a bound is too large.
    fn reach(&self, stride: &Program, count: &Program, run: Span) -> Option<Span> {
        let stride = stride.as_affine().filter(|sum| sum.terms.is_empty() && sum.constant >= 0)?;
        let before = self.span(count)?.plus(Span::constant(-1))?.scaled(stride.constant)?;
        before.plus(run)
    }

    fn writes(&mut self, start: Span, length: Span) -> Option<()> {
        let end = start.high.plus(length.high)?;
        let span = match self.written {
            None => Span { low: start.low, high: end },
            Some(so_far)
                if so_far.low.times == start.low.times && so_far.high.times == end.times =>
            {
                let low = so_far.low.constant.min(start.low.constant);
                let high = so_far.high.constant.max(end.constant);
                Span {
                    low: Line { constant: low, ..so_far.low },
                    high: Line { constant: high, ..so_far.high },
                }
            }
            Some(_) => return None,
        };
        self.written = Some(span);
        Some(())
    }

    fn span(&self, program: &Program) -> Option<Span> {
        let mut known: Vec<Option<Span>> = Vec::with_capacity(program.ops().len());
        for op in program.ops() {
            let of = |k: &usize| known.get(*k).copied().flatten();
            let span = match op {
                Op::Affine(sum) => sum.terms.iter().try_fold(
                    Span::constant(sum.constant),
                    |span, (slot, times)| {
                        span.plus(self.of.get(*slot).copied().flatten()?.scaled(*times)?)
                    },
                ),
                Op::Binary(op, a, b) => of(a).zip(of(b)).and_then(|(a, b)| binary(*op, a, b)),
                Op::Select(_, then, otherwise) => {
                    of(then).zip(of(otherwise)).and_then(|(a, b)| either(a, b))
                }
                Op::Cell(..) => None,
            };
            known.push(span);
        }
        known.last().copied().flatten()
    }
}

fn binary(op: Binary, a: Span, b: Span) -> Option<Span> {
    match op {
        Binary::Add => a.plus(b),
        // The upper bound of either operand is valid. The one with the larger coefficient moves with the window, like
        // the start offset of a write.
        Binary::Min => Some(Span {
            low: either(a, b).map_or(Line::constant(i64::MIN), |both| both.low),
            high: match a.high.times.cmp(&b.high.times) {
                Ordering::Less => b.high,
                Ordering::Greater => a.high,
                Ordering::Equal => Line::constant_of(a.high, a.high.constant.min(b.high.constant)),
            },
        }),
        Binary::Max => Some(Span { high: either(a, b)?.high, ..a }),
        Binary::And if b.is_constant() && b.low.constant >= 0 => {
            Some(Span { low: Line::constant(0), high: b.high })
        }
        Binary::ShiftRight | Binary::FloorDiv if b.is_constant() && a.is_still() => {
            let apply = |line: Line| Line::constant(op.apply(line.constant, b.low.constant));
            Some(Span { low: apply(a.low), high: apply(a.high) })
        }
        Binary::Equal | Binary::Less | Binary::LessEqual => {
            Some(Span { low: Line::constant(0), high: Line::constant(1) })
        }
        _ => None,
    }
}

/// Bounds that hold for both values; `None` if their coefficients differ.
fn either(a: Span, b: Span) -> Option<Span> {
    let alike = a.low.times == b.low.times && a.high.times == b.high.times;
    alike.then(|| Span {
        low: Line::constant_of(a.low, a.low.constant.min(b.low.constant)),
        high: Line::constant_of(a.high, a.high.constant.max(b.high.constant)),
    })
}

#[cfg(test)]
mod tests {
    use super::super::value::Value;
    use super::*;

    fn number(value: i64) -> Program {
        Program::of(&Value::int(value))
    }

    fn sum(terms: &[(usize, i64)]) -> Value {
        terms.iter().fold(Value::int(0), |sum, (slot, times)| {
            sum.binary(Binary::Add, Value::slot(*slot).binary(Binary::Mul, Value::int(*times)))
        })
    }

    fn counted(slot: usize, to: i64, step: i64, body: Vec<Step>) -> Loop {
        Loop { slot, from: number(0), to: number(to), step, body, share: None }
    }

    /// Loop of 8 iterations, `apart` bytes apart in the destination. Each transposes 6 rows and 10 columns of one-byte
    /// elements in blocks of 4 columns; the last block has 2.
    fn nest(apart: i64) -> Loop {
        let left = Value::int(10).binary(Binary::Add, sum(&[(1, -1)]));
        let block = [
            number(0),
            number(1),
            Program::of(&sum(&[(0, apart), (1, 6)])),
            number(6),
            number(6),
            Program::of(&left.binary(Binary::Min, Value::int(4))),
        ];
        let transpose = Step::Transpose { element_bytes: 1, block: Box::new(block) };
        counted(0, 8, 1, vec![Step::Loop(counted(1, 10, 4, vec![transpose]))])
    }

    #[test]
    fn iterations_with_disjoint_windows_are_parallelized() {
        let shared = Share { slot: 0, from: 0, to: 8, step: 1, first: 0, window: 60 };
        assert_eq!(share(&nest(60), 2, 2), Some(shared));
        assert_eq!(share(&nest(60), 2, 4), Some(shared));
        assert_eq!(share(&nest(60), 2, 5), None, "too few rounds");
        assert_eq!(share(&nest(59), 2, 2), None, "the windows overlap");
    }

    #[test]
    fn window_includes_padding() {
        let row = |zeros: i64| {
            let copy = Step::Copy {
                from: number(0),
                to: Program::of(&sum(&[(0, 60)])),
                bytes: number(40),
            };
            let padding = Value::int(40).binary(Binary::Add, sum(&[(0, 60)]));
            let runs = [Program::of(&padding), number(10), number(2), number(zeros)];
            counted(0, 8, 1, vec![copy, Step::Zeros(Box::new(runs))])
        };
        let shared = Share { slot: 0, from: 0, to: 8, step: 1, first: 0, window: 60 };
        assert_eq!(share(&row(10), 1, 2), Some(shared));
        assert_eq!(share(&row(11), 1, 2), None, "the windows overlap");
    }

    #[test]
    fn inner_loop_is_parallelized_if_outer_cannot_be() {
        let shared = Share { slot: 1, from: 0, to: 16, step: 1, first: 0, window: 8 };
        let copy = Step::Copy {
            from: number(0),
            to: Program::of(&sum(&[(0, 1), (1, 8)])),
            bytes: number(1),
        };
        let nest = counted(0, 8, 1, vec![Step::Loop(counted(1, 16, 1, vec![copy]))]);
        assert_eq!(share(&nest, 2, 2), Some(shared));
    }
}
