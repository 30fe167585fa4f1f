//! Loop nests that move every element once: one loop per digit, offsets summed up level by level.
//!
//! The loops follow the destination from its major to its minor digit. Where source and destination disagree on the
//! fastest digit, the two are blocked. A better schedule would replace `schedule` and nothing else.

use layoutc_algebra::expr::{BinOp, Expr as Algebra, ExprError};
use layoutc_algebra::layout::Symbol;

use super::arith::{fold, is_multiple, typical};
use super::cores::{self, Cores};
use super::lower::{PlanError, Scope, add, literal, lower, multiply, range};
use super::merge::merge;
use super::names::Namer;
use super::transfer::{Cut, Transfer};
use super::tree::{Compare, Expr, Operand, Stmt};

/// Edge of a block of the two fastest digits, in elements: 32 x 32 elements of 16 bytes fit a first-level cache.
pub(super) const BLOCK: i64 = 32;

/// The shortest run that is copied as one, in bytes: where its length is known, and where it is not.
const COPY: i128 = 16;
const COPY_UNKNOWN: i128 = 64;

/// A buffer of a nest.
#[derive(Debug, Clone)]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// What partial offsets into it are called: `p` gives `p0`, `p1`, ….
    pub partial: String,
    /// The function that reads (a source) or writes (a destination) an element, where elements share bytes.
    pub through: Option<String>,
    /// Bits of an element.
    pub element_bits: i128,
}

/// One level of a nest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// The loop over a digit.
    Digit(usize),
    /// The loop over blocks of a digit.
    Blocks(usize),
}

impl Level {
    /// The digit that has one value inside this loop.
    pub(super) fn digit(&self) -> Option<usize> {
        match self {
            Self::Digit(k) => Some(*k),
            Self::Blocks(_) => None,
        }
    }
}

/// The statements that move every element of a transfer.
///
/// # Errors
/// [`PlanError`] where a bound or stride leaves 64 bits.
pub fn nest(
    transfer: &Transfer,
    symbols: &[Symbol],
    scope: &Scope<'_>,
    namer: &mut Namer<'_>,
    [from, to]: [&Buffer; 2],
    cores: Cores,
) -> Result<Vec<Stmt>, PlanError> {
    if transfer.cuts.iter().any(|cut| cut.extent.as_const().is_some_and(|extent| extent <= 0)) {
        return Ok(Vec::new());
    }
    let transfer = &merge(transfer, symbols)?;
    let levels = schedule(transfer, symbols);
    let parallel = match cores {
        Cores::One => None,
        Cores::All => cores::level(transfer, &levels, symbols, scope, to),
    };
    let names: Vec<String> = transfer
        .cuts
        .iter()
        .map(|cut| if cut.is_unit() { String::new() } else { namer.name(&cut.name) })
        .collect();
    let mut writer = Writer {
        transfer,
        symbols,
        scope,
        namer,
        names,
        blocks: Vec::new(),
        known: Vec::new(),
        parallel,
        from,
        to,
    };
    let from_offset = lower(&transfer.from_constant, scope)?;
    let to_offset = lower(&transfer.to_constant, scope)?;
    writer.level(&levels, from_offset, to_offset)
}

/// The order of the loops, outermost first.
fn schedule(transfer: &Transfer, symbols: &[Symbol]) -> Vec<Level> {
    let cuts = &transfer.cuts;
    let speed = |stride: &Algebra| typical(stride, symbols).saturating_abs();
    let mut order: Vec<usize> =
        cuts.iter().enumerate().filter(|(_, cut)| !cut.is_unit()).map(|(k, _)| k).collect();
    let to_speed = |k: &usize| cuts.get(*k).map_or(0, |cut| speed(&cut.to_stride));
    order.sort_by_key(|k| std::cmp::Reverse(to_speed(k)));
    let fastest_to = order.last().copied();
    let fastest_from =
        order.iter().copied().min_by_key(|k| cuts.get(*k).map_or(0, |cut| speed(&cut.from_stride)));
    let large = |k: usize| {
        let extent = cuts.get(k).and_then(|cut| cut.extent.as_const());
        extent.is_some_and(|extent| extent > i128::from(BLOCK))
    };
    match (fastest_from, fastest_to) {
        (Some(a), Some(b)) if a != b && large(a) && large(b) => {
            let rest = order.iter().filter(|k| **k != a && **k != b).map(|k| Level::Digit(*k));
            let inner = [Level::Blocks(a), Level::Blocks(b), Level::Digit(a), Level::Digit(b)];
            rest.chain(inner).collect()
        }
        _ => order.into_iter().map(Level::Digit).collect(),
    }
}

