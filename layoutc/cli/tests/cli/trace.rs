use crate::sandbox::Sandbox;

const TEXTURE: &str = "\
tensor texture dtype=f32 {
    shape { n 16; h 64; w 64; c 128 }
    layout { map \"(n, h, w, c) -> (n, c//4, h | w, c%4)\" }
    memory texture
}
tensor w dtype=bf16 {
    shape { i 1000; o 500 }
    layout { order o i; tile 8 128; tile 2 1; fill 0 }
}
";

const SYMBOLIC: &str = "\
symbol batch min=4 max=64 multiple=4
tensor s dtype=f32 { shape { n batch; c 4 }; layout { order c n; align c 64 } }
tensor scalar dtype=f32 { shape {} }
";

#[test]
fn step_arithmetic_is_aligned_and_ends_at_the_offset() {
    let sandbox = Sandbox::new(&[("a.kdl", TEXTURE)]);
    assert_eq!(
        sandbox.run(&["trace", "a.kdl", "texture", "11,37,23,101"]).success(),
        "\
texture[11, 37, 23, 101]
  map \"(n, h, w, c) -> (n, c//4, h | w, c%4)\"
      n                           = 11  of 16
      c_outer = c // 4 = 101 // 4 = 25  of 32
      h                           = 37  of 64
      w                           = 23  of 64
      c_inner = c % 4  = 101 % 4  =  1  of 4
  physical
      p0 = (n * 32 + c_outer) * 64 + h = (11 * 32 + 25) * 64 + 37 = 24165  of 32768
      p1 = w * 4 + c_inner             = 23 * 4 + 1               =    93  of 256
  offset = p0 * 256 + p1 = 24165 * 256 + 93 = 6186333
"
    );
}

#[test]
fn wide_arithmetic_takes_several_lines() {
    let sandbox = Sandbox::new(&[("a.kdl", TEXTURE)]);
    let ran = sandbox.run(&["trace", "a.kdl", "w", "999,321"]);
    let physical = "
  physical
      p0 = (((o_outer * 8 + i_outer) * 4 + o_inner_outer) * 128 + i_inner_outer) * 2 + o_inner_inner + i_inner_inner
         = (((40 * 8 + 7) * 4 + 0) * 128 + 103) * 2 + 1 + 0
         = 335055  of 516096
  offset = p0 = 335055
";
    assert!(ran.success().ends_with(physical), "{}", ran.out);
}

#[test]
fn symbols_and_step_constraints_are_printed() {
    let sandbox = Sandbox::new(&[("a.kdl", SYMBOLIC)]);
    assert_eq!(
        sandbox.run(&["trace", "a.kdl", "s", "7,1", "--set", "batch=8"]).success(),
        "\
s[7, 1] where batch = 8
  order c n
      c = 1  of 4
      n = 7  of 8
  align c 64
      the stride of c is a multiple of 64 bytes
  physical
      p0 = c * 16 + n = 1 * 16 + 7 = 23  of 64
  offset = p0 = 23
"
    );
    let scalar = "scalar[]\n  physical\n      p0 = 0  of 1\n  offset = p0 = 0\n";
    assert_eq!(sandbox.run(&["trace", "a.kdl", "scalar", ""]).success(), scalar);
    let ran = sandbox.run(&["trace", "a.kdl", "s", "7,1"]);
    let line = "error: `s` depends on symbols: add --set batch=VALUE\n";
    assert_eq!(ran.failure(), (Some(2), line));
}

#[test]
fn json_output_is_one_object() {
    let sandbox = Sandbox::new(&[("a.kdl", SYMBOLIC)]);
    let args = ["trace", "a.kdl", "s", "7,1", "--set", "batch=8", "--format", "json"];
    let axes = concat!(
        r#"{"name":"c","expr":"c","value":1,"extent":4},"#,
        r#"{"name":"n","expr":"n","value":7,"extent":8}"#
    );
    let object = [
        r#"{"tensor":"s","symbols":{"batch":8},"logical":[7,1],"steps":["#,
        r#"{"step":"order c n","axes":["#,
        axes,
        r#"]},{"step":"align c 64","axes":["#,
        axes,
        r#"]}],"physical":[{"name":"p0","expr":"c * 16 + n","value":23,"extent":64}],"#,
        r#""offset":{"expr":"p0","value":23}}"#,
    ];
    assert_eq!(sandbox.run(&args).success(), format!("{}\n", object.concat()));
}

#[test]
fn invalid_coordinate_is_underlined() {
    let sandbox = Sandbox::new(&[("a.kdl", SYMBOLIC)]);
    let run = |index: &str, more: &[&str]| {
        sandbox.run(&[&["trace", "a.kdl", "s", index, "--set", "batch=8"], more].concat())
    };
    assert_eq!(
        run("8,1", &[]).failure(),
        (
            Some(1),
            "\
error[shape::coordinate]: `n` = 8 is out of bounds: its extent is 8
  ┌─ <coordinate>:1:1
1 │ 8,1
  │ ^^^

1 error
for more information, run `layoutc explain shape::coordinate`
"
        )
    );
    assert!(run("-1,1", &[]).err.contains("`n` = -1"));
    let ran = run("7 1", &["--format", "json"]);
    let fault: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!((ran.code, &fault["help"][0]), (Some(1), &"write `7,1`".into()));
    assert_eq!(sandbox.run(&["trace", "a.kdl", "s"]).code, Some(2));
    let line = "error: unknown tensor `t`; expected one of `s`, `scalar`\n";
    assert_eq!(sandbox.run(&["trace", "a.kdl", "t", "0"]).failure(), (Some(2), line));
}

#[test]
fn colors_appear_only_on_request() {
    let sandbox = Sandbox::new(&[("a.kdl", SYMBOLIC)]);
    let run = |more: &[&str]| sandbox.run(&[&["trace", "a.kdl", "scalar", ""], more].concat());
    assert!(!run(&[]).success().contains('\u{1b}'));
    let painted = run(&["--color", "always"]);
    assert!(
        painted.success().contains("\u{1b}[36mp0\u{1b}[0m = \u{1b}[1m0\u{1b}[0m"),
        "{}",
        painted.out
    );
}
