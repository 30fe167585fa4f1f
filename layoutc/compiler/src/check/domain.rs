//! Domains of tensors: conditions in a shape, `where "j <= i"`, restrict the indices that are elements.

use std::sync::Arc;

use layoutc_algebra::builder::{BuildError, LayoutBuilder};
use layoutc_algebra::expr::{BinOp, Expr, ExprNode, Predicate, Var};
use layoutc_algebra::map::MapScope as Names;
use layoutc_algebra::map::conditions::{ConditionError, conditions};
use layoutc_algebra::symbol::Symbol;

use super::expr::{map_fault, parse_fault, place_in};
use super::injectivity_report::RefusalContext;
use super::replay::{LayoutSource, ReplayOutcome, symbol_value};
use super::scope::ManifestScope;
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::manifest::syntax::SpannedText;
use crate::model::Tensor;

/// Help that states the form of a condition, with an example: `i - 2 <= j <= i`. `known` are the names of the axes; the
/// example uses the first two of them if there are two.
fn form(known: &[&str]) -> String {
    let example = match known {
        [i, j, ..] => format!("{i} - 2 <= {j} <= {i}"),
        [i] => format!("2 * {i} <= 6"),
        [] => "i - 2 <= j <= i".to_owned(),
    };
    format!(
        "write comparisons (`<`, `<=`, `==`, `>=`, `>`) of sums of axes with integer factors: `{example}`"
    )
}

/// Names other than axes that the conditions of a domain may use: the consts of `scope`, and `symbols`. Faults are
/// located in the manifest `file`.
pub(super) struct ConditionNames<'a> {
    pub(super) scope: &'a ManifestScope,
    pub(super) file: &'a Arc<str>,
    pub(super) symbols: &'a [Symbol],
}

impl ConditionNames<'_> {
    /// Restricts the elements of the layout under construction to the indices that satisfy all conditions `texts`.
    /// Changes nothing if `texts` is empty.
    ///
    /// # Errors
    /// `domain::condition`, `domain::uncounted`, `limit::size`, and errors of expressions.
    pub(super) fn restrict(
        &self,
        builder: &mut LayoutBuilder,
        texts: &[SpannedText],
    ) -> CheckResult<()> {
        let Some(first) = texts.first() else { return Ok(()) };
        let axes = builder.logical().to_vec();
        let value = |name: &str| {
            let constant = self.scope.consts.get(name).map(|(value, _)| Expr::constant(*value));
            constant.or_else(|| symbol_value(name, self.symbols))
        };
        let (mut all, mut errors) = (Vec::new(), Vec::new());
        for text in texts {
            let names = Names { axes: &axes, values: &value, facts: builder.facts() };
            match conditions(&text.value, names) {
                Ok(predicate) => all.extend(predicate.all),
                Err(found) => {
                    let own: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
                    let known: Vec<&str> = own.iter().copied().chain(self.scope.known()).collect();
                    errors.extend(found.iter().filter_map(|e| self.fault(e, text, &known, &own)));
                }
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let predicate = Predicate { all };
        let place = FileSpan::new(self.file, first.span.clone());
        builder.restrict(predicate).map_err(|error| vec![unfit(&error, place)])
    }

    /// Diagnostic of an error in the condition `text`. `None` for an unknown name whose declaration may be faulty,
    /// which is reported elsewhere. `known` are all names that the condition may use, `axes` those that are axes.
    fn fault(
        &self,
        error: &ConditionError,
        text: &SpannedText,
        known: &[&str],
        axes: &[&str],
    ) -> Option<Diagnostic> {
        let plain = |span| {
            let place = place_in(text, span, self.file);
            Diagnostic::error(Code::DomainCondition, error.to_string(), place, "")
        };
        Some(match error {
            ConditionError::Parse(error) => parse_fault(error, text, self.file),
            ConditionError::Map(error) => {
                return map_fault(error, text, self.scope, known, self.file);
            }
            ConditionError::Lone(span) => plain(span).help(form(axes)),
            ConditionError::Sign { span, sign } => plain(span).help(match sign.as_str() {
                "=" | "=>" | "=<" | "&&" | "!=" | "||" | "or" | "not" => sign_help(sign).to_owned(),
                _ => form(axes),
            }),
            ConditionError::NotAffine(span) => plain(span).help(form(axes)),
            ConditionError::Enclosed(span) => plain(span)
                .help("write comparisons without parentheses, with `and` between them: `i <= j and j <= k`"),
            ConditionError::NoAxis { span, has_symbols: true } => {
                let compared = text.value.get(span.clone()).unwrap_or_default();
                let is_word = |c: char| c.is_alphanumeric() || c == '_';
                let mut words = compared.split(|c| !is_word(c));
                let is_name = |word: &&str| word.starts_with(|c: char| c.is_alphabetic() || c == '_');
                let symbol = words.find(is_name).unwrap_or("n");
                plain(span).help(format!("declare the bounds with the symbol: `symbol {symbol} min=1 max=5`"))
            }
            ConditionError::NoAxis { span, has_symbols: false } => {
                plain(span).help("remove the comparison, or compare an axis")
            }
            ConditionError::Expr(error) => {
                let place = place_in(text, &(0..text.value.len()), self.file);
                super::expr::overflow(error, error.to_string(), place)
            }
        })
    }
}

/// Help for an operator that conditions cannot contain: `=`, `&&`, `or`.
fn sign_help(sign: &str) -> &'static str {
    match sign {
        "=" => "write `==`",
        "=>" => "write `>=`",
        "=<" => "write `<=`",
        "&&" => "write `and` between conditions",
        "not" => "write the opposite comparison: `>` for `not … <=`",
        _ => "all conditions of a shape must hold: declare a tensor for each alternative",
    }
}

