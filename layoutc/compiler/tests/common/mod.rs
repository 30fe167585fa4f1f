//! Helpers of the tests; this file builds layouts by hand, for tests of the emitter alone.
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

use std::sync::Arc;

use layoutc_algebra::digits::{Chain, Digit, Digits, LinearForm};
use layoutc_algebra::expr::{BinOp, CompareOp, Expr, ExprComparison, Predicate, Var};
use layoutc_algebra::layout::{DigitTargets, Layout, ProofMethod, Verdict};
use layoutc_algebra::symbol::{Axis, Symbol};
use layoutc_compiler::base::diagnostic::FileSpan;
use layoutc_compiler::base::dtype::Dtype;
use layoutc_compiler::model::{
    Convert, ConvertSchedule, Fill, FillValue, Manifest, Memory, Tensor, TensorSpans,
};

/// Builder of a layout from expressions in the manifest's syntax.
#[derive(Clone, Default)]
pub struct Build<'a> {
    pub symbols: Vec<(&'a str, i128, i128, i128)>,
    pub axes: Vec<(&'a str, &'a str)>,
    /// Name, extent, map.
    pub storage: Vec<(&'a str, &'a str, &'a str)>,
    pub separators: Vec<usize>,
    pub inverse: Option<Vec<&'a str>>,
    pub valid: Vec<(&'a str, CompareOp, &'a str)>,
    pub padded: bool,
    pub digits: Option<Digits>,
    /// Strides of the storage axes if they are not row-major, and the number of slots of the buffer.
    pub pitch: Option<(Vec<i128>, i128)>,
}

/// A chain of one axis: axis, sign, constant, digits as (weight, extent).
pub type ChainOf<'a> = (usize, i128, i128, Vec<(i128, &'a str)>);

/// Digits from chains, and for each storage axis its constant and (digit, weight) terms.
pub fn digits(
    chains: &[ChainOf<'_>],
    targets: &[(i128, Vec<(usize, i128)>)],
    names: &[(&str, Var)],
) -> Digits {
    let mut all = Vec::new();
    let chains = chains.iter().map(|(axis, sign, constant, list)| {
        let first = all.len();
        for (weight, extent) in list {
            all.push(Digit { weight: *weight, extent: parse(extent, names) });
        }
        let digits = (first..all.len()).collect();
        Chain { axes: vec![*axis], of_digit: None, sign: *sign, constant: *constant, digits }
    });
    let chains = chains.collect();
    let targets = targets
        .iter()
        .map(|(c, terms)| LinearForm { constant: *c, terms: terms.clone() })
        .collect();
    Digits { digits: all, chains, derived: Vec::new(), targets }
}

impl Build<'_> {
    pub fn names(&self) -> Vec<(&str, Var)> {
        let symbols = (0..).zip(&self.symbols).map(|(k, s)| (s.0, Var::Symbol(k)));
        let axes = (0..).zip(&self.axes).map(|(k, a)| (a.0, Var::Axis(k)));
        let physical = (0..4).map(|k| (["p0", "p1", "p2", "p3"][k as usize], Var::Physical(k)));
        axes.chain(symbols).chain(physical).collect()
    }

    pub fn layout(&self) -> Layout {
        let names = self.names();
        let expr = |text: &str| parse(text, &names);
        let axes: Vec<Axis> = self
            .axes
            .iter()
            .map(|(name, extent)| Axis { name: (*name).to_owned(), extent: expr(extent) })
            .collect();
        let storage: Vec<Axis> = self
            .storage
            .iter()
            .map(|(name, extent, _)| Axis { name: (*name).to_owned(), extent: expr(extent) })
            .collect();
        let maps: Vec<Expr> = self.storage.iter().map(|s| expr(s.2)).collect();
        let mut starts = vec![0];
        starts.extend(self.separators.iter().map(|k| k + 1));
        let mut strides = vec![Expr::constant(1); storage.len()];
        let mut flat = Expr::constant(1);
        for k in (0..storage.len()).rev() {
            strides[k] = flat.clone();
            flat = mul(&flat, &storage[k].extent);
        }
        let (mut shape, mut physical_strides, mut physical_map) = (vec![], vec![], vec![]);
        for (g, start) in starts.iter().enumerate() {
            let end = starts.get(g + 1).copied().unwrap_or(storage.len());
            let mut extent = Expr::constant(1);
            let mut map = Expr::constant(0);
            for k in *start..end {
                map = add(&mul(&map, &storage[k].extent), &maps[k]);
                extent = mul(&extent, &storage[k].extent);
            }
            shape.push(extent);
            physical_map.push(map);
            physical_strides
                .push(strides.get(end.wrapping_sub(1)).cloned().unwrap_or(Expr::constant(1)));
        }
        let mut elements = flat;
        if let Some((pitch, slots)) = &self.pitch {
            strides = pitch.iter().map(|p| Expr::constant(*p)).collect();
            elements = Expr::constant(*slots);
            shape = vec![elements.clone()];
            physical_strides = vec![Expr::constant(1)];
        }
        let mut offset = Expr::constant(0);
        for (map, stride) in maps.iter().zip(&strides) {
            offset = add(&offset, &mul(map, stride));
        }
        if self.pitch.is_some() {
            physical_map = vec![offset.clone()];
        }
        let logical_elements = axes.iter().fold(Expr::constant(1), |n, a| mul(&n, &a.extent));
        let valid = self.valid.iter().map(|(left, op, right)| ExprComparison {
            left: expr(left),
            op: *op,
            right: expr(right),
        });
        let valid: Vec<ExprComparison> = valid.collect();
        Layout {
            symbols: self
                .symbols
                .iter()
                .map(|(name, min, max, multiple)| Symbol {
                    name: (*name).to_owned(),
                    min: *min,
                    max: *max,
                    multiple: *multiple,
                })
                .collect(),
            logical: axes,
            storage,
            storage_map: maps,
            separators: self.separators.clone(),
            physical_shape: shape,
            physical_strides,
            strides,
            physical_map,
            offset,
            domain: None,
            inverse: self.inverse.as_ref().map(|list| list.iter().map(|t| expr(t)).collect()),
            valid: (!valid.is_empty()).then_some(Predicate { all: valid }),
            verdict: if self.padded { Verdict::Padded } else { Verdict::Bijective },
            proof: if self.digits.is_some() {
                ProofMethod::Digits
            } else {
                ProofMethod::Enumeration
            },
            digits: self.digits.clone(),
            digit_targets: DigitTargets::Storage,
            logical_elements,
            physical_elements: elements,
            alignment_bytes: 64,
            lead: Expr::constant(0),
            origin: None,
            swizzle: None,
        }
    }
}

