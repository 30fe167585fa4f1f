//! Helpers of the tests; this file builds layouts, tensors and manifests without texts, for tests of the emitter alone.
#![allow(
    unreachable_pub,
    missing_docs,
    missing_debug_implementations,
    clippy::unwrap_used,
    clippy::panic,
    reason = "shared by several tests"
)]

pub mod cc;
pub mod check_text;
pub mod compile_cache;
pub mod element_slots;
pub mod gpu;
pub mod kernel;
pub mod moves;
pub mod processors;
pub mod report;
pub mod rustc;

use std::sync::LazyLock;

use layoutc_algebra::builder::LayoutBuilder;
use layoutc_algebra::expr::{Expr, Var};
use layoutc_algebra::layout::Layout;
use layoutc_algebra::map::{IndexMap, MapItem};
use layoutc_algebra::prove::SequentialExecutor;
use layoutc_algebra::symbol::{Axis, Symbol};
use layoutc_compiler::base::dtype::Dtype;
use layoutc_compiler::config::Config;
use layoutc_compiler::model::{Convert, Fill, FillValue, Manifest, Tensor, TensorRef};
use layoutc_compiler::{Compiler, MemorySources};

/// Axes from pairs of a name and an extent, which is an integer or the name of a symbol.
fn axes(list: &[(&str, &str)], symbols: &[Symbol]) -> Vec<Axis> {
    let extent = |text: &str| match symbols.iter().position(|symbol| symbol.name == text) {
        Some(k) => Expr::var(Var::Symbol(u32::try_from(k).unwrap())),
        None => Expr::constant(text.parse().unwrap()),
    };
    list.iter().map(|(name, e)| Axis { name: (*name).to_owned(), extent: extent(e) }).collect()
}

/// Layout of `shape` after maps, separators and explicit strides.
pub fn proven(
    symbols: &[Symbol],
    shape: &[(&str, &str)],
    maps: &[&str],
    separators: &[usize],
    strides: &[i128],
) -> Result<Layout, String> {
    let mut builder =
        LayoutBuilder::new(symbols, &axes(shape, symbols), 32).map_err(|e| e.to_string())?;
    for text in maps {
        builder.map(text).map_err(|e| e.to_string())?;
    }
    if !separators.is_empty() {
        builder.separate(separators).map_err(|e| e.to_string())?;
    }
    if !strides.is_empty() {
        let strides: Vec<Expr> = strides.iter().map(|s| Expr::constant(*s)).collect();
        builder.strides(&strides).map_err(|e| e.to_string())?;
    }
    builder.finish(64, &SequentialExecutor).map_err(|e| format!("{e:?}"))
}

/// A tensor over a layout, without labels.
pub fn tensor(name: &str, dtype: &str, layout: Layout, fill: Fill) -> Tensor {
    let mut tensor = model().tensors[0].clone();
    name.clone_into(&mut tensor.name);
    tensor.dtype = Dtype::parse(dtype).unwrap();
    tensor.labels = vec![Vec::new(); layout.logical().len()];
    tensor.layout = layout;
    tensor.fill = fill;
    tensor
}

/// Model from which [`tensor`], [`convert`] and [`manifest`] copy: only a check makes one.
fn model() -> &'static Manifest {
    static MODEL: LazyLock<Manifest> = LazyLock::new(|| {
        let text = "tensor a dtype=f32 { shape { n 1 } }\ntensor b like=a\nconvert a to=b\n";
        let sources = MemorySources::of("layers/a.kdl", text);
        let checked =
            Compiler::new(&sources, &Config::default()).check(&["layers/a.kdl".to_owned()]);
        checked.manifests.into_iter().next().unwrap()
    });
    &MODEL
}

pub const ZERO: Fill = Fill::Value(FillValue::Integer(0));

/// A conversion between the tensors at two positions; `axes[k]` is the destination axis of source axis `k`.
pub fn convert(from: usize, to: usize, axes: &[usize]) -> Convert {
    let mut convert = model().converts[0].clone();
    (convert.from, convert.to) = (TensorRef::Tensor(from), TensorRef::Tensor(to));
    convert.axes = axes.to_vec();
    convert
}

/// Positions of the tensors between which a conversion is; neither is a view.
pub fn positions(convert: &Convert) -> [usize; 2] {
    [convert.from, convert.to].map(|of| match of {
        TensorRef::Tensor(k) => k,
        TensorRef::View(_) => panic!("an end of the conversion is a view"),
    })
}

pub fn manifest(tensors: Vec<Tensor>, converts: Vec<Convert>) -> Manifest {
    let mut manifest = model().clone();
    (manifest.tensors, manifest.converts) = (tensors, converts);
    manifest
}

/// Layout of static axes under one map.
pub fn mapped(axes: &[(&str, i128)], map: &str) -> Layout {
    Layout::builder(axes.iter().copied()).map(map).unwrap().prove().unwrap()
}

/// `nchw4c` of an `[n, h, w, c]` tensor in one buffer.
pub fn nchw4c([n, h, w, c]: [i128; 4]) -> Layout {
    let axes = [("n", n), ("h", h), ("w", w), ("c", c)];
    mapped(&axes, "(n, h, w, c) -> (n, c // 4, h, w, c % 4 : 4)")
}

/// `nchw4c` of an `[n, h, w, c]` tensor in a texture.
pub fn nchw4c_texture([n, h, w, c]: [i128; 4]) -> Layout {
    let axes = [("n", n), ("h", h), ("w", w), ("c", c)];
    mapped(&axes, "(n, h, w, c) -> (n, c // 4, h | w, c % 4 : 4)")
}

/// Row-major layout of axes with the given extents.
pub fn row_major(axes: &[(&str, i128)]) -> Layout {
    Layout::builder(axes.iter().copied()).prove().unwrap()
}

/// A permutation: storage axis `k` is axis `order[k]`. The names may be words that a map's text refuses.
pub fn permuted(axes: &[(&str, i128)], order: &[usize]) -> Layout {
    let axes: Vec<Axis> = axes
        .iter()
        .map(|(name, extent)| Axis { name: (*name).to_owned(), extent: Expr::constant(*extent) })
        .collect();
    let item = |k: &usize| MapItem {
        name: axes[*k].name.clone(),
        index: Expr::var(Var::Storage(u32::try_from(*k).unwrap())),
        extent: None,
        span: 0..0,
    };
    let items = order.iter().map(item).collect();
    let mut builder = LayoutBuilder::new(&[], &axes, 32).unwrap();
    builder.apply(&IndexMap { items, separators: Vec::new() }).unwrap();
    builder.finish(64, &SequentialExecutor).unwrap()
}