/// Diagnostic at `place` of an error of a shape that no single condition causes: no index satisfies all conditions, the
/// indices that satisfy them cannot be counted, or their arithmetic overflows.
pub(super) fn unfit(error: &BuildError, place: FileSpan) -> Diagnostic {
    match error {
        BuildError::NoElement => Diagnostic::error(
            Code::DomainCondition,
            "no index satisfies the conditions",
            place,
            "",
        )
        .help("reverse a comparison, or increase an extent: a tensor has at least one element"),
        BuildError::Uncounted => {
            let message = "cannot count the elements that satisfy the conditions";
            Diagnostic::error(Code::DomainUncounted, message, place, "")
                .note(format!(
                    "conditions that share axes are counted together: these axes may have up to {} indices, with constant extents and no symbols in the conditions",
                    layoutc_algebra::prove::MAX_POINTS
                ))
                .help("replace a symbol by a number, or reduce an extent")
        }
        other => Diagnostic::error(Code::LimitSize, other.to_string(), place, "")
            .help("write smaller numbers in the conditions, or reduce an extent"),
    }
}

/// Maximum product of the constant extents of a shape for which [`missing`] tries conditions. A larger shape gets no
/// advice.
const MOST_INDICES: i128 = 1 << 26;

/// Condition `a <= b` between two axes which, added to the shape as `where`, makes the proof of a refused layout
/// succeed. An example is triangular storage, `i * (i + 1) // 2 + j`, which is injective if `j <= i`. `None` if none is
/// found. Conditions are tried only for a shape without conditions that is not larger than [`MOST_INDICES`], and only
/// if an index of the layout's last map multiplies axes.
pub(super) fn missing(context: &RefusalContext<'_>) -> Option<String> {
    let (site, recipe) = (context.site?, context.recipe?);
    let indices = context.logical.iter().filter_map(|axis| axis.extent.as_const());
    let indices = indices.fold(1_i128, i128::saturating_mul);
    let is_tried = recipe.conditions.is_empty()
        && indices <= MOST_INDICES
        && site.map.items.iter().any(|item| multiplies(&item.index));
    let names = || context.logical.iter().map(|axis| axis.name.as_str());
    let pairs = names().flat_map(|more| names().map(move |less| (less, more)));
    let mut pairs = pairs.filter(|(less, more)| is_tried && less != more);
    pairs.find_map(|(less, more)| {
        let value = format!("{less} <= {more}");
        let span = 0..value.len();
        let conditions = [SpannedText { value, span, quoted: true }];
        let recipe = LayoutSource { conditions: &conditions, ..recipe };
        let trial = recipe.replay(context.logical, context.symbols, None);
        let [condition] = conditions;
        matches!(trial, ReplayOutcome::Proven(_)).then_some(condition.value)
    })
}

/// True if the expression contains a product of two factors that both depend on axes.
fn multiplies(index: &Expr) -> bool {
    let has_axes = |expr: &Expr| expr.mentions(&|var| matches!(var, Var::Storage(_)));
    match index.node() {
        ExprNode::Const(_) | ExprNode::Var(_) => false,
        ExprNode::Neg(a) => multiplies(a),
        ExprNode::Bin(BinOp::Mul, a, b) if has_axes(a) && has_axes(b) => true,
        ExprNode::Bin(_, a, b) => multiplies(a) || multiplies(b),
    }
}

/// Error at `place` for a shape with conditions (`where`) of a tensor that must not have any: a sharded tensor or a
/// ring buffer. `parted` is the noun for it in the message, such as "a ring".
pub(super) fn parted(parted: &str, place: FileSpan) -> Diagnostic {
    let message = format!("{parted} cannot have a domain");
    Diagnostic::error(Code::DomainWhole, message, place, "")
        .help("remove the condition, or declare the part in memory as a separate tensor")
}

/// Error at `place` for the use of `tensor`, whose shape has conditions (`where`), in an operation that supports only
/// tensors without conditions. `takes` starts the message with the operation: "a kernel requires".
pub(super) fn whole_fault(tensor: &Tensor, takes: &str, place: FileSpan) -> Diagnostic {
    let name = &tensor.name;
    let message = format!("{takes} whole tensors, and `{name}` is restricted by its `where`");
    Diagnostic::error(Code::DomainWhole, message, place, "").help(format!(
        "declare a tensor `like={name}` with the same shape without `where`, and `convert {name}` to it"
    ))
}
