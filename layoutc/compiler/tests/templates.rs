//! User templates: the renderer's limits on hostile ones, and the diagnostics of faulty ones.
#![allow(clippy::result_large_err, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "runs itself for each hostile template")]
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test")]

use crate::common;
use std::process::Command;
use std::time::Instant;

use common::{ZERO, convert, manifest, mapped, row_major, tensor};
use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::emit::language::LANGUAGES;
use layoutc_compiler::emit::{Part, Settings, Templates, emit};
use layoutc_compiler::model::{Fill, FillValue};
use layoutc_compiler::target::keywords::{C, CUDA, OPENCL};
use layoutc_testing::hostile::{CONFINED, FINE, HOSTILE, hostile_template};

fn with(header: &str) -> Result<String, Diagnostic> {
    let user = [("c/header.h.j2".to_owned(), header.to_owned())].into_iter().collect();
    let manifest = manifest(vec![tensor("a", "f32", row_major(&[("n", 3)]), ZERO)], Vec::new());
    emit(&manifest, &Settings::c(), "a", &Templates { user, ..Templates::default() })
        .map(|outputs| outputs[0].text.clone())
        .map_err(|mut faults| faults.remove(0))
}

#[test]
fn user_template_overrides_and_prints_expressions() {
    let text =
        with("{{ tensors[0].offset.body[0].value|python }} {{ tensors[0].offset.body[0].kind }}\n");
    assert_eq!(text.unwrap().lines().nth(1), Some("n return"));
}

#[test]
fn template_faults_have_their_location() {
    let fault = with("line\n{{ tensors[0].nothing }}\n").unwrap_err();
    assert_eq!(fault.code, Code::TemplateUndefined);
    assert_eq!(&*fault.labels[0].place.file, "templates/c/header.h.j2");
    assert_eq!((fault.labels[0].place.start, fault.labels[0].place.end), (15, 26));
    assert_eq!(fault.notes, [""; 0]);
    let fault = with("{% for %}").unwrap_err();
    assert_eq!(fault.code, Code::TemplateSyntax);
    let fault = with("{{ tensors|c }}").unwrap_err();
    assert_eq!(fault.code, Code::TemplateSyntax);
}

#[test]
fn long_running_template_exhausts_its_fuel() {
    let loops =
        "{% for a in range(10000) %}{% for b in range(10000) %}{{ b }}{% endfor %}{% endfor %}";
    let fault = with(loops).unwrap_err();
    assert_eq!(fault.code, Code::TemplateFuel);
    assert_eq!(fault.message, "template `c/header.h.j2`: takes more than 1050000 steps");
}

#[test]
fn oversized_template_outputs_are_refused() {
    for template in [
        "{{ 'ab' * 40000000 }}",
        "{{ range(10000)|join('x' * 100000) }}",
        "{{ 'a\nb'|indent(100000000)|replace('b', 'c' * 2000000) }}",
        "{% set ns = namespace(x='ab') %}{% for i in range(40) %}{% set ns.x %}{{ ns.x }}{{ ns.x }}{% endset %}{% endfor %}",
    ] {
        assert_eq!(with(template).unwrap_err().code, Code::TemplateOutput, "{template}");
    }
    assert_eq!(with("{{ '%9999d'|format(1) }}").unwrap_err().code, Code::TemplateSyntax);
}

/// Renders one hostile template; the next test runs it in a process of its own.
#[test]
fn one_hostile_template() {
    let Ok(name) = std::env::var("LAYOUTC_HOSTILE") else { return };
    let code = with(&hostile_template(&name)).map_or_else(|fault| fault.code.id(), |_| "fine");
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("").trim();
    println!("RESULT {code} {peak}");
}

