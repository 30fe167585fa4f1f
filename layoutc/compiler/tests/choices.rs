//! Schedules of conversions (the block of `convert`): each choice takes effect in the generated code and passes the
//! generated test program, or is rejected with a reason.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that reads the layouts of a benchmark"
)]

use crate::common;
use common::cc::run;
use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::config::Config;
use layoutc_compiler::emit::{Settings, Templates, emit};
use layoutc_compiler::model::Manifest;
use layoutc_compiler::plan::Cores;
use layoutc_compiler::query::inspect::{PlanTargets, plans};
use layoutc_compiler::{Compiler, MemorySources};

/// Plans for C on one core.
const C: PlanTargets<'_> = PlanTargets { cores: Cores::One, gpus: &[] };

const TENSORS: &str = "\
    tensor plain dtype=f32 { shape { n 3; c 37; h 9; w 20 } }\n\
    tensor last like=plain { layout { order n h w c } }\n\
    tensor blocked like=plain { layout { split c by=16; order n c_outer h w c_inner; fill 7 } }\n\
    tensor zeroed like=plain { layout { split c by=8; order n c_outer h w c_inner } }\n\
    tensor tiled like=plain { layout { tile 4 8; padding allow; fill 1 } }\n\
    tensor rows like=plain { layout { order h n c w } }\n\
    tensor small like=plain { layout { split c by=4; order n c_outer h w c_inner } }\n";

fn checked(convert: &str) -> Result<Manifest, Vec<Diagnostic>> {
    let sources = MemorySources::of("a.kdl", format!("{TENSORS}{convert}\n"));
    let checked = Compiler::new(&sources, &Config::default()).check(&["a.kdl".to_owned()]);
    let manifest = checked.manifests.into_iter().next().unwrap();
    if checked.diagnostics.is_empty() { Ok(manifest) } else { Err(checked.diagnostics) }
}

fn source(convert: &str) -> Result<String, Vec<Diagnostic>> {
    let files = emit(&checked(convert)?, &Settings::c(), "a", &Templates::default())?;
    Ok(files.into_iter().find(|file| file.path == "a.c").unwrap().text)
}

/// Body of the conversion function.
fn body(convert: &str) -> String {
    let text = source(convert).unwrap();
    let (from, to) = convert.split_once(" to=").unwrap();
    let from = from.strip_prefix("convert ").unwrap();
    let to = to.split(' ').next().unwrap();
    // With block routines, the loops are in the function that is compiled for each processor.
    let by_vectors = text.find(&format!("inline void layoutc_{from}_to_{to}("));
    let start = by_vectors.or_else(|| text.find(&format!("void {from}_to_{to}("))).unwrap();
    text[start..].split("\n}").next().unwrap().to_owned()
}

const PAIRS: &[&str] = &[
    "plain to=last",
    "last to=plain",
    "plain to=blocked",
    "blocked to=zeroed",
    "zeroed to=blocked",
    "plain to=tiled",
    "tiled to=last",
    "plain to=rows",
    "small to=last",
    "small to=blocked",
];

const RESTS: &[&str] = &["", "stores streaming", "stores cached", "fill first", "fill borders"];

#[test]
fn conversion_schedules_are_equivalent_or_refused() {
    let mut followed = 0;
    let mut refused = 0;
    let mut converts: Vec<Vec<String>> = Vec::new();
    for pair in PAIRS {
        let mut of_pair = Vec::new();
        for inside in ["", "inside elements", "inside runs", "inside blocks"] {
            for block in ["", "block 7 5"] {
                for rest in RESTS {
                    let choices =
                        [inside, block, rest].map(|choice| format!("{choice}; ")).concat();
                    let choices = choices.replace("; ; ", "; ");
                    let convert =
                        format!("convert {pair} {{ {} }}", choices.trim_start_matches("; "));
                    match source(&convert) {
                        Ok(_) => of_pair.push(convert),
                        Err(faults) => {
                            assert!(
                                faults.iter().all(|f| f.code.id() == "limit::choice"),
                                "{convert}: {faults:#?}"
                            );
                            refused += 1;
                        }
                    }
                }
            }
        }
        followed += of_pair.len();
        converts.push(of_pair);
    }
    assert!(followed > 150 && refused > 100, "{followed} followed, {refused} refused");
    // Each program has one choice per pair.
    let most = converts.iter().map(Vec::len).max().unwrap();
    for k in 0..most {
        let chosen: Vec<&str> = converts
            .iter()
            .zip(0..)
            .filter_map(|(of_pair, pair)| {
                of_pair.get((k + 5 * pair) % of_pair.len()).map(String::as_str)
            })
            .collect();
        run(&format!("choices_{k}"), &checked(&chosen.join("\n")).unwrap());
    }
}

