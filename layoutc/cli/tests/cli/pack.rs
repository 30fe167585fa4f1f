use std::fs;
use std::io::{Seek, Write};
use std::process::{Command, Stdio};

use crate::sandbox::Sandbox;

const TENSORS: &str = "\
symbol batch min=2 max=8 multiple=2
tensor t dtype=f32 {
    shape { h 3; w 5 }
    layout { map \"(h, w) -> (w // 4, h, w % 4)\"; fill 9 }
}
tensor half dtype=f16 { shape { h 2; w 3 }; layout { order w h } }
tensor brain dtype=bf16 { shape { h 2; w 3 }; layout { order w h } }
tensor small dtype=i4 { shape { h 3; w 3 }; layout { order w h } }
tensor threes dtype=u3 { shape { h 3; w 3 }; layout { order w h } }
tensor sixes dtype=f6e3m2fn pack-from=f32 { shape { h 2; w 2 }; layout { order w h } }
tensor plain_sixes dtype=f6e3m2fn { shape { h 2; w 2 }; layout { order w h } }
tensor minus dtype=f8e4m3fnuz pack-from=f32 cast=saturate { shape { h 2; w 2 } }
tensor pair dtype=f32x2 { shape { h 3; w 2 }; layout { order w h } }
tensor wave dtype=c64 { shape { h 3; w 2 }; layout { order w h } }
tensor run dtype=i16 { shape { n batch; c 3 }; layout { order c n } }
tensor wide dtype=f64 { shape { h 2; w 3 }; layout { order w h } }
tensor kept dtype=f16 pack-from=f32 cast=saturate { shape { h 2; w 2 }; layout { order w h } }
tensor nibbles dtype=i4 pack-from=f32 { shape { h 2; w 2 }; layout { order w h } }
tensor whole dtype=i64 { shape { h 2; w 3 }; layout { order w h } }
tensor blocks { dtype { d f16; q u4 6 }; shape { h 2; w 3 }; layout { order w h; pad h multiple=3; fill 1; padding allow } }
tensor gaps { dtype { tag i8; x f32 2 align=4; v f32x2 2 }; shape { n 2 } }
";

/// A .npy of version 1.0.
pub(crate) fn npy(descr: &str, shape: &str, fortran: &str, data: &[u8]) -> Vec<u8> {
    let header =
        format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let length = u16::try_from(header.len()).expect("short").to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
}

fn floats(values: impl IntoIterator<Item = u8>) -> Vec<u8> {
    values.into_iter().flat_map(|value| f32::from(value).to_le_bytes()).collect()
}

fn sandbox() -> Sandbox {
    Sandbox::new(&[("a.kdl", TENSORS)])
}

/// Standard error of a conversion that fails with an error in the input.
fn fault(sandbox: &Sandbox, command: &str, tensor: &str, more: &[&str]) -> String {
    let ran = sandbox.convert(command, tensor, more);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{}", ran.err);
    assert!(!sandbox.path("out").exists() && !sandbox.path("out.npy").exists());
    ran.err
}

/// `[h, w]` of 3 x 5 in blocks of four along w, with padding 9.
fn laid_out() -> Vec<u8> {
    let first = [0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13];
    let second = [4, 9, 9, 9, 9, 9, 9, 9, 14, 9, 9, 9];
    floats(first.into_iter().chain(second))
}

#[test]
fn a_raw_tensor_is_packed_and_unpacked() {
    let sandbox = sandbox();
    sandbox.write("in", &floats(0..15));
    assert_eq!(
        sandbox.convert("pack", "t", &["in", "-o", "out.bin"]).success(),
        "written    out.bin: 96 bytes\n"
    );
    assert_eq!(sandbox.bytes("out.bin"), laid_out());
    sandbox.convert("unpack", "t", &["out.bin", "-o", "back"]).success();
    assert_eq!(sandbox.bytes("back"), floats(0..15));
}

#[test]
fn npy_files_of_all_orders_and_endianness_round_trip() {
    let sandbox = sandbox();
    let dense = floats(0..15);
    let big: Vec<u8> = dense.chunks(4).flat_map(|f| f.iter().rev().copied()).collect();
    let columns = floats((0..5).flat_map(|w| (0..3).map(move |h| h * 5 + w)));
    let files = [
        npy("<f4", "(3, 5)", "False", &dense),
        npy(">f4", "(3, 5)", "False", &big),
        npy("<f4", "(3, 5)", "True", &columns),
    ];
    for file in files {
        sandbox.write("in.npy", &file);
        sandbox.convert("pack", "t", &["in.npy", "-o", "out.bin"]).success();
        assert_eq!(sandbox.bytes("out.bin"), laid_out());
    }
    sandbox.convert("pack", "t", &["in.npy", "-o", "out.npy"]).success();
    let packed = sandbox.bytes("out.npy");
    assert!(packed.ends_with(&laid_out()) && packed.len() == 128 + 96);
    assert!(String::from_utf8_lossy(&packed).contains("'shape': (24,), }"));
    sandbox.convert("unpack", "t", &["out.npy", "-o", "back.npy"]).success();
    let back = sandbox.bytes("back.npy");
    assert!(String::from_utf8_lossy(&back).contains("'descr': '<f4'"));
    assert!(String::from_utf8_lossy(&back).contains("'shape': (3, 5), }"));
    assert!(back.ends_with(&dense) && back.len() == 128 + 60);
}

#[test]
fn types_unknown_to_numpy_are_stored_as_bits() {
    let sandbox = sandbox();
    let numbers: Vec<u8> = (0..6_u16).flat_map(u16::to_le_bytes).collect();
    let turned: Vec<u8> = [0, 3, 1, 4, 2, 5_u16].into_iter().flat_map(u16::to_le_bytes).collect();
    for (tensor, descr) in [("half", "<f2"), ("brain", "<u2"), ("brain", "|V2")] {
        sandbox.write("in.npy", &npy(descr, "(2, 3)", "False", &numbers));
        sandbox.convert("pack", tensor, &["in.npy", "-o", "out.bin"]).success();
        assert_eq!(sandbox.bytes("out.bin"), turned);
    }
    let parts = floats(0..12);
    let order = [0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11];
    sandbox.write("pair.npy", &npy("<f4", "(3, 2, 2)", "False", &parts));
    sandbox.write("wave.npy", &npy("<c8", "(3, 2)", "False", &parts));
    for tensor in ["pair", "wave"] {
        let file = format!("{tensor}.npy");
        sandbox.convert("pack", tensor, &[&file, "-o", "out.bin"]).success();
        assert_eq!(sandbox.bytes("out.bin"), floats(order));
    }
}

#[test]
fn records_are_structured_types_or_bare_bytes_in_a_npy() {
    let sandbox = sandbox();
    // Each record is five bytes that identify it.
    let record = |k: u8| [k, 0x10, 0x20 + k, 0x30, 0x40];
    let dense: Vec<u8> = (0..6).flat_map(record).collect();
    let one = [0, 0x3C, 0x11, 0x11, 0x11];
    let wanted: Vec<u8> =
        [0, 3, 9, 1, 4, 9, 2, 5, 9].map(|k| if k == 9 { one } else { record(k) }).concat();
    let structured = |descr: &str, shape: &str, order: &str, data: &[u8]| {
        let file = npy("NONE", shape, order, data);
        let (before, after) = file.split_at(10);
        let text = String::from_utf8_lossy(after.get(..after.len() - data.len()).expect("whole"));
        let header = text.replace("'NONE'", descr);
        let length = u16::try_from(header.len()).expect("short").to_le_bytes();
        [before.get(..8).expect("ten"), &length, header.as_bytes(), data].concat()
    };
    let fields = "[('d', '<f2'), ('q', '|u1', (3,))]";
    let columns: Vec<u8> = [0, 3, 1, 4, 2, 5].into_iter().flat_map(record).collect();
    for file in [
        structured(fields, "(2, 3)", "False", &dense),
        structured("[('d','<f2'),('q','|u1',(3,))]", "(2, 3)", "False", &dense),
        structured(fields, "(2, 3)", "True", &columns),
        npy("|V5", "(2, 3)", "False", &dense),
    ] {
        sandbox.write("in.npy", &file);
        sandbox.convert("pack", "blocks", &["in.npy", "-o", "out.bin"]).success();
        assert_eq!(sandbox.bytes("out.bin"), wanted);
    }
    sandbox.convert("pack", "blocks", &["in.npy", "-o", "laid.npy"]).success();
    let header = format!("{{'descr': {fields}, 'fortran_order': False, 'shape': (9,), }}");
    assert!(String::from_utf8_lossy(&sandbox.bytes("laid.npy")).contains(&header));
    sandbox.convert("unpack", "blocks", &["laid.npy", "-o", "back.npy"]).success();
    let back = sandbox.bytes("back.npy");
    let header = format!("{{'descr': {fields}, 'fortran_order': False, 'shape': (2, 3), }}");
    assert!(String::from_utf8_lossy(&back).contains(&header) && back.ends_with(&dense));
    for other in ["[('d', '>f2'), ('q', '|u1', (3,))]", "[('e', '<f2'), ('q', '|u1', (3,))]", "[]"]
    {
        sandbox.write("in.npy", &structured(other, "(2, 3)", "False", &dense));
        let ran = fault(&sandbox, "pack", "blocks", &["in.npy", "-o", "out"]);
        let message = format!(
            "error[dtype::data]: `in.npy` holds `{other}`, but `blocks` has elements of `{{ d f16; q u4 6 }}`\n"
        );
        assert!(
            ran.starts_with(&message) && ran.contains(&format!("save it as `{fields}`")),
            "{ran}"
        );
    }
    let fields = "[('tag', '|i1'), ('', '|V3'), ('x', '<f4', (2,)), ('v', '<f4', (2, 2))]";
    let dense: Vec<u8> = (0..56).collect();
    sandbox.write("in.npy", &structured(fields, "(2,)", "False", &dense));
    sandbox.convert("pack", "gaps", &["in.npy", "-o", "laid.npy"]).success();
    let packed = sandbox.bytes("laid.npy");
    assert!(String::from_utf8_lossy(&packed).contains(fields) && packed.ends_with(&dense));
    let array = sandbox.convert("pack", "gaps", &["in.npy", "--c-array"]);
    assert!(array.out.contains("static const layoutc_tag_i8_x_f32x2_v_f32x2x2_"), "{}", array.out);
}

#[test]
fn sub_byte_elements_take_one_byte_each_in_npy() {
    let sandbox = sandbox();
    let signed = [0_i8, 1, 2, -8, -7, 7, -1, 3, 4];
    let dense: Vec<u8> = signed.iter().map(|value| value.cast_unsigned()).collect();
    sandbox.write("in.npy", &npy("|i1", "(3, 3)", "False", &dense));
    sandbox.convert("pack", "small", &["in.npy", "-o", "out.bin"]).success();
    assert_eq!(sandbox.bytes("out.bin"), [0x80, 0x1F, 0x39, 0x72, 0x04]);
    sandbox.convert("unpack", "small", &["out.bin", "-o", "back.npy"]).success();
    assert!(sandbox.bytes("back.npy").ends_with(&dense));
    sandbox.convert("unpack", "small", &["out.bin", "-o", "back"]).success();
    assert_eq!(sandbox.bytes("back"), [0x10, 0x82, 0x79, 0x3F, 0x04]);
    let bits: Vec<u8> = dense.iter().map(|byte| byte & 15).collect();
    sandbox.write("bits.npy", &npy("|u1", "(3, 3)", "False", &bits));
    sandbox.convert("pack", "small", &["bits.npy", "-o", "bits.bin"]).success();
    assert_eq!(sandbox.bytes("bits.bin"), sandbox.bytes("out.bin"));
    sandbox.write("in.npy", &npy("|i1", "(3, 3)", "False", &[0, 0, 0, 0, 8, 0, 0, 0, 0]));
    sandbox.write("low.npy", &npy("|i1", "(3, 3)", "False", &[0, 0, 0, 0, 0xF7, 0, 0, 0, 0]));
    let ran = fault(&sandbox, "pack", "small", &["low.npy", "-o", "out"]);
    let line = "error[dtype::data]: element 4 of `low.npy` is -9, out of range for `i4`\n";
    assert!(ran.starts_with(line), "{ran}");
    let ran = fault(&sandbox, "pack", "small", &["in.npy", "-o", "out"]);
    assert!(ran.contains("element 4 of `in.npy` is 8, out of range for `i4`"), "{ran}");
}

#[test]
fn odd_width_elements_are_bit_packed_except_in_npy() {
    let sandbox = sandbox();
    let dense = [0, 1, 2, 3, 4, 5, 6, 7, 1];
    sandbox.write("in.npy", &npy("|u1", "(3, 3)", "False", &dense));
    sandbox.convert("pack", "threes", &["in.npy", "-o", "out.bin"]).success();
    let turned = [0_u32, 3, 6, 1, 4, 7, 2, 5, 1];
    let stream = (0..).zip(turned).fold(0, |all, (k, value)| all | value << (3 * k));
    assert_eq!(sandbox.bytes("out.bin"), stream.to_le_bytes());
    sandbox.convert("unpack", "threes", &["out.bin", "-o", "back.npy"]).success();
    assert!(sandbox.bytes("back.npy").ends_with(&dense));
    sandbox.write("in.npy", &npy("|u1", "(3, 3)", "False", &[0, 0, 8, 0, 0, 0, 0, 0, 0]));
    let ran = fault(&sandbox, "pack", "threes", &["in.npy", "-o", "out"]);
    assert!(ran.contains("element 2 of `in.npy` is 8, out of range for `u3`"), "{ran}");
    // 1.0, 28.0, -0.0625 and a value out of range.
    let floats = [1.0_f32, 28.0, -0.0625, 100.0];
    let bytes: Vec<u8> = floats.into_iter().flat_map(f32::to_le_bytes).collect();
    sandbox.write("in.npy", &npy("<f4", "(2, 2)", "False", &bytes));
    sandbox.convert("pack", "sixes", &["in.npy", "-o", "sixes.bin"]).success();
    let stream = (0..).zip([0x0C_u32, 0x21, 0x1F, 0x1F]).fold(0, |all, (k, v)| all | v << (6 * k));
    assert_eq!(sandbox.bytes("sixes.bin"), stream.to_le_bytes()[..3]);
    sandbox.write("in.npy", &npy("|V1", "(2, 2)", "False", &[0x0C, 0x1F, 0x21, 0x1F]));
    sandbox.convert("pack", "plain_sixes", &["in.npy", "-o", "plain.bin"]).success();
    assert_eq!(sandbox.bytes("plain.bin"), sandbox.bytes("sixes.bin"));
    let floats = [1.0_f32, -0.0, f32::NAN, -1e9];
    let bytes: Vec<u8> = floats.into_iter().flat_map(f32::to_le_bytes).collect();
    sandbox.write("in.npy", &npy("<f4", "(2, 2)", "False", &bytes));
    sandbox.convert("pack", "minus", &["in.npy", "-o", "minus.bin"]).success();
    assert_eq!(sandbox.bytes("minus.bin"), [0x40, 0, 0x80, 0xFF]);
}

#[test]
fn npy_shape_determines_symbol_values() {
    let sandbox = sandbox();
    let numbers: Vec<u8> = (0..12_u16).flat_map(u16::to_le_bytes).collect();
    sandbox.write("in.npy", &npy("<i2", "(4, 3)", "False", &numbers));
    sandbox.convert("pack", "run", &["in.npy", "-o", "out.bin"]).success();
    sandbox.convert("unpack", "run", &["out.bin", "-o", "back", "--set", "batch=4"]).success();
    assert_eq!(sandbox.bytes("back"), numbers);
    sandbox.convert("pack", "run", &["back", "--set", "batch=4", "-o", "again.bin"]).success();
    assert_eq!(sandbox.bytes("again.bin"), sandbox.bytes("out.bin"));
    let ran = sandbox.convert("pack", "run", &["back", "-o", "out"]);
    let line = "error: `run` depends on symbols: add --set batch=VALUE\n";
    assert_eq!(ran.failure(), (Some(2), line));
    sandbox.write("odd.npy", &npy("<i2", "(3, 3)", "False", &numbers[..18]));
    let ran = fault(&sandbox, "pack", "run", &["odd.npy", "-o", "out"]);
    assert!(ran.contains("`odd.npy` has shape (3, 3), where `batch` is 3"), "{ran}");
    let ran = fault(&sandbox, "pack", "run", &["in.npy", "-o", "out", "--set", "batch=2"]);
    assert!(ran.contains("`in.npy` has shape (4, 3), but `run` has shape (2, 3)"), "{ran}");
}

#[test]
fn files_of_wrong_size_or_type_are_refused() {
    let sandbox = sandbox();
    sandbox.write("short", &floats(0..14));
    let ran = fault(&sandbox, "pack", "t", &["short", "-o", "out"]);
    let line = "error[shape::data]: `short` holds 56 bytes, but dense `t` has 60\n";
    assert!(ran.starts_with(line), "{ran}");
    let ran = fault(&sandbox, "unpack", "t", &["short", "-o", "out"]);
    assert!(ran.contains("`short` holds 56 bytes, but physical `t` has 96"), "{ran}");
    sandbox.write("in.npy", &npy("<f8", "(3, 5)", "False", &[0; 120]));
    let ran = fault(&sandbox, "pack", "t", &["in.npy", "-o", "out"]);
    let line = "error[dtype::data]: `in.npy` holds `<f8`, but `t` has elements of `f32`\n  = help: save it as `<f4`";
    assert!(ran.starts_with(line), "{ran}");
    sandbox.write("in.npy", &npy("<f4", "(5, 3)", "False", &[0; 60]));
    let ran = fault(&sandbox, "pack", "t", &["in.npy", "-o", "out"]);
    assert!(ran.contains("`in.npy` has shape (5, 3), but `t` has shape (3, 5)"), "{ran}");
    let ran = sandbox.convert("pack", "t", &["gone.npy", "-o", "out"]);
    assert_eq!(ran.failure(), (Some(2), "error: `gone.npy` does not exist\n"));
    sandbox.write("good", &[0; 60]);
    let ran = sandbox.convert("pack", "t", &["good", "-o", "no/out"]);
    assert_eq!(ran.failure(), (Some(2), "error: the folder of `no/out` does not exist\n"));
    let ran = sandbox.convert("pack", "t", &["in.npy"]);
    assert_eq!(ran.code, Some(2));
}

#[test]
fn truncated_npy_files_are_refused_without_a_panic() {
    let sandbox = sandbox();
    let file = npy("<f4", "(3, 5)", "False", &floats(0..15));
    for end in 0..file.len() {
        sandbox.write("in.npy", &file[..end]);
        let ran = fault(&sandbox, "pack", "t", &["in.npy", "-o", "out"]);
        assert!(ran.starts_with("error[shape::data]: `in.npy` "), "{end}: {ran}");
    }
    sandbox.write("in.npy", &[file.as_slice(), &[0]].concat());
    let ran = fault(&sandbox, "pack", "t", &["in.npy", "-o", "out"]);
    assert!(ran.contains("has 61 bytes of elements, but its header declares 60"), "{ran}");
}

#[test]
fn inputs_are_not_overwritten() {
    let sandbox = sandbox();
    sandbox.write("in", &floats(0..15));
    let ran = sandbox.convert("pack", "t", &["in", "-o", "./in"]);
    let line = "error: output `./in` would overwrite the input `in`\n";
    assert_eq!(ran.failure(), (Some(2), line));
    let ran = sandbox.convert("pack", "t", &["in", "-o", "a.kdl"]);
    assert_eq!(ran.code, Some(2));
    assert_eq!(sandbox.bytes("in"), floats(0..15));
    assert_eq!(sandbox.files("."), ["a.kdl", "in"]);
}

#[test]
fn dangling_output_link_is_preserved() {
    let sandbox = sandbox();
    sandbox.write("in", &floats(0..15));
    std::os::unix::fs::symlink("gone/out", sandbox.path("out")).expect("a link");
    let ran = sandbox.convert("pack", "t", &["in", "-o", "out"]);
    let line = "error: `out` is a link to a missing file; remove the link, or create the file\n";
    assert_eq!(ran.failure(), (Some(2), line));
    assert!(sandbox.path("out").is_symlink());
}

#[test]
fn standard_input_and_output_can_be_packed() {
    let sandbox = sandbox();
    let through = |args: &[&str], input: &[u8]| {
        let mut child = sandbox
            .command(".", args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        child.stdin.take().expect("a pipe").write_all(input).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0));
        output.stdout
    };
    let file = npy("<f4", "(3, 5)", "False", &floats(0..15));
    let packed = through(&["pack", "a.kdl", "t", "-", "-o", "-"], &file);
    assert_eq!(packed, laid_out());
    let raw = through(&["pack", "a.kdl", "t", "-", "-o", "-", "--raw"], &floats(0..15));
    assert_eq!(raw, packed);
    let dense = through(&["unpack", "a.kdl", "t", "-", "-o", "-", "--raw"], &packed);
    assert_eq!(dense, floats(0..15));
    let dense = through(&["unpack", "a.kdl", "t", "-", "-o", "-"], &packed);
    assert!(dense.starts_with(b"\x93NUMPY") && dense.ends_with(&floats(0..15)));
}