fn add(a: &Expr, b: &Expr) -> Expr {
    match (a.as_const(), b.as_const()) {
        (Some(0), _) => b.clone(),
        (_, Some(0)) => a.clone(),
        (Some(x), Some(y)) => Expr::constant(x + y),
        _ => Expr::binary(BinOp::Add, a, b).unwrap(),
    }
}

fn mul(a: &Expr, b: &Expr) -> Expr {
    match (a.as_const(), b.as_const()) {
        (Some(1), _) => b.clone(),
        (_, Some(1)) => a.clone(),
        (Some(0), _) | (_, Some(0)) => Expr::constant(0),
        (Some(x), Some(y)) => Expr::constant(x * y),
        _ => Expr::binary(BinOp::Mul, a, b).unwrap(),
    }
}

/// A tensor over a layout, without labels.
pub fn tensor(name: &str, dtype: &str, layout: Layout, fill: Fill) -> Tensor {
    let labels = vec![Vec::new(); layout.logical.len()];
    let place = FileSpan::new(&Arc::from("layers/a.kdl"), 7..8);
    Tensor {
        sharded: None,
        ring: None,
        file: "layers/a.kdl".to_owned(),
        name: name.to_owned(),
        dtype: Dtype::parse(dtype).unwrap(),
        pack_from: None,
        layout,
        fill,
        memory: Memory::Global,
        space: None,
        targets: None,
        labels,
        high_first: false,
        steps: Vec::new(),
        places: TensorSpans::at(&place),
    }
}

pub const ZERO: Fill = Fill::Value(FillValue::Integer(0));

/// A conversion between the tensors at two positions; `axes[k]` is the destination axis of source axis `k`.
pub fn convert(from: usize, to: usize, axes: &[usize]) -> Convert {
    let place = FileSpan::new(&Arc::from("layers/a.kdl"), 9..11);
    Convert {
        from,
        to,
        axes: axes.to_vec(),
        cast: None,
        choices: ConvertSchedule::default(),
        place,
    }
}

pub fn manifest(tensors: Vec<Tensor>, converts: Vec<Convert>) -> Manifest {
    Manifest { path: "layers/a.kdl".to_owned(), tensors, converts, ..Manifest::default() }
}

/// Parses an expression of `+ - * // % & ^` with Python's precedence.
pub fn parse(text: &str, names: &[(&str, Var)]) -> Expr {
    let mut tokens: Vec<String> = Vec::new();
    let spaced = text.replace("//", " div ");
    let mut word = String::new();
    for c in spaced.chars() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
        } else {
            if !word.is_empty() {
                tokens.push(std::mem::take(&mut word));
            }
            if !c.is_whitespace() {
                tokens.push(c.to_string());
            }
        }
    }
    if !word.is_empty() {
        tokens.push(word);
    }
    let mut parser = Parser { tokens, at: 0, names };
    let expr = parser.level(0);
    assert_eq!(parser.at, parser.tokens.len(), "{text}");
    expr
}

struct Parser<'a> {
    tokens: Vec<String>,
    at: usize,
    names: &'a [(&'a str, Var)],
}

