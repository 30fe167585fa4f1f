//! In which order the loops of a statement go, and which of them are inside the reduction.

use layoutc_algebra::expr::ExprError;

use super::super::image::LANES;
use super::super::lower::PlanError;
use super::Runs;
use super::domain::Domain;
use super::vectors::{Reads, Registers, by_memory, inner_loops};
use crate::diagnostic::Place;
use crate::model::Chosen;
use crate::model::compute::Schedule;

/// The most elements that are put together at once.
const MOST_AT_ONCE: i128 = 4096;

/// What may be put together at once, where the manifest leaves that to the planner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AtOnce {
    /// The elements of vectors, each of so many `lanes`, that stay in these registers.
    Vectors { lanes: i128, registers: Registers },
    /// One element.
    One,
    /// Those of a texel, in any case.
    Texel,
}

impl AtOnce {
    /// What does well for those who run the loops, where values are put together in elements of so many bits.
    pub(super) fn of(runs: Runs, bits: u32) -> Self {
        match runs {
            Runs::OnCores(registers) => Self::Vectors { lanes: registers.lanes(bits), registers },
            Runs::OnItems => Self::One,
        }
    }
}

/// Loops in their order, outermost first.
#[derive(Debug, Clone)]
pub(super) struct Order {
    /// The loops by number.
    pub(super) loops: Vec<usize>,
    /// Where the first reduced loop is; the number of loops where there is none. Loops after it that are not reduced go
    /// over elements that are put together at once.
    pub(super) first_reduced: usize,
}

impl Order {
    /// The loops as the manifest orders them, or else in physical order with the reduced ones innermost; but the fastest loop
    /// inside those, where all that is read follows it.
    ///
    /// # Errors
    /// [`PlanError::Choice`] where the manifest's order cannot be followed.
    pub(super) fn new(
        domain: &mut Domain,
        schedule: &Schedule,
        reads: Reads<'_>,
        at_once: AtOnce,
        place: &Place,
    ) -> Result<Self, PlanError> {
        if at_once == AtOnce::Texel {
            return Ok(Self::texels(domain)?);
        }
        let mut tiles = Vec::new();
        for split in &schedule.splits {
            let Some(number) = domain.find(&split.axis.value) else { continue };
            let [_, inner] = domain.split(number, split.by)?;
            if split.is_tile {
                tiles.push(inner);
            }
        }
        let vectorized = schedule.vectorize.as_ref().and_then(|name| domain.find(&name.value));
        tiles.extend(vectorized.filter(|number| !tiles.contains(number)));
        let mut loops: Vec<usize> =
            schedule.loops.iter().filter_map(|name| domain.find(&name.value)).collect();
        let is_chosen = !loops.is_empty();
        if !is_chosen {
            loops = Self::planned(domain, &tiles, reads, at_once, &schedule.parallel)?;
        }
        // Loops of one round need no name in `loops`; any other that is not there is innermost.
        let left: Vec<usize> = domain.live.iter().copied().filter(|k| !loops.contains(k)).collect();
        loops.extend(left);
        let first = loops.iter().position(|k| domain.is_reduced(*k));
        let order = Self { first_reduced: first.unwrap_or(loops.len()), loops };
        order.check(domain, schedule, place)?;
        Ok(order)
    }

    fn planned(
        domain: &mut Domain,
        tiles: &[usize],
        reads: Reads<'_>,
        at_once: AtOnce,
        parallel: &[Chosen<String>],
    ) -> Result<Vec<usize>, ExprError> {
        let is_tile = |k: &usize| tiles.contains(k);
        let (mut reduced, written): (Vec<usize>, Vec<usize>) =
            domain.live.iter().partition(|k| domain.is_reduced(**k));
        let (mut inner, mut outer): (Vec<usize>, Vec<usize>) =
            written.iter().partition(|k| is_tile(k));
        if let AtOnce::Vectors { lanes, registers } = at_once {
            if inner.is_empty() && !reduced.is_empty() {
                let is_held = |domain: &Domain, number: &usize| domain.is_among(*number, parallel);
                let as_it_was = (domain.clone(), outer.clone());
                inner = inner_loops(domain, &mut outer, reads, (lanes, registers))?;
                // Rounds that cores share stay outside.
                if inner.iter().any(|number| is_held(&as_it_was.0, number)) {
                    (*domain, outer) = as_it_was;
                    let (held, mut others): (Vec<usize>, Vec<usize>) =
                        outer.iter().partition(|number| is_held(domain, number));
                    inner = inner_loops(domain, &mut others, reads, (lanes, registers))?;
                    outer = [held, others].concat();
                }
            }
            reduced = by_memory(domain, &reduced, reads)?;
        }
        Ok(outer.into_iter().chain(reduced).chain(inner).collect())
    }

    /// The loops of a kernel that writes an image: the four elements of a texel are innermost.
    fn texels(domain: &mut Domain) -> Result<Self, ExprError> {
        let (reduced, mut written): (Vec<usize>, Vec<usize>) =
            domain.live.iter().partition(|k| domain.is_reduced(**k));
        let mut inner = Vec::new();
        if let Some(last) = written.pop() {
            let lanes = i128::from(LANES);
            if domain.rounds(last) == Some(lanes) {
                inner.push(last);
            } else {
                let [first, second] = domain.split(last, i64::from(LANES))?;
                written.push(first);
                inner.push(second);
            }
        }
        let first_reduced = written.len();
        let loops = written.into_iter().chain(reduced).chain(inner).collect();
        Ok(Self { loops, first_reduced })
    }

    /// Where the loop of this name is.
    pub(super) fn place(&self, domain: &Domain, name: &str) -> Option<usize> {
        let number = domain.find(name)?;
        self.loops.iter().position(|other| *other == number)
    }

    /// The loops over elements that are put together at once.
    pub(super) fn at_once<'a>(&'a self, domain: &'a Domain) -> impl Iterator<Item = usize> + 'a {
        let inside = self.loops.get(self.first_reduced..).unwrap_or_default();
        inside.iter().copied().filter(|k| !domain.is_reduced(*k))
    }

    fn check(&self, domain: &Domain, schedule: &Schedule, place: &Place) -> Result<(), PlanError> {
        let mut elements = 1_i128;
        for number in self.at_once(domain) {
            let name = domain.loops.get(number).map_or("", |found| &found.name);
            let chosen = schedule.loops.iter().find(|chosen| chosen.value == name);
            let place = chosen.map_or(place, |chosen| &chosen.place);
            let Some(rounds) = domain.rounds(number) else {
                let message = format!(
                    "`{name}` is inside a reduction, and how many rounds it has is not known before"
                );
                let help = format!("put it before the reduced loops, or `split {name} by=8`");
                return Err(refused(message, help, place));
            };
            elements = elements.saturating_mul(rounds);
            if elements > MOST_AT_ONCE {
                let message = format!(
                    "the loops inside the reduction go over {elements} elements, and at most {MOST_AT_ONCE} are put together at once"
                );
                let help = format!("put `{name}` before the reduced loops, or split it");
                return Err(refused(message, help, place));
            }
        }
        for Chosen { value, place } in &schedule.parallel {
            let at = domain.find(value).and_then(|k| self.loops.iter().position(|l| *l == k));
            if at.is_some_and(|at| at >= self.first_reduced) {
                let message = format!("`{value}` is inside the reduction: its rounds share a sum");
                let help = format!("put `{value}` before the reduced loops");
                return Err(refused(message, help, place));
            }
        }
        Ok(())
    }
}

fn refused(message: String, help: String, place: &Place) -> PlanError {
    PlanError::Choice { message, help, place: place.clone() }
}
