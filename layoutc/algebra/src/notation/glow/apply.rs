//! Application of a Glow layout string to a [`LayoutBuilder`]: a permutation of the axes, and alignments of their
//! strides.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::super::{
    NotationError, NotationExtras, NotationFault, Remark, bind_letters, count_fault,
};
use super::parse::{SpannedAxis, read};
use crate::builder::LayoutBuilder;
use crate::expr::parse::Span;
use crate::map::{IndexMap, identity};

/// Permutes the current axes of `builder` to the order of the letters in `text`, and aligns their strides to `[a=…]`.
/// An attribute has no effect on the layout and gives a remark.
pub(in crate::notation) fn apply(
    text: &str,
    builder: &mut LayoutBuilder,
) -> Result<NotationExtras, NotationError> {
    let dims = read(text)?;
    let axes = builder.axes();
    let named: Vec<&SpannedAxis> = dims.iter().filter(|placed| !placed.dim.is_any()).collect();
    for (k, SpannedAxis { dim, span, .. }) in named.iter().enumerate() {
        let is_same = |before: &&SpannedAxis| before.dim.letter.eq_ignore_ascii_case(&dim.letter);
        if named.iter().take(k).any(is_same) {
            let message = format!("`{}` occurs twice", dim.letter);
            let fault = NotationFault::value(span.clone(), message);
            return Err(fault.help("write each axis once").into());
        }
    }
    if dims.len() != axes.len() {
        return Err(count_fault(dims.len(), "letter", axes, 0..text.len()).into());
    }
    let order = if named.len() == dims.len() {
        let letters: Vec<(char, Span)> =
            dims.iter().map(|placed| (placed.dim.letter, placed.span.clone())).collect();
        bind_letters(&letters, axes)?
    } else {
        any_order(&dims, builder)?
    };
    let IndexMap { items, separators } = identity(axes);
    let ordered: Vec<_> = order.iter().filter_map(|axis| items.get(*axis).cloned()).collect();
    let names: Vec<String> = ordered.iter().map(|item| item.name.clone()).collect();
    if order.iter().enumerate().any(|(k, axis)| k != *axis) {
        builder.apply(&IndexMap { items: ordered, separators })?;
    }
    for (align, name) in dims.iter().map(|placed| placed.dim.align()).zip(names) {
        if align != 1 {
            builder.align_axis(&name, i128::from(align))?;
        }
    }
    let unknown = |placed: &SpannedAxis| {
        let remark = |(span, (name, _)): (&Span, (&str, &str))| Remark {
            span: span.clone(),
            message: format!("layoutc does not interpret `{name}`; it is preserved"),
            help: "leave it out unless Glow needs it".to_string(),
        };
        placed.attributes.iter().zip(placed.dim.attributes()).map(remark).collect::<Vec<_>>()
    };
    Ok(NotationExtras {
        remarks: dims.iter().flat_map(unknown).collect(),
        ..NotationExtras::default()
    })
}

/// Binding of a layout string that contains `*`: for each entry of `dims`, the position of its axis among the current
/// axes of `builder`. A letter at position `k` binds to the axis of that name, ignoring case, or to axis `k` if there
/// is none. A `*` at position `k` binds to axis `k`. Two entries that bind to one axis are a fault.
fn any_order(dims: &[SpannedAxis], builder: &LayoutBuilder) -> Result<Vec<usize>, NotationFault> {
    let axes = builder.axes();
    let mut order = Vec::new();
    for (k, SpannedAxis { dim, span, .. }) in dims.iter().enumerate() {
        let named =
            axes.iter().position(|axis| axis.name.eq_ignore_ascii_case(&dim.letter.to_string()));
        let axis = if dim.is_any() { k } else { named.unwrap_or(k) };
        if order.contains(&axis) {
            let name = axes.get(axis).map_or("", |axis| axis.name.as_str());
            let message =
                format!("`{}` takes the axis `{name}`, which is taken already", dim.letter);
            let fault = NotationFault::axes(span.clone(), message);
            return Err(fault.help("write each axis once: a `*` takes the one at its place"));
        }
        order.push(axis);
    }
    Ok(order)
}
