use serde_json::{Value, json};

use crate::sandbox::Sandbox;

fn translated(text: &str, args: &[&str]) -> (Option<i32>, String, String) {
    let words = [&["translate", text, "--from", "xla-sharding"], args].concat();
    let ran = Sandbox::new(&[]).run(&words);
    (ran.code, ran.out, ran.err)
}

fn objects(text: &str, args: &[&str]) -> (Option<i32>, Vec<Value>) {
    let (code, out, err) = translated(text, &[args, &["--format", "json"]].concat());
    assert_eq!(err, "");
    (code, out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect())
}

#[test]
fn a_sharding_is_printed_in_the_other_forms() {
    for (text, to, wanted) in [
        ("{devices=[2,2]<=[4]}", "xla-v1", "{devices=[2,2]0,1,2,3}"),
        ("{devices=[2,2]0,2,1,3}", "xla-v2", "{devices=[2,2]<=[2,2]T(1,0)}"),
        ("{replicated}", "xla-v3", "{mesh[], replicated}"),
        ("{maximal device=3}", "xla-v3", "{maximal_mesh[device_id=3]}"),
        ("{maximal_mesh[device_id=3]}", "xla-v2", "{maximal device=3}"),
        (
            "{mesh['x'=2,'y'=4], [{'x'}, {}]}",
            "jax",
            "NamedSharding(jax.make_mesh((2, 4), ('x', 'y')), PartitionSpec('x', None))",
        ),
    ] {
        let wanted = (Some(0), format!("{wanted}\n"), String::new());
        assert_eq!(translated(text, &["--to", to]), wanted, "{text}");
    }
    let (code, out, _) = translated("{manual}", &["--to", "all"]);
    let wanted = "\
xla-v1  {manual}
xla-v2  {manual}
xla-v3  - `xla-v3` cannot express `{manual}` without a mesh
jax     - `jax` cannot express `{manual}` without a mesh
";
    assert_eq!((code, out.as_str()), (Some(0), wanted));
}

#[test]
fn json_lists_the_contents_of_each_device() {
    let (code, objects) = objects(
        "{devices=[3,1,2]<=[6] last_tile_dim_replicate}",
        &["--to", "xla-v3", "--shape", "4,5"],
    );
    let held = |devices: [i64; 2], first: i64, extent: i64| json!({ "devices": devices, "first": [first, 0], "extents": [extent, 5] });
    let wanted = json!({
        "from": "xla-sharding",
        "to": "xla-v3",
        "text": "{mesh['axis_0'=3,'axis_1'=2], [{'axis_0'}, {}], replicated={'axis_1'}}",
        "shape": [4, 5],
        "same": true,
        "notes": ["the names of the mesh axes are generated"],
        "sharding": {
            "devices": 6,
            "parts": [3, 1],
            "mesh": [{ "name": "axis_0", "size": 3 }, { "name": "axis_1", "size": 2 }],
            "over": [["axis_0"], []],
            "part": [2, 5],
            "held": [held([0, 1], 0, 2), held([2, 3], 2, 2), held([4, 5], 4, 0)],
        },
    });
    assert_eq!((code, objects), (Some(0), vec![wanted]));
}

#[test]
fn unknown_values_are_null() {
    let (_, all) = objects("{manual}", &["--to", "xla-v2", "--shape", "4"]);
    let wanted = json!({ "devices": null, "parts": null, "mesh": null, "over": null, "part": null, "held": null });
    assert_eq!(all[0]["sharding"], wanted);
    let (_, all) = objects("{replicated}", &["--to", "jax"]);
    assert_eq!((&all[0]["shape"], &all[0]["sharding"].get("held")), (&Value::Null, &None));
    let (_, all) = objects("{replicated}", &["--to", "jax", "--shape", "4"]);
    assert_eq!(
        all[0]["sharding"]["held"],
        json!([{ "devices": null, "first": [0], "extents": [4] }])
    );
    let (_, all) = objects("{devices=[8192]<=[8192]}", &["--to", "xla-v2", "--shape", "9"]);
    assert_eq!(all[0]["sharding"]["held"], Value::Null);
    let note = "the shards of the devices are not listed: 8192 devices exceed the limit of 4096";
    assert_eq!(all[0]["notes"], json!([note]));
}

#[test]
fn verbose_output_lists_the_shards() {
    let text = "{devices=[64]<=[64]}";
    let (_, out, _) = translated(text, &["--to", "xla-v2", "--shape", "100", "-v"]);
    assert!(out.ends_with("31       [62:64]  [2]\n… and 32 more shards\n"), "{out}");
    let (_, out, _) = translated(text, &["--to", "xla-v2", "--shape", "100"]);
    assert_eq!(out, format!("{text}\n"));
    let replicated = "{devices=[2,32]<=[64] last_tile_dim_replicate}";
    let (_, out, _) = translated(replicated, &["--to", "xla-v2", "--shape", "3", "-v"]);
    assert!(out.contains("0, 1, 2, 3, 4, 5, 6, 7 and 24 more"), "{out}");
    let (_, out, _) = translated("{unknown}", &["--to", "xla-v2", "--shape", "3", "-v"]);
    assert_eq!(out, "{unknown}\nthe shards of the devices are not listed: `{unknown}`\n");
}

#[test]
fn syntax_faults_report_a_byte_and_others_the_text() {
    let (code, out, err) = translated("{devices=[2,2]0,1,1,3}", &["--to", "xla-v2"]);
    let wanted = "\
error[notation::value]: device 1 occurs twice
  ┌─ <text>:1:19
1 │ {devices=[2,2]0,1,1,3}
  │                   ^
  = help: write each of 0 to 3 once

1 error
for more information, run `layoutc explain notation::value`
";
    assert_eq!((code, out.as_str(), err.as_str()), (Some(1), "", wanted));
    let (code, _, err) = translated("{devices=[2]1,0}", &["--to", "jax"]);
    assert_eq!(code, Some(1));
    assert!(
        err.starts_with(
            "error[notation::inexpressible]: `jax` cannot express this order of devices"
        ),
        "{err}"
    );
    let (code, _, err) = translated("{devices=[2]<=[2]}", &["--to", "xla-v1", "--shape", "2,2"]);
    assert_eq!(code, Some(1));
    assert!(
        err.starts_with("error[notation::axes]: the sharding has 1 axis for 2 axes\n"),
        "{err}"
    );
}

#[test]
fn invalid_input_is_reported() {
    for (args, line) in [
        (vec!["--to", "xla-v4"], "unknown sharding notation `xla-v4`; did you mean `xla-v1`?"),
        (
            vec!["--to", "tvm"],
            "unknown sharding notation `tvm`; expected one of xla-v1, xla-v2, xla-v3, jax",
        ),
        (vec!["--to", "jax", "--dtype", "f32"], "`--dtype` does not apply to shardings; remove it"),
    ] {
        let wanted = (Some(2), String::new(), format!("error: {line}\n"));
        assert_eq!(translated("{replicated}", &args), wanted);
    }
    let ran = Sandbox::new(&[]).run(&["translate", "NC", "--from", "tvm", "--to", "jax"]);
    let line = "error: `jax` is a notation of shardings: use `--from xla-sharding --to xla-v2`\n";
    assert_eq!((ran.code, ran.err.as_str()), (Some(2), line));
}
