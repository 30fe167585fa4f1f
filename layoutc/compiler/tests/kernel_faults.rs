//! What is wrong with kernels is told: code, place, words and the way out.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::common::told;
use told::{found, told_with_help as told};

const TENSORS: &str = "\
const TWO 2
symbol n min=2 max=64
tensor a dtype=f32 { shape { i 8; j 32 } }
tensor b dtype=f32 { shape { i 8; j 32 } }
tensor v dtype=f32 { shape { i 8 } }
tensor k dtype=i32 { shape { i 8; j 32 } }
tensor q dtype=i8 { shape { i 8; j 32 } }
tensor u dtype=u32 { shape { i 8; j 32 } }
tensor d dtype=f64 { shape { i 8; j 32 } }
tensor t dtype=bool { shape { i 8; j 32 } }
tensor z dtype=c64 { shape { i 8; j 32 } }
tensor s dtype=f32 { shape { x n } }
tensor blocked like=a { layout { split j by=8; order i j_outer j_inner } }
";

/// One statement, and what else stands in its kernel.
fn kernel(compute: &str, more: &str) -> String {
    format!("{TENSORS}kernel run {{ compute \"{compute}\"; {more} }}\n")
}

#[track_caller]
fn refused(compute: &str, expected: (&str, &str, &str), help: &[&str]) {
    told(&kernel(compute, ""), &[expected], help);
}

#[test]
fn texts_that_are_no_statement_are_told_at_their_characters() {
    let code = "kernel::syntax";
    let form = "a statement is written `B[i, j] = 2 * A[j, i] + 1`";
    for (compute, marked, message, help) in [
        ("b[i, j] a[i, j]", "a", "a statement writes by `=`, `+=`, `*=`, `min=` or `max=`", form),
        ("b[i, j] = ", "", "expected a value, found the end", form),
        ("b = a[i, j]", "=", "expected `[` and the axes, found `=`", form),
        (
            "b[i + 1] = 2",
            "+",
            "expected `,` or `]`: what is written is indexed by axes alone, found `+`",
            form,
        ),
        ("b[i, j] = a[i, j", "", "expected `,` or `]`, found the end", form),
        (
            "b[i, j] = 2 * a[i, j] ?? 0",
            "??",
            "`??` stands behind a read, and this is more than one",
            "parenthesise the read with what stands for it outside: `(A[…] ?? 0)`",
        ),
        ("t[i, j] = 0 < i < j", "<", "comparisons are not chained", "write `a < b and b < c`"),
        (
            "b[i, j] = 1.5f",
            "1.5f",
            "`1.5f` is no number",
            "literals are decimal, without leading zeros, `_` or letters: `10`, `0.5`, `1e-3`",
        ),
        (
            "b[i, j] = .5",
            ".5",
            "`.5` is no number",
            "literals are decimal, without leading zeros, `_` or letters: `10`, `0.5`, `1e-3`",
        ),
        ("b[i, j] = !t[i, j]", "!", "`!` means nothing in a statement", "it is written `not`"),
        ("b[inf, j] = 1", "inf", "`inf` is a word of the language", "give it another name"),
    ] {
        refused(compute, (code, marked, message), &[help]);
    }
    let large = "1".repeat(30);
    let message = format!("the literal {large} is too large");
    let help = "write a smaller number, or `inf`";
    refused(&format!("b[i, j] = {large}"), ("expr::overflow", &large, &message), &[help]);
    refused(
        "b[i, j] = a[i, j / 2]",
        ("expr::slash", "/", "`/` is not an operator"),
        &["`//` is the quotient rounded down, as in Python: `c // 4`"],
    );
}

