//! Conversion of tensors in files larger than the memory limit: the same bytes as in one step, whatever happens
//! meanwhile.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::pack::npy;
use crate::sandbox::Sandbox;
use layoutc_testing::process::Finished;

const TENSORS: &str = "\
symbol batch min=1 max=64
tensor blocks dtype=f32 { shape { n 3; h 40; w 40; c 18 }; layout { map \"(n, h, w, c) -> (n, c // 4, h, w, c % 4)\"; fill 7 } }
tensor tiles dtype=bf16 { shape { i 300; o 500 }; layout { order o i; tile 8 128; tile 2 1; fill 3 } }
tensor pitch dtype=i8 { shape { h 60; w 4000 }; layout { strides 9000 1; fill 5 } }
tensor halo dtype=f16 { shape { n 4; h 100; w 100; c 3 }; layout { map \"(n, h, w, c) -> (n, c, h, w)\"; pad h before=1 after=1; pad w before=2 after=3 } }
tensor turned dtype=i32 { shape { h 200; w 300 }; layout { map \"(h, w) -> (w, 199 - h)\" } }
tensor bank dtype=f16 { shape { h 256; w 512 }; layout { swizzle 3 4 3 unit=bytes } }
tensor curve dtype=i16 { shape { h 300; w 300 }; layout { map \"(h, w) -> (morton(h, w))\"; fill 9; padding allow } }
tensor small dtype=i4 { shape { h 600; w 1000 }; layout { map \"(h, w) -> (w // 8, h, w % 8)\" } }
tensor odd dtype=i4 { shape { h 601; w 999 }; layout { order w h; fill 1 } }
tensor bits dtype=u1 { shape { h 1500; w 2000 }; layout { map \"(h, w) -> (h // 16, w // 64, h % 16, w % 64)\" } }
tensor threes dtype=u3 { shape { h 600; w 1000 }; layout { map \"(h, w) -> (w // 8, h, w % 8)\" } }
tensor fives dtype=i5 { shape { h 601; w 999 }; layout { map \"(h, w) -> (w // 16, h, w % 16)\"; fill 3 } }
tensor sixes dtype=f6e3m2fn { shape { h 300; w 300 }; layout { map \"(h, w) -> (morton(h, w))\"; fill 1.5; padding allow } }
tensor lanes dtype=f32x3 { shape { h 100; w 200 }; layout { order w h; pad h multiple=8; fill 2 } }
tensor wave dtype=c128 { shape { h 100; w 200 }; layout { order w h } }
tensor kept dtype=f16 pack-from=f32 cast=saturate { shape { h 300; w 300 }; layout { tile 16 16; fill 2 } }
tensor nibbles dtype=i4 pack-from=f32 cast=saturate { shape { h 300; w 304 }; layout { map \"(h, w) -> (w // 16, h, w % 16)\" } }
tensor lower dtype=f16 { shape { i 300; j 300; where \"j <= i\" }; layout { map \"(i, j) -> (i * (i + 1) // 2 + j)\"; fill 2; padding allow } }
tensor least dtype=i4 { shape { i 301; j 301; where \"j <= i\" }; layout { map \"(i, j) -> (i * (i + 1) // 2 + j)\"; fill 1; padding allow } }
tensor rows dtype=f64 { shape { n batch; h 30; w 50 }; layout { order w n h } }
";

const NAMES: [&str; 20] = [
    "blocks", "tiles", "pitch", "halo", "turned", "bank", "curve", "small", "odd", "bits",
    "threes", "fives", "sixes", "lanes", "wave", "kept", "nibbles", "lower", "least", "rows",
];

/// Memory limit that gives chunks of some KiB.
const LITTLE: [&str; 2] = ["--memory", "64 KiB"];

/// Pseudorandom bytes for a seed; no `f32` of them is a NaN.
fn bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[4] & 0xBF
    };
    std::iter::repeat_with(next).take(count).collect()
}

struct Pieces(Sandbox);

impl Pieces {
    fn new() -> Self {
        Self(Sandbox::new(&[("a.kdl", TENSORS)]))
    }

    fn put(&self, path: &str, bytes: &[u8]) {
        fs::write(self.0.path(path), bytes).expect("a file");
    }

    fn get(&self, path: &str) -> Vec<u8> {
        fs::read(self.0.path(path)).expect("a file")
    }

    fn run(&self, command: &str, tensor: &str, more: &[&str]) -> Finished {
        self.0.run(&[&[command, "a.kdl", tensor], more].concat())
    }

    fn start(&self, command: &str, tensor: &str, more: &[&str]) -> Child {
        let args = [&[command, "a.kdl", tensor], more].concat();
        let mut command = self.0.command(".", &args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("it starts")
    }

    /// Dense and physical bytes of a tensor, both converted in one step.
    fn sample(&self, tensor: &str) -> (Vec<u8>, Vec<u8>) {
        let set: &[&str] = if tensor == "rows" { &["--set", "batch=20"] } else { &[] };
        self.put("in", &[]);
        let said = self.run("pack", tensor, &[&["in", "-o", "out"], set].concat()).err;
        let (_, said) = said.split_once(" has ").expect("it says how many bytes");
        let count = said.lines().next().expect("a line").parse().expect("a number");
        let dense = bytes(7, count);
        self.put("dense", &dense);
        self.run("pack", tensor, &[&["dense", "-o", "slots"], set].concat()).success();
        self.run("unpack", tensor, &[&["slots", "-o", "again"], set].concat()).success();
        (self.get("again"), self.get("slots"))
    }

    /// Number of chunks of a successful run.
    fn count(ran: &Finished) -> u64 {
        let object: Value = serde_json::from_str(ran.success()).expect("JSON");
        object["pieces"].as_u64().expect("a count")
    }

    fn parts(&self) -> Vec<String> {
        let mut files = self.0.files(".");
        files.retain(|name| name.contains(".part"));
        files
    }
}

#[test]
fn chunked_packing_equals_packing_in_memory() {
    let sandbox = Pieces::new();
    for tensor in NAMES {
        let (dense, slots) = sandbox.sample(tensor);
        let set: &[&str] = if tensor == "rows" { &["--set", "batch=20"] } else { &[] };
        let more = [&LITTLE, set, &["--format", "json"]].concat();
        let ran = sandbox.run("pack", tensor, &[&["dense", "-o", "large"], &more[..]].concat());
        assert!(Pieces::count(&ran) > 2, "{tensor}: {}", ran.out);
        assert!(sandbox.get("large") == slots, "{tensor} packed");
        let ran = sandbox.run("unpack", tensor, &[&["slots", "-o", "back"], &more[..]].concat());
        assert!(Pieces::count(&ran) > 2, "{tensor}: {}", ran.out);
        assert!(sandbox.get("back") == dense, "{tensor} unpacked");
        assert_eq!(sandbox.parts(), [""; 0]);
    }
}

#[test]
fn chunked_npy_packing_equals_packing_in_memory() {
    let sandbox = Pieces::new();
    for tensor in [
        "blocks", "small", "odd", "threes", "fives", "sixes", "nibbles", "rows", "wave", "curve",
        "lanes",
    ] {
        let set: &[&str] = if tensor == "rows" { &["--set", "batch=20"] } else { &[] };
        sandbox.sample(tensor);
        sandbox.run("unpack", tensor, &[&["slots", "-o", "a.npy"], set].concat()).success();
        sandbox.run("pack", tensor, &["a.npy", "-o", "b.npy"]).success();
        let more = ["--memory", "64 KiB", "--format", "json"];
        let ran = sandbox.run("pack", tensor, &[&["a.npy", "-o", "c.npy"], &more[..]].concat());
        assert!(Pieces::count(&ran) > 1, "{tensor}");
        assert!(sandbox.get("b.npy") == sandbox.get("c.npy"), "{tensor} packed");
        let ran =
            sandbox.run("unpack", tensor, &[&["b.npy", "-o", "d.npy"], set, &more[..]].concat());
        assert!(Pieces::count(&ran) > 1, "{tensor}");
        assert!(sandbox.get("a.npy") == sandbox.get("d.npy"), "{tensor} unpacked");
    }
    let (dense, slots) = sandbox.sample("blocks");
    let big: Vec<u8> = dense.chunks(4).flat_map(|f| f.iter().rev().copied()).collect();
    sandbox.put("big.npy", &npy(">f4", "(3, 40, 40, 18)", "False", &big));
    sandbox.run("pack", "blocks", &[&["big.npy", "-o", "out"], &LITTLE[..]].concat()).success();
    assert!(sandbox.get("out") == slots);
    let mut columns = Vec::new();
    for c in 0..18 {
        for w in 0..40 {
            for h in 0..40 {
                for n in 0..3 {
                    let at = (((n * 40 + h) * 40 + w) * 18 + c) * 4;
                    columns.extend_from_slice(&dense[at..at + 4]);
                }
            }
        }
    }
    sandbox.put("turned.npy", &npy("<f4", "(3, 40, 40, 18)", "True", &columns));
    sandbox
        .run("pack", "blocks", &[&["turned.npy", "-o", "turned"], &LITTLE[..]].concat())
        .success();
    assert!(sandbox.get("turned") == slots);
}

#[test]
fn chunked_packing_reports_out_of_range_element_index() {
    let sandbox = Pieces::new();
    let mut values = vec![0_u8; 600 * 1000];
    values[543_210] = 8;
    sandbox.put("in.npy", &npy("|i1", "(600, 1000)", "False", &values));
    let ran = sandbox.run("pack", "small", &[&["in.npy", "-o", "out"], &LITTLE[..]].concat());
    let line = "error[dtype::data]: element 543210 of `in.npy` is 8, out of range for `i4`\n";
    assert!(ran.code == Some(1) && ran.err.starts_with(line), "{}", ran.err);
    assert!(!sandbox.0.path("out").exists());
    sandbox.put("turned.npy", &npy("<f4", "(100, 200, 3)", "True", &bytes(1, 240_000)));
    let ran = sandbox.run("pack", "lanes", &[&["turned.npy", "-o", "out"], &LITTLE[..]].concat());
    let wanted = "is in Fortran order and too large to transpose in memory";
    assert!(ran.err.contains(wanted) && ran.err.contains("`--memory 489"), "{}", ran.err);
    sandbox.put("short", &bytes(1, 300_000));
    let ran = sandbox.run("pack", "blocks", &[&["short", "-o", "out"], &LITTLE[..]].concat());
    let line = "error[shape::data]: `short` holds 300000 bytes, but dense `blocks` has 345600\n";
    assert!(ran.err.starts_with(line), "{}", ran.err);
    assert_eq!(sandbox.parts(), [""; 0]);
}

/// A tensor of some MiB, whose conversion takes a while.
const LONG: &str = "\
tensor long dtype=f32 { shape { n 2; h 96; w 96; c 64 }; layout { map \"(n, h, w, c) -> (n, c // 4, h, w, c % 4)\" } }
tensor wound dtype=f16 { shape { h 1024; w 1024 }; layout { map \"(h, w) -> (morton(h, w))\" } }
";

/// Command, tensor, input, and expected output.
type Move = (&'static str, &'static str, &'static str, Vec<u8>);

/// A sandbox with these tensors, and both conversions of each.
fn long() -> (Pieces, Vec<Move>) {
    let sandbox = Pieces(Sandbox::new(&[("a.kdl", LONG)]));
    let mut moves = Vec::new();
    for (tensor, count) in [("long", 2 * 96 * 96 * 64 * 4), ("wound", 2 << 20)] {
        let dense = bytes(3, count);
        sandbox.put("dense", &dense);
        sandbox.run("pack", tensor, &["dense", "-o", "slots"]).success();
        let (from, to) = if tensor == "long" { ("a", "b") } else { ("c", "d") };
        fs::rename(sandbox.0.path("dense"), sandbox.0.path(from)).expect("it is renamed");
        fs::rename(sandbox.0.path("slots"), sandbox.0.path(to)).expect("it is renamed");
        moves.push(("pack", tensor, from, sandbox.get(to)));
        moves.push(("unpack", tensor, to, dense));
    }
    (sandbox, moves)
}

/// Runs a conversion and ends it some time after its part file exists; returns its output unless it finished first.
fn ended(
    sandbox: &Pieces,
    (command, tensor, from): (&str, &str, &str),
    after: Duration,
    end: impl FnOnce(&mut Child),
) -> Option<std::process::Output> {
    let mut child = sandbox.start(command, tensor, &[&[from, "-o", "out"], &LITTLE[..]].concat());
    let part = sandbox.0.path("out.part");
    while !part.exists() && child.try_wait().expect("a child").is_none() {
        thread::sleep(Duration::from_micros(100));
    }
    thread::sleep(after);
    end(&mut child);
    let output = child.wait_with_output().expect("it ends");
    (output.status.code() != Some(0)).then_some(output)
}

fn kill(child: &mut Child) {
    child.kill().expect("it is there");
}

#[test]
fn killed_packing_leaves_no_output_and_can_be_rerun() {
    let (sandbox, moves) = long();
    let mut kills = 0;
    for (command, tensor, from, wanted) in moves {
        for after in [0, 3, 9] {
            let killed =
                ended(&sandbox, (command, tensor, from), Duration::from_millis(after), kill);
            if let Some(killed) = killed {
                assert_eq!(killed.status.signal(), Some(9));
                kills += 1;
            }
            let out = sandbox.0.path("out");
            assert!(!out.exists() || sandbox.get("out") == wanted);
            let more = [&[from, "-o", "out"], &LITTLE[..], &["--format", "json"]].concat();
            assert!(Pieces::count(&sandbox.run(command, tensor, &more)) > 10);
            assert!(sandbox.get("out") == wanted, "{command} {tensor} after a kill at {after} ms");
            assert_eq!(sandbox.parts(), [""; 0]);
            fs::remove_file(out).expect("it is there");
        }
    }
    assert!(kills > 0, "{kills}");
}

#[test]
fn partial_output_file_is_replaced_but_not_a_folder() {
    let (sandbox, moves) = long();
    let (command, tensor, from, wanted) = moves.into_iter().next().expect("a move");
    let more = [&[from, "-o", "out"], &LITTLE[..]].concat();
    // One byte, and more than the output has.
    for bytes in [1, wanted.len() + 4096] {
        sandbox.put("out.part", &vec![0xA5; bytes]);
        sandbox.run(command, tensor, &more).success();
        assert!(sandbox.get("out") == wanted, "{bytes}");
        assert_eq!(sandbox.parts(), [""; 0]);
    }
    fs::create_dir(sandbox.0.path("out.part")).expect("a folder");
    let line = "error: `out.part` is not a file; remove or rename it\n";
    assert_eq!(sandbox.run(command, tensor, &more).failure(), (Some(2), line));
    fs::rename(sandbox.0.path("a"), sandbox.0.path("x.part")).expect("it is renamed");
    let ran = sandbox.run("pack", "long", &[&["x.part", "-o", "x"], &LITTLE[..]].concat());
    let line = "error: output `x.part` would overwrite the input `x.part`\n";
    assert_eq!(ran.failure(), (Some(2), line));
}

#[test]
fn a_second_process_at_one_output_is_refused() {
    let (sandbox, moves) = long();
    let (command, tensor, from, wanted) = moves.into_iter().next().expect("a move");
    let part = File::create(sandbox.0.path("out.part")).expect("a file");
    part.lock().expect("it can be locked");
    let more = [&[from, "-o", "out"], &LITTLE[..]].concat();
    let said = "error[output::io]: another process is writing `out`\n  = help: wait until it ends, or choose another output\n\n1 error\nfor more information, run `layoutc explain output::io`\n";
    let ran = sandbox.run(command, tensor, &more);
    assert_eq!((ran.code, ran.err.as_str()), (Some(3), said));
    // An existing output is named as given, too.
    sandbox.put("out", b"whole");
    let ran = sandbox.run(command, tensor, &more);
    assert_eq!((ran.code, ran.err.as_str()), (Some(3), said));
    drop(part);
    assert_eq!(sandbox.run(command, tensor, &more).code, Some(0));
    assert!(sandbox.get("out") == wanted);
}

#[test]
fn interrupt_removes_the_partial_output() {
    let (sandbox, moves) = long();
    let (command, tensor, from, _) = moves.into_iter().next().expect("a move");
    let interrupt = |child: &mut Child| {
        let id = rustix::process::Pid::from_child(child);
        let _ = rustix::process::kill_process(id, rustix::process::Signal::INT);
    };
    let asked = Instant::now();
    let ended = loop {
        let after = Duration::from_millis(1);
        if let Some(ended) = ended(&sandbox, (command, tensor, from), after, interrupt) {
            break ended;
        }
        fs::remove_file(sandbox.0.path("out")).expect("it is there");
        assert!(asked.elapsed() < Duration::from_secs(20));
    };
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!((ended.status.code(), said.as_str()), (Some(130), ""));
    assert_eq!((sandbox.parts(), sandbox.0.path("out").exists()), (Vec::<String>::new(), false));
}

#[test]
fn invalid_memory_sizes_are_refused() {
    let sandbox = Pieces::new();
    for (size, wanted) in [
        ("much", "expected a size such as `256 MiB`"),
        ("12 XB", "expected a size such as `256 MiB`"),
        ("1 KiB", "the minimum is 64 KiB"),
        ("0", "the minimum is 64 KiB"),
    ] {
        let ran = sandbox.run("pack", "blocks", &["in", "-o", "out", "--memory", size]);
        assert!(ran.code == Some(2) && ran.err.contains(wanted), "{}", ran.err);
        assert!(ran.err.contains("--memory <SIZE>"), "{}", ran.err);
    }
}

#[test]
fn small_files_and_pipes_are_packed_without_chunks() {
    let sandbox = Pieces::new();
    let (dense, slots) = sandbox.sample("blocks");
    let object = |more: &[&str]| sandbox.run("pack", "blocks", more).success().to_owned();
    let at_once = object(&["dense", "-o", "out", "--memory", "1 MiB", "--format", "json"]);
    assert!(!at_once.contains("pieces"), "{at_once}");
    let in_pieces = object(&["dense", "-o", "out", "--memory", "512 KiB", "--format", "json"]);
    assert!(in_pieces.contains(r#""pieces":"#), "{in_pieces}");
    let output = sandbox
        .0
        .command(".", &["pack", "a.kdl", "blocks", "-", "--raw", "-o", "-", "--memory", "64KiB"])
        .stdin(File::open(sandbox.0.path("dense")).expect("a file"))
        .output()
        .expect("it ends");
    assert!(output.stdout == slots && !dense.is_empty());
}
