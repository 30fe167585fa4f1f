//! Known cases, computed by independent brute force: TVM's index and iterator maps, XLA's tiled layouts.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may panic and print"
)]

use layoutc_algebra::builder::{FinishError, LayoutBuilder};
use layoutc_algebra::expr::{Expr, Var};
use layoutc_algebra::expr::{parse, print};
use layoutc_algebra::layout::{Layout, Verdict};
use layoutc_algebra::map::{IndexMap, MapScope, resolve};
use layoutc_algebra::prove::{InjectivityError, SequentialExecutor};
use layoutc_algebra::step::{OrderEntry, TileExtent, order, tile};
use layoutc_algebra::symbol::Axis;
use serde_json::Value;

fn cases(text: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(text).unwrap();
    file["cases"].as_array().unwrap().clone()
}

fn numbers(value: &Value) -> Vec<i128> {
    value.as_array().unwrap().iter().map(|v| i128::from(v.as_i64().unwrap())).collect()
}

fn axes(names: &[String], shape: &[i128]) -> Vec<Axis> {
    let axis = |(name, extent): (&String, &i128)| Axis {
        name: name.clone(),
        extent: Expr::constant(*extent),
    };
    names.iter().zip(shape).map(axis).collect()
}

fn map_text(case: &Value) -> String {
    let strings = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_string()).collect()
    };
    let mut items = String::new();
    let mut open = false;
    for item in strings(&case["map"]) {
        if item == "sep" {
            items.push_str(" | ");
            open = false;
        } else {
            items.push_str(if open { ", " } else { "" });
            items.push_str(&item);
            open = true;
        }
    }
    format!("({}) -> ({items})", strings(&case["axes"]).join(", "))
}

fn mapped(text: &str, logical: &[Axis]) -> Result<Layout, String> {
    let ast = parse::map(text).map_err(|e| format!("parse: {}", e.kind))?;
    let mut builder = LayoutBuilder::new(&[], logical, 32).map_err(|e| e.to_string())?;
    let scope = MapScope { axes: logical, values: &|_| None, facts: builder.facts() };
    let map = resolve(&ast, scope).map_err(|e| format!("map: {}", e[0].kind))?;
    builder.apply(&map).map_err(|e| format!("build: {e}"))?;
    builder.finish(64, &SequentialExecutor).map_err(|e| match e {
        FinishError::Injectivity(InjectivityError::NotInjective { first, second, .. }) => {
            assert_ne!(first, second, "{text}");
            assert_eq!(at(&map, &first), at(&map, &second), "{text}: the witness does not collide");
            "collision".to_string()
        }
        other => format!("finish: {other}"),
    })
}

/// Image of a point under a map of the logical axes.
fn at(map: &IndexMap, point: &[i128]) -> Vec<i128> {
    let value = |var| match var {
        Var::Storage(k) => point.get(k as usize).copied(),
        _ => None,
    };
    map.items.iter().map(|item| item.index.evaluate(&value).unwrap()).collect()
}

fn constants(exprs: &[Expr]) -> Vec<i128> {
    exprs.iter().map(|e| e.as_const().unwrap()).collect()
}

fn storage_extents(layout: &Layout) -> Vec<i128> {
    layout.storage().iter().map(|axis| axis.extent.as_const().unwrap()).collect()
}

