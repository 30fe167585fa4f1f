//! The keys of `[target.c]`: the outputs of each, compiled by every installed compiler with strict flags and run.
#![allow(clippy::disallowed_methods, reason = "writes sources and runs compilers")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use crate::common;
use crate::common::compile_cache;
use layoutc_testing::campaign::is_available;
use layoutc_testing::process::output;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use common::cc::{CCompiler, compilers, folder};
use layoutc_compiler::base::content_hash;
use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::emit::Templates;
use layoutc_compiler::{Compiler, GeneratedFile, LoadError, SourceLoader, config};

/// Manifests by path.
struct Project(BTreeMap<String, String>);

impl SourceLoader for Project {
    fn load(&self, path: &str) -> Result<String, LoadError> {
        Ok(self.0[path].clone())
    }
}

/// Generated files of a project with these keys in `[target.c]`.
fn built(manifests: &[(&str, &str)], keys: &str) -> Result<Vec<GeneratedFile>, Vec<Diagnostic>> {
    let file = Arc::from("layoutc.toml");
    let config =
        config::parse(&file, &format!("[target.c]\nruntime = \"inline\"\n{keys}")).unwrap();
    let paths: Vec<String> = manifests.iter().map(|(path, _)| format!("layouts/{path}")).collect();
    let texts = manifests.iter().map(|(_, text)| (*text).to_owned());
    let project = Project(paths.iter().cloned().zip(texts).collect());
    let compiler = Compiler::new(&project, &config);
    let checked = compiler.check(&paths);
    assert!(checked.is_valid(), "{:#?}", checked.diagnostics);
    compiler.emit(&checked, &Templates::default())
}