#[test]
fn conversion_schedule_changes_the_code() {
    let free = body("convert plain to=last");
    assert!(free.contains("layoutc_transpose_cached_4"), "{free}");
    let elements = body("convert plain to=last { inside elements }");
    assert!(!elements.contains("layoutc_transpose"), "{elements}");
    let sized = body("convert plain to=last { block 8 16 }");
    assert!(sized.contains("c_block += 8") && sized.contains("h_w_block += 16"), "{sized}");
    let cached = body("convert plain to=last { stores cached }");
    let streamed = body("convert plain to=last { stores streaming }");
    assert!(streamed.contains(", -1)") && !cached.contains(", -1)"), "{streamed}");
    let tensors = "tensor same like=plain {}\n";
    let whole = source(&format!("{tensors}convert plain to=same {{ stores streaming }}")).unwrap();
    assert!(whole.contains("79920, -1)"), "one run is past the caches too: {whole}");
    let runs = body("convert plain to=rows { inside runs }");
    assert!(runs.contains("layoutc_copy_runs"), "{runs}");
    let first = body("convert plain to=blocked { fill first }");
    let alone = body("convert plain to=blocked { fill borders }");
    assert!(first.contains("slot < 25920") && !alone.contains("slot < 25920"), "{first}{alone}");
}