#[test]
fn texts_that_nest_too_deep_are_refused() {
    let help = ["let one statement follow another, each with a part of it"];
    let message = "the statement is nested deeper than 256, or too long";
    for value in [
        format!("{}1{}", "(".repeat(300), ")".repeat(300)),
        format!("{}1", "-".repeat(300)),
        vec!["1.0"; 300].join(" + "),
        format!("{}1", "a[i, j] ?? ".repeat(300)),
        "exp(".repeat(10_000),
    ] {
        let found = found(&kernel(&format!("b[i, j] = {value}"), ""));
        let codes: Vec<_> = found.iter().map(|d| (d.code.id(), d.message.as_str())).collect();
        assert_eq!(codes, [("expr::nesting", message)], "{value}");
        assert_eq!(found[0].help, help);
    }
    assert_eq!(
        found(&kernel(&format!("b[i, j] = {}1{}", "(".repeat(200), ")".repeat(200)), "")),
        []
    );
}

#[test]
fn axes_are_new_names_one_for_each_axis() {
    let code = "kernel::axes";
    refused(
        "b[i] = 1",
        (code, "b[i]", "`b` has 2 axes, and 1 stands here"),
        &["name every axis: `b[i, j]`"],
    );
    assert_eq!(found(&kernel("b[i] = 1", ""))[0].notes, ["b { i 8; j 32 }"]);
    refused(
        "b[i, i] = 1",
        (code, "i", "the axis `i` stands twice"),
        &["give each axis a name of its own"],
    );
    refused(
        "b[TWO, j] = 1",
        ("name::hides", "TWO", "the axis `TWO` hides a const or symbol of the same name"),
        &["give the axis another name"],
    );
    refused(
        "b[i, j] = a[i]",
        (code, "a[i]", "`a` has 2 axes, and 1 index stands here"),
        &["give one index for each axis, in their order"],
    );
    told(
        &kernel("b[i, j] = a[i, j]", "range r 3"),
        &[(code, "r", "no statement has an axis `r`")],
        &["leave its range out"],
    );
    refused(
        "b[int, j] = 1",
        ("name::reserved", "b[int, j]", "`int` is reserved in C, so no axis can have this name"),
        &["call it `int_axis`, say"],
    );
}

#[test]
fn a_statement_has_no_more_axes_than_a_layout() {
    let names: Vec<String> = (0..70).map(|k| format!("x{k}")).collect();
    let ranges: Vec<String> = names.iter().map(|name| format!("range {name} 2")).collect();
    let compute = format!("v[i] += a[0, ({}) % 8]", names.join(" + "));
    told(
        &kernel(&compute, &ranges.join("; ")),
        &[("limit::axes", "v[i]", "the statement has 71 axes; the limit is 64")],
        &["let one statement follow another, each over some of them"],
    );
}

#[test]
fn reduced_axes_need_an_extent_and_an_operator() {
    refused(
        "b[i, j] = a[i, c]",
        ("kernel::reduction", "c", "`c` is no axis of what is written, and `=` takes one value"),
        &["to add up over `c`, write `+=`; others are `*=`, `min=`, `max=`"],
    );
    refused(
        "v[i] += a[i, 2*c]",
        ("kernel::unbound", "c", "nothing says how far `c` counts"),
        &["say it: `range c 3`"],
    );
    refused(
        "b[i, j] += a[i, x] * s[x]",
        ("kernel::extent", "x", "`x` counts to 32 in `a`, and to n in `s`"),
        &["give both as many, or say which counts: `range x 32`"],
    );
    assert_eq!(
        found(&kernel("b[i, j] += a[i, x] * s[x]", ""))[0].notes,
        ["a { i 8; j 32 }", "s { x n }"]
    );
    told(
        &kernel("b[i, j] = a[i, j]", "range i 4"),
        &[("kernel::extent", "4", "the range of `i` is 4, and `b` has 8 indices there")],
        &["leave the range of `i` out: what is written says it"],
    );
    told(
        &kernel("v[i] += a[i, r]", "range r \"0 - 1\""),
        &[("shape::extent", "0 - 1", "the range of `r` is not between 0 and 2^63 - 1")],
        &["write 0 or more"],
    );
    told(
        &kernel("v[i] += a[i, r]", "range r 9223372036854775808"),
        &[(
            "shape::extent",
            "9223372036854775808",
            "the range of `r` is not between 0 and 2^63 - 1",
        )],
        &["write a smaller number"],
    );
}