/// Writes the files of [`built`] to a folder of this name.
fn written(name: &str, manifests: &[(&str, &str)], keys: &str) -> PathBuf {
    let root = folder(name);
    for output in built(manifests, keys).unwrap() {
        let path = root.join(&output.path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert_eq!(content_hash::verify_seal(&output.text), Some(true));
        layoutc_testing::files::write(path, output.text);
    }
    root.join("c")
}

/// Compiles sources with every compiler. Returns the programs of the compilers whose programs are run.
fn programs(folder: &Path, name: &str, sources: &[&str], more: &[&str]) -> Vec<PathBuf> {
    let all = compilers();
    let compile = |(k, compiler): (usize, &CCompiler)| {
        let program = format!("{name}_{k}");
        compiled(folder, &program, sources, more, compiler)
    };
    all.iter().enumerate().filter_map(compile).collect()
}

fn compiled(
    folder: &Path,
    program: &str,
    sources: &[&str],
    more: &[&str],
    (compiler, flags, runs): &CCompiler,
) -> Option<PathBuf> {
    let mut command = Command::new(compiler);
    command.args(flags).args(more);
    if *runs {
        command.args(["-o", program]);
    }
    compile_cache::compile(command.args(sources), folder, runs.then_some(program), &[])
        .unwrap_or_else(|error| panic!("{error}"));
    runs.then(|| folder.join(program))
}

fn ran(program: &Path, arguments: &[&str], threads: &str) -> String {
    output(Command::new(program).args(arguments).env("OMP_NUM_THREADS", threads))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Body of a function.
fn body(text: &str, name: &str) -> String {
    // With block routines, the loops are in the function that is compiled for each processor.
    let by_vectors = text.split_once(&format!("inline void layoutc_{name}("));
    let (_, rest) = by_vectors.or_else(|| text.split_once(&format!("void {name}("))).unwrap();
    rest.split_once("\n}").unwrap().0.to_owned()
}

const SMALL: &str = r#"
symbol rows min=4 max=4096 multiple=4
tensor texture dtype=f32 {
    shape { n 2; h 6; w 5; c 10 }
    layout { map "(n, h, w, c) -> (n, c // 4, h | w, c % 4)" }
}
tensor three dtype=f32 {
    shape { n 3; h rows; c 10 }
    layout { map "(n, h, c) -> (n | c // 4, h | w = c % 4)" }
}
tensor rotated dtype=i16 {
    shape { h 7; w 9 }
    layout { map "(h, w) -> (h, (w - h) % 9)" }
}
tensor turned dtype=u8 {
    shape { h 5; w 12 }
    layout { map "(h, w) -> ((4 - h) // 3, w, (4 - h) % 3)" }
}
tensor shifted dtype=i4 {
    shape { h 5; w 12 }
    layout { map "(h, w) -> ((h - 2 + 3) // 3, w ^ h % 4, (h + 1) % 3)" }
}
tensor one dtype=f64 {
    shape { x 1 }
}
"#;

const MAIN: &str = r"
#include <stdint.h>
#include <stdio.h>
#include TEXTURE

enum { second = TEXTURE_OFFSET(0, 0, 1 + 0, 0), row = TEXTURE_INDEX_0(1, 2, 3, 1 ? 4 : 5) };

static const int64_t table[] = { TEXTURE_OFFSET(1, 5, 4, 9), THREE_OFFSET(8, 2, 7, 9), THREE_INDEX_1(8, 2, 7, 9),
                                 ROTATED_OFFSET(6, 3), ROTATED_OFFSET(3 + 3, 2 | 1) };
static unsigned char room[TURNED_OFFSET(4, 11) + 1];

int main(void) {
    int n = 0;
    room[0] = 1;
    switch (texture_index_0(1, 2, 3, 4)) {
    case TEXTURE_INDEX_0(1, 2, 3, 4):
        break;
    default:
        return 1;
    }
    return !(second == 4 && row == texture_index_0(1, 2, 3, 4) && sizeof room == (size_t)turned_offset(4, 11) + 1
             && table[0] == texture_offset(1, 5, 4, 9) && table[1] == three_offset(8, 2, 7, 9)
             && table[2] == three_index_1(8, 2, 7, 9) && table[3] == rotated_offset(6, 3) && table[4] == table[3]
             && TEXTURE_OFFSET(n + 1, n, 2 - n, n ? 1 : 3) == texture_offset(1, 0, 2, 3));
}
";

#[test]
fn macros_equal_the_functions_and_are_constant_expressions() {
    let folder = written("macros", &[("small.kdl", SMALL)], "macros = true\n");
    for program in programs(&folder, "test", &["tests/small_test.c", "small.c"], &[]) {
        assert_eq!(ran(&program, &[], "1").matches(": ok").count(), 15);
    }
    std::fs::write(folder.join("main.c"), MAIN.replace("TEXTURE\n", "\"small.h\"\n")).unwrap();
    for program in programs(&folder, "main", &["main.c"], &[]) {
        ran(&program, &[], "1");
    }
}

#[test]
fn macros_of_32_bit_indices_compute_in_32_bits() {
    let keys = "macros = true\nindex-type = \"int32_t\"\n";
    let folder = written("macros32", &[("small.kdl", SMALL)], keys);
    for program in programs(&folder, "test", &["tests/small_test.c", "small.c"], &[]) {
        ran(&program, &[], "1");
    }
}

const LARGE: &str = r#"
symbol batch min=1 max=40
tensor rows dtype=f32 {
    shape { n batch; h 30; w 40; c 22 }
}
tensor blocked dtype=f32 like=rows {
    layout { map "(n, h, w, c) -> (n, c // 4, h, w, c % 4)"; fill 1.5 }
}
tensor halo dtype=u16 {
    shape { h 1500; w 1500 }
    layout { map "(h, w) -> (h + 1 : 1502, w + 2 : 1504)" }
}
tensor turned dtype=u16 like=halo {
    layout { map "(h, w) -> (w, h)" }
}
tensor swizzled dtype=u16 like=halo {
    layout { map "(h, w) -> (h, (w - h) % 1500)" }
}
tensor nibbles dtype=i4 {
    shape { h 601; w 1002 }
}
tensor nibble_blocks dtype=i4 like=nibbles {
    layout { map "(h, w) -> (w // 4, h, w % 4)" }
}
tensor nibble_columns dtype=i4 like=nibbles {
    layout { map "(h, w) -> (w, h)" }
}
tensor nibble_halo dtype=i4 like=nibbles {
    layout { map "(h, w) -> (h, w + 1 : 1004)"; fill 3 }
}
tensor nibble_swizzle dtype=u4 {
    shape { h 700; w 999 }
    layout { map "(h, w) -> (h, (w - h) % 999)" }
}
convert rows to=blocked
convert blocked to=rows
convert halo to=turned
convert turned to=swizzled
convert nibbles to=nibble_blocks
convert nibble_columns to=nibble_halo
"#;

#[test]
fn parallel_relayouts_agree_with_the_reference() {
    let folder = written("openmp", &[("large.kdl", LARGE)], "openmp = true\n");
    let sources = ["tests/large_test.c", "large.c"];
    // Without OpenMP, other tests run this code.
    programs(&folder, "serial", &sources, &[]);
    let strict = ["-std=c99", "-pedantic-errors", "-Wall", "-Wextra", "-Wconversion", "-Werror"];
    let gcc = ("gcc", [&strict[..], &["-O2", "-fopenmp"]].concat(), true);
    let program = compiled(&folder, "parallel", &sources, &[], &gcc).unwrap();
    for threads in ["1", "4", "4", "7"] {
        assert_eq!(ran(&program, &[], threads).matches(": ok").count(), 52);
    }
    // Clang's OpenMP library may be missing: only checks the syntax.
    for (compiler, flags) in [("clang", &strict[..]), ("g++", &["-x", "c++", "-Wall", "-Werror"])] {
        let flags = [flags, &["-fopenmp", "-fsyntax-only"]].concat();
        compiled(&folder, "", &["large.c"], &[], &(compiler, flags, false));
    }
}

#[test]
fn only_loops_with_disjoint_writes_are_parallel() {
    let outputs = built(&[("large.kdl", LARGE)], "openmp = true\n").unwrap();
    let source = &outputs.iter().find(|output| output.path == "c/large.c").unwrap().text;
    let loops = |name: &str| -> Vec<String> {
        let body = body(source, name);
        let body = body.replace("omp parallel for", "omp for").replace("for nowait", "for");
        let parts = body.split("#pragma omp for\n#endif\n").skip(1);
        parts.map(|part| part.lines().next().unwrap().trim().to_owned()).collect()
    };
    let rows = "for (int64_t h = 0; h < 601; ++h) {";
    assert_eq!(loops("nibbles_pack"), [""; 0], "a byte may hold elements of two rounds");
    assert_eq!(loops("nibble_blocks_unpack"), [rows]);
    assert_eq!(loops("nibble_columns_pack"), [""; 0], "columns have 601 elements");
    assert_eq!(
        loops("nibble_halo_pack"),
        ["for (int64_t byte = 0; byte < 301702; ++byte) {", rows]
    );
    assert_eq!(loops("nibble_swizzle_pack"), [""; 0], "where an element goes is not known");
    assert_eq!(loops("nibble_columns_to_nibble_halo").len(), 2);
    assert_eq!(loops("swizzled_pack"), ["for (int64_t h = 0; h < 1500; ++h) {"]);
    assert_eq!(
        loops("turned_pack"),
        ["for (int64_t h_block = 0; h_block < 1500; h_block += 512) {"]
    );
    let fill = "for (int64_t slot = 0; slot < batch * 28800; ++slot) {";
    // The full blocks of channels; the last block is too small for a parallel loop.
    let whole = "for (int64_t n = 0; n < batch; ++n) {";
    assert_eq!(loops("blocked_pack"), [fill, whole]);
    assert!(!source.contains("memset"), "zero is filled in by all cores too");
    // Without the key there is no pragma.
    let outputs = built(&[("large.kdl", LARGE)], "").unwrap();
    assert!(outputs.iter().all(|output| !output.text.contains("pragma omp")));
}

#[test]
fn umbrella_header_includes_all_headers_in_order() {
    let manifests = [("b.kdl", "tensor b dtype=f32 {\n    shape { n 3 }\n}\n"), ("x/a.kdl", SMALL)];
    let folder = written("umbrella", &manifests, "umbrella-header = \"./include/all.h\"\n");
    let text = std::fs::read_to_string(folder.join("include/all.h")).unwrap();
    let includes: Vec<&str> = text.lines().filter(|line| line.starts_with("#include")).collect();
    assert_eq!(includes, ["#include \"../b.h\"", "#include \"../x/a.h\""]);
    let main = "#include \"include/all.h\"\n#include \"include/all.h\"\nint main(void) { return (int)b_offset(0) + (int)one_offset(0); }\n";
    std::fs::write(folder.join("main.c"), main).unwrap();
    for program in programs(&folder, "main", &["main.c"], &[]) {
        ran(&program, &[], "1");
    }
}

#[test]
fn bench_times_every_routine_and_skips_huge_tensors() {
    let text = format!(
        "{SMALL}
tensor empty dtype=f32 {{
    shape {{ n 0 }}
}}
tensor huge dtype=f32 {{
    shape {{ n 65536; m 65536 }}
}}
tensor copy dtype=f32 like=texture {{
    layout {{ order n c h w }}
}}
convert texture to=copy
"
    );
    let folder = written("bench", &[("a.kdl", &text)], "emit = [\"bench\"]\n");
    for (compiler, program) in
        programs(&folder, "bench", &["bench/a_bench.c", "a.c"], &[]).iter().enumerate()
    {
        let printed = ran(program, &["0.001"], "1");
        let lines: Vec<&str> = printed.lines().collect();
        assert_eq!(lines.len(), 20, "{compiler}: {printed}");
        assert!(lines[3].starts_with("three_pack at rows = 4096 "), "{printed}");
        assert!(lines[3].contains(" 0.47 ") && lines[3].contains('%'), "{printed}");
        assert!(lines[13].ends_with("not run: it has no elements"), "{printed}");
        let huge = "not run: a buffer of 17179869184 bytes, the most are 1073741824";
        assert!(lines[15].ends_with(huge), "{printed}");
        assert!(lines[19].starts_with("texture_to_copy "), "{printed}");
        let printed = ran(program, &["0.001", "json", "huge_p", "three_unpack", "to_copy"], "1");
        let lines: Vec<serde_json::Value> =
            printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 3, "{compiler}: {printed}");
        assert!(
            lines[0]["bytes"] == 491_520 && lines[0]["of_memcpy"].as_f64() > Some(0.0),
            "{printed}"
        );
        assert_eq!(lines[1]["not_run"], huge.strip_prefix("not run: ").unwrap());
        assert!(lines[2]["gb_per_second"].as_f64() > Some(0.0), "{printed}");
    }
    let named = ["a.h", "a.c", "bench/a_bench.c"].map(|name| format!("c/{name}"));
    let outputs = built(&[("a.kdl", &text)], "emit = [\"bench\"]\n").unwrap();
    assert_eq!(outputs.into_iter().map(|output| output.path).collect::<Vec<_>>(), named);
}

/// Runs the test program of a source under gcc's race detector, with adjacent iterations on different threads. Returns
/// true if it passed, and the number of races; `None` if gcc has no race detector.
fn races(folder: &Path, name: &str, source: &str) -> Option<(bool, usize)> {
    let by_turns = source.replace("#pragma omp for", "#pragma omp for schedule(static, 1)");
    let by_turns = by_turns.replace("omp parallel for", "omp parallel for schedule(static, 1)");
    std::fs::write(folder.join(format!("{name}.c")), by_turns).unwrap();
    let gcc = |arguments: &[&str]| {
        let mut command = Command::new("gcc");
        command.args(["-O1", "-g", "-fsanitize=thread"]).args(arguments).current_dir(folder);
        command.output().is_ok_and(|output| output.status.success())
    };
    let threads = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/openmp.c");
    let object = format!("{name}.o");
    let is_built = gcc(&["-fopenmp", "-c", &format!("{name}.c")])
        && gcc(&["-pthread", "-o", name, &object, "tests/large_test.c", threads, "-lm"]);
    let ran = is_available(is_built, "gcc's race detector")
        .then(|| Command::new(folder.join(name)).output().unwrap())?;
    let (errors, printed) = (ran.stderr, String::from_utf8_lossy(&ran.stdout).into_owned());
    let seen =
        String::from_utf8_lossy(&errors).matches("WARNING: ThreadSanitizer: data race").count();
    Some((printed.contains(": ok") && !printed.contains(" at ("), seen))
}

#[test]
fn race_detector_finds_only_injected_races_in_loops() {
    // Tensors whose elements share bytes.
    let (_, packed) = LARGE.split_once("tensor nibbles").unwrap();
    let others = |line: &&str| {
        !["rows", "halo", "blocked", "turned"]
            .iter()
            .any(|name| line.starts_with(&format!("convert {name} ")))
    };
    let packed: Vec<&str> = packed.lines().filter(others).collect();
    let manifest = format!("tensor nibbles{}", packed.join("\n"));
    let folder = written("races", &[("large.kdl", &manifest)], "openmp = true\n");
    let source = std::fs::read_to_string(folder.join("large.c")).unwrap();
    let Some(found) = races(&folder, "as_it_is", &source) else { return };
    assert_eq!(found, (true, 0));
    let (before, after) = source.split_once("void nibbles_pack(").unwrap();
    let marked = after.replacen("    for (", "#pragma omp parallel for\n    for (", 1);
    let marked = format!("{before}void nibbles_pack({marked}");
    // A race need not corrupt an element.
    let (_, seen) = races(&folder, "by_hand", &marked).unwrap();
    assert!(seen > 0);
}

/// Functions with one parallel region: relayouts with padding, shared staging buffers of operands and of the output,
/// intermediates, statements without a parallel loop, worksharing loops inside other loops.
const TEAMS: &str = r#"
tensor wide dtype=f32 {
    shape { c 1030; s 1027 }
    layout { tile 64 64; fill 2.0 }
}
tensor tall dtype=f32 {
    shape { c 1030; s 1027 }
    layout { order s c }
}
convert wide to=tall
tensor a dtype=f32 {
    shape { i 40; k 70 }
}
tensor b dtype=f32 {
    shape { k 70; j 90 }
}
tensor c dtype=f32 {
    shape { i 40; j 90 }
    layout { order i j; pad i multiple=16; pad j multiple=32; fill 0 }
}
tensor d dtype=f32 {
    shape { j 90 }
}
tensor e dtype=f32 {
    shape { i 40; j 90 }
}
kernel product {
    operands A B C
    compute "C[i, j] += A[i, k] * B[k, j]"
}
kernel chain {
    operands A B D E
    local m dtype=f32
    local t dtype=f32
    compute "t[i, j] += A[i, k] * B[k, j]"
    compute "m[j] = 2 * D[j]"
    compute "E[i, j] = t[i, j] - m[j]"
    parallel i
}
instance planned of=product A=a B=b C=c {
    parallel i
}
instance staged of=product A=a B=b C=c {
    tile i j by="4 16"
    loops j_outer i_outer k i_inner j_inner
    parallel i_outer
    cache B at=j_outer
}
instance gathered of=product A=a B=b C=e {
    tile i j by="8 30"
    loops j_outer i_outer i_inner k j_inner
    parallel i_inner
    cache A at=i_outer
    cache C at=i_outer
}
instance chained of=chain A=a B=b D=d E=e
tensor total dtype=f32 {
    shape { }
}
kernel scalar_too {
    operands A B D E Z
    compute "Z[] += sqrt(D[q])"
    compute "E[i, j] += A[i, k] * B[k, j]"
    parallel i
}
instance scalars of=scalar_too A=a B=b D=d E=e Z=total
kernel twice {
    operands A B E F
    compute "E[i, j] += A[i, k] * B[k, j]"
    compute "F[i, j] = E[i, j] * 2"
    tile i j by="8 30"
    parallel j_outer
    cache E at=i_outer
}
instance two of=twice A=a B=b E=e F=f
tensor f like=e
tensor few dtype=f32 {
    shape { i 2; k 70 }
    layout { order k i }
}
tensor few_sums dtype=f32 {
    shape { i 2; j 90 }
}
// With some vectors no loop is left that may be shared.
instance small of=product A=few B=b C=few_sums {
    parallel j
}
"#;

#[test]
fn race_detector_finds_only_missing_barriers_in_regions() {
    let folder = written("teams", &[("large.kdl", TEAMS)], "openmp = true\n");
    let source = std::fs::read_to_string(folder.join("large.c")).unwrap();
    assert!(!source.contains("omp parallel for"), "all are compiled for each length of vectors");
    assert!(source.contains("#pragma omp single\n") && source.contains("copyprivate("), "{source}");
    let gcc = ("gcc", vec!["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2", "-fopenmp"], true);
    let program =
        compiled(&folder, "threads", &["tests/large_test.c", "large.c", "-lm"], &[], &gcc).unwrap();
    for threads in ["1", "3", "8"] {
        assert!(!ran(&program, &[], threads).contains(" at ("));
    }
    for (compiler, language) in [("clang", "c"), ("g++", "c++")] {
        let flags = vec!["-x", language, "-Wall", "-Werror", "-fopenmp", "-fsyntax-only"];
        compiled(&folder, "", &["large.c"], &[], &(compiler, flags, false));
    }
    let Some(found) = races(&folder, "as_it_is", &source) else { return };
    assert_eq!(found, (true, 0));
    assert!(source.contains("#pragma omp for nowait\n"), "{source}");
    let hasty = source.replace("#pragma omp for\n", "#pragma omp for nowait\n");
    let (_, seen) = races(&folder, "hasty", &hasty).unwrap();
    assert!(seen > 0);
}
