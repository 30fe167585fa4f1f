//! Values for the tests of tensors and views in the test program of a manifest.

use layoutc_algebra::expr::{Expr as Algebra, Var};
use layoutc_algebra::layout::Layout;
use layoutc_algebra::symbol::Symbol;

use super::dialect::Dialect;
use super::element::type_name;
use super::model::{AxisUnit, TestTensorUnit, TestUnit, ViewTestUnit};
use super::shared::Shared;
use super::unit::packed;
use crate::base::fill;
use crate::emit::syntax::{Function, Spelling, Stmt};
use crate::loops::error::PlanError;
use crate::lower::context::{Context, Naming};
use crate::lower::expr::lower;
use crate::lower::index::{buffer_bytes, count, dense_offset, logical_bytes};
use crate::lower::names::Namer;
use crate::model::{Manifest, Tensor, TensorRef, View, ViewKind};
use crate::plan::view::dense_bytes;
use crate::reference::tensor::{physical_offset, plain_offset};
use crate::reference::view::plain;

/// Identifiers that the template of the test program declares in functions that also contain names from the manifest.
const TAKEN: &[&str] = &[
    "all",
    "back",
    "before",
    "dense",
    "elements",
    "failed",
    "fill",
    "from",
    "from_bytes",
    "from_slot",
    "invert",
    "logical",
    "logical_bytes",
    "physical",
    "physical_bytes",
    "seen",
    "slot",
    "slots",
    "to",
    "to_bytes",
    "to_slot",
    "used",
    "at",
    "found",
    "source",
    "target",
    "check",
    "corner",
    "next",
    "allocate",
    "scatter",
    "mismatch",
    "limit",
    "constants",
    "memory",
    "stored",
    "packed",
    "value",
    "lane",
    "size",
    "bytes",
    "dense_bytes",
    "is_inverse",
    "wanted",
    "got",
    "numbers",
    "state",
    "number",
    "first",
    "count",
    "kernel",
    "every",
    "absolute",
    "relative",
    "pads",
    "most",
    "searches",
    "searched",
];

/// True if the template declares `name` in a function, or `name` has the form of an identifier generated for tests.
pub(super) fn is_taken(name: &str) -> bool {
    TAKEN.contains(&name)
        || name.starts_with("found_")
        || name.starts_with("plain_")
        || name.starts_with("wanted_")
        || name.ends_with("_bytes")
        || name.ends_with("_plain_offset")
        || name.ends_with("_plain_lane")
}

/// Tensor or view `of` with its data for the test program.
pub(super) fn stored(
    manifest: &Manifest,
    of: TensorRef,
    naming: &Naming<'_>,
    dialect: &Dialect,
) -> Result<TestTensorUnit, PlanError> {
    let found = manifest.tensor(of).ok_or(PlanError::Scope)?;
    let ident = naming.tensor(&found.name);
    let dtype = found.dtype.to_string();
    Ok(TestTensorUnit {
        name: found.name.clone(),
        element: type_name(dialect, &dtype, false),
        in_buffer: type_name(dialect, &dtype, true),
        packed: packed(found, &ident),
        in_domain: found.layout.domain().is_some(),
        is_view: matches!(of, TensorRef::View(_)),
        test: tensor(found, naming)?.into(),
        ident,
        dtype,
    })
}

/// Test data of one tensor, or of a view in the form of a tensor.
pub(super) fn tensor(tensor: &Tensor, naming: &Naming<'_>) -> Result<TestUnit, PlanError> {
    let avoid = |name: &str| (naming.avoid)(name) || is_taken(name);
    let naming = &Naming { avoid: &avoid, ..*naming };
    let context = Context::new(tensor, naming);
    let layout = &tensor.layout;
    let symbol = |var| context.symbol(var);
    let mut namer = Namer::new(&avoid);
    let (symbols, axes) = named(&context, &mut namer)?;
    let mut physical = Vec::new();
    for (k, extent) in layout.physical_shape().iter().enumerate() {
        let extent = lower(extent, &symbol)?.into();
        let name = namer.name(&format!("p{k}"));
        physical.push(AxisUnit { name, extent, labels: Vec::new() });
    }
    let names = |axes: &[AxisUnit]| axes.iter().map(|axis| axis.name.clone()).collect::<Vec<_>>();
    let elements = count(layout.logical())?;
    let facts: Vec<&Symbol> = context.symbols.iter().map(|symbol| symbol.facts).collect();
    Ok(TestUnit {
        plain: plain_offset(&context)?.into(),
        cases: cases(&facts, &[&context]),
        dense: dense_offset(layout.logical(), &names(&axes), &symbol)?.into(),
        slot: physical_offset(&context, &names(&physical))?.into(),
        elements: lower(layout.logical_elements(), &symbol)?.into(),
        dense_elements: lower(&elements, &symbol)?.into(),
        outside: context.fills_outside().then(|| fill_stmt(tensor).into()),
        slots: lower(layout.physical_elements(), &symbol)?.into(),
        logical_bytes: lower(&logical_bytes(&context, &elements)?, &symbol)?.into(),
        physical_bytes: lower(&buffer_bytes(&context, layout.physical_elements())?, &symbol)?
            .into(),
        fill: context.fills().then(|| fill_stmt(tensor).into()),
        searches: searches(layout)?,
        symbols,
        axes,
        physical,
    })
}

