//! Multi-line text summaries of checked tensors and views: shape, strides, verdict, padding and memory.

use layoutc_algebra::symbol::{Axis, Symbol};

use crate::model::layout_names;
use crate::model::{Tensor, View};

/// Text of axes with their extents, with `|` after each axis whose position is in `separators`:
/// `n 16, h 64 | w 64` for `[1]`.
pub fn axes(axes: &[Axis], symbols: &[Symbol], separators: &[usize]) -> String {
    layout_names::separated(&layout_names::axes(axes, symbols), separators)
}

/// Summary of a tensor with one fact per line: name and element type, shape, storage axes, strides, physical shape,
/// verdict, padding, bytes and memory.
pub fn tensor(tensor: &Tensor) -> String {
    let head = format!("tensor {}: {}", tensor.name, tensor.dtype);
    let layout = &tensor.layout;
    let how = format!("{}, proven by {}", layout.verdict().word(), layout.proof().word());
    let mut lines = rows(tensor, &how);
    let bytes = layout_names::symbol_expr(&tensor.counts().bytes, layout.symbols());
    lines.push(("padding", padding(tensor)));
    lines.push(("bytes", format!("{bytes}, aligned to {}", layout.alignment_bytes())));
    lines.push(("memory", tensor.memory_word().to_owned()));
    table(&head, &lines)
}

/// Summary of a view with one fact per line: name, base and element type, shape, storage axes, strides, physical shape
/// and verdict.
pub fn view(view: &View) -> String {
    let head = format!("view {} of {}: {}", view.tensor.name, view.of_name, view.tensor.dtype);
    table(&head, &rows(&view.tensor, view.tensor.layout.verdict().word()))
}

fn rows(tensor: &Tensor, verdict: &str) -> Vec<(&'static str, String)> {
    let layout = &tensor.layout;
    let symbols = layout.symbols();
    vec![
        ("shape", axes(layout.logical(), symbols, &[])),
        ("storage axes", axes(layout.storage(), symbols, layout.separators())),
        ("strides", layout_names::list(layout.strides(), symbols)),
        ("physical shape", layout_names::list(layout.physical_shape(), symbols)),
        ("verdict", verdict.to_owned()),
    ]
}

fn table(head: &str, rows: &[(&str, String)]) -> String {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = format!("{head}\n");
    for (name, value) in rows {
        text.push_str(format!("{name:width$}  {value}").trim_end());
        text.push('\n');
    }
    text
}

/// Padding in elements, bytes and percent: `896 of 1024 elements, 3584 bytes, 87.5 %`. Bytes and percent are rounded
/// down; they are left out if a count depends on a symbol.
fn padding(tensor: &Tensor) -> String {
    let layout = &tensor.layout;
    let counts = tensor.counts();
    let all = layout_names::symbol_expr(layout.physical_elements(), layout.symbols());
    let empty = layout_names::symbol_expr(&counts.padding_elements, layout.symbols());
    let text = format!("{empty} of {all} elements");
    let numbers = counts.padding_elements.as_const().zip(layout.physical_elements().as_const());
    let Some((empty, all)) = numbers else { return text };
    let bits = i128::from(tensor.dtype.element_bits());
    let Some(bits) = empty.checked_mul(bits) else { return text };
    let tenths = empty.saturating_mul(1000).checked_div(all).unwrap_or(0);
    format!("{text}, {} bytes, {}.{} %", bits / 8, tenths / 10, tenths % 10)
}
