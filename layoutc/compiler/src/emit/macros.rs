//! Index functions as macros: one expression over the parameters, without calls.

use super::model::MacroUnit;
use super::shared::Shared;
use crate::ir::{Compare, Expr, Function, Stmt};
use crate::loops::error::PlanError;
use crate::plan::TensorPlan;

/// Maximum number of nodes in a macro's expression, as [`nodes`] estimates it: a floor division repeats its operands.
const MAX_NODES: u64 = 1 << 14;

/// Macros of the offset function and of the functions of physical indices, without those that a macro cannot compute.
pub(super) fn of_plan(plan: &TensorPlan) -> Result<Vec<Shared<MacroUnit>>, PlanError> {
    let functions = [&plan.offset].into_iter().chain(&plan.indices);
    functions
        .filter_map(|function| of(function).transpose())
        .map(|unit| unit.map(Shared::from))
        .collect()
}

/// Macro equivalent to a function that returns one expression. `None` if the last statement of the function is no
/// `return`, or if the expression has positions or cells of a Hilbert curve, which need a loop.
///
/// # Errors
/// [`PlanError::Macro`] if the expression has more than [`MAX_NODES`] nodes by the estimate of [`nodes`].
fn of(function: &Function) -> Result<Option<MacroUnit>, PlanError> {
    let Some(Stmt::Return { value }) = function.body.last() else { return Ok(None) };
    let mut is_loop = false;
    value.visit(&mut |part| {
        is_loop |= matches!(part, Expr::Hilbert { .. } | Expr::HilbertCell { .. });
    });
    if is_loop {
        return Ok(None);
    }
    let name = function.name.to_ascii_uppercase();
    let nodes = nodes(value);
    if nodes > MAX_NODES {
        return Err(PlanError::Macro { name, nodes, most: MAX_NODES });
    }
    Ok(Some(MacroUnit {
        name,
        function: function.name.clone(),
        params: function.params.iter().map(|param| param.name.clone()).collect(),
        value: value.map(&without_helper).into(),
    }))
}

/// Expression in operators alone for a call of a helper function (floor division or its remainder, minimum, maximum),
/// so that a C compiler evaluates it at compile time. Any other expression is unchanged, and so is a division or
/// remainder by a power of two, which is printed as a shift or mask.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other nodes call nothing")]
fn without_helper(expr: Expr) -> Expr {
    let negative = |a: &Expr, b: &Expr| {
        let rest = Expr::Mod { a: Box::new(a.clone()), b: Box::new(b.clone()) };
        Expr::compare(Compare::Lt, rest, Expr::int(0))
    };
    let select = |condition: Expr, then: Expr, otherwise: Expr| Expr::Select {
        condition: Box::new(condition),
        then: Box::new(then),
        otherwise: Box::new(otherwise),
    };
    match expr {
        // Truncating division, minus 1 if the remainder is negative.
        Expr::FloorDiv { a, b } if b.power_of_two().is_none() => {
            let up = select(negative(&a, &b), Expr::int(1), Expr::int(0));
            Expr::Add { args: vec![Expr::Div { a, b }, Expr::Neg { a: Box::new(up) }] }
        }
        Expr::FloorMod { a, b } if b.power_of_two().is_none() => {
            let missing = select(negative(&a, &b), (*b).clone(), Expr::int(0));
            Expr::Add { args: vec![Expr::Mod { a, b }, missing] }
        }
        Expr::Min { a, b } => {
            select(Expr::compare(Compare::Lt, (*a).clone(), (*b).clone()), *a, *b)
        }
        Expr::Max { a, b } => {
            select(Expr::compare(Compare::Lt, (*a).clone(), (*b).clone()), *b, *a)
        }
        other => other,
    }
}

/// Estimated number of nodes of an expression after the expansion of helper functions. The expansion of a helper counts
/// as 6 nodes, two copies of the first operand and three of the second.
fn nodes(expr: &Expr) -> u64 {
    let [a, b] = match expr {
        Expr::FloorDiv { a, b }
        | Expr::FloorMod { a, b }
        | Expr::Min { a, b }
        | Expr::Max { a, b } => [nodes(a), nodes(b)],
        other => {
            let mut own = 1_u64;
            other.children(&mut |child| own = own.saturating_add(nodes(child)));
            return own;
        }
    };
    // At most two copies of the dividend and three of the divisor.
    a.saturating_mul(2).saturating_add(b.saturating_mul(3)).saturating_add(6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::dialect::C;
    use crate::emit::print::define;
    use crate::ir::{Param, ParamType, Returns};

    fn function(value: Expr) -> Function {
        let params = ["n", "h"].map(|name| Param { name: name.to_owned(), ty: ParamType::Index });
        let name = "a_offset".to_owned();
        let body = vec![Stmt::Return { value }];
        let (doc, returns, params) = (Vec::new(), Returns::Index, params.into());
        Function { name, doc, returns, params, body }
    }

    fn text(value: Expr) -> String {
        define(&C, &of(&function(value)).unwrap().unwrap())
    }

    fn pair(a: Expr) -> (Box<Expr>, Box<Expr>) {
        (Box::new(a), Box::new(Expr::int(3)))
    }

    #[test]
    fn helpers_become_expressions() {
        let (n, h) = ("((int64_t)(n))", "((int64_t)(h))");
        let (a, b) = pair(Expr::name("n"));
        let expected = format!("#define A_OFFSET(n, h) ((int64_t)({n} / 3 - ({n} % 3 < 0)))");
        assert_eq!(text(Expr::FloorDiv { a, b }), expected);
        let (a, b) = pair(Expr::name("n"));
        let expected =
            format!("#define A_OFFSET(n, h) ((int64_t)({n} % 3 + ({n} % 3 < 0 ? 3 : 0)))");
        assert_eq!(text(Expr::FloorMod { a, b }), expected);
        let least = Expr::name("n").min(Expr::name("h"));
        let expected = format!("#define A_OFFSET(n, h) ((int64_t)({n} < {h} ? {n} : {h}))");
        assert_eq!(text(least), expected);
        let expected = "#define A_OFFSET(n, h) ((int64_t)(0))";
        assert_eq!(text(Expr::int(0)), expected);
    }

    #[test]
    fn curve_positions_have_no_macro() {
        let [a, b] = ["n", "h"].map(|name| Box::new(Expr::name(name)));
        let place = Expr::Hilbert { a, b, rows: 6, columns: 10 };
        assert_eq!(of(&function(place.clone())), Ok(None));
        let cell = Expr::HilbertCell { a: Box::new(place), rows: 6, columns: 10 };
        let divided = Expr::Div { a: Box::new(cell), b: Box::new(Expr::int(10)) };
        assert_eq!(of(&function(divided)), Ok(None));
    }

    #[test]
    fn exponentially_large_macros_are_refused() {
        let mut value = Expr::name("n");
        for _ in 0..90 {
            let (a, b) = pair(value);
            value = Expr::FloorMod { a, b };
        }
        let fault = of(&function(value)).unwrap_err();
        assert!(matches!(fault, PlanError::Macro { nodes, .. } if nodes > 1 << 60), "{fault}");
    }
}