/// Number of elements that all inverse searches of a test may visit together, unless a single one visits more: about a
/// second's work.
const VISITED: i128 = 1 << 26;

/// Number of inverse lookups that a test makes if the inverse is a search; `None` if the inverse is an expression or
/// there is no element.
fn searches(layout: &Layout) -> Result<Option<i64>, PlanError> {
    if layout.inverse().is_some() || layout.logical_elements().as_const() == Some(0) {
        return Ok(None);
    }
    let mut visited = 1_i128;
    for part in layout.decompose()?.components.iter().filter(|part| part.inverse.is_none()) {
        let extents = part.axes.iter().filter_map(|axis| layout.logical().get(*axis));
        let points = extents.map(|axis| axis.extent.as_const().unwrap_or(i128::MAX));
        visited = visited.saturating_add(points.fold(1, i128::saturating_mul));
    }
    let often = VISITED.checked_div(visited).unwrap_or(1).max(1);
    Ok(i64::try_from(often).ok())
}

/// Pair (symbols, axes): the identifiers in the test program of the symbols of a tensor, and its logical axes with
/// their identifiers and extents there.
fn named(
    context: &Context<'_>,
    namer: &mut Namer<'_>,
) -> Result<(Vec<String>, Vec<AxisUnit>), PlanError> {
    let symbols = context.symbols.iter().map(|symbol| namer.name(&symbol.facts.name)).collect();
    let mut axes = Vec::new();
    for axis in context.layout.logical() {
        let extent = lower(&axis.extent, &|var| context.symbol(var))?.into();
        axes.push(AxisUnit { name: namer.name(&axis.name), extent, labels: Vec::new() });
    }
    Ok((symbols, axes))
}

/// Data of the view `view` for the test program. `tensor` is the view as a tensor, as from
/// [`in_memory`](crate::plan::view::in_memory): in global memory, or without memory if the view has none. `manifest` is
/// the manifest that declares the view and its base.
pub(super) fn view(
    manifest: &Manifest,
    view: &View,
    tensor: &Tensor,
    naming: &Naming<'_>,
) -> Result<ViewTestUnit, PlanError> {
    let avoid = |name: &str| (naming.avoid)(name) || is_taken(name);
    let naming = &Naming { avoid: &avoid, ..*naming };
    let context = Context::new(tensor, naming);
    let layout = &tensor.layout;
    let symbol = |var| context.symbol(var);
    let mut namer = Namer::new(&avoid);
    let (symbols, axes) = named(&context, &mut namer)?;
    let names: Vec<String> = axes.iter().map(|axis| axis.name.clone()).collect();
    let [elements, dense_bytes] = dense_bytes(&context)?;
    let facts: Vec<&Symbol> = context.symbols.iter().map(|symbol| symbol.facts).collect();
    let (plain, plain_lane) = plain(manifest, view, &context)?;
    let joined = match view.seeing {
        ViewKind::Lanes { joined, .. } => joined,
        ViewKind::Reinterpret | ViewKind::Window(_) => 1,
    };
    Ok(ViewTestUnit {
        plain: plain.into(),
        plain_lane: plain_lane.map(Shared::<Function>::from),
        joined: i64::try_from(joined).map_err(|_| PlanError::Literal { value: joined })?,
        cases: cases(&facts, &[&context]),
        dense: dense_offset(layout.logical(), &names, &symbol)?.into(),
        elements: lower(&elements, &symbol)?.into(),
        slots: lower(layout.physical_elements(), &symbol)?.into(),
        dense_bytes: lower(&dense_bytes, &symbol)?.into(),
        bytes: lower(&buffer_bytes(&context, layout.physical_elements())?, &symbol)?.into(),
        symbols,
        axes,
    })
}

