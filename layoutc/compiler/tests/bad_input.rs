//! Malformed and hostile manifests: each one terminates quickly with diagnostics whose spans are in the text.
//! `LAYOUTC_FULL=1` tries every mutation of the examples.
#![allow(clippy::disallowed_methods, reason = "measures time")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::time::Duration;

use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::{Diagnostic, Severity};
use layoutc_compiler::config::Config;
use layoutc_compiler::emit::Templates;
use layoutc_compiler::{Compiler, MemorySources};
use layoutc_testing::is_full;

/// Kernels that use every keyword of a kernel.
const KERNELS: &str = include_str!("kernels.kdl");

const EXAMPLES: [&str; 4] = [
    KERNELS,
    include_str!("../../../examples/quickstart/layouts/activations.kdl"),
    include_str!("../../../examples/tpu-tiles/layouts/matrices.kdl"),
    include_str!("../../../examples/weights/layouts/filters.kdl"),
];

fn alone(text: &str) -> MemorySources {
    MemorySources::of("a.kdl", text)
}

/// Checks `a.kdl`, and emits it if there is no error.
fn compile(sources: &MemorySources) -> Vec<Diagnostic> {
    let config = Config::default();
    let compiler = Compiler::new(sources, &config);
    let checked = compiler.check(&["a.kdl".to_owned()]);
    let mut found = checked.diagnostics.clone();
    if checked.is_valid()
        && let Err(faults) = compiler.emit(&checked, &Templates::default())
    {
        found.extend(faults);
    }
    for diagnostic in &found {
        points_into(diagnostic, sources);
    }
    found
}

fn points_into(diagnostic: &Diagnostic, sources: &MemorySources) {
    assert!(!diagnostic.labels.is_empty(), "no label: {diagnostic:?}");
    for label in &diagnostic.labels {
        let place = &label.place;
        let Some(text) = sources.get(&place.file) else {
            assert_eq!((place.start, place.end), (0, 0), "{diagnostic:?}");
            continue;
        };
        assert!(
            place.start <= place.end && text.get(place.start..place.end).is_some(),
            "outside the file or inside a character: {diagnostic:?}"
        );
    }
}

fn mutations(text: &str, stride: usize) -> Vec<(String, Vec<u8>)> {
    let bytes = text.as_bytes();
    let mut all = Vec::new();
    for at in 0..bytes.len() {
        all.push((format!("cut at {at}"), bytes[..at].to_vec()));
        let mut without = bytes.to_vec();
        without.remove(at);
        all.push((format!("without byte {at}"), without));
        let mut twice = bytes.to_vec();
        twice.insert(at, bytes[at]);
        all.push((format!("byte {at} twice"), twice));
        for new in *b"\0\"\\{}()0/*#\n\xC3" {
            let mut changed = bytes.to_vec();
            changed[at] = new;
            all.push((format!("byte {at} is {new}"), changed));
        }
        for bit in [0_u32, 5] {
            let mut changed = bytes.to_vec();
            changed[at] ^= 1_u8 << bit;
            all.push((format!("bit {bit} of byte {at}"), changed));
        }
    }
    all.into_iter().step_by(stride).collect()
}

#[test]
fn truncations_and_byte_changes_do_not_panic() {
    // The number of mutations per byte and the stride are coprime, so that each kind is tried at some bytes.
    let stride = if is_full() { 17 } else { 37 };
    let (mut tried, mut good, mut failures) = (0, 0, Vec::new());
    for (example, text) in EXAMPLES.iter().enumerate() {
        assert_eq!(compile(&alone(text)), [], "example {example}");
        for (what, bytes) in mutations(text, stride) {
            let Ok(text) = String::from_utf8(bytes) else { continue };
            tried += 1;
            match catch_unwind(AssertUnwindSafe(|| compile(&alone(&text)))) {
                Ok(found) => {
                    good += usize::from(found.iter().all(|d| d.severity != Severity::Error));
                }
                Err(panic) => {
                    let told = panic.downcast_ref::<String>().cloned().unwrap_or_default();
                    failures.push(format!("example {example}, {what}: {told}\n{text}"));
                }
            }
        }
    }
    println!("{tried} mutations, {good} of them still good manifests");
    assert!(failures.is_empty(), "{} failed; the first:\n{}", failures.len(), failures[0]);
}