#[test]
fn loops_follow_the_requested_order() {
    let loops = |convert: &str| {
        let manifest = checked(convert).unwrap();
        let tensor = manifest.tensors.iter().find(|tensor| tensor.name == "plain").unwrap();
        let plans = plans(&manifest, tensor, C).unwrap();
        let json = plans.last().unwrap().json();
        let levels = json["parts"][0]["loops"].as_array().unwrap().clone();
        levels.iter().map(|level| level["digit"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(loops("convert plain to=blocked"), ["n", "c_outer"]);
    assert_eq!(loops("convert plain to=blocked { order c_outer }"), ["c_outer", "n"]);
    let elements = "convert plain to=blocked { inside elements; order h_w c_inner }";
    assert_eq!(loops(elements), ["h_w", "c_inner", "n", "c_outer"]);
    let elements = "convert plain to=last { inside elements; order h_w c }";
    assert_eq!(loops(elements), ["h_w", "c", "n"]);
    let elements = "convert plain to=last { inside elements; block 4 8 }";
    assert_eq!(loops(elements), ["n", "h_w", "c", "h_w", "c"]);
}

/// Text of the plan of a conversion.
fn plan_text(manifest: &Manifest, tensor: &str) -> String {
    let tensor = manifest.tensors.iter().find(|other| other.name == tensor).unwrap();
    plans(manifest, tensor, C).unwrap().last().unwrap().text()
}

#[test]
fn plan_text_reports_actual_decisions() {
    // Element loops use cached stores.
    let elements =
        plan_text(&checked("convert plain to=last { inside elements }").unwrap(), "plain");
    assert!(elements.contains("stores          cached"), "{elements}");
    let own = "symbol rows min=1 max=512\nsymbol lda min=64 max=4096 multiple=64\n\
               tensor a dtype=f32 { shape { m rows; k 64 } }\n\
               tensor b like=a { layout { padding allow; strides lda 1 } }\nconvert a to=b\n";
    let checked = Compiler::new(&MemorySources::of("a.kdl", own), &Config::default())
        .check(&["a.kdl".to_owned()]);
    assert_eq!(checked.diagnostics, []);
    let text = plan_text(&checked.manifests[0], "a");
    assert!(text.contains("m rows: stride 64 to lda"), "{text}");
}

#[test]
fn fused_loops_have_unique_names() {
    let own = "tensor a dtype=f32 { shape { h_w 3; h 4; w 5; c 6 } }\n\
               tensor b like=a { layout { order h w h_w c } }\n\
               convert a to=b { inside elements; order h_w_2 h_w }\n";
    let checked = Compiler::new(&MemorySources::of("a.kdl", own), &Config::default())
        .check(&["a.kdl".to_owned()]);
    assert_eq!(checked.diagnostics, []);
    let text = plan_text(&checked.manifests[0], "a");
    assert!(text.contains("h_w 3: stride 120 to 6") && text.contains("h_w_2 20"), "{text}");
    assert!(text.contains("loops           h_w_2, h_w, c"), "{text}");
}

/// Directives of the report on the last relayout of `tensor`, which is a conversion; `None` if it has no plan.
fn printed_schedule(manifest: &Manifest, tensor: &str) -> Option<String> {
    let tensor = manifest.tensors.iter().find(|other| other.name == tensor).unwrap();
    let report = plans(manifest, tensor, C).unwrap().pop().unwrap().json();
    let lines = report["schedule"].as_array()?;
    Some(lines.iter().map(|line| line.as_str().unwrap()).collect::<Vec<_>>().join("; "))
}

/// Generated functions of a conversion of a manifest, without the comment that names the manifest.
fn functions(text: &str) -> String {
    let sources = MemorySources::of("a.kdl", text);
    let checked = Compiler::new(&sources, &Config::default()).check(&["a.kdl".to_owned()]);
    assert_eq!(checked.diagnostics, [], "{text}");
    let files = emit(&checked.manifests[0], &Settings::c(), "a", &Templates::default()).unwrap();
    let source = files.into_iter().find(|file| file.path == "a.c").unwrap().text;
    let is_code = |line: &&str| !line.contains("layoutc-hash") && !line.contains("STAMP");
    source.lines().filter(is_code).collect::<Vec<_>>().join("\n")
}

/// Checks that a conversion has the same code with the schedule that the report prints. Returns that schedule.
fn assert_schedule_is_complete(tensors: &str, from: &str, to: &str) -> Option<String> {
    let plain = format!("{tensors}convert {from} to={to}\n");
    let sources = MemorySources::of("a.kdl", plain.as_str());
    let checked = Compiler::new(&sources, &Config::default()).check(&["a.kdl".to_owned()]);
    assert_eq!(checked.diagnostics, [], "{plain}");
    let schedule = printed_schedule(&checked.manifests[0], from)?;
    let scheduled = format!("{tensors}convert {from} to={to} {{ {schedule} }}\n");
    assert_eq!(functions(&scheduled), functions(&plain), "{scheduled}");
    Some(schedule)
}

#[test]
fn printed_conversion_schedules_give_the_same_code() {
    for pair in PAIRS {
        let (from, to) = pair.split_once(" to=").unwrap();
        assert_schedule_is_complete(TENSORS, from, to);
    }
    // Layouts of the benchmarks, from and to the row-major tensor.
    let bench =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/conversion/layouts");
    let (mut printed, mut with_kind) = (0, 0);
    for file in std::fs::read_dir(bench).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let Some(name) = text.split("tensor ").nth(1).and_then(|rest| rest.split(' ').next())
        else {
            continue;
        };
        let tensors = format!("{text}\ntensor row_major like={name}\n");
        for (from, to) in [("row_major", name), (name, "row_major")] {
            let schedule = assert_schedule_is_complete(&tensors, from, to);
            printed += usize::from(schedule.is_some());
            with_kind += usize::from(schedule.is_some_and(|own| own.contains("inside")));
        }
    }
    assert!(printed > 60 && with_kind > 60, "{printed} {with_kind}");
}

#[test]
fn schedules_of_edited_conversions_are_printed_again() {
    let tensors = "tensor first dtype=f32 { shape { n 8; m 8; c 4; w 16 } }\n\
                   tensor second like=first { layout { order m n w c } }\n";
    for block in ["block 2 8", "block 4 8", "block 4 2", "block 1 1"] {
        let text = format!("{tensors}convert first to=second {{ inside elements; {block} }}\n");
        let sources = MemorySources::of("a.kdl", text.as_str());
        let checked = Compiler::new(&sources, &Config::default()).check(&["a.kdl".to_owned()]);
        let printed = printed_schedule(&checked.manifests[0], "first").expect(&text);
        let again = format!("{tensors}convert first to=second {{ {printed} }}\n");
        assert_eq!(functions(&again), functions(&text), "{again}");
    }
}

#[test]
fn printed_schedules_of_random_conversions_give_the_same_code() {
    let mut random = layoutc_testing::random::Random::new(20_261_130);
    let mut pick = |below: u64| random.below(below);
    let mut layouts = 0;
    for _ in 0..layoutc_testing::campaign::cases(150, 1_200) {
        let rank = 2 + pick(3);
        let axes: Vec<char> = "abcd".chars().take(usize::try_from(rank).unwrap()).collect();
        let extents: Vec<u64> = axes.iter().map(|_| 1 + pick(40)).collect();
        let shape: Vec<String> =
            axes.iter().zip(&extents).map(|(axis, extent)| format!("{axis} {extent}")).collect();
        let shape = shape.join("; ");
        let dtype = ["f32", "u8", "bf16", "f64", "i4"][usize::try_from(pick(5)).unwrap()];
        let mut layout = |name: &str| {
            let mut parts: Vec<String> = Vec::new();
            let mut steps = String::new();
            for axis in &axes {
                if pick(3) == 0 {
                    let by = [2, 3, 4, 8, 16][usize::try_from(pick(5)).unwrap()];
                    steps.push_str(&format!("split {axis} by={by}; "));
                    parts.extend([format!("{axis}_outer"), format!("{axis}_inner")]);
                } else {
                    parts.push(axis.to_string());
                }
            }
            for k in (1..parts.len()).rev() {
                parts.swap(k, usize::try_from(pick(u64::try_from(k + 1).unwrap())).unwrap());
            }
            let order = parts.join(" ");
            format!(
                "tensor {name} dtype={dtype} {{ shape {{ {shape} }}; layout {{ {steps}order {order}; padding allow }} }}\n"
            )
        };
        let tensors = layout("first") + &layout("second");
        layouts += usize::from(assert_schedule_is_complete(&tensors, "first", "second").is_some());
    }
    assert!(layouts > 100, "{layouts}");
}