#[test]
fn hostile_templates_end_in_a_diagnostic_within_limits() {
    let mut wrong = Vec::new();
    for (name, _) in HOSTILE.iter().filter(|(name, _)| !CONFINED.contains(name)) {
        let start = Instant::now();
        // Limits: 60 s, and 2 GB of address space.
        let script = format!(
            "ulimit -v 2000000; LAYOUTC_HOSTILE='{name}' RUST_BACKTRACE=0 exec timeout 60 '{}' --exact templates::one_hostile_template --nocapture",
            std::env::current_exe().unwrap().display()
        );
        let ran = Command::new("sh").args(["-c", &script]).output().unwrap();
        let seconds = start.elapsed().as_secs_f64();
        let text = String::from_utf8_lossy(&ran.stdout).into_owned();
        let result =
            text.lines().find_map(|line| line.split_once("RESULT ").map(|(_, r)| r.to_owned()));
        let result = result.unwrap_or_else(|| format!("no end: {:?}", ran.status));
        let mut words = result.split_whitespace();
        let code = words.next().unwrap_or("");
        let peak: u64 = words.next().and_then(|kb| kb.parse().ok()).unwrap_or(0);
        let is_expected = (code.starts_with("template::") || FINE.contains(name))
            && peak < 400_000
            && seconds < 20.0;
        if !is_expected {
            wrong.push(format!("{name}: {result} in {seconds:.1} s"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), HOSTILE.len(), wrong.join("\n"));
}

#[test]
fn templates_outside_the_project_are_not_found() {
    for name in ["../c/header.h.j2", "/etc/passwd"] {
        let fault = with(&format!("{{% include \"{name}\" %}}")).unwrap_err();
        assert_eq!(fault.code, Code::TemplateSyntax);
    }
}

/// The text without `//` and `/* */` comments, with backslashes and trigraphs resolved; literals are unchanged. Hash
/// and stamp, which depend on the whole file, become 0.
fn tokens(text: &str) -> String {
    let text = text.replace("??/", "\\").replace("\\\n", "");
    let mut kept = String::new();
    let mut rest = text.as_str();
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
        } else if rest.starts_with("/*") {
            rest = rest.find("*/").map_or("", |end| &rest[end + 2..]);
            kept.push(' ');
        } else if c == '"' {
            let end = rest[1..].find('"').map_or(rest.len(), |end| end + 2);
            kept.push_str(&rest[..end]);
            rest = &rest[end..];
        } else {
            kept.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    let stamp = |word: &str| {
        if word.starts_with("0x") && word.len() == 10 { "0x0" } else { word }.to_owned()
    };
    kept.split_whitespace().map(stamp).collect::<Vec<_>>().join(" ")
}

/// Generated files of all targets for a manifest's path and a layout's steps.
fn files(path: &str, steps: &[&str]) -> Vec<String> {
    let layout = || row_major(&[("n", 3)]);
    let mut tensors = vec![tensor("a", "f32", layout(), ZERO), tensor("b", "f32", layout(), ZERO)];
    tensors[0].steps = steps.iter().map(|step| (*step).to_owned()).collect();
    let mut manifest = manifest(tensors, vec![convert(0, 1, &[0])]);
    path.clone_into(&mut manifest.path);
    let mut files = Vec::new();
    for language in LANGUAGES {
        let settings = Settings { standard: "c99".to_owned(), ..Settings::of(language) };
        let outputs = emit(&manifest, &settings, "a", &Templates::default()).unwrap();
        files.extend(outputs.into_iter().map(|output| output.text));
    }
    files
}

#[test]
fn hostile_text_changes_no_token_outside_comments() {
    let plain: Vec<String> = files("x", &["x"]).iter().map(|text| tokens(text)).collect();
    assert_eq!(plain.len(), 10);
    for hostile in [
        "*/ int x; /*",
        "/* never closed",
        "ends in \\",
        "ends in ??/",
        "a\n#error b",
        "a\r#error b",
        "\u{202e}\u{2066} right to left \u{2069}",
        "\u{2028}#error b",
        "{{ generator }} {% raw %}",
        "\" string ' char",
        "??/\n#error b",
        "\u{0}\u{7f}\u{1b}[31m",
        "//\\\n#error b",
    ] {
        for texts in
            [files(hostile, &["x"]), files("x", &[hostile]), files(hostile, &[hostile, "x"])]
        {
            for (text, plain) in texts.iter().zip(&plain) {
                assert!(text.is_ascii(), "{hostile:?}:\n{text}");
                assert_eq!(&tokens(text), plain, "{hostile:?}");
            }
        }
    }
}

#[test]
fn identifiers_that_collide_are_named() {
    let layout = || row_major(&[("n", 3)]);
    let tensors = vec![tensor("a", "f32", layout(), ZERO), tensor("A", "f32", layout(), ZERO)];
    let faults =
        emit(&manifest(tensors, vec![]), &Settings::c(), "a", &Templates::default()).unwrap_err();
    assert!(faults.iter().all(|fault| fault.code == Code::NameCollision));
    assert_eq!(
        faults[0].message,
        "`A_RANK` would be generated twice: for rank of tensor `a` and for rank of tensor `A`"
    );
}

#[test]
fn colliding_conversion_is_reported_at_its_location() {
    let layout = || row_major(&[("n", 3)]);
    let tensors = ["a", "b_to_c", "a_to_b", "c"].map(|name| tensor(name, "f32", layout(), ZERO));
    let converts = vec![convert(0, 1, &[0]), convert(2, 3, &[0])];
    let manifest = manifest(tensors.into(), converts);
    let faults = emit(&manifest, &Settings::c(), "a", &Templates::default()).unwrap_err();
    assert_eq!(faults.len(), 1);
    assert_eq!(
        faults[0].message,
        "`a_to_b_to_c` would be generated twice: for convert `a` to `b_to_c` and for convert `a_to_b` to `c`"
    );
    assert_eq!(faults[0].labels[0].place, manifest.converts[1].place);
}

#[test]
fn a_label_that_collides_with_an_extent_is_named() {
    let mut labelled = tensor("a", "f32", row_major(&[("n", 3), ("extent", 2)]), ZERO);
    labelled.labels = vec![vec![], vec!["n".to_owned(), "m".to_owned()]];
    let faults =
        emit(&manifest(vec![labelled], vec![]), &Settings::c(), "a", &Templates::default())
            .unwrap_err();
    let messages: Vec<&str> = faults.iter().map(|fault| fault.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "`A_EXTENT_N` would be generated twice: for extent n of tensor `a` and for label `n` of tensor `a`"
        ]
    );
}

#[test]
fn macro_colliding_with_a_label_is_named() {
    let mut labelled = tensor("a", "f32", row_major(&[("b", 1)]), ZERO);
    labelled.labels = vec![vec!["offset".to_owned()]];
    let tensors = vec![labelled, tensor("a_b", "f32", row_major(&[("n", 3)]), ZERO)];
    let manifest = manifest(tensors, vec![]);
    let mut settings = Settings::c();
    assert!(emit(&manifest, &settings, "a", &Templates::default()).is_ok());
    settings.emit.insert(Part::Macros);
    let faults = emit(&manifest, &settings, "a", &Templates::default()).unwrap_err();
    let messages: Vec<&str> = faults.iter().map(|fault| fault.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "`A_B_OFFSET` would be generated twice: for label `offset` of tensor `a` and for the offset macro of tensor `a_b`"
        ]
    );
}

