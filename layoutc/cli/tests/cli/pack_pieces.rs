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
use layoutc_testing::Random;
use layoutc_testing::process::{Finished, wait_for};

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
tensor rows dtype=f64 { shape { n batch; h 30; w 50 }; layout { order w n h } }
";

const NAMES: [&str; 18] = [
    "blocks", "tiles", "pitch", "halo", "turned", "bank", "curve", "small", "odd", "bits",
    "threes", "fives", "sixes", "lanes", "wave", "kept", "nibbles", "rows",
];

/// Memory limit that gives chunks of some KiB.
const LITTLE: [&str; 2] = ["--memory", "64 KiB"];

/// Random bytes of a seed; no `f32` of them is a NaN.
fn bytes(seed: u64, count: usize) -> Vec<u8> {
    Random::new(seed).bytes(count).into_iter().map(|byte| byte & 0xBF).collect()
}

fn sandbox() -> Sandbox {
    Sandbox::new(&[("a.kdl", TENSORS)])
}

fn start(sandbox: &Sandbox, command: &str, tensor: &str, more: &[&str]) -> Child {
    let args = [&[command, "a.kdl", tensor], more].concat();
    let mut command = sandbox.command(".", &args);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("it starts")
}

/// Dense and physical bytes of a tensor, both converted in one step.
fn sample(sandbox: &Sandbox, tensor: &str) -> (Vec<u8>, Vec<u8>) {
    let set: &[&str] = if tensor == "rows" { &["--set", "batch=20"] } else { &[] };
    sandbox.write("in", "");
    let error = sandbox.convert("pack", tensor, &[&["in", "-o", "out"], set].concat()).err;
    let (_, size) = error.split_once(" has ").expect("it says how many bytes");
    let count = size.lines().next().expect("a line").parse().expect("a number");
    let dense = bytes(7, count);
    sandbox.write("dense", &dense);
    sandbox.convert("pack", tensor, &[&["dense", "-o", "slots"], set].concat()).success();
    sandbox.convert("unpack", tensor, &[&["slots", "-o", "again"], set].concat()).success();
    (sandbox.bytes("again"), sandbox.bytes("slots"))
}

/// Standard error of a successful run, without progress.
fn messages(ran: &Finished) -> String {
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    ran.err.lines().filter(|line| !line.starts_with("packing: ")).collect()
}

/// Numbers of all and of resumed chunks of a successful run.
fn counts(ran: &Finished) -> (u64, u64) {
    let object: Value = serde_json::from_str(ran.success()).expect("JSON");
    let count = |name: &str| object[name].as_u64().expect("a count");
    (count("pieces"), count("resumed_pieces"))
}

/// Partial files.
fn parts(sandbox: &Sandbox) -> Vec<String> {
    let mut files = sandbox.files("");
    files.retain(|name| name.contains(".part"));
    files
}

#[test]
fn chunked_conversions_of_every_layout_and_type_give_the_same_bytes() {
    let sandbox = sandbox();
    for tensor in NAMES {
        let (dense, slots) = sample(&sandbox, tensor);
        let set: &[&str] = if tensor == "rows" { &["--set", "batch=20"] } else { &[] };
        let more = [&LITTLE, set, &["--format", "json"]].concat();
        let ran = sandbox.convert("pack", tensor, &[&["dense", "-o", "large"], &more[..]].concat());
        assert!(counts(&ran).0 > 2, "{tensor}: {}", ran.out);
        assert!(sandbox.bytes("large") == slots, "{tensor} packed");
        let ran =
            sandbox.convert("unpack", tensor, &[&["slots", "-o", "back"], &more[..]].concat());
        assert!(counts(&ran).0 > 2, "{tensor}: {}", ran.out);
        assert!(sandbox.bytes("back") == dense, "{tensor} unpacked");
        assert_eq!(parts(&sandbox), [""; 0]);
    }
}

