//! Chunked conversions killed at any of their system calls: no partial output is left, and the next run gives the
//! same bytes.

use std::fs;
use std::path::PathBuf;

use layoutc_testing::campaign::seed;
use layoutc_testing::is_full;

use crate::scene::Scene;
use crate::strace::{self, Fate};

const TENSORS: &str = "\
tensor boxes dtype=f32 { shape { n 2; h 32; w 32; c 48 }; layout { map \"(n, h, w, c) -> (n, c // 4, h, w, c % 4)\"; pad c_outer before=1; fill 3 } }
tensor windows dtype=f16 { shape { h 256; w 256 }; layout { map \"(h, w) -> (morton(h, w) + 4 : 65600)\"; fill 3; padding allow } }
";

/// Calls that leave something behind, and those between which it is left.
const CALLS: [&str; 6] = ["fallocate", "ftruncate", "pwrite64", "fdatasync", "fsync", "rename"];

/// Calls, and the errors they may return.
const FAILING: [(&str, &[&str]); 7] = [
    ("pwrite64", &["ENOSPC", "EIO", "EDQUOT"]),
    ("fallocate", &["ENOSPC", "EIO"]),
    ("fdatasync", &["EIO", "ENOSPC"]),
    ("fsync", &["EIO"]),
    ("rename", &["EACCES", "EIO"]),
    ("pread64", &["EIO"]),
    ("ftruncate", &["EIO"]),
];

/// Errors that must not make a conversion fail.
const HARMLESS: [(&str, &[&str]); 5] = [
    ("pwrite64", &["EINTR"]),
    ("fallocate", &["EOPNOTSUPP", "ENOSYS"]),
    ("pread64", &["EINTR"]),
    ("fadvise64", &["EINVAL", "ENOSYS"]),
    ("flock", &["ENOLCK", "ENOSYS", "EOPNOTSUPP"]),
];

const MOVES: [(&str, &[&str]); 4] = [
    ("boxes", &["pack", "a.kdl", "boxes", "boxes", "-o", "out", "--memory", "64KiB", "-q"]),
    (
        "boxes",
        &["unpack", "a.kdl", "boxes", "boxes-packed", "-o", "out", "--memory", "64KiB", "-q"],
    ),
    ("windows", &["pack", "a.kdl", "windows", "windows", "-o", "out", "--memory", "64KiB", "-q"]),
    (
        "windows",
        &["unpack", "a.kdl", "windows", "windows-packed", "-o", "out", "--memory", "64KiB", "-q"],
    ),
];

/// A scene with both tensors, dense and packed.
fn scene() -> Scene {
    let scene = Scene::new(&[("a.kdl", TENSORS)]);
    for (tensor, bytes) in [("boxes", 2 * 32 * 32 * 48 * 4), ("windows", 2 << 16)] {
        let dense: Vec<u8> =
            (0..bytes).map(|k: u32| (k.wrapping_mul(0x9E37_79B9) >> 13).to_le_bytes()[0]).collect();
        // Larger than the prefix that is read first.
        scene.write(tensor, dense);
        let packed = format!("{tensor}-packed");
        scene.run(&["pack", "a.kdl", tensor, tensor, "-o", &packed]).success();
    }
    scene
}

/// Conversions to test: one per day, unless all are requested.
fn moves() -> impl Iterator<Item = (u32, &'static str, &'static [&'static str])> {
    let today = usize::try_from(seed() % 4).unwrap_or(0);
    let all = (0..).zip(MOVES).enumerate();
    let some = all.filter(move |(number, _)| is_full() || *number == today);
    some.map(|(_, (salt, (tensor, args)))| (salt, tensor, args))
}

/// Paths to filter calls by, where unrelated calls would come first.
fn paths(scene: &Scene, call: &str, args: &[&str]) -> Vec<PathBuf> {
    let input = args.get(3).filter(|_| call == "pread64");
    input.into_iter().map(|input| scene.path(input)).collect()
}

/// Expected output of a conversion.
fn wanted(scene: &Scene, (tensor, args): (&str, &[&str])) -> Vec<u8> {
    let name =
        if args.first() == Some(&"pack") { format!("{tensor}-packed") } else { tensor.into() };
    fs::read(scene.path(&name)).expect("it is there")
}

fn output(scene: &Scene) -> Option<Vec<u8>> {
    fs::read(scene.path("out")).ok()
}

/// Injects at the calls of one name, with growing distances, until there is no call of that number; returns the
/// number of hits. A conversion writes hundreds of similar chunks.
fn each_call(salt: u32, mut attempt: impl FnMut(u32) -> bool) -> u32 {
    let (mut number, mut hits) = (if is_full() { 1 } else { 1 + salt % 4 }, 0);
    while attempt(number) {
        hits += 1;
        number += if is_full() { 1 + number / 4 } else { 13 };
    }
    hits
}

/// Repeats a conversion after a fault; only the output may remain.
fn heals(scene: &Scene, args: &[&str], wanted: &[u8], what: &str) {
    let found = output(scene);
    assert!(found.is_none_or(|found| found == wanted), "{what}: half an output");
    let ran = scene.run(args);
    assert_eq!(ran.code, Some(0), "{what}: {}", ran.err);
    assert!(output(scene).is_some_and(|found| found == wanted), "{what}: {}", ran.err);
    assert!(!scene.path("out.part").exists(), "{what}");
    scene.remove("out");
}

#[test]
fn chunked_packing_recovers_from_a_kill_at_any_call() {
    if !strace::is_there() {
        return;
    }
    let scene = scene();
    let mut hits = 0;
    for (salt, tensor, args) in moves() {
        let wanted = wanted(&scene, (tensor, args));
        for call in CALLS {
            hits += each_call(salt, |number| {
                let injected = strace::run(&scene, args, (call, number), Fate::Kill, &[]);
                let what = format!("{args:?} killed at {call} {number}");
                heals(&scene, args, &wanted, &what);
                injected.is_hit
            });
        }
    }
    eprintln!("killed at {hits} points");
    assert!(hits > 0, "{hits}");
}

#[test]
fn failing_chunked_packing_removes_its_partial_output() {
    if !strace::is_there() {
        return;
    }
    let scene = scene();
    let mut failed = 0;
    for (salt, tensor, args) in moves() {
        let wanted = wanted(&scene, (tensor, args));
        for (call, errors) in FAILING {
            let paths = paths(&scene, call, args);
            for error in errors.iter().take(if is_full() { errors.len() } else { 1 }) {
                each_call(salt, |number| {
                    let at = (call, number);
                    let injected = strace::run(&scene, args, at, Fate::Error(error), &paths);
                    let what = format!("{args:?}, {error} from {call} {number}");
                    let ran = &injected.ran;
                    assert_eq!(injected.signal, None, "{what}: {}", ran.err);
                    assert!(!ran.err.contains("panicked"), "{what}: {}", ran.err);
                    assert!(matches!(ran.code, Some(0 | 3)), "{what}: {}", ran.err);
                    if ran.code == Some(3) {
                        assert!(
                            ran.err.contains("error[output::io]: cannot "),
                            "{what}: {}",
                            ran.err
                        );
                        let left = ["out", "out.part"].map(|name| scene.path(name).exists());
                        assert_eq!(left, [false; 2], "{what}");
                        failed += 1;
                    }
                    heals(&scene, args, &wanted, &what);
                    injected.is_hit
                });
            }
        }
    }
    assert!(failed > 0, "{failed}");
}

#[test]
fn unsupported_file_system_calls_are_optional() {
    if !strace::is_there() {
        return;
    }
    let scene = scene();
    for (_, tensor, args) in moves() {
        let wanted = wanted(&scene, (tensor, args));
        for (call, errors) in HARMLESS {
            let paths = paths(&scene, call, args);
            for error in errors {
                let ran = strace::run(&scene, args, (call, 1), Fate::Error(error), &paths).ran;
                assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{call} {error}");
                assert!(output(&scene).is_some_and(|found| found == wanted), "{call} {error}");
                scene.remove("out");
            }
        }
    }
}