#[test]
fn unrepresentable_fill_is_refused_if_there_is_padding() {
    let fill = Fill::Value(FillValue::Integer(300));
    let tensors = vec![
        tensor("padded", "u8", mapped(&[("n", 3)], "(n) -> (n : 4)"), fill),
        tensor("whole", "u8", row_major(&[("n", 3)]), fill),
    ];
    let faults =
        emit(&manifest(tensors, vec![]), &Settings::c(), "a", &Templates::default()).unwrap_err();
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].code, Code::PaddingFill);
    assert_eq!(
        faults[0].message,
        "`padded` cannot hold the fill value `300` as `u8`: it is out of range"
    );
}

#[test]
fn reserved_words_name_their_language() {
    for (name, language) in [
        ("int", Some("C")),
        ("class", Some("C++")),
        ("errno", Some("the C library")),
        ("linux", Some("the C library")),
        ("_X", Some("C")),
        ("__x", Some("C")),
        ("time", None),
        ("_x", None),
        ("kernel", None),
    ] {
        assert_eq!(C.reserved(name), language, "{name}");
    }
    assert_eq!(C.reserved_function("time").as_deref(), Some("the C library"));
    assert_eq!(OPENCL.reserved("kernel"), Some("OpenCL C"));
    assert_eq!(OPENCL.reserved("image2d_t"), Some("OpenCL C"));
    assert_eq!(OPENCL.reserved("float4"), Some("OpenCL C"));
    assert_eq!(OPENCL.reserved("get_global_id"), None);
    let get_global_id = OPENCL.reserved_function("get_global_id");
    assert_eq!(get_global_id.as_deref(), Some("the OpenCL C library"));
    assert_eq!(CUDA.reserved("threadIdx"), Some("CUDA C++"));
    assert_eq!(CUDA.reserved("half2"), Some("CUDA C++"));
    assert_eq!(CUDA.reserved("template"), Some("C++"));
    assert_eq!(CUDA.reserved_function("tex2D").as_deref(), Some("the CUDA C++ library"));
}

#[test]
fn output_is_deterministic() {
    assert_eq!(with("{{ stamp }}"), with("{{ stamp }}"));
}
