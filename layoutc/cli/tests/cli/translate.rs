use serde_json::{Value, json};

use crate::sandbox::Sandbox;

fn translated(args: &[&str]) -> (Option<i32>, String, String) {
    let ran = Sandbox::new(&[]).run(&[&["translate"], args].concat());
    (ran.code, ran.out, ran.err)
}

#[test]
fn layout_text_is_translated_between_notations() {
    for (args, text) in [
        (vec!["NCHW16c", "--from", "tvm", "--to", "onednn"], "aBcd16b\n"),
        (vec!["nhwc", "--from", "onednn", "--to", "tvm"], "NHWC\n"),
        (vec!["C", "--from", "numpy", "--to", "mdspan", "--axis-names", "n,c"], "layout_right\n"),
        (
            vec![
                "(48, 4)", "--from", "numpy", "--to", "mdspan", "--dtype", "f32", "--shape", "3,10",
            ],
            "layout_right_padded<4>\n",
        ),
        (
            vec![
                "n (c k) -> n k c",
                "--from",
                "einops",
                "--to",
                "tvm",
                "--set",
                "k=4",
                "--shape",
                "2,8",
            ],
            "N4cC\n",
        ),
        (
            vec!["NCH4c", "--from", "tvm", "--to", "einops", "--shape", "2,8,3"],
            "n (c c4) h -> n c h c4 --set c4=4\n",
        ),
    ] {
        assert_eq!(translated(&args), (Some(0), text.to_owned(), String::new()), "{args:?}");
    }
}

#[test]
fn json_has_the_shape_and_facts() {
    let (code, out, _) =
        translated(&["NC4c", "--from", "tvm", "--to", "onednn", "--format", "json"]);
    let object: Value = serde_json::from_str(&out).expect("JSON");
    let notes = ["proven for extents up to 134217728"];
    let wanted = json!({
        "from": "tvm", "to": "onednn", "text": "aB4b", "shape": ["N", "C"], "same": true, "notes": notes,
    });
    assert_eq!((code, object), (Some(0), wanted));
    let args = ["NCH4c", "--from", "tvm", "--to", "all", "--shape", "2,8,3", "--format", "json"];
    let (code, out, _) = translated(&args);
    let objects: Vec<Value> =
        out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((code, objects.len()), (Some(0), 10));
    assert_eq!(objects[6]["sizes"], json!({ "c4": 4 }));
    let glow = &objects[2];
    assert_eq!(
        (&glow["to"], &glow["text"], &glow["same"]),
        (&json!("glow"), &Value::Null, &json!(false))
    );
    assert_eq!(glow["notes"], json!(["`glow` cannot express blocks of axis `c`"]));
}

#[test]
fn inexpressible_layouts_are_refused() {
    let (code, out, err) = translated(&["aBcd4b4b", "--from", "onednn", "--to", "glow"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(
        err.starts_with(
            "error[notation::inexpressible]: `glow` cannot express blocks of axis `b`\n"
        ),
        "{err}"
    );
    let (code, out, err) =
        translated(&["NC4c", "--from", "tvm", "--to", "cute", "--format", "json"]);
    let object: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, err.as_str()), (Some(1), ""));
    assert_eq!(object["code"], "notation::inexpressible");
    assert_eq!(object["help"], json!(["give the extents: `--shape 2,64,56,56`"]));
}

