//! Diagnostics of invalid kernels: code, span, message and help.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::common::check_text;
use check_text::{assert_diagnostics_and_help as told, diagnostics as found};

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

/// A kernel of one statement and `more` nodes.
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
    let form = "write a statement like `B[i, j] = 2 * A[j, i] + 1`";
    for (compute, marked, message, help) in [
        ("b[i, j] a[i, j]", "a", "expected `=`, `+=`, `*=`, `min=` or `max=`", form),
        ("b[i, j] = ", "", "expected a value, found the end", form),
        ("b = a[i, j]", "=", "expected `[` and the axes, found `=`", form),
        (
            "b[i + 1] = 2",
            "+",
            "expected `,` or `]`: the target is indexed by axes alone, found `+`",
            form,
        ),
        ("b[i, j] = a[i, j", "", "expected `,` or `]`, found the end", form),
        (
            "b[i, j] = 2 * a[i, j] ?? 0",
            "??",
            "`??` must follow a read",
            "parenthesize the read with its value outside: `(A[…] ?? 0)`",
        ),
        ("t[i, j] = 0 < i < j", "<", "comparisons cannot be chained", "write `a < b and b < c`"),
        (
            "b[i, j] = 1.5f",
            "1.5f",
            "`1.5f` is not a number",
            "write literals in decimal, without leading zeros, `_` or letters: `10`, `0.5`, `1e-3`",
        ),
        (
            "b[i, j] = .5",
            ".5",
            "`.5` is not a number",
            "write literals in decimal, without leading zeros, `_` or letters: `10`, `0.5`, `1e-3`",
        ),
        ("b[i, j] = !t[i, j]", "!", "unexpected character `!` in a statement", "write `not`"),
        ("b[inf, j] = 1", "inf", "`inf` is a reserved word", "give it another name"),
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
        &["write `//` for floor division, as in Python: `j // 2`"],
    );
}

#[test]
fn texts_that_nest_too_deep_are_refused() {
    let help = ["split it into several statements"];
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
        (code, "b[i]", "`b` has 2 axes, and 1 is used here"),
        &["name every axis: `b[i, j]`"],
    );
    assert_eq!(found(&kernel("b[i] = 1", ""))[0].notes, ["b { i 8; j 32 }"]);
    refused(
        "b[i, i] = 1",
        (code, "i", "axis `i` appears twice"),
        &["give each axis a distinct name"],
    );
    refused(
        "b[TWO, j] = 1",
        ("name::hides", "TWO", "axis `TWO` shadows a const or symbol of the same name"),
        &["give the axis another name"],
    );
    refused(
        "b[i, j] = a[i]",
        (code, "a[i]", "`a` has 2 axes, and 1 index is used here"),
        &["write one index per axis, in the order of the axes"],
    );
    told(
        &kernel("b[i, j] = a[i, j]", "range r 3"),
        &[(code, "r", "no statement has an axis `r`")],
        &["remove its range"],
    );
    refused(
        "b[int, j] = 1",
        ("name::reserved", "b[int, j]", "axis name `int` is reserved in C"),
        &["rename it, for example to `int_axis`"],
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
        &["split it into several statements, each over fewer axes"],
    );
}

