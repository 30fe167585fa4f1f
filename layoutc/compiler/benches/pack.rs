//! Speed of `pack` in process, on one core and on all, against the generated C compiled with `cc -O2`, in rounds in
//! which all take turns; what they write is compared first. `cargo bench -p layoutc-compiler --bench pack` prints the
//! table of `bench/pack/results.md`; `-- transpose` those cases.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench may panic, print, run a compiler and look at the clock"
)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;

use layoutc_compiler::config::Config;
use layoutc_compiler::emit::Templates;
use layoutc_compiler::pack::{Relayout, pack};
use layoutc_compiler::{CheckedProject, Compiler, MemorySources};

const NCHW16C: &str = "map \"(n, c, h, w) -> (n, c // 16, h, w, c % 16)\"";

const ROUNDS: usize = 9;

/// Name, element type, axes, layout.
const CASES: [(&str, &str, &str, &str); 6] = [
    ("NCHW to NHWC", "f32", "n 32; c 64; h 128; w 128", "order n h w c"),
    ("NCHW to NCHW16c", "f32", "n 32; c 64; h 128; w 128", NCHW16C),
    ("2-D transpose", "f32", "h 6000; w 6000", "order w h"),
    ("2-D transpose, powers of two", "f32", "h 4096; w 8192", "order w h"),
    ("row-major to T(8,128), padded", "f32", "h 6001; w 5999", "tile 8 128; fill 0"),
    ("NCHW to NHWC", "i8", "n 32; c 256; h 128; w 128", "order n h w c"),
];

/// Runs a round for every line that it reads, and tells its nanoseconds; the sum of what is written first.
const DRIVER: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "m.h"

int main(void) {
    unsigned char *from = malloc(FROM), *to = malloc(T_BYTES);
    if (!from || !to) return 1;
    for (size_t k = 0; k < FROM; k++) from[k] = (unsigned char)(k * 2654435761u >> 13);
    t_pack((void *)from, (void *)to);
    unsigned long long sum = 0;
    for (size_t k = 0; k < (size_t)T_BYTES; k++) sum = sum * 31 + to[k];
    printf("%llu\n", sum);
    fflush(stdout);
    while (getchar() != EOF) {
        struct timespec a, b;
        clock_gettime(CLOCK_MONOTONIC, &a);
        t_pack((void *)from, (void *)to);
        clock_gettime(CLOCK_MONOTONIC, &b);
        printf("%lld\n", (long long)(b.tv_sec - a.tv_sec) * 1000000000 + (b.tv_nsec - a.tv_nsec));
        fflush(stdout);
    }
    return 0;
}
"#;

struct Compiled {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Compiled {
    fn new(checked: &CheckedProject, from_bytes: usize) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        for output in Compiler::new(&MemorySources::default(), &Config::default())
            .emit(checked, &Templates::default())
            .unwrap()
        {
            let name = output.path.rsplit('/').next().unwrap();
            std::fs::write(folder.join(name), &output.text).unwrap();
        }
        std::fs::write(folder.join("driver.c"), DRIVER).unwrap();
        let from = format!("-DFROM={from_bytes}u");
        let arguments = ["-std=gnu99", "-O2", &from, "driver.c", "m.c", "-o", "driver"];
        let built = Command::new("cc").args(arguments).current_dir(folder).status().unwrap();
        assert!(built.success());
        let mut child = Command::new(folder.join("driver"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    fn number(&mut self) -> u64 {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.trim().parse().unwrap()
    }

    fn round(&mut self) -> f64 {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(b"\n").unwrap();
        stdin.flush().unwrap();
        std::time::Duration::from_nanos(self.number()).as_secs_f64()
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn round(packs: &Relayout, from: &[u8], to: &mut [u8]) -> f64 {
    let start = Instant::now();
    packs.run(from, to).unwrap();
    start.elapsed().as_secs_f64()
}

fn main() {
    let pools =
        [1, 0].map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap());
    println!("| what | dtype | dims | C, GB/s | one core, GB/s | of C | all cores, GB/s | of C |");
    println!("|---|---|---|--:|--:|--:|--:|--:|");
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let asked = |what: &str| only.as_ref().is_none_or(|only| what.contains(only));
    for (what, dtype, axes, layout) in CASES.into_iter().filter(|case| asked(case.0)) {
        let text =
            format!("tensor t dtype={dtype} {{\n shape {{ {axes} }}\n layout {{ {layout} }}\n}}\n");
        let checked = Compiler::new(&MemorySources::of("m.kdl", text), &Config::default())
            .check(&["m.kdl".to_owned()]);
        let faults = &checked.diagnostics;
        assert_eq!(checked.manifests[0].tensors.len(), 1, "{faults:?}");
        let tensor = &checked.manifests[0].tensors[0];
        let moves =
            pools.each_ref().map(|pool| pool.install(|| pack(tensor, &BTreeMap::new()).unwrap()));
        let bytes = moves[0].from_bytes;
        let pattern = |k: usize| {
            let product = u32::try_from(k % (1 << 32)).unwrap().wrapping_mul(2_654_435_761);
            product.wrapping_shr(13).to_le_bytes()[0]
        };
        let from: Vec<u8> = (0..bytes).map(pattern).collect();
        let mut to = vec![0; moves[0].to_bytes];
        let mut compiled = Compiled::new(&checked, bytes);
        let wanted = compiled.number();
        for (pool, packs) in pools.iter().zip(&moves) {
            to.fill(1);
            pool.install(|| packs.run(&from, &mut to).unwrap());
            let sum = to
                .iter()
                .fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
            assert_eq!(sum, wanted, "{what} differs from the generated C");
        }
        let (mut c, mut one, mut all) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            c.push(compiled.round());
            one.push(pools[0].install(|| round(&moves[0], &from, &mut to)));
            all.push(pools[1].install(|| round(&moves[1], &from, &mut to)));
        }
        drop(compiled.child.stdin.take());
        compiled.child.wait().unwrap();
        let [c, one, all] = [c, one, all].map(median);
        #[expect(clippy::cast_precision_loss, reason = "a rate to three digits")]
        let rate = |time: f64| 2.0 * bytes as f64 / time / 1e9;
        let dims: Vec<&str> = axes.split("; ").filter_map(|axis| axis.split(' ').nth(1)).collect();
        println!(
            "| {what} | {dtype} | {} | {:.1} | {:.1} | {:.2} | {:.1} | {:.2} |",
            dims.join("x"),
            rate(c),
            rate(one),
            c / one,
            rate(all),
            c / all
        );
    }
}
