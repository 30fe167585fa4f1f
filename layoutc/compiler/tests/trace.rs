//! Index traces (`trace`) through random layouts: they end at the slot of the enumerated oracle, and every displayed
//! equation holds.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use crate::common;
use crate::random_manifest;
use layoutc_testing::{Random, cases};
use std::collections::BTreeMap;

use common::ZERO;
use layoutc_algebra::builder::LayoutBuilder;
use layoutc_algebra::expr::Expr;
use layoutc_algebra::expr::parse;
use layoutc_algebra::layout::swizzle::Swizzle;
use layoutc_algebra::map::resolve_constant;
use layoutc_algebra::normal_form::simplify::Facts;
use layoutc_algebra::prove::SequentialExecutor;
use layoutc_algebra::symbol::Axis;
use layoutc_compiler::check::{Recorder, StepRecord};
use layoutc_compiler::config::Config;
use layoutc_compiler::query::locate::{self, NamedLocateError};
use layoutc_compiler::query::trace::{IndexTrace, TraceTerm, trace};
use layoutc_compiler::{Compiler, MemorySources, model};
use layoutc_testing::layouts::truth;
use random_manifest::{Tensor, dtypes, manifest};

/// The tensor `name` with its recorded steps.
fn recorded(text: &str, name: &str) -> (model::Tensor, Vec<StepRecord>) {
    let recorder = Recorder::new(name);
    let sources = MemorySources::of("m.kdl", text);
    let config = Config::default();
    let compiler = Compiler::new(&sources, &config).recording(&recorder);
    let checked = compiler.check(&["m.kdl".to_owned()]);
    let tensors = checked.manifests.into_iter().flat_map(|manifest| manifest.tensors);
    let tensor = tensors.into_iter().find(|tensor| tensor.name == name);
    (tensor.unwrap_or_else(|| panic!("{:#?}\n{text}", checked.diagnostics)), recorder.into_steps())
}

