//! Detection of cycles of `use` among manifests. Each cycle is cut at the same `use`, whichever manifest is requested.

use std::collections::{BTreeMap, BTreeSet};

/// Paths of the manifests that each manifest uses, by the path of the manifest, in textual order.
pub(super) type UseGraph = BTreeMap<String, Vec<String>>;

/// Uses that close a cycle: a map from the pair (path of the using manifest, path of the used manifest) to the paths of
/// all manifests on the cycle, from the used manifest to the using one.
pub(super) type CycleCuts = BTreeMap<(String, String), Vec<String>>;

/// Set of uses whose removal leaves no cycle. The search in each cycle starts at the manifest whose path is first in
/// byte order, so that the result does not depend on the requested manifest.
pub(super) fn cuts(uses: &UseGraph) -> CycleCuts {
    let mut cuts = CycleCuts::new();
    let mut open = cyclic_manifests(uses);
    while let Some(first) = open.first().copied() {
        let circle = cycle_of(uses, first, &open);
        cut_cycle(uses, first, &circle, &mut cuts);
        open.retain(|path| !circle.contains(path));
    }
    cuts
}

/// Paths of the manifests that the manifest at `path` uses.
fn of<'a>(uses: &'a UseGraph, path: &str) -> impl Iterator<Item = &'a str> {
    uses.get(path).into_iter().flatten().map(String::as_str)
}

/// Paths of the manifests that are on a cycle, or on a path from one cycle to another. They remain after manifests that
/// use no remaining manifest, or that no remaining manifest uses, are removed until there are none.
fn cyclic_manifests(uses: &UseGraph) -> BTreeSet<&str> {
    let mut left: BTreeSet<&str> = uses.keys().map(String::as_str).collect();
    loop {
        let used: BTreeSet<&str> = left.iter().flat_map(|path| of(uses, path)).collect();
        let before = left.len();
        let is_user = |path: &str| of(uses, path).any(|used| left.contains(used));
        left = left.iter().copied().filter(|path| used.contains(path) && is_user(path)).collect();
        if left.len() == before {
            return left;
        }
    }
}

/// Paths in the strongly connected component of `first`, in the graph restricted to the manifests in `among`.
fn cycle_of<'a>(
    uses: &'a UseGraph,
    first: &'a str,
    among: &BTreeSet<&'a str>,
) -> BTreeSet<&'a str> {
    let mut users: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for path in among {
        of(uses, path).for_each(|used| users.entry(used).or_default().push(path));
    }
    let forth = reached(first, among, |path| of(uses, path).collect());
    let back = reached(first, among, |path| users.get(path).cloned().unwrap_or_default());
    forth.intersection(&back).copied().collect()
}

/// Paths in `among` that are reachable from `first`, and `first` itself. `steps` returns the next manifests of a
/// manifest.
fn reached<'a>(
    first: &'a str,
    among: &BTreeSet<&'a str>,
    steps: impl Fn(&str) -> Vec<&'a str>,
) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![first];
    while let Some(path) = open.pop() {
        if reached.insert(path) {
            open.extend(steps(path).into_iter().filter(|next| among.contains(next)));
        }
    }
    reached
}

/// Adds the uses that close a cycle in the strongly connected component `circle` to `cuts`: the back edges of a
/// depth-first search from `first`.
fn cut_cycle(uses: &UseGraph, first: &str, circle: &BTreeSet<&str>, cuts: &mut CycleCuts) {
    let mut seen: BTreeSet<&str> = BTreeSet::from([first]);
    // Stack of the depth-first search: manifests whose uses are not all visited, each with its unvisited uses.
    let mut open: Vec<(&str, Vec<&str>)> = Vec::new();
    let inside = |path: &str| -> Vec<&str> {
        let mut all: Vec<&str> = of(uses, path).filter(|used| circle.contains(used)).collect();
        all.reverse();
        all
    };
    open.push((first, inside(first)));
    while let Some((path, left)) = open.last_mut() {
        let (from, next) = (*path, left.pop());
        let Some(used) = next else {
            open.pop();
            continue;
        };
        if let Some(start) = open.iter().position(|(path, _)| *path == used) {
            let cycle_path = open.iter().skip(start).map(|(path, _)| (*path).to_owned()).collect();
            cuts.insert((from.to_owned(), used.to_owned()), cycle_path);
        } else if seen.insert(used) {
            open.push((used, inside(used)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(rows: &[(&str, &[&str])]) -> UseGraph {
        let row = |(path, used): &(&str, &[&str])| {
            ((*path).to_owned(), used.iter().map(|path| (*path).to_owned()).collect())
        };
        rows.iter().map(row).collect()
    }

    fn found(rows: &[(&str, &[&str])]) -> Vec<String> {
        let cuts = cuts(&uses(rows));
        cuts.iter().map(|((from, to), cycle)| format!("{from}>{to}: {}", cycle.join(" "))).collect()
    }

    #[test]
    fn use_cycle_is_cut_before_its_first_manifest() {
        let circle: &[(&str, &[&str])] = &[("a", &["b"]), ("b", &["c"]), ("c", &["a"])];
        assert_eq!(found(circle), ["c>a: a b c"]);
        // A manifest outside the cycle that uses one on the cycle does not change the cut.
        let outside: &[(&str, &[&str])] =
            &[("0", &["b", "z"]), ("a", &["b"]), ("b", &["c"]), ("c", &["a"]), ("z", &["c"])];
        assert_eq!(found(outside), ["c>a: a b c"]);
    }

    #[test]
    fn every_use_cycle_is_cut_and_nothing_else() {
        assert_eq!(found(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])]), Vec::<String>::new());
        assert_eq!(found(&[("a", &["a"])]), ["a>a: a"]);
        let two: &[(&str, &[&str])] =
            &[("a", &["b", "c"]), ("b", &["a"]), ("c", &["d"]), ("d", &["c", "b"])];
        assert_eq!(found(two), ["b>a: a b", "d>c: c d"]);
    }
}
