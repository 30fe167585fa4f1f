//! Construction of the template model of a manifest from its plans.

use std::collections::BTreeSet;

use layoutc_algebra::expr::{Expr as Algebra, Var};
use layoutc_algebra::layout::Layout;
use layoutc_algebra::symbol::{Axis, Symbol};

use super::compute_unit::{self, relayout};
use super::dialect::Dialect;
use super::lengths::{self, Buffer};
use super::model::{
    AxisUnit, ComputeUnit, Constant, ConvertUnit, Language, PackFromUnit, Packed, SpaceUnit,
    TensorUnit, Unit, VERSION,
};
use super::print::{self, Style};
use super::runtime::{self, UnitRuntime};
use super::shared::Shared;
use super::{
    Part, Settings, arithmetic, bench_unit, casts, compute_test, element, float_bits, globals,
    index_range, kernels, macros, plan_fault, register_transposes, requirements, reshard_unit,
    schedule_unit, target_limits, test_unit, types, view_unit,
};
use crate::base::cast::Cast;
use crate::base::diagnostic::Diagnostic;
use crate::base::fill;
use crate::emit::syntax::{Expr, Function};
use crate::ir::{self, Returns, Stmt};
use crate::loops::error::PlanError;
use crate::loops::range::Range;
use crate::lower::context::{Context, Naming};
use crate::lower::expr::{Binding, lower};
use crate::lower::index::{Quantity, ring, sharding};
use crate::model::{Manifest, Memory, PackFrom, Tensor, fill_fault};
use crate::plan;

