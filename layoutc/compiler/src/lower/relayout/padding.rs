//! Stores that precede the elements of a relayout: the fill value in padding, and zero in the unused bits of the last
//! byte.

use layoutc_algebra::expr::Expr as Algebra;

use crate::ir::{Expr, LoopKind, Primitive, Spelling, Stmt, Strided, Value};
use crate::loops::arith::{is_multiple, typical};
use crate::loops::error::PlanError;
use crate::loops::heuristics::parallelize::{self, Cores, Loop};
use crate::loops::relayout::digits::DigitRefinement;
use crate::loops::relayout::padding_regions::{PaddingRegion, are_worth, padding_regions};
use crate::loops::relayout::plan::Primitives;
use crate::lower::context::Context;
use crate::lower::expr::{add, literal, lower, multiply};
use crate::lower::index::whole_bytes;
use crate::lower::relayout::builder::{RelayoutBuilder, repeat_in_bytes};
use crate::lower::relayout::statement::{PaddingPolicy, RelayoutStatement};
use crate::model::{FillStrategy, Spanned};

/// Treatment of the destination's padding by a relayout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Padding {
    /// The destination has no padding, or no slots.
    None,
    /// Padding keeps its values.
    Kept,
    /// The whole destination is filled before elements are written.
    First,
    /// Only padding is filled.
    Alone,
}