/// Definition of the constant `fill`, the value of padding elements.
pub(super) fn fill_stmt(tensor: &Tensor) -> Stmt {
    let bits = fill::bytes(tensor.dtype, tensor.fill).unwrap_or_default();
    let bits = fill::digits(tensor.dtype, &bits);
    let (name, element) = ("fill".to_owned(), tensor.dtype.to_string());
    Stmt::LetElement { name, element, bits, spelling: Spelling::Number }
}

/// Maximum number of sets of symbol values that a tensor, conversion or kernel is tested with.
const CASES: usize = 10;
/// Size limit of the test program in bytes: it does not fill buffers of this size or more.
const LIMIT_BYTES: i128 = 64 << 20;

/// Values of `symbols` to test with, one inner vector per case, in ascending order: the least values, and random
/// values, distributed over orders of magnitude. Random values are reduced until the buffers of `contexts` are smaller
/// than [`LIMIT_BYTES`], or the least values are reached. At most [`CASES`] cases; one empty case without symbols.
pub(super) fn cases(symbols: &[&Symbol], contexts: &[&Context<'_>]) -> Vec<Vec<i64>> {
    if symbols.is_empty() {
        return vec![Vec::new()];
    }
    let mut random = Random(12345);
    let mut cases: Vec<Vec<i64>> = Vec::new();
    for round in 0..CASES.saturating_mul(8) {
        let mut steps: Vec<i128> = symbols
            .iter()
            .map(|symbol| if round == 0 { 0 } else { random.steps(symbol) })
            .collect();
        let values = |steps: &[i128]| -> Vec<i128> {
            let value = |(symbol, steps): (&&Symbol, &i128)| {
                least(symbol).saturating_add(symbol.multiple.max(1).saturating_mul(*steps))
            };
            symbols.iter().zip(steps).map(value).collect()
        };
        while steps.iter().any(|steps| *steps > 0) && !fits(symbols, &values(&steps), contexts) {
            steps.iter_mut().for_each(|steps| *steps >>= 1);
        }
        let case: Vec<i64> =
            values(&steps).into_iter().filter_map(|value| i64::try_from(value).ok()).collect();
        if case.len() == symbols.len() && !cases.contains(&case) {
            cases.push(case);
        }
        if cases.len() == CASES {
            break;
        }
    }
    cases.sort();
    cases
}

/// Least value of a symbol that is at least 0 and satisfies its declared minimum and multiple.
pub(super) fn least(symbol: &Symbol) -> i128 {
    let step = symbol.multiple.max(1);
    let min = symbol.min.max(0);
    min.saturating_add((step - min.rem_euclid(step)).rem_euclid(step))
}

/// True if the buffer and the dense buffer of each tensor in `contexts` have fewer than [`LIMIT_BYTES`] bytes, and the
/// buffer has fewer slots than this number, for the values `values` of `symbols`.
pub(super) fn fits(symbols: &[&Symbol], values: &[i128], contexts: &[&Context<'_>]) -> bool {
    contexts.iter().all(|context| {
        let value = |var: Var| {
            let known = context.symbols.iter().find(|known| var == Var::Symbol(known.number))?;
            let place = symbols.iter().position(|symbol| symbol.name == known.facts.name)?;
            values.get(place).copied()
        };
        let slots = context.layout.physical_elements();
        let small = |size: &Algebra| size.evaluate(&value).is_ok_and(|size| size < LIMIT_BYTES);
        let dense = count(context.layout.logical());
        let dense = dense.and_then(|dense| logical_bytes(context, &dense));
        let sizes = [buffer_bytes(context, slots), dense];
        small(slots) && sizes.iter().all(|size| size.as_ref().is_ok_and(small))
    })
}

/// Linear congruential generator, so that every build has the same cases.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// Random number of steps above the least value of a symbol, distributed over bit widths of at most 26. A step is
    /// the declared `multiple` of the symbol.
    fn steps(&mut self, symbol: &Symbol) -> i128 {
        let most = (symbol.max - least(symbol)).checked_div(symbol.multiple.max(1)).unwrap_or(0);
        let width = u64::from(i128::BITS - most.max(0).leading_zeros()).min(26);
        let bits = self.next() % (width + 1);
        i128::from(self.next() & ((1_u64 << bits) - 1)).min(most)
    }
}