#[test]
fn syntax_faults_report_their_byte() {
    let (code, out, err) = translated(&["NC4x", "--from", "tvm", "--to", "glow"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    let wanted = "\
error[notation::value]: the block `x` has no axis `X`
  ┌─ <text>:1:3
1 │ NC4x
  │   ^^
  = help: write `X` among the letters, or leave the block out

1 error
for more information, run `layoutc explain notation::value`
";
    assert_eq!(err, wanted);
    let (code, _, err) = translated(&["(4,4):(1,1)", "--from", "cute", "--to", "mlir"]);
    assert_eq!(code, Some(1));
    assert!(
        err.starts_with("error[map::not_injective]: two elements of `tensor` share a slot\n"),
        "{err}"
    );
}

#[test]
fn missing_translation_options_are_requested() {
    for (args, line) in [
        (
            vec!["(48, 4)", "--from", "numpy", "--to", "cute"],
            "numpy counts bytes: add the element type, `--dtype f32`",
        ),
        (
            vec!["(48, 4)", "--from", "numpy", "--to", "cute", "--dtype", "f32"],
            "the text needs the extents of its axes: add `--shape 2,64,56,56`",
        ),
        (
            vec!["layout_left", "--from", "mdspan", "--to", "cute"],
            "the text has no fixed rank: add extents, `--shape 2,64,56,56`, or names, `--axis-names n,c,h,w`",
        ),
        (vec!["NC", "--from", "tv", "--to", "cute"], "unknown notation `tv`; did you mean `tvm`?"),
        (
            vec!["NC", "--from", "tvm", "--to", "glow", "--dtype", "float32"],
            "unknown element type `float32`; did you mean `f32`?",
        ),
        (
            vec!["NC", "--from", "tvm", "--to", "glow", "--shape", "2,-1"],
            "`--shape 2,-1`: expected non-negative integers, as in 2,64,56,56",
        ),
        (
            vec!["NC", "--from", "tvm", "--to", "glow", "--axis-names", "n"],
            "`--axis-names` has 1 names for 2 axes",
        ),
    ] {
        let (code, out, err) = translated(&args);
        assert_eq!(
            (code, out.as_str(), err),
            (Some(2), "", format!("error: {line}\n")),
            "{args:?}"
        );
    }
}

const PAIRS: &str = "\
symbol batch min=1 max=64
tensor a dtype=f32 { shape { n 2; c 8; h 3 }; layout tvm=\"NCH4c\" }
tensor b dtype=f32 { shape { h 3; n 2; c 8 }; layout { map \"(h, n, c) -> (n, c // 4, h * 4 + c % 4)\" } }
tensor d dtype=f32 { shape { n 2; c 8; h 3 }; layout { order n h c } }
tensor e dtype=f32 { shape { n 2; c 8; h 3 }; layout { map \"(n, c, h) -> (n, c // 4 | h, c % 4)\" } }
tensor f dtype=f32 { shape { n batch; c 4 } }
tensor g dtype=f32 { shape { n batch; c 4 }; layout { order c n } }
";

#[test]
fn same_reports_equality_or_the_first_difference() {
    let sandbox = Sandbox::new(&[("a.kdl", PAIRS)]);
    let same = |a: &str, b: &str| {
        let ran = sandbox.run(&["same", "a.kdl", a, b]);
        assert_eq!(ran.err, "");
        (ran.code, ran.out)
    };
    let yes = |text: &str| (Some(0), text.to_owned());
    let no = |text: &str| (Some(1), text.to_owned());
    assert_eq!(same("a", "b"), yes("a and b are the same map\n"));
    assert_eq!(
        same("b", "d"),
        no("\
b and d differ, first at [0, 0, 4]
  b[0, 0, 4] -> physical [12], offset 12
  d[0, 0, 4] -> physical [4], offset 4
")
    );
    assert_eq!(same("a", "e"), no("a and e differ: 1 and 2 physical axes\n"));
    assert_eq!(
        same("f", "g"),
        no("\
f and g differ, first at [0, 1] for batch=2
  f[0, 1] -> physical [1], offset 1
  g[0, 1] -> physical [2], offset 2
")
    );
}

#[test]
fn same_json_has_both_locations() {
    let sandbox = Sandbox::new(&[("a.kdl", PAIRS)]);
    let same = |a: &str, b: &str| -> (Option<i32>, Value) {
        let ran = sandbox.run(&["same", "a.kdl", a, b, "--format", "json"]);
        (ran.code, serde_json::from_str(&ran.out).expect("JSON"))
    };
    assert_eq!(same("a", "b"), (Some(0), json!({ "same": true, "equal_sizes": true })));
    let wanted = json!({
        "same": false, "index": [0, 0, 4],
        "a": { "physical": [12], "offset": 12 }, "b": { "physical": [4], "offset": 4 },
    });
    assert_eq!(same("b", "d"), (Some(1), wanted));
    assert_eq!(same("f", "g").1["symbols"], json!({ "batch": 2 }));
    let (code, fault) = same("a", "f");
    assert_eq!((code, &fault["code"]), (Some(1), &json!("shape::same")));
    let ran = sandbox.run(&["same", "a.kdl", "a", "x"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.starts_with("error: unknown tensor `x`"), "{}", ran.err);
}

#[test]
fn inspect_shows_every_expressible_notation() {
    let sandbox = Sandbox::new(&[("a.kdl", PAIRS)]);
    let ran = sandbox.run(&["inspect", "a.kdl", "--format", "json"]);
    let object: Value = serde_json::from_str(&ran.out).expect("JSON");
    let notations = |k: usize| object["tensors"][k]["notations"].clone();
    let wanted = json!({
        "tvm": "NCH4c", "xla": "f32[2,8,3]{2,1,0:T(4,1)}", "onednn": "aBc4b",
        "cute": "(2,(4,2),3):(24,(1,12),4)", "glow": null,
    });
    assert_eq!(notations(0), wanted);
    // No notation expresses separators.
    let none = json!({ "tvm": null, "xla": null, "onednn": null, "cute": null, "glow": null });
    assert_eq!(notations(3), none);
    // The extent is only known at run time.
    let wanted = json!({ "tvm": "CN", "xla": "{0,1}", "onednn": "ba", "cute": null, "glow": "CN" });
    assert_eq!(notations(5), wanted);
    let text = sandbox.run(&["inspect", "a.kdl", "--tensor", "d"]).out;
    let lines = "\
  notations       tvm NHC
                  xla f32[2,8,3]{1,2,0}
                  onednn acb
                  cute (2,8,3):(24,1,8)
                  glow NHC
";
    assert!(text.ends_with(lines), "{text}");
}
