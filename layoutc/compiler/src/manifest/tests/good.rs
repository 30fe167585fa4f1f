//! Tests of the typed syntax of valid manifests.

use super::sweep::FULL;
use super::{good, read};
use crate::manifest::syntax::{
    Extent, FillLiteral, GateKind, IntegerExpr, Memory, MemoryKind, NibbleOrder, PaddingRule,
    ScheduleKind, SeparatorItem, StepKind, TileEntry,
};

/// Part of the manifest `text` at the span of the integer expression `bound`.
fn bound<'t>(text: &'t str, bound: &IntegerExpr) -> &'t str {
    &text[bound.span()]
}

#[test]
fn every_item_is_read() {
    let manifest = good(FULL);
    assert_eq!(manifest.uses[0].path.value, "common.kdl");
    assert_eq!(&FULL[manifest.uses[0].path.span.clone()], "common.kdl");
    assert_eq!(manifest.consts[0].name.value, "LANES");
    assert!(matches!(&manifest.consts[0].value, IntegerExpr::Integer(number) if number.value == 4));
    assert_eq!(bound(FULL, &manifest.consts[1].value), "LANES * 2");
    let symbol = &manifest.symbols[0];
    let facts = [&symbol.min, &symbol.max, &symbol.multiple];
    let facts = facts.map(|fact| bound(FULL, fact.as_ref().unwrap()));
    assert_eq!(facts, ["1", "4096", "LANES"]);
    let transform = &manifest.transforms[0];
    assert_eq!((transform.name.value.as_str(), transform.steps.len()), ("blocked", 1));
    assert_eq!(transform.parameters[0].0.value, "block");
    assert_eq!(transform.parameters[0].1.value, 16);
    let convert = &manifest.converts[0];
    assert_eq!((convert.from.value.as_str(), convert.to.value.as_str()), ("input", "other"));
    assert_eq!(&FULL[convert.span.clone()], "convert input to=other");
}

#[test]
fn every_tensor_property_is_parsed() {
    let manifest = good(FULL);
    let names: Vec<_> = manifest.tensors.iter().map(|t| t.name.value.as_str()).collect();
    assert_eq!(names, ["input", "other"]);
    let tensor = &manifest.tensors[0];
    assert_eq!(tensor.dtype.as_ref().unwrap().value, "f32");
    let targets = tensor.targets.as_ref().unwrap();
    assert_eq!(targets.iter().map(|t| &FULL[t.span.clone()]).collect::<Vec<_>>(), ["c", "opencl"]);
    assert_eq!(tensor.nibbles, Some(NibbleOrder::HighFirst));
    let axes = &tensor.shape.as_ref().unwrap().axes;
    assert_eq!(
        axes.iter().map(|a| a.name.value.as_str()).collect::<Vec<_>>(),
        ["n", "h", "rgb", "c"]
    );
    assert!(matches!(&axes[2].extent, Extent::Labels(labels) if labels[2].value == "b"));
    assert!(matches!(&axes[3].extent, Extent::Bound(b) if bound(FULL, b) == "LANES * 2"));
    let layout = tensor.layout.as_ref().unwrap();
    let StepKind::Apply { name, arguments } = &layout.steps[0].kind else { panic!("no apply") };
    assert_eq!((name.value.as_str(), arguments[0].0.value.as_str()), ("blocked", "block"));
    assert_eq!(&FULL[layout.steps[0].span.clone()], "layout blocked block=8");
    let memory = tensor.memory.as_ref().unwrap();
    assert_eq!(memory.kind, MemoryKind::Kind(Memory::Image2d));
    assert_eq!(memory.access.as_ref().unwrap().value, "read");
    assert_eq!(manifest.tensors[1].like.as_ref().unwrap().value, "input");
}

#[test]
fn constraints_and_memory_spaces_are_parsed() {
    let manifest = good(FULL);
    let space = &manifest.memory_spaces[0];
    assert!(matches!(&space.bytes, Some(IntegerExpr::Integer(bytes)) if bytes.value == 3 << 19));
    assert!(matches!(&space.align, Some(IntegerExpr::Integer(align)) if align.value == 512));
    assert_eq!((space.name.value.as_str(), space.xla.as_ref().unwrap().value), ("vmem", 1));
    let memory = manifest.tensors[1].memory.as_ref().unwrap();
    assert!(matches!(&memory.kind, MemoryKind::Space(name) if name.value == "vmem"));
    let gates = &manifest.tensors[0].gates;
    let words: Vec<&str> = gates.iter().map(|gate| &FULL[gate.span.clone()]).collect();
    let all = ["bijective", "contiguous c", "padding-below=0.10", "bytes-below=\"64 MiB\""];
    assert_eq!(words[..4], all);
    assert_eq!(words[4..], ["vector=LANES", "fits", "same-as=other"]);
    assert!(matches!(&gates[2].kind, GateKind::PaddingBelow(share)
        if (share.digits, share.places) == (1, 1)));
    assert!(matches!(&gates[3].kind, GateKind::BytesBelow(IntegerExpr::Integer(bytes))
        if bytes.value == 64 << 20));
}

