//! Index maps such as `(n, c) -> (c // 4, n, c % 4)`: resolution of their names, naming of storage axes, and checks of
//! most rules of the map language. The extents of storage axes are computed elsewhere. [`resolve`] turns a parsed text
//! into an [`IndexMap`].

pub mod conditions;

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::expr::parse::{IndexAst, IndexAstKind, MapItemText, MapParam, MapText, Span};
use crate::expr::{BinOp, Expr, ExprError, Var};
use crate::normal_form::simplify::Facts;
use crate::symbol::Axis;

mod error;
mod functions;

pub use error::{MapError, MapErrorKind};

/// Item of an index map, which defines one new storage axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapItem {
    /// Name of the storage axis. [`resolve`] makes the names unique within the map.
    pub name: String,
    /// Index along the storage axis, over the axes that the map is applied to: `Var::Storage(k)` is axis `k` of
    /// them, from 0.
    pub index: Expr,
    /// Extent that the text states for the storage axis, over symbols. In an item `*name` and in [`identity`], the
    /// extent of the axis. `None` if the extent follows from the index.
    pub extent: Option<Expr>,
    /// Byte range of the index, or of an item `*name`, in the text of the map; empty for an item that is not written in
    /// a text.
    pub span: Span,
}

/// Index map from the current axes to new storage axes. Its indices are as written, not simplified.
///
/// ```
/// use layoutc_algebra::expr::parse;
/// use layoutc_algebra::map::{MapScope, resolve};
/// use layoutc_algebra::{Axis, BinOp, Error, Expr, Var};
///
/// let axes = [("n", 16), ("c", 128)].map(|(name, extent)| Axis { name: name.into(), extent: Expr::constant(extent) });
/// let scope = MapScope { axes: &axes, values: &|_| None, facts: &Default::default() };
/// let map = resolve(&parse::map("(n, c) -> (c // 4, n, c % 4)")?, scope)?;
/// let names: Vec<&str> = map.items.iter().map(|item| item.name.as_str()).collect();
/// assert_eq!(names, ["c_outer", "n", "c_inner"]);
/// let outer = Expr::binary(BinOp::FloorDiv, &Expr::var(Var::Storage(1)), &Expr::constant(4))?;
/// assert_eq!(map.items[0].index, outer);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IndexMap {
    /// Items for the new storage axes, outermost first.
    pub items: Vec<MapItem>,
    /// Positions of the items that are followed by an axis separator, ascending: the last item of each group except the
    /// last group.
    pub separators: Vec<usize>,
}

/// Scope in which the names of an index map are resolved: current axes, and names with values.
#[derive(Clone, Copy)]
pub struct MapScope<'a> {
    /// Current axes, to which the map is applied, outermost first.
    pub axes: &'a [Axis],
    /// Function that returns the value of the const, parameter or symbol of a given name; `None` if there is none.
    pub values: &'a dyn Fn(&str) -> Option<Expr>,
    /// Declared ranges of the symbols, for the checks that divisors are positive and function arguments are in range.
    pub facts: &'a Facts,
}

impl core::fmt::Debug for MapScope<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("MapScope").field("axes", &self.axes).finish_non_exhaustive()
    }
}

/// Resolves the parsed text of a map: looks up its names in `scope`, and names its storage axes. A map without
/// parameters and items is the identity.
///
/// # Errors
/// The [`MapError`]s of the text; those for duplicate names of storage axes come last. [`MapErrorKind::Arity`] is the
/// only error if the map has a wrong number of parameters.
pub fn resolve(text: &MapText, scope: MapScope<'_>) -> Result<IndexMap, Vec<MapError>> {
    let mut resolver = MapResolver::new(scope);
    let arity_holds = match &text.params {
        Some(params) if params.is_empty() && text.items.is_empty() => {
            return Ok(identity(scope.axes));
        }
        Some(params) => resolver.bind(params),
        None if text.items.is_empty() => return Ok(identity(scope.axes)),
        None => {
            resolver.bound =
                scope.axes.iter().enumerate().map(|(k, a)| (a.name.clone(), k)).collect();
            true
        }
    };
    if !arity_holds {
        return Err(resolver.errors);
    }
    let map = resolver.items(text);
    if resolver.errors.is_empty() { Ok(map) } else { Err(resolver.errors) }
}

