//! The domain of a tensor: `where "j <= i"` in its shape says which indices are elements.

use std::sync::Arc;

use layoutc_algebra::build::{BuildError, LayoutBuilder};
use layoutc_algebra::conditions::{ConditionError, conditions};
use layoutc_algebra::expr::{BinOp, Expr, ExprNode, Predicate, Var};
use layoutc_algebra::layout::Symbol;
use layoutc_algebra::map::MapScope as Names;

use super::expr::{map_fault, parse_fault, place_in};
use super::injectivity_report::RefusalContext;
use super::replay::{LayoutSource, ReplayOutcome, symbol_value};
use super::scope::ManifestScope;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, FileSpan};
use crate::manifest::syntax::SpannedText;
use crate::model::Tensor;

/// The form of a condition.
const FORM: &str = "write sums of axes, each times a whole number, and `<`, `<=`, `==`, `>=` or `>` between them: `i - 2 <= j <= i`";

/// Where the names of conditions are known.
pub(super) struct ConditionNames<'a> {
    pub(super) scope: &'a ManifestScope,
    pub(super) file: &'a Arc<str>,
    pub(super) symbols: &'a [Symbol],
}

impl ConditionNames<'_> {
    /// Makes elements of those indices alone at which the conditions hold.
    ///
    /// # Errors
    /// `domain::condition`, `domain::uncounted`, and faults of expressions.
    pub(super) fn restrict(
        &self,
        builder: &mut LayoutBuilder,
        texts: &[SpannedText],
    ) -> Result<(), Vec<Diagnostic>> {
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
                    let known: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
                    let known: Vec<&str> = known.into_iter().chain(self.scope.known()).collect();
                    errors.extend(found.iter().filter_map(|e| self.fault(e, text, &known)));
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

    /// The fault of a condition; `None` where an earlier diagnostic reports it.
    fn fault(
        &self,
        error: &ConditionError,
        text: &SpannedText,
        known: &[&str],
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
            ConditionError::Lone(span) => plain(span).help(FORM),
            ConditionError::Sign { span, sign } => plain(span).help(match sign.as_str() {
                "=" => "write `==`",
                "=>" => "write `>=`",
                "=<" => "write `<=`",
                "&&" => "write `and` between conditions",
                "!=" | "||" | "or" => "conditions hold together: declare a tensor for each alternative",
                "not" => "write the opposite comparison: `j > i` for `not j <= i`",
                _ => FORM,
            }),
            ConditionError::NotAffine(span) => plain(span).help(FORM),
            ConditionError::Enclosed(span) => plain(span)
                .help("write comparisons without parentheses, with `and` between them: `i <= j and j <= k`"),
            ConditionError::NoAxis { span, has_symbols: true } => {
                plain(span).help("state the bounds of a symbol where it is declared: `symbol n min=1 max=5`")
            }
            ConditionError::NoAxis { span, has_symbols: false } => {
                plain(span).help("leave the comparison out, or compare an axis")
            }
            ConditionError::Expr(error) => {
                let place = place_in(text, &(0..text.value.len()), self.file);
                super::expr::overflow(error, error.to_string(), place)
            }
        })
    }
}

/// A fault of all conditions together.
pub(super) fn unfit(error: &BuildError, place: FileSpan) -> Diagnostic {
    match error {
        BuildError::NoElement => {
            Diagnostic::error(Code::DomainCondition, "no index satisfies the conditions", place, "")
                .help("a tensor has an element: compare the axes the other way round, or make an extent larger")
        }
        BuildError::Uncounted => {
            let message = "the number of elements that the conditions leave could not be computed";
            Diagnostic::error(Code::DomainUncounted, message, place, "")
                .note(format!(
                    "the axes of a condition, with those of conditions that share an axis with it, may have up to {} indices together; their extents and the condition are without symbols",
                    layoutc_algebra::proof::MAX_POINTS
                ))
                .help("write a number in the place of a symbol, or make an extent smaller")
        }
        other => Diagnostic::error(Code::LimitSize, other.to_string(), place, "")
            .help("write smaller numbers in the conditions, or make an extent smaller"),
    }
}

/// The most indices of a shape for which a condition is tried.
const MOST_INDICES: i128 = 1 << 26;

/// A condition between two axes under which a layout that is refused is proven: that of a triangle, where an index
/// multiplies axes.
pub(super) fn missing(told: &RefusalContext<'_>) -> Option<String> {
    let (site, recipe) = (told.site?, told.recipe?);
    let indices = told.logical.iter().filter_map(|axis| axis.extent.as_const());
    let indices = indices.fold(1_i128, i128::saturating_mul);
    let is_tried = recipe.conditions.is_empty()
        && indices <= MOST_INDICES
        && site.map.items.iter().any(|item| multiplies(&item.index));
    let names = || told.logical.iter().map(|axis| axis.name.as_str());
    let pairs = names().flat_map(|more| names().map(move |less| (less, more)));
    let mut pairs = pairs.filter(|(less, more)| is_tried && less != more);
    pairs.find_map(|(less, more)| {
        let value = format!("{less} <= {more}");
        let span = 0..value.len();
        let conditions = [SpannedText { value, span, quoted: true }];
        let recipe = LayoutSource { conditions: &conditions, ..recipe };
        let trial = recipe.replay(told.logical, told.symbols, None);
        let [condition] = conditions;
        matches!(trial, ReplayOutcome::Proven(_)).then_some(condition.value)
    })
}

/// Whether two factors of a product hold axes.
fn multiplies(index: &Expr) -> bool {
    let has_axes = |expr: &Expr| expr.mentions(&|var| matches!(var, Var::Storage(_)));
    match index.node() {
        ExprNode::Const(_) | ExprNode::Var(_) => false,
        ExprNode::Neg(a) => multiplies(a),
        ExprNode::Bin(BinOp::Mul, a, b) if has_axes(a) && has_axes(b) => true,
        ExprNode::Bin(_, a, b) => multiplies(a) || multiplies(b),
    }
}

/// The fault of a domain beside `parted`, which makes parts of a whole tensor.
pub(super) fn parted(parted: &str, place: FileSpan) -> Diagnostic {
    let message = format!("{parted} has all indices of its shape");
    Diagnostic::error(Code::DomainWhole, message, place, "")
        .help("take the condition out, or declare what is held as a tensor of its own")
}

/// The fault of what takes a tensor with a domain for a whole one; `takes` says so: `a kernel computes on`.
pub(super) fn whole_fault(tensor: &Tensor, takes: &str, place: FileSpan) -> Diagnostic {
    let name = &tensor.name;
    let message = format!(
        "{takes} whole tensors, and `{name}` has only the elements that its `where` leaves"
    );
    Diagnostic::error(Code::DomainWhole, message, place, "").help(format!(
        "declare a tensor `like={name}` with the same shape without `where`, and `convert {name}` to it"
    ))
}
