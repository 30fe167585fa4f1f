//! Tests the example with its own template: the generated Python agrees with `layoutc index` on every element and
//! every slot.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

const TENSORS: &[(&str, &[&str])] =
    &[("activations", &["3"]), ("tiled", &[]), ("texture", &[]), ("skewed", &[])];

/// Evaluates the generated module for every element and every slot of a tensor; one JSON object per line.
const ASK: &str = r#"
import itertools, json, sys
sys.path.insert(0, sys.argv[1])
import tensors
name, symbols = sys.argv[2], [int(s) for s in sys.argv[3].split()]
shape, physical = json.loads(sys.argv[4]), json.loads(sys.argv[5])
get = lambda what: getattr(tensors, f"{name}_{what}")
for index in itertools.product(*map(range, shape)):
    at = [get("offset")(*symbols, *index)]
    if len(physical) > 1:
        at += [get(f"index_{k}")(*symbols, *index) for k in range(len(physical))]
    print(json.dumps([list(index), at]))
print("slots")
for place in itertools.product(*map(range, physical)):
    found = get("logical")(*symbols, *place)
    print(json.dumps([list(place), found and list(found)]))
"#;

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/custom-template")
}

fn layoutc(args: &[&str], input: Option<&Path>) -> Vec<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_layoutc"));
    command.current_dir(example()).args(args);
    if let Some(input) = input {
        command.stdin(Stdio::from(File::open(input).expect("the coordinates")));
    }
    let output = command.output().expect("it runs");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {message}");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

fn joined(list: &Value) -> String {
    let list = list.as_array().expect("a list");
    list.iter().map(Value::to_string).collect::<Vec<_>>().join(",")
}

/// Extents of a tensor for a value of its symbol.
fn extents(list: &Value, of: impl Fn(&Value) -> Value, symbols: &[&str]) -> Vec<i64> {
    let value = |extent: &Value| match extent {
        Value::String(text) => {
            let batch: i64 = symbols[0].parse().expect("a number");
            let factors = text.split(" * ").map(|f| f.parse().unwrap_or(batch));
            factors.product()
        }
        number => number.as_i64().expect("a number"),
    };
    list.as_array().expect("a list").iter().map(|item| value(&of(item))).collect()
}

#[test]
fn python_example_agrees_with_layoutc_index() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().to_str().expect("a path");
    layoutc(&["build", "-q", "--out", out], None);
    fs::write(folder.path().join("ask.py"), ASK).expect("a script");
    for (name, symbols) in TENSORS {
        let known = layoutc(&["inspect", "--tensor", name, "--format", "json"], None);
        let known: Value = serde_json::from_str(&known[0]).expect("JSON");
        let tensor = &known["tensors"][0];
        let shape = extents(&tensor["axes"], |axis| axis["extent"].clone(), symbols);
        let physical = extents(&tensor["physical_shape"], Value::clone, symbols);
        let printed = Command::new("python3")
            .arg(folder.path().join("ask.py"))
            .args([&format!("{out}/python"), *name, &symbols.join(" ")])
            .args([format!("{shape:?}"), format!("{physical:?}")])
            .output()
            .expect("python3");
        assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
        let message = String::from_utf8_lossy(&printed.stdout).into_owned();
        let (elements, slots) = message.split_once("slots\n").expect("both parts");
        agree(folder.path(), name, symbols, elements, &[]);
        agree(folder.path(), name, symbols, slots, &["--inverse"]);
    }
}

/// Compares `layoutc index` with each of the lines.
fn agree(folder: &Path, name: &str, symbols: &[&str], lines: &str, inverse: &[&str]) {
    let lines: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(lines.len() > 60, "{name} has {} places", lines.len());
    let coordinates: Vec<String> = lines.iter().map(|line| joined(&line[0])).collect();
    let input = folder.join("coordinates");
    fs::write(&input, coordinates.join("\n") + "\n").expect("the coordinates");
    let sets: Vec<String> = symbols.iter().map(|value| format!("batch={value}")).collect();
    let mut args = vec!["index", "layouts/tensors.kdl", name, "--format", "json"];
    args.extend(sets.iter().flat_map(|set| ["--set", set.as_str()]));
    args.extend(inverse);
    let answers = layoutc(&args, Some(&input));
    assert_eq!(answers.len(), lines.len(), "{name}");
    for (line, answer) in lines.iter().zip(answers) {
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        if inverse.is_empty() {
            let mut places = vec![answer["offset"].clone()];
            let physical = answer["physical"].as_array().expect("a list");
            if physical.len() > 1 {
                places.extend(physical.iter().cloned());
            }
            assert_eq!(line[1], Value::from(places), "{name}: {answer}");
        } else {
            assert_eq!(line[1], answer["logical"], "{name}: {answer}");
        }
    }
}