#[test]
fn a_read_that_leaves_its_tensor_is_refused_with_the_index() {
    let code = "kernel::outside";
    refused(
        "b[i, j] = a[i, j - 1]",
        (code, "j - 1", "`a[i, j - 1]` leaves `a`"),
        &["write what stands outside: `(a[i, j - 1] ?? 0)`"],
    );
    let below = &found(&kernel("b[i, j] = a[i, j - 1]", ""))[0];
    assert_eq!(below.notes, ["at j = 0 it reads `a[0, -1]`, and axis `j` of `a` has 32 indices"]);
    assert_eq!(below.labels[0].message, "is -1");
    assert_eq!(below.witness, [[0, -1]]);
    let beyond = &found(&kernel("b[i, j] = a[i, 31 - j + i]", ""))[0];
    assert_eq!(
        beyond.notes,
        ["at i = 1, j = 0 it reads `a[1, 32]`, and axis `j` of `a` has 32 indices"]
    );
    let symbol = &found(&kernel("b[i, j] = s[j]", ""))[0];
    assert_eq!(
        symbol.notes,
        ["at j = 2, n = 2 it reads `s[2]`, and axis `x` of `s` has 2 indices"]
    );
    // Intervals alone do not see that `i` cancels.
    assert_eq!(found(&kernel("b[i, j] = a[i ^ i, j]", "")), []);
    assert_eq!(found(&kernel("b[i, j] = a[(i & 3) + (i ^ (i & 3)), j]", "")), []);
    // No index, no read.
    let none = "tensor e dtype=f32 { shape { i 0 } }\ntensor f dtype=f32 { shape { i 8 } }\n\
                kernel run { compute \"e[i] = f[i + 9]\" }\n";
    assert_eq!(found(none), []);
}

#[test]
fn types_meet_by_casts_alone() {
    let code = "dtype::kernel";
    for (compute, marked, message, help) in [
        (
            "b[i, j] = a[i, j] * k[i, j]",
            "a[i, j] * k[i, j]",
            "`a[i, j]` is f32, and `k[i, j]` is i32",
            "write `f32(k[i, j])`",
        ),
        (
            "k[i, j] = k[i, j] + u[i, j]",
            "k[i, j] + u[i, j]",
            "`k[i, j]` is i32, and `u[i, j]` is u32",
            "write `i32(u[i, j])`",
        ),
        (
            "b[i, j] = a[i, j] * j",
            "j",
            "`j` is an index, which is i64, and f32 is to stand here",
            "write `f32(j)`",
        ),
        (
            "k[i, j] = k[i, j] * 0.5",
            "0.5",
            "`0.5` is a float, and i32 is to stand here",
            "write `i32(0.5)`",
        ),
        (
            "k[i, j] = k[i, j] / 2",
            "/",
            "integers have no `/`",
            "write `k[i, j] // 2` for the quotient rounded down, or make one a float: `f32(k[i, j]) / 2`",
        ),
        (
            "b[i, j] = a[i, j] // 2",
            "//",
            "`//` is of integers, and these are f32",
            "write `floor(a[i, j] / 2)`",
        ),
        (
            "b[i, j] = a[i, j] % 2",
            "%",
            "`%` is of integers, and these are f32",
            "write `a[i, j] - 2 * floor(a[i, j] / 2)`",
        ),
        (
            "b[i, j] = k[i, j]",
            "k[i, j]",
            "the value is i32, and `b` is computed in f32",
            "write `f32(k[i, j])`",
        ),
        (
            "q[i, j] = a[i, j]",
            "a[i, j]",
            "the value is f32, and `q` is computed in i32",
            "write `i32(a[i, j])`",
        ),
        (
            "t[i, j] = a[i, j]",
            "a[i, j]",
            "the value is f32, and `t` is computed in bool",
            "compare it: `a[i, j] != 0`",
        ),
        (
            "b[i, j] = i",
            "i",
            "`i` is an index, which is i64, and f32 is to stand here",
            "write `f32(i)`",
        ),
        (
            "b[i, j] = exp(k[i, j])",
            "k[i, j]",
            "`exp` is of floats, and `k[i, j]` is i32",
            "write `f32(k[i, j])`",
        ),
        (
            "b[i, j] = select(a[i, j], 1.0, 2.0)",
            "a[i, j]",
            "`a[i, j]` is f32, and a truth value is to stand here",
            "compare it: `a[i, j] != 0`",
        ),
        (
            "t[i, j] = t[i, j] + true",
            "+",
            "truth values have no arithmetic",
            "write `select(…, 1, 0)`, or `and`, `or` and `not`",
        ),
        ("u[i, j] = u[i, j] + (-1)", "(-1)", "-1 is no u32", "u32 holds 0 to 4294967295"),
        (
            "b[i, j] = z[i, j]",
            "z",
            "`z` holds c64, and nothing is computed with that",
            "hold both parts as f32, along an axis of 2",
        ),
        (
            "t[i, j] += t[i, j]",
            "+=",
            "truth values are not put together",
            "count them in an integer tensor: `select(…, 1, 0)`",
        ),
    ] {
        refused(compute, (code, marked, message), &[help]);
    }
    told(
        &kernel("v[i] += a[i, j]", "acc f16"),
        &[(code, "f16", "nothing is accumulated in `f16`")],
        &["accumulators are f64, f32, i64, i32, u64, u32"],
    );
    told(
        &kernel("v[i] += a[i, j]", "acc i32"),
        &[(code, "i32", "`v` is computed in f32, and is not accumulated in i32")],
        &["write `acc f32` or `acc f64`"],
    );
    assert_eq!(found(&kernel("d[i, j] = a[i, j] + 2 * d[i, j]", "")), []);
    assert_eq!(found(&kernel("q[i, j] = q[i, j] + i8(a[i, j]) + i", "")), []);
}

