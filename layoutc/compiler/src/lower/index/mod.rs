//! Index functions of one tensor: offset, physical indices, counts, and the check of its symbols.

pub(crate) mod domain;
pub(crate) mod inverse;
pub(crate) mod ring;
pub(crate) mod sharding;

use layoutc_algebra::expr::{BinOp, Expr as Algebra, Var};
use layoutc_algebra::symbol::Axis;

use crate::base::dtype::Dtype;
use crate::ir::{Compare, Expr, Function, Param, ParamType, Returns, Stmt};
use crate::loops::arith::{ceil_div, fold, product, scale, sum};
use crate::loops::error::PlanError;
use crate::loops::range::Range;
use crate::loops::relayout::address_map::dense_strides;
use crate::lower::context::{Context, NamedSymbol};
use crate::lower::expr::{Binding, Scope, literal, lower, range};
use crate::lower::names::Namer;

/// Property of a tensor, such as an extent or a stride, that is generated as a constant, or as a function if it depends
/// on symbols.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quantity {
    /// Name without the tensor's name: `extent_n`. A constant has it in upper case.
    pub name: String,
    /// Doc comment of the constant.
    pub doc: String,
    /// Value of the constant, over the symbols' identifiers.
    pub value: Expr,
}

/// Parameters of a function of symbols and indices along axes, and the bindings of the variables in its expressions.
pub(crate) struct Signature<'a> {
    context: &'a Context<'a>,
    /// Parameters for the symbols, then for the axes.
    pub(crate) params: Vec<Param>,
    /// Parameter of each axis as a binding: the binding of `Var::Axis(k)` is `axes[k]`.
    pub(crate) axes: Vec<Binding>,
}

impl<'a> Signature<'a> {
    /// Signature with parameters for the symbols, then for `axes`, each with the range `0..extent`.
    pub(crate) fn new(context: &'a Context<'a>, namer: &mut Namer<'_>, axes: &[Axis]) -> Self {
        let mut params = symbol_params(context, namer);
        let symbol = |var| context.symbol(var);
        let mut bindings = Vec::new();
        for axis in axes {
            let name = namer.name(&axis.name);
            let high = range(&axis.extent, &symbol).high.map(|extent| extent - 1);
            let tree = Expr::name(&name);
            bindings.push(Binding { tree, range: Range { low: Some(0), high } });
            params.push(Param { name, ty: ParamType::Index });
        }
        Self { context, params, axes: bindings }
    }

    /// Binding of a symbol or an axis; `None` for any other variable.
    pub(crate) fn binding(&self, var: Var) -> Option<Binding> {
        match var {
            Var::Axis(k) => self.axes.get(usize::try_from(k).ok()?).cloned(),
            Var::Symbol(_) => self.context.symbol(var),
            Var::Storage(_) | Var::Physical(_) | Var::Digit(_) => None,
        }
    }
}

/// Parameters for the symbols of a tensor, in the order of [`Context::symbols`]. Their identifiers are those of the
/// context if `namer` has no names in use.
pub(crate) fn symbol_params(context: &Context<'_>, namer: &mut Namer<'_>) -> Vec<Param> {
    let param = |symbol: &NamedSymbol<'_>| Param {
        name: namer.name(&symbol.facts.name),
        ty: ParamType::Index,
    };
    context.symbols.iter().map(param).collect()
}

