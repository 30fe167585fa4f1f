//! Facets of a schema that an object can exhibit. Supports the subset used here: `properties`,
//! `additionalProperties`, `items`, `oneOf`, `enum`, `type` and references to `$defs`.

use std::collections::{BTreeMap, BTreeSet};

use jsonschema::Validator;
use serde_json::{Value, json};

/// Facets: `#/properties/a`, a property; `… absent`, its absence; `#/oneOf/1`, a variant; `… = "word"`, a word;
/// `… = null`.
type Facets = BTreeSet<String>;

pub(super) struct Schema<'s> {
    root: &'s Value,
    whole: Validator,
    /// Validators of the variants, by the path of the `oneOf` and the index.
    variants: BTreeMap<String, Validator>,
}

impl<'s> Schema<'s> {
    pub(super) fn new(root: &'s Value) -> Self {
        let mut variants = BTreeMap::new();
        every(root, &mut |path, node| {
            for (k, variant) in list(node, "oneOf").iter().enumerate() {
                let mut alone = variant.clone();
                if let (Some(alone), Some(shared)) = (alone.as_object_mut(), root.get("$defs")) {
                    alone.insert("$defs".to_owned(), shared.clone());
                }
                variants.insert(format!("{path}/oneOf/{k}"), validator(&alone));
            }
        });
        Self { root, whole: validator(root), variants }
    }

    /// Reason why an object is invalid.
    pub(super) fn fault(&self, object: &Value) -> Option<String> {
        let fault = self.whole.iter_errors(object).next()?.to_string();
        let text: String = object.to_string().chars().take(400).collect();
        Some(format!("{fault}\n    {text}"))
    }

    /// All facets of the schema.
    pub(super) fn facets(&self) -> Facets {
        let mut facets = Facets::new();
        every(self.root, &mut |path, node| {
            for (name, _) in properties(node) {
                facets.insert(format!("{path}/properties/{name}"));
                if !list(node, "required").iter().any(|required| required == name) {
                    facets.insert(format!("{path}/properties/{name} absent"));
                }
            }
            for key in ["items", "additionalProperties"] {
                if node.get(key).is_some_and(Value::is_object) {
                    facets.insert(format!("{path}/{key}"));
                }
            }
            let variants = list(node, "oneOf").iter().enumerate();
            facets.extend(variants.map(|(k, _)| format!("{path}/oneOf/{k}")));
            facets.extend(list(node, "enum").iter().map(|word| format!("{path} = {word}")));
            if list(node, "type").contains(&json!("null")) {
                facets.insert(format!("{path} = null"));
            }
        });
        facets
    }

    /// Facets exhibited by these objects, each with the command that printed it.
    pub(super) fn shown_by(&self, objects: &[(String, Value)]) -> Facets {
        let mut seen = Facets::new();
        for (_, object) in objects {
            self.see("#", self.root, object, &mut seen);
        }
        seen
    }

    fn see(&self, path: &str, node: &Value, value: &Value, seen: &mut Facets) {
        if let Some(there) = node["$ref"].as_str() {
            let pointer = there.strip_prefix('#').expect("a reference inside the file");
            let target = self.root.pointer(pointer).expect("what is referred to");
            return self.see(there, target, value, seen);
        }
        if node.get("enum").is_some() || value.is_null() {
            seen.insert(format!("{path} = {value}"));
        }
        for (k, variant) in list(node, "oneOf").iter().enumerate() {
            let path = format!("{path}/oneOf/{k}");
            if self.variants[&path].is_valid(value) {
                self.see(&path, variant, value, seen);
                seen.insert(path);
            }
        }
        if let Some(object) = value.as_object() {
            for (name, _) in properties(node).filter(|(name, _)| !object.contains_key(*name)) {
                seen.insert(format!("{path}/properties/{name} absent"));
            }
            for (name, value) in object {
                let known = node["properties"].get(name);
                let (path, node) = match known {
                    Some(known) => (format!("{path}/properties/{name}"), known),
                    None => (format!("{path}/additionalProperties"), &node["additionalProperties"]),
                };
                self.see(&path, node, value, seen);
                seen.insert(path);
            }
        }
        if let (Some(values), Some(items)) = (value.as_array(), node.get("items")) {
            let path = format!("{path}/items");
            values.iter().for_each(|value| self.see(&path, items, value, seen));
            if !values.is_empty() {
                seen.insert(path);
            }
        }
    }
}

/// Objects that allow undeclared properties, and schemas without a description.
pub(super) fn faults(root: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let mut described = |path: String, node: &Value| {
        if node["description"].as_str().is_none_or(|text| !text.ends_with(['.', ')'])) {
            faults.push(format!("{path} has no description"));
        }
    };
    described("#".to_owned(), root);
    every(root, &mut |path, node| {
        for (name, property) in properties(node) {
            described(format!("{path}/properties/{name}"), property);
        }
    });
    every(root, &mut |path, node| {
        let others = &node["additionalProperties"];
        // A map with user-defined keys only has a schema for its values.
        let is_closed = match node.get("properties") {
            Some(_) => *others == false,
            None => others.is_object(),
        };
        if node["type"] == "object" && !is_closed {
            faults.push(format!("{path} is open"));
        }
    });
    faults
}

/// Calls `f` with every schema inside `root`, and its path.
fn every(root: &Value, f: &mut impl FnMut(&str, &Value)) {
    below("#", root, f);
    for (name, node) in root["$defs"].as_object().into_iter().flatten() {
        below(&format!("#/$defs/{name}"), node, f);
    }
}

fn below(path: &str, node: &Value, f: &mut impl FnMut(&str, &Value)) {
    f(path, node);
    for (name, property) in properties(node) {
        below(&format!("{path}/properties/{name}"), property, f);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = node.get(key).filter(|inner| inner.is_object()) {
            below(&format!("{path}/{key}"), inner, f);
        }
    }
    for (k, variant) in list(node, "oneOf").iter().enumerate() {
        below(&format!("{path}/oneOf/{k}"), variant, f);
    }
}

fn properties(node: &Value) -> impl Iterator<Item = (&String, &Value)> {
    node["properties"].as_object().into_iter().flatten()
}

/// List at a key; empty if missing.
fn list<'v>(node: &'v Value, key: &str) -> &'v [Value] {
    node.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn validator(schema: &Value) -> Validator {
    jsonschema::draft202012::new(schema).expect("a schema")
}