#[test]
fn unknown_names_get_the_nearest() {
    refused(
        "b[i, j] = zork[i, j]",
        ("name::unknown", "zork", "there is no tensor `zork`"),
        &["tensors here: `a`, `b`, `blocked`, `d`, `k`, `q`, `s`, `t`, `u`, `v`, `z`"],
    );
    refused(
        "bloked[i, j] = a[i, j]",
        ("name::unknown", "bloked", "there is no tensor `bloked`"),
        &["did you mean `blocked`?"],
    );
    refused(
        "b[i, j] = sqrtt(a[i, j])",
        ("name::unknown", "sqrtt", "there is no function `sqrtt`"),
        &["did you mean `sqrt`?"],
    );
    refused(
        "b[i, j] = min(a[i, j])",
        ("expr::function", "min(a[i, j])", "`min` takes 2 or more values, not 1"),
        &["write `min(a, b)`"],
    );
    refused(
        "b[i, j] = a + 1",
        ("kernel::reduction", "a", "`a` is no axis of what is written, and `=` takes one value"),
        &[
            "an element of a tensor is written `a[…]`",
            "to add up over `a`, write `+=`; others are `*=`, `min=`, `max=`",
        ],
    );
    let of = |more: &str| {
        format!("{TENSORS}kernel copy {{ operands X Y; compute \"Y[i, j] = X[i, j]\" }}\n{more}\n")
    };
    told(
        &of("instance c of=cpy X=a Y=b"),
        &[("name::unknown", "cpy", "there is no kernel `cpy`")],
        &["did you mean `copy`?"],
    );
    told(
        &of("instance c of=copy X=a Y=b Z=v"),
        &[("kernel::operand", "Z", "the kernel `copy` has no operand `Z`")],
        &["operands here: `X`, `Y`"],
    );
    told(
        &of("instance c of=copy X=a"),
        &[("kernel::operand", "instance c of=copy X=a", "`c` has no tensor for `Y`")],
        &["add `Y=…`"],
    );
    told(
        &of("instance c of=copy X=a Y=blocke"),
        &[("name::unknown", "blocke", "there is no tensor `blocke`")],
        &["did you mean `blocked`?"],
    );
    told(
        &of("view w of=a\ninstance c of=copy X=w Y=b"),
        &[("name::not_yet", "w", "kernels on views are not built yet")],
        &["name `a`, whose memory it is, and write the indices of that"],
    );
    told(
        &of(
            "view w of=a { shape { i 4; j 32 }; map \"(i, j) -> (2 * i, j)\" }\ninstance c of=copy X=w Y=b",
        ),
        &[("name::not_yet", "w", "kernels on views are not built yet")],
        &["name `a`, and write what the map gives for its indices: `a[2 * i, j]`"],
    );
    told(
        &of("instance c of=copy X=a Y=a"),
        &[("kernel::operand", "a", "`a` is `X` and `Y` at once, and `Y` is written")],
        &["give each a tensor of its own"],
    );
}

