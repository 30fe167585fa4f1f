//! Values of numbers in layout steps: expressions of consts and symbols, checked to be in range for all values of the
//! symbols.

use layoutc_algebra::builder::LayoutBuilder;
use layoutc_algebra::expr::{Expr, ExprError};

use super::expr::{constant, overflow, with_axis_help, with_declaration_help};
use super::step_scope::StepScope;
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic};
use crate::base::nearest::near_powers_of_two;
use crate::manifest::syntax::IntegerExpr;

/// Value of `bound`. It must be from `least` to 2^63 - 1 for all values of the symbols; anything else is an error.
/// Names in `bound` are resolved in the scope `ground`. `builder` has the facts of the symbols, and the axes, which
/// `bound` must not name.
pub(super) fn at_least(
    bound: &IntegerExpr,
    least: i128,
    ground: StepScope<'_>,
    builder: &LayoutBuilder,
) -> CheckResult<Expr> {
    let axes = builder.axes().iter().map(|axis| (axis.name.as_str(), axis.extent.as_const()));
    let value =
        constant(bound, &|name| ground.value(name), ground.scope, builder.facts(), ground.file)
            .map_err(|faults| with_axis_help(with_declaration_help(faults), &axes))?;
    let place = || ground.place(&bound.span());
    let (low, high) =
        builder.facts().bounds(&value).map_err(|e| vec![overflow(&e, e.to_string(), place())])?;
    if high > i128::from(i64::MAX) {
        let message = format!("{high} does not fit 64 bits");
        return Err(vec![overflow(&ExprError::Overflow, message, place())]);
    }
    if low < least {
        let (found, help) = match value.as_const() {
            Some(_) => ("found", format!("write {least} or more")),
            None => {
                ("found a value that can be", "declare a greater `min` of the symbol".to_owned())
            }
        };
        let message = format!("expected at least {least}, {found} {low}");
        return Err(vec![Diagnostic::error(Code::StepValue, message, place(), "").help(help)]);
    }
    Ok(value)
}

/// Values of `bounds`, in order, each of which must be from 0 to 2^63 - 1 for all values of the symbols. `ground` and
/// `builder` are as in [`at_least`].
pub(super) fn values(
    bounds: &[IntegerExpr],
    ground: StepScope<'_>,
    builder: &LayoutBuilder,
) -> CheckResult<Vec<Expr>> {
    bounds.iter().map(|bound| at_least(bound, 0, ground, builder)).collect()
}

/// Value of `bytes`, which must be a constant power of two from 1 to 2^30, in bytes; anything else is an error.
/// `ground` and `builder` are as in [`at_least`].
pub(super) fn power_of_two(
    bytes: &IntegerExpr,
    ground: StepScope<'_>,
    builder: &LayoutBuilder,
) -> CheckResult<i128> {
    let value = at_least(bytes, i128::MIN, ground, builder)?;
    match value.as_const().filter(|bytes| (1..=1 << 30).contains(bytes) && bytes.count_ones() == 1)
    {
        Some(bytes) => Ok(bytes),
        None => {
            let place = ground.place(&bytes.span());
            let (found, help) = match value.as_const() {
                Some(bytes) => (bytes.to_string(), near_powers_of_two(bytes, 1 << 30)),
                None => (
                    "a symbol".to_owned(),
                    "write a number or a const: a symbol is not constant".to_owned(),
                ),
            };
            let message = format!(
                "expected an alignment, a power of two from 1 to 2^30 bytes, found {found}"
            );
            Err(vec![Diagnostic::error(Code::StepValue, message, place, "").help(help)])
        }
    }
}
