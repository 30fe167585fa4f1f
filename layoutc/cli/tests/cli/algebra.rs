use crate::sandbox::Sandbox;

fn answered(args: &[&str]) -> String {
    let sandbox = Sandbox::new(&[]);
    sandbox.run(&[&["algebra"], args].concat()).success().to_owned()
}

#[test]
fn each_operation_prints_the_layout_first_and_then_its_figures() {
    for (args, printed) in [
        (&["compose", "(_4,_3):(_3,_1)", "6:2"][..], "(2,3):(6,1)\nsize 6, cosize 9\n"),
        (
            &["compose", "(9,(4,8)):(59,(13,1))", "[3:3;_]"],
            "(3,(4,8)):(177,(13,1))\nsize 96, cosize 401\n",
        ),
        (&["complement", "4:2", "24"], "(2,3):(1,8)\nsize 6, cosize 18\n"),
        (&["complement", "4:2", "(4,6)"], "(2,3):(1,8)\nsize 6, cosize 18\n"),
        (
            &["complement", "(4,6):(1,6)"],
            "1:0\nsize 1, cosize 1\nnote: A and its complement leave holes, the first at 4\n",
        ),
        (&["coalesce", "(2,1,6):(1,7,2)"], "12:1\nsize 12, cosize 12\n"),
        (&["coalesce", "(2,(1,6)):(1,(6,2))", "(1,1)"], "(2,6):(1,2)\nsize 12, cosize 12\n"),
        (
            &["divide", "(16,16):(16,1)", "[4:1;8:1]", "--kind", "tiled"],
            "((4,8),4,2):((16,1),64,8)\nsize 256, cosize 256\n",
        ),
        (
            &["divide", "30:1", "8:1", "--pad"],
            "(8,4):(1,8)\nsize 32, cosize 32\nnote: 30 elements, 32 covered: the rest do not exist\n",
        ),
        (
            &["product", "(2,5):(5,1)", "(3,4):(1,3)", "--kind", "raked"],
            "((3,2),(4,5)):((10,5),(30,1))\nsize 120, cosize 120\n",
        ),
        (&["inverse", "(8,4):(4,1)"], "(4,8):(8,1)\nsize 32, cosize 32\n"),
        (&["inverse", "4:2", "--side", "left"], "(2,4):(4,1)\nsize 8, cosize 8\n"),
        (
            &["compose", "Swizzle<3,4,3> o (8,64):(64,1)", "8:8"],
            "S<3,4,3> o 0 o 8:1\nsize 8, cosize 8\n\
             note: size and cosize are those of the layout before the swizzle\n",
        ),
    ] {
        assert_eq!(answered(args), printed, "{args:?}");
    }
}

#[test]
fn json_output_is_one_object() {
    assert_eq!(
        answered(&["compose", "(4,3):(3,1)", "(6,2):(2,1)", "--format", "json"]),
        "{\"op\":\"compose\",\"a\":\"(4,3):(3,1)\",\"b\":\"(6,2):(2,1)\",\
         \"layout\":\"((2,3),2):((6,1),3)\",\"shape\":[[2,3],2],\"stride\":[[6,1],3],\
         \"size\":12,\"cosize\":12,\"notes\":[]}\n"
    );
    let inverse = answered(&["--format", "json", "inverse", "4:2"]);
    assert!(
        inverse.contains("\"b\":null,\"layout\":\"1:0\",\"shape\":1,\"stride\":0"),
        "{inverse}"
    );
    let past = answered(&["compose", "3:1", "8:1", "--format", "json"]);
    let note = "\"notes\":[\"B reaches index 7, and A has 3: beyond its size, A extrapolates its last mode\"]}\n";
    assert!(past.ends_with(note), "{past}");
}

