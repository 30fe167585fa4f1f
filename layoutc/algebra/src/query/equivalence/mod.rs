//! Comparison of proven layouts: [`compare`] decides whether two layouts are the same map, regardless of how each is
//! written.
//!
//! Normal forms are compared first, for all values of the symbols. If they differ, the difference is split into terms
//! that share no axis, and each term is decomposed into mixed-radix digits, or enumerated. Axes are matched by
//! position: a caller that matches axes by name permutes the layouts first.

mod difference;

use alloc::string::String;
use alloc::vec::Vec;

use thiserror::Error;

use crate::expr::{Expr, ExprError, Predicate, Var};
use crate::layout::Layout;
use crate::layout::symbol_values::samples;
use crate::normal_form::simplify::Facts;
use crate::prove::{Executor, MAX_POINTS, value_of};
use crate::query::locate::{ElementLocation, ElementLocationError};
use crate::symbol::Symbol;
use difference::{DifferenceResult, DifferenceScope, decide_within};

/// Maximum number of points (index tuples) of one enumeration at an assignment of values to the symbols. If a term of
/// the difference of two expressions has more points, only its first points are searched. If the whole shape of a
/// layout with a domain has more points, none is searched.
const SAMPLE_POINTS: i128 = 1 << 22;

/// Result of comparing two layouts by the physical indices and the offset of every element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LayoutEquivalence {
    /// Every element has the same physical indices and the same offset in the two layouts.
    Same {
        /// True if the physical extents and the numbers of slots of the flat buffers are proven equal, too.
        equal_sizes: bool,
    },
    /// An element has different physical indices or offsets in the two layouts.
    Differs {
        /// Logical index of an element whose locations differ: the first in row-major order if the layouts have no
        /// symbols.
        logical: Vec<i128>,
        /// Pairs `(name, value)` of all symbols of the two layouts, at whose values the locations differ. Empty if the
        /// compared expressions contain no symbols.
        symbols: Vec<(String, i128)>,
        /// Location of the element in the first layout.
        first: ElementLocation,
        /// Location of the element in the second layout.
        second: ElementLocation,
    },
    /// The layouts have different numbers of physical axes, so that no physical indices can be equal.
    Ranks {
        /// Number of physical axes of the first layout.
        first: usize,
        /// Number of physical axes of the second layout.
        second: usize,
    },
    /// It is neither proven that the layouts are equal, nor is an element with different locations found.
    Undecided {
        /// Number of points (index tuples) that a proof has to enumerate; `None` if the number depends on a symbol.
        points: Option<i128>,
    },
}

/// Reason why two layouts cannot be compared: their logical shapes, domains or symbols do not match, or arithmetic
/// fails.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CompareError {
    /// The layouts have different numbers of logical axes.
    #[error("different ranks: {first} and {second}")]
    Rank {
        /// Number of logical axes of the first layout.
        first: usize,
        /// Number of logical axes of the second layout.
        second: usize,
    },
    /// The extents of a logical axis differ, or are not proven equal.
    #[error("the extents of axis {axis} differ")]
    Extent {
        /// Position of the logical axis, from 0, outermost first.
        axis: usize,
    },
    /// The conditions that declare the domains of the two layouts differ in normal form.
    #[error("the domains differ")]
    Domain,
    /// The layouts declare a symbol of the same name with different ranges or multiples.
    #[error("the layouts declare the symbol `{name}` differently")]
    Symbol {
        /// Name of the symbol that the layouts declare differently.
        name: String,
    },
    /// Arithmetic on the expressions of the layouts fails, for example by overflow.
    #[error(transparent)]
    Expr(#[from] ExprError),
}