/// Runs a conversion with the open file `input` as standard input; returns its standard error.
fn with_stdin(sandbox: &Sandbox, args: &[&str], input: impl Into<Stdio>) -> String {
    let output = sandbox.command(".", args).stdin(input).output().expect("it ends");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]));
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn endless_inputs_are_refused_after_one_byte_too_many() {
    let sandbox = sandbox();
    for memory in ["1 GiB", "64 KiB"] {
        for (command, size) in [("pack", "dense `t` has 60"), ("unpack", "physical `t` has 96")] {
            let number = &size[size.len() - 2..];
            let more = ["/dev/zero", "-o", "out", "--memory", memory];
            let ran = fault(&sandbox, command, "t", &more);
            let line = format!(
                "error[shape::data]: `/dev/zero` holds more than {number} bytes, but {size}\n"
            );
            assert!(ran.starts_with(&line), "{ran}");
            // The position of a file that is shared with the process tells how much is read.
            let mut file = tempfile(&sandbox, 1 << 30);
            let args = [command, "a.kdl", "t", "-", "--raw", "-o", "out", "--memory", memory];
            let ran = with_stdin(&sandbox, &args, file.try_clone().expect("a handle"));
            let line = format!(
                "error[shape::data]: `standard input` holds more than {number} bytes, but {size}\n"
            );
            assert!(ran.starts_with(&line), "{ran}");
            let read = file.stream_position().expect("a position");
            assert_eq!(read, number.parse::<u64>().expect("a number") + 1);
        }
    }
    let header = npy("<f4", "(3, 5)", "False", &[]);
    let mut file = tempfile(&sandbox, 1 << 30);
    file.write_all(&header).expect("it is written");
    file.rewind().expect("a file");
    let args = ["pack", "a.kdl", "t", "-", "-o", "out"];
    let ran = with_stdin(&sandbox, &args, file.try_clone().expect("a handle"));
    let line = "error[shape::data]: `standard input` has more than 60 bytes of elements, but its header declares 60\n";
    assert!(ran.starts_with(line), "{ran}");
    assert_eq!(file.stream_position().expect("a position"), header.len() as u64 + 61);
}

