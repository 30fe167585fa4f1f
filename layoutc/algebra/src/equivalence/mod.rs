//! Are two proven layouts one map, however each was written?
//!
//! The normal forms are compared first, which holds for all values of symbols. What is left of their difference is cut
//! into parts that share no axis; each is read as digits, or visited. It does not permute axes: the caller does, by name.

mod difference;

use alloc::string::String;
use alloc::vec::Vec;

use thiserror::Error;

use crate::expr::{Expr, ExprError, Predicate, Var};
use crate::layout::{Layout, Symbol};
use crate::locate::{ElementLocation, ElementLocationError};
use crate::proof::{Executor, MAX_POINTS, value_of};
use crate::simplify::Facts;
use crate::symbol_values::samples;
use difference::{DifferenceResult, DifferenceScope, decide_within};

/// Points that are visited for one value of the symbols.
const SAMPLE_POINTS: i128 = 1 << 22;

/// What a comparison gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LayoutEquivalence {
    /// Every element has one physical index and one offset in both.
    Same {
        /// Whether the physical shapes and the flat buffers have one size too.
        equal_sizes: bool,
    },
    /// Some element has not.
    Differs {
        /// Its logical index: the first in row-major order, where no symbol has a say.
        logical: Vec<i128>,
        /// The values of the symbols for which it is, by name.
        symbols: Vec<(String, i128)>,
        /// Where the first layout puts it.
        first: ElementLocation,
        /// Where the second one does.
        second: ElementLocation,
    },
    /// The physical ranks differ: no index of one is an index of the other.
    Ranks {
        /// That of the first layout.
        first: usize,
        /// That of the second one.
        second: usize,
    },
    /// Neither was found.
    Undecided {
        /// The elements that would have to be visited; `None` when that depends on a symbol.
        points: Option<i128>,
    },
}

/// Why two layouts cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CompareError {
    /// The numbers of logical axes differ.
    #[error("{first} axes and {second}")]
    Rank {
        /// That of the first layout.
        first: usize,
        /// That of the second one.
        second: usize,
    },
    /// The extents of an axis differ, or may for some symbol.
    #[error("the extents of axis {axis} differ")]
    Extent {
        /// Its position.
        axis: usize,
    },
    /// The domains are not written as the same conditions.
    #[error("the conditions on their elements differ")]
    Domain,
    /// A symbol of which the layouts know different things.
    #[error("the symbol `{name}` of one is not that of the other")]
    Symbol {
        /// Its name.
        name: String,
    },
    /// Too large, or beyond the integers.
    #[error(transparent)]
    Expr(#[from] ExprError),
}

/// Whether two layouts of the same axes, matched by position, are one map.
///
/// # Errors
/// [`CompareError`].
pub fn compare(
    first: &Layout,
    second: &Layout,
    machine: &dyn Executor,
) -> Result<LayoutEquivalence, CompareError> {
    if first.logical.len() != second.logical.len() {
        let (first, second) = (first.logical.len(), second.logical.len());
        return Err(CompareError::Rank { first, second });
    }
    let mut symbols = first.symbols.clone();
    let (a, b) = (
        ComparisonOperand::new(first, &mut symbols)?,
        ComparisonOperand::new(second, &mut symbols)?,
    );
    let bare = Facts::new(&symbols);
    for (axis, (a, b)) in a.extents.iter().zip(&b.extents).enumerate() {
        if !bare.proves_eq(a, b)? {
            return Err(CompareError::Extent { axis });
        }
    }
    if !same_domain(&a.within, &b.within, &bare)? {
        return Err(CompareError::Domain);
    }
    let within = a.within;
    let (ranks, extents) = ((first.physical_map.len(), second.physical_map.len()), a.extents);
    if ranks.0 != ranks.1 {
        return Ok(LayoutEquivalence::Ranks { first: ranks.0, second: ranks.1 });
    }
    let pairs: Vec<(Expr, Expr)> = a.targets.into_iter().zip(b.targets).collect();
    let facts = with_extents(&symbols, &extents)?;
    let scope = DifferenceScope { extents: &extents, facts: &facts, most: MAX_POINTS, machine };
    let mut values = Vec::new();
    let mut found = decide_within(&pairs, &within, scope)?;
    let is_symbolic = |expr: &Expr| expr.mentions(&|var| matches!(var, Var::Symbol(_)));
    let mut all = pairs.iter().flat_map(|(a, b)| [a, b]).chain(&extents);
    if !matches!(found, DifferenceResult::Equal) && all.any(is_symbolic) {
        found = DifferenceResult::Undecided(None);
        for sample in samples(&symbols, &extents) {
            let sampled = at_values((&pairs, &within), &extents, &sample, machine)?;
            if matches!(sampled, DifferenceResult::First(_)) {
                (found, values) = (sampled, sample);
                break;
            }
        }
    }
    Ok(match found {
        DifferenceResult::Equal => {
            let mut equal_sizes = true;
            for (a, b) in a.sizes.iter().zip(&b.sizes) {
                equal_sizes &= bare.proves_eq(a, b)?;
            }
            LayoutEquivalence::Same { equal_sizes }
        }
        DifferenceResult::Undecided(points) => LayoutEquivalence::Undecided { points },
        DifferenceResult::First(logical) => {
            let place = |layout: &Layout, symbols: &[usize]| {
                let own: Vec<i128> =
                    symbols.iter().filter_map(|k| values.get(*k).copied()).collect();
                layout.locate(&logical, &own).map_err(expr_error)
            };
            let (first, second) = (place(first, &a.symbols)?, place(second, &b.symbols)?);
            let named = |(symbol, value): (&Symbol, &i128)| (symbol.name.clone(), *value);
            let symbols = symbols.iter().zip(&values).map(named).collect();
            LayoutEquivalence::Differs { logical, symbols, first, second }
        }
    })
}

