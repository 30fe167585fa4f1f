//! `layoutc show` on a terminal, as figures and as JSON.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const LAYOUTS: &str = "\
symbol batch min=3 max=64 multiple=4
tensor small dtype=f32 { shape { h 3; w 5 }; layout { tile 2 2 } }
tensor plain dtype=f32 { shape { h 2; w 3 } }
tensor two dtype=bf16 { shape { h 4; w 8 }; layout { tile 2 4; tile 2 1 } }
tensor tiled dtype=bf16 { shape { r 8; c 128 }; layout { tile 8 128 } }
tensor blocked dtype=f32 {
    shape { h 56; w 56; c 64 }
    layout { map \"(h, w, c) -> (c // 16, h, w, c % 16)\" }
}
tensor texture dtype=f32 {
    shape { n 2; h 2; w 2; c 8 }
    layout { map \"(n, h, w, c) -> (n, c // 4, h | w, c % 4)\" }
    memory texture
}
tensor sym dtype=f32 { shape { n batch; h 2 }; layout { pad h before=1 after=1 } }
tensor vector dtype=f32 { shape { n 5 } }
tensor scalar dtype=f32 { shape {} }
tensor none dtype=f32 { shape { a 0; b 3 } }
tensor huge dtype=u8 { shape { a 1000000000; b 1000000000 }; layout { tile 8 128 } }
tensor padded dtype=u8 { shape { a 3 }; layout { pad a before=4000000000 after=4000000000 } }
tensor curve dtype=u8 { shape { a 64; b 64 }; layout { map \"(a, b) -> (morton(a, b))\" } }
view part of=plain { shape { y 1; x 2 }; map \"(y, x) -> (y + 1, x + 1)\" }
view same of=plain { shape { y 4; x 2 }; map \"(y, x) -> (0, x + 1)\" }
";

fn sandbox() -> Sandbox {
    Sandbox::new(&[("a.kdl", LAYOUTS)])
}

/// Text of a picture, with escape characters made visible.
fn shown(sandbox: &Sandbox, args: &[&str]) -> String {
    let all = [&["show", "a.kdl"], args].concat();
    sandbox.run(&all).success().replace('\x1b', "␛")
}

#[test]
fn tiles_padding_and_memory_are_drawn_without_colors() {
    assert_eq!(
        shown(&sandbox(), &["small"]),
        "\
small: f32 [h 3, w 5]
storage: h_outer 2, w_outer 3, h_inner 2, w_inner 2
letters: h_outer, w_outer; ░ padding

offsets: h down, w across
     0    1     2    3     4    5
 0   0A   1A │  4B   5B │  8C  ░9░
 1   2A   3A │  6B   7B │ 10C  11░
   ──────────┼──────────┼──────────
 2  12D  13D │ 16E  17E │ 20F  21░
 3  14░  15░ │ 18░  19░ │ 22░  23░

memory: 24 slots, 6 rows of 4
      +0    +1     +2    +3
  0  0,0A  0,1A ╎ 1,0A  1,1A
  4  0,2B  0,3B ╎ 1,2B  1,3B
  8  0,4C  ░░░░ ╎ 1,4C  ░░░░
 12  2,0D  2,1D ╎ ░░░░  ░░░░
 16  2,2E  2,3E ╎ ░░░░  ░░░░
 20  2,4F  ░░░░ ╎ ░░░░  ░░░░
"
    );
}

#[test]
fn separators_are_drawn_as_double_rules() {
    assert_eq!(
        shown(&sandbox(), &["texture", "--at", "n=1, h=1"]),
        "\
texture: f32 [n 2, h 2, w 2, c 8]
storage: n 2, c_outer 2, h 2 | w 2, c_inner 4
letters: c_outer; · another slice

offsets: w down, c across, n = 1, h = 1
     0    1    2    3     4    5    6    7
 0  40A  41A  42A  43A ║ 56B  57B  58B  59B
 1  44A  45A  46A  47A ║ 60B  61B  62B  63B

memory: n, c_outer, h down, w, c_inner across
   ║   0     1     2     3      4     5     6     7
   ╬════════════════════════╪════════════════════════
 0 ║   ·     ·     ·     ·  ╎   ·     ·     ·     ·
 1 ║   ·     ·     ·     ·  ╎   ·     ·     ·     ·
 2 ║   ·     ·     ·     ·  ╎   ·     ·     ·     ·
 3 ║   ·     ·     ·     ·  ╎   ·     ·     ·     ·
 4 ║   ·     ·     ·     ·  ╎   ·     ·     ·     ·
 5 ║ 0,0A  0,1A  0,2A  0,3A ╎ 1,0A  1,1A  1,2A  1,3A
 6 ║   ·     ·     ·     ·  ╎   ·     ·     ·     ·
 7 ║ 0,4B  0,5B  0,6B  0,7B ╎ 1,4B  1,5B  1,6B  1,7B
"
    );
}

#[test]
fn terminal_colors_match_its_capabilities() {
    let sandbox = sandbox();
    let painted = |term: &str, color: &str| {
        let mut command = sandbox.command(".", &["show", "a.kdl", "plain", "--color", "always"]);
        let output = command.env("TERM", term).env("COLORTERM", color).output().expect("it ends");
        String::from_utf8(output.stdout).expect("UTF-8").replace('\x1b', "␛")
    };
    let text = painted("xterm-256color", "");
    let row = "␛[2m 0 ␛[0m␛[38;5;16;48;5;117m 0 ␛[0m␛[38;5;16;48;5;117m 1 ␛[0m␛[38;5;16;48;5;117m 2 ␛[0m\n";
    assert!(text.contains(row), "{text}");
    assert!(
        text.starts_with("␛[1mplain: f32 [h 2, w 3]␛[0m\nstorage: h 2, w 3\ncolors: h\n"),
        "{text}"
    );
    let text = painted("xterm", "truecolor");
    let second = "␛[38;2;17;17;17;48;2;245;185;77m 3 ␛[0m";
    assert!(text.contains(second), "{text}");
    let plain = shown(&sandbox, &["plain"]);
    assert!(!plain.contains('␛'), "{plain}");
}

#[test]
fn every_line_fits_the_requested_width() {
    let sandbox = sandbox();
    for tensor in ["small", "two", "tiled", "blocked", "curve", "texture"] {
        for width in [40, 72, 100, 200] {
            for color in ["always", "never"] {
                let argument = width.to_string();
                let text = shown(&sandbox, &[tensor, "--width", &argument, "--color", color]);
                let is_caption =
                    |line: &&str| ["memory:", "offsets:"].iter().any(|word| line.starts_with(word));
                let tables = text.lines().skip_while(|line| !line.is_empty());
                let tables = tables.filter(|line| !is_caption(line));
                for line in tables {
                    let line = unpainted(line);
                    assert!(line.chars().count() <= width, "{tensor}, {width}:\n{text}");
                }
            }
        }
    }
}

fn unpainted(line: &str) -> String {
    let mut pieces = line.split("␛[");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| text + piece.split_once('m').map_or(piece, |(_, rest)| rest))
}

#[test]
fn tensors_of_every_rank_are_drawn() {
    let sandbox = sandbox();
    let text = shown(&sandbox, &["scalar"]);
    assert!(
        text.ends_with("offsets: one element\n\n   0A\n\nmemory: 1 slot\n    +0\n 0  []A\n"),
        "{text}"
    );
    let text = shown(&sandbox, &["vector"]);
    assert!(
        text.contains("offsets: n across\n   0   1   2   3   4\n   0A  1A  2A  3A  4A\n"),
        "{text}"
    );
    let text = shown(&sandbox, &["blocked", "--axes", "c"]);
    assert!(text.contains("offsets: c across, h = 0, w = 0\n"), "{text}");
    let text = shown(&sandbox, &["blocked", "--axes", "c,h", "--at", "w=5"]);
    assert!(text.contains("offsets: c down, h across, w = 5\n"), "{text}");
    assert_eq!(shown(&sandbox, &["none"]), "none: f32 [a 0, b 3]\nstorage: a 0, b 3\nno element\n");
}

#[test]
fn symbols_default_to_their_minimum() {
    let sandbox = sandbox();
    let text = shown(&sandbox, &["sym"]);
    assert!(text.starts_with("sym: f32 [n 4, h 2] where batch = 4\n"), "{text}");
    assert!(text.contains("\n    -1    0    1    2\n 0  ░0░   1A   2A  ░3░\n"), "{text}");
    let text = shown(&sandbox, &["sym", "--set", "batch=8"]);
    assert!(text.starts_with("sym: f32 [n 8, h 2] where batch = 8\n"), "{text}");
}

#[test]
fn view_is_drawn_in_its_base_memory() {
    let sandbox = sandbox();
    let text = shown(&sandbox, &["part"]);
    let memory = "\
memory: 6 slots
     +0    +1    +2     +3    +4    +5
 0    ·     ·     ·  ╎   ·   0,0A  0,1A
";
    assert!(text.ends_with(memory) && text.contains("· outside of the view"), "{text}");
    let text = shown(&sandbox, &["same"]);
    assert!(text.contains(" 0  1A  2A\n 1  1A  2A\n"), "{text}");
}

#[test]
fn large_tensors_are_sampled() {
    let sandbox = sandbox();
    for tensor in ["huge", "padded", "curve"] {
        let text = shown(&sandbox, &[tensor]);
        assert!(text.lines().count() < 80, "{text}");
        for option in ["--svg", "--html"] {
            let bytes = shown(&sandbox, &[tensor, option, "-"]).len();
            assert!(bytes < 8 << 20, "{tensor} {option}: {bytes}");
        }
    }
}

#[test]
fn a_tensor_that_cannot_be_drawn_is_refused_in_one_line() {
    let sandbox = sandbox();
    for (args, line) in [
        (&["smal"][..], "unknown tensor `smal`; did you mean `small`?"),
        (&["small", "--axes", "h,x"], "`small`: there is no axis `x`; there are `h`, `w`"),
        (&["small", "--axes", "h,h"], "`small`: `h` is named twice"),
        (&["blocked", "--axes", "h,w,c"], "`blocked`: a picture has two axes, not 3"),
        (&["blocked", "--at", "c=1"], "`blocked`: `c` is drawn, and cannot be fixed too"),
        (&["blocked", "--at", "h=56"], "`blocked`: `h` cannot be fixed at 56: its extent is 56"),
        (&["blocked", "--at", "h"], "`--at h`: expected NAME=INDEX with an integer"),
        (&["sym", "--set", "batch=5"], "`batch` is declared as 3 to 64, a multiple of 4, got 5"),
        (&["small", "--svg", "a.kdl"], "output `a.kdl` would overwrite the input `a.kdl`"),
        (
            &["small", "--svg", "-", "--html", "-"],
            "`--svg -` and `--html -` cannot both be standard output",
        ),
        (&["small", "--svg", "no/a.svg"], "the folder of `no/a.svg` does not exist"),
    ] {
        let ran = sandbox.run(&[&["show", "a.kdl"], args].concat());
        let refused = ran.failure();
        assert_eq!(refused.0, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.starts_with(&format!("error: {line}")), "{args:?}: {}", ran.err);
    }
    sandbox.write("bad.kdl", crate::sandbox::BROKEN);
    let ran = sandbox.run(&["show", "bad.kdl", "t"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("error[map::not_injective]"), "{}", ran.err);
}

#[test]
fn json_output_is_one_object() {
    let sandbox = sandbox();
    let text = shown(&sandbox, &["small", "--format", "json"]);
    let object: Value = serde_json::from_str(&text).expect("one object");
    assert_eq!(text.lines().count(), 1);
    assert_eq!(object["kind"], "picture");
    assert_eq!(object["rows"], json!({ "axis": "h", "indices": [0, 1, 2, 3] }));
    assert_eq!(object["colored_by"], json!(["h_outer", "w_outer"]));
    let element = json!({
        "kind": "element", "logical": [2, 4], "storage": [1, 2, 0, 0], "physical": [20],
        "offset": 20, "color": 5,
    });
    assert_eq!(object["cells"][2][4], element);
    assert_eq!(object["cells"][3][0], json!({ "kind": "padding", "offset": 14 }));
    assert_eq!(object["memory"]["drawn"][2]["slots"][1], json!({ "kind": "padding" }));
    let text = shown(&sandbox, &["small", "--svg", "a.svg", "--format", "json"]);
    let object: Value = serde_json::from_str(&text).expect("one object");
    let bytes = sandbox.read("a.svg").expect("a figure").len();
    let report = json!({
        "version": 1, "kind": "show", "tensor": "small", "picture": "svg", "output": "a.svg",
        "bytes": bytes,
    });
    assert_eq!(object, report);
}

#[test]
fn indices_outside_the_domain_own_no_slots() {
    let manifest = "tensor t dtype=f32 { shape { b 2; i 4; j 4; where \"j <= i\" }\n\
                    layout { map \"(b, i, j) -> (b * 10 + i * (i + 1) // 2 + j)\" } }";
    let sandbox = Sandbox::new(&[("a.kdl", manifest)]);
    let text = shown(&sandbox, &["t", "--format", "json"]);
    let object: Value = serde_json::from_str(&text).expect("one object");
    let drawn = object["memory"]["drawn"].as_array().expect("rows");
    let slots = drawn.iter().flat_map(|row| row["slots"].as_array().expect("slots"));
    let indices = slots.filter_map(|slot| slot["logical"].as_array());
    let indices: Vec<Vec<i64>> =
        indices.map(|index| index.iter().filter_map(Value::as_i64).collect()).collect();
    assert!(indices.len() >= 10, "{text}");
    assert!(indices.iter().all(|index| index[2] <= index[1]), "{indices:?}");
}

/// A text of a figure: position and width in pixels.
#[derive(Debug)]
struct Words {
    text: String,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// Texts of a figure, in a fixed-width font whose characters are 0.602 em wide.
fn words(svg: &str) -> Vec<Words> {
    let one = |line: &str| {
        let parts: Vec<&str> = line.strip_prefix("<text ")?.split('"').collect();
        let [_, class, _, x, _, y, rest] = parts[..] else { panic!("{line}") };
        let text = rest.trim_start_matches('>').trim_end_matches("</text>").replace("&lt;", "<");
        let has = |name: &str| class.split(' ').any(|word| word == name);
        let size = if has("t") {
            16.0
        } else if has("s") {
            9.5
        } else {
            13.0
        };
        let width = f64::from(u32::try_from(text.chars().count()).expect("short")) * size * 0.602;
        let (x, y): (f64, f64) = (x.parse().expect("a number"), y.parse().expect("a number"));
        let left = if has("m") {
            x - width / 2.0
        } else if has("e") {
            x - width
        } else {
            x
        };
        Some(Words {
            text,
            left,
            right: left + width,
            top: y - size * 0.75,
            bottom: y + size * 0.2,
        })
    };
    svg.lines().filter_map(one).collect()
}

#[test]
fn figure_texts_do_not_overlap_or_overflow() {
    let sandbox = sandbox();
    for tensor in
        ["small", "two", "tiled", "blocked", "texture", "sym", "scalar", "none", "huge", "curve"]
    {
        let svg = shown(&sandbox, &[tensor, "--svg", "-"]);
        let size = svg.split("viewBox=\"0 0 ").nth(1).and_then(|rest| rest.split('"').next());
        let (width, height) = size.and_then(|size| size.split_once(' ')).expect("a size");
        let (width, height): (f64, f64) =
            (width.parse().expect("a number"), height.parse().expect("a number"));
        let words = words(&svg);
        for (k, a) in words.iter().enumerate() {
            assert!(
                a.left >= 0.0 && a.right <= width && a.top >= 0.0 && a.bottom <= height,
                "{tensor}: `{}` {a:?}",
                a.text
            );
            for b in &words[k + 1..] {
                let apart = a.right <= b.left
                    || b.right <= a.left
                    || a.bottom <= b.top
                    || b.bottom <= a.top;
                assert!(apart, "{tensor}: `{}` {a:?}, `{}` {b:?}", a.text, b.text);
            }
        }
    }
}

#[test]
fn a_figure_is_xml_with_a_title_for_light_and_dark() {
    let sandbox = sandbox();
    for tensor in ["small", "texture", "none"] {
        let svg = shown(&sandbox, &[tensor, "--svg", "-"]);
        let parse = "import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.stdin.buffer)";
        let mut child = Command::new("python3")
            .args(["-c", parse])
            .stdin(Stdio::piped())
            .spawn()
            .expect("python3");
        child.stdin.take().expect("a pipe").write_all(svg.as_bytes()).expect("written");
        assert!(child.wait().expect("it ends").success(), "{svg}");
        assert!(
            svg.contains("@media (prefers-color-scheme:dark)") && svg.contains("<title"),
            "{svg}"
        );
    }
    let svg = shown(&sandbox, &["small", "--svg", "-"]);
    // Nine slots of padding: in the grid, in the memory, and once in the legend.
    assert_eq!(svg.matches("class=\"c p\"").count(), 9 + 9 + 1, "{svg}");
}

#[test]
fn banks_are_drawn_by_number_and_color() {
    let manifest = "tensor t dtype=f16 { shape { m 8; k 64 }; layout { swizzle 3 3 3 unit=elements }; memory shared }\n";
    let sandbox = Sandbox::new(&[("a.kdl", manifest)]);
    let ran = sandbox.run(&["show", "a.kdl", "t", "--banks", "--format", "json"]);
    let picture: Value = serde_json::from_str(ran.success()).unwrap();
    assert_eq!(picture["colored_by"], json!(["bank"]));
    let cells = picture["cells"].as_array().unwrap().iter();
    let cells: Vec<&Value> = cells.flat_map(|row| row.as_array().unwrap()).collect();
    assert!(cells.len() > 50);
    for cell in cells {
        let bank = cell["offset"].as_i64().unwrap() * 2 / 4 % 32;
        assert_eq!(cell["color"], bank / 4 % 6, "{cell}");
    }
    let text = shown(&sandbox, &["t", "--banks", "--axes", "m,k"]);
    assert!(text.contains("bank: m down, k across"), "{text}");
    // Row 1 of the swizzled tile begins in bank 4.
    let rows: Vec<&str> = text.lines().filter(|line| line.trim_start().starts_with("1 ")).collect();
    assert!(rows.first().is_some_and(|row| row.split_whitespace().nth(1) == Some("4B")), "{text}");
}