/// Decides whether two layouts send every logical index to the same physical indices and the same offset. The logical
/// axes are matched by position. `executor` runs enumerations, for example in parallel.
///
/// # Errors
/// [`CompareError::Rank`], [`CompareError::Extent`], [`CompareError::Domain`] or [`CompareError::Symbol`] if the
/// logical shapes, domains or symbols do not match; [`CompareError::Expr`] if arithmetic fails.
pub fn compare(
    first: &Layout,
    second: &Layout,
    executor: &dyn Executor,
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
    let scope = DifferenceScope { extents: &extents, facts: &facts, most: MAX_POINTS, executor };
    let mut values = Vec::new();
    let mut found = decide_within(&pairs, &within, scope)?;
    let is_symbolic = |expr: &Expr| expr.mentions(&|var| matches!(var, Var::Symbol(_)));
    let mut all = pairs.iter().flat_map(|(a, b)| [a, b]).chain(&extents);
    if !matches!(found, DifferenceResult::Equal) && all.any(is_symbolic) {
        found = DifferenceResult::Undecided(None);
        for sample in samples(&symbols, &extents) {
            let sampled = at_values((&pairs, &within), &extents, &sample, executor)?;
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

/// Expressions of one of the two layouts that [`compare`] compares, over the common list of symbols of the two.
struct ComparisonOperand {
    /// Position in the common list of symbols, for each symbol of the layout in the order of the layout.
    symbols: Vec<usize>,
    extents: Vec<Expr>,
    /// Conditions of the domain: an index within the extents is an element exactly if all are non-negative.
    within: Vec<Expr>,
    /// Physical indices of an element, one per physical axis, followed by its offset; over `Var::Axis` and symbols.
    targets: Vec<Expr>,
    /// Physical extents, one per physical axis, followed by the number of slots of the flat buffer.
    sizes: Vec<Expr>,
}

impl ComparisonOperand {
    /// Collects the expressions of `layout`, with each symbol renumbered to its position in `all`. Appends the symbols
    /// that `all` lacks; [`CompareError::Symbol`] if `all` has a symbol of the same name with another range or
    /// multiple.
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

/// Arithmetic error of a lookup by [`Layout::locate`] at the index of an element. The variants other than
/// [`ElementLocationError::Expr`], which do not occur there, give [`ExprError::Unbound`].
fn expr_error(error: ElementLocationError) -> ExprError {
    match error {
        ElementLocationError::Expr(error) => error,
        ElementLocationError::Rank { .. }
        | ElementLocationError::OutOfBounds { .. }
        | ElementLocationError::NoElement => ExprError::Unbound,
    }
}

/// True if the lists of domain conditions `a` and `b` have the same normal forms, in any order and with any
/// repetition. `bare` are facts about the symbols alone.
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

/// Result of [`decide_within`] at one assignment of values to the symbols: each `Var::Symbol(k)` in `pairs`, in the
/// domain conditions `within` and in the logical `extents` is replaced by `values[k]`. One enumeration has at most
/// [`SAMPLE_POINTS`] points.
fn at_values(
    (pairs, within): (&[(Expr, Expr)], &[Expr]),
    extents: &[Expr],
    values: &[i128],
    executor: &dyn Executor,
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
    let scope = DifferenceScope { extents: &extents, facts: &facts, most: SAMPLE_POINTS, executor };
    decide_within(&pairs, &within, scope)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::{LayoutEquivalence, compare};
    use crate::expr::parse;
    use crate::expr::{Expr, Var};
    use crate::layout::Layout;
    use crate::map::{MapScope, resolve};
    use crate::normal_form::simplify::Facts;
    use crate::prove::SequentialExecutor;

    #[test]
    fn large_domains_without_common_refinement_are_undecided() {
        let layout = Layout::builder([("i", 1 << 18), ("j", 1 << 18)]).prove().unwrap();
        // `i * 262144 + j` in a form that no prover reads.
        let text = parse::map("(i, j) -> (((i & j) * 2 + (i ^ j) - j) * 262144 + j)").unwrap();
        let scope =
            MapScope { axes: layout.logical(), values: &|_| None, facts: &Facts::default() };
        let map = resolve(&text, scope).unwrap();
        let to_axis = |var| match var {
            Var::Storage(k) => Some(Expr::var(Var::Axis(k))),
            _ => None,
        };
        let physical_map = map.items.iter().map(|item| item.index.substitute(&to_axis).unwrap());
        let skewed = Layout { physical_map: physical_map.collect(), ..layout.clone() };
        let found = compare(&layout, &skewed, &SequentialExecutor).unwrap();
        assert_eq!(found, LayoutEquivalence::Undecided { points: Some(1 << 36) });
    }
}
