//! Views.

use super::{check, good};

#[test]
fn a_view_has_what_it_is_of_and_its_own_parts() {
    let manifest = good(
        "view a of=t dtype=f32x4\nview b of=t { shape { n 4 }; map \"(n) -> (n, 0)\" }\nview c of=t { shape { n 4 }; layout { tile 2 } }\nview d of=t",
    );
    let names: Vec<_> = manifest.views.iter().map(|view| view.name.value.as_str()).collect();
    assert_eq!(names, ["a", "b", "c", "d"]);
    let [a, b, c, d] = manifest.views.as_slice() else { panic!("four views") };
    assert_eq!((a.of.value.as_str(), a.of.span.clone()), ("t", 10..11));
    assert_eq!(a.dtype.as_ref().map(|text| text.value.as_str()), Some("f32x4"));
    assert_eq!(b.map.as_ref().map(|map| map.value.as_str()), Some("(n) -> (n, 0)"));
    assert!(b.shape.is_some() && b.layout.is_none());
    assert_eq!(c.layout.as_ref().map(|layout| layout.steps.len()), Some(1));
    assert!(d.dtype.is_none() && d.shape.is_none());
}

#[test]
fn a_view_needs_a_name_and_what_it_is_of() {
    check(
        "view of=t\nview v\nview v of=t w",
        &[
            ("kdl::missing", "view of=t", "`view` needs one argument"),
            ("kdl::missing", "view v", "`view` needs `of=`"),
            ("kdl::surplus", "w", "`view` takes one argument"),
        ],
        &[
            "write it as `view input_x4 of=input dtype=f32x4`",
            "write it as `view input_x4 of=input dtype=f32x4`",
            "write it as `view input_x4 of=input dtype=f32x4`",
        ],
    );
}

#[test]
fn a_map_needs_a_shape_and_excludes_a_layout() {
    check(
        "view v of=t { map \"(n) -> (n)\" }\nview w of=t { layout { tile 2 } }\nview x of=t { shape { n 4 }; map \"(n) -> (n)\"; layout { tile 2 } }",
        &[
            ("kdl::missing", "map", "a view with a map needs a shape"),
            ("step::form", "layout", "a view cannot have both a map and a layout"),
        ],
        &[
            "write `shape { n 16; c 4 }` before it",
            "keep the map to select elements of the base, or the layout to place the view's own elements",
        ],
    );
}

#[test]
fn what_has_no_place_in_a_view_is_told() {
    check(
        "view v of=t lik=u { memory global; shape { n 4 }; shape { n 4 }; map x }",
        &[
            ("name::unknown", "lik", "`view` has no property `lik`"),
            ("name::unknown", "memory", "unknown node `memory` in a view"),
            ("kdl::twice", "shape", "a view can have only one `shape`"),
            ("expr::unquoted", "x", "an expression must be one quoted string"),
        ],
        &["leave it out", "move it into a tensor", "leave one of the two out", "write `\"x\"`"],
    );
}

#[test]
fn a_broken_view_keeps_its_name() {
    let (manifest, faults) = super::read("view v\nconvert v to=t\n");
    assert_eq!(faults.len(), 1);
    assert_eq!(manifest.broken.len(), 1);
    assert_eq!(manifest.broken[0].1, "v");
}