#[test]
fn functions_have_names_of_their_own() {
    let of = |more: &str| {
        format!("{TENSORS}kernel copy {{ operands X Y; compute \"Y[i, j] = X[i, j]\" }}\n{more}\n")
    };
    let twice = "instance c of=copy X=a Y=b\ninstance c of=copy X=b Y=a";
    told(
        &of(twice),
        &[("name::duplicate", "c", "the instance has the name of the instance `c`")],
        &["give the instance another name"],
    );
    told(
        &of("instance a of=copy X=a Y=b"),
        &[("name::duplicate", "a", "the instance has the name of the tensor `a`")],
        &["give the instance another name"],
    );
    told(
        &of("instance A of=copy X=a Y=b"),
        &[("name::case", "A", "the instance `A` and the tensor `a` differ in case only")],
        &["give the instance another name"],
    );
    told(
        &of("instance exp of=copy X=a Y=b"),
        &[(
            "name::reserved",
            "exp",
            "`exp` is reserved in the C library, so no instance can have this name",
        )],
        &["call it `exp_kernel`, say"],
    );
    let kernels = "kernel copy { compute \"b[i, j] = 1\" }";
    told(
        &of(kernels),
        &[("name::duplicate", "copy", "the kernel `copy` is declared twice")],
        &["give one of the two another name"],
    );
}

#[test]
fn operands_have_memory_and_are_used() {
    let text = "tensor a dtype=f32 { shape { i 8 }; memory none }\ntensor b dtype=f32 { shape { i 8 }; memory constant }\n\
                kernel run { compute \"b[i] = a[i]\" }\n";
    told(
        text,
        &[
            ("kernel::operand", "b", "`b` is in constant memory, and is written"),
            ("kernel::operand", "a", "`a` has no memory, so no kernel reads or writes it"),
        ],
        &["put it in `memory global`"; 2],
    );
    let unused = format!(
        "{TENSORS}kernel r {{ operands X Y Z; compute \"Y[i, j] = X[i, j]\" }}\ninstance c of=r X=a Y=b Z=v\n"
    );
    told(
        &unused,
        &[("kernel::operand", "Z", "no statement names the operand `Z`")],
        &["leave it out"],
    );
    let own =
        format!("{TENSORS}kernel r {{ compute \"b[i, j] = a[i, j]\" }}\ninstance c of=r a=a\n");
    told(
        &own,
        &[("kernel::operand", "r", "the kernel `r` has no operands: it names tensors itself")],
        &["give it operands: `operands b a`"],
    );
}

#[test]
fn a_statement_reads_of_what_it_writes_the_element_alone() {
    assert_eq!(found(&kernel("b[i, j] = b[i, j] * 2", "")), []);
    refused(
        "b[i, j] = b[i, 31 - j]",
        (
            "kernel::operand",
            "b[i, 31 - j]",
            "`b` is read at another element than the one that is written",
        ),
        &["write into another tensor, or an intermediate: `local T dtype=f32`"],
    );
    refused(
        "v[i] += a[i, j] * v[i]",
        ("kernel::operand", "v[i]", "`v` is read while its elements are put together"),
        &["to go on from what it holds, say `accumulate #true`"],
    );
    told(
        &kernel("v[i] += a[i, j] * v[i]", "accumulate #true"),
        &[("kernel::operand", "v[i]", "`v` is read while its elements are put together")],
        &[
            "put together into an intermediate, and use that in a statement below: `local T dtype=f32`",
        ],
    );
}

