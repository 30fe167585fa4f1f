//! Start of a tile, and guards for those of its positions that are elements or slots.

use layoutc_algebra::expr::Expr as Algebra;

use crate::ir::{Compare, Expr, Stmt};
use crate::loops::arith::{is_multiple, product, sum};
use crate::loops::error::PlanError;
use crate::loops::gpu_relayout::digits::{Digit, Digits};
use crate::loops::gpu_relayout::schedule::TileSchedule;
use crate::lower::expr::{add, literal, lower, multiply};
use crate::lower::gpu_relayout::body::TileLowering;

/// Guard on the digits inside a tile: the sum of `digit * weight` over the pairs of `terms`, compared by `op` with
/// `limit`.
#[derive(Clone)]
pub(crate) struct Guard {
    pub(crate) terms: Vec<(usize, Expr)>,
    pub(crate) op: Compare,
    pub(crate) limit: Expr,
    /// True if positions that violate the guard are neither elements nor slots of the destination.
    pub(crate) of_slots: bool,
}

impl TileLowering<'_, '_> {
    /// Pair of the statements that compute the start of the tile whose number is the variable `tile`, and of the first
    /// value of each digit in it. Sets `places` and `steps`.
    pub(crate) fn starts(&mut self, tile: &str) -> Result<(Vec<Stmt>, Vec<Expr>), PlanError> {
        let mut body = Vec::new();
        let mut starts = vec![Expr::int(0); self.schedule.digits.list.len()];
        let mut below = Algebra::constant(1);
        let TileSchedule { tile: own, counts, .. } = self.schedule;
        let several = |k: &(usize, &Algebra)| k.1.as_const() != Some(1);
        let order = own.by_to.iter().filter_map(|k| Some((*k, counts.get(*k)?))).filter(several);
        let order: Vec<(usize, &Algebra)> = order.collect();
        for (place, (k, blocks)) in order.iter().enumerate() {
            let mut value = Expr::name(tile);
            if below.as_const() != Some(1) {
                let below = lower(&below, self.scope)?;
                value = Expr::Div { a: Box::new(value), b: Box::new(below) };
            }
            if place + 1 < order.len() {
                let blocks = lower(blocks, self.scope)?;
                value = Expr::Mod { a: Box::new(value), b: Box::new(blocks) };
            }
            value = multiply(value, Expr::int(own.block(*k)))?;
            let name = self.names.get(*k).cloned().unwrap_or_default();
            let name = self.builder.local(&format!("{name}_start"));
            if let Some(start) = starts.get_mut(*k) {
                *start = Expr::name(&name);
            }
            body.push(Stmt::Let { name, value });
            below = product(&below, blocks)?;
        }
        self.places = self.first_places(&starts, &mut body)?;
        let strides: [fn(&Digit) -> &Algebra; 2] = [|digit| &digit.from, |digit| &digit.to];
        for stride in strides {
            let steps =
                self.schedule.digits.list.iter().map(|digit| lower(stride(digit), self.scope));
            let steps = steps.enumerate().map(|(k, step)| Ok((k, step?)));
            let steps = self.steps(steps.collect::<Result<_, PlanError>>()?, &mut body);
            self.steps.push(steps);
        }
        Ok((body, starts))
    }

    /// Offsets of the tile's first element in the source and in the destination, in words, from the first values
    /// `starts` of the digits; appends their declarations to `body`.
    fn first_places(&self, starts: &[Expr], body: &mut Vec<Stmt>) -> Result<Vec<Expr>, PlanError> {
        let mut places = Vec::new();
        let constants = [&self.schedule.digits.from, &self.schedule.digits.to];
        for ((which, constant), name) in constants.into_iter().enumerate().zip(&self.starts) {
            let mut value = Expr::int(0);
            for (digit, start) in self.schedule.digits.list.iter().zip(starts) {
                let stride = if which == 0 { &digit.from } else { &digit.to };
                value = add(value, multiply(start.clone(), lower(stride, self.scope)?)?)?;
            }
            value = add(value, lower(constant, self.scope)?)?;
            if !matches!(value, Expr::Int { .. } | Expr::Name { .. }) {
                body.push(Stmt::Let { name: name.clone(), value });
                value = Expr::name(name);
            }
            places.push(value);
        }
        Ok(places)
    }

    /// True if the last tile along digit `k` may be partial.
    fn breaks_off(&self, k: usize, digit: &Digit) -> bool {
        !is_multiple(&digit.room, i128::from(self.schedule.tile.block(k)), self.symbols)
    }

