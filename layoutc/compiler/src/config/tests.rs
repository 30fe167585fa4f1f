//! Tests of reading layoutc.toml, valid and invalid.

use std::sync::Arc;

use layoutc_testing::recorded::assert_recorded;

use super::*;

const FULL: &str = include_str!("full.toml");

fn faults(text: &str) -> Vec<(&'static str, &str, String)> {
    let found = parse(&Arc::from("layoutc.toml"), text).err().unwrap_or_default();
    let row = |d: &crate::base::diagnostic::Diagnostic| {
        let place = &d.labels[0].place;
        (d.code.id(), &text[place.start..place.end], d.message.clone())
    };
    found.iter().map(row).collect()
}

fn check(text: &str, expected: &[(&str, &str, &str)]) {
    let found = faults(text);
    let found: Vec<_> = found.iter().map(|(c, t, m)| (*c, *t, m.as_str())).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn every_key_is_read() {
    let config = parse(&Arc::from("layoutc.toml"), FULL).unwrap();
    assert_eq!(config.project.name.as_deref(), Some("kernels"));
    assert_eq!(config.project.sources, ["layouts/**/*.kdl", "more/*.kdl"]);
    assert_eq!(config.project.out_dir, "out");
    assert_eq!(config.project.templates_dir, "own");
    assert_eq!(config.project.prefix, "k_");
    let fill = DefaultFill::Float(-1.5);
    assert_eq!(config.defaults, Defaults { alignment: 128, fill, padding_warning: 0.25 });
    let c = config.target.c.unwrap();
    assert_eq!(c.standard, CStandard::C11);
    assert_eq!(c.emit, [EmitKind::Constants, EmitKind::Pack, EmitKind::Bench]);
    assert!(c.macros && c.openmp);
    assert_eq!(c.umbrella_header.as_deref(), Some("include/all.h"));
    assert_eq!(&FULL[c.umbrella_span], "\"include/all.h\"");
    assert_eq!(c.index_type, IndexType::Int32);
    let opencl = config.target.opencl.unwrap();
    assert_eq!((opencl.image_max, opencl.index_type), ([8192, 4096], OpenClIndex::Long));
    let cuda = config.target.cuda.unwrap();
    assert_eq!(
        (cuda.arch, cuda.index_type),
        (vec!["sm_75".into(), "sm_90a".into()], CudaIndex::Int64)
    );
    let own = &config.target.own["python"];
    assert_eq!((own.template.as_str(), own.extension.as_str()), ("python/index.py.j2", "py"));
}

#[test]
fn targets_are_told_what_they_lack() {
    check(
        "[target.opencl]\nversion = \"3.0\"\nimage-max = [0, 1]\nindex-type = \"int64_t\"\n[target.cuda]\narch = [\"hopper\"]\nfast = 1\n",
        &[
            ("config::value", "\"3.0\"", "`version` cannot be `3.0`"),
            (
                "config::value",
                "[0, 1]",
                "`image-max` must be two positive sizes, width and height in texels: `[16384, 16384]`",
            ),
            ("config::value", "\"int64_t\"", "`index-type` cannot be `int64_t`"),
            ("config::value", "\"hopper\"", "`hopper` is not an architecture"),
            ("config::unknown_key", "fast", "[target.cuda] has no key `fast`"),
        ],
    );
    check(
        "[target.opencL]\nversion = \"1.2\"\n[target.a]\ntemplate = \"../x.py.j2\"\n[target.\"c/d\"]\ntemplate = \"x.py\"\n",
        &[
            ("config::value", "opencL", "the target `opencL` has no `template`"),
            ("config::unknown_key", "version", "[target.opencL] has no key `version`"),
            ("config::path", "\"../x.py.j2\"", "`..` leads out of the project"),
            ("config::value", "\"c/d\"", "`c/d` cannot be the name of a target"),
        ],
    );
}

#[test]
fn an_empty_file_is_the_default_and_the_default_target_is_c() {
    for text in ["", "\u{feff}", "[target]\r\n", "[project]\r\nname = \"x\"\r\n"] {
        let config = parse(&Arc::from("layoutc.toml"), text).unwrap();
        assert_eq!(config.target, Config::default().target);
    }
    let config = parse(&Arc::from("layoutc.toml"), "").unwrap();
    assert_eq!(config, Config::default());
    assert_eq!(config.defaults.alignment, 64);
    assert_eq!(config.target.c.unwrap().emit.len(), 4);
}

#[test]
fn all_unknown_keys_are_told_in_one_run_with_the_nearest_known_one() {
    let text = "projects = 1\n[project]\nout_dir = \"x\"\n[defaults]\nalignement = 3\n[target.c]\nstd = 1\n[target]\nemit = 3\n";
    check(
        text,
        &[
            ("config::unknown_key", "projects", "layoutc.toml has no key `projects`"),
            ("config::unknown_key", "out_dir", "[project] has no key `out_dir`"),
            ("config::unknown_key", "alignement", "[defaults] has no key `alignement`"),
            ("config::unknown_key", "std", "[target.c] has no key `std`"),
            ("config::unknown_key", "emit", "[target] has no key `emit`"),
        ],
    );
    let found = parse(&Arc::from("layoutc.toml"), text).unwrap_err();
    assert_eq!(found[0].help, ["did you mean `project`?"]);
    assert_eq!(found[1].help, ["did you mean `out-dir`?"]);
    assert_eq!(found[2].help, ["did you mean `alignment`?"]);
}

#[test]
fn values_of_the_wrong_type_are_told() {
    check(
        "project = 1\n[defaults]\nalignment = \"64\"\nfill = true\npadding-warning = \"x\"\n[target.c]\nemit = \"pack\"\nstandard = 99\nmacros = 1\nopenmp = \"yes\"\numbrella-header = true\n",
        &[
            ("config::value", "1", "`project` must be a table, not a TOML integer"),
            ("config::value", "\"64\"", "`alignment` must be an integer, not a TOML string"),
            ("config::value", "true", "`fill` must be a number, not a TOML boolean"),
            ("config::value", "\"x\"", "`padding-warning` must be a number, not a TOML string"),
            ("config::value", "\"pack\"", "`emit` must be an array of strings, not a TOML string"),
            ("config::value", "99", "`standard` must be a string, not a TOML integer"),
            ("config::value", "1", "`macros` must be a boolean, not a TOML integer"),
            ("config::value", "\"yes\"", "`openmp` must be a boolean, not a TOML string"),
            ("config::value", "true", "`umbrella-header` must be a string, not a TOML boolean"),
        ],
    );
}

#[test]
fn a_target_that_is_no_table_gets_its_heading() {
    let text = "[target]\nopencl = true\n";
    check(text, &[("config::value", "true", "`opencl` must be a table, not a TOML boolean")]);
    let found = parse(&Arc::from("layoutc.toml"), text).unwrap_err();
    assert_eq!(found[0].help, ["write `[target.opencl]` on a line of its own"]);
}

#[test]
fn values_out_of_range_are_told() {
    for alignment in ["0", "-8", "48", "0x30"] {
        let text = format!("[defaults]\nalignment = {alignment}\n");
        let found = faults(&text);
        assert_eq!((found[0].0, found[0].1), ("config::value", alignment));
    }
    check(
        "[project]\nprefix = \"4x\"\nsources = []\n[defaults]\npadding-warning = 1.5\n[target.c]\nstandard = \"c98\"\nindex-type = \"int\"\nemit = [\"pack\", \"pack\", \"inde\"]\n",
        &[
            ("config::value", "\"4x\"", "`prefix` is not a valid start of an identifier"),
            ("config::value", "[]", "`sources` is empty: nothing would be built"),
            (
                "config::value",
                "1.5",
                "`padding-warning` must be a fraction of the bytes, from 0 to 1",
            ),
            ("config::value", "\"c98\"", "`standard` cannot be `c98`"),
            ("config::value", "\"int\"", "`index-type` cannot be `int`"),
            ("config::value", "\"pack\"", "duplicate value `pack`"),
            ("config::value", "\"inde\"", "`emit` cannot be `inde`"),
        ],
    );
}

#[test]
fn paths_stay_inside_the_project() {
    check(
        "[project]\nout-dir = \"../x\"\ntemplates-dir = \"/etc\"\nsources = [\"C:/a.kdl\", \"a\\\\b\"]\n",
        &[
            ("config::path", "\"../x\"", "`..` leads out of the project"),
            ("config::path", "\"/etc\"", "the path is not relative to the project"),
            ("config::path", "\"C:/a.kdl\"", "the character `:` is not allowed in a path"),
            ("config::path", "\"a\\\\b\"", "the character `\\\\` is not allowed in a path"),
        ],
    );
    for path in ["\"/all.h\"", "\"../all.h\"", "\"a/../../all.h\"", "\"\""] {
        let text = format!("[target.c]\numbrella-header = {path}\n");
        let found = faults(&text);
        assert_eq!(found.len(), 1, "{path}");
        assert_eq!((found[0].0, found[0].1), ("config::path", path));
    }
    for path in ["\"all.json\"", "\"all\"", "\"a/.h\"", "\"a.h/\""] {
        let text = format!("[target.c]\numbrella-header = {path}\n");
        let found = faults(&text);
        assert_eq!(found.len(), 1, "{path}");
        assert_eq!((found[0].0, found[0].1), ("config::value", path));
    }
}

#[test]
fn malformed_toml_is_told_at_its_place() {
    let found = faults("[project]\nname = \n");
    assert_eq!(found[0].0, "config::syntax");
    let found = faults("[project]\nname = \"a\"\nname = \"b\"\n");
    assert_eq!(
        (found[0].0, found[0].1, found[0].2.as_str()),
        ("config::syntax", "name", "duplicate key")
    );
}

#[test]
fn every_truncation_and_mutation_is_read_soundly() {
    let bytes = FULL.as_bytes();
    let sound = |bytes: Vec<u8>| {
        if let Ok(text) = String::from_utf8(bytes) {
            let found = parse(&Arc::from("layoutc.toml"), &text).err().unwrap_or_default();
            for label in found.iter().flat_map(|fault| &fault.labels) {
                assert!(text.get(label.place.start..label.place.end).is_some(), "{text:?}");
            }
        }
    };
    for at in 0..bytes.len() {
        sound(bytes[..at].to_vec());
        sound([&bytes[..at], &bytes[at + 1..]].concat());
        sound([&bytes[..=at], &bytes[at..]].concat());
        for nasty in *b"\"'[]{}=#.\n\0\\-9" {
            sound([&bytes[..at], &[nasty], &bytes[at + 1..]].concat());
        }
    }
    sound("a = ".bytes().chain("[".repeat(5000).bytes()).collect());
    sound("a.".repeat(5000).into_bytes());
}

#[test]
fn the_schema_in_the_repository_is_that_of_the_types() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/layoutc.schema.json");
    assert_recorded(path, &schema());
}

#[test]
fn the_schema_describes_every_key_with_its_default() {
    let schema: serde_json::Value = serde_json::from_str(&schema()).unwrap();
    let keys = |of: &str| -> Vec<String> {
        let properties = schema["$defs"][of]["properties"].as_object().unwrap();
        assert!(properties.values().all(|p| p["description"].is_string()), "{of}");
        properties.keys().cloned().collect()
    };
    assert_eq!(keys("ProjectConfig"), ["name", "sources", "out-dir", "templates-dir", "prefix"]);
    assert_eq!(keys("Defaults"), ["alignment", "fill", "padding-warning"]);
    let c = ["standard", "emit", "macros", "openmp", "index-type", "umbrella-header"];
    assert_eq!(keys("TargetC"), c);
    assert_eq!(schema["$defs"]["Defaults"]["properties"]["alignment"]["default"], 64);
    assert_eq!(schema["$defs"]["Defaults"]["additionalProperties"], false);
}