const LEVELS: [&[(&str, BinOp)]; 4] = [
    &[("^", BinOp::Xor)],
    &[("&", BinOp::And)],
    &[("+", BinOp::Add), ("-", BinOp::Sub)],
    &[("*", BinOp::Mul), ("div", BinOp::FloorDiv), ("%", BinOp::Mod)],
];

impl Parser<'_> {
    fn level(&mut self, level: usize) -> Expr {
        let Some(ops) = LEVELS.get(level) else { return self.atom() };
        let mut left = self.level(level + 1);
        loop {
            let token = self.tokens.get(self.at).cloned().unwrap_or_default();
            let Some((_, op)) = ops.iter().find(|(text, _)| *text == token) else { return left };
            self.at += 1;
            left = Expr::binary(*op, &left, &self.level(level + 1)).unwrap();
        }
    }

    fn atom(&mut self) -> Expr {
        let token = self.tokens[self.at].clone();
        self.at += 1;
        if token == "(" {
            let inner = self.level(0);
            self.at += 1;
            return inner;
        }
        if let Ok(value) = token.parse() {
            return Expr::constant(value);
        }
        let var = self.names.iter().find(|(name, _)| *name == token);
        Expr::var(var.unwrap_or_else(|| panic!("{token}")).1)
    }
}

/// `nchw4c` of an `[n, h, w, c]` tensor; `separators` make it a texture.
pub fn nchw4c([n, h, w, c]: [i128; 4], separators: &[usize]) -> Layout {
    let outer = (c + 3) / 4;
    let [n_, h_, w_, c_, outer_] = [n, h, w, c, outer].map(|v| v.to_string());
    let plane = (h * w * 4).to_string();
    let row = (w * 4).to_string();
    let texture = separators == [2];
    let inverse: Vec<String> = if texture {
        vec![
            format!("p0 // {}", outer * h),
            format!("p0 % {h}"),
            "p1 // 4".to_owned(),
            format!("p0 // {h} % {outer} * 4 + p1 % 4"),
        ]
    } else {
        vec![
            format!("p0 // {}", outer * h * w * 4),
            format!("p0 // {row} % {h}"),
            format!("p0 // 4 % {w}"),
            format!("p0 // {plane} % {outer} * 4 + p0 % 4"),
        ]
    };
    let inverse: Vec<&str> = inverse.iter().map(String::as_str).collect();
    let valid = if c % 4 == 0 { vec![] } else { vec![(inverse[3], CompareOp::Lt, c_.as_str())] };
    let digits = digits(
        &[
            (0, 1, 0, vec![(1, &n_)]),
            (1, 1, 0, vec![(1, &h_)]),
            (2, 1, 0, vec![(1, &w_)]),
            (3, 1, 0, vec![(4, &outer_), (1, "4")]),
        ],
        &[
            (0, vec![(0, 1)]),
            (0, vec![(3, 1)]),
            (0, vec![(1, 1)]),
            (0, vec![(2, 1)]),
            (0, vec![(4, 1)]),
        ],
        &[],
    );
    Build {
        axes: vec![("n", &n_), ("h", &h_), ("w", &w_), ("c", &c_)],
        storage: vec![
            ("n", &n_, "n"),
            ("c_outer", &outer_, "c // 4"),
            ("h", &h_, "h"),
            ("w", &w_, "w"),
            ("c_inner", "4", "c % 4"),
        ],
        separators: separators.to_vec(),
        inverse: Some(inverse.clone()),
        padded: !valid.is_empty(),
        valid,
        digits: Some(digits),
        ..Build::default()
    }
    .layout()
}

/// Row-major layout of axes with the given extents.
pub fn row_major(axes: &[(&str, i128)]) -> Layout {
    permuted(axes, &(0..axes.len()).collect::<Vec<_>>())
}

/// A permutation: storage axis `k` is axis `order[k]`.
pub fn permuted(axes: &[(&str, i128)], order: &[usize]) -> Layout {
    let extents: Vec<String> = axes.iter().map(|a| a.1.to_string()).collect();
    let mut inverse = vec![String::new(); axes.len()];
    let mut stride = 1;
    for axis in order.iter().rev() {
        inverse[*axis] = format!("p0 // {stride} % {}", axes[*axis].1.max(1));
        stride *= axes[*axis].1.max(1);
    }
    let chains: Vec<ChainOf<'_>> =
        (0..axes.len()).map(|k| (k, 1, 0, vec![(1, extents[k].as_str())])).collect();
    let targets: Vec<_> = order.iter().map(|axis| (0, vec![(*axis, 1)])).collect();
    Build {
        axes: axes.iter().zip(&extents).map(|(a, e)| (a.0, e.as_str())).collect(),
        storage: order.iter().map(|k| (axes[*k].0, extents[*k].as_str(), axes[*k].0)).collect(),
        inverse: Some(inverse.iter().map(String::as_str).collect()),
        digits: Some(digits(&chains, &targets, &[])),
        ..Build::default()
    }
    .layout()
}