    /// Guards for positions of the tile that are elements; all must hold. `starts` are the first values of the digits
    /// in the tile. Appends declarations to `body`.
    pub(crate) fn elements(
        &mut self,
        starts: &[Expr],
        body: &mut Vec<Stmt>,
    ) -> Result<Vec<Guard>, PlanError> {
        let mut bounds = Vec::new();
        let digits = &self.schedule.digits;
        for (k, digit) in digits.list.iter().enumerate() {
            if digit.lead > 0 {
                let (lead, name) = (literal(digit.lead)?, format!("{}_lead", digit.name));
                let bound = Guard::new(vec![(k, Expr::int(1))], Compare::Ge, lead);
                bounds.push(self.inside(bound, &name, starts, body)?);
            }
            // The end of a chain bounds its most significant digit.
            let padded = digit.room != digit.extent;
            if !self.ends_with_chain(digit) && (padded || self.breaks_off(k, digit)) {
                let end = sum(&digit.extent, &Algebra::constant(digit.lead))?;
                let (end, name) = (lower(&end, self.scope)?, format!("{}_end", digit.name));
                let bound = Guard::new(vec![(k, Expr::int(1))], Compare::Lt, end);
                let bound = Guard { of_slots: !padded, ..bound };
                bounds.push(self.inside(bound, &name, starts, body)?);
            }
        }
        for (c, chain) in digits.chains.iter().enumerate() {
            let of_chain = digits.list.iter().enumerate().filter(|(_, d)| d.chain == c);
            let Some((_, top)) = of_chain.clone().max_by_key(|(_, digit)| digit.weight) else {
                continue;
            };
            let terms = of_chain.map(|(k, digit)| Ok((k, literal(digit.weight)?)));
            let terms = terms.collect::<Result<Vec<_>, PlanError>>()?;
            let sides = [(&chain.high, Compare::Lt, "limit"), (&chain.low, Compare::Ge, "begin")];
            for (edge, op, what) in sides {
                if let Some(edge) = edge {
                    let bound = Guard::new(terms.clone(), op, lower(edge, self.scope)?);
                    let name = format!("{}_{what}", top.name);
                    bounds.push(self.inside(bound, &name, starts, body)?);
                }
            }
        }
        Ok(bounds)
    }

    /// True if the digit is the most significant one of a chain whose elements end before the digits do, so that the
    /// guard of the chain bounds it.
    fn ends_with_chain(&self, digit: &Digit) -> bool {
        let Digits { list, chains, .. } = &self.schedule.digits;
        let ends = chains.get(digit.chain).is_some_and(|chain| chain.high.is_some());
        // The weight of a digit of joined words may equal that of the next digit.
        let above = |other: &Digit| {
            other.chain == digit.chain
                && other.weight >= digit.weight
                && !std::ptr::eq(other, digit)
        };
        ends && !list.iter().any(above)
    }

    /// Guards for positions of the tile that are slots; all must hold. They include those of `elements` that hold for
    /// slots too. `starts` are the first values of the digits in the tile. Appends declarations to `body`.
    pub(crate) fn slots(
        &mut self,
        elements: &[Guard],
        starts: &[Expr],
        body: &mut Vec<Stmt>,
    ) -> Result<Vec<Guard>, PlanError> {
        let mut bounds: Vec<Guard> = elements.iter().filter(|b| b.of_slots).cloned().collect();
        let digits = &self.schedule.digits;
        for (k, digit) in digits.list.iter().enumerate() {
            let known = bounds.iter().any(|bound| bound.terms == [(k, Expr::int(1))]);
            if self.breaks_off(k, digit) && !known {
                let (room, name) =
                    (lower(&digit.room, self.scope)?, format!("{}_room", digit.name));
                let bound = Guard::new(vec![(k, Expr::int(1))], Compare::Lt, room);
                bounds.push(self.inside(bound, &name, starts, body)?);
            }
        }
        if let Some(end) = &digits.end {
            let step = |(k, digit): (usize, &Digit)| Some((k, literal(digit.to.as_const()?)));
            let terms = digits.list.iter().enumerate().filter_map(step);
            let terms = terms.map(|(k, step)| Ok((k, step?))).collect::<Result<_, PlanError>>()?;
            let bound = Guard::new(terms, Compare::Lt, lower(end, self.scope)?);
            bounds.push(self.inside(bound, "slots_end", starts, body)?);
        }
        Ok(bounds)
    }

    /// Guard on whole digits, rewritten for their values inside the tile: the contribution of `starts`, the first
    /// values of the digits, moves to the limit. The limit is declared as `name` in `body` unless it is a name or a
    /// constant.
    fn inside(
        &mut self,
        bound: Guard,
        name: &str,
        starts: &[Expr],
        body: &mut Vec<Stmt>,
    ) -> Result<Guard, PlanError> {
        let mut left = bound.limit;
        for (k, weight) in &bound.terms {
            let start = starts.get(*k).cloned().unwrap_or(Expr::int(0));
            left = add(left, multiply(multiply(start, weight.clone())?, Expr::int(-1))?)?;
        }
        if !matches!(left, Expr::Int { .. } | Expr::Name { .. }) {
            let name = self.builder.local(name);
            body.push(Stmt::Let { name: name.clone(), value: left });
            left = Expr::name(&name);
        }
        let terms = self.steps(bound.terms, body);
        Ok(Guard { limit: left, terms, ..bound })
    }
}

impl Guard {
    fn new(terms: Vec<(usize, Expr)>, op: Compare, limit: Expr) -> Self {
        Self { terms, op, limit, of_slots: false }
    }
}