#[test]
fn reduced_axes_need_an_extent_and_an_operator() {
    refused(
        "b[i, j] = a[i, c]",
        ("kernel::reduction", "c", "axis `c` does not index the target, and `=` does not reduce"),
        &["write `+=` to sum over `c`, or one of `*=`, `min=`, `max=`"],
    );
    refused(
        "v[i] += a[i, 2*c]",
        ("kernel::unbound", "c", "axis `c` has unknown extent"),
        &["declare it: `range c 3`"],
    );
    refused(
        "b[i, j] += a[i, x] * s[x]",
        ("kernel::extent", "x", "axis `x` has extent 32 in `a` and n in `s`"),
        &["make the extents equal, or declare one: `range x 32`"],
    );
    assert_eq!(
        found(&kernel("b[i, j] += a[i, x] * s[x]", ""))[0].notes,
        ["a { i 8; j 32 }", "s { x n }"]
    );
    told(
        &kernel("b[i, j] = a[i, j]", "range i 4"),
        &[("kernel::extent", "4", "the range of `i` is 4, and its axis in `b` has extent 8")],
        &["remove the range of `i`: the target determines it"],
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
        (code, "j - 1", "`a[i, j - 1]` is out of bounds of `a`"),
        &["give a value for elements outside: `(a[i, j - 1] ?? 0)`"],
    );
    let below = &found(&kernel("b[i, j] = a[i, j - 1]", ""))[0];
    assert_eq!(below.notes, ["at j = 0 it reads `a[0, -1]`, and axis `j` of `a` has extent 32"]);
    assert_eq!(below.labels[0].message, "is -1");
    assert_eq!(below.witness, [[0, -1]]);
    let beyond = &found(&kernel("b[i, j] = a[i, 31 - j + i]", ""))[0];
    assert_eq!(
        beyond.notes,
        ["at i = 1, j = 0 it reads `a[1, 32]`, and axis `j` of `a` has extent 32"]
    );
    let symbol = &found(&kernel("b[i, j] = s[j]", ""))[0];
    assert_eq!(symbol.notes, ["at j = 2, n = 2 it reads `s[2]`, and axis `x` of `s` has extent 2"]);
    // Interval arithmetic alone does not show that `i` cancels.
    assert_eq!(found(&kernel("b[i, j] = a[i ^ i, j]", "")), []);
    assert_eq!(found(&kernel("b[i, j] = a[(i & 3) + (i ^ (i & 3)), j]", "")), []);
    // An empty domain reads nothing.
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
            "mismatched types: `a[i, j]` is f32, and `k[i, j]` is i32",
            "write `f32(k[i, j])`",
        ),
        (
            "k[i, j] = k[i, j] + u[i, j]",
            "k[i, j] + u[i, j]",
            "mismatched types: `k[i, j]` is i32, and `u[i, j]` is u32",
            "write `i32(u[i, j])`",
        ),
        (
            "b[i, j] = a[i, j] * j",
            "j",
            "expected f32, `j` is an index, which is i64",
            "write `f32(j)`",
        ),
        ("k[i, j] = k[i, j] * 0.5", "0.5", "expected i32, `0.5` is a float", "write `i32(0.5)`"),
        (
            "k[i, j] = k[i, j] / 2",
            "/",
            "cannot divide integers with `/`",
            "write `k[i, j] // 2` for floor division, or convert an operand to a float: `f32(k[i, j]) / 2`",
        ),
        (
            "b[i, j] = a[i, j] // 2",
            "//",
            "`//` takes integers, and the operands are f32",
            "write `floor(a[i, j] / 2)`",
        ),
        (
            "b[i, j] = a[i, j] % 2",
            "%",
            "`%` takes integers, and the operands are f32",
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
        ("b[i, j] = i", "i", "expected f32, `i` is an index, which is i64", "write `f32(i)`"),
        (
            "b[i, j] = exp(k[i, j])",
            "k[i, j]",
            "`exp` takes floats, and `k[i, j]` is i32",
            "write `f32(k[i, j])`",
        ),
        (
            "b[i, j] = select(a[i, j], 1.0, 2.0)",
            "a[i, j]",
            "expected a boolean, `a[i, j]` is f32",
            "compare it: `a[i, j] != 0`",
        ),
        (
            "t[i, j] = t[i, j] + true",
            "+",
            "booleans have no arithmetic",
            "write `select(…, 1, 0)`, or `and`, `or` and `not`",
        ),
        (
            "u[i, j] = u[i, j] + (-1)",
            "(-1)",
            "-1 does not fit u32",
            "the range of u32 is 0 to 4294967295",
        ),
        (
            "b[i, j] = z[i, j]",
            "z",
            "`z` has elements of type c64, which has no arithmetic",
            "store the real and imaginary parts as f32 along an axis of extent 2",
        ),
        (
            "t[i, j] += t[i, j]",
            "+=",
            "cannot reduce booleans",
            "count them in an integer tensor: `select(…, 1, 0)`",
        ),
    ] {
        refused(compute, (code, marked, message), &[help]);
    }
    told(
        &kernel("v[i] += a[i, j]", "acc f16"),
        &[(code, "f16", "cannot accumulate in `f16`")],
        &["expected one of f64, f32, i64, i32, u64, u32"],
    );
    told(
        &kernel("v[i] += a[i, j]", "acc i32"),
        &[(code, "i32", "`v` is computed in f32, and cannot be accumulated in i32")],
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
        ("expr::function", "min(a[i, j])", "`min` takes 2 or more arguments, not 1"),
        &["write `min(a, b)`"],
    );
    refused(
        "b[i, j] = a + 1",
        ("kernel::reduction", "a", "axis `a` does not index the target, and `=` does not reduce"),
        &[
            "write `a[…]` to read an element of the tensor",
            "write `+=` to sum over `a`, or one of `*=`, `min=`, `max=`",
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
        &[("kernel::operand", "Z", "kernel `copy` has no operand `Z`")],
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
        &[("name::not_yet", "w", "kernels on views are not supported yet")],
        &["use `a`, the tensor that it views, with indices of that tensor"],
    );
    told(
        &of(
            "view w of=a { shape { i 4; j 32 }; map \"(i, j) -> (2 * i, j)\" }\ninstance c of=copy X=w Y=b",
        ),
        &[("name::not_yet", "w", "kernels on views are not supported yet")],
        &["use `a` with the indices of the map: `a[2 * i, j]`"],
    );
    told(
        &of("instance c of=copy X=a Y=a"),
        &[("kernel::operand", "a", "`a` is bound to `X` and `Y`, and `Y` is written")],
        &["bind each to a different tensor"],
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
        &[("name::duplicate", "c", "the instance has the same name as the instance `c`")],
        &["give the instance another name"],
    );
    told(
        &of("instance a of=copy X=a Y=b"),
        &[("name::duplicate", "a", "the instance has the same name as the tensor `a`")],
        &["give the instance another name"],
    );
    told(
        &of("instance A of=copy X=a Y=b"),
        &[("name::case", "A", "the instance `A` and the tensor `a` differ only in case")],
        &["give the instance another name"],
    );
    told(
        &of("instance exp of=copy X=a Y=b"),
        &[("name::reserved", "exp", "instance name `exp` is reserved in the C library")],
        &["rename it, for example to `exp_kernel`"],
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
            ("kernel::operand", "b", "cannot write `b`: it is in constant memory"),
            ("kernel::operand", "a", "`a` has no memory, so a kernel cannot read or write it"),
        ],
        &["declare `memory global`"; 2],
    );
    let unused = format!(
        "{TENSORS}kernel r {{ operands X Y Z; compute \"Y[i, j] = X[i, j]\" }}\ninstance c of=r X=a Y=b Z=v\n"
    );
    told(&unused, &[("kernel::operand", "Z", "no statement uses operand `Z`")], &["leave it out"]);
    let own =
        format!("{TENSORS}kernel r {{ compute \"b[i, j] = a[i, j]\" }}\ninstance c of=r a=a\n");
    told(
        &own,
        &[("kernel::operand", "r", "kernel `r` has no operands: it names tensors itself")],
        &["declare operands: `operands b a`"],
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
            "`b` is read at an element other than the one that is written",
        ),
        &["write to another tensor, or to an intermediate: `local T dtype=f32`"],
    );
    refused(
        "v[i] += a[i, j] * v[i]",
        ("kernel::operand", "v[i]", "`v` is read by the statement that reduces into it"),
        &["to continue from its current values, add `accumulate #true`"],
    );
    told(
        &kernel("v[i] += a[i, j] * v[i]", "accumulate #true"),
        &[("kernel::operand", "v[i]", "`v` is read by the statement that reduces into it")],
        &["reduce into an intermediate, and read it in a later statement: `local T dtype=f32`"],
    );
}