/// Distinct codes of a manifest's errors, in order; the compiler has two minutes.
fn codes(sources: MemorySources) -> Vec<Code> {
    let (sender, receiver) = channel();
    let worker = std::thread::spawn(move || {
        let mut codes: Vec<Code> = compile(&sources)
            .iter()
            .filter(|d| d.severity == Severity::Error)
            .map(|d| d.code)
            .collect();
        codes.dedup();
        sender.send(codes)
    });
    match receiver.recv_timeout(Duration::from_mins(2)) {
        Ok(codes) => codes,
        Err(error) => {
            let ended = worker.is_finished();
            panic!("{}", if ended { format!("panicked: {error}") } else { "hangs".to_owned() })
        }
    }
}

fn tensor(shape: &str, layout: &str) -> String {
    format!("tensor t dtype=f32 {{\n shape {{ {shape} }}\n layout {{\n {layout}\n }}\n}}\n")
}

fn map(shape: &str, items: &str) -> String {
    tensor(shape, &format!("map \"{items}\""))
}

fn repeated(count: usize, one: impl Fn(usize) -> String) -> String {
    (0..count).map(one).collect()
}

fn hostile() -> Vec<(&'static str, String, Vec<Code>)> {
    let deep = |open: &str, inside: &str, close: &str, count: usize| {
        format!("{}{inside}{}", open.repeat(count), close.repeat(count))
    };
    let nested_map = |text: String| map("a 8", &format!("(a) -> ({text})"));
    let views = repeated(100_000, |k| format!("view v{} of=v{k}\n", k + 1));
    let transforms = |last: &str, step: &dyn Fn(usize) -> String, count: usize| {
        let defs = repeated(count, |k| format!("transform t{} {{ {} }}\n", k + 1, step(k)));
        format!("{last}{defs}tensor t dtype=f32 {{ shape {{ a 8 }}; layout t{count} }}\n")
    };
    vec![
        ("2,000 children", deep("a {", "", "}", 2000), vec![Code::KdlNesting]),
        ("2,000 comments", deep("/*", "", "*/", 2000), vec![Code::KdlNesting]),
        ("2,000 slash-dashes", deep("/-a {", "", "}", 2000), vec![Code::KdlNesting]),
        ("2,000 parentheses", nested_map(deep("(", "a", ")", 2000)), vec![Code::ExprNesting]),
        ("2,000 signs", nested_map(deep("-", "a", "", 2000)), vec![Code::ExprNesting]),
        ("200,000 signs", nested_map(deep("-", "a", "", 200_000)), vec![Code::ExprNesting]),
        ("200,000 terms", nested_map(deep("", "a", "+0", 200_000)), vec![Code::ExprNesting]),
        ("20,000 terms", nested_map(deep("", "a", "+0", 20_000)), vec![Code::ExprNesting]),
        ("2,000 calls", nested_map(deep("f(", "a", ")", 2000)), vec![Code::ExprNesting]),
        ("10^5 tile entries", tensor("a 8", &format!("tile {}", "2 ".repeat(100_000))), vec![Code::LimitAxes]),
        ("10^5 tiles", tensor("a 8", &"tile 2\n".repeat(100_000)), vec![Code::LimitAxes]),
        ("10^5 orders", tensor("a 8", &"order a\n".repeat(100_000)), vec![Code::LimitSteps]),
        ("10^5 axes", tensor(&repeated(100_000, |k| format!("a{k} 1;")), ""), vec![Code::LimitAxes]),
        ("10^4 axes apart", tensor(&repeated(10_000, |k| format!("a{k} 2;")), ""), vec![Code::LimitAxes]),
        (
            "2^40 steps",
            transforms("transform t0 { order a }\n", &|k| format!("apply t{k}; apply t{k}"), 40),
            vec![Code::LimitSteps],
        ),
        (
            "2^40 times nothing",
            transforms("transform t0 { }\n", &|k| format!("apply t{k}; apply t{k}"), 40),
            vec![Code::LimitSteps],
        ),
        (
            "2,000 transforms deep",
            transforms("transform t0 { order a }\n", &|k| format!("apply t{k}"), 2000),
            vec![Code::LimitSteps],
        ),
        (
            "64 items of everything",
            map(
                &repeated(8, |k| format!("a{k} 2;")),
                &format!(
                    "(a, b, c, d, e, f, g, h) -> ({})",
                    vec!["a + b + c + d + e + f + g + h"; 64].join(", ")
                ),
            ),
            vec![Code::LimitSize],
        ),
        (
            "sums of everything, 40 times over",
            tensor(
                &repeated(8, |k| format!("a{k} 2;")),
                &"map \"(a, b, c, d, e, f, g, h) -> (a+b+c+d+e+f+g+h, a+b+c+d, e+f+g+h, a+c+e, b, d, f, h + a)\"\n".repeat(40),
            ),
            vec![Code::LimitSize],
        ),
        (
            "nested remainders, 100 times over",
            tensor(
                "a 7; b 7",
                &"map \"(a, b) -> ((a * 3 + b) % 7, (a * 5 + b * 2) % 11 % 7)\"\n".repeat(100),
            ),
            vec![Code::ExprOverflow],
        ),
        ("a chain of views", format!("tensor v0 dtype=f32 {{ shape {{ a 8 }} }}\n{views}"), vec![Code::LimitSteps]),
        ("a NUL", "tensor t\0".to_owned(), vec![Code::KdlCharacter]),
        ("an override", "// \u{202e}\n".to_owned(), vec![Code::KdlCharacter]),
    ]
}

