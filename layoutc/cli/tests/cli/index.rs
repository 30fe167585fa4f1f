use crate::sandbox::{BLOCKED, Sandbox};

const SYMBOLIC: &str = "\
symbol batch min=4 max=64 multiple=4
tensor s dtype=f32 {
    shape { n batch; c 4 }
}
tensor scalar dtype=f32 { shape {} }
";

#[test]
fn coordinate_arguments_are_answered_in_order() {
    let sandbox = Sandbox::new(&[("a.kdl", BLOCKED)]);
    let ran = sandbox.run(&["index", "a.kdl", "t", "0,0", "1,5", "3, 7"]);
    assert_eq!(
        ran.success(),
        "\
t[0, 0] -> storage [0, 0, 0], physical [0], offset 0
t[1, 5] -> storage [1, 1, 1], physical [21], offset 21
t[3, 7] -> storage [1, 3, 3], physical [31], offset 31
"
    );
    let ran = sandbox.run(&["index", "a.kdl", "t", "1,5", "--format", "json"]);
    let line = r#"{"logical":[1,5],"storage":[1,1,1],"physical":[21],"offset":21}"#;
    assert_eq!(ran.success(), format!("{line}\n"));
}

#[test]
fn invalid_coordinate_on_stdin_does_not_stop_the_rest() {
    let sandbox = Sandbox::new(&[("a.kdl", BLOCKED)]);
    let args = ["index", "a.kdl", "t", "--format", "json"];
    let ran = sandbox.run_in(".", &args, "1,5\n1,x\r\n4,0\n\n 3 , 7 \n0,0");
    assert_eq!(ran.code, Some(1));
    let lines: Vec<serde_json::Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let offsets: Vec<_> = lines[..3].iter().map(|line| &line["offset"]).collect();
    assert_eq!(offsets, [21, 31, 0]);
    let faults: Vec<_> = lines[3..]
        .iter()
        .map(|line| {
            assert_eq!(line["code"], "shape::coordinate");
            let label = &line["labels"][0];
            assert_eq!(label["file"], "<stdin>");
            (label["line"].as_u64(), label["column"].as_u64(), label["start"].as_u64())
        })
        .collect();
    assert_eq!(faults[0], (Some(2), Some(3), Some(6)));
    assert_eq!(faults[1].0, Some(3));
    assert_eq!(faults[2].0, Some(4));
}

#[test]
fn a_bad_argument_is_underlined() {
    let sandbox = Sandbox::new(&[("a.kdl", BLOCKED)]);
    let ran = sandbox.run(&["index", "a.kdl", "t", "0,0", "1, b"]);
    assert_eq!(ran.out, "t[0, 0] -> storage [0, 0, 0], physical [0], offset 0\n");
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (
            Some(1),
            "\
error[shape::coordinate]: `b` is not an index
  ┌─ <coordinate 2>:1:4
1 │ 1, b
  │    ^

1 error
for more information, run `layoutc explain shape::coordinate`
"
        )
    );
}