#[test]
fn intermediates_that_cannot_be_inlined_need_memory() {
    let code = "kernel::intermediate";
    let two = |first: &str, second: &str, more: &str| {
        kernel(first, &format!("compute \"{second}\"; {more}"))
    };
    let give = "give it memory: `local T dtype=f32`";
    told(
        &two("v[i] = T[i]", "T[i] = v[i]", ""),
        &[(code, "T", "`T` is read before it is written")],
        &["write it in a `compute` above"],
    );
    told(
        &kernel("T[i] = v[i]", "compute \"T[i] = v[i] + 1\"; compute \"v[i] = T[i]\""),
        &[(code, "T", "`T` is written twice, and has no memory")],
        &[give],
    );
    told(
        &kernel("T[i] = v[i]", "compute \"v[i] = 1\"; compute \"b[i, j] = T[i]\""),
        &[(code, "T[i]", "`T` reads `v`, which was written since")],
        &[give],
    );
    told(
        &two("T[i] = v[i]", "v[i] = T[i - 1] ?? 0", ""),
        &[(code, "T[i - 1]", "`T` is not stored, so nothing stands for what lies outside it")],
        &[give],
    );
    told(
        &two("T[i] = v[i]", "b[i, j] = T[i + 1]", ""),
        &[("kernel::outside", "i + 1", "`T[i + 1]` leaves `T`")],
        &["write what stands outside: `(T[i + 1] ?? 0)`"],
    );
    told(
        &kernel("v[i] = 1", "local T dtype=f32"),
        &[(code, "T", "nothing writes the local tensor `T`")],
        &["write it in a `compute`, or leave it out"],
    );
    let line = |k: i32| {
        let p = k - 1;
        format!("compute \"T{k}[i] = T{p}[i] * T{p}[i] + T{p}[i]\"; ")
    };
    let grows = (1..12).map(line).collect::<Vec<_>>().concat();
    told(
        &kernel("T0[i] = v[i]", &format!("{grows}compute \"v[i] = T11[i]\"")),
        &[(code, "T6[i]", "with `T6` written in place the value grows too large")],
        &["give it memory: `local T6 dtype=f32`"],
    );
}

#[test]
fn an_intermediate_that_is_inlined_reads_what_its_indices_say() {
    assert_eq!(
        found(&kernel(
            "T[i, j] = a[i, 31 - j]",
            "compute \"b[x, y] = T[x, 31 - y] + 1\"; range j 32"
        )),
        []
    );
    told(
        &kernel("T[i, j] = b[i, 31 - j]", "compute \"b[x, y] = T[x, y] + 1\"; range j 32"),
        &[(
            "kernel::operand",
            "b[x, y]",
            "`b` is read at another element than the one that is written",
        )],
        &["write into another tensor, or an intermediate: `local T dtype=f32`"],
    );
}

