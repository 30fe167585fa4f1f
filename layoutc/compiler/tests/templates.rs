//! Templates: what bounds them, and what their faults look like.
#![allow(clippy::result_large_err, reason = "a test")]

mod common;

use common::{Build, ZERO, manifest, row_major, tensor};
use layoutc_compiler::codes::Code;
use layoutc_compiler::diagnostic::Diagnostic;
use layoutc_compiler::emit::{CSettings, Templates, emit, reserved, reserved_function};
use layoutc_compiler::model::{Fill, FillValue};

fn with(header: &str) -> Result<String, Diagnostic> {
    let user = [("c/header.h.j2".to_owned(), header.to_owned())].into_iter().collect();
    let manifest = manifest(vec![tensor("a", "f32", row_major(&[("n", 3)]), ZERO)], Vec::new());
    emit(&manifest, &CSettings::default(), "a", &Templates { user })
        .map(|outputs| outputs[0].text.clone())
        .map_err(|mut faults| faults.remove(0))
}

#[test]
fn a_user_template_goes_first_and_prints_trees_as_it_likes() {
    let text =
        with("{{ tensors[0].offset.body[0].value|python }} {{ tensors[0].offset.body[0].kind }}\n");
    assert_eq!(text.unwrap().lines().nth(1), Some("n return"));
}

#[test]
fn a_fault_has_its_place_in_the_template() {
    let fault = with("line\n{{ tensors[0].nothing }}\n").unwrap_err();
    assert_eq!(fault.code, Code::TemplateUndefined);
    assert_eq!(&*fault.labels[0].place.file, "templates/c/header.h.j2");
    assert_eq!(fault.notes, ["line 2: {{ tensors[0].nothing }}"]);
    let fault = with("{% for %}").unwrap_err();
    assert_eq!(fault.code, Code::TemplateSyntax);
    let fault = with("{{ tensors|c }}").unwrap_err();
    assert_eq!(fault.code, Code::TemplateSyntax);
}

#[test]
fn endless_work_runs_out_of_fuel() {
    let loops =
        "{% for a in range(10000) %}{% for b in range(10000) %}{{ b }}{% endfor %}{% endfor %}";
    assert_eq!(with(loops).unwrap_err().code, Code::TemplateFuel);
}

#[test]
fn long_texts_are_refused() {
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

#[test]
fn templates_outside_are_not_found() {
    for name in ["../c/header.h.j2", "/etc/passwd"] {
        let fault = with(&format!("{{% include \"{name}\" %}}")).unwrap_err();
        assert_eq!(fault.code, Code::TemplateSyntax);
    }
}

#[test]
fn hostile_text_stays_inside_comments() {
    let mut hostile = tensor("a", "f32", row_major(&[("n", 3)]), ZERO);
    hostile.steps = vec!["*/ int x; /* ??/ \\".to_owned(), "a\n#error \u{202e}".to_owned()];
    let mut manifest = manifest(vec![hostile], Vec::new());
    manifest.path = "x\n#error y */".to_owned();
    let outputs = emit(&manifest, &CSettings::default(), "a", &Templates::default()).unwrap();
    for output in outputs {
        assert!(output.text.is_ascii());
        assert!(!output.text.contains("\n#error y") && !output.text.contains("*/"));
        assert!(!output.text.contains("\\\n") && !output.text.contains("??"));
    }
}

#[test]
fn identifiers_that_collide_are_named() {
    let layout = || row_major(&[("n", 3)]);
    let tensors = vec![tensor("a", "f32", layout(), ZERO), tensor("A", "f32", layout(), ZERO)];
    let faults =
        emit(&manifest(tensors, vec![]), &CSettings::default(), "a", &Templates::default())
            .unwrap_err();
    assert!(faults.iter().all(|fault| fault.code == Code::NameCollision));
    assert_eq!(
        faults[0].message,
        "`A_RANK` would be generated twice: for rank of tensor `a` and for rank of tensor `A`"
    );
}

#[test]
fn a_label_that_collides_with_an_extent_is_named() {
    let mut labelled = tensor("a", "f32", row_major(&[("n", 3), ("extent", 2)]), ZERO);
    labelled.labels = vec![vec![], vec!["n".to_owned(), "m".to_owned()]];
    let faults =
        emit(&manifest(vec![labelled], vec![]), &CSettings::default(), "a", &Templates::default())
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
fn a_fill_value_that_does_not_fit_is_refused_where_there_is_padding() {
    let layout = Build {
        axes: vec![("n", "3")],
        storage: vec![("n", "4", "n")],
        inverse: Some(vec!["p0"]),
        padded: true,
        ..Build::default()
    };
    let fill = Fill::Value(FillValue::Integer(300));
    let tensors = vec![
        tensor("padded", "u8", layout.layout(), fill),
        tensor("whole", "u8", row_major(&[("n", 3)]), fill),
    ];
    let faults =
        emit(&manifest(tensors, vec![]), &CSettings::default(), "a", &Templates::default())
            .unwrap_err();
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].code, Code::PaddingFill);
    assert_eq!(
        faults[0].message,
        "`padded` cannot hold the fill value `300` as `u8`: it is out of range"
    );
}

#[test]
fn reserved_words_name_their_language() {
    assert_eq!(reserved("int"), Some("C"));
    assert_eq!(reserved("class"), Some("C++"));
    assert_eq!(reserved("errno"), Some("the C library"));
    assert_eq!(reserved("linux"), Some("the C library"));
    assert_eq!(reserved("_X"), Some("C"));
    assert_eq!(reserved("__x"), Some("C"));
    assert_eq!(reserved("time"), None);
    assert_eq!(reserved("_x"), None);
    assert_eq!(reserved_function("time"), Some("the C library"));
}

#[test]
fn the_same_manifest_gives_the_same_bytes() {
    assert_eq!(with("{{ stamp }}"), with("{{ stamp }}"));
}
