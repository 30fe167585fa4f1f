//! Conversions between random shardings and layouts, run by MPI with one rank per device. The oracle is the generated
//! test program, which checks every element and every slot of padding and counts the bytes sent.
#![allow(clippy::disallowed_methods, reason = "writes sources and runs compilers")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use layoutc_compiler::base::diagnostic::Severity;
use layoutc_compiler::config::Config;

use crate::common::cc::folder;
use crate::common::check_text::check_text;
use crate::common::compile_cache;
use crate::random_manifest::built;
use layoutc_testing::{Random, cases, process};

/// True if MPI is installed; on CI it must be.
fn is_installed() -> bool {
    ["mpicc", "mpirun"].iter().all(|name| process::needed_program(name).is_some())
}

fn mpirun(ranks: usize) -> Command {
    let mut command = Command::new("mpirun");
    command.args(["--oversubscribe", "--allow-run-as-root", "--mca", "btl", "self,vader"]);
    command.args(["-n", &ranks.to_string()]);
    command.env("OMPI_MCA_rmaps_base_oversubscribe", "1").env("ASAN_OPTIONS", "detect_leaks=0");
    command
}

/// Emits a manifest and compiles its test program with strict warnings and sanitizers. Returns the folder.
fn compiled(name: &str, manifest: &str) -> PathBuf {
    let folder = folder(&format!("mpi/{name}"));
    std::fs::write(folder.join("m.kdl"), manifest).unwrap();
    let (_, outputs) = built(manifest, &Config::default()).unwrap();
    for (path, text) in outputs {
        layoutc_testing::files::write(folder.join(path), text);
    }
    let mut command = Command::new("mpicc");
    command.args(["-std=c99", "-pedantic-errors", "-Wall", "-Wextra", "-Wconversion"]);
    command.args(["-Wsign-conversion", "-Werror", "-O0", "-g", "-fsanitize=address,undefined"]);
    command.args(["-fno-sanitize-recover=all", "tests/m_mpi_test.c", "mpi/m_mpi.c", "m.c", "-lm"]);
    command.args(["-o", "mpi_test"]);
    compile_cache::compile(&mut command, &folder, Some("mpi_test"), &[])
        .unwrap_or_else(|error| panic!("{error}"));
    folder
}

/// Output of the test program on `ranks` ranks.
fn run(folder: &Path, ranks: usize) -> String {
    let output = process::output(mpirun(ranks).arg(folder.join("mpi_test")));
    let output = output.unwrap_or_else(|error| panic!("{error}"));
    assert!(output.trim_end().ends_with("ok"), "{output}");
    output
}

/// Meshes of `devices` devices.
fn meshes(devices: usize) -> &'static [&'static str] {
    match devices {
        2 => &["x 2", "x 1; y 2"],
        4 => &["x 4", "x 2; y 2"],
        _ => &["x 8", "x 2; y 4", "x 2; y 2; z 2"],
    }
}

/// Steps of layouts of axes `a`, `b` and `c`.
const LAYOUTS: &[&str] = &[
    "",
    "order c a b",
    "order b c a",
    "split c by=4; order a c_outer b c_inner",
    "split b by=2; split a by=3; order b_outer a_outer c a_inner b_inner; fill 5",
    "pad b before=1 after=2; fill 7",
    "align b 32; fill none",
    "tile 3 4",
    "map \"(a, b, c) -> (c // 2, a, b, c % 2)\"",
    "map \"(a, b, c) -> (a, b, c ^ (b & 1))\"; padding allow",
    "map \"(a, b, c) -> (b, (a + c) % 64 : 64, c)\"; padding allow",
    "swizzle 1 0 2 unit=elements",
];

/// A random tensor of the axes in some order, sharded over some mesh axes.
fn tensor(random: &mut Random, name: &str, dtype: &str, extents: [i64; 3], mesh: &str) -> String {
    let mut free: Vec<&str> = mesh.split("; ").map(|axis| &axis[..1]).collect();
    let mut cuts = [String::new(), String::new(), String::new()];
    while !free.is_empty() {
        let axis = free.remove(random.below(free.len()));
        // One choice of four replicates the tensor over this mesh axis.
        if let Some(cut) = cuts.get_mut(random.below(4)) {
            write!(cut, "{}{axis}", if cut.is_empty() { "" } else { " " }).unwrap();
        }
    }
    let mut shard = String::new();
    for (axis, cut) in ["a", "b", "c"].into_iter().zip(&cuts).filter(|(_, cut)| !cut.is_empty()) {
        write!(shard, " {axis}=\"{cut}\"").unwrap();
    }
    let order = *random.pick(&[[0, 1, 2], [2, 0, 1], [1, 0, 2]]);
    let shape: Vec<String> =
        order.iter().map(|k| format!("{} {}", ["a", "b", "c"][*k], extents[*k])).collect();
    let mut steps = *random.pick(LAYOUTS);
    if order != [0, 1, 2] && (steps.contains("map") || steps.contains("tile")) {
        steps = "";
    }
    let layout =
        if steps.is_empty() { String::new() } else { format!("    layout {{ {steps} }}\n") };
    let shape = shape.join("; ");
    format!(
        "tensor {name} dtype={dtype} {{\n    shape {{ {shape} }}\n    shard m{shard}\n{layout}}}\n"
    )
}