/// An open file of `bytes` zeros.
fn tempfile(sandbox: &Sandbox, bytes: u64) -> fs::File {
    let options = fs::File::options().read(true).write(true).create(true).truncate(true).to_owned();
    let file = options.open(sandbox.path("zeros")).expect("a file");
    file.set_len(bytes).expect("a length");
    file
}

#[test]
fn reported_size_is_that_of_the_file() {
    let sandbox = sandbox();
    for (tensor, bytes) in [("t", 60), ("small", 9), ("kept", 16), ("pair", 48)] {
        let dense = match tensor {
            "small" => npy("|i1", "(3, 3)", "False", &vec![1; bytes]),
            "kept" => npy("<f4", "(2, 2)", "False", &vec![0; bytes]),
            "pair" => npy("<f4", "(3, 2, 2)", "False", &vec![0; bytes]),
            _ => npy("<f4", "(3, 5)", "False", &vec![0; bytes]),
        };
        sandbox.write("in.npy", &dense);
        for (command, from, to) in [
            ("pack", "in.npy", "out.npy"),
            ("pack", "in.npy", "out.bin"),
            ("unpack", "out.npy", "back.npy"),
            ("unpack", "out.bin", "back.bin"),
        ] {
            let said = sandbox.convert(command, tensor, &[from, "-o", to]).success().to_owned();
            let length = sandbox.bytes(to).len();
            assert_eq!(said, format!("written    {to}: {length} bytes\n"));
        }
        let array = ["in.npy", "--c-array", "-o", "out.h"];
        let said = sandbox.convert("pack", tensor, &array).success().to_owned();
        let length = sandbox.bytes("out.h").len();
        assert_eq!(said, format!("written    out.h: {length} bytes\n"));
    }
}