#[test]
fn every_step_is_read() {
    let manifest = good(FULL);
    let steps = &manifest.tensors[1].layout.as_ref().unwrap().steps;
    let kinds: Vec<_> = steps.iter().map(|step| &step.kind).collect();
    let words = |bounds: &[IntegerExpr]| bounds.iter().map(|b| bound(FULL, b)).collect::<Vec<_>>();
    assert_eq!(kinds.len(), 17);
    assert!(matches!(kinds[0], StepKind::Map(text)
        if text.quoted && FULL[text.span.clone()] == *"(n, h, rgb, c) -> (n, h | rgb, c)"));
    assert!(matches!(kinds[1], StepKind::Apply { name, arguments }
        if name.value == "blocked" && bound(FULL, &arguments[0].1) == "LANES"));
    assert!(matches!(kinds[2], StepKind::Order(axes)
        if axes.iter().map(|a| a.value.as_str()).eq(["n", "...", "c"])));
    assert!(matches!(kinds[3], StepKind::Split { axis, into, by }
        if axis.value == "c" && into.is_empty() && words(by) == ["4"]));
    assert!(matches!(kinds[4], StepKind::Split { into, by, .. }
        if into.iter().map(|n| &FULL[n.span.clone()]).eq(["ho", "hm", "hi"])
            && words(by) == ["4", "LANES"] && matches!(by[0], IntegerExpr::Integer(_))));
    assert!(matches!(kinds[5], StepKind::Fuse { axes, into: Some(into) }
        if axes.len() == 2 && into.value == "hf"));
    assert!(matches!(kinds[6], StepKind::Tile { entries, names }
        if matches!(&entries[..], [TileEntry::Extent(_), TileEntry::Star(star), TileEntry::Extent(_)]
            if FULL[star.clone()] == *"*") && names.len() == 4));
    assert!(
        matches!(kinds[7], StepKind::PadMultiple { multiple, .. } if bound(FULL, multiple) == "8")
    );
    assert!(
        matches!(kinds[8], StepKind::PadBeforeAfter { before: Some(before), after: Some(after), .. }
        if bound(FULL, before) == "1" && bound(FULL, after) == "-1")
    );
    assert!(matches!(kinds[9], StepKind::Strides(strides) if words(strides) == ["1056", "1"]));
    assert!(matches!(kinds[10], StepKind::AlignBase(bytes) if bound(FULL, bytes) == "64"));
    assert!(matches!(kinds[11], StepKind::AlignAxis { axis, .. } if axis.value == "h"));
    assert!(matches!(kinds[12], StepKind::AlignOrigin(_)));
    assert!(matches!(kinds[13], StepKind::Fill(fill) if fill.value == FillLiteral::Nothing));
    assert!(matches!(kinds[14], StepKind::Fill(fill) if fill.value == FillLiteral::Float(-1.5)));
    assert!(matches!(kinds[15], StepKind::Padding(PaddingRule::Forbid)));
    assert!(matches!(kinds[16], StepKind::Separators(items)
        if matches!(&items[..], [SeparatorItem::Name(_), SeparatorItem::Position(p)] if p.value == 2)));
}

#[test]
fn empty_manifest_and_empty_shape_are_valid() {
    assert_eq!(good("").tensors.len(), 0);
    let manifest = good("tensor a dtype=f32 { shape {}; layout {} }");
    assert_eq!(manifest.tensors[0].shape.as_ref().unwrap().axes.len(), 0);
    assert_eq!(manifest.tensors[0].layout.as_ref().unwrap().steps.len(), 0);
}

#[test]
fn byte_order_mark_shifts_spans_by_three_bytes() {
    let text = "\u{feff}tensor a dtype=f32 { shape { n 4 } }";
    assert_eq!(good(text).tensors[0].name.span, 10..11);
}

