use serde_json::Value;

use crate::world::{BLOCKED, BROKEN, World};

#[test]
fn inspect_prints_one_object_with_all_good_tensors() {
    let both = format!("{BLOCKED}{}", BROKEN.replace("tensor t", "tensor u"));
    let world = World::new(&[("x/a.kdl", &both)]);
    let ran = world.run(&["inspect", "x/a.kdl", "--format", "json"]);
    assert_eq!(ran.code, Some(1));
    let lines: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines[0]["version"], 1);
    let tensors = lines[0]["tensors"].as_array().expect("a list");
    assert_eq!(tensors.len(), 1);
    assert_eq!((&tensors[0]["name"], &tensors[0]["file"]), (&"t".into(), &"x/a.kdl".into()));
    assert_eq!(lines[1]["code"], "map::not_injective");
}

#[test]
fn inspect_takes_the_name_of_a_tensor() {
    let both = format!("{BLOCKED}{}", BLOCKED.replace("tensor t", "tensor weights"));
    let world = World::new(&[("a.kdl", &both)]);
    let ran = world.run(&["inspect", "a.kdl", "--tensor", "weights", "--format", "json"]);
    let object: Value = serde_json::from_str(ran.good()).expect("JSON");
    let names: Vec<&Value> =
        object["tensors"].as_array().expect("a list").iter().map(|t| &t["name"]).collect();
    assert_eq!(names, ["weights"]);
    let ran = world.run(&["inspect", "a.kdl", "--tensor", "wieghts"]);
    let line = "error: there is no tensor `wieghts`; did you mean `weights`?\n";
    assert_eq!(ran.refused(), (Some(2), line));
}

#[test]
fn a_tensor_names_its_file_as_it_was_given() {
    let world = World::new(&[("layouts/a.kdl", BLOCKED)]);
    for path in ["layouts/a.kdl", "./layouts/a.kdl"] {
        let ran = world.run(&["inspect", path]);
        let first = format!("t (f32, {path})");
        assert_eq!(ran.good().lines().next(), Some(first.as_str()));
    }
}