fn axis_list(axes: &[Axis]) -> String {
    axes.iter().map(|axis| axis.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// `symbols_ok(symbols)`: true if every symbol has a value for which the layout is proven; `None` without symbols.
pub(crate) fn symbols_ok(context: &Context<'_>) -> Option<Function> {
    if context.symbols.is_empty() {
        return None;
    }
    let mut namer = Namer::new(context.naming.avoid);
    let params = symbol_params(context, &mut namer);
    let mut args = Vec::new();
    for NamedSymbol { facts: symbol, name, .. } in &context.symbols {
        let name = || Expr::name(name);
        if let Ok(min) = literal(symbol.min) {
            args.push(Expr::compare(Compare::Ge, name(), min));
        }
        if let (Ok(max), true) = (literal(symbol.max), symbol.max < i128::from(i64::MAX)) {
            args.push(Expr::compare(Compare::Le, name(), max));
        }
        if let (Ok(multiple), true) = (literal(symbol.multiple), symbol.multiple > 1) {
            let rest = Expr::Mod { a: Box::new(name()), b: Box::new(multiple) };
            args.push(Expr::compare(Compare::Eq, rest, Expr::int(0)));
        }
    }
    let value = if args.len() == 1 { args.swap_remove(0) } else { Expr::All { args } };
    Some(Function {
        name: context.function("symbols_ok"),
        doc: vec!["Whether the symbols have values that the layout is proven for.".to_owned()],
        returns: Returns::Bool,
        params,
        body: vec![Stmt::Return { value }],
    })
}

/// Counts, extents, strides, size and alignment of a tensor, and the size of its image, in the order in which they are
/// printed.
pub(crate) fn quantities(context: &Context<'_>) -> Result<Vec<Quantity>, PlanError> {
    let layout = context.layout;
    let symbol = |var| context.symbol(var);
    let mut all = Vec::new();
    let mut push = |name: String, doc: String, value: &Algebra| {
        let value = lower(value, &symbol)?;
        all.push(Quantity { name, doc, value });
        Ok::<(), PlanError>(())
    };
    let rank = |n: usize| i128::try_from(n).map(Algebra::constant).map_err(|_| PlanError::Scope);
    push("rank".to_owned(), "Logical axes.".to_owned(), &rank(layout.logical().len())?)?;
    for axis in layout.logical() {
        let doc = ["Extent of axis ", &axis.name, "."].concat();
        push(["extent_", &axis.name].concat(), doc, &axis.extent)?;
    }
    for axis in layout.storage() {
        let doc = ["Extent of storage axis ", &axis.name, "."].concat();
        push(["storage_extent_", &axis.name].concat(), doc, &axis.extent)?;
    }
    for (axis, stride) in layout.storage().iter().zip(layout.strides()) {
        let doc = ["Elements between neighbours along storage axis ", &axis.name, "."].concat();
        push(["stride_", &axis.name].concat(), doc, stride)?;
    }
    let physical_rank = rank(layout.physical_shape().len())?;
    push("physical_rank".to_owned(), "Physical axes.".to_owned(), &physical_rank)?;
    for (k, extent) in layout.physical_shape().iter().enumerate() {
        push(format!("physical_extent_{k}"), format!("Extent of physical axis {k}."), extent)?;
    }
    let logical = "Elements of the tensor.".to_owned();
    push("logical_elements".to_owned(), logical, layout.logical_elements())?;
    let physical = "Slots of the buffer, padding included.".to_owned();
    push("physical_elements".to_owned(), physical, layout.physical_elements())?;
    let bytes = buffer_bytes(context, layout.physical_elements())?;
    push("bytes".to_owned(), "Bytes of the buffer.".to_owned(), &bytes)?;
    let alignment = Algebra::constant(i128::from(layout.alignment_bytes()));
    push("alignment".to_owned(), "Alignment of the buffer, in bytes.".to_owned(), &alignment)?;
    if let Some(origin) = layout.origin() {
        let doc = "Offset of the first element, in elements: aligned as the buffer is.".to_owned();
        push("origin_offset".to_owned(), doc, &origin.offset)?;
    }
    if let Some(image) = crate::loops::image::of(context.tensor)? {
        push("image_width".to_owned(), "Texels along a row.".to_owned(), &image.width)?;
        push("image_height".to_owned(), "Rows of an image.".to_owned(), &image.height)?;
        if let Some(layers) = &image.layers {
            push("image_layers".to_owned(), "Images of the array.".to_owned(), layers)?;
        }
        let rows =
            layout.physical_strides().iter().rev().nth(1).unwrap_or(layout.physical_elements());
        let pitch = scale(rows, context.bits().checked_div(8).unwrap_or(1))?;
        push("image_row_pitch".to_owned(), "Bytes of a row.".to_owned(), &pitch)?;
    }
    Ok(all)
}

/// Size of `elements` elements of the tensor's type in bytes, rounded up: sub-byte elements are packed, so that 3
/// elements of 4 bits take 2 bytes.
pub(crate) fn buffer_bytes(
    context: &Context<'_>,
    elements: &Algebra,
) -> Result<Algebra, PlanError> {
    bytes_of(context.tensor.dtype, elements)
}

/// Size of `elements` elements in bytes as in [`buffer_bytes`], but of the element type of the dense row-major buffer
/// that pack reads and unpack writes.
pub(crate) fn logical_bytes(
    context: &Context<'_>,
    elements: &Algebra,
) -> Result<Algebra, PlanError> {
    bytes_of(context.tensor.logical_dtype(), elements)
}

fn bytes_of(dtype: Dtype, elements: &Algebra) -> Result<Algebra, PlanError> {
    match dtype.byte_group() {
        (1, bytes) => Ok(scale(elements, bytes.into())?),
        // 8 elements of 1 bit, 4 of 2 bits or 2 of 4 bits share a byte.
        (several, 1) => Ok(ceil_div(elements, several.into())?),
        _ => bytes_of_stream(dtype, elements, 7),
    }
}

/// Number of bytes `(elements * bits + more) // 8`, `bits` being the width of an element of `dtype`, computed without
/// intermediate values much greater than the result.
fn bytes_of_stream(dtype: Dtype, elements: &Algebra, more: i128) -> Result<Algebra, PlanError> {
    let (several, bytes) = dtype.byte_group();
    let several = Algebra::constant(several.into());
    let whole = scale(&fold(BinOp::FloorDiv, elements, &several)?, bytes.into())?;
    let rest = scale(&fold(BinOp::Mod, elements, &several)?, dtype.element_bits().into())?;
    let rest = sum(&rest, &Algebra::constant(more))?;
    Ok(sum(&whole, &fold(BinOp::FloorDiv, &rest, &Algebra::constant(8))?)?)
}

/// `offset(symbols, axes)`: offset of the element at a logical index in the flat buffer, in elements.
pub(crate) fn offset(context: &Context<'_>) -> Result<Function, PlanError> {
    let axes = context.layout.logical();
    let doc = format!("Offset of element ({}) in the buffer, in elements.", axis_list(axes));
    expression(context, "offset", doc, context.layout.offset())
}

/// `index_0(symbols, axes)`, …: index along each physical axis of the element at a logical index, one function for each
/// physical axis; empty if there are fewer than two.
pub(crate) fn indices(context: &Context<'_>) -> Result<Vec<Function>, PlanError> {
    let map = context.layout.physical_map();
    if map.len() < 2 {
        return Ok(Vec::new());
    }
    let one = |(k, expr): (usize, &Algebra)| {
        let axes = axis_list(context.layout.logical());
        let doc = format!("Index of element ({axes}) along physical axis {k}.");
        expression(context, &format!("index_{k}"), doc, expr)
    };
    map.iter().enumerate().map(one).collect()
}

fn expression(
    context: &Context<'_>,
    what: &str,
    doc: String,
    value: &Algebra,
) -> Result<Function, PlanError> {
    let mut namer = Namer::new(context.naming.avoid);
    let signature = Signature::new(context, &mut namer, context.layout.logical());
    let value = lower(value, &|var| signature.binding(var))?;
    let mut doc = vec![doc];
    if divides(&value) {
        doc.push(
            "Indices lie inside the extents: what is divided must not be negative.".to_owned(),
        );
    }
    let function = Function {
        name: context.function(what),
        doc,
        returns: Returns::Index,
        params: signature.params,
        body: vec![Stmt::Return { value }],
    };
    Ok(function)
}

/// True if an expression has a truncating division, or its remainder, by anything but a constant power of two: it needs
/// a non-negative dividend, while a division by a power of two is a shift.
fn divides(tree: &Expr) -> bool {
    let mut found = false;
    tree.visit(&mut |expr| {
        if let Expr::Div { b, .. } | Expr::Mod { b, .. } = expr {
            let power = matches!(**b, Expr::Int { value } if value.count_ones() == 1);
            found |= !power;
        }
    });
    found
}

/// Offset of an element in the dense row-major buffer of a tensor with the logical axes `axes`, in elements. `names`
/// are the identifiers of the indices, one for each axis.
pub(crate) fn dense_offset(
    axes: &[Axis],
    names: &[String],
    scope: &Scope<'_>,
) -> Result<Expr, PlanError> {
    let mut offset = Expr::int(0);
    for (name, stride) in names.iter().zip(dense_strides(axes)?) {
        let term = crate::lower::expr::multiply(Expr::name(name), lower(&stride, scope)?)?;
        offset = crate::lower::expr::add(offset, term)?;
    }
    Ok(offset)
}

/// Pair of the number of bytes of a packed buffer that `elements` elements fill completely, and of the size of the
/// buffer in bytes: (1, 2) for 3 elements of 4 bits.
pub(crate) fn whole_bytes(
    context: &Context<'_>,
    elements: &Algebra,
) -> Result<(Algebra, Algebra), PlanError> {
    let dtype = context.tensor.dtype;
    let whole = match dtype.byte_group() {
        (several, 1) => fold(BinOp::FloorDiv, elements, &Algebra::constant(several.into()))?,
        _ => bytes_of_stream(dtype, elements, 0)?,
    };
    Ok((whole, buffer_bytes(context, elements)?))
}

/// Product of the extents of `axes`: the number of logical indices within the extents.
pub(crate) fn count(axes: &[Axis]) -> Result<Algebra, PlanError> {
    let mut count = Algebra::constant(1);
    for axis in axes {
        count = product(&count, &axis.extent)?;
    }
    Ok(count)
}