struct Writer<'w, 'n> {
    transfer: &'w Transfer,
    symbols: &'w [Symbol],
    scope: &'w Scope<'w>,
    namer: &'w mut Namer<'n>,
    /// The loop variable of each cut.
    names: Vec<String>,
    /// The block variable of each cut that is blocked and open.
    blocks: Vec<(usize, String)>,
    /// The bounds of cuts that are known before their loop.
    known: Vec<(usize, (Expr, Expr))>,
    /// The loop that runs on all cores.
    parallel: Option<Level>,
    from: &'w Buffer,
    to: &'w Buffer,
}

impl Writer<'_, '_> {
    fn level(&mut self, levels: &[Level], from: Expr, to: Expr) -> Result<Vec<Stmt>, PlanError> {
        match levels.split_first() {
            None => Ok(vec![self.store(from, to)]),
            Some((Level::Blocks(k), rest)) => {
                let Some(cut) = self.transfer.cuts.get(*k) else { return Ok(Vec::new()) };
                let name = self.namer.name(&format!("{}_block", cut.name));
                self.blocks.push((*k, name.clone()));
                let until = lower(&cut.extent, self.scope)?;
                let body = self.level(rest, from, to)?;
                let parallel = self.parallel == Some(Level::Blocks(*k));
                let from = Expr::int(0);
                Ok(vec![Stmt::For { name, from, to: until, step: BLOCK, parallel, body }])
            }
            Some((Level::Digit(k), rest)) => self.digit(*k, rest, from, to),
        }
    }

    fn digit(
        &mut self,
        k: usize,
        rest: &[Level],
        from: Expr,
        to: Expr,
    ) -> Result<Vec<Stmt>, PlanError> {
        let (Some(cut), Some(name)) = (self.transfer.cuts.get(k), self.names.get(k).cloned())
        else {
            return Ok(Vec::new());
        };
        let known = self.known.iter().position(|(other, _)| *other == k);
        let (mut before, (low, high)) = match known.map(|at| self.known.swap_remove(at)) {
            Some((_, bounds)) => (Vec::new(), bounds),
            None => self.loop_bounds(k, cut, rest)?,
        };
        if rest.is_empty()
            && let Some(bytes) = self.run_bytes(k, cut, &low, &high)?
        {
            let (to_buffer, from_buffer) = (self.to.name.clone(), self.from.name.clone());
            before.push(Stmt::Copy {
                to: to_buffer,
                to_index: to,
                from: from_buffer,
                from_index: from,
                bytes,
            });
            return Ok(before);
        }
        let from = self.advance(from, &name, &cut.from_stride)?;
        let to = self.advance(to, &name, &cut.to_stride)?;
        let body = if rest.is_empty() {
            vec![self.store(from, to)]
        } else {
            let (from_let, from) = self.partial(&self.from.partial.clone(), from);
            let (to_let, to) = self.partial(&self.to.partial.clone(), to);
            let mut body: Vec<Stmt> = [to_let, from_let].into_iter().flatten().collect();
            body.extend(self.early_bounds(cut.chain, rest)?);
            body.extend(self.level(rest, from, to)?);
            body
        };
        let parallel = self.parallel == Some(Level::Digit(k));
        before.push(Stmt::For { name, from: low, to: high, step: 1, parallel, body });
        Ok(before)
    }