#[test]
fn json_output_is_one_object() {
    let sandbox = sandbox();
    sandbox.write("in", &floats(0..15));
    let object = concat!(
        r#"{"version":1,"kind":"pack","tensor":"t","input":"in","output":"out","bytes":96}"#,
        "\n"
    );
    assert_eq!(
        sandbox.convert("pack", "t", &["in", "-o", "out", "--format", "json"]).success(),
        object
    );
    assert_eq!(sandbox.convert("pack", "t", &["in", "-o", "out", "-q"]).success(), "");
    sandbox.write("in", &[0]);
    let ran = sandbox.convert("pack", "t", &["in", "-o", "other", "--format", "json"]);
    assert!(ran.out.contains(r#""code":"shape::data""#), "{}", ran.out);
}

#[test]
fn c_arrays_preserve_every_bit() {
    let sandbox = sandbox();
    let odd = [f32::MIN_POSITIVE / 2.0, f32::INFINITY, -0.0, 0.1, f32::MAX, f32::EPSILON];
    let values: Vec<f32> =
        (0_u8..15).map(|k| odd.get(usize::from(k)).copied().unwrap_or(f32::from(k))).collect();
    let t: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let doubles = [1e-310, f64::MAX, -1.0 / 3.0, f64::NEG_INFINITY, 5.0, -0.0];
    let wide: Vec<u8> = doubles.iter().flat_map(|value| value.to_le_bytes()).collect();
    let integers = [i64::MIN, i64::MAX, -1, 0, 1, 1 << 40];
    let whole: Vec<u8> = integers.iter().flat_map(|value: &i64| value.to_le_bytes()).collect();
    let dense: [(&str, Vec<u8>); 8] = [
        ("t", t),
        ("wide", wide),
        ("whole", whole),
        ("half", (0..12).collect()),
        ("brain", (0..12).collect()),
        ("small", vec![0x10, 0x82, 0x79, 0x3F, 0x04]),
        ("pair", floats(0..12)),
        ("wave", floats(0..12)),
    ];
    let mut source = String::from("#include <stdio.h>\n");
    let mut wanted = Vec::new();
    let mut main = String::new();
    for (name, bytes) in &dense {
        sandbox.write("in", bytes);
        sandbox.convert("pack", name, &["in", "-o", "out.bin"]).success();
        wanted.extend(sandbox.bytes("out.bin"));
        let ran = sandbox.convert("pack", name, &["in", "--c-array"]);
        source.push_str(ran.success());
        main.push_str(&format!("    fwrite({name}_data, 1, sizeof {name}_data, stdout);\n"));
        sandbox.convert("pack", name, &["in", "--c-array", "-o", "array.h"]).success();
        assert_eq!(sandbox.bytes("array.h"), ran.out.as_bytes());
    }
    source.push_str(&format!("int main(void) {{\n{main}    return 0;\n}}\n"));
    sandbox.write("a.c", source.as_bytes());
    let flags = ["-std=c99", "-pedantic-errors", "-Wall", "-Wextra", "-Wconversion", "-Werror"];
    let compiled = Command::new("cc")
        .args(flags)
        .args(["a.c", "-o", "a.out"])
        .current_dir(sandbox.path("."))
        .output()
        .expect("a compiler");
    let message = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{message}\n{source}");
    let ran = Command::new(sandbox.path("a.out")).output().expect("it runs");
    assert_eq!(ran.stdout, wanted, "{source}");
}

#[test]
fn dense_array_has_the_pack_from_type() {
    let sandbox = sandbox();
    let singles = |values: [f32; 4]| values.map(f32::to_le_bytes).concat();
    let dense = singles([1.5, 1e9, f32::NEG_INFINITY, 2.0]);
    sandbox.write("in.npy", &npy("<f4", "(2, 2)", "False", &dense));
    sandbox.convert("pack", "kept", &["in.npy", "-o", "out.npy"]).success();
    let packed = sandbox.bytes("out.npy");
    let halves = [0x3E00_u16, 0xFBFF, 0x7BFF, 0x4000].map(u16::to_le_bytes).concat();
    assert!(String::from_utf8_lossy(&packed).contains("'descr': '<f2'"));
    assert!(packed.ends_with(&halves) && packed.len() == 128 + 8);
    sandbox.convert("unpack", "kept", &["out.npy", "-o", "back.npy"]).success();
    let back = sandbox.bytes("back.npy");
    assert!(String::from_utf8_lossy(&back).contains("'descr': '<f4'"));
    assert!(back.ends_with(&singles([1.5, 65504.0, -65504.0, 2.0])) && back.len() == 128 + 16);
    sandbox.write("in", &singles([1.5, -9.0, 2.5, 7.2]));
    sandbox.convert("pack", "nibbles", &["in", "-o", "out.bin"]).success();
    assert_eq!(sandbox.bytes("out.bin"), [0x22, 0x78]);
    sandbox.convert("unpack", "nibbles", &["out.bin", "-o", "back"]).success();
    assert_eq!(sandbox.bytes("back"), singles([2.0, -8.0, 2.0, 7.0]));
    fs::remove_file(sandbox.path("out.npy")).expect("it goes");
    sandbox.write("in.npy", &npy("<f2", "(2, 2)", "False", &halves));
    let message = fault(&sandbox, "pack", "kept", &["in.npy", "-o", "out"]);
    let wanted = "error[dtype::data]: `in.npy` holds `<f2`, but `kept` is packed from `f32`";
    assert!(message.contains(wanted) && message.contains("save it as `<f4`"), "{message}");
}

/// A .npy of version 2 with this header and 24 floats.
fn headed(header: &str) -> Vec<u8> {
    let length = u32::try_from(header.len()).expect("short").to_le_bytes();
    let elements: Vec<u8> = (1_u8..=24).flat_map(|n| f32::from(n).to_le_bytes()).collect();
    [&b"\x93NUMPY\x02\x00"[..], &length, header.as_bytes(), &elements].concat()
}

#[test]
fn ambiguous_npy_headers_are_refused() {
    let tensor = "tensor filters dtype=f32 { shape { o 6; i 4 }; layout { tile 4 2; fill -1 } }\n";
    let sandbox = Sandbox::new(&[("f.kdl", tensor)]);
    let rest = "'fortran_order': False, 'shape': (6, 4)";
    let pack = |header: &str| {
        sandbox.write("a.npy", &headed(header));
        sandbox.run(&["pack", "f.kdl", "filters", "a.npy", "-o", "out.npy"])
    };
    pack(&format!("{{'descr': '<f4', {rest}}}\n")).success();
    pack(&format!("{{{rest}, 'descr': '<f4', }}   \n")).success();
    for (header, reason) in [
        (format!("{{'descr': '<f4', 'descr': '<f8', {rest}}}\n"), "duplicate key `descr`"),
        (format!("{{'descr': '<f4', {rest}, 'shape': (6, 4)}}\n"), "duplicate key `shape`"),
        (format!("{{'descr': '<f4', {rest}, 'x': 1}}\n"), "`x`"),
        (format!("{{'descr': '<f4', {rest}}} garbage\n"), "text follows it"),
        (format!("{{'descr': '<f4', {rest}"), "not a Python dictionary"),
        (format!("'descr': '<f4', {rest}"), "not a Python dictionary"),
    ] {
        let ran = pack(&header);
        assert_eq!(ran.code, Some(1), "{header}");
        assert!(ran.err.contains("error[shape::data]") && ran.err.contains(reason), "{}", ran.err);
    }
}
