use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const VIEWS: &str = "\
tensor qkv dtype=f32 {
    shape { s 4; which 3; d 8 }
}
view k of=qkv {
    shape { s 4; d 8 }
    map \"(s, d) -> (s, 1, d)\"
}
view k_x4 of=k dtype=f32x4
view twice of=qkv {
    shape { n 2; d 8 }
    map \"(n, d) -> (0, 0, d)\"
}
";

fn object(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn inspect_lists_views_after_tensors() {
    let sandbox = Sandbox::new(&[("a.kdl", VIEWS)]);
    let ran = sandbox.run(&["inspect", "a.kdl", "--format", "json"]);
    let all = object(ran.success());
    let kinds: Vec<[&Value; 2]> = all["tensors"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|t| [&t["kind"], &t["name"]])
        .collect();
    let kind = |k: usize| (kinds[k][0].as_str().expect("a word"), kinds[k][1].as_str());
    assert_eq!(kind(0), ("tensor", Some("qkv")));
    assert_eq!(kind(1), ("view", Some("k")));
    assert_eq!(kinds.len(), 4);
    let ran = sandbox.run(&["inspect", "a.kdl", "--tensor", "k_x4", "--format", "json"]);
    let all = object(ran.success());
    let view = &all["tensors"][0];
    assert_eq!(view["of"], "k");
    assert_eq!(view["dtype"], "f32x4");
    assert_eq!((&view["origin"], &view["axis_strides"]), (&json!(2), &json!([6, 1])));
    assert_eq!((&view["bytes"], &view["physical_shape"]), (&json!(384), &json!([24])));
    assert_eq!((&view["writable"], &view["verdict"]), (&json!(true), &json!("padded")));
    let ran = sandbox.run(&["inspect", "a.kdl", "--tensor", "twice"]);
    let text = ran.success();
    assert!(text.starts_with("twice (f32, view of qkv, a.kdl)\n"), "{text}");
    let line = "  verdict         broadcast: several elements share a slot, only read\n";
    assert!(text.contains(line), "{text}");
    assert!(!text.contains("inverse"), "{text}");
}

#[test]
fn index_finds_the_elements_of_views() {
    let sandbox = Sandbox::new(&[("a.kdl", VIEWS)]);
    let ran = sandbox.run(&["index", "a.kdl", "k", "2,3"]);
    let line = "k[2, 3] -> storage [2, 1, 3], physical [59], offset 59\n";
    assert_eq!(ran.success(), line);
    let ran = sandbox.run(&["index", "a.kdl", "k", "--inverse", "59", "60", "0"]);
    assert_eq!(
        ran.success(),
        "physical [59] -> k[2, 3]\nphysical [60] -> k[2, 4]\nphysical [0] -> padding\n"
    );
    let ran = sandbox.run(&["index", "a.kdl", "k_x4", "2,1", "--format", "json"]);
    let line = r#"{"logical":[2,1],"storage":[2,1,1],"physical":[15],"offset":15}"#;
    assert_eq!(ran.success(), format!("{line}\n"));
    let ran = sandbox.run(&["index", "a.kdl", "twice", "--inverse", "0"]);
    let line = "error: `twice` is a broadcast: a slot can belong to several of its elements\n";
    assert_eq!(ran.failure(), (Some(2), line));
}

#[test]
fn views_are_counted_apart_from_tensors() {
    let sandbox = Sandbox::new(&[("a.kdl", VIEWS)]);
    let ran = sandbox.run(&["check", "a.kdl"]);
    let text = ran.success();
    assert!(text.starts_with("1 tensor and 3 views in 1 manifest proven in "), "{text}");
    let ran = sandbox.run(&["build", "a.kdl"]);
    let rows: Vec<&str> = ran.success().lines().take(4).collect();
    assert_eq!(
        rows,
        [
            "qkv    f32    [4, 3, 8] -> [96]  bijective  384 bytes  no padding",
            "k      f32    [4, 8] -> [96]     padded                view of qkv",
            "k_x4   f32x4  [4, 2] -> [24]     padded                view of k",
            "twice  f32    [2, 8] -> [96]     broadcast             view of qkv",
        ]
    );
    // A manifest that was not checked again gives the same rows.
    let again = sandbox.run(&["build", "a.kdl"]);
    assert_eq!(again.success().lines().take(4).collect::<Vec<_>>(), rows);
    let ran = sandbox.run(&["build", "a.kdl", "--format", "json"]);
    let all = object(ran.success());
    assert_eq!(all["tensors"][1]["of"], "qkv");
    assert_eq!(all["tensors"][1]["kind"], "view");
    assert_eq!(all["tensors"][1].get("bytes"), None);
}

#[test]
fn views_are_not_in_the_lock_file() {
    let sandbox =
        Sandbox::new(&[("a.kdl", VIEWS), ("layoutc.toml", "[project]\nsources = [\"*.kdl\"]\n")]);
    let ran = sandbox.run(&["lock", "."]);
    assert!(ran.success().ends_with(": 1 tensor\n"), "{}", ran.out);
}
