//! Manifests that are refused or warned of, in a folder for each code, each with its report beside it. A case is a
//! manifest, a configuration, or a folder with `main.kdl`, other manifests, `layoutc.toml` and `templates/`. Manifests
//! `.fixed.kdl` are accepted.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "reads the cases"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::report::{
    Case, MAIN, assert_recorded, cases_in, diagnostics, entries, is_fixed,
};
use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::{Diagnostic, Fix};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/refused");

/// Folder of each code: `<area>/<what>`.
fn folders() -> Vec<(String, PathBuf)> {
    let mut folders = Vec::new();
    for area in entries(Path::new(FOLDER)) {
        for folder in entries(&area) {
            let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
            folders.push((format!("{}::{}", name(&area), name(&folder)), folder));
        }
    }
    folders
}

fn cases() -> Vec<(String, Case)> {
    let of = |(code, folder): (String, PathBuf)| {
        cases_in(&folder).into_iter().map(move |case| (code.clone(), case))
    };
    folders().into_iter().flat_map(of).collect()
}

#[test]
fn every_case_raises_its_code_and_recorded_report() {
    let mut reports = Vec::new();
    for (code, case) in cases() {
        let found = case.diagnostics();
        let has = found.iter().any(|fault| fault.code.id() == code);
        assert!(has, "{} does not raise {code}: {found:#?}", case.path.display());
        reports.push((case.path.with_extension("txt"), case.report(&found)));
    }
    assert_recorded(&reports);
    let reports: BTreeSet<PathBuf> = reports.into_iter().map(|(path, _)| path).collect();
    let is_report = |path: &PathBuf| path.extension().is_some_and(|end| end == "txt");
    let there = folders().into_iter().flat_map(|(_, folder)| entries(&folder)).filter(is_report);
    assert_eq!(there.collect::<BTreeSet<_>>(), reports, "a report of no case");
}

#[test]
fn fixed_manifests_are_accepted() {
    for (_, folder) in folders() {
        for file in entries(&folder).into_iter().filter(|file| is_fixed(file)) {
            let text = fs::read_to_string(&file).unwrap();
            let found = diagnostics(&[(MAIN.to_owned(), text)].into());
            assert_eq!(found, [], "{}", file.display());
        }
    }
}

/// Number of diagnostics with the code and message of `fault`.
fn count(found: &[Diagnostic], fault: &Diagnostic) -> usize {
    let is_same = |d: &&Diagnostic| d.code == fault.code && d.message == fault.message;
    found.iter().filter(is_same).count()
}

#[test]
fn fixes_remove_their_diagnostic() {
    for (_, case) in cases() {
        let found = case.diagnostics();
        for fault in &found {
            for fix in &fault.fixes {
                let mut files = case.files.clone();
                let text = files.get_mut(&*fix.place.file).unwrap();
                text.replace_range(fix.place.start..fix.place.end, &fix.text);
                let is_mended = count(&diagnostics(&files), fault) < count(&found, fault);
                assert!(is_mended, "{}: {fix:?} of {}", case.path.display(), fault.message);
            }
        }
    }
}

#[test]
fn did_you_mean_help_has_a_fix() {
    for (_, case) in cases() {
        for fault in case.diagnostics() {
            for help in fault.help.iter().filter(|help| help.starts_with("did you mean `")) {
                let meant = help.split('`').nth(1).unwrap();
                let is_meant = |fix: &Fix| fix.text.trim_matches('"') == meant.trim_matches('"');
                // The name of a table has no fix.
                let has = fault.fixes.iter().any(is_meant) || meant.starts_with('[');
                assert!(has, "{}: {help}", case.path.display());
            }
        }
    }
}

/// Case of the wrong example on a code's page.
pub(crate) fn case_of_page(code: Code) -> Case {
    let folder = Path::new(FOLDER).join(code.id().replace("::", "/"));
    let is_page = |case: &Case| case.path.file_stem().is_some_and(|name| name == "page");
    let mut cases = cases_in(&folder).into_iter().filter(is_page);
    cases.next().unwrap_or_else(|| panic!("{} has no case `page`", folder.display()))
}

/// Codes that no manifest, configuration or template alone raises, by the file and the test that cover them.
const ELSEWHERE: &[(&str, &str, &[Code])] = &[
    (
        "cli/tests/cli/book.rs",
        "commands_on_code_pages_raise_and_fix_the_code",
        &[
            Code::ConfigNoSources,
            Code::DtypeData,
            Code::ImportMalformed,
            Code::ImportOperands,
            Code::ImportShape,
            Code::ImportUnsupported,
            Code::KdlStyle,
            Code::MapUndecided,
            Code::NotationComplement,
            Code::NotationComposition,
            Code::NotationInexpressible,
            Code::NotationInverse,
            Code::NotationRounds,
            Code::NotationUnverified,
            Code::OutputEdited,
            Code::OutputForeign,
            Code::OutputLink,
            Code::OutputLocked,
            Code::OutputStale,
            Code::ShapeCoordinate,
            Code::ShapeData,
            Code::ShapeSame,
        ],
    ),
    ("cli/src/project/globs.rs", "outside_and_malformed_globs_are_refused", &[Code::ConfigGlob]),
    (
        "cli/tests/cli/build.rs",
        "memory_exhausting_templates_write_nothing",
        &[Code::TemplateMemory],
    ),
    (
        "cli/tests/faults/mounts.rs",
        "disk_full_during_a_build_keeps_the_old_outputs",
        &[Code::OutputIo],
    ),
    (
        "cli/src/output/tests.rs",
        "outside_and_colliding_outputs_are_refused",
        &[Code::OutputOutside],
    ),
];

#[test]
fn every_code_has_a_case_or_a_test_elsewhere() {
    let mut covered: Vec<String> = folders().into_iter().map(|(code, _)| code).collect();
    for (file, test, codes) in ELSEWHERE {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(&format!("fn {test}()")), "{file} has no test `{test}`");
        covered.extend(codes.iter().map(|code| code.id().to_owned()));
    }
    covered.sort();
    let mut codes: Vec<&str> = Code::ALL.iter().map(|code| code.id()).collect();
    codes.sort_unstable();
    assert_eq!(covered, codes);
}
