//! Tests of reading layoutc.toml, valid and invalid.

use std::sync::Arc;

use layoutc_testing::recorded::assert_recorded;

use super::*;

const FULL: &str = include_str!("full.toml");

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
    assert_eq!((c.index_type, c.runtime), (IndexType::Int32, RuntimeMode::Shared));
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
fn an_empty_file_is_the_default_and_the_default_target_is_c() {
    for text in ["", "\u{feff}", "[target]\r\n", "[project]\r\nname = \"x\"\r\n"] {
        let config = parse(&Arc::from("layoutc.toml"), text).unwrap();
        assert_eq!(config.target, TargetsConfig::of_c(TargetC::default()));
    }
    let mut config = parse(&Arc::from("layoutc.toml"), "").unwrap();
    // Without layoutc.toml each source has its own runtime.
    config.target.c.as_mut().unwrap().runtime = RuntimeMode::Inline;
    assert_eq!(config, Config::default());
    assert_eq!(config.defaults.alignment, 64);
    assert_eq!(config.target.c.unwrap().emit.len(), 4);
}

#[test]
fn truncated_and_mutated_configurations_have_valid_spans() {
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
fn committed_schema_equals_the_generated_one() {
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
    let c = ["standard", "emit", "macros", "openmp", "index-type", "runtime", "umbrella-header"];
    assert_eq!(keys("TargetC"), c);
    assert_eq!(schema["$defs"]["Defaults"]["properties"]["alignment"]["default"], 64);
    assert_eq!(schema["$defs"]["Defaults"]["additionalProperties"], false);
}