    /// The bytes of the innermost loop, where that is a run worth copying as one.
    fn run_bytes(
        &self,
        k: usize,
        cut: &Cut,
        low: &Expr,
        high: &Expr,
    ) -> Result<Option<Expr>, PlanError> {
        let steps = [&cut.from_stride, &cut.to_stride];
        let contiguous = steps.iter().all(|stride| stride.as_const() == Some(1))
            && [self.from, self.to].iter().all(|buffer| buffer.through.is_none());
        let blocked = self.blocks.iter().any(|(blocked, _)| *blocked == k);
        if !contiguous || blocked || *low != Expr::int(0) {
            return Ok(None);
        }
        // Between the digits of a chain that ends early a digit's end may lie before its start.
        let chain = self.transfer.cuts.iter().filter(|other| other.chain == cut.chain);
        if chain.count() > 2 && !matches!(high, Expr::Int { .. }) {
            return Ok(None);
        }
        let element = self.to.element_bits.checked_div(8).unwrap_or(1);
        let (longest, worth) = match high {
            Expr::Int { value } => (Some(i128::from(*value)), COPY),
            _ => (range(&cut.extent, self.scope).high, COPY_UNKNOWN),
        };
        if longest.is_some_and(|longest| longest.saturating_mul(element) < worth) {
            return Ok(None);
        }
        Ok(Some(multiply(high.clone(), literal(element)?)?))
    }

    /// The bounds of the last loop of a chain, as soon as all its other loops are open.
    fn early_bounds(&mut self, chain: usize, rest: &[Level]) -> Result<Vec<Stmt>, PlanError> {
        let of_chain = |level: &Level| {
            let (Level::Digit(k) | Level::Blocks(k)) = level;
            self.transfer.cuts.get(*k).filter(|cut| cut.chain == chain).map(|_| *level)
        };
        let left: Vec<Level> = rest.iter().filter_map(of_chain).collect();
        let [Level::Digit(k)] = left.as_slice() else { return Ok(Vec::new()) };
        let Some(cut) = self.transfer.cuts.get(*k) else { return Ok(Vec::new()) };
        if self.blocks.iter().any(|(blocked, _)| blocked == k) {
            return Ok(Vec::new());
        }
        let (before, bounds) = self.loop_bounds(*k, cut, &[])?;
        self.known.push((*k, bounds));
        Ok(before)
    }

    /// `offset + name * stride`.
    fn advance(&self, offset: Expr, name: &str, stride: &Algebra) -> Result<Expr, PlanError> {
        let step = multiply(Expr::name(name), lower(stride, self.scope)?)?;
        if let Expr::Int { value: 0 } = step {
            return Ok(offset);
        }
        add(offset, step)
    }

    /// A name for a partial offset that is more than a name already.
    fn partial(&mut self, prefix: &str, value: Expr) -> (Option<Stmt>, Expr) {
        if matches!(value, Expr::Name { .. } | Expr::Int { .. }) {
            return (None, value);
        }
        let name = self.namer.partial(prefix);
        let named = Expr::name(&name);
        (Some(Stmt::Let { name, value }), named)
    }

    fn store(&self, from: Expr, to: Expr) -> Stmt {
        Stmt::Store {
            buffer: self.to.name.clone(),
            index: to,
            value: Operand::Load {
                buffer: self.from.name.clone(),
                index: from,
                through: self.from.through.clone(),
            },
            through: self.to.through.clone(),
        }
    }