impl RelayoutBuilder<'_> {
    /// Emits the stores that precede the elements: in padding, and in the unused bits of the last byte. `refinement`
    /// has the digits in common to source and destination, `None` if there are none. Returns the treatment of padding.
    ///
    /// # Errors
    /// [`PlanError::Choice`] if the manifest's `fill` cannot be followed. Any other [`PlanError`], for example if
    /// an integer does not fit 64 bits or an expression nests too deep.
    pub(crate) fn prepare_destination(
        &mut self,
        statement: &RelayoutStatement<'_>,
        refinement: Option<&DigitRefinement>,
    ) -> Result<Padding, PlanError> {
        let RelayoutStatement { destination, padding: policy, .. } = *statement;
        let chosen = statement.schedule.fill.as_ref();
        let (context, elements) = (destination.context(), &destination.slots()?);
        let symbol = |var| context.symbol(var);
        let buffer = self.buffer_name(1);
        if elements.as_const() == Some(0) {
            return Ok(Padding::None);
        }
        if let Some(chosen) = chosen.filter(|_| policy != PaddingPolicy::Fill) {
            return Err(no_fill(context, chosen, policy));
        }
        let padding = match policy {
            PaddingPolicy::Fill => Padding::First,
            PaddingPolicy::Kept => Padding::Kept,
            PaddingPolicy::Zero => Padding::None,
        };
        if policy == PaddingPolicy::Fill {
            if let Some(padding_regions) =
                self.padding_regions(context, elements, refinement, chosen)?
            {
                self.fill_padding_regions(context, &buffer, &padding_regions)?;
                return Ok(Padding::Alone);
            }
            let bits = fill_bits(context)?;
            let bytes = crate::lower::index::buffer_bytes(context, elements)?;
            let cores = self.cores_for(context, &bytes);
            if bits == 0 && cores == Cores::One {
                let bytes = lower(&bytes, &symbol)?;
                let index = Expr::int(0);
                self.function.body.push(Primitive::Zero { buffer, index, bytes }.into());
            } else if context.is_packed() {
                let to = lower(&bytes, &symbol)?;
                let values = repeat_in_bytes(bits, context.packing());
                let step = i64::try_from(values.len()).unwrap_or(1);
                for (from, value) in (0..).zip(values) {
                    let range = [Expr::int(from), to.clone()];
                    self.byte_loop(buffer.clone(), (range, step), value, cores);
                }
            } else {
                let to = lower(elements, &symbol)?;
                self.fill_loop(context, buffer, to, cores)?;
            }
        } else if policy == PaddingPolicy::Zero && destination.is_packed() {
            let (several, _) = context.tensor.dtype.byte_group();
            if !is_multiple(elements, several.into(), context.layout.symbols()) {
                let (whole, all) = whole_bytes(context, elements)?;
                let (from, to) = (lower(&whole, &symbol)?, lower(&all, &symbol)?);
                if matches!((&from, &to), (Expr::Int { .. }, Expr::Int { .. })) {
                    self.function.body.push(Stmt::StoreByte { buffer, index: from, value: 0 });
                } else {
                    self.byte_loop(buffer, ([from, to], 1), 0, Cores::One);
                }
            }
        }
        Ok(padding)
    }

    /// Padding regions of a destination of `elements` slots, if only these are filled; `None` if the whole destination
    /// is filled first. `chosen` is the manifest's choice, `None` if the planner chooses.
    ///
    /// # Errors
    /// [`PlanError::Choice`] if the manifest chooses to fill only padding, and the padding regions are unknown, on a
    /// target with primitives.
    fn padding_regions(
        &self,
        context: &Context<'_>,
        elements: &Algebra,
        refinement: Option<&DigitRefinement>,
        chosen: Option<&Spanned<FillStrategy>>,
    ) -> Result<Option<Vec<PaddingRegion>>, PlanError> {
        let time = chosen.map(|chosen| chosen.value);
        if self.options.primitives != Primitives::Runtime || time == Some(FillStrategy::WholeFirst)
        {
            return Ok(None);
        }
        let found = match (refinement, elements.as_const()) {
            (Some(refinement), Some(slots)) if !context.is_packed() => {
                padding_regions(refinement, slots)
            }
            _ => None,
        };
        match (found, chosen) {
            (Some(found), None) => {
                let bytes = context.bits() / 8;
                let slots = elements.as_const().unwrap_or(0);
                Ok(are_worth(&found, slots, bytes).then_some(found))
            }
            (None, Some(chosen)) => Err(PlanError::Choice {
                message: "padding cannot be written alone: it is not where a digit runs past an extent known now".into(),
                help: "write `fill first`, or leave it out".into(),
                place: chosen.place.clone(),
            }),
            (found, _) => Ok(found),
        }
    }

    /// Emits loops, or calls for a fill value of 0, that fill only the padding regions of the destination `buffer`.
    fn fill_padding_regions(
        &mut self,
        context: &Context<'_>,
        buffer: &str,
        padding_regions: &[PaddingRegion],
    ) -> Result<(), PlanError> {
        let fill = match fill_bits(context)? {
            0 => None,
            _ => Some(self.namer.name("fill")),
        };
        if let (Some(fill), false) = (&fill, padding_regions.is_empty()) {
            self.function.body.push(fill_constant(context, fill)?);
        }
        for region in padding_regions {
            let mut namer = self.namer.clone();
            // One call zeroes all runs of the innermost loop.
            let called = usize::from(fill.is_none());
            let loops = region.loops.len().saturating_sub(called);
            let loops = region.loops.get(..loops).unwrap_or_default();
            let names: Vec<String> = loops.iter().map(|rounds| namer.name(&rounds.name)).collect();
            let mut slot = Expr::int(0);
            for (rounds, name) in loops.iter().zip(&names) {
                slot = add(slot, multiply(Expr::name(name), literal(rounds.stride)?)?)?;
            }
            slot = add(slot, literal(region.start)?)?;
            let mut body = match &fill {
                None => vec![zero_runs(buffer, slot, region, context.bits() / 8)?],
                Some(fill) => {
                    let name = namer.name("slot");
                    let index = add(slot, Expr::name(&name))?;
                    let value = Value::Name { name: fill.clone() };
                    let buffer = buffer.to_owned();
                    let body = vec![Stmt::Store { buffer, index, value, through: None }];
                    vec![rounds(name, literal(region.run)?, body)]
                }
            };
            for (round, name) in loops.iter().zip(names).rev() {
                body = vec![rounds(name, literal(round.count)?, body)];
            }
            self.function.body.extend(body);
        }
        Ok(())
    }

    /// Threads for a loop that writes `bytes` bytes of the destination: only the calling thread if there is too little
    /// work.
    fn cores_for(&self, context: &Context<'_>, bytes: &Algebra) -> Cores {
        let bytes = typical(bytes, context.layout.symbols());
        let rounds = Loop { least: bytes, typical: bytes, is_disjoint: true };
        match parallelize::choose(&[rounds], 8) {
            Some(_) => self.options.cores,
            None => Cores::One,
        }
    }

    /// Emits a loop on the threads `cores` that stores `value` in every `step`-th byte of `from..to`.
    fn byte_loop(
        &mut self,
        buffer: String,
        ([from, to], step): ([Expr; 2], i64),
        value: u8,
        cores: Cores,
    ) {
        let name = self.namer.name("byte");
        let index = Expr::name(&name);
        let body = vec![Stmt::StoreByte { buffer, index, value }];
        self.function.body.push(Stmt::For { name, from, to, step, kind: cores.kind(), body });
    }

    fn fill_loop(
        &mut self,
        context: &Context<'_>,
        buffer: String,
        to: Expr,
        cores: Cores,
    ) -> Result<(), PlanError> {
        let fill = self.namer.name("fill");
        let name = self.namer.name("slot");
        self.function.body.push(fill_constant(context, &fill)?);
        let body = vec![Stmt::Store {
            buffer,
            index: Expr::name(&name),
            value: Value::Name { name: fill },
            through: None,
        }];
        let (from, kind) = (Expr::int(0), cores.kind());
        self.function.body.push(Stmt::For { name, from, to, step: 1, kind, body });
        Ok(())
    }
}

