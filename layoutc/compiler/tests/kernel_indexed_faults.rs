//! Refusals of indices by data: code, span, message and help.

use crate::common::told::told_with_help as told;

const TENSORS: &str = "\
tensor a dtype=f32 { shape { i 8; j 32 } }
tensor b dtype=f32 { shape { i 8; j 32 } }
tensor v dtype=f32 { shape { i 8 } }
tensor k dtype=i32 { shape { i 8 } }
tensor q dtype=u8 { shape { i 8 } }
tensor t dtype=bool { shape { i 8 } }
";

/// One statement, and what else stands in its kernel.
fn kernel(compute: &str, more: &str) -> String {
    format!("{TENSORS}kernel run {{ compute \"{compute}\"; {more} }}\n")
}

#[track_caller]
fn refused(compute: &str, more: &str, expected: (&str, &str, &str), help: &str) {
    told(&kernel(compute, more), &[expected], &[help]);
}

#[test]
fn indices_are_integers() {
    refused(
        "b[i, j] = a[v[i], j]",
        "",
        ("dtype::kernel", "v[i]", "`v[i]` is f32, and an index is an integer"),
        "hold the indices as i32 or i64; or write `i64(v[i])`, which rounds to nearest",
    );
    refused(
        "b[t[i], j] = a[i, j]",
        "",
        ("dtype::kernel", "t[i]", "`t[i]` is bool, and an index is an integer"),
        "write `select(t[i], 1, 0)`",
    );
}

#[test]
fn indices_have_the_operators_of_values_and_one_for_each_axis() {
    refused(
        "b[k[i] & 3, j] = a[i, j]",
        "",
        ("kernel::syntax", "&", "expected an operator, `,` or `]`, found `&`"),
        "an index that reads elements has no `&` and `^`: `x & 3` is `x % 4`",
    );
    refused(
        "b[k[i]] = v[i]",
        "",
        ("kernel::axes", "b[k[i]]", "`b` has 2 axes, and 1 stands here"),
        "give one index for each axis, in their order",
    );
    refused(
        "b[i, j] = a[k[i, j]",
        "",
        ("kernel::syntax", "", "expected an operator, `,` or `]`, found the end"),
        "a statement is written `B[i, j] = 2 * A[j, i] + 1`",
    );
}

#[test]
fn axes_inside_an_index_need_an_extent() {
    refused(
        "b[i, j] += a[k[r // 2], j]",
        "",
        ("kernel::unbound", "r", "nothing says how far `r` counts"),
        "say it: `range r 3`",
    );
    refused(
        "b[k[r // 2], j] = 2",
        "",
        ("kernel::unbound", "r", "nothing says how far `r` counts"),
        "say it: `range r 3`",
    );
}

#[test]
fn an_index_that_is_never_inside_is_refused() {
    refused(
        "b[i, j] = a[max(k[i], 8), j]",
        "",
        ("kernel::outside", "max(k[i], 8)", "`a[max(k[i], 8), j]` is never inside `a`"),
        "axis `i` has the indices 0 to 7",
    );
    refused(
        "b[i, j] = a[k[i], j + 1]",
        "",
        ("kernel::outside", "j + 1", "`a[k[i], j + 1]` leaves `a` along `j`"),
        "where it is read, write what stands outside: `(a[k[i], j + 1] ?? 0)`",
    );
}

#[test]
fn what_is_scattered_into_is_not_read() {
    refused(
        "b[k[i], j] = b[i, j]",
        "",
        (
            "kernel::operand",
            "b[k[i], j]",
            "`b` is read while it is written through an index tensor",
        ),
        "to go on from what it holds, write `+=` and say `accumulate #true`; else write into another tensor",
    );
    refused(
        "b[i, j] = b[k[i], j]",
        "",
        (
            "kernel::operand",
            "b[k[i], j]",
            "`b` is read at another element than the one that is written",
        ),
        "write into another tensor, or an intermediate: `local T dtype=f32`",
    );
}

#[test]
fn the_loops_of_a_scatter_take_no_schedule() {
    let message = "`i` is a loop of the statement that writes `b` through an index tensor";
    let help = "leave it out: its rounds go one after the other";
    for (more, code) in [
        ("parallel i", "kernel::parallel"),
        ("vectorize i", "kernel::schedule"),
        ("tile i by=4", "kernel::schedule"),
        ("unroll i", "kernel::schedule"),
    ] {
        refused("b[k[i], j] = a[i, j]", more, (code, "i", message), help);
    }
    refused(
        "b[k[i], j] += a[i, j]",
        "acc f64",
        (
            "dtype::kernel",
            "f64",
            "`b` is written through an index tensor: values are put together in its elements, in f32, not in f64",
        ),
        "leave `acc` out, or write an intermediate of f64: `local t dtype=f64`",
    );
}

#[test]
fn a_range_is_one_of_elements_that_index() {
    refused(
        "b[i, j] = a[i, j]",
        "range a 8",
        ("dtype::kernel", "a", "the elements of `a` are no integers, and have no range"),
        "leave the range out",
    );
    refused(
        "b[i, j] = a[i, j] * f32(k[i])",
        "range k 8",
        ("kernel::axes", "k", "no index reads the elements of `k`"),
        "leave the range out",
    );
    refused(
        "b[i, j] = a[k[i], j]",
        "range k 0",
        ("shape::extent", "k", "the range of `k` leaves its elements no value"),
        "write 1 or more, or leave the range out: indices are checked",
    );
    refused(
        "b[i, j] = a[k[i], j]",
        "range b 8",
        (
            "kernel::operand",
            "b",
            "`b` is written by the kernel, and its elements are what it computes",
        ),
        "leave the range out: indices are looked at; or state that of a tensor which is only read",
    );
}

#[test]
fn intermediates_are_stored_to_be_indexed() {
    told(
        &format!(
            "{TENSORS}kernel run {{ compute \"m[i, j] = 2 * a[i, j]\"; compute \"b[i, j] = m[k[i], j]\" }}\n"
        ),
        &[(
            "kernel::intermediate",
            "m[k[i], j]",
            "`m` is not stored, and is read through an index tensor",
        )],
        &["give it memory: `local m dtype=f32`"],
    );
    told(
        &format!(
            "{TENSORS}kernel run {{ compute \"m[k[i], j] = a[i, j]\"; compute \"b[i, j] = m[i, j]\"; local m dtype=f32 }}\n"
        ),
        &[(
            "kernel::intermediate",
            "m[k[i], j]",
            "`m` is written through an index tensor, and has no elements yet",
        )],
        &["write all of it in a statement before: `m[…] = 0`, with `local m dtype=f32`"],
    );
}