/// Resolves an expression that contains no axes, such as a const, an extent or an argument of a step. `values` returns
/// the value of a name, and `None` for an unknown one; `facts` are the ranges of the symbols.
///
/// # Errors
/// The [`MapError`]s of the expression.
pub fn resolve_constant(
    ast: &IndexAst,
    values: &dyn Fn(&str) -> Option<Expr>,
    facts: &Facts,
) -> Result<Expr, Vec<MapError>> {
    let scope = MapScope { axes: &[], values, facts };
    let mut resolver = MapResolver::new(scope);
    match resolver.expr(ast) {
        Some(expr) if resolver.errors.is_empty() => Ok(expr),
        _ => Err(resolver.errors),
    }
}

/// Resolves an index expression whose names are those of `scope.axes` or `scope.values`. In the result,
/// `Var::Storage(k)` is `scope.axes[k]`.
///
/// # Errors
/// The [`MapError`]s of the expression.
pub fn resolve_index(ast: &IndexAst, scope: MapScope<'_>) -> Result<Expr, Vec<MapError>> {
    let mut resolver = MapResolver::new(scope);
    resolver.bound = scope.axes.iter().enumerate().map(|(k, a)| (a.name.clone(), k)).collect();
    match resolver.expr(ast) {
        Some(expr) if resolver.errors.is_empty() => Ok(expr),
        _ => Err(resolver.errors),
    }
}

/// Index map whose item `k` is axis `k` itself, with its name and extent.
pub fn identity(axes: &[Axis]) -> IndexMap {
    let items = (0_u32..)
        .zip(axes)
        .map(|(k, axis)| MapItem {
            name: axis.name.clone(),
            index: Expr::var(Var::Storage(k)),
            extent: Some(axis.extent.clone()),
            span: 0..0,
        })
        .collect();
    IndexMap { items, separators: Vec::new() }
}

struct MapResolver<'a> {
    scope: MapScope<'a>,
    /// Pairs `(name, position)`: a name that the map binds to an axis, and the position of that axis in the scope.
    bound: Vec<(String, usize)>,
    /// Pair `(name, axes)` of the `*` parameter: its name without `*`, and the range of positions of the axes that it
    /// takes. `None` if the map has no such parameter.
    stars: Option<(String, core::ops::Range<usize>)>,
    /// Meaning, in the subexpression that is being resolved, of a name that both an axis and a symbol have.
    meaning: NameBinding,
    errors: Vec<MapError>,
}

/// Meaning of a name that both an axis and a symbol have: the axis in an index, the symbol in a divisor or an
/// extent, which contain no axes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NameBinding {
    Axis,
    Symbol,
}

/// Map item before the names of the storage axes are made unique. `written` is the name in the text with its byte
/// range, `None` if there is none; `derived` is the name that follows from the index. `item` still has an empty name.
struct ItemDraft {
    written: Option<(String, Span)>,
    derived: String,
    item: MapItem,
}

impl<'a> MapResolver<'a> {
    fn new(scope: MapScope<'a>) -> Self {
        let (bound, errors) = (Vec::new(), Vec::new());
        Self { scope, bound, stars: None, meaning: NameBinding::Axis, errors }
    }
}