/// A random manifest of `count` conversions, each between two tensors of its own; rejected ones are drawn again.
fn random_manifest(random: &mut Random, devices: usize, count: usize) -> String {
    let mut text = String::new();
    let mesh = *random.pick(meshes(devices));
    writeln!(text, "mesh m {{ {mesh} }}").unwrap();
    let mut generated = 0;
    while generated < count {
        let extents = [0; 3].map(|_| random.between(1, 13));
        let dtype = *random.pick(&["f32", "u8", "f64", "i16", "c64", "f32x4"]);
        let mut pair = tensor(random, &format!("from{generated}"), dtype, extents, mesh);
        pair += &tensor(random, &format!("to{generated}"), dtype, extents, mesh);
        let staging = *random.pick(&["", " max-staging=\"1 KiB\"", " max-staging=1"]);
        // `max-staging` is rejected if nothing is exchanged, or if it is too small.
        for line in [
            format!("convert from{generated} to=to{generated}{staging}\n"),
            format!("convert from{generated} to=to{generated}\n"),
        ] {
            if is_valid(&format!("mesh m {{ {mesh} }}\n{pair}{line}")) {
                text += &pair;
                text += &line;
                generated += 1;
                break;
            }
        }
    }
    text
}

fn is_valid(manifest: &str) -> bool {
    let checked = check_text(manifest);
    checked.diagnostics.iter().all(|report| report.severity != Severity::Error)
}

#[test]
fn random_shardings_and_layouts_are_exchanged_completely() {
    if !is_installed() {
        return;
    }
    // 120 pairs in the long campaign.
    let (manifests, pairs) = cases((1, 8), (2, 20));
    let mut random = Random::new(261_126);
    for devices in [2, 4, 8] {
        for manifest in 0..manifests {
            let text = random_manifest(&mut random, devices, pairs);
            let folder = compiled(&format!("random_{devices}_{manifest}"), &text);
            run(&folder, devices);
        }
    }
}

/// The conversions of the table in the book.
const MOVES: &str = r#"
mesh pod { x 2; y 4 }
mesh line { d 8 }
tensor data dtype=f32 { shape { n 64; c 48 }; shard n="x y" }
tensor model dtype=f32 { shape { n 64; c 48 }; shard c="x y" }
tensor both dtype=f32 { shape { n 64; c 48 }; shard n=x c=y }
tensor turned dtype=f32 { shape { n 64; c 48 }; shard n=y c=x }
tensor all dtype=f32 { shape { n 64; c 48 }; shard pod }
tensor linear dtype=f32 { shape { n 64; c 48 }; shard n=d }
convert data to=model
convert model to=data
convert data to=all
convert all to=model
convert both to=turned
convert both to=data
convert data to=linear
"#;