#[test]
fn tvm_index_and_iterator_maps_agree_with_enumeration() {
    let (mut accepted, mut refused, mut enumerated) = (0, 0, Vec::new());
    for case in cases(include_str!("cases/tvm.json")) {
        if !["index_map", "iter_map"].contains(&case["kind"].as_str().unwrap()) {
            continue;
        }
        let id = case["id"].as_str().unwrap();
        let names: Vec<String> = case["axes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|v| v.as_str().unwrap().to_string())
            .collect();
        let logical = axes(&names, &numbers(&case["shape"]));
        let text = map_text(&case);
        let result = mapped(&text, &logical);
        if let Some(error) = case["error"].as_str() {
            refused += 1;
            let message =
                result.err().unwrap_or_else(|| panic!("{id}: {text} should be refused: {error}"));
            if error == "not injective" {
                let product = "map: a product needs one side free of axes";
                assert!(message == "collision" || message == product, "{id}: {message}");
            }
            continue;
        }
        let layout = result.unwrap_or_else(|e| panic!("{id}: {text}: {e}"));
        accepted += 1;
        assert_eq!(storage_extents(&layout), numbers(&case["physical_shape"]), "{id}");
        assert_eq!(constants(layout.physical_shape()), numbers(&case["flat_shape"]), "{id}");
        let bijective = case["bijective"].as_bool().unwrap();
        assert_eq!(layout.verdict() == Verdict::Bijective, bijective, "{id}");
        for sample in case["samples"].as_array().unwrap() {
            let logical = numbers(&sample[0]);
            let place = layout.locate(&logical, &[]).unwrap();
            assert_eq!(place.storage, numbers(&sample[1]), "{id}");
            assert_eq!(place.physical, numbers(&sample[2]), "{id}");
            assert_eq!(layout.element_at(&place.physical, &[]).unwrap(), Some(logical), "{id}");
        }
        if layout.inverse().is_none() {
            enumerated.push(id.to_string());
        }
    }
    assert_eq!((accepted, refused), (76, 20));
    println!("enumerated: {enumerated:?}");
}

#[test]
fn xla_tiled_shapes_match_the_documentation() {
    let mut accepted = 0;
    for case in cases(include_str!("cases/xla.json")) {
        if case["error"].is_string() {
            continue;
        }
        let id = case["id"].as_str().unwrap();
        let dims = numbers(&case["dims"]);
        let names: Vec<String> = (0..dims.len()).map(|k| format!("d{k}")).collect();
        let logical = axes(&names, &dims);
        let mut builder = LayoutBuilder::new(&[], &logical, 32).unwrap();
        let major_to_minor: Vec<OrderEntry> = numbers(&case["minor_to_major"])
            .iter()
            .rev()
            .map(|k| OrderEntry::Axis(format!("d{k}")))
            .collect();
        builder.apply(&order(builder.axes(), &major_to_minor).unwrap()).unwrap();
        for one in case["tiles"].as_array().unwrap() {
            let entries: Vec<TileExtent> = one
                .as_array()
                .unwrap()
                .iter()
                .map(|e| {
                    e.as_i64()
                        .map_or(TileExtent::Merge, |n| TileExtent::Extent(Expr::constant(n.into())))
                })
                .collect();
            builder.apply(&tile(builder.axes(), &entries, &[]).unwrap()).unwrap();
        }
        let layout =
            builder.finish(64, &SequentialExecutor).unwrap_or_else(|e| panic!("{id}: {e}"));
        accepted += 1;
        assert_eq!(storage_extents(&layout), numbers(&case["padded_physical_shape"]), "{id}");
        let elements = i128::from(case["elements_allocated"].as_i64().unwrap());
        assert_eq!(layout.physical_elements().as_const(), Some(elements), "{id}");
        assert!(layout.inverse().is_some(), "{id} needs enumeration");
        for sample in case["samples"].as_array().unwrap() {
            let place = layout.locate(&numbers(&sample[0]), &[]).unwrap();
            assert_eq!(place.offset, i128::from(sample[1].as_i64().unwrap()), "{id}");
            assert_eq!(
                layout.element_at(&place.physical, &[]).unwrap(),
                Some(numbers(&sample[0])),
                "{id}"
            );
        }
    }
    assert_eq!(accepted, 46);
}

#[test]
fn expressions_print_with_minimal_parentheses() {
    let names: Vec<String> = ["n", "h", "w", "c"].map(String::from).to_vec();
    let layout =
        mapped("(n, h, w, c) -> (n, c//4, h | w, c%4)", &axes(&names, &[16, 64, 64, 128])).unwrap();
    let name = |var: Var| match var {
        Var::Axis(k) => names[k as usize].clone(),
        Var::Physical(k) => format!("p{k}"),
        other => format!("{other:?}"),
    };
    let text = |exprs: &[Expr]| exprs.iter().map(|e| print::expr(e, &name)).collect::<Vec<_>>();
    assert_eq!(text(layout.physical_map()), ["(n * 32 + c // 4) * 64 + h", "w * 4 + c % 4"]);
    let inverse = layout.inverse().unwrap();
    assert_eq!(text(inverse), ["p0 // 2048", "p0 % 64", "p1 // 4", "p0 // 64 % 32 * 4 + p1 % 4"]);
    assert_eq!(constants(layout.strides()), [524_288, 16384, 256, 4, 1]);
    assert_eq!(constants(layout.physical_strides()), [256, 1]);
    assert_eq!(constants(layout.physical_shape()), [32768, 256]);
}