#[test]
fn chunked_npy_conversions_give_the_same_bytes() {
    let sandbox = sandbox();
    for tensor in [
        "blocks", "small", "odd", "threes", "fives", "sixes", "nibbles", "rows", "wave", "curve",
        "lanes",
    ] {
        let set: &[&str] = if tensor == "rows" { &["--set", "batch=20"] } else { &[] };
        sample(&sandbox, tensor);
        sandbox.convert("unpack", tensor, &[&["slots", "-o", "a.npy"], set].concat()).success();
        sandbox.convert("pack", tensor, &["a.npy", "-o", "b.npy"]).success();
        let more = ["--memory", "64 KiB", "--format", "json"];
        let ran = sandbox.convert("pack", tensor, &[&["a.npy", "-o", "c.npy"], &more[..]].concat());
        assert!(counts(&ran).0 > 1, "{tensor}");
        assert!(sandbox.bytes("b.npy") == sandbox.bytes("c.npy"), "{tensor} packed");
        let ran = sandbox.convert(
            "unpack",
            tensor,
            &[&["b.npy", "-o", "d.npy"], set, &more[..]].concat(),
        );
        assert!(counts(&ran).0 > 1, "{tensor}");
        assert!(sandbox.bytes("a.npy") == sandbox.bytes("d.npy"), "{tensor} unpacked");
    }
    let (dense, slots) = sample(&sandbox, "blocks");
    let big: Vec<u8> = dense.chunks(4).flat_map(|f| f.iter().rev().copied()).collect();
    sandbox.write("big.npy", &npy(">f4", "(3, 40, 40, 18)", "False", &big));
    sandbox.convert("pack", "blocks", &[&["big.npy", "-o", "out"], &LITTLE[..]].concat()).success();
    assert!(sandbox.bytes("out") == slots);
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
    sandbox.write("turned.npy", &npy("<f4", "(3, 40, 40, 18)", "True", &columns));
    sandbox
        .convert("pack", "blocks", &[&["turned.npy", "-o", "turned"], &LITTLE[..]].concat())
        .success();
    assert!(sandbox.bytes("turned") == slots);
}

#[test]
fn what_is_no_value_is_refused_by_its_number() {
    let sandbox = sandbox();
    let mut values = vec![0_u8; 600 * 1000];
    values[543_210] = 8;
    sandbox.write("in.npy", &npy("|i1", "(600, 1000)", "False", &values));
    let ran = sandbox.convert("pack", "small", &[&["in.npy", "-o", "out"], &LITTLE[..]].concat());
    let line = "error[dtype::data]: element 543210 of `in.npy` is 8, out of range for `i4`\n";
    assert!(ran.code == Some(1) && ran.err.starts_with(line), "{}", ran.err);
    assert!(!sandbox.path("out").exists());
    sandbox.write("turned.npy", &npy("<f4", "(100, 200, 3)", "True", &bytes(1, 240_000)));
    let ran =
        sandbox.convert("pack", "lanes", &[&["turned.npy", "-o", "out"], &LITTLE[..]].concat());
    let wanted = "is in Fortran order and too large to transpose in memory";
    assert!(ran.err.contains(wanted) && ran.err.contains("`--memory 489"), "{}", ran.err);
    sandbox.write("short", &bytes(1, 300_000));
    let ran = sandbox.convert("pack", "blocks", &[&["short", "-o", "out"], &LITTLE[..]].concat());
    let line = "error[shape::data]: `short` holds 300000 bytes, but dense `blocks` has 345600\n";
    assert!(ran.err.starts_with(line), "{}", ran.err);
    assert_eq!(parts(&sandbox), [""; 0]);
}