#[test]
fn intermediates_that_cannot_be_inlined_need_memory() {
    let code = "kernel::intermediate";
    let two = |first: &str, second: &str, more: &str| {
        kernel(first, &format!("compute \"{second}\"; {more}"))
    };
    let give = "add `local T dtype=f32`";
    told(
        &two("v[i] = T[i]", "T[i] = v[i]", ""),
        &[(code, "T", "`T` is read before it is written")],
        &["write it in an earlier `compute`"],
    );
    told(
        &kernel("T[i] = v[i]", "compute \"T[i] = v[i] + 1\"; compute \"v[i] = T[i]\""),
        &[(code, "T", "intermediate `T` is written twice, and needs storage")],
        &[give],
    );
    told(
        &kernel("T[i] = v[i]", "compute \"v[i] = 1\"; compute \"b[i, j] = T[i]\""),
        &[(code, "T[i]", "`T` reads `v`, which was written after it")],
        &[give],
    );
    told(
        &two("T[i] = v[i]", "v[i] = T[i - 1] ?? 0", ""),
        &[(code, "T[i - 1]", "`T` is not stored, so its elements outside have no value")],
        &[give],
    );
    told(
        &two("T[i] = v[i]", "b[i, j] = T[i + 1]", ""),
        &[("kernel::outside", "i + 1", "`T[i + 1]` is out of bounds of `T`")],
        &["give a value for elements outside: `(T[i + 1] ?? 0)`"],
    );
    told(
        &kernel("v[i] = 1", "local T dtype=f32"),
        &[(code, "T", "no statement writes the local tensor `T`")],
        &["write it in a `compute`, or remove it"],
    );
    let line = |k: i32| {
        let p = k - 1;
        format!("compute \"T{k}[i] = T{p}[i] * T{p}[i] + T{p}[i]\"; ")
    };
    let grows = (1..12).map(line).collect::<Vec<_>>().concat();
    told(
        &kernel("T0[i] = v[i]", &format!("{grows}compute \"v[i] = T11[i]\"")),
        &[(code, "T6[i]", "the value is too large when `T6` is inlined")],
        &["add `local T6 dtype=f32`"],
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
            "`b` is read at an element other than the one that is written",
        )],
        &["write to another tensor, or to an intermediate: `local T dtype=f32`"],
    );
}