#[test]
fn uneven_axes_leave_last_devices_partial_or_empty() {
    // 9 elements on 8 devices: four have two, one has one, and three have none.
    let uneven = "mesh one { x 2 }\nmesh grid { a 2; b 4 }\n\
         tensor s5 dtype=f32 { shape { o 2; i 3 }; shard one i=x }\n\
         tensor two dtype=f32 { shape { n 2 }; shard grid n=\"a b\" }\n\
         tensor nine dtype=f32 { shape { n 9; m 4 }; shard grid n=\"a b\" }\n\
         tensor nineba dtype=f32 { shape { n 9; m 4 }; shard grid n=\"b a\" }\n\
         convert nine to=nineba\nconvert nineba to=nine\n";
    let (checked, _) = built(uneven, &Config::default()).unwrap();
    let tensors = &checked.manifests[0].tensors;
    let lengths = |tensor: usize, axis: usize| {
        let sharded = tensors[tensor].sharded.as_ref().unwrap();
        let extents = sharded.extents().unwrap();
        let length = |device| {
            let bounds = sharded.sharding.bounds(&sharded.mesh, device, &extents).unwrap();
            bounds[axis].end - bounds[axis].start
        };
        (0..sharded.devices()).map(length).collect::<Vec<_>>()
    };
    assert_eq!(lengths(0, 1), [2, 1]);
    assert_eq!(lengths(1, 0), [1, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(lengths(2, 0), [2, 2, 2, 2, 1, 0, 0, 0]);
    assert_eq!(lengths(3, 0), [2, 2, 1, 0, 2, 2, 0, 0]);
    if is_installed() {
        run(&compiled("uneven", uneven), 8);
    }
}

#[test]
fn awkward_names_and_shardings_are_exchanged() {
    if !is_installed() {
        return;
    }
    let awkward = [
        // Names that the generated functions use.
        "mesh p { x 2 }\n\
         tensor rank dtype=f32 { shape { n 8; c 8 }; shard n=x }\n\
         tensor comm dtype=f32 { shape { n 8; c 8 }; shard c=x; layout { pad c multiple=5 } }\n\
         tensor fill dtype=f32 { shape { n 8; c 8 }; shard c=x; layout { pad c multiple=5; fill 3 } }\n\
         tensor from dtype=f32 { shape { n 8; c 8 }; shard p }\n\
         tensor MPI_Comm dtype=f32 { shape { n 8; c 8 }; shard c=x }\n\
         convert rank to=comm\nconvert comm to=rank\nconvert rank to=fill\nconvert fill to=from\n\
         convert from to=MPI_Comm\n",
        // A scalar, on fewer devices than ranks.
        "mesh p { x 2 }\nmesh one { z 1 }\n\
         tensor a dtype=f64 { shape { }; shard p }\ntensor b dtype=f64 { shape { }; shard one }\n\
         convert a to=b\nconvert b to=a\n",
        // Reversed runs of bytes.
        "mesh p { x 2 }\n\
         tensor a dtype=u8 { shape { n 8 }; shard n=x; layout { map \"(n) -> (3 - n)\" } }\n\
         tensor b dtype=u8 { shape { n 8 }; shard p }\n\
         tensor c dtype=i8 { shape { n 4; c 6 }; shard n=x; layout { map \"(n, c) -> (1 - n, 5 - c)\" } }\n\
         tensor d dtype=i8 { shape { n 4; c 6 }; shard c=x }\n\
         convert a to=b\nconvert b to=a\nconvert c to=d\nconvert d to=c\n",
        // Equal shardings: no messages.
        "mesh p { x 2 }\n\
         tensor a dtype=f32 { shape { n 8; c 16 }; shard n=x }\n\
         tensor b dtype=f32 { shape { n 8; c 16 }; shard n=x; layout { order c n } }\n\
         convert a to=b\n",
        // Every message is packed by copying.
        "mesh p { x 2 }\n\
         tensor a dtype=f32 { shape { n 8; c 16 }; shard n=x }\n\
         tensor b dtype=f32 { shape { n 8; c 16 }; shard c=x; layout { map \"(n, c) -> (n, c ^ (n % 2))\"; padding allow } }\n\
         convert a to=b max-staging=\"16 B\"\n",
    ];
    for (number, manifest) in awkward.into_iter().enumerate() {
        run(&compiled(&format!("awkward_{number}"), manifest), 2);
    }
}

#[test]
fn staging_holds_at_least_one_element_per_message() {
    let manifest = "mesh p { x 2 }\n\
         tensor a dtype=f32 { shape { n 8; c 16 }; shard n=x }\n\
         tensor b dtype=f32 { shape { n 8; c 16 }; shard c=x; layout { map \"(n, c) -> (n, c ^ (n % 2))\"; padding allow } }\n\
         convert a to=b max-staging=\"15 B\"\n";
    let checked = check_text(manifest);
    let report = format!("{:?}", checked.diagnostics);
    assert!(report.contains("staging needs at least 16 bytes, not 15"), "{report}");
}

#[test]
fn the_fewest_bytes_are_sent() {
    if !is_installed() {
        return;
    }
    let report = run(&compiled("moves", MOVES), 8);
    let sent = |name: &str| {
        let line = report.lines().find(|line| line.starts_with(&format!("{name}: "))).unwrap();
        line.split(' ').nth(1).unwrap().parse::<i64>().unwrap()
    };
    let whole = 64 * 48 * 4;
    // Each device keeps 1/8 of its shard and receives the rest from seven others.
    assert_eq!(sent("data_to_model"), whole / 8 * 7);
    assert_eq!(sent("model_to_data"), whole / 8 * 7);
    assert_eq!(sent("data_to_all"), whole * 7);
    assert_eq!(sent("all_to_model"), 0);
    assert_eq!(sent("data_to_linear"), 0);
    assert!(sent("both_to_turned") > 0);
}

#[test]
fn missing_buffer_on_one_rank_fails_on_all_ranks() {
    if !is_installed() {
        return;
    }
    let folder = compiled("moves", MOVES);
    let program = r#"
#include <stdio.h>
#include <stdlib.h>
#include "mpi/m_mpi.h"
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    float *data = calloc(1, (size_t)DATA_BYTES), *model = calloc(1, (size_t)MODEL_BYTES);
    int error = data_to_model(rank == 3 ? NULL : data, model, MPI_COMM_WORLD), kind = 0;
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(error, text, &length);
    MPI_Error_class(error, &kind);
    printf("%d %s\n", rank, text);
    free(data);
    free(model);
    int wanted = ranks == 8 ? MPI_ERR_BUFFER : MPI_ERR_COMM, good = kind == wanted, all = 0;
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Finalize();
    return all ? 0 : 1;
}
"#;
    std::fs::write(folder.join("absent.c"), program).unwrap();
    let mut command = Command::new("mpicc");
    command.args(["-g", "absent.c", "mpi/m_mpi.c", "m.c", "-lm", "-o", "absent"]);
    compile_cache::compile(&mut command, &folder, Some("absent"), &[])
        .unwrap_or_else(|error| panic!("{error}"));
    for ranks in [8, 4] {
        let output = process::output(mpirun(ranks).arg(folder.join("absent")));
        let output = output.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(output.lines().count(), ranks, "{output}");
    }
}
