//! CuTe's algebra against known cases: results of pycute and CuTe, checked by brute force.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use layoutc_algebra::cute::{
    self, CuteError, CuteLayout, CuteNote, CuteOutcome, CuteReferenceResult, DivisionGrouping,
    IntTuple, ProductGrouping, RemainderPolicy, Tiler,
};
use layoutc_algebra::notation::NotationFaultKind;
use serde_json::Value;

fn cases(kind: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(include_str!("cases/peers.json")).unwrap();
    let all = file["cases"].as_array().unwrap();
    let found: Vec<Value> = all.iter().filter(|case| case["kind"] == kind).cloned().collect();
    assert!(!found.is_empty(), "{kind}");
    found
}

fn layout(text: &str) -> CuteLayout {
    cute::parse_layout(text).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

fn integer(value: &Value) -> i128 {
    i128::from(value.as_i64().unwrap_or_else(|| panic!("{value} is no integer")))
}

fn integers(value: &Value) -> Vec<i128> {
    value.as_array().unwrap().iter().map(integer).collect()
}

fn tuple(value: &Value) -> IntTuple {
    match value.as_array() {
        Some(list) => IntTuple::List(list.iter().map(tuple).collect()),
        None => IntTuple::Integer(integer(value)),
    }
}

/// Layout of a case, which has it as text and as numbers.
fn input(case: &Value, name: &str) -> CuteLayout {
    let given = &case["input"][name];
    let built = CuteLayout::new(&tuple(&given["shape"]), &tuple(&given["stride"])).unwrap();
    assert_eq!(layout(text_of(&case["input_text"][name])), built, "{}", case["id"]);
    assert_eq!(built.to_string(), text_of(&case["input_text"][name]), "{}", case["id"]);
    built
}

fn tiler(case: &Value) -> Tiler {
    let given = &case["input"]["b"];
    let Some(modes) = given["by_mode"].as_array() else { return Tiler::Whole(input(case, "b")) };
    let one =
        |mode: &Value| CuteLayout::new(&tuple(&mode["shape"]), &tuple(&mode["stride"])).unwrap();
    let layouts: Vec<CuteLayout> = modes.iter().map(one).collect();
    let text: Vec<String> = layouts.iter().map(ToString::to_string).collect();
    let tiler = cute::parse_tiler(&format!("[{}]", text.join(";"))).unwrap();
    let modes = layouts.into_iter().map(|layout| Some(Tiler::Whole(layout))).collect();
    assert_eq!(tiler, Tiler::Modes(modes), "{}", case["id"]);
    tiler
}

fn values(layout: &CuteLayout) -> Vec<i128> {
    (0..layout.size()).map(|index| layout.index(&IntTuple::Integer(index)).unwrap()).collect()
}

/// Compares a result with the expected text and offsets, whose list may be a prefix.
fn is_expected(case: &Value, answer: &CuteLayout) {
    let expect = &case["expect"];
    assert_eq!(answer.to_string(), text_of(&expect["text"]), "{}", case["id"]);
    assert_eq!(answer.shape(), tuple(&expect["shape"]), "{}", case["id"]);
    assert_eq!(answer.stride(), tuple(&expect["stride"]), "{}", case["id"]);
    has_values(case, answer);
}

fn has_values(case: &Value, answer: &CuteLayout) {
    let expected = integers(&case["expect"]["values"]);
    let found = values(answer);
    assert_eq!(found.get(..expected.len()), Some(&expected[..]), "{}", case["id"]);
    assert!(expected.len() == found.len() || expected.len() == 64, "{}", case["id"]);
}

#[test]
fn compositions_equal_correct_reference_results() {
    let mut refused = Vec::new();
    for case in cases("cute_composition") {
        let (a, b) = (input(&case, "a"), input(&case, "b"));
        if case["truth_values"].is_array() {
            let CuteError::Uneven { peer: Some(peer), .. } = cute::compose(&a, &b).unwrap_err()
            else {
                panic!("{}: not refused for its steps", case["id"]);
            };
            let truth = integers(&case["truth_values"]);
            assert_eq!(peer.layout.to_string(), text_of(&case["cpp"]));
            let theirs = values(&peer.layout);
            let wrong = (0..truth.len()).find(|k| theirs[*k] != truth[*k]).unwrap();
            let at = (peer.index, peer.given, peer.right);
            assert_eq!(at, (i128::try_from(wrong).unwrap(), theirs[wrong], truth[wrong]));
            refused.push(text_of(&case["id"]).to_string());
            continue;
        }
        assert_eq!(case["contract_ok"], true, "{}", case["id"]);
        let CuteOutcome { layout, notes } = cute::compose(&a, &b).unwrap();
        is_expected(&case, &layout);
        let past = CuteNote::PastEnd { reach: b.cosize() - 1, size: a.size() };
        let expected = if b.cosize() > a.size() { vec![past] } else { Vec::new() };
        assert_eq!(notes, expected, "{}", case["id"]);
    }
    assert_eq!(refused, ["cute/composition/40"]);
}

#[test]
fn wrong_reference_compositions_report_the_first_bad_index() {
    let error = cute::compose(&layout("(6,2):(1,7)"), &layout("(3,2):(2,3)")).unwrap_err();
    let peer = CuteReferenceResult { layout: layout("(3,2):(2,3)"), index: 5, given: 7, right: 8 };
    let dependent = CuteError::Dependent {
        index: 5,
        right: 8,
        given: 7,
        peer: Some(Box::new(peer)),
        merged: None,
    };
    assert_eq!(error, dependent);
    assert_eq!(
        error.to_string(),
        "A after B has no layout of the shape of B: at 5 it is 8, but the sum of the modes is 7"
    );
    let message = "CuTe returns `(3,2):(2,3)`, which gives 7 at 5, not 8";
    assert_eq!(error.reference_message().as_deref(), Some(message));
    let error = cute::compose(&layout("(4,6,8):(2,3,5)"), &layout("6:3")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "A after B has no layout of the shape of B: `3:6`, a part of mode `6:3`, has a constant step for 2 indices, \
         and 2 does not divide 3"
    );
}

#[test]
fn compositions_exist_where_references_fail() {
    for (a, b, answer) in [
        // Neither 4 and 6 nor 2 and 3 divide each other.
        ("(4,6):(2,3)", "2:6", "2:7"),
        ("(2,100):(5,1)", "20:3", "(2,10):(6,3)"),
        ("(4,8):(1,10)", "4:5", "4:11"),
        ("(10,2):(1,100)", "3:3", "3:3"),
        // Carries that cancel.
        ("(2,2,8):(0,1,1)", "(2,2):(1,3)", "(2,2):(0,1)"),
    ] {
        let CuteOutcome { layout: found, .. } = cute::compose(&layout(a), &layout(b)).unwrap();
        assert_eq!(found.to_string(), answer, "{a} o {b}");
    }
    // A has a layout after B once B's modes are coalesced.
    let error = cute::compose(&layout("(6,4):(1,100)"), &layout("(4,6):(1,4)")).unwrap_err();
    assert_eq!(
        error.help().as_deref(),
        Some("merging modes of B helps: A after `24:1` is `(6,4):(1,100)`")
    );
}

#[test]
fn composition_by_mode_skips_modes_without_a_tiler() {
    let a = layout("(9,(4,8),5):(59,(13,1),1000)");
    let tiler = cute::parse_tiler("[ 3:3 ; _ ]").unwrap();
    let answer = cute::compose_by(&a, &tiler).unwrap();
    assert_eq!(answer.layout.to_string(), "(3,(4,8),5):(177,(13,1),1000)");
    let many = cute::parse_tiler("[_;_;_;_]").unwrap();
    assert_eq!(cute::compose_by(&a, &many), Err(CuteError::Rank { given: 4, modes: 3 }));
}

#[test]
fn complements_equal_reference_results() {
    for case in cases("cute_complement") {
        let a = input(&case, "a");
        let CuteOutcome { layout, notes } = cute::complement(&a, None).unwrap();
        is_expected(&case, &layout);
        let hole = case["id"] == "cute/complement/9";
        assert_eq!(notes, if hole { vec![CuteNote::Hole { element: 4 }] } else { Vec::new() });
    }
    for case in cases("cute_complement_m") {
        let a = input(&case, "a");
        let cotarget = integer(&case["input"]["m"]);
        let CuteOutcome { layout, notes } = cute::complement(&a, Some(cotarget)).unwrap();
        is_expected(&case, &layout);
        assert_eq!(notes, []);
    }
}

#[test]
fn complements_report_holes_and_overruns() {
    let a = layout("(4,6):(1,6)");
    let error = cute::complement(&a, Some(36)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "copies of the layout cannot cover 36 elements: element 4 remains free"
    );
    assert_eq!(
        error.reference_message().as_deref(),
        Some("CuTe returns `1:0`, but no copy of A contains 4")
    );
    let answer = cute::complement(&layout("4:1"), Some(10)).unwrap();
    assert_eq!(answer.layout.to_string(), "3:4");
    assert_eq!(answer.notes, [CuteNote::ExcessCover { covered: 12, cotarget: 10 }]);
    assert_eq!(
        cute::complement(&layout("(4,4):(1,2)"), None).unwrap_err().to_string(),
        "`4:2` starts below the end of `4:1`: copies of the layout overlap"
    );
    assert_eq!(cute::complement(&a, Some(0)), Err(CuteError::Cotarget { cotarget: 0 }));
}

#[test]
fn coalesced_layouts_equal_reference_results() {
    for case in cases("cute_coalesce") {
        let a = input(&case, "a");
        is_expected(&case, &cute::coalesce(&a).unwrap().layout);
        assert_eq!(case["contract_ok"], true);
    }
    let a = layout("((2,2),(2,2)):((1,4),(8,32))");
    assert_eq!(cute::coalesce(&a).unwrap().layout, layout("(2,4,2):(1,4,32)"));
    let a = layout("(2,(1,6)):(1,(6,2))");
    let by = |profile| cute::coalesce_by(&a, &cute::parse_shape(profile).unwrap().tuple());
    assert_eq!(by("(1,1)").unwrap().layout.to_string(), "(2,6):(1,2)");
    assert_eq!(by("1").unwrap().layout.to_string(), "12:1");
    assert_eq!(by("(1,1,1)"), Err(CuteError::Rank { given: 3, modes: 2 }));
}

#[test]
fn inverses_equal_reference_results() {
    for (kind, is_left) in [("cute_left_inverse", true), ("cute_right_inverse", false)] {
        for case in cases(kind) {
            let a = input(&case, "a");
            let inverse = if is_left { cute::left_inverse(&a) } else { cute::right_inverse(&a) };
            let CuteOutcome { layout: inverse, notes } = inverse.unwrap();
            assert_eq!(notes, []);
            is_expected(&case, &inverse);
            // The case accepts any layout that satisfies the contract, which ours must too.
            let accepted = text_of(&case["accept"]);
            assert!(accepted.starts_with("any layout meeting the contract"), "{accepted}");
            let (first, second) = if is_left { (&a, &inverse) } else { (&inverse, &a) };
            for index in 0..first.size() {
                let between = first.index(&IntTuple::Integer(index)).unwrap();
                assert_eq!(second.index(&IntTuple::Integer(between)), Ok(index), "{}", case["id"]);
            }
        }
    }
}

#[test]
fn left_inverses_allow_holes_and_refuse_collisions() {
    // pycute returns 4:1, which maps 6, the offset of index 4, to 6.
    let inverse = cute::left_inverse(&layout("(4,6):(1,6)")).unwrap().layout;
    assert_eq!(inverse.to_string(), "(6,6):(1,4)");
    let refused = |text| cute::left_inverse(&layout(text)).unwrap_err().to_string();
    assert_eq!(refused("(4,4):(1,2)"), "2 and 4 both map to offset 2");
    assert_eq!(refused("(8,4):(0,1)"), "0 and 1 both map to offset 0");
    assert_eq!(refused("(2,2):(2,3)"), "the strides of `2:2` and `2:3` do not divide each other");
    assert_eq!(refused("(3,3,2):(2,7,11)"), "5 and 9 both map to offset 11");
}

fn divided(case: &Value, kind: DivisionGrouping) {
    let answer =
        cute::divide(&input(case, "a"), &tiler(case), kind, RemainderPolicy::Refuse).unwrap();
    is_expected(case, &answer.layout);
    assert_eq!(answer.notes, []);
}

#[test]
fn divisions_equal_reference_results() {
    cases("cute_logical_divide").iter().for_each(|case| divided(case, DivisionGrouping::Logical));
    cases("cute_zipped_divide").iter().for_each(|case| divided(case, DivisionGrouping::Zipped));
    cases("cute_tiled_divide").iter().for_each(|case| divided(case, DivisionGrouping::Tiled));
    let tiler = cute::parse_tiler("[3:3;(2,4):(1,8)]").unwrap();
    let a = layout("(9,(4,8),7):(59,(13,1),1000)");
    let flat =
        cute::divide(&a, &tiler, DivisionGrouping::Flat, RemainderPolicy::Refuse).unwrap().layout;
    assert_eq!(flat.to_string(), "(3,(2,4),3,(2,2),7):(177,(13,2),59,(26,1),1000)");
    let left = cute::parse_tiler("[_;8:1]").unwrap();
    let zipped =
        cute::divide(&layout("(4,16)"), &left, DivisionGrouping::Zipped, RemainderPolicy::Refuse);
    assert_eq!(zipped.unwrap().layout.to_string(), "((1,8),(4,2)):((0,4),(1,32))");
}

#[test]
fn inexact_divisions_are_refused_or_padded_on_request() {
    let mut rounded = 0;
    for case in cases("cute_logical_divide_text") {
        let given = |name: &str| text_of(&case["input_text"][name]).to_string();
        assert_eq!(case["input"]["a_text"], given("a").as_str());
        assert_eq!(case["input"]["b_text"], given("b").as_str());
        let (a, b) = (layout(&given("a")), Tiler::Whole(layout(&given("b"))));
        let expect = &case["expect"];
        let (size_in, size_out) = (integer(&expect["size_in"]), integer(&expect["size_out"]));
        let plain = cute::divide(&a, &b, DivisionGrouping::Logical, RemainderPolicy::Refuse);
        let padded = cute::divide(&a, &b, DivisionGrouping::Logical, RemainderPolicy::Pad).unwrap();
        assert_eq!(padded.layout.to_string(), text_of(&expect["text"]), "{}", case["id"]);
        assert_eq!((a.size(), padded.layout.size()), (size_in, size_out), "{}", case["id"]);
        if size_in == size_out {
            assert_eq!(case["note"], "exact");
            assert_eq!(plain, Ok(padded));
            continue;
        }
        rounded += 1;
        assert_eq!(padded.notes, [CuteNote::Rounded { size_in, size_out }]);
        let tiler = Box::new(layout(&given("b")));
        assert_eq!(plain, Err(CuteError::Rounds { size_in, size_out, tiler }), "{}", case["id"]);
    }
    assert_eq!(rounded, 3);
    let error = cute::divide(
        &layout("50"),
        &Tiler::Whole(layout("(4,8)")),
        DivisionGrouping::Zipped,
        RemainderPolicy::Refuse,
    );
    let message = "`(4,8):(1,4)` does not divide 50 elements: its tiles cover 64";
    assert_eq!(error.unwrap_err().to_string(), message);
}

#[test]
fn products_equal_reference_results() {
    for case in cases("cute_logical_product") {
        let a = input(&case, "a");
        let answer = cute::product(&a, &tiler(&case), ProductGrouping::Logical).unwrap();
        is_expected(&case, &answer.layout);
    }
    let product = |a, b, kind| {
        let b = cute::parse_tiler(b).unwrap();
        cute::product(&layout(a), &b, kind).unwrap().layout.to_string()
    };
    // Source: examples in CUTLASS' documentation of products; blocks are coalesced since version 3.4.
    let (a, b) = ("(2,5):(5,1)", "(3,4):(1,3)");
    assert_eq!(product(a, b, ProductGrouping::Logical), "((2,5),(3,4)):((5,1),(10,30))");
    assert_eq!(product(a, b, ProductGrouping::Tiled), "((2,5),3,4):((5,1),10,30)");
    assert_eq!(product(a, b, ProductGrouping::Blocked), "(6,(5,4)):(5,(1,30))");
    assert_eq!(product(a, b, ProductGrouping::Raked), "((3,2),(4,5)):((10,5),(30,1))");
    assert_eq!(product(a, "[3:5;_]", ProductGrouping::Zipped), "((2,1),(3,5)):((5,0),(10,1))");
    assert_eq!(product("4:1", "3:1", ProductGrouping::Blocked), "12:1");
    // CuTe's complement has a single offset here, so its product places the copy on the block.
    assert_eq!(
        product("(3,2,2):(1,5,19)", "2:1", ProductGrouping::Logical),
        "((3,2,2),2):((1,5,19),38)"
    );
    let tiler = cute::parse_tiler("[3:1]").unwrap();
    let answer = cute::product(&layout(a), &tiler, ProductGrouping::Logical).unwrap();
    assert_eq!(answer.layout.to_string(), "((2,3),5):((5,1),1)");
    let message = "copies interleave: `5:1` begins below the end of `3:1`";
    assert_eq!(answer.notes.iter().map(ToString::to_string).collect::<Vec<_>>(), [message]);
    let error = cute::product(&layout(a), &tiler, ProductGrouping::Blocked);
    assert_eq!(error, Err(CuteError::Tiler));
}

#[test]
fn coordinates_and_indices_equal_reference_results() {
    for case in cases("cute_crd2idx") {
        let a = input(&case, "a");
        assert_eq!(a.size(), integer(&case["expect"]["size"]), "{}", case["id"]);
        assert_eq!(a.cosize(), integer(&case["expect"]["cosize"]), "{}", case["id"]);
        for pair in case["expect"]["pairs"].as_array().unwrap() {
            assert_eq!(a.index(&tuple(&pair[0])), Ok(integer(&pair[1])), "{}", case["id"]);
        }
        for index in 0..a.size() {
            let coordinate = a.coordinate(index).unwrap();
            assert_eq!(a.index(&coordinate), a.index(&IntTuple::Integer(index)));
        }
    }
    let a = layout("(3,(2,3)):(3,(12,1))");
    assert_eq!(a.coordinate(17).unwrap().to_string(), "(2,(1,2))");
    let refused = |text: &str| {
        let coordinate: Value = serde_json::from_str(text).unwrap();
        a.index(&tuple(&coordinate)).unwrap_err().to_string()
    };
    assert_eq!(refused("[2,6]"), "`(2,6)` is not a coordinate of the shape `(3,(2,3))`");
    assert_eq!(refused("-1"), "`-1` is not a coordinate of the shape `(3,(2,3))`");
    assert_eq!(refused("[0,0,0]"), "`(0,0,0)` is not a coordinate of the shape `(3,(2,3))`");
    let fault = a.coordinate(18).unwrap_err().to_string();
    assert_eq!(fault, "`18` is not a coordinate of the shape `(3,(2,3))`");
}

#[test]
fn swizzles_equal_reference_results() {
    for case in cases("cute_swizzle") {
        let swizzle = cute::parse_swizzle(text_of(&case["input_text"])).unwrap();
        let input = &case["input"];
        let parts = (swizzle.bits(), swizzle.base(), swizzle.shift());
        let number = |name: &str| u32::try_from(integer(&input[name])).unwrap();
        let shift = i32::try_from(integer(&input["shift"])).unwrap();
        assert_eq!(parts, (number("bits"), number("base"), shift));
        for pair in case["expect"]["pairs"].as_array().unwrap() {
            assert_eq!(swizzle.at(integer(&pair[0])), integer(&pair[1]), "{}", case["id"]);
        }
        assert_eq!(swizzle.block(), integer(&case["expect"]["size"]), "{}", case["id"]);
        let mut seen: Vec<i128> = (0..swizzle.block()).map(|x| swizzle.at(x)).collect();
        seen.iter().enumerate().for_each(|(x, y)| {
            assert_eq!(swizzle.at(*y), i128::try_from(x).unwrap(), "{}", case["id"]);
        });
        seen.sort_unstable();
        assert_eq!(seen, (0..swizzle.block()).collect::<Vec<_>>(), "{}", case["id"]);
    }
    // A negative shift moves bits up.
    let up = cute::parse_swizzle("S<1,0,-1>").unwrap();
    assert_eq!((0..4).map(|x| up.at(x)).collect::<Vec<_>>(), [0, 3, 2, 1]);
}

#[test]
fn cute_printed_layouts_parse() {
    for (text, printed) in [
        ("4", "4:1"),
        (" ( 4 , ( 2 , 2 ) ) : ( 1 , ( 4 , 8 ) ) ", "(4,(2,2)):(1,(4,8))"),
        ("(_4,(_2,2)):(_1,(_4,8))", "(4,(2,2)):(1,(4,8))"),
        ("(4,(2,2))", "(4,(2,2)):(1,(4,8))"),
        ("S<3,4,3> o 0 o (8,64):(64,1)", "S<3,4,3> o 0 o (8,64):(64,1)"),
        ("Sw<3,4,3> o _16 o (_8,_64):(_64,_1)", "S<3,4,3> o 16 o (8,64):(64,1)"),
        ("Swizzle<2,0,-3> o 8:1", "S<2,0,-3> o 0 o 8:1"),
    ] {
        let written = cute::parse(text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
        assert_eq!(written.swizzled().unwrap().to_string(), printed);
        let again = cute::parse(printed).unwrap();
        assert_eq!(again.swizzled(), written.swizzled());
    }
    assert_eq!(
        cute::parse_tiler("[(2,3):(1,2);_;_4]").unwrap(),
        Tiler::Modes(vec![
            Some(Tiler::Whole(layout("(2,3)"))),
            None,
            Some(Tiler::Whole(layout("4")))
        ])
    );
}

#[test]
fn invalid_layouts_report_span_and_reason() {
    let deep = format!("{}1{}", "(".repeat(100), ")".repeat(100));
    for (text, kind, start, end) in [
        ("", NotationFaultKind::Syntax, 0, 0),
        ("(4,2:1", NotationFaultKind::Syntax, 4, 5),
        ("()", NotationFaultKind::Syntax, 1, 2),
        ("(4,2):(1,2) x", NotationFaultKind::Syntax, 12, 13),
        ("(4,2):1", NotationFaultKind::Value, 6, 7),
        ("(4,0):(1,2)", NotationFaultKind::Value, 3, 4),
        ("(2,3):(?,2)", NotationFaultKind::Unsupported, 7, 8),
        ("4:-1", NotationFaultKind::Unsupported, 2, 3),
        ("(2,3):(1@0,1@1)", NotationFaultKind::Unsupported, 7, 9),
        ("99999999999999999999:1", NotationFaultKind::Value, 0, 20),
        ("(4294967296,4294967296):(1,1)", NotationFaultKind::Value, 0, 29),
        ("(2,2):(9223372036854775807,1)", NotationFaultKind::Value, 0, 29),
        ("S<3,4,2> o 0 o 8:1", NotationFaultKind::Value, 0, 8),
        ("S<3,4,3> o 0 o 8:1", NotationFaultKind::Unsupported, 0, 8),
        ("S<60,4,61> o 0 o 8:1", NotationFaultKind::Value, 0, 10),
        ("S<3,4> o 0 o 8:1", NotationFaultKind::Syntax, 5, 6),
        (deep.as_str(), NotationFaultKind::Syntax, 65, 66),
    ] {
        let fault = cute::parse_layout(text).unwrap_err();
        assert_eq!((fault.kind, fault.span), (kind, start..end), "{text}");
    }
    let tiler = cute::parse_tiler("[4:1;8:1").unwrap_err();
    assert_eq!(tiler.to_string(), "expected `;` or `]`, found the end of the text");
    let deep = cute::parse_tiler(&"[".repeat(100_000)).unwrap_err();
    assert_eq!(deep.to_string(), "tilers nest more than 64 deep");
}

#[test]
fn large_layouts_are_fast_or_refused_as_unverifiable() {
    let large = layout("(1048576,1048576):(1048576,1)");
    let by = layout("(1048576,1048576):(1048576,1)");
    let composed = cute::compose(&large, &by).unwrap().layout;
    assert_eq!(composed.to_string(), "(1048576,1048576):(1,1048576)");
    let inverse = cute::left_inverse(&large).unwrap().layout;
    assert_eq!(inverse.to_string(), "(1048576,1048576):(1048576,1)");
    let tiler = cute::parse_tiler("[128:1;8:1]").unwrap();
    let divided =
        cute::divide(&large, &tiler, DivisionGrouping::Zipped, RemainderPolicy::Refuse).unwrap();
    assert_eq!(divided.layout.size(), 1 << 40);
    // Every index from 1 on in both modes carries, and the carries cancel.
    let error = cute::compose(
        &layout("(1073741824,2,2):(0,1,1)"),
        &layout("(1073741824,2):(1,2147483647)"),
    );
    assert_eq!(error, Err(CuteError::Unverified { size: 1 << 31 }));
    let small = cute::compose(&layout("(1024,2,2):(0,1,1)"), &layout("(1024,2):(1,2047)")).unwrap();
    assert_eq!(small.layout.to_string(), "(1024,2):(0,1)");
    let end = layout("2:4611686018427387904");
    assert_eq!(cute::compose(&end, &layout("2:2")), Err(CuteError::Size));
}
