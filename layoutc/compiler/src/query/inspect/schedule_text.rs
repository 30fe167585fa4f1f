//! Text of complete schedules: the `schedule` nodes that a manifest can contain.

use crate::machine::VectorIsa;
use crate::model::Spanned;
use crate::model::compute::{
    BufferRef, Fuse, KernelInstance, LoopStep, Split, StatementSchedule, TileCache,
};

/// Lines of the `schedule` nodes of an instance. `long` has the schedules for AVX-512 and `short` those for AVX2, one
/// for each statement, in order; `None` for a statement without a complete schedule, which gets no node. If both
/// schedules of a statement are equal, it gets one node without `machine`.
pub(super) fn lines(
    compute: &KernelInstance,
    [long, short]: [&[Option<StatementSchedule>]; 2],
) -> Vec<String> {
    let mut all = Vec::new();
    let numbered = compute.statements.iter().filter(|statement| statement.numbers.is_some());
    let is_only = numbered.count() == 1;
    for (statement, schedules) in compute.statements.iter().zip(long.iter().zip(short)) {
        let (Some(long), Some(short)) = schedules else { continue };
        let Some([_, number]) = statement.numbers else { continue };
        let [of_long, of_short] = [long, short].map(|schedule| directives(compute, schedule));
        let nodes = if of_long == of_short {
            vec![(None, of_long)]
        } else {
            vec![(Some(VectorIsa::Avx512), of_long), (Some(VectorIsa::Avx2), of_short)]
        };
        for (isa, directives) in nodes {
            let mut head = "schedule".to_owned();
            if let Some(isa) = isa {
                head.push_str(&format!(" machine={}", isa.name()));
            }
            if !is_only {
                head.push_str(&format!(" statement={number}"));
            }
            all.push(format!("{head} {{"));
            all.extend(directives.into_iter().map(|line| format!("    {line}")));
            all.push("}".to_owned());
        }
    }
    all
}

/// Lines of the directives of a schedule, one for each directive.
fn directives(compute: &KernelInstance, schedule: &StatementSchedule) -> Vec<String> {
    let mut all: Vec<String> = schedule.steps.iter().map(step).collect();
    let list = |word: &str, names: &[Spanned<String>]| {
        let names: Vec<&str> = names.iter().map(|name| name.value.as_str()).collect();
        (!names.is_empty()).then(|| format!("{word} {}", names.join(" ")))
    };
    let one = |word: &str, name: &Option<Spanned<String>>| {
        name.as_ref().map(|name| format!("{word} {}", name.value))
    };
    all.extend(list("loops", &schedule.loops));
    all.extend(one("split-k", &schedule.split_k));
    all.extend(one("partial-sums", &schedule.partial_sums));
    all.extend(list("unroll", &schedule.unroll));
    all.extend(list("parallel", &schedule.parallel));
    all.extend(schedule.caches.iter().map(|tile| cache(compute, tile)));
    all
}

fn step(step: &LoopStep) -> String {
    match step {
        LoopStep::Split(Split { axis, by, .. }) => format!("split {} by={by}", axis.value),
        LoopStep::Fuse(Fuse { outer, inner, name }) => {
            format!("fuse {} {} as={name}", outer.value, inner.value)
        }
    }
}

/// Line of the `cache` node of a tile: `cache B at=j_outer { layout { order ... j } }`.
fn cache(compute: &KernelInstance, tile: &TileCache) -> String {
    let name = match tile.buffer {
        BufferRef::Operand(k) => compute.operands.get(k).map(|operand| &operand.name),
        BufferRef::Local(k) => compute.locals.get(k).map(|local| &local.name),
    };
    let name = name.map_or("", String::as_str);
    let double = if tile.is_double { " double=#true" } else { "" };
    let mut parts = Vec::new();
    if !tile.block.steps.is_empty() {
        parts.push(format!("layout {{ {} }}", tile.block.steps.join("; ")));
    }
    if !tile.is_shared {
        parts.push("memory local".to_owned());
    }
    let block =
        if parts.is_empty() { String::new() } else { format!(" {{ {} }}", parts.join("; ")) };
    format!("cache {name} at={}{double}{block}", tile.at.value)
}
