//! Tests of reading views.

use super::good;

#[test]
fn view_has_a_base_and_its_own_properties() {
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
fn a_broken_view_keeps_its_name() {
    let (manifest, faults) = super::read("view v\nconvert v to=t\n");
    assert_eq!(faults.len(), 1);
    assert_eq!(manifest.broken.len(), 1);
    assert_eq!(manifest.broken[0].1, "v");
}
