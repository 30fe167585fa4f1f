//! Hostile texts: every text gives a result or a fault, without a panic.

use layoutc_algebra::notation::NotationFaultKind;
use layoutc_algebra::sharding::xla::parse;
use layoutc_algebra::sharding::{MeshSharding, ShardingForm, ShardingText, jax};
use layoutc_testing::{Random, cases};

const SEEDS: [&str; 8] = [
    "{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate shard_as 3}",
    "{devices=[4,2]<=[2,2,2]T(2,1,0)}",
    "{devices=[2,1,2,2]<=[8] last_tile_dims={manual, replicated} metadata={op_name=\"a}\\\"b\"}}",
    "{{replicated}, {maximal device=3}, {unknown shard_like 7}}",
    "{mesh['a'=2,'b'=4], device_ids=([4,2]T(1,0)), [{'a', 'b':(1)2, ?}, {}], replicated={'b':(2)2}}",
    "{mesh[\"x\"=2], device_ids=(1,0), [{?}], unreduced={'x'}, metadata={}}",
    "{maximal_mesh[device_id=5]}",
    " /* a */ { /* é */ mesh['é'=2], replicated } // end",
];

/// Runs all operations on a text.
fn tried(text: &str) {
    let parsed = match parse(text) {
        Ok(parsed) => parsed,
        Err(fault) => {
            let is_in_text = text.get(fault.span.clone()).is_some();
            assert!(is_in_text, "{text:?}: {:?}", fault.span);
            assert!(!fault.message.is_empty());
            return;
        }
    };
    let printed = parsed.to_string();
    assert_eq!(parse(&printed).as_ref(), Ok(&parsed), "{text:?}: {printed}");
    let placed = match &parsed {
        ShardingText::One(placed) => vec![placed.clone()],
        ShardingText::Tuple(parts) => parts.clone(),
    };
    for placed in placed {
        for form in [ShardingForm::V1, ShardingForm::V2, ShardingForm::V3] {
            if let Ok(other) = placed.to(form) {
                let text = other.to_string();
                let Ok(ShardingText::One(again)) = parse(&text) else { panic!("{text}") };
                assert_eq!(again.same(&placed), Ok(true), "{text}");
            }
        }
        drop((MeshSharding::of(&placed.placement, Some(2)), jax::expression(&placed, None)));
        drop(placed.placement.shards(&[i128::from(i64::MAX), 3], 256));
    }
}

#[test]
fn truncated_shardings_are_refused() {
    for seed in SEEDS {
        assert!(parse(seed).is_ok(), "{seed}: {:?}", parse(seed));
        tried(seed);
        for end in (0..seed.len()).filter(|end| seed.is_char_boundary(*end)) {
            tried(&seed[..end]);
            tried(&seed[end..]);
            if end < seed.trim_end_matches(" // end").len() {
                let kind = parse(&seed[..end]).unwrap_err().kind;
                let kinds = [NotationFaultKind::Syntax, NotationFaultKind::Value];
                assert!(kinds.contains(&kind), "{kind:?}: {}", &seed[..end]);
            }
        }
    }
}

#[test]
fn mutated_shardings_do_not_panic() {
    let mut random = Random::new(11);
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        ",",
        "=",
        "'",
        "\"",
        "?",
        ":",
        "<=",
        "T",
        "-",
        "0",
        "1",
        "2",
        "9",
        "99999999999",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551616",
        " ",
        "/*",
        "*/",
        "//",
        "\n",
        "\0",
        "é",
        "\u{202e}",
        "mesh",
        "devices=",
        "last_tile_dims={",
        "shard_as",
        "manual",
        "metadata={",
        "'a'",
        "\\",
    ];
    for _ in 0..cases(4000, 32_000) {
        let mut text: Vec<char> = random.pick(&SEEDS).chars().collect();
        for _ in 0..=random.below(4) {
            let at = random.below(text.len() + 1);
            match random.below(3) {
                0 if at < text.len() => {
                    text.remove(at);
                }
                1 => {
                    let end = (at + random.below(6)).min(text.len());
                    text.splice(at..end, random.pick(&pieces).chars());
                }
                _ => {
                    text.splice(at..at, random.pick(&pieces).chars());
                }
            }
        }
        tried(&text.into_iter().collect::<String>());
    }
}

#[test]
fn random_bytes_do_not_panic() {
    let mut random = Random::new(12);
    for _ in 0..cases(2000, 16_000) {
        let length = random.below(40);
        let bytes = random.bytes(length);
        tried(&String::from_utf8_lossy(&bytes));
        tried(&format!("{{devices=[{}", String::from_utf8_lossy(&bytes)));
    }
}

#[test]
fn long_shardings_parse_in_linear_time() {
    let ones = "1,".repeat(100_000);
    tried(&format!("{{devices=[{ones}1]<=[1]}}"));
    tried(&format!("{{devices=[2]<=[{ones}2]T(0)}}"));
    tried(&format!(
        "{{mesh[{}'z'=1], replicated}}",
        (0..3000).map(|k| format!("'a{k}'=1,")).collect::<Vec<_>>().concat()
    ));
    tried(&format!("{{mesh['a'=2], [{}{{}}]}}", "{},".repeat(100_000)));
    tried(&"{".repeat(100_000));
    tried(&format!("{{replicated metadata={}", "{".repeat(100_000)));
    tried(&format!("{{{}}}", vec!["{replicated}"; 20_000].join(",")));
    let devices: Vec<String> = (0..100_000).rev().map(|k| k.to_string()).collect();
    tried(&format!("{{devices=[100000]{}}}", devices.join(",")));
    tried(&format!("{{devices=[2,50000]{} last_tile_dim_replicate}}", devices.join(",")));
}
