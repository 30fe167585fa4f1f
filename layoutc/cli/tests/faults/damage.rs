//! Stored state that is truncated or has flipped bits must never lead to wrong outputs.

use std::fs;

use crate::scene::{BLOCKED, Scene, same, wide};
use layoutc_testing::campaign::seed;
use layoutc_testing::is_full;

/// Builds three times, so that the log has an older and a newer text; returns both sets of outputs.
fn history() -> (Scene, crate::scene::Files, crate::scene::Files) {
    let scene = Scene::new(&[("layoutc.toml", ""), ("layouts/a.kdl", BLOCKED)]);
    scene.run(&["build"]).success();
    let older = scene.files("generated");
    scene.write("layouts/a.kdl", wide(4));
    scene.run(&["build"]).success();
    // From here on, file times are trusted.
    std::thread::sleep(std::time::Duration::from_millis(50));
    scene.write("layouts/b.kdl", BLOCKED);
    scene.run(&["build"]).success();
    scene.remove("layouts/b.kdl");
    scene.run(&["build"]).success();
    let newer = scene.files("generated");
    (scene, older, newer)
}

/// Every `full`th truncation and bit flip of a file, others tomorrow, or a smaller sample.
fn each_damage(bytes: &[u8], full: usize, mut check: impl FnMut(&[u8], &str)) {
    let step = if is_full() { full } else { 331 };
    let today = usize::try_from(seed()).expect("64 bits");
    for cut in (today % step..bytes.len()).step_by(step) {
        check(&bytes[..cut], &format!("cut at {cut}"));
    }
    // One bit of each byte, a different one in the next byte and tomorrow.
    let bits = (0..bytes.len() * 8).filter(|bit| bit % 8 == (bit / 8 + today) % 8);
    for bit in bits.skip(today % step).step_by(step) {
        let mut turned = bytes.to_vec();
        turned[bit / 8] ^= 1 << (bit % 8);
        check(&turned, &format!("bit {bit}"));
    }
    for more in [&b"\0"[..], b"layoutc log 6\n", &[0xff; 64]] {
        check(&[bytes, more].concat(), "longer");
    }
}

#[test]
fn damaged_state_never_hides_an_edit() {
    let (scene, older, newer) = history();
    for (name, full) in [(".layoutc/log", 11), (".layoutc/memo", 29)] {
        let original = fs::read(scene.path(name)).expect("there");
        each_damage(&original, full, |damaged, what| {
            let what = format!("{name} {what}");
            scene.write(name, damaged);
            let ran = scene.run(&["build", "-q"]);
            assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{what}");
            same(&scene.files("generated"), &newer, &what);
            // The text of an older build, which the log may still contain.
            scene.write("layouts/a.kdl", BLOCKED);
            scene.write(name, damaged);
            let ran = scene.run(&["build", "-q"]);
            assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{what}, older");
            same(&scene.files("generated"), &older, &what);
            scene.write("layouts/a.kdl", wide(4));
            let ran = scene.run(&["build", "--format", "json"]);
            assert!(ran.success().contains("\"verdict\":\"bijective\""), "{what}: {}", ran.out);
            same(&scene.files("generated"), &newer, &what);
        });
    }
}
