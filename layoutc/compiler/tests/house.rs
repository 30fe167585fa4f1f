//! The house: no circle of imports between the top-level modules of a crate.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "reads the sources")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

type Imports = BTreeMap<String, BTreeSet<String>>;

/// Top-level modules named by `crate::` paths in the code of each top-level module, without comments and unit tests.
fn imports(root: &Path) -> Imports {
    let mut imports = Imports::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let inner = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            let module = inner.split('/').next().unwrap().trim_end_matches(".rs").to_owned();
            if path.extension().is_none_or(|ending| ending != "rs")
                || module == "lib"
                || inner.contains("tests")
            {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            let named = lines.flat_map(|line| line.split("crate::").skip(1)).map(|rest| {
                rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap()
            });
            let others = named.filter(|name| {
                *name != module && name.starts_with(|c: char| c.is_ascii_lowercase())
            });
            imports.entry(module.clone()).or_default().extend(others.map(str::to_owned));
        }
    }
    imports
}

/// A path of imports from a module back to itself, if there is one.
fn circle(imports: &Imports) -> Option<Vec<String>> {
    for start in imports.keys() {
        let mut paths = vec![vec![start.clone()]];
        let mut seen = BTreeSet::new();
        while let Some(path) = paths.pop() {
            for next in imports.get(path.last().unwrap()).into_iter().flatten() {
                if next == start {
                    return Some(path);
                }
                if seen.insert(next.clone()) {
                    paths.push([path.as_slice(), std::slice::from_ref(next)].concat());
                }
            }
        }
    }
    None
}

#[test]
fn modules_import_each_other_without_a_circle() {
    for (krate, module, expected) in [
        ("algebra", "layout", "symbol"),
        ("compiler", "check", "manifest"),
        ("cli", "command", "build"),
    ] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(krate).join("src");
        let imports = imports(&root);
        assert!(imports[module].contains(expected), "{imports:?}");
        assert_eq!(circle(&imports), None, "{krate}");
    }
}

#[test]
fn a_circle_is_found() {
    let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    let mut imports = Imports::from([("a".to_owned(), of(&["b"])), ("b".to_owned(), of(&["c"]))]);
    assert_eq!(circle(&imports), None);
    imports.insert("c".to_owned(), of(&["a"]));
    assert_eq!(circle(&imports), Some(vec!["a".to_owned(), "b".to_owned(), "c".to_owned()]));
}