#[test]
fn line_endings_parse_like_lf() {
    for end in ["\r\n", "\r", "\u{85}", "\u{2028}"] {
        let text = FULL.replace('\n', end);
        let (manifest, plain) = (good(&text), good(FULL));
        assert_eq!(manifest.tensors.len(), plain.tensors.len());
        let steps = |m: &super::ManifestSyntax| m.tensors[1].layout.as_ref().unwrap().steps.len();
        assert_eq!(steps(&manifest), steps(&plain));
        assert_eq!(&text[manifest.converts[0].span.clone()], "convert input to=other");
    }
}

#[test]
fn a_line_may_be_continued() {
    let manifest = good("tensor a \\ // why\n  dtype=f32 { shape { n \\\r\n 4 } }");
    assert_eq!(manifest.tensors[0].shape.as_ref().unwrap().axes.len(), 1);
}

#[test]
fn slash_dash_removes_nodes_arguments_properties_and_blocks() {
    let text = "/- tensor x { shape { n=1 } }\ntensor a /-dtype=f16 dtype=f32 /-{ x } { shape { /-n 4; c /-3 4 } /-{ q } }\n/-\ntensor y";
    let manifest = good(text);
    assert_eq!(manifest.tensors.len(), 1);
    assert_eq!(manifest.tensors[0].dtype.as_ref().unwrap().value, "f32");
    assert_eq!(manifest.tensors[0].shape.as_ref().unwrap().axes.len(), 1);
}

#[test]
fn invalid_items_are_named_and_valid_ones_kept() {
    let (manifest, faults) = read(
        "const A 1.5\ntensor bad dtype=f32 { shape { n -1 } }\ntensor ok dtype=f32 { shape { n 1 } }\ntensor worse dtype=true { shape { n 1 } }\nconvert bad to=ok\n",
    );
    assert_eq!(faults.len(), 3);
    assert_eq!(manifest.tensors.len(), 1);
    assert_eq!(manifest.converts.len(), 1);
    let broken: Vec<_> = manifest.broken.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(broken, ["A", "bad", "worse"]);
    assert!(!manifest.torn);
}

#[test]
fn unclosed_block_keeps_preceding_items_and_marks_torn() {
    let (manifest, faults) =
        read("tensor a dtype=f32 { shape { n 4 } }\ntensor b dtype=f32 {\ntensor c");
    assert_eq!(faults.len(), 1);
    assert_eq!(manifest.tensors.len(), 1);
    assert!(manifest.torn);
}

#[test]
fn kernels_and_instances_are_read() {
    let manifest = good(FULL);
    let kernel = &manifest.kernels[0];
    let operands = kernel.operands.as_ref().unwrap();
    assert_eq!(operands.iter().map(|n| n.value.as_str()).collect::<Vec<_>>(), ["A", "W", "B"]);
    assert_eq!(&FULL[kernel.computes[0].span.clone()], kernel.computes[0].value);
    assert_eq!((kernel.ranges[0].0.value.as_str(), bound(FULL, &kernel.ranges[0].1)), ("r", "3"));
    assert_eq!(kernel.acc.as_ref().unwrap().value, "f32");
    assert_eq!(&FULL[kernel.accumulate.clone().unwrap()], "accumulate #true");
    let local = &kernel.locals[0];
    assert_eq!((local.name.value.as_str(), local.dtype.value.as_str()), ("T", "f32"));
    assert_eq!(local.layout.as_ref().unwrap().steps.len(), 1);
    let words: Vec<_> = kernel.schedule.iter().map(|item| item.kind.word()).collect();
    assert_eq!(words, ["loops", "split", "tile", "unroll", "vectorize", "parallel"]);
    let ScheduleKind::Tile { axes, by } = &kernel.schedule[2].kind else { panic!("no tile") };
    assert_eq!((axes[1].value.as_str(), bound(FULL, &by[1])), ("k", "LANES"));
    let instance = &manifest.instances[0];
    assert_eq!((instance.name.value.as_str(), instance.of.value.as_str()), ("conv_input", "conv"));
    let names = instance.operands.iter().map(|(a, b)| (a.value.as_str(), b.value.as_str()));
    assert_eq!(names.collect::<Vec<_>>(), [("A", "input"), ("W", "other"), ("B", "flat")]);
    assert_eq!(instance.schedule.len(), 2);
    assert!(FULL[instance.span.clone()].ends_with("B=\"flat\""));
}