#[test]
fn caches_are_of_boxes_that_a_statement_uses_inside_a_loop() {
    let code = "kernel::cache";
    let of = |more: &str| kernel("b[i, j] += a[x, j] * v[i]", more);
    assert_eq!(found(&of("tile j by=8; cache a at=x { layout { order j i }; memory local }")), []);
    told(
        &of("cache ab at=x"),
        &[(code, "ab", "`ab` is no tensor with memory here")],
        &["did you mean `a`?"],
    );
    told(
        &of("cache a at=y"),
        &[(code, "y", "no statement uses `a` inside a loop `y`")],
        &["name a loop of a statement that uses `a`"],
    );
    told(
        &of("cache a at=x_outer"),
        &[(code, "x_outer", "no statement uses `a` inside a loop `x_outer`")],
        &["split `x` first: `split x by=8`"],
    );
    assert_eq!(found(&of("cache a at=y"))[0].notes, ["the loops of `b` are i, j, x"]);
    told(
        &of("cache b at=x"),
        &[(code, "x", "`x` is reduced, and what is written is done after it")],
        &["use the block inside a loop outside the reduced ones"],
    );
    told(
        &of("tile j by=8; cache a at=j_inner"),
        &[(code, "j_inner", "`j_inner` goes over elements that are put together at once")],
        &["use the block inside a loop that is reduced, or outside those"],
    );
    told(
        &kernel("s[x] = 2 * s[x] + 1", "split x by=8; cache s at=x_outer"),
        &[(code, "s", "`s` is read and written by one statement")],
        &["leave its cache out"],
    );
    let wide = format!(
        "{TENSORS}tensor w dtype=f32 {{ shape {{ x n }} }}\nkernel run {{ compute \"s[x] += w[y] * v[i]\"; range y n; cache w at=x }}\n"
    );
    told(
        &wide,
        &[(code, "x", "what a round of `x` uses is no box of a known size")],
        &[
            "split or order the loops so that those inside go over a part of each axis, or use a loop further in",
        ],
    );
    let part = "tensor p dtype=f32 { shape { i 8 } }\ntensor r dtype=f32 { shape { i 8 }; layout { split i by=4; order i_inner i_outer } }\n\
        kernel cp { compute \"r[i] = p[i]\"; split i_inner by=3; loops i_inner_outer i_outer i_inner_inner; cache r at=i_outer }\n";
    told(
        part,
        &[(code, "i_outer", "a round of `i_outer` may write a part of its block alone")],
        &["split by numbers that divide the loops, and leave padding before elements out"],
    );
    let one = "tensor a dtype=f32 { shape { i 4; k 1 } }\ntensor b dtype=f32 { shape { k 1; j 1 } }\ntensor c dtype=f32 { shape { i 4; j 1 } }\n\
        kernel mm { compute \"c[i, j] += a[i, k] * b[k, j]\"; tile i j by=\"4 4\"; split k by=8; cache a at=k_outer; cache b at=j_outer }\n";
    told(one, &[], &[]);
    told(
        &of("cache a at=x { layout { order i } }"),
        &[("step::axis", "order i", "`order` omits j")],
        &["name every axis, or write `...` for all the others"],
    );
    told(
        &of("cache a at=x; cache a at=i"),
        &[("kdl::twice", "a", "the cache of `a` is given twice")],
        &["leave one of the two out"],
    );
    told(
        &of("cache a { memory fast }"),
        &[
            (
                "kdl::missing",
                "cache a",
                "`cache` needs `at=`, the loop inside which the block is used",
            ),
            ("name::unknown", "fast", "the memory of a block is not `fast`"),
        ],
        &["it is written `cache A at=k_outer`", "write `shared` or `local`"],
    );
}

#[test]
fn schedules_name_loops_that_there_are() {
    let code = "kernel::schedule";
    let of = |more: &str| kernel("blocked[i, j] += a[i, x] * b[i, j]", more);
    assert_eq!(
        found(&of("loops x i j_outer j_inner; vectorize j_inner; unroll x; parallel i")),
        []
    );
    told(
        &of("loops i j x"),
        &[(code, "j", "there is no loop `j`")],
        &["loops over `j` are `j_outer` and `j_inner`"],
    );
    assert_eq!(
        found(&of("loops i j x"))[0].notes,
        ["the loops of `blocked` are i, j_outer, j_inner, x"]
    );
    told(
        &of("loops i j_outer x"),
        &[(
            code,
            "loops i j_outer x",
            "`loops` does not name every loop of a statement, and no other",
        )],
        &["add `j_inner`"],
    );
    told(
        &of("split x by=4; loops i x j_outer j_inner"),
        &[(code, "x", "there is no loop `x`")],
        &["loops over `x` are `x_outer` and `x_inner`"],
    );
    told(
        &of("split x by=0"),
        &[(code, "0", "a loop is split by at least 1, not by 0")],
        &["write `split x by=4`, say"],
    );
    told(
        &of("unroll j_iner"),
        &[(code, "j_iner", "there is no loop `j_iner`")],
        &["did you mean `j_inner`?"],
    );
    told(
        &of("parallel x"),
        &[("kernel::parallel", "x", "`x` is reduced: its rounds write the same elements")],
        &["loops whose rounds write different elements are `i`, `j_outer`, `j_inner`"],
    );
    told(
        &of("vectorize j_outer"),
        &[(
            "kernel::vectorize",
            "j_outer",
            "`j_outer` is not contiguous in `blocked`: neighbours are 8 elements apart",
        )],
        &["the contiguous loop is `j_inner`"],
    );
    told(
        &of("split j_inner by=4; vectorize j_inner_outer"),
        &[(
            "kernel::vectorize",
            "j_inner_outer",
            "`j_inner_outer` is not contiguous in `blocked`: neighbours are 4 elements apart",
        )],
        &["the contiguous loop is `j_inner_inner`"],
    );
    told(
        &of("vectorize x"),
        &[("kernel::vectorize", "x", "`x` is reduced: a vector holds elements of `blocked`")],
        &["the contiguous loop is `j_inner`"],
    );
    let twice = kernel("v[r] += a[r, i]", "unroll i");
    told(
        &twice,
        &[(code, "i", "`i` is a storage axis of `v` and a reduced axis at once")],
        &["give the reduced axis another name"],
    );
}