    /// What the bounds need, the first value, and one past the last value of digit `k`.
    fn loop_bounds(
        &mut self,
        k: usize,
        cut: &Cut,
        rest: &[Level],
    ) -> Result<(Vec<Stmt>, (Expr, Expr)), PlanError> {
        let mut before = Vec::new();
        let mut low = Expr::int(0);
        let mut high = lower(&cut.extent, self.scope)?;
        let block = self.blocks.iter().find(|(blocked, _)| *blocked == k).map(|b| b.1.clone());
        if let Some(block) = block {
            low = Expr::name(&block);
            let end = add(low.clone(), Expr::int(BLOCK))?;
            let whole = is_multiple(&cut.extent, i128::from(BLOCK), self.symbols);
            high = if whole { end } else { self.least(&mut before, cut, "end", end, high) };
        }
        let last = !rest.iter().any(|level| match level {
            Level::Digit(other) => {
                self.transfer.cuts.get(*other).is_some_and(|other| other.chain == cut.chain)
            }
            Level::Blocks(_) => false,
        });
        if last && let Some(bounds) = self.transfer.chains.get(cut.chain) {
            if self.transfer.ends_early(cut.chain, bounds, self.symbols) {
                let top = self.transfer.top_weight(cut.chain);
                let end = self.edge(cut, &bounds.high)?;
                // The most significant digit ends there; a lesser one at its own extent at the latest.
                let sure = cut.weight == top && matches!(low, Expr::Int { .. });
                high = if sure { end } else { self.least(&mut before, cut, "end", end, high) };
            }
            if bounds.starts_late() {
                let start = self.edge(cut, &bounds.low)?;
                low = self.most(&mut before, cut, "start", start, low);
            }
        }
        Ok((before, (low, high)))
    }

    /// The least value of the digit at which the chain's `m` is not below `edge`, all its other digits being known:
    /// with q, r = divmod(edge, weight) it is `q - (the digits above) + (1 if the digits below make less than r)`.
    fn edge(&self, cut: &Cut, edge: &Algebra) -> Result<Expr, PlanError> {
        let weight = Algebra::constant(cut.weight);
        let mut value = lower(&fold(BinOp::FloorDiv, edge, &weight)?, self.scope)?;
        let rest = lower(&fold(BinOp::Mod, edge, &weight)?, self.scope)?;
        let mut below = Expr::int(0);
        for (other, name) in self.transfer.cuts.iter().zip(&self.names) {
            if other.chain != cut.chain || other.weight == cut.weight || other.is_unit() {
                continue;
            }
            if other.weight > cut.weight {
                let times = other.weight.checked_div(cut.weight).ok_or(ExprError::Overflow)?;
                value = add(value, multiply(Expr::name(name), literal(-times)?)?)?;
            } else {
                below = add(below, multiply(Expr::name(name), literal(other.weight)?)?)?;
            }
        }
        if rest == Expr::int(0) {
            return Ok(value);
        }
        if below == Expr::int(0) {
            return add(value, rest.min(Expr::int(1)));
        }
        let more = Expr::Select {
            condition: Box::new(Expr::compare(Compare::Lt, below, rest)),
            then: Box::new(Expr::int(1)),
            otherwise: Box::new(Expr::int(0)),
        };
        add(value, more)
    }

    /// The smaller of two bounds, named before the loop unless it is simple.
    fn least(&mut self, before: &mut Vec<Stmt>, cut: &Cut, what: &str, a: Expr, b: Expr) -> Expr {
        let bound = a.min(b);
        self.named(before, cut, what, bound)
    }

    /// The larger of two bounds, named before the loop unless it is simple.
    fn most(&mut self, before: &mut Vec<Stmt>, cut: &Cut, what: &str, a: Expr, b: Expr) -> Expr {
        let bound = a.max(b);
        self.named(before, cut, what, bound)
    }

    fn named(&mut self, before: &mut Vec<Stmt>, cut: &Cut, what: &str, bound: Expr) -> Expr {
        if matches!(bound, Expr::Int { .. } | Expr::Name { .. }) {
            return bound;
        }
        let name = self.namer.name(&format!("{}_{what}", cut.name));
        let named = Expr::name(&name);
        before.push(Stmt::Let { name, value: bound });
        named
    }
}
