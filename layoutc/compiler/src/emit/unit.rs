//! The template model of one manifest, from its plans.

use std::collections::{BTreeMap, BTreeSet};

use layoutc_algebra::layout::{Axis, Layout, Symbol};

use super::dialect::C;
use super::model::{
    AxisUnit, Constant, ConvertUnit, Files, Packed, Parts, SmallFloat, Structure, TensorUnit, Unit,
    VERSION,
};
use super::print::{self, Style, power_of_two};
use super::{CSettings, Part, element, place, plan_fault, test_unit};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Place};
use crate::dtype::{Dtype, Scalar};
use crate::fill;
use crate::model::{Fill, FillValue, Manifest, Memory, Tensor};
use crate::plan::lower::{Binding, PlanError, Range, lower};
use crate::plan::tree::{Expr, Function, Param, ParamType, Returns, Stmt};
use crate::plan::{self, Naming, TensorPlan};
use layoutc_algebra::expr::Var;
use layoutc_algebra::layout::Verdict;

/// Everything but the stamp.
pub(super) fn build(
    manifest: &Manifest,
    settings: &CSettings,
    out_stem: &str,
) -> Result<Unit, Vec<Diagnostic>> {
    let faults: Vec<Diagnostic> = manifest.tensors.iter().filter_map(fill_fault).collect();
    if !faults.is_empty() {
        return Err(faults);
    }
    let globals = globals(manifest, settings)?;
    let avoid = |name: &str| {
        C.reserved(name).is_some() || C.called.contains(&name) || globals.contains(name)
    };
    let naming = Naming { prefix: &settings.prefix, avoid: &avoid };
    let mut faults = Vec::new();
    let mut tensors = Vec::new();
    for tensor in &manifest.tensors {
        match tensor_unit(tensor, &naming) {
            Ok(unit) => tensors.push(unit),
            Err(error) => faults.push(plan_fault(tensor.place.clone(), &tensor.name, &error)),
        }
    }
    let mut converts = Vec::new();
    for convert in &manifest.converts {
        match convert_unit(manifest, convert, &naming) {
            Ok(unit) => converts.extend(unit),
            Err(error) => faults.push(plan_fault(place(&manifest.path), "convert", &error)),
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let asked = |part| settings.emit.contains(&part);
    let test = asked(Part::Test);
    let emit = Parts {
        constants: asked(Part::Constants) || test,
        index: asked(Part::Index) || asked(Part::Pack) || test,
        pack: asked(Part::Pack) || test,
        test,
    };
    let (guard, files) = file_names(out_stem, &settings.prefix);
    let mut unit = Unit {
        version: VERSION,
        generator: format!("layoutc {}", env!("CARGO_PKG_VERSION")),
        manifest: manifest.path.clone(),
        files,
        stamp_name: format!("{}_STAMP", guard.trim_end_matches("_H")),
        guard,
        stamp: String::new(),
        emit,
        header_includes: Vec::new(),
        source_includes: Vec::new(),
        helpers: Vec::new(),
        conversions: conversions(&manifest.tensors),
        structures: structures(&manifest.tensors),
        tensors,
        converts,
    };
    (unit.helpers, unit.source_includes) = needs(&unit);
    unit.header_includes = vec!["stdbool.h".to_owned(), "stdint.h".to_owned()];
    if unit.emit.pack && !unit.conversions.is_empty() {
        unit.header_includes.push("string.h".to_owned());
    }
    Ok(unit)
}

fn fill_fault(tensor: &Tensor) -> Option<Diagnostic> {
    if tensor.layout.verdict == Verdict::Bijective {
        return None;
    }
    let fault = fill::bits(tensor.dtype, tensor.fill).err()?;
    let value = match tensor.fill {
        Fill::Value(FillValue::Integer(value)) => value.to_string(),
        Fill::Value(FillValue::Float(value)) => format!("{value:?}"),
        Fill::Nothing => return None,
    };
    let message = format!(
        "`{}` cannot hold the fill value `{value}` as `{}`: {fault}",
        tensor.name, tensor.dtype
    );
    let help = "give a `fill` that the element type holds, or `fill none`";
    Some(Diagnostic::error(Code::PaddingFill, message, tensor.fill_place.clone(), "").help(help))
}

/// The guard macro and the files' names. A folder in the stem would let two guards collide: a hash tells them apart.
fn file_names(out_stem: &str, prefix: &str) -> (String, Files) {
    let name = out_stem.rsplit('/').next().unwrap_or(out_stem);
    let mut guard: String = format!("{prefix}{out_stem}")
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
        .collect();
    let plain = out_stem.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !plain {
        let hash = blake3::hash(out_stem.as_bytes()).to_hex();
        guard = format!("{guard}_{}", hash.as_str().get(..6).unwrap_or("").to_ascii_uppercase());
    }
    let starts_well = guard.bytes().next().is_some_and(|b| b.is_ascii_alphabetic());
    let guard = if starts_well { format!("{guard}_H") } else { format!("LAYOUT_{guard}_H") };
    let files = Files {
        header: format!("{name}.h"),
        source: format!("{name}.c"),
        test: format!("{name}_test.c"),
    };
    (guard, files)
}

/// Every identifier at file scope. Two that are equal are faults.
fn globals(manifest: &Manifest, settings: &CSettings) -> Result<BTreeSet<String>, Vec<Diagnostic>> {
    let mut owners: BTreeMap<String, String> = BTreeMap::new();
    let mut faults = Vec::new();
    let mut claim = |name: String, owner: String, at: &Place| {
        if let Some(other) = owners.get(&name) {
            let message = format!("`{name}` would be generated twice: for {other} and for {owner}");
            let fault = Diagnostic::error(Code::NameCollision, message, at.clone(), "");
            faults.push(fault.help("rename one of the two, or set another `prefix`"));
        } else if let Some(language) = super::reserved_function(&name) {
            let message = format!("`{name}`, generated for {owner}, belongs to {language}");
            let fault = Diagnostic::error(Code::NameCollision, message, at.clone(), "");
            faults.push(fault.help("rename it, or set a `prefix`"));
        } else {
            owners.insert(name, owner);
        }
    };
    for tensor in &manifest.tensors {
        let ident = format!("{}{}", settings.prefix, tensor.name);
        let upper = ident.to_ascii_uppercase();
        let owner = |what: &str| format!("{what} of tensor `{}`", tensor.name);
        for what in ["offset", "logical", "pack", "unpack", "load", "store", "symbols_ok"] {
            claim(format!("{ident}_{what}"), owner(what), &tensor.place);
        }
        for k in 0..tensor.layout.physical_shape.len() {
            claim(format!("{ident}_index_{k}"), owner("an index function"), &tensor.place);
        }
        for name in quantity_names(&tensor.layout) {
            claim(format!("{ident}_{name}"), owner(&name), &tensor.place);
            let what = name.replace('_', " ");
            claim(format!("{upper}_{}", name.to_ascii_uppercase()), owner(&what), &tensor.place);
        }
        for (macro_name, what) in label_names(tensor, &upper) {
            claim(macro_name, owner(&what), &tensor.place);
        }
    }
    for convert in &manifest.converts {
        let named = [convert.from, convert.to].map(|k| manifest.tensors.get(k));
        if let [Some(from), Some(to)] = named {
            let name = format!("{}{}_to_{}", settings.prefix, from.name, to.name);
            claim(
                name,
                format!("convert `{}` to `{}`", from.name, to.name),
                &place(&manifest.path),
            );
        }
    }
    if faults.is_empty() { Ok(owners.into_keys().collect()) } else { Err(faults) }
}

fn quantity_names(layout: &Layout) -> Vec<String> {
    let mut names: Vec<String> = ["rank", "physical_rank", "logical_elements", "physical_elements"]
        .iter()
        .chain(&["bytes", "alignment"])
        .map(|name| (*name).to_owned())
        .collect();
    names.extend(layout.logical.iter().map(|axis| format!("extent_{}", axis.name)));
    for axis in &layout.storage {
        names.push(format!("storage_extent_{}", axis.name));
        names.push(format!("stride_{}", axis.name));
    }
    names.extend((0..layout.physical_shape.len()).map(|k| format!("physical_extent_{k}")));
    names
}

/// The macros of labels, `INPUT_FIELD_X`, each with what it is.
fn label_names(tensor: &Tensor, upper: &str) -> Vec<(String, String)> {
    let mut names = Vec::new();
    for (axis, labels) in tensor.layout.logical.iter().zip(&tensor.labels) {
        let axis_upper = axis.name.to_ascii_uppercase();
        for label in labels {
            let name = format!("{upper}_{axis_upper}_{}", label.to_ascii_uppercase());
            names.push((name, format!("label `{label}`")));
        }
    }
    names
}

fn tensor_unit(tensor: &Tensor, naming: &Naming<'_>) -> Result<TensorUnit, PlanError> {
    let plan = plan::tensor(tensor, naming)?;
    let ident = naming.tensor(&tensor.name);
    let upper = ident.to_ascii_uppercase();
    let (constants, counts) = constants(tensor, &plan, &ident, &upper);
    let layout = &tensor.layout;
    let dtype = tensor.dtype.to_string();
    let context = plan::Context::new(tensor, naming);
    let symbol = |var| context.symbol(var);
    let axes = |axes: &[Axis]| {
        axes.iter()
            .map(|axis| {
                Ok(AxisUnit { name: axis.name.clone(), extent: lower(&axis.extent, &symbol)? })
            })
            .collect::<Result<Vec<_>, PlanError>>()
    };
    let physical = layout.physical_shape.iter().map(|extent| lower(extent, &symbol));
    Ok(TensorUnit {
        name: tensor.name.clone(),
        element: element::type_name(&C, &dtype, false),
        in_buffer: element::type_name(&C, &dtype, true),
        packed: packed(tensor, &ident),
        axes: axes(&layout.logical)?,
        storage_axes: axes(&layout.storage)?,
        physical: physical.collect::<Result<_, _>>()?,
        map: map_text(tensor)?,
        steps: tensor.steps.clone(),
        constants,
        counts,
        test: test_unit::tensor(tensor, naming)?,
        symbols_ok: plan.symbols_ok,
        offset: plan.offset,
        indices: plan.indices,
        logical: plan.logical,
        pack: plan.pack,
        unpack: plan.unpack,
        dtype,
        ident,
        upper,
    })
}

/// Constants where a value is an integer, functions of the symbols where it is not.
fn constants(
    tensor: &Tensor,
    plan: &TensorPlan,
    ident: &str,
    upper: &str,
) -> (Vec<Constant>, Vec<Function>) {
    let mut constants = Vec::new();
    let mut counts = Vec::new();
    for quantity in &plan.quantities {
        if let Expr::Int { .. } = quantity.value {
            let name = format!("{upper}_{}", quantity.name.to_ascii_uppercase());
            constants.push(Constant { name, value: quantity.value.clone() });
            continue;
        }
        // The parameters are those of any function over the symbols alone.
        let params = plan.symbols_ok.as_ref().map(|f| f.params.clone()).unwrap_or_default();
        let function = Function {
            name: format!("{ident}_{}", quantity.name),
            doc: vec![quantity.doc.clone()],
            returns: Returns::Index,
            params,
            body: vec![Stmt::Return { value: quantity.value.clone() }],
        };
        counts.push(function.with_unused());
    }
    for labels in &tensor.labels {
        for (value, _) in (0_i64..).zip(labels) {
            constants.push(Constant { name: String::new(), value: Expr::int(value) });
        }
    }
    let labels = label_names(tensor, upper);
    let start = constants.len().saturating_sub(labels.len());
    for (constant, (name, _)) in constants.iter_mut().skip(start).zip(labels) {
        constant.name = name;
    }
    (constants, counts)
}

/// `(n, h, w, c) -> (n, c // 4, h | w, c % 4)`.
fn map_text(tensor: &Tensor) -> Result<String, PlanError> {
    let layout = &tensor.layout;
    let named = |axes: &[Axis], k: u32| {
        let axis = axes.get(usize::try_from(k).ok()?)?;
        Some(Binding { tree: Expr::name(&axis.name), range: Range::NATURAL })
    };
    let scope = |var: Var| match var {
        Var::Axis(k) => named(&layout.logical, k),
        Var::Symbol(k) => {
            let symbol = layout.symbols.get(usize::try_from(k).ok()?)?;
            Some(Binding { tree: Expr::name(&symbol.name), range: Range::NATURAL })
        }
        Var::Storage(_) | Var::Physical(_) | Var::Digit(_) => None,
    };
    let names: Vec<&str> = layout.logical.iter().map(|axis| axis.name.as_str()).collect();
    let mut items = String::new();
    for (k, index) in layout.storage_map.iter().enumerate() {
        if k > 0 {
            let separated = layout.separators.iter().any(|at| at.checked_add(1) == Some(k));
            items.push_str(if separated { " | " } else { ", " });
        }
        items.push_str(&print::expr(Style::Python, &lower(index, &scope)?));
    }
    Ok(format!("({}) -> ({items})", names.join(", ")))
}

fn packed(tensor: &Tensor, ident: &str) -> Option<Packed> {
    let bits = tensor.dtype.element_bits();
    let signed = matches!(tensor.dtype.scalar, Scalar::I4 | Scalar::I2);
    let in_byte = 8_u32.checked_div(bits).filter(|_| bits < 8)?;
    Some(Packed {
        load: format!("{ident}_load"),
        store: format!("{ident}_store"),
        bits,
        shift: in_byte.trailing_zeros(),
        in_byte: in_byte.saturating_sub(1),
        mask: format!("0x{:X}", (1_u32 << bits) - 1),
        sign: signed.then(|| format!("0x{:X}", 1_u32 << (bits - 1))),
        high_first: tensor.high_first,
    })
}

fn convert_unit(
    manifest: &Manifest,
    convert: &crate::model::Convert,
    naming: &Naming<'_>,
) -> Result<Option<ConvertUnit>, PlanError> {
    let (Some(from), Some(to)) =
        (manifest.tensors.get(convert.from), manifest.tensors.get(convert.to))
    else {
        return Ok(None);
    };
    if [from, to].iter().any(|tensor| tensor.memory == Memory::None) {
        return Ok(None);
    }
    let Some(function) = plan::convert(manifest, convert, naming)? else { return Ok(None) };
    let mut symbols: Vec<Symbol> = Vec::new();
    for tensor in [from, to] {
        for symbol in plan::Context::new(tensor, naming).symbols {
            if symbols.iter().all(|known| known.name != symbol.facts.name) {
                symbols.push(symbol.facts.clone());
            }
        }
    }
    let facts: Vec<&Symbol> = symbols.iter().collect();
    let index = |param: &&Param| param.ty == ParamType::Index;
    let names = function.params.iter().filter(index).map(|param| param.name.clone()).collect();
    Ok(Some(ConvertUnit {
        from: convert.from,
        to: convert.to,
        axes: convert.axes.clone(),
        from_test: test_unit::tensor(from, naming)?,
        to_test: test_unit::tensor(to, naming)?,
        symbols: names,
        cases: test_unit::cases(&facts),
        function,
    }))
}

fn structures(tensors: &[Tensor]) -> Vec<Structure> {
    let mut dtypes: Vec<Dtype> = Vec::new();
    for tensor in tensors {
        // Lanes of complex numbers need the complex numbers first.
        dtypes.extend([Dtype { lanes: 1, ..tensor.dtype }, tensor.dtype]);
    }
    let mut structures: Vec<Structure> = Vec::new();
    for (name, members) in dtypes.into_iter().filter_map(|dtype| element::structure(&C, dtype)) {
        if structures.iter().all(|known| known.name != name) {
            let guard = format!("{}_DEFINED", name.to_ascii_uppercase());
            structures.push(Structure { name, guard, members });
        }
    }
    structures
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only small floats are converted")]
fn conversions(tensors: &[Tensor]) -> Vec<SmallFloat> {
    let small = |scalar: Scalar| {
        let [exponent_bits, mantissa_bits, bias] = match scalar {
            Scalar::F16 => [5, 10, 15],
            Scalar::Bf16 => [8, 7, 127],
            Scalar::F8e4m3fn => [4, 3, 7],
            Scalar::F8e5m2 => [5, 2, 15],
            Scalar::F8e8m0fnu => [8, 0, 127],
            Scalar::F4e2m1fn => [2, 1, 1],
            _ => return None,
        };
        let dtype = Dtype { scalar, lanes: 1 };
        let infinity = ((1_u32 << exponent_bits) - 1) << mantissa_bits;
        let (greatest, overflow, nan, has_nan) = match scalar {
            Scalar::F8e4m3fn => (0x7E, 0x7F, 0x7F, true),
            Scalar::F4e2m1fn => (0x7, 0x7, 0x7, false),
            Scalar::F8e8m0fnu => (0xFE, 0xFF, 0xFF, true),
            _ => (infinity - 1, infinity, infinity | 1 << (mantissa_bits - 1), true),
        };
        Some(SmallFloat {
            name: dtype.to_string(),
            holder: (C.scalars)(scalar).to_owned(),
            exponent_bits,
            mantissa_bits,
            bias,
            sign_shift: exponent_bits + mantissa_bits,
            greatest: format!("0x{greatest:X}u"),
            overflow: format!("0x{overflow:X}u"),
            nan: format!("0x{nan:X}u"),
            ieee: matches!(scalar, Scalar::F16 | Scalar::Bf16 | Scalar::F8e5m2),
            has_nan,
        })
    };
    let mut all: Vec<SmallFloat> = Vec::new();
    for float in tensors.iter().filter_map(|tensor| small(tensor.dtype.scalar)) {
        if all.iter().all(|known| known.name != float.name) {
            all.push(float);
        }
    }
    all.sort_by(|a, b| b.sign_shift.cmp(&a.sign_shift).then_with(|| a.name.cmp(&b.name)));
    all
}

/// The helpers that the printed trees call, and the headers that the source includes.
fn needs(unit: &Unit) -> (Vec<String>, Vec<String>) {
    let mut helpers = BTreeSet::new();
    let mut includes = BTreeSet::new();
    let tensor_functions = unit.tensors.iter().flat_map(|tensor| {
        let counts = tensor.counts.iter().chain(&tensor.indices).chain(&tensor.symbols_ok);
        counts.chain([&tensor.offset, &tensor.logical]).chain(&tensor.pack).chain(&tensor.unpack)
    });
    for function in tensor_functions.chain(unit.converts.iter().map(|c| &c.function)) {
        function.visit(&mut |expr| {
            helpers.extend(helper(expr));
        });
        for stmt in &function.body {
            includes.extend(include(stmt));
        }
    }
    let mut bounds = Vec::new();
    for test in unit.tensors.iter().map(|tensor| &tensor.test) {
        bounds.extend([&test.elements, &test.slots, &test.logical_bytes, &test.physical_bytes]);
        bounds.extend([&test.dense, &test.slot]);
        bounds.extend(test.axes.iter().chain(&test.physical).map(|axis| &axis.extent));
    }
    for bound in bounds {
        bound.visit(&mut |expr| helpers.extend(helper(expr)));
    }
    let owned = |names: BTreeSet<&str>| names.into_iter().map(str::to_owned).collect();
    (owned(helpers), owned(includes))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the other nodes are operators")]
fn helper(expr: &Expr) -> Option<&'static str> {
    match expr {
        Expr::FloorDiv { b, .. } if power_of_two(b).is_none() => Some("floor_div"),
        Expr::FloorMod { b, .. } if power_of_two(b).is_none() => Some("floor_mod"),
        Expr::Min { .. } => Some("min"),
        Expr::Max { .. } => Some("max"),
        _ => None,
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the other statements are the language alone")]
fn include(stmt: &Stmt) -> Option<&'static str> {
    match stmt {
        Stmt::Assert { .. } => Some("assert.h"),
        Stmt::Zero { .. } => Some("string.h"),
        Stmt::LetElement { element, bits, .. } => {
            let literal = element::literal(element, bits);
            (literal.contains("NAN") || literal.contains("INFINITY")).then_some("math.h")
        }
        _ => None,
    }
}