#[test]
fn negative_coordinate_is_not_an_option() {
    let sandbox = Sandbox::new(&[("a.kdl", BLOCKED)]);
    let ran = sandbox.run(&["index", "a.kdl", "t", "-1,2", "0,0", "--inverse"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.starts_with("error[shape::coordinate]: "), "{}", ran.err);
    assert!(ran.err.contains("1 │ -1,2\n"), "{}", ran.err);
}

#[test]
fn path_after_two_hyphens_keeps_its_hyphen() {
    let sandbox = Sandbox::new(&[("a.kdl", BLOCKED)]);
    let ran = sandbox.run(&["pack", "a.kdl", "t", "-o", "b.npy", "--", "-5.npy"]);
    assert_eq!(ran.code, Some(2));
    assert_eq!(ran.err, "error: `-5.npy` does not exist\n");
}

#[test]
fn inverse_maps_slots_to_elements_or_padding() {
    let padded = BLOCKED.replace("w 8", "w 6");
    let sandbox = Sandbox::new(&[("a.kdl", &padded)]);
    let ran = sandbox.run(&["index", "a.kdl", "t", "--inverse", "21", "22"]);
    assert_eq!(ran.success(), "physical [21] -> t[1, 5]\nphysical [22] -> padding\n");
    let ran = sandbox.run(&["index", "a.kdl", "t", "--inverse", "--format", "json", "21", "22"]);
    assert_eq!(
        ran.success(),
        "{\"physical\":[21],\"logical\":[1,5]}\n{\"physical\":[22],\"logical\":null}\n"
    );
}

#[test]
fn symbols_take_their_values_from_the_command_line() {
    let sandbox = Sandbox::new(&[("a.kdl", SYMBOLIC)]);
    let run = |args: &[&str]| sandbox.run(&[&["index", "a.kdl", "s", "7,1"][..], args].concat());
    let line = "s[7, 1] -> storage [7, 1], physical [29], offset 29\n";
    assert_eq!(run(&["--set", "batch=8"]).success(), line);
    for (args, message) in [
        (&[][..], "`s` depends on symbols: add --set batch=VALUE"),
        (&["--set", "batch"], "`--set batch`: expected NAME=VALUE with an integer"),
        (&["--set", "bacth=8"], "`s` has no symbol `bacth`; did you mean `batch`?"),
        (&["--set", "batch=6"], "`batch` is declared as 4 to 64, a multiple of 4, got 6"),
        (&["--set", "batch=68"], "`batch` is declared as 4 to 64, a multiple of 4, got 68"),
    ] {
        assert_eq!(run(args).failure(), (Some(2), format!("error: {message}\n").as_str()));
    }
    let ran = run(&["--set", "batch=4"]);
    assert_eq!(ran.code, Some(1), "7 lies outside 0..4: {}", ran.err);
}

#[test]
fn the_coordinate_of_rank_0_is_an_empty_line() {
    let sandbox = Sandbox::new(&[("a.kdl", SYMBOLIC)]);
    let line = r#"{"logical":[],"storage":[],"physical":[0],"offset":0}"#;
    let args = ["index", "a.kdl", "scalar", "--format", "json"];
    assert_eq!(sandbox.run_in(".", &args, "\n").success(), format!("{line}\n"));
    let with_argument = [&args[..], &[""]].concat();
    assert_eq!(sandbox.run(&with_argument).success(), format!("{line}\n"));
    assert_eq!(sandbox.run_in(".", &args, "").success(), "");
}

#[test]
fn unknown_tensor_and_folder_exit_with_code_2() {
    let sandbox = Sandbox::new(&[("a.kdl", BLOCKED)]);
    let ran = sandbox.run(&["index", "a.kdl", "tt", "0,0"]);
    let line = "error: unknown tensor `tt`; did you mean `t`?\n";
    assert_eq!(ran.failure(), (Some(2), line));
    assert_eq!(sandbox.run(&["index", ".", "t", "0,0"]).code, Some(2));
}

#[test]
fn unknown_tensor_without_a_close_match_lists_all() {
    let both = format!("{BLOCKED}{}", BLOCKED.replace("tensor t", "tensor weights"));
    let sandbox = Sandbox::new(&[("a.kdl", &both)]);
    let line = "error: unknown tensor `image`; expected one of `t`, `weights`\n";
    assert_eq!(sandbox.run(&["index", "a.kdl", "image", "0,0"]).failure(), (Some(2), line));
    let inspected = sandbox.run(&["inspect", "a.kdl", "--tensor", "image"]);
    assert_eq!(inspected.failure(), (Some(2), line));
}

#[test]
fn wrong_rank_and_blank_separated_coordinates_are_refused() {
    let sandbox = Sandbox::new(&[("a.kdl", BLOCKED)]);
    let ran = sandbox.run(&["index", "a.kdl", "t", "1"]);
    let line = "error[shape::coordinate]: 1 coordinate for 2 axes: h, w\n";
    assert!(ran.err.starts_with(line), "{}", ran.err);
    let ran = sandbox.run(&["index", "a.kdl", "t", "1 2"]);
    assert_eq!(
        ran.failure(),
        (
            Some(1),
            "\
error[shape::coordinate]: `1 2` is not an index
  ┌─ <coordinate 1>:1:1
1 │ 1 2
  │ ^^^
  = help: write `1,2`

1 error
for more information, run `layoutc explain shape::coordinate`
"
        )
    );
}