#[test]
fn operand_faults_are_underlined() {
    let sandbox = Sandbox::new(&[]);
    let refused = |args: &[&str]| {
        let ran = sandbox.run(&[&["algebra"], args].concat());
        let (code, text) = ran.failure();
        assert_eq!(code, Some(1));
        text.to_owned()
    };
    assert_eq!(
        refused(&["compose", "(4,x):(1,4)", "4:1"]),
        "\
error[notation::syntax]: expected an integer or `(`, found `x`
  ┌─ <a>:1:4
1 │ (4,x):(1,4)
  │    ^
  = help: it is written as in `(4,8):(8,1)`

1 error
for more information, run `layoutc explain notation::syntax`
"
    );
    assert_eq!(
        refused(&["compose", "(6,2):(1,7)", "(3,2):(2,3)"]),
        "\
error[notation::composition]: A after B has no layout of the shape of B: at 5 it is 8, but the sum of the modes is 7
  ┌─ <b>:1:1
1 │ (3,2):(2,3)
  │ ^^^^^^^^^^^
  = CuTe returns `(3,2):(2,3)`, which gives 7 at 5, not 8

1 error
for more information, run `layoutc explain notation::composition`
"
    );
    assert_eq!(
        refused(&["divide", "50:1", "(4,8):(1,4)"]),
        "\
error[notation::rounds]: `(4,8):(1,4)` does not divide 50 elements: its tiles cover 64
  ┌─ <b>:1:1
1 │ (4,8):(1,4)
  │ ^^^^^^^^^^^
  = help: `--pad` takes the 64, as CuTe does

1 error
for more information, run `layoutc explain notation::rounds`
"
    );
    // No unhelpful fix is suggested: tiles of 4 do not divide rows of 10.
    let rows = refused(&["divide", "(10,5):(1,20)", "4:1"]);
    assert!(
        rows.contains(" does not divide 50 elements: its tiles cover 52")
            && !rows.contains("--pad"),
        "{rows}"
    );
    for (args, first) in [
        (&["complement", "4:?"][..], "error[notation::unsupported]: "),
        (&["complement", "-4:1"], "error[notation::unsupported]: "),
        (&["complement", "4:1", "0"], "error[notation::value]: "),
        (&["complement", "4:1", "(4294967296,4294967296)"], "error[notation::value]: the cotarget"),
        (
            &["complement", "4:1", "4:1"],
            "error[notation::syntax]: expected the end of the text, found `:`",
        ),
        (
            &["coalesce", "4:1", "(1,1)"],
            "error[notation::axes]: too many top-level modes: 2 for a layout of rank 1",
        ),
        (&["product", "S<3,4,3> o 0 o 8:1", "4"], "error[notation::unsupported]: a swizzle "),
        (&["product", "(4,4):(1,2)", "4"], "error[notation::complement]: "),
        (&["product", "8:1", "[4:1]", "--kind", "blocked"], "error[notation::value]: a blocked "),
        (&["divide", "24:1", "(4,2):(1,0)"], "error[notation::value]: mode `2:0` repeats "),
        (&["inverse", "(8,4):(0,1)", "--side", "left"], "error[notation::inverse]: 0 and 1 "),
    ] {
        let text = refused(args);
        assert!(text.starts_with(first), "{args:?}: {text}");
    }
}

#[test]
fn json_faults_have_file_span_and_witness() {
    let sandbox = Sandbox::new(&[]);
    let ran =
        sandbox.run(&["algebra", "inverse", "(4,4):(1,2)", "--side", "left", "--format", "json"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""));
    let fault: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(fault["code"], "notation::inverse");
    assert_eq!(fault["witness"], serde_json::json!([[2], [4]]));
    assert_eq!(fault["labels"][0]["file"], "<a>");
    assert_eq!(fault["labels"][0]["end"], 11);
}

#[test]
fn invalid_arguments_exit_with_code_2() {
    let sandbox = Sandbox::new(&[]);
    for args in [
        &["algebra"][..],
        &["algebra", "compose", "4:1"],
        &["algebra", "inverse", "4:1", "--side", "up"],
        &["algebra", "divide", "4:1", "2:1", "--kind", "blocked"],
        &["algebra", "transpose", "4:1"],
    ] {
        let ran = sandbox.run(args);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{args:?}: {}", ran.err);
    }
}

#[test]
fn operands_of_any_size_are_handled() {
    let sandbox = Sandbox::new(&[]);
    let deep = format!("{}4:1", "(".repeat(50_000));
    let wide = format!("({}1):({}0)", "1,".repeat(9_000), "0,".repeat(9_000));
    for (a, code) in [(deep.as_str(), 1), ("層:1", 1), ("", 1), ("\n", 1), (wide.as_str(), 0)] {
        let ran = sandbox.run(&["algebra", "compose", a, "1:0"]);
        assert_eq!(ran.code, Some(code), "{}", ran.err);
    }
    // The size of a layout does not affect the run time.
    let large =
        answered(&["compose", "(1048576,1048576):(1048576,1)", "(1048576,1048576):(1048576,1)"]);
    assert_eq!(large, "(1048576,1048576):(1,1048576)\nsize 1099511627776, cosize 1099511627776\n");
}