/// A tensor of some MiB, whose conversion takes a while.
const LONG: &str = "\
tensor long dtype=f32 { shape { n 2; h 96; w 96; c 64 }; layout { map \"(n, h, w, c) -> (n, c // 4, h, w, c % 4)\" } }
tensor wound dtype=f16 { shape { h 1024; w 1024 }; layout { map \"(h, w) -> (morton(h, w))\" } }
";

/// Command, tensor, input, and expected output.
type Move = (&'static str, &'static str, &'static str, Vec<u8>);

/// A sandbox with these tensors, and both conversions of each.
fn long() -> (Sandbox, Vec<Move>) {
    let sandbox = Sandbox::new(&[("a.kdl", LONG)]);
    let mut moves = Vec::new();
    for (tensor, count) in [("long", 2 * 96 * 96 * 64 * 4), ("wound", 2 << 20)] {
        let dense = bytes(3, count);
        sandbox.write("dense", &dense);
        sandbox.convert("pack", tensor, &["dense", "-o", "slots"]).success();
        let (from, to) = if tensor == "long" { ("a", "b") } else { ("c", "d") };
        fs::rename(sandbox.path("dense"), sandbox.path(from)).expect("it is renamed");
        fs::rename(sandbox.path("slots"), sandbox.path(to)).expect("it is renamed");
        moves.push(("pack", tensor, from, sandbox.bytes(to)));
        moves.push(("unpack", tensor, to, dense));
    }
    (sandbox, moves)
}

/// Runs a conversion and interrupts it after some chunks; returns its output unless it finished first.
fn ended(
    sandbox: &Sandbox,
    (command, tensor, from): (&str, &str, &str),
    lines: usize,
    end: impl FnOnce(&mut Child),
) -> Option<std::process::Output> {
    let mut child = start(sandbox, command, tensor, &[&[from, "-o", "out"], &LITTLE[..]].concat());
    let journal = sandbox.path("out.part.journal");
    wait_for("a journal", || {
        let noted = fs::read_to_string(&journal).unwrap_or_default().lines().count() > lines;
        (noted || child.try_wait().expect("a child").is_some()).then_some(())
    });
    end(&mut child);
    let output = child.wait_with_output().expect("it ends");
    (output.status.code() != Some(0)).then_some(output)
}

#[test]
fn a_move_that_is_killed_anywhere_is_gone_on_with_and_gives_the_same_bytes() {
    let (sandbox, moves) = long();
    let (mut kills, mut resumed) = (0, 0);
    for (command, tensor, from, wanted) in moves {
        for lines in [0, 2, 7] {
            drop(fs::remove_file(sandbox.path("out")));
            for more in [lines, lines + 1] {
                let killed = ended(&sandbox, (command, tensor, from), more, |child| {
                    child.kill().expect("it is there");
                });
                let Some(killed) = killed else { break };
                assert_eq!(killed.status.signal(), Some(9));
                kills += 1;
                if sandbox.path("out").exists() {
                    assert!(sandbox.bytes("out") == wanted);
                }
            }
            let more = [&[from, "-o", "out"], &LITTLE[..], &["--format", "json"]].concat();
            let (pieces, before) = counts(&sandbox.convert(command, tensor, &more));
            assert!(sandbox.bytes("out") == wanted, "{command} {tensor} after a kill at {lines}");
            assert!(before <= pieces && pieces > 10);
            resumed += u32::from(before > 0);
            assert_eq!(parts(&sandbox), [""; 0]);
        }
    }
    assert!(kills > 8 && resumed > 4, "{kills} kills, {resumed} resumed");
}

/// A sandbox with a killed conversion.
fn killed() -> (Sandbox, Vec<u8>) {
    let (sandbox, moves) = long();
    let (command, tensor, from, wanted) = moves.into_iter().next().expect("a move");
    for _ in 0..40 {
        let kill = |child: &mut Child| child.kill().expect("it is there");
        let was_killed = ended(&sandbox, (command, tensor, from), 5, kill).is_some();
        // It may be killed before the partial file exists.
        if was_killed && parts(&sandbox).len() == 2 {
            break;
        }
    }
    assert_eq!(parts(&sandbox), ["out.part", "out.part.journal"]);
    (sandbox, wanted)
}

#[test]
fn a_stale_partial_file_restarts_the_conversion_with_a_message() {
    let (sandbox, wanted) = killed();
    let pack = |more: &[&str]| {
        let more = [&["a", "-o", "out"], &LITTLE[..], more].concat();
        messages(&sandbox.convert("pack", "long", &more))
    };
    let message = pack(&[]);
    assert!(message.starts_with("resuming `out` at ") && message.ends_with(" %"), "{message}");
    assert!(sandbox.bytes("out") == wanted);
    let again = || {
        let kill = |child: &mut Child| child.kill().expect("it is there");
        ended(&sandbox, ("pack", "long", "a"), 2, kill).is_some()
    };
    let anew = |change: &dyn Fn(), more: &[&str], reason: &str| {
        while !again() {}
        change();
        let message = pack(more);
        assert_eq!(message, format!("restarting `out`: {reason}"));
        assert!(sandbox.bytes("out") == wanted, "{reason}");
    };
    anew(&|| (), &["--no-resume"], "`--no-resume` is given");
    let touch = || {
        let file = File::options().append(true).open(sandbox.path("a")).expect("it is there");
        file.set_modified(std::time::SystemTime::now()).expect("it is ours");
    };
    anew(&touch, &[], "the input is a different file or changed");
    let other = LONG.replace("tensor long dtype=f32", "tensor long dtype=i32");
    anew(&|| sandbox.write("a.kdl", &other), &[], "the tensor or its layout changed");
    let turn = || {
        let mut journal = sandbox.bytes("out.part.journal");
        journal[40] ^= 4;
        sandbox.write("out.part.journal", &journal);
    };
    anew(&turn, &[], "its journal is damaged");
    let other = || {
        let part = sandbox.bytes("out.part");
        // An inode is not reused while a file has it.
        fs::rename(sandbox.path("out.part"), sandbox.path("beside")).expect("it is renamed");
        sandbox.write("out.part", &part);
    };
    while !again() {}
    other();
    let message = pack(&[]);
    assert!(sandbox.bytes("out") == wanted, "{message}");
}

/// The next pack with any options removes the partial files of a killed one.
#[test]
fn the_next_conversion_removes_the_partial_files_of_a_killed_one() {
    for more in [&[][..], &["--c-array"], &["--memory", "1 GiB"], &["--raw"]] {
        let (sandbox, wanted) = killed();
        let more = [&["a", "-o", "out"], more].concat();
        sandbox.convert("pack", "long", &more).success();
        assert_eq!(parts(&sandbox), [""; 0], "{more:?}");
        assert!(more.contains(&"--c-array") || sandbox.bytes("out") == wanted, "{more:?}");
    }
    // Foreign journals and partial files of other outputs remain.
    let sandbox = sandbox();
    sandbox.write("a", &bytes(1, 200 * 300 * 4));
    for (path, text) in [("out.part", "mine"), ("out.part.journal", "mine"), ("other.part", "x")] {
        sandbox.write(path, text.as_bytes());
    }
    sandbox.convert("pack", "turned", &["a", "-o", "out"]).success();
    assert_eq!(sandbox.bytes("out.part"), b"mine");
    assert_eq!(sandbox.bytes("out.part.journal"), b"mine");
}

#[test]
fn a_damaged_journal_never_resumes_wrong_bytes() {
    let (sandbox, wanted) = killed();
    let (journal, part) = (sandbox.bytes("out.part.journal"), sandbox.bytes("out.part"));
    // The journal identifies the partial file by its inode, which a link preserves.
    fs::hard_link(sandbox.path("out.part"), sandbox.path("kept")).expect("it is linked");
    let restore = |journal: &[u8]| {
        drop(fs::remove_file(sandbox.path("out.part")));
        fs::hard_link(sandbox.path("kept"), sandbox.path("out.part")).expect("it is linked");
        sandbox.write("out.part", &part);
        sandbox.write("out.part.journal", journal);
    };
    let mut errors = Vec::new();
    let length = journal.len();
    for at in [0, length / 4, length - 60, length - 1] {
        let mut turned = journal.clone();
        turned[at] ^= 1;
        for damaged in [&journal[..at], &turned] {
            restore(damaged);
            let ran = sandbox.convert("pack", "long", &[&["a", "-o", "out"], &LITTLE[..]].concat());
            if at == 0 && !damaged.is_empty() {
                // Without its beginning, the journal is foreign.
                assert_eq!(ran.code, Some(2), "{}", ran.err);
                continue;
            }
            assert_eq!(ran.code, Some(0), "{}", ran.err);
            assert!(sandbox.bytes("out") == wanted, "{at}: {}", ran.err);
            errors.push(ran.err);
        }
    }
    assert!(errors.iter().any(|message| message.contains("resuming `out` at")), "{errors:?}");
    assert!(errors.iter().any(|message| message.contains("its journal is damaged")), "{errors:?}");
}

#[test]
fn foreign_partial_files_are_not_overwritten() {
    let (sandbox, _) = long();
    sandbox.write("out.part", b"mine");
    let more = [&["a", "-o", "out"], &LITTLE[..]].concat();
    let ran = sandbox.convert("pack", "long", &more);
    let line = "error: `out.part` exists without its journal `out.part.journal`; \
                move it, or overwrite it with `--no-resume`\n";
    assert_eq!(ran.failure(), (Some(2), line));
    sandbox.write("out.part.journal", b"my diary");
    let ran = sandbox.convert("pack", "long", &more);
    let line = "error: `out.part.journal` exists and is not a journal; move it, or overwrite it with `--no-resume`\n";
    assert_eq!(ran.failure(), (Some(2), line));
    assert_eq!(
        (sandbox.bytes("out.part"), sandbox.bytes("out.part.journal").len()),
        (b"mine".into(), 8)
    );
    let message =
        messages(&sandbox.convert("pack", "long", &[&more[..], &["--no-resume"]].concat()));
    assert_eq!(message, "");
    assert_eq!(parts(&sandbox), [""; 0]);
    fs::rename(sandbox.path("a"), sandbox.path("x.part")).expect("it is renamed");
    let ran = sandbox.convert("pack", "long", &[&["x.part", "-o", "x"], &LITTLE[..]].concat());
    let line = "error: output `x.part` would overwrite the input `x.part`\n";
    assert_eq!(ran.failure(), (Some(2), line));
}

#[test]
fn a_second_process_at_one_output_is_refused() {
    let (sandbox, wanted) = killed();
    let journal = File::options().append(true).open(sandbox.path("out.part.journal"));
    let journal = journal.expect("it is there");
    journal.lock().expect("it can be locked");
    let more = [&["a", "-o", "out"], &LITTLE[..]].concat();
    let ran = sandbox.convert("pack", "long", &more);
    let message = "error[output::io]: another process is writing `out`\n  = help: wait until it ends, or choose another output\n\n1 error\n";
    assert_eq!((ran.code, ran.err.as_str()), (Some(3), message));
    // An existing output is named as given, too.
    sandbox.write("out", b"whole");
    let ran = sandbox.convert("pack", "long", &more);
    assert_eq!((ran.code, ran.err.as_str()), (Some(3), message));
    drop(journal);
    assert_eq!(sandbox.convert("pack", "long", &more).code, Some(0));
    assert!(sandbox.bytes("out") == wanted);
}

#[test]
fn an_interrupt_keeps_the_partial_file_and_says_how_to_resume() {
    let (sandbox, moves) = long();
    let (command, tensor, from, wanted) = moves.into_iter().next().expect("a move");
    let interrupt = |child: &mut Child| {
        let id = rustix::process::Pid::from_child(child);
        let _ = rustix::process::kill_process(id, rustix::process::Signal::INT);
    };
    let started = Instant::now();
    let ended = loop {
        if let Some(ended) = ended(&sandbox, (command, tensor, from), 2, interrupt) {
            break ended;
        }
        assert!(started.elapsed() < Duration::from_secs(20));
        thread::sleep(Duration::from_millis(1));
    };
    let message = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(130), "{message}");
    assert!(message.starts_with("interrupted: `out.part` holds "), "{message}");
    assert!(message.ends_with(" %; run the same command to resume\n"), "{message}");
    let ran = sandbox.convert(command, tensor, &[&[from, "-o", "out"], &LITTLE[..]].concat());
    assert!(ran.err.starts_with("resuming `out` at "), "{}", ran.err);
    assert!(sandbox.bytes("out") == wanted);
}

#[test]
fn a_memory_limit_that_is_not_a_size_is_refused() {
    let sandbox = sandbox();
    for (size, wanted) in [
        ("much", "expected a size such as `256 MiB`"),
        ("12 XB", "expected a size such as `256 MiB`"),
        ("1 KiB", "the minimum is 64 KiB"),
        ("0", "the minimum is 64 KiB"),
    ] {
        let ran = sandbox.convert("pack", "blocks", &["in", "-o", "out", "--memory", size]);
        assert!(ran.code == Some(2) && ran.err.contains(wanted), "{}", ran.err);
        assert!(ran.err.contains("--memory <SIZE>"), "{}", ran.err);
    }
}

#[test]
fn small_files_and_streams_are_converted_in_one_step() {
    let sandbox = sandbox();
    let (dense, slots) = sample(&sandbox, "blocks");
    let object = |more: &[&str]| sandbox.convert("pack", "blocks", more).success().to_owned();
    let at_once = object(&["dense", "-o", "out", "--memory", "1 MiB", "--format", "json"]);
    assert!(!at_once.contains("pieces"), "{at_once}");
    let in_pieces = object(&["dense", "-o", "out", "--memory", "512 KiB", "--format", "json"]);
    assert!(in_pieces.contains(r#""pieces":"#), "{in_pieces}");
    let output = sandbox
        .command(".", &["pack", "a.kdl", "blocks", "-", "--raw", "-o", "-", "--memory", "64KiB"])
        .stdin(File::open(sandbox.path("dense")).expect("a file"))
        .output()
        .expect("it ends");
    assert!(output.stdout == slots && !dense.is_empty());
}