/// Value of an expression without names. Evaluates `max` here: it occurs only in derived extents, and maps reject it.
fn evaluated(text: &str) -> i128 {
    if let Some((before, rest)) = text.rsplit_once("max(") {
        let mut open = 1;
        let ends = |c: char| {
            open += i32::from(c == '(') - i32::from(c == ')');
            open == 0
        };
        let (both, after) = rest.split_at(rest.find(ends).unwrap());
        let (a, b) = both.rsplit_once(", ").unwrap();
        let most = evaluated(a).max(evaluated(b));
        return evaluated(&format!("{before}({most}){}", &after[1..]));
    }
    let ast = parse::expression(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    let expr = resolve_constant(&ast, &|_| None, &Facts::new(&[])).unwrap();
    expr.evaluate(&|_| None).unwrap()
}

fn holds(term: &TraceTerm) {
    assert_eq!(evaluated(&term.numbers), term.value, "{term:?}");
    assert!(term.extent.is_none_or(|extent| (0..extent).contains(&term.value)), "{term:?}");
}

fn values(terms: &[TraceTerm]) -> Vec<i128> {
    terms.iter().map(|term| term.value).collect()
}

fn all_holds(traced: &IndexTrace) {
    traced.steps.iter().flat_map(|step| &step.axes).for_each(holds);
    traced.physical.iter().for_each(holds);
    holds(&traced.offset);
}

/// Traces about 40 elements at one size of the symbol. Returns the number of elements of the tensor.
fn follow(tensor: &Tensor, checked: &(model::Tensor, Vec<StepRecord>), size: Option<i64>) -> usize {
    let case = size.map_or(tensor.case.clone(), |size| tensor.case.at(size));
    let truth = truth(&case).unwrap();
    let symbols: BTreeMap<String, i128> =
        size.map(|size| ("batch".to_owned(), i128::from(size))).into_iter().collect();
    let (model, steps) = checked;
    let symbols: BTreeMap<String, i128> = symbols
        .into_iter()
        .filter(|(name, _)| model.layout.symbols().iter().any(|s| s.name == *name))
        .collect();
    let stride = truth.elements.len() / 40 + 1;
    let wide = |all: &[i64]| all.iter().map(|value| i128::from(*value)).collect::<Vec<_>>();
    for element in truth.elements.iter().step_by(stride) {
        let logical = wide(&element.logical);
        let traced = trace(model, steps, &symbols, &logical).unwrap();
        all_holds(&traced);
        assert_eq!(traced.offset.value, i128::from(element.offset), "{}", tensor.text());
        assert_eq!(values(&traced.physical), wide(&element.physical), "{}", tensor.text());
        let place = locate::element_location(model, &symbols, &logical).unwrap();
        let last = traced.steps.last().map_or(logical, |step| values(&step.axes));
        assert_eq!(last, place.storage, "{}", tensor.text());
        let lines: Vec<&str> = traced.steps.iter().map(|step| step.line.as_str()).collect();
        assert_eq!(lines, model.steps, "{}", tensor.text());
    }
    truth.elements.len()
}

#[test]
fn random_layouts_trace_to_the_oracle_slot() {
    let seeds = cases(30, 200);
    let mut followed = 0;
    for seed in 0..seeds {
        let mut random = Random::new(5_000_000 + seed);
        let config = Config::default();
        let manifest = manifest(&mut random, 4, &config, &dtypes(), |_, tensor| tensor);
        for tensor in &manifest.tensors {
            let checked = recorded(&manifest.text(), &tensor.name);
            let has_symbol = tensor.case.symbol.is_some();
            for size in &manifest.sizes {
                followed += follow(tensor, &checked, has_symbol.then_some(*size));
            }
        }
    }
    assert!(followed > 1000, "{followed} elements are too few");
}

#[test]
fn foreign_notations_and_transforms_are_traced_by_step() {
    let text = "\
transform blocked block=16 { map \"(*outer, c) -> (*outer, c // block, c % block)\" }
tensor t dtype=bf16 { shape { i 100; o 50 }; layout xla=\"{0,1:T(8,128)(2,1)}\" }
tensor g dtype=f32 { shape { n 3; h 5; w 7; c 3 }; layout { notation glow=\"NC[a=32]HW\" } }
tensor c dtype=f32 { shape { i 8; j 8 }; layout cute=\"((4,2),8):((1,32),4)\" }
tensor b dtype=f32 { shape { n 6; h 4; c 12 }; layout { apply blocked block=4; axis-separators h } }
tensor s dtype=f16 { shape { h 16; w 64 }; layout { axis-separators h; swizzle 2 4 2 unit=bytes } }
tensor m dtype=f32 { shape { h 8; w 8 }; layout { map \"(h, w) -> (z = morton(h, w))\" } }
tensor e dtype=f32 { shape { h 22; w 31 }; layout { map \"(h, w) -> (hilbert(h // 4, w // 4), h % 4, w % 4)\" } }
";
    let steps = [("t", 1), ("g", 1), ("c", 1), ("b", 2), ("s", 2), ("m", 1), ("e", 1)];
    for (name, steps) in steps {
        let (tensor, recorded) = recorded(text, name);
        assert_eq!(recorded.len(), steps);
        let extents: Vec<i128> =
            tensor.layout.logical().iter().map(|axis| axis.extent.as_const().unwrap()).collect();
        for k in 0..200_i128 {
            let index: Vec<i128> = (7_i128..).zip(&extents).map(|(p, e)| k * p % e).collect();
            let traced = trace(&tensor, &recorded, &BTreeMap::new(), &index).unwrap();
            all_holds(&traced);
            let place = locate::element_location(&tensor, &BTreeMap::new(), &index).unwrap();
            assert_eq!(traced.offset.value, place.offset);
            assert_eq!(values(&traced.physical), place.physical);
        }
    }
}

#[test]
fn traced_arithmetic_follows_the_written_steps() {
    let text = "\
symbol batch min=4 max=64 multiple=4
tensor t dtype=f32 {
    shape { n batch; h 6; c 10 }
    layout { pad h before=1 after=1; map \"(n, h, c) -> (c // 4, n | h, 3 - c % 4)\" }
}
";
    let (tensor, recorded) = recorded(text, "t");
    let symbols = BTreeMap::from([("batch".to_owned(), 8)]);
    let traced = trace(&tensor, &recorded, &symbols, &[7, 2, 9]).unwrap();
    let shown = |terms: &[TraceTerm]| -> Vec<String> {
        let one = |t: &TraceTerm| format!("{} = {} = {} = {}", t.name, t.expr, t.numbers, t.value);
        terms.iter().map(one).collect()
    };
    assert_eq!(
        shown(&traced.steps[0].axes),
        ["n = n = 7 = 7", "h = h + 1 = 2 + 1 = 3", "c = c = 9 = 9"]
    );
    assert_eq!(
        shown(&traced.steps[1].axes),
        [
            "c_outer = c // 4 = 9 // 4 = 2",
            "n = n = 7 = 7",
            "h = h = 3 = 3",
            "axis3 = 3 - c % 4 = 3 - 9 % 4 = 2"
        ]
    );
    assert_eq!(
        shown(&traced.physical),
        ["p0 = c_outer * batch + n = 2 * 8 + 7 = 23", "p1 = h * 4 + axis3 = 3 * 4 + 2 = 14"]
    );
    let offset = [traced.offset];
    assert_eq!(shown(&offset), ["offset = p0 * 32 + p1 = 23 * 32 + 14 = 750"]);
    let outside = trace(&tensor, &recorded, &symbols, &[8, 2, 9]);
    assert_eq!(
        outside,
        Err(NamedLocateError::Outside { name: "n".to_owned(), value: 8, extent: 8 })
    );
}

#[test]
fn swizzle_applies_to_the_last_physical_index() {
    let axis = |(name, extent): (&str, i128)| Axis {
        name: name.to_owned(),
        extent: Expr::constant(extent),
    };
    let logical = [("g", 2), ("h", 16), ("w", 8)].map(axis);
    let mut builder = LayoutBuilder::new(&[], &logical, 32).unwrap();
    builder.separate(&[0]).unwrap();
    builder.swizzle(Swizzle::new(2, 1, 3).unwrap()).unwrap();
    let layout = builder.finish(64, &SequentialExecutor).unwrap();
    let tensor = common::tensor("t", "f32", layout, ZERO);
    for k in 0..256_i128 {
        let index = [k / 128, k / 8 % 16, k % 8];
        let traced = trace(&tensor, &[], &BTreeMap::new(), &index).unwrap();
        all_holds(&traced);
        let place = locate::element_location(&tensor, &BTreeMap::new(), &index).unwrap();
        assert_eq!((traced.offset.value, values(&traced.physical)), (place.offset, place.physical));
    }
    let traced = trace(&tensor, &[], &BTreeMap::new(), &[1, 7, 5]).unwrap();
    // 61 is 0b111101: bits 4 and 5 are XORed onto bits 1 and 2.
    assert_eq!(values(&traced.physical), [1, 59]);
}