#[test]
fn a_loop_of_several_statements_needs_to_fit_one() {
    let of = |more: &str| {
        let soft = "v[i] += a[i, j]\"; compute \"b[i, j] = a[i, j] / 2";
        kernel(soft, more)
    };
    assert_eq!(found(&of("vectorize j; parallel i j; loops i j")), []);
    told(
        &kernel("b[i, j] = a[i, j]", "accumulate #true"),
        &[(
            "kernel::reduction",
            "accumulate #true",
            "`accumulate` goes on from what was held, and every statement writes by `=`",
        )],
        &["write `+=`, `*=`, `min=` or `max=`, or leave it out"],
    );
}

#[test]
fn words_of_an_instance_replace_those_of_its_kernel() {
    let of = |more: &str| {
        format!(
            "{TENSORS}kernel copy {{ operands X Y; compute \"Y[i, j] = X[i, j]\"; unroll zork }}\ninstance c of=copy X=a Y=b {{ {more} }}\n"
        )
    };
    assert_eq!(found(&of("unroll j")), []);
    told(
        &of("parallel i"),
        &[("kernel::schedule", "zork", "there is no loop `zork`")],
        &["name one of its loops, or leave it out"],
    );
}

/// Every text here ends soon in diagnostics that point into it.
#[test]
fn no_mutation_of_a_kernel_does_any_harm() {
    let text = kernel(
        "T[i] += (a[i, 31 - j] ?? -1.5e-3) * f32(k[i, j // 2]) + select(i < TWO and not t[i, j], 1.0, exp(b[i, j]))",
        "compute \"v[i] max= min(T[i], inf, 2) - a[i, r*4 + 1]\"; local T dtype=f32 { layout { split i by=4 } }; range r 3; \
         acc f64; tile i r by=\"4 1\"; vectorize i_inner; parallel i_outer",
    );
    assert_eq!(found(&text), []);
    let start = text.find("kernel run").unwrap();
    let assert_sound = |text: &str| {
        for label in found(text).iter().flat_map(|fault| &fault.labels) {
            let (start, end) = (label.place.start, label.place.end);
            assert!(start <= end && text.get(start..end).is_some(), "{start}..{end} of {text:?}");
        }
    };
    let bytes = text.as_bytes();
    for at in start..bytes.len() {
        let (before, after) = (&text[..at], &text[at + 1..]);
        assert_sound(before);
        assert_sound(&format!("{before}{after}"));
        assert_sound(&format!("{before}{}", &text[at.saturating_sub(1)..]));
        let signs = ["[", "]", "(", ")", "-", "?", "0", "i", ",", "/", "=", ".", "ä", " "];
        for sign in signs.iter().cycle().skip(at * 5).take(5) {
            assert_sound(&format!("{before}{sign}{after}"));
        }
    }
}