#[test]
fn caches_are_of_boxes_that_a_statement_uses_inside_a_loop() {
    let code = "kernel::cache";
    let of = |more: &str| kernel("b[i, j] += a[x, j] * v[i]", more);
    assert_eq!(found(&of("tile j by=8; cache a at=x { layout { order j i }; memory local }")), []);
    told(
        &of("cache ab at=x"),
        &[(code, "ab", "`ab` is not a stored tensor of the kernel")],
        &["did you mean `a`?"],
    );
    told(
        &of("cache a at=y"),
        &[(code, "y", "no statement uses `a` inside a loop `y`")],
        &["use a loop of a statement that uses `a`"],
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
        &[(code, "s", "cannot cache `s`: one statement reads and writes it")],
        &["remove its cache"],
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
        &["name every axis: `order i j`, or `order i ...`"],
    );
    told(
        &of("cache a at=x; cache a at=i"),
        &[("kdl::twice", "a", "duplicate cache of `a`")],
        &["leave one of the two out"],
    );
    told(
        &of("cache a { memory fast }"),
        &[
            (
                "kdl::missing",
                "cache a",
                "`cache` needs `at=`, the loop whose iterations use the block",
            ),
            ("name::unknown", "fast", "unknown value `fast` for `memory`"),
        ],
        &["write it as `cache A at=k_outer`", "write `shared` or `local`"],
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
        &[(code, "loops i j_outer x", "`loops` must name exactly the loops of one statement")],
        &["add `j_inner`"],
    );
    told(
        &of("split x by=4; loops i x j_outer j_inner"),
        &[(code, "x", "there is no loop `x`")],
        &["loops over `x` are `x_outer` and `x_inner`"],
    );
    told(
        &of("split x by=0"),
        &[(code, "0", "the factor of a split is at least 1, not 0")],
        &["use a positive factor: `split x by=4`"],
    );
    told(
        &of("unroll j_iner"),
        &[(code, "j_iner", "there is no loop `j_iner`")],
        &["did you mean `j_inner`?"],
    );
    told(
        &of("parallel x"),
        &[(
            "kernel::parallel",
            "x",
            "cannot parallelize `x`: it is a reduced axis, and its iterations write the same elements",
        )],
        &["loops whose iterations write different elements are `i`, `j_outer`, `j_inner`"],
    );
    told(
        &of("vectorize j_outer"),
        &[(
            "kernel::vectorize",
            "j_outer",
            "cannot vectorize `j_outer`: its stride in `blocked` is 8 elements",
        )],
        &["the unit-stride loop is `j_inner`"],
    );
    told(
        &of("split j_inner by=4; vectorize j_inner_outer"),
        &[(
            "kernel::vectorize",
            "j_inner_outer",
            "cannot vectorize `j_inner_outer`: its stride in `blocked` is 4 elements",
        )],
        &["the unit-stride loop is `j_inner_inner`"],
    );
    told(
        &of("vectorize x"),
        &[(
            "kernel::vectorize",
            "x",
            "cannot vectorize `x`: it is a reduced axis, and a vector holds elements of `blocked`",
        )],
        &["the unit-stride loop is `j_inner`"],
    );
    let twice = kernel("v[r] += a[r, i]", "unroll i");
    told(
        &twice,
        &[(code, "i", "`i` is both a storage axis of `v` and a reduced axis")],
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
            "`accumulate` requires a reduction, and every statement writes with `=`",
        )],
        &["write `+=`, `*=`, `min=` or `max=`, or remove it"],
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
        &["use one of its loops, or remove it"],
    );
}

/// The check of every mutation terminates quickly, with diagnostics whose spans are in the text.
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