#[test]
fn hostile_manifests_raise_the_listed_codes() {
    let mut wrong = Vec::new();
    for (what, text, wanted) in hostile() {
        println!("{what}");
        let start = std::time::Instant::now();
        let sources = alone(&text);
        let found = catch_unwind(AssertUnwindSafe(|| codes(sources)));
        let seconds = start.elapsed().as_secs_f64();
        let told = match found {
            Ok(found) if found == wanted && seconds < 60.0 => continue,
            Ok(found) => format!("{found:?}"),
            Err(panic) => panic.downcast_ref::<String>().cloned().unwrap_or_default(),
        };
        wrong.push(format!("{what}: {told} instead of {wanted:?} in {seconds:.2} s"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn use_cycles_and_long_use_chains_terminate() {
    let file = |text: String| text;
    let own = MemorySources::of("a.kdl", "use \"a.kdl\"\n");
    assert_eq!(codes(own), [Code::NameCycle]);
    let circle = ["a", "b", "c"].iter().zip(["b", "c", "a"]);
    let circle =
        circle.map(|(from, to)| (format!("{from}.kdl"), file(format!("use \"{to}.kdl\"\n"))));
    assert_eq!(codes(circle.collect()), [Code::NameCycle]);
    let chain = |count: usize| {
        let mut files: BTreeMap<String, String> = (0..count)
            .map(|k| (format!("f{k}.kdl"), format!("use \"f{}.kdl\"\n", k + 1)))
            .collect();
        files.insert("a.kdl".to_owned(), "use \"f0.kdl\"\n".to_owned());
        files.insert(format!("f{count}.kdl"), "const X 1\n".to_owned());
        MemorySources::from_iter(files)
    };
    assert_eq!(codes(chain(100)), []);
    assert_eq!(codes(chain(5000)), [Code::LimitNesting]);
    // Each manifest uses the next one twice, by two spellings of its path.
    let mut doubled = MemorySources::default();
    for k in 0..60 {
        let text = format!("use \"f{}.kdl\"\nuse \"./f{}.kdl\"\n", k + 1, k + 1);
        let name = if k == 0 { "a.kdl".to_owned() } else { format!("f{k}.kdl") };
        doubled.insert(name, text);
    }
    doubled.insert("f60.kdl", "const X 1\n");
    assert_eq!(codes(doubled), []);
    for outside in ["/etc/passwd", "C:\\x.kdl", "../../../../etc/passwd"] {
        assert_eq!(codes(alone(&format!("use #\"{outside}\"#\n"))), [Code::NameFile], "{outside}");
    }
}
