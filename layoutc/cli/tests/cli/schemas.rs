//! Schemas of the JSON output, checked in both directions: every object of `schemas/commands.txt` is valid, with no
//! additional properties, and every property, variant and word of a schema occurs in one of the objects.

mod facets;
mod printed;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use facets::{Schema, faults};
use printed::{commands, printed};

use crate::sandbox::Sandbox;
use layoutc_testing::files;
use layoutc_testing::process::needed_program;
use layoutc_testing::recorded::assert_recorded;

/// Schemas of other files, which are generated.
const OTHERS: &[&str] = &["layoutc"];

#[test]
fn printed_json_matches_its_schema_and_covers_it() {
    let schemas = schemas();
    let has_compiler = needed_program("cc").is_some();
    let printed = printed(has_compiler);
    let mut wrong = Vec::new();
    for name in printed.keys().filter(|name| !schemas.contains_key(*name)) {
        wrong.push(format!("{name}: there is no schema"));
    }
    for (name, schema) in &schemas {
        let schema = Schema::new(schema);
        let objects = printed.get(name).map_or(&[][..], Vec::as_slice);
        for (command, object) in objects {
            wrong.extend(schema.fault(object).map(|fault| format!("{name}: `{command}`: {fault}")));
        }
        let missing = &schema.facets() - &schema.shown_by(objects);
        // Without a compiler, nothing is timed.
        if has_compiler || name != "bench" {
            wrong.extend(missing.iter().map(|facet| format!("{name}: never seen: {facet}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn schemas_forbid_unlisted_properties() {
    let mut wrong = Vec::new();
    for (name, schema) in schemas() {
        assert_eq!(schema["title"], name.as_str());
        wrong.extend(faults(&schema).into_iter().map(|fault| format!("{name}: {fault}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_book_lists_every_schema() {
    let path = root().join("book/src/json.md");
    let page = files::read(&path);
    let (before, rest) = page.split_once(HEAD).expect("the table");
    let (_, after) = rest.split_once("\n\n").expect("a line behind the table");
    assert_recorded(path, &format!("{before}{HEAD}{}\n{after}", table()));
}

#[test]
fn every_command_has_its_json_checked() {
    let sandbox = Sandbox::new(&[]);
    let ran = sandbox.run(&["man", "--out", "pages", "--format", "json"]);
    let object: Value = serde_json::from_str(ran.success()).expect("JSON");
    let known: Vec<String> = commands().into_iter().map(|command| command.1 + " ").collect();
    let mut missing = Vec::new();
    for file in object["files"].as_array().expect("a list") {
        let path = file["path"].as_str().unwrap_or_default();
        let name = path.trim_start_matches("pages/layoutc").trim_end_matches(".1");
        let command = name.trim_start_matches('-').replace('-', " ");
        let is_known = known.iter().any(|line| line.starts_with(&format!("{command} ")));
        if !command.is_empty() && !is_known && !NOT_LISTED.contains(&command.as_str()) {
            missing.push(command);
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}

/// Commands not in the file: a watch, and one with its own protocol.
const NOT_LISTED: &[&str] = &["watch", "lsp"];

/// Head of the table.
const HEAD: &str = "| schema | `kind` | printed by | what it is |\n|---|---|---|---|\n";

/// Rows of the table in the book.
fn table() -> String {
    let mut by: BTreeMap<String, Vec<String>> = BTreeMap::new();
    by.insert("diagnostic".to_owned(), vec!["every command".to_owned()]);
    by.insert("rebuild".to_owned(), vec!["`watch`".to_owned()]);
    for (schema, arguments) in commands() {
        let mut words = arguments.split(' ');
        let command = match (words.next().unwrap_or_default(), words.next()) {
            ("templates", Some(what)) => format!("`templates {what}`"),
            (command, _) => format!("`{command}`"),
        };
        let all = by.entry(schema).or_default();
        if !all.contains(&command) {
            all.push(command);
        }
    }
    let row = |(name, schema): (&String, &Value)| {
        let by = by.get(name).map_or(String::new(), |commands| commands.join(", "));
        let kind = kind(schema).map_or(String::new(), |kind| format!("`{kind}`"));
        let says = schema["description"].as_str().unwrap_or_default();
        format!("| `schemas/{name}.schema.json` | {kind} | {by} | {says} |\n")
    };
    schemas().iter().map(row).collect()
}

/// Value of `kind` in every object of a schema.
fn kind(schema: &Value) -> Option<&str> {
    let variant = schema["oneOf"][0]["$ref"].as_str().and_then(|path| path.strip_prefix('#'));
    let object = variant.map_or(Some(schema), |path| schema.pointer(path))?;
    object["properties"]["kind"]["const"].as_str()
}

/// Schemas of printed objects, by name.
fn schemas() -> BTreeMap<String, Value> {
    let files = fs::read_dir(root().join("schemas")).expect("a folder");
    let names = files.map(|file| file.expect("a file").file_name().to_string_lossy().into_owned());
    let names = names.filter_map(|name| Some(name.strip_suffix(".schema.json")?.to_owned()));
    let names = names.filter(|name| !OTHERS.contains(&name.as_str()));
    let schema = |name: String| {
        let file = root().join(format!("schemas/{name}.schema.json"));
        let text = fs::read_to_string(file).expect("a schema");
        (name, serde_json::from_str(&text).expect("JSON"))
    };
    names.map(schema).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the root")
}