/// Call that zeroes the runs of the innermost loop of a padding region, the first of which begins at `slot`; one run if
/// the region has no loop.
fn zero_runs(
    buffer: &str,
    slot: Expr,
    region: &PaddingRegion,
    element_bytes: i128,
) -> Result<Stmt, PlanError> {
    let bytes = region.run.saturating_mul(element_bytes);
    let (to, bytes) = (buffer.to_owned(), literal(bytes)?);
    let Some(rounds) = region.loops.last() else {
        return Ok(Primitive::Zero { buffer: to, index: slot, bytes }.into());
    };
    let primitive = Primitive::ZeroRuns {
        to: Strided {
            buffer: to,
            index: slot,
            stride: literal(rounds.stride.saturating_mul(element_bytes))?,
        },
        count: literal(rounds.count)?,
        bytes,
    };
    Ok(primitive.into())
}

/// Serial loop `for (name = 0; name < to; name++)` around `body`.
fn rounds(name: String, to: Expr, body: Vec<Stmt>) -> Stmt {
    Stmt::For { name, from: Expr::int(0), to, step: 1, kind: LoopKind::Serial, body }
}

/// Bits of the fill value of the tensor, as `base::fill::bits` returns them: those of one scalar of its element type;
/// for a record of more than 8 bytes, 0 only if all its bits are 0.
///
/// # Errors
/// [`PlanError::Scope`] if the element type cannot represent the fill value.
pub(crate) fn fill_bits(context: &Context<'_>) -> Result<u64, PlanError> {
    crate::base::fill::bits(context.tensor.dtype, context.tensor.fill).map_err(|_| PlanError::Scope)
}

/// Declaration of the constant `name` with the fill value of the tensor, of its element type.
///
/// # Errors
/// [`PlanError::Scope`] if the element type cannot represent the fill value.
pub(crate) fn fill_constant(context: &Context<'_>, name: &str) -> Result<Stmt, PlanError> {
    let dtype = context.tensor.dtype;
    let bytes =
        crate::base::fill::bytes(dtype, context.tensor.fill).map_err(|_| PlanError::Scope)?;
    Ok(Stmt::LetElement { name: name.to_owned(), dtype, bytes, spelling: Spelling::Number })
}

fn no_fill(
    context: &Context<'_>,
    chosen: &Spanned<FillStrategy>,
    policy: PaddingPolicy,
) -> PlanError {
    let message = match policy {
        PaddingPolicy::Kept if context.tensor.owner.is_some() => {
            "the destination is a view: elements outside of it keep their values"
        }
        PaddingPolicy::Kept => {
            "padding of the destination is not written: its layout says `fill none`"
        }
        PaddingPolicy::Fill | PaddingPolicy::Zero => "the destination has no padding",
    };
    let (help, place) = ("leave it out".into(), chosen.place.clone());
    PlanError::Choice { message: message.into(), help, place }
}
