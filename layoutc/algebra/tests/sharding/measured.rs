//! Output of XLA and JAX, measured.

use std::collections::BTreeSet;

use super::{mesh, read};
use layoutc_algebra::sharding::xla::{parse, parse_one};
use layoutc_algebra::sharding::{
    DevicePlacement, MeshSharding, Sharding, ShardingForm, TensorSharding, jax,
};
use serde_json::Value;

fn rows(name: &str) -> Vec<Vec<Value>> {
    let file: Value = serde_json::from_str(include_str!("../cases/sharding.json")).unwrap();
    let rows = file[name].as_array().unwrap();
    rows.iter().map(|row| row.as_array().unwrap().clone()).collect()
}

fn texts(name: &str) -> Vec<Vec<String>> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    rows(name).iter().map(|row| row.iter().map(text).collect()).collect()
}

#[test]
fn tiles_print_as_xla_prints_them() {
    let cases = texts("tiled");
    assert_eq!(cases.len(), 320);
    for case in cases {
        let [text, print] = case.as_slice() else { panic!("{case:?}") };
        let placed = read(text);
        assert_eq!(placed.to_string(), *print, "{text}");
        assert_eq!(read(print), placed, "{text}");
    }
}

#[test]
fn mesh_shardings_match_xla_printing_and_tiles() {
    let cases = texts("named");
    assert_eq!(cases.len(), 320);
    for case in cases {
        let [text, print, tiles] = case.as_slice() else { panic!("{case:?}") };
        let placed = read(text);
        assert_eq!(placed.to_string(), *print, "{text}");
        let placement = placed.placement.unnamed().unwrap();
        let unnamed = TensorSharding { placement, group: None };
        assert_eq!(unnamed.to_string(), *tiles, "{text}");
        assert_eq!(placed.same(&read(tiles)), Ok(true), "{text}");
        // Converting the tiles by name gives an equivalent sharding.
        if let Ok(again) = read(tiles).to(ShardingForm::V3) {
            assert_eq!(again.same(&placed), Ok(true), "{text}: {again}");
        }
    }
}

#[test]
fn shardings_accepted_by_xla_print_alike_or_are_refused() {
    let mut refused = BTreeSet::new();
    for case in texts("taken") {
        let [text, print] = case.as_slice() else { panic!("{case:?}") };
        match parse(text) {
            Ok(parsed) => {
                assert_eq!(parsed.to_string(), *print, "{text}");
                assert_eq!(parse(print).as_ref(), Ok(&parsed), "{text}");
            }
            Err(_) => {
                refused.insert(text.clone());
            }
        }
    }
    let listed: BTreeSet<String> =
        super::faults::STRICTER.iter().map(|row| row.0.to_owned()).collect();
    assert_eq!(refused, listed);
}

#[test]
fn shardings_that_xla_refuses_are_faults() {
    let of = |what: &str| -> BTreeSet<String> {
        let rows = texts("refused").into_iter().filter(|row| row[1] == what);
        rows.map(|row| row[0].clone()).collect()
    };
    let listed = |rows: &[(&str, &str, &str, &str)]| -> BTreeSet<String> {
        rows.iter().map(|row| row.0.to_owned()).collect()
    };
    assert_eq!(of("refused"), listed(super::faults::REFUSED));
    assert_eq!(of("the process ends"), listed(super::faults::ENDING));
}

#[test]
fn partition_specs_equal_jax_tiles() {
    for case in rows("jax") {
        let axis = |axis: &Value| (axis[0].as_str().unwrap().to_owned(), axis[1].as_i64().unwrap());
        let axes: Vec<(String, i64)> = case[0].as_array().unwrap().iter().map(axis).collect();
        let named: Vec<(&str, i64)> =
            axes.iter().map(|(name, size)| (name.as_str(), *size)).collect();
        let mesh = mesh(&named);
        let position = |name: &Value| {
            axes.iter().position(|axis| Some(axis.0.as_str()) == name.as_str()).unwrap()
        };
        let positions = |list: &Value| list.as_array().unwrap().iter().map(position).collect();
        let over = case[1].as_array().unwrap().iter().map(positions).collect();
        let sharding = Sharding::new(&mesh, over).unwrap();
        let meshed = MeshSharding { mesh, sharding, unreduced: vec![] };
        assert_eq!(jax::partition_spec(&meshed).as_deref(), Ok(case[2].as_str().unwrap()));
        let placed =
            TensorSharding { placement: DevicePlacement::Named(meshed.named()), group: None };
        assert_eq!(placed.to(ShardingForm::V2).unwrap().to_string(), case[3].as_str().unwrap());
    }
}

#[test]
fn equivalent_device_orders_compare_equal() {
    for (a, b, is_same) in [
        ("{devices=[2,2]0,1,2,3}", "{devices=[2,2]<=[4]}", true),
        ("{devices=[2,2]0,2,1,3}", "{devices=[2,2]<=[2,2]T(1,0)}", true),
        ("{devices=[2,2]<=[4]}", "{mesh['x'=2,'y'=2], [{'x'}, {'y'}]}", true),
        ("{devices=[2,2]<=[2,2]T(1,0)}", "{mesh['x'=2,'y'=2], [{'y'}, {'x'}]}", true),
        (
            "{devices=[2,1,2]3,1,2,0 last_tile_dim_replicate}",
            "{devices=[2,1,2]1,3,0,2 last_tile_dims={replicated}}",
            true,
        ),
        ("{mesh['x'=2,'y'=2], [{'x', ?}]}", "{mesh['a'=2,'b'=2], [{'a'}], replicated={'b'}}", true),
        ("{devices=[2,2]<=[4]}", "{devices=[4,1]<=[4]}", false),
        ("{devices=[2,2]<=[4]}", "{devices=[2,2]<=[2,2]T(1,0)}", false),
        ("{devices=[2,2]<=[4]}", "{devices=[2,2]0,1,3,2}", false),
        ("{replicated}", "{replicated shard_as 1}", false),
        ("{replicated}", "{manual}", false),
        ("{replicated}", "{devices=[4]<=[4] last_tile_dim_replicate}", true),
        ("{devices=[1,1]<=[1]}", "{replicated}", true),
        (
            "{devices=[2,4]<=[2,2,2]T(0,2,1) last_tile_dims={unreduced}}",
            "{devices=[2,4]<=[8] last_tile_dims={unreduced}}",
            true,
        ),
        (
            "{devices=[2,3]3,1,0,2,4,5 last_tile_dims={manual}}",
            "{devices=[2,3]0,1,3,5,4,2 last_tile_dims={manual}}",
            true,
        ),
        (
            "{devices=[2,3]3,1,0,2,4,5 last_tile_dims={manual}}",
            "{devices=[2,3]0,1,3,2,4,5 last_tile_dims={manual}}",
            false,
        ),
        ("{maximal_mesh[device_id=3]}", "{maximal device=3}", true),
    ] {
        assert_eq!(read(a).same(&read(b)), Ok(is_same), "{a} {b}");
        assert_eq!(read(b).same(&read(a)), Ok(is_same), "{a} {b}");
    }
}

#[test]
fn tuple_shardings_parse_as_lists() {
    let text = "{{replicated}, {manual}, {devices=[2]0,1}, {unknown}, {unreduced}, /*index=5*/{maximal device=1}}";
    assert_eq!(parse(text).unwrap().to_string(), text);
    let fault = parse_one(text).unwrap_err();
    assert_eq!(fault.message, "a tuple shards 6 tensors, and one is wanted");
}
