//! Diagnostics of invalid data-dependent indices: code, span, message and help.

use crate::common::check_text::assert_diagnostics_and_help as told;

const TENSORS: &str = "\
tensor a dtype=f32 { shape { i 8; j 32 } }
tensor b dtype=f32 { shape { i 8; j 32 } }
tensor v dtype=f32 { shape { i 8 } }
tensor k dtype=i32 { shape { i 8 } }
tensor q dtype=u8 { shape { i 8 } }
tensor t dtype=bool { shape { i 8 } }
";

/// A kernel of one statement and `more` nodes.
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
        ("dtype::kernel", "v[i]", "expected an integer index, `v[i]` is f32"),
        "store the indices as i32 or i64, or write `i64(v[i])`, which rounds to nearest",
    );
    refused(
        "b[t[i], j] = a[i, j]",
        "",
        ("dtype::kernel", "t[i]", "expected an integer index, `t[i]` is bool"),
        "write `select(t[i], 1, 0)`",
    );
}

#[test]
fn indices_have_the_operators_of_values_and_one_for_each_axis() {
    refused(
        "b[k[i] & 3, j] = a[i, j]",
        "",
        ("kernel::syntax", "&", "expected an operator, `,` or `]`, found `&`"),
        "an index that reads elements has no `&` or `^`: write `x % 4` for `x & 3`",
    );
    refused(
        "b[k[i]] = v[i]",
        "",
        ("kernel::axes", "b[k[i]]", "`b` has 2 axes, and 1 is used here"),
        "write one index per axis, in the order of the axes",
    );
    refused(
        "b[i, j] = a[k[i, j]",
        "",
        ("kernel::syntax", "", "expected an operator, `,` or `]`, found the end"),
        "write a statement like `B[i, j] = 2 * A[j, i] + 1`",
    );
}

#[test]
fn axes_inside_an_index_need_an_extent() {
    refused(
        "b[i, j] += a[k[r // 2], j]",
        "",
        ("kernel::unbound", "r", "axis `r` has unknown extent"),
        "declare it: `range r 3`",
    );
    refused(
        "b[k[r // 2], j] = 2",
        "",
        ("kernel::unbound", "r", "axis `r` has unknown extent"),
        "declare it: `range r 3`",
    );
}

#[test]
fn an_index_that_is_never_inside_is_refused() {
    refused(
        "b[i, j] = a[max(k[i], 8), j]",
        "",
        ("kernel::outside", "max(k[i], 8)", "`a[max(k[i], 8), j]` is always out of bounds of `a`"),
        "axis `i` has the indices 0 to 7",
    );
    refused(
        "b[i, j] = a[k[i], j + 1]",
        "",
        ("kernel::outside", "j + 1", "`a[k[i], j + 1]` is out of bounds of `a` along axis `j`"),
        "for a read, give a value for elements outside: `(a[k[i], j + 1] ?? 0)`",
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
            "`b` is read by the statement that writes it through an index tensor",
        ),
        "to continue from its current values, write `+=` with `accumulate #true`; otherwise write to another tensor",
    );
    refused(
        "b[i, j] = b[k[i], j]",
        "",
        (
            "kernel::operand",
            "b[k[i], j]",
            "`b` is read at an element other than the one that is written",
        ),
        "write to another tensor, or to an intermediate: `local T dtype=f32`",
    );
}

#[test]
fn the_loops_of_a_scatter_take_no_schedule() {
    let message = "cannot schedule `i`: it is a loop of the statement that writes `b` through an index tensor";
    let help = "remove it: the loop is serial";
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
            "`b` is written through an index tensor, so it accumulates in its element type f32, not in f64",
        ),
        "remove `acc`, or write to an intermediate of type f64: `local t dtype=f64`",
    );
}

#[test]
fn a_range_is_one_of_elements_that_index() {
    refused(
        "b[i, j] = a[i, j]",
        "range a 8",
        ("dtype::kernel", "a", "cannot declare a range for `a`: its elements are not integers"),
        "remove the range",
    );
    refused(
        "b[i, j] = a[i, j] * f32(k[i])",
        "range k 8",
        ("kernel::axes", "k", "no index reads the elements of `k`"),
        "remove the range",
    );
    refused(
        "b[i, j] = a[k[i], j]",
        "range k 0",
        ("shape::extent", "k", "the range of `k` is empty"),
        "write 1 or more, or remove the range: indices are checked at run time",
    );
    refused(
        "b[i, j] = a[k[i], j]",
        "range b 8",
        (
            "kernel::operand",
            "b",
            "cannot declare a range for `b`: the kernel computes its elements",
        ),
        "remove the range: indices are checked at run time; or declare one for a tensor that is only read",
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
            "`m` is read through an index tensor, and is not stored",
        )],
        &["add `local m dtype=f32`"],
    );
    told(
        &format!(
            "{TENSORS}kernel run {{ compute \"m[k[i], j] = a[i, j]\"; compute \"b[i, j] = m[i, j]\"; local m dtype=f32 }}\n"
        ),
        &[(
            "kernel::intermediate",
            "m[k[i], j]",
            "`m` is written through an index tensor before its elements are defined",
        )],
        &["initialize it in an earlier statement: `m[…] = 0`, with `local m dtype=f32`"],
    );
}