/// Template model of a manifest, with an empty stamp. `out_stem` is the path of the generated files without extension.
/// `Err` has all diagnostics of the first step that fails: the check of fill values and tensors, the names, or the
/// plans.
pub(super) fn build(
    manifest: &Manifest,
    settings: &Settings,
    out_stem: &str,
) -> Result<Unit, Vec<Diagnostic>> {
    let mut faults: Vec<Diagnostic> = manifest.tensors.iter().filter_map(fill_fault).collect();
    faults.extend(target_limits::faults(manifest, settings));
    if !faults.is_empty() {
        return Err(faults);
    }
    let globals = globals::globals(manifest, settings)?;
    let (dialect, language) = (settings.dialect, settings.language);
    let avoid = |name: &str| {
        dialect.keywords.is_avoided(name)
            || dialect.called.contains(&name)
            || globals.contains(name)
    };
    let naming = Naming { prefix: &settings.prefix, avoid: &avoid, options: settings.options() };
    let mut tensors = Vec::new();
    for tensor in &manifest.tensors {
        if let Some(fault) = index_range::index_fault(tensor, &naming, settings) {
            faults.push(fault);
            continue;
        }
        match tensor_unit(tensor, &naming, settings) {
            Ok(unit) => tensors.push(unit),
            Err(error) => {
                faults.push(plan_fault(tensor.places.layout.clone(), &tensor.name, &error));
            }
        }
    }
    let mut views = Vec::new();
    for view in &manifest.views {
        match view_unit::build(manifest, view, &naming, settings) {
            Ok(unit) => views.push(unit),
            Err(fault) => faults.push(fault),
        }
    }
    // The test program also calls the conversions of tensors without elements.
    let logical = manifest.tensors.iter().filter_map(|tensor| tensor.pack_from);
    let mut called: BTreeSet<Cast> = logical.flat_map(|from| [from.pack, from.unpack]).collect();
    let mut converts = Vec::new();
    for convert in &manifest.converts {
        match convert_unit(manifest, convert, &naming, settings) {
            Ok(unit) => {
                called.extend(convert.cast.filter(|_| unit.is_some()));
                converts.extend(unit);
            }
            Err(error) => {
                let tensors = [convert.from, convert.to].map(|of| manifest.tensor(of));
                let [from, to] = tensors.map(|tensor| tensor.map_or("", |tensor| &tensor.name));
                let name = format!("{from}_to_{to}");
                faults.push(plan_fault(convert.place.clone(), &name, &error));
            }
        }
    }
    let mut reshards = Vec::new();
    for reshard in &manifest.reshards {
        match reshard_unit::reshard(manifest, reshard, &naming, settings) {
            Ok(unit) => reshards.extend(unit),
            Err(error) => faults.push(plan_fault(reshard.place.clone(), "the exchange", &error)),
        }
    }
    let mut computes = Vec::new();
    for compute in &manifest.computes {
        match compute_unit::build(manifest, compute, &naming, settings) {
            Ok(unit) => computes.push(unit),
            Err(error) => faults.push(plan_fault(compute.place.clone(), &compute.name, &error)),
        }
    }
    let mut schedules = Vec::new();
    // Calls of a schedule can be resolved only if all conversions were planned.
    let wanted = if faults.is_empty() { manifest.schedules.as_slice() } else { &[] };
    for schedule in wanted {
        match schedule_unit::build(manifest, schedule, &converts, settings) {
            Ok(unit) => schedules.push(unit),
            Err(fault) => faults.push(fault),
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let emit = settings.parts();
    let (guard, files) = globals::file_names(out_stem, &settings.prefix);
    let guard = format!("{guard}{}", settings.language.macros);
    let tests: Vec<_> = computes.iter().filter_map(|c: &ComputeUnit| c.test.as_deref()).collect();
    let computed = compute_test::computed(manifest, &tests, &naming, dialect);
    let computed = computed.map_err(|error| {
        let place = manifest.computes.first().map(|compute| compute.place.clone());
        place.map(|place| plan_fault(place, "the tests", &error)).into_iter().collect::<Vec<_>>()
    })?;
    let all = manifest.tensors.iter().chain(manifest.views.iter().map(|view| &view.tensor));
    let mut unit = Unit {
        version: VERSION,
        target: settings.target.clone(),
        generator: format!("layoutc {}", env!("CARGO_PKG_VERSION")),
        manifest: manifest.path.clone(),
        files,
        stamp_name: format!("{guard}_STAMP"),
        guard: format!("{guard}_H"),
        stamp: String::new(),
        emit,
        language: Language {
            name: settings.language.name.to_owned(),
            standard: settings.standard.clone(),
            index: dialect.index.to_owned(),
            index_format: dialect.index_format.to_owned(),
            inline: dialect.inline.to_owned(),
            pointer: dialect.pointer.to_owned(),
            work_size: dialect.work_size.to_owned(),
            helper: dialect.helper.to_owned(),
            wide_index: dialect.for_bytes().index.to_owned(),
            wide_helper: dialect.for_bytes().helper.to_owned(),
            title: settings.language.title.to_owned(),
            header_suffix: settings.language.header_suffix().to_owned(),
            runtime: settings.language.runtime.to_owned(),
            compiler_macro: settings.language.compiler_macro.to_owned(),
        },
        header_includes: Vec::new(),
        source_includes: Vec::new(),
        host_helpers: Vec::new(),
        wide_helpers: Vec::new(),
        helpers: Vec::new(),
        runtime: Vec::new(),
        runtime_header: None,
        runtime_stamp: None,
        register_transposes: Vec::new(),
        test_helpers: Vec::new(),
        conversions: types::conversions(dialect, &manifest.tensors),
        float_bits: Vec::new(),
        casts: Vec::new(),
        arithmetic: Vec::new(),
        test_arithmetic: Vec::new(),
        structures: types::structures(dialect, all),
        tensors,
        views,
        converts,
        reshards,
        computes,
        computed,
        schedules,
    };
    let tests = requirements::of_tests(&unit);
    let cores = requirements::of_cores(&unit);
    let has_kernels = unit.computes.iter().any(|c| c.function.is_some() && !c.is_relayout);
    let own = UnitRuntime::new(&cores, has_kernels, settings.runtime);
    unit.runtime = own.sections;
    if own.is_shared {
        unit.runtime_header = Some(runtime::header::NAME.to_owned());
        unit.runtime_stamp = Some(runtime::header::stamp(dialect.index));
    }
    let mut needs = if language.kernels { requirements::of_kernels(&unit) } else { cores };
    unit.arithmetic = arithmetic::of(&needs, dialect);
    unit.register_transposes = register_transposes::of(&needs, dialect);
    if !language.kernels {
        called.extend(&tests.casts);
        needs.casts.extend(called);
    }
    let casts = casts::defined(&needs.casts);
    unit.casts = casts.iter().map(|cast| casts::unit(*cast, dialect)).collect();
    let has_small_floats = !unit.conversions.is_empty() && !language.kernels;
    unit.float_bits = float_bits::of(&casts, has_small_floats, dialect);
    needs.extend(&requirements::of_indices(&unit));
    unit.source_includes = requirements::includes(&needs, dialect);
    unit.source_includes = runtime::includes(unit.source_includes, &unit.runtime);
    needs.extend(&requirements::of_sizes(&unit, language.kernels));
    unit.helpers = requirements::helpers(&needs);
    let plain = Dialect::find(language.name, dialect.index).map_or(dialect, |[_, plain]| plain);
    unit.test_arithmetic = arithmetic::of(&tests, plain);
    unit.test_helpers = requirements::helpers(&tests);
    unit.host_helpers = requirements::helpers(&requirements::of_host(&unit));
    if dialect.index != dialect.for_bytes().index {
        unit.wide_helpers = requirements::helpers(&requirements::of_bytes(&unit));
    }
    let dtypes = types::of(manifest.tensors.iter());
    let holds = |scalar| dtypes.iter().any(|dtype| dtype.scalar == scalar);
    let scalars = language.scalar_includes.iter().filter(|row| holds(row.0)).map(|row| row.1);
    let includes = language.includes.iter().copied().chain(scalars);
    unit.header_includes = includes.map(str::to_owned).collect();
    let conversions = unit.emit.pack && !unit.float_bits.is_empty();
    let recasts = unit.emit.index && unit.views.iter().any(|view| view.recast);
    let places = unit.structures.iter().any(|structure| !structure.asserts.is_empty());
    if places && !dialect.offset_of.is_empty() {
        unit.header_includes.push("stddef.h".to_owned());
    }
    if (conversions || recasts) && !language.kernels {
        unit.header_includes.push("string.h".to_owned());
    }
    Ok(unit)
}

fn tensor_unit(
    tensor: &Tensor,
    naming: &Naming<'_>,
    settings: &Settings,
) -> Result<TensorUnit, PlanError> {
    let mut plan = plan::tensor(tensor, naming)?;
    let ident = naming.tensor(&tensor.name);
    let upper = ident.to_ascii_uppercase();
    let promised = plan.symbols_ok.as_ref();
    let mut quantities = std::mem::take(&mut plan.quantities);
    let context = Context::new(tensor, naming);
    let sharding = match (&tensor.sharded, sharding::sharding(&context)?) {
        (Some(sharded), Some(mut cut)) => {
            quantities.append(&mut cut.quantities);
            Some(reshard_unit::sharding(sharded, cut, &context)?)
        }
        _ => None,
    };
    let ring = match (&tensor.ring, ring::ring(&context)?) {
        (Some(ring), Some(mut plan)) => {
            quantities.append(&mut plan.quantities);
            Some(reshard_unit::ring(ring, plan, &context)?)
        }
        _ => None,
    };
    let (constants, counts) = constants(tensor, &quantities, promised, &upper, &ident);
    let layout = &tensor.layout;
    let dtype = tensor.dtype.to_string();
    let symbol = |var| context.symbol(var);
    let axes = |axes: &[Axis]| {
        axes.iter()
            .map(|axis| {
                let extent = lower(&axis.extent, &symbol)?.into();
                Ok(AxisUnit { name: axis.name.clone(), extent, labels: Vec::new() })
            })
            .collect::<Result<Vec<_>, PlanError>>()
    };
    let mut logical = axes(layout.logical())?;
    for (axis, labels) in logical.iter_mut().zip(&tensor.labels) {
        axis.labels.clone_from(labels);
    }
    let physical = layout.physical_shape().iter().map(|extent| lower(extent, &symbol));
    let sized = |function, buffers: [Buffer; 2]| {
        let function = relayout(function, naming, settings);
        lengths::with(function, buffers.map(|buffer| (&context, buffer)), settings)
    };
    Ok(TensorUnit {
        name: tensor.name.clone(),
        element: element::type_name(settings.dialect, &dtype, false),
        in_buffer: element::type_name(settings.dialect, &dtype, true),
        pack_from: tensor.pack_from.map(|logical| pack_from(logical, settings)),
        packed: packed(tensor, &ident),
        axes: logical,
        storage_axes: axes(layout.storage())?.into(),
        physical: physical
            .map(|extent| extent.map(Shared::<Expr>::from))
            .collect::<Result<_, _>>()?,
        map: map_text(tensor)?,
        memory_space: tensor.space.as_ref().map(|space| SpaceUnit {
            name: space.name.clone(),
            bytes: space.bytes.and_then(|bytes| i64::try_from(bytes).ok()),
        }),
        sharding,
        ring,
        steps: tensor.steps.clone(),
        counts_guard: counts_guard(&upper, tensor),
        constants: constants.into(),
        counts,
        test: test_unit::tensor(tensor, naming)?.into(),
        macros: if settings.emit.contains(&Part::Macros) {
            macros::of_plan(&plan)?
        } else {
            Vec::new()
        },
        bench: bench_unit::tensor(&context)?.into(),
        symbols_ok: plan.symbols_ok.map(Shared::<Function>::from),
        offset: plan.offset.into(),
        indices: plan.indices.into_iter().map(Shared::<Function>::from).collect(),
        logical: plan.logical.into(),
        domain: crate::model::layout_names::domain(tensor),
        in_domain: plan.in_domain.map(Shared::<Function>::from),
        pack: plan.pack.map(|function| sized(function, [Buffer::Dense, Buffer::Tensor])),
        unpack: plan.unpack.map(|function| sized(function, [Buffer::Tensor, Buffer::Dense])),
        image: if settings.language.kernels { kernels::image(tensor, &ident)? } else { None },
        moves: if settings.language.kernels {
            kernels::moves(tensor, naming, settings)?
        } else {
            Vec::new()
        },
        dtype,
        ident,
        upper,
    })
}

fn pack_from(logical: PackFrom, settings: &Settings) -> PackFromUnit {
    let dtype = logical.dtype.to_string();
    PackFromUnit {
        in_buffer: element::type_name(settings.dialect, &dtype, true),
        pack: casts::function(settings.dialect, logical.pack),
        unpack: casts::function(settings.dialect, logical.unpack),
        dtype,
    }
}

/// Pair (constants, functions) for the `quantities` of a tensor: a macro constant for a value that is an integer, a
/// function of the symbols for any other value. The labels of the axes follow the constants. `symbols_ok` has the
/// parameters of the functions. `upper` and `ident` start the names of the constants and of the functions.
pub(super) fn constants(
    tensor: &Tensor,
    quantities: &[Quantity],
    symbols_ok: Option<&ir::Function>,
    upper: &str,
    ident: &str,
) -> (Vec<Constant>, Vec<Shared<Function>>) {
    let mut constants = Vec::new();
    let mut counts = Vec::new();
    for quantity in quantities {
        if let ir::Expr::Int { .. } = quantity.value {
            let name = [upper, "_", &quantity.name.to_ascii_uppercase()].concat();
            constants.push(Constant { name, value: quantity.value.clone().into() });
            continue;
        }
        // All functions of the symbols alone have the same parameters.
        let params = symbols_ok.map(|f| f.params.clone()).unwrap_or_default();
        let function = ir::Function {
            name: format!("{ident}_{}", quantity.name),
            doc: vec![quantity.doc.clone()],
            returns: if quantity.name == "bytes" { Returns::Bytes } else { Returns::Index },
            params,
            body: vec![Stmt::Return { value: quantity.value.clone() }],
        };
        counts.push(function.into());
    }
    for labels in &tensor.labels {
        for (value, _) in (0_i64..).zip(labels) {
            constants.push(Constant { name: String::new(), value: Expr::int(value) });
        }
    }
    let labels = globals::label_names(tensor, upper);
    let start = constants.len().saturating_sub(labels.len());
    for (constant, (name, _)) in constants.iter_mut().skip(start).zip(labels) {
        constant.name = name;
    }
    (constants, counts)
}

/// Index map of a tensor as text: `(n, h, w, c) -> (n, c // 4, h | w, c % 4)`.
pub(super) fn map_text(tensor: &Tensor) -> Result<String, PlanError> {
    let layout = &tensor.layout;
    index_text(layout, layout.storage_map(), layout.separators())
}

/// Index map `indices` over the logical axes as text; `|` follows the indices at the positions in `separators`.
pub(super) fn index_text(
    layout: &Layout,
    indices: &[Algebra],
    separators: &[usize],
) -> Result<String, PlanError> {
    let named = |axes: &[Axis], k: u32| {
        let axis = axes.get(usize::try_from(k).ok()?)?;
        Some(Binding { tree: ir::Expr::name(&axis.name), range: Range::NATURAL })
    };
    let scope = |var: Var| match var {
        Var::Axis(k) => named(layout.logical(), k),
        Var::Symbol(k) => {
            let symbol = layout.symbols().get(usize::try_from(k).ok()?)?;
            Some(Binding { tree: ir::Expr::name(&symbol.name), range: Range::NATURAL })
        }
        Var::Storage(_) | Var::Physical(_) | Var::Digit(_) => None,
    };
    let names: Vec<&str> = layout.logical().iter().map(|axis| axis.name.as_str()).collect();
    let mut items = String::new();
    for (k, index) in indices.iter().enumerate() {
        if k > 0 {
            let separated = separators.iter().any(|at| at.checked_add(1) == Some(k));
            items.push_str(if separated { " | " } else { ", " });
        }
        items.push_str(&print::expr(Style::Python, &lower(index, &scope)?.into()));
    }
    Ok(format!("({}) -> ({items})", names.join(", ")))
}

/// Name of the macro that guards the sizes of a tensor, which headers of several targets define. `upper` is the
/// tensor's identifier in upper case. The name has a hash of the sizes, so that other sizes under the same names are
/// not skipped.
pub(super) fn counts_guard(upper: &str, tensor: &Tensor) -> String {
    let layout = &tensor.layout;
    let sizes = (layout.logical(), layout.storage(), layout.strides(), layout.physical_shape());
    let text = format!("{:?} {sizes:?} {}", layout.symbols(), tensor.dtype.element_bits());
    let hash = blake3::hash(text.as_bytes()).to_hex();
    let hash = hash.as_str().get(..8).unwrap_or_default().to_ascii_uppercase();
    format!("LAYOUTC_COUNTS_OF_{upper}_{hash}")
}

pub(super) fn packed(tensor: &Tensor, ident: &str) -> Option<Packed> {
    let bits = tensor.dtype.element_bits();
    if bits >= 8 {
        return None;
    }
    let signed = fill::is_signed(tensor.dtype.scalar);
    let (elements, bytes) = tensor.dtype.byte_group();
    Some(Packed {
        load: format!("{ident}_load"),
        store: format!("{ident}_store"),
        bits,
        shift: elements.trailing_zeros(),
        in_whole: elements.saturating_sub(1),
        bytes,
        mask: format!("0x{:X}", (1_u32 << bits) - 1),
        sign: signed.then(|| format!("0x{:X}", 1_u32 << (bits - 1))),
        high_first: tensor.high_first,
    })
}

fn convert_unit(
    manifest: &Manifest,
    convert: &crate::model::Convert,
    naming: &Naming<'_>,
    settings: &Settings,
) -> Result<Option<ConvertUnit>, PlanError> {
    let (Some(from), Some(to)) = (manifest.tensor(convert.from), manifest.tensor(convert.to))
    else {
        return Ok(None);
    };
    if [from, to].iter().any(|tensor| tensor.memory == Memory::None) {
        return Ok(None);
    }
    let Some(moved) = plan::convert(manifest, convert, naming)? else { return Ok(None) };
    let contexts = [from, to].map(|tensor| Context::new(tensor, naming));
    let mut facts: Vec<&Symbol> = Vec::new();
    for symbol in contexts.iter().flat_map(|context| &context.symbols) {
        if facts.iter().all(|known| known.name != symbol.facts.name) {
            facts.push(symbol.facts);
        }
    }
    let stored = |of| test_unit::stored(manifest, of, naming, settings.dialect);
    let tests = [stored(convert.from)?, stored(convert.to)?];
    // Symbols have identifiers of their own in the test program, which may differ from the function's parameters.
    let mut symbols: Vec<(&str, String)> = Vec::new();
    for (context, test) in contexts.iter().zip(&tests) {
        for (symbol, name) in context.symbols.iter().zip(&test.test.symbols) {
            if symbols.iter().all(|(known, _)| *known != symbol.facts.name) {
                symbols.push((&symbol.facts.name, name.clone()));
            }
        }
    }
    let symbols = symbols.into_iter().map(|(_, name)| name).collect();
    let moves = if settings.language.kernels {
        kernels::convert(manifest, convert, naming, settings)?
    } else {
        None
    };
    let [from, to] = tests;
    let buffers = contexts.each_ref().map(|context| (context, Buffer::Tensor));
    let function = lengths::with(relayout(moved.function, naming, settings), buffers, settings);
    Ok(Some(ConvertUnit {
        moves,
        from,
        to,
        axes: convert.axes.clone(),
        cast: convert.cast.map(|cast| casts::function(settings.dialect, cast)),
        symbols,
        cases: test_unit::cases(&facts, &contexts.each_ref()),
        bench: bench_unit::convert(&facts, &contexts)?.into(),
        function,
    }))
}