impl MapResolver<'_> {
    fn error(&mut self, kind: MapErrorKind, span: &Span) {
        self.errors.push(MapError { kind, span: span.clone() });
    }

    /// Binds the parameters to the axes by position; a `*` parameter takes the axes that the other parameters leave.
    /// Records an error and returns false if the numbers of axes and parameters differ, or, with a `*` parameter, if
    /// there are fewer axes than other parameters. Also records an error, but returns true, for a repeated name and for
    /// a name that hides a const or a layout parameter.
    fn bind(&mut self, params: &[MapParam]) -> bool {
        let axes = self.scope.axes;
        let single = params.iter().filter(|p| !p.star).count();
        let starred = params.iter().any(|p| p.star);
        if single > axes.len() || (!starred && single != axes.len()) {
            let names = axes.iter().map(|a| a.name.clone()).collect();
            let span = match (params.first(), params.last()) {
                (Some(first), Some(last)) => first.span.start..last.span.end,
                _ => 0..0,
            };
            self.error(MapErrorKind::Arity { params: single, axes: names }, &span);
            return false;
        }
        let mut at = 0;
        let mut seen = BTreeSet::new();
        for param in params {
            if !seen.insert(param.name.clone()) {
                self.error(MapErrorKind::DuplicateParameter(param.name.clone()), &param.span);
            }
            let value = (self.scope.values)(&param.name);
            if value.is_some_and(|value| !matches!(value.as_var(), Some(Var::Symbol(_)))) {
                self.error(MapErrorKind::Hides(param.name.clone()), &param.span);
            }
            if param.star {
                let count = axes.len() - single;
                self.stars = Some((param.name.clone(), at..at + count));
                at += count;
            } else {
                self.bound.push((param.name.clone(), at));
                at += 1;
            }
        }
        true
    }

    fn items(&mut self, text: &MapText) -> IndexMap {
        let mut unnamed: Vec<ItemDraft> = Vec::new();
        let mut separators = Vec::new();
        for (position, item) in text.items.iter().enumerate() {
            match item {
                MapItemText::Star(name, span) => self.spread(name, span, &mut unnamed),
                MapItemText::Expr { name, expr, extent } => {
                    let index = self.expr(expr);
                    let extent = extent.as_ref().and_then(|e| self.extent(e));
                    if let Some(index) = index {
                        let derived = self.derived_name(&index, unnamed.len());
                        let item =
                            MapItem { name: String::new(), index, extent, span: expr.span.clone() };
                        unnamed.push(ItemDraft { written: name.clone(), derived, item });
                    }
                }
            }
            if let Some((_, span)) =
                text.separators.iter().find(|(after, _)| *after == position + 1)
            {
                // A `*` parameter that takes no axes can leave a group empty.
                match unnamed.len().checked_sub(1) {
                    Some(last) if separators.last() != Some(&last) => separators.push(last),
                    _ if self.errors.is_empty() => {
                        self.error(MapErrorKind::EmptyGroup, span);
                    }
                    _ => {}
                }
            }
        }
        IndexMap { items: self.named(unnamed), separators }
    }

    fn spread(&mut self, name: &str, span: &Span, unnamed: &mut Vec<ItemDraft>) {
        let Some((_, range)) = self.stars.clone().filter(|(star, _)| star == name) else {
            self.error(MapErrorKind::UnknownStar(name.to_string()), span);
            return;
        };
        for (k, axis) in (0_u32..).zip(self.scope.axes).skip(range.start).take(range.len()) {
            let extent = Some(axis.extent.clone());
            let index = Expr::var(Var::Storage(k));
            let item = MapItem { name: String::new(), index, extent, span: span.clone() };
            unnamed.push(ItemDraft { written: None, derived: axis.name.clone(), item });
        }
    }

    fn named(&mut self, unnamed: Vec<ItemDraft>) -> Vec<MapItem> {
        let mut taken: BTreeSet<String> = BTreeSet::new();
        for item in &unnamed {
            if let Some((name, span)) = &item.written
                && !taken.insert(name.clone())
            {
                self.errors.push(MapError {
                    kind: MapErrorKind::DuplicateName(name.clone()),
                    span: span.clone(),
                });
            }
        }
        let mut items = Vec::new();
        for ItemDraft { written, derived, mut item } in unnamed {
            item.name = match written {
                Some((name, _)) => name,
                None => unique(&derived, &mut taken),
            };
            items.push(item);
        }
        items
    }

    /// Name of a storage axis without an explicit name: `c_outer` for `c // 4`, `c_inner` for `c % 4`, `c` for `c` and
    /// for an index that [`is_affine`] accepts and whose only axis is `c`, and `axis2` for any other index at position
    /// 2.
    fn derived_name(&self, index: &Expr, position: usize) -> String {
        use crate::expr::ExprNode;
        let axis_name = |expr: &Expr| match expr.as_var() {
            Some(Var::Storage(k)) => self.name_of(k),
            _ => None,
        };
        if let Some(name) = axis_name(index) {
            return name;
        }
        if let ExprNode::Bin(op @ (BinOp::FloorDiv | BinOp::Mod), x, _) = index.node() {
            if let Some(name) = axis_name(x) {
                return format!(
                    "{name}{}",
                    if *op == BinOp::FloorDiv { "_outer" } else { "_inner" }
                );
            }
        } else {
            let axes: Vec<Var> =
                index.vars().into_iter().filter(|v| matches!(v, Var::Storage(_))).collect();
            if let [Var::Storage(k)] = axes.as_slice()
                && is_affine(index)
                && let Some(name) = self.name_of(*k)
            {
                return name;
            }
        }
        format!("axis{position}")
    }

    fn name_of(&self, axis: u32) -> Option<String> {
        let axis = usize::try_from(axis).ok()?;
        self.bound.iter().find(|(_, k)| *k == axis).map(|(name, _)| name.clone())
    }

    fn extent(&mut self, ast: &IndexAst) -> Option<Expr> {
        let expr = self.free_of_axes(ast)?;
        if has_axes(&expr) {
            self.error(MapErrorKind::ExtentHasAxes, &ast.span);
            return None;
        }
        Some(expr)
    }

    /// Resolves an extent or a divisor, in which a name that both an axis and a symbol have means the symbol. Records
    /// an error and returns `None` if the expression is invalid. An axis in the result is not an error here; the caller
    /// checks for axes.
    fn free_of_axes(&mut self, ast: &IndexAst) -> Option<Expr> {
        let before = core::mem::replace(&mut self.meaning, NameBinding::Symbol);
        let expr = self.expr(ast);
        self.meaning = before;
        expr
    }

    fn expr(&mut self, ast: &IndexAst) -> Option<Expr> {
        match &ast.kind {
            IndexAstKind::Int(value) => Some(Expr::constant(*value)),
            IndexAstKind::Name(name) => self.name(name, &ast.span),
            IndexAstKind::Neg(a) => {
                let a = self.expr(a)?;
                self.ok_or_record(Expr::negate(&a), &ast.span)
            }
            IndexAstKind::Bin(op, _, left, right) => self.binary(*op, left, right, &ast.span),
            IndexAstKind::Call(name, arguments) => self.call(name, arguments, &ast.span),
        }
    }

    fn name(&mut self, name: &str, span: &Span) -> Option<Expr> {
        let value = (self.scope.values)(name);
        if self.meaning == NameBinding::Symbol && value.is_some() {
            return value;
        }
        if let Some((_, axis)) = self.bound.iter().find(|(bound, _)| bound == name) {
            return u32::try_from(*axis).ok().map(|k| Expr::var(Var::Storage(k)));
        }
        if value.is_some() {
            return value;
        }
        self.error(MapErrorKind::UnknownName(name.to_string()), span);
        None
    }

    fn ok_or_record(&mut self, expr: Result<Expr, ExprError>, span: &Span) -> Option<Expr> {
        match expr {
            Ok(expr) => Some(expr),
            Err(error) => {
                self.error(MapErrorKind::Expr(error), span);
                None
            }
        }
    }

    fn binary(
        &mut self,
        op: BinOp,
        left: &IndexAst,
        right: &IndexAst,
        span: &Span,
    ) -> Option<Expr> {
        let a = self.expr(left);
        let b = match op {
            BinOp::FloorDiv | BinOp::Mod => self.free_of_axes(right),
            _ => self.expr(right),
        };
        let (a, b) = (a?, b?);
        match op {
            BinOp::FloorDiv | BinOp::Mod => {
                if has_axes(&b) {
                    self.error(MapErrorKind::DivisorNotConstant, &right.span);
                    return None;
                }
                let bounds = self.scope.facts.bounds(&b);
                let (least, _) = self.bounds_or_record(bounds, &right.span)?;
                if least < 1 {
                    self.error(MapErrorKind::Divisor { least }, &right.span);
                    return None;
                }
            }
            _ => {}
        }
        self.ok_or_record(Expr::binary(op, &a, &b), span)
    }

    fn bounds_or_record(
        &mut self,
        bounds: Result<(i128, i128), ExprError>,
        span: &Span,
    ) -> Option<(i128, i128)> {
        match bounds {
            Ok(bounds) => Some(bounds),
            Err(error) => {
                self.error(MapErrorKind::Expr(error), span);
                None
            }
        }
    }
}

fn has_axes(expr: &Expr) -> bool {
    expr.mentions(&|var| !matches!(var, Var::Symbol(_)))
}

/// True if the expression has no operators except negation, `+`, `-` and `*`, so that `i * j` counts as affine.
fn is_affine(expr: &Expr) -> bool {
    use crate::expr::ExprNode;
    match expr.node() {
        ExprNode::Const(_) | ExprNode::Var(_) => true,
        ExprNode::Neg(a) => is_affine(a),
        ExprNode::Bin(BinOp::Add | BinOp::Sub | BinOp::Mul, a, b) => is_affine(a) && is_affine(b),
        ExprNode::Bin(..) => false,
    }
}

/// Adds `name` to `taken` and returns it, or the first of `name_2`, `name_3`, … that is not taken yet.
pub(crate) fn unique(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut candidate = name.to_string();
    let mut suffix = 2;
    while !taken.insert(candidate.clone()) {
        candidate = format!("{name}_{suffix}");
        suffix += 1;
    }
    candidate
}