/// What of a layout is compared, over the symbols of both.
struct ComparisonOperand {
    /// Where its own symbols stand in those of both.
    symbols: Vec<usize>,
    extents: Vec<Expr>,
    /// At least 0 on elements.
    within: Vec<Expr>,
    /// The physical index, and the offset.
    targets: Vec<Expr>,
    /// The physical shape, and the slots of the flat buffer.
    sizes: Vec<Expr>,
}

impl ComparisonOperand {
    /// Adds the layout's symbols to `all`.
    fn new(layout: &Layout, all: &mut Vec<Symbol>) -> Result<Self, CompareError> {
        let mut symbols = Vec::new();
        for own in &layout.symbols {
            let known = all.iter().position(|symbol| symbol.name == own.name);
            if known.and_then(|k| all.get(k)).is_some_and(|symbol| symbol != own) {
                return Err(CompareError::Symbol { name: own.name.clone() });
            }
            symbols.push(known.unwrap_or(all.len()));
            if known.is_none() {
                all.push(own.clone());
            }
        }
        let rename = |expr: &Expr| {
            expr.substitute(&|var| match var {
                Var::Symbol(k) => {
                    let k = symbols.get(usize::try_from(k).ok()?)?;
                    u32::try_from(*k).ok().map(|k| Expr::var(Var::Symbol(k)))
                }
                _ => None,
            })
        };
        let with = |exprs: &[Expr], last: &Expr| {
            exprs.iter().chain([last]).map(rename).collect::<Result<Vec<_>, _>>()
        };
        let extents = layout.logical.iter().map(|axis| rename(&axis.extent));
        let within = layout.domain.as_ref().map(Predicate::margins).transpose()?;
        Ok(Self {
            within: within.iter().flatten().map(rename).collect::<Result<_, _>>()?,
            extents: extents.collect::<Result<_, _>>()?,
            targets: with(&layout.physical_map, &layout.offset)?,
            sizes: with(&layout.physical_shape, &layout.physical_elements)?,
            symbols,
        })
    }
}

/// The index is inside: nothing but an expression can fail.
fn expr_error(error: ElementLocationError) -> ExprError {
    match error {
        ElementLocationError::Expr(error) => error,
        ElementLocationError::Rank { .. }
        | ElementLocationError::OutOfBounds { .. }
        | ElementLocationError::NoElement => ExprError::Unbound,
    }
}

/// Whether two domains are the same conditions, in any order.
fn same_domain(a: &[Expr], b: &[Expr], bare: &Facts) -> Result<bool, ExprError> {
    let normal = |margins: &[Expr]| {
        let all = margins.iter().map(|margin| bare.normalize(margin));
        let mut all = all.collect::<Result<Vec<_>, ExprError>>()?;
        all.sort();
        all.dedup();
        Ok::<_, ExprError>(all)
    };
    Ok(normal(a)? == normal(b)?)
}

fn with_extents(symbols: &[Symbol], extents: &[Expr]) -> Result<Facts, ExprError> {
    let mut facts = Facts::new(symbols);
    for (k, extent) in (0_u32..).zip(extents) {
        facts.set_extent(Var::Axis(k), extent)?;
    }
    Ok(facts)
}

/// What is found for these values of the symbols.
fn at_values(
    (pairs, within): (&[(Expr, Expr)], &[Expr]),
    extents: &[Expr],
    values: &[i128],
    machine: &dyn Executor,
) -> Result<DifferenceResult, ExprError> {
    let fix = |expr: &Expr| {
        expr.substitute(&|var| match var {
            Var::Symbol(_) => value_of(var, &[], values).map(Expr::constant),
            _ => None,
        })
    };
    let bare = Facts::default();
    let extents: Vec<Expr> =
        extents.iter().map(|e| bare.simplify(&fix(e)?)).collect::<Result<_, ExprError>>()?;
    let facts = with_extents(&[], &extents)?;
    let pairs: Vec<(Expr, Expr)> =
        pairs.iter().map(|(a, b)| Ok((fix(a)?, fix(b)?))).collect::<Result<_, ExprError>>()?;
    let within: Vec<Expr> = within.iter().map(fix).collect::<Result<_, ExprError>>()?;
    let scope = DifferenceScope { extents: &extents, facts: &facts, most: SAMPLE_POINTS, machine };
    decide_within(&pairs, &within, scope)
}
