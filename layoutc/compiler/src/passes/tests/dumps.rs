//! Dumps of functions after passes.

use super::F64;
use crate::base::dtype::{Dtype, Scalar};
use crate::ir::{
    Compare, Expr, Function, LoopKind, Primitive, ReduceOp, Returns, Stmt, Storage, Strided, Value,
};
use crate::passes::{
    Ranges, fences, fuse, gpu_kernel, merge_constants, openmp, scalars, simplify, synchronous,
    vector_stores, zeroing,
};

/// Dump of a function `f` without parameters, with this body, after a pass.
fn after(body: Vec<Stmt>, mut pass: impl FnMut(&mut Function)) -> String {
    let (name, doc, params) = ("f".to_owned(), Vec::new(), Vec::new());
    let mut function = Function { name, doc, returns: Returns::Nothing, params, body };
    pass(&mut function);
    function.to_string()
}

/// Loop `for name in 0..to` of the kind `kind`, with step 1.
fn counted(name: &str, to: i64, kind: LoopKind, body: Vec<Stmt>) -> Stmt {
    let (name, from, to) = (name.to_owned(), Expr::int(0), Expr::int(to));
    Stmt::For { name, from, to, step: 1, kind, body }
}

fn zero() -> Value {
    Value::Constant { dtype: F64, bits: 0 }
}

/// Starts of runs in a buffer, 64 bytes apart, from the element `index` on.
fn runs(buffer: &str, index: Expr) -> Strided {
    Strided { buffer: buffer.to_owned(), index, stride: Expr::int(64) }
}

fn copy_runs() -> Stmt {
    let (to, from) = (runs("b", Expr::name("i")), runs("a", Expr::name("i")));
    let [count, bytes, whole_bytes] = [4, 64, 1 << 30].map(Expr::int);
    Primitive::CopyRuns { to, from, count, bytes, whole_bytes }.into()
}

fn zero_runs() -> Stmt {
    let (count, bytes) = (Expr::int(2), Expr::int(16));
    Primitive::ZeroRuns { to: runs("b", Expr::name("i")), count, bytes }.into()
}

#[test]
fn padding_is_zeroed_beside_its_elements() {
    let body = vec![
        counted("i", 8, LoopKind::Serial, vec![zero_runs()]),
        counted("j", 8, LoopKind::Serial, vec![zero_runs()]),
        counted("i", 8, LoopKind::Serial, vec![copy_runs()]),
    ];
    assert_eq!(
        after(body, zeroing),
        "f() -> Nothing\n  \
         for j in 0..8\n    zero_runs b[i] by 64 bytes, 2 x 16 bytes\n  \
         for i in 0..8\n    copy_runs b[i] by 64 bytes, a[i] by 64 bytes, 4 x 64 bytes\n    \
         zero_runs b[i] by 64 bytes, 2 x 16 bytes\n"
    );
}

/// Start of a row.
fn row_start(start: i64) -> Stmt {
    let value = Expr::Add { args: vec![Expr::name("i"), Expr::int(start)] };
    Stmt::Let { name: "p0".to_owned(), value }
}

fn zero_row() -> Stmt {
    let to = Strided { index: Expr::name("p0"), ..runs("b", Expr::int(0)) };
    Primitive::ZeroRuns { to, count: Expr::int(2), bytes: Expr::int(16) }.into()
}

/// Loop over rows with the start of each, and zeroed runs in it.
fn rows(kind: LoopKind, start: i64) -> Stmt {
    counted("i", 8, kind, vec![row_start(start), zero_row()])
}

#[test]
fn parts_of_a_row_are_copied_in_one_loop() {
    let mut number = 0;
    let mut name = |_: &str| {
        number += 1;
        format!("p{}", number - 1)
    };
    let serial = LoopKind::Serial;
    let rest = counted("p1", 3, serial.clone(), vec![rows(serial.clone(), 5)]);
    let body = [0, 0, 9].map(|start| rows(serial.clone(), start)).to_vec();
    let inside =
        |start: i64| counted("j", 4, LoopKind::Serial, vec![rows(LoopKind::Serial, start)]);
    let body = [body, vec![inside(1), inside(2), rest]].concat();
    let fused = after(body, |function| {
        function.body = fuse(std::mem::take(&mut function.body), &mut name);
    });
    let zeroed = |start: &str| format!("zero_runs b[{start}] by 64 bytes, 2 x 16 bytes\n");
    let expected = format!(
        "f() -> Nothing\n  for i in 0..8\n    let p0 = (i + 0)\n    let p2 = (i + 9)\n    {}    {}    {}  \
         for j in 0..4\n    for i in 0..8\n      let p0 = (i + 1)\n      let p3 = (i + 2)\n      {}      {}  \
         for p1 in 0..3\n    for i in 0..8\n      let p0 = (i + 5)\n      {}",
        zeroed("p0"),
        zeroed("p0"),
        zeroed("p2"),
        zeroed("p0"),
        zeroed("p3"),
        zeroed("p0"),
    );
    assert_eq!(fused, expected);
}

/// The first part declares `p0` inside of its inner loop, the second before its own.
#[test]
fn fused_inner_loops_read_their_own_constants() {
    let mut number = 0;
    let mut name = |_: &str| {
        number += 1;
        format!("p{number}")
    };
    let serial = LoopKind::Serial;
    let first = counted("j", 4, serial.clone(), vec![rows(serial.clone(), 1)]);
    let inner = counted("i", 8, serial.clone(), vec![zero_row()]);
    let second = counted("j", 4, serial, vec![row_start(2), inner]);
    let fused = after(vec![first, second], |function| {
        function.body = fuse(std::mem::take(&mut function.body), &mut name);
    });
    let zeroed = |start: &str| format!("zero_runs b[{start}] by 64 bytes, 2 x 16 bytes\n");
    let expected = format!(
        "f() -> Nothing\n  for j in 0..4\n    let p1 = (i + 2)\n    for i in 0..8\n      let p0 = (i + 1)\n      {}      {}",
        zeroed("p0"),
        zeroed("p1"),
    );
    assert_eq!(fused, expected);
}

#[test]
fn a_fused_loop_is_parallel_if_one_of_its_parts_is() {
    let [serial, parallel] = [LoopKind::Serial, LoopKind::Parallel];
    let nested = |kind: LoopKind| counted("i", 8, kind, vec![rows(LoopKind::Parallel, 1)]);
    for (first, second, loops, is_parallel) in [
        (rows(parallel.clone(), 0), rows(serial.clone(), 1), 1, true),
        (rows(serial.clone(), 0), rows(parallel.clone(), 1), 1, true),
        (rows(parallel, 0), nested(serial), 3, true),
        (rows(LoopKind::Unrolled(2), 0), rows(LoopKind::Serial, 1), 2, false),
    ] {
        let fused = after(vec![first, second], |function| {
            function.body =
                fuse(std::mem::take(&mut function.body), &mut |name| format!("{name}_2"));
        });
        assert_eq!(fused.matches("for i").count(), loops, "{fused}");
        assert_eq!(fused.contains("parallel"), is_parallel, "{fused}");
    }
}

#[test]
fn each_thread_orders_its_own_streaming_stores() {
    let body = vec![
        counted("i", 8, LoopKind::Parallel, vec![copy_runs()]),
        counted("i", 8, LoopKind::Serial, vec![copy_runs()]),
        counted("i", 8, LoopKind::Parallel, vec![zero_runs()]),
    ];
    assert_eq!(
        after(body, fences),
        "f() -> Nothing\n  \
         for i in 0..8 parallel\n    copy_runs b[i] by 64 bytes, a[i] by 64 bytes, 4 x 64 bytes\n    \
         fence\n  \
         for i in 0..8\n    copy_runs b[i] by 64 bytes, a[i] by 64 bytes, 4 x 64 bytes\n  \
         for i in 0..8 parallel\n    zero_runs b[i] by 64 bytes, 2 x 16 bytes\n  \
         fence\n"
    );
}

#[test]
fn unrolled_copy_of_an_array_is_a_vector_store() {
    let allocate = |name: &str, scalar: Scalar| Stmt::Allocate {
        name: name.to_owned(),
        dtype: Dtype { scalar, lanes: 1 },
        elements: 16,
        storage: Storage::Private,
    };
    let store = |array: &str, index: Expr| Stmt::Store {
        buffer: "b".to_owned(),
        index,
        value: Value::Item { array: array.to_owned(), index: Expr::name("l") },
        through: None,
    };
    let at = |factor| {
        let scaled = Expr::Mul { args: vec![Expr::name("l"), Expr::int(factor)] };
        Expr::Add {
            args: vec![Expr::name("i"), if factor == 1 { Expr::name("l") } else { scaled }],
        }
    };
    let copied = |array: &str, factor| {
        counted("l", 8, LoopKind::Unrolled(8), vec![store(array, at(factor))])
    };
    let body = vec![
        allocate("sum", Scalar::F32),
        allocate("flag", Scalar::Bool),
        counted(
            "i",
            3,
            LoopKind::Serial,
            vec![copied("sum", 1), copied("sum", 2), copied("flag", 1)],
        ),
    ];
    assert_eq!(
        after(body, vector_stores),
        "f() -> Nothing\n  allocate private sum: f32[16]\n  allocate private flag: bool[16]\n  \
         for i in 0..3\n    store_vector b[i], sum[0], 8\n    \
         for l in 0..8 unrolled 8\n      b[(i + (l * 2))] = sum[l]\n    \
         for l in 0..8 unrolled 8\n      b[(i + l)] = flag[l]\n"
    );
}

#[test]
fn arrays_of_one_element_are_variables() {
    let allocate = |name: &str| Stmt::Allocate {
        name: name.to_owned(),
        dtype: F64,
        elements: 1,
        storage: Storage::Private,
    };
    let element =
        |name: &str| Value::Load { buffer: name.to_owned(), index: Expr::int(0), through: None };
    let store = |name: &str, value| Stmt::Store {
        buffer: name.to_owned(),
        index: Expr::int(0),
        value,
        through: None,
    };
    let body = vec![
        allocate("s"),
        allocate("unset"),
        allocate("team"),
        store("s", zero()),
        counted("i", 4, LoopKind::Serial, vec![store("s", element("s")), store("unset", zero())]),
        store("team", element("s")),
        counted("j", 4, LoopKind::Parallel, vec![store("b", element("team"))]),
    ];
    assert_eq!(
        after(body, scalars),
        "f() -> Nothing\n  allocate private unset: f64[1]\n  allocate private team: f64[1]\n  \
         var s: f64 = f64 0x0\n  \
         for i in 0..4\n    s = s\n    unset[0] = f64 0x0\n  \
         team[0] = s\n  \
         for j in 0..4 parallel\n    b[0] = team[0]\n"
    );
}

#[test]
fn equal_constants_are_one() {
    let offset = |name: &str, row: &str| Stmt::Let {
        name: name.to_owned(),
        value: Expr::Mul { args: vec![Expr::name(row), Expr::int(64)] },
    };
    let store = |index: &str| Stmt::Store {
        buffer: "b".to_owned(),
        index: Expr::name(index),
        value: zero(),
        through: None,
    };
    let uses = vec![store("x1"), offset("y0", "j"), store("y0")];
    let body = vec![
        offset("x0", "i"),
        store("x0"),
        offset("x1", "i"),
        counted("j", 4, LoopKind::Serial, uses),
    ];
    // The name of the first constant is declared again where the second is used.
    let inner = vec![offset("x0", "k"), store("x0"), store("x1")];
    let again =
        vec![offset("x0", "i"), offset("x1", "i"), counted("k", 4, LoopKind::Serial, inner)];
    let body =
        vec![counted("i", 4, LoopKind::Serial, body), counted("i", 4, LoopKind::Serial, again)];
    assert_eq!(
        after(body, merge_constants),
        "f() -> Nothing\n  for i in 0..4\n    let x0 = (i * 64)\n    b[x0] = f64 0x0\n    \
         for j in 0..4\n      b[x0] = f64 0x0\n      let y0 = (j * 64)\n      b[y0] = f64 0x0\n  \
         for i in 0..4\n    let x0 = (i * 64)\n    let x1 = (i * 64)\n    \
         for k in 0..4\n      let x0 = (k * 64)\n      b[x0] = f64 0x0\n      b[x1] = f64 0x0\n"
    );
}

#[test]
fn threads_share_arrays_and_one_of_them_runs_serial_code() {
    let allocate =
        Stmt::Allocate { name: "t".to_owned(), dtype: F64, elements: 8, storage: Storage::Private };
    let item = || Value::Item { array: "t".to_owned(), index: Expr::name("i") };
    let sum = Stmt::Update { into: item(), how: ReduceOp::Sum, dtype: F64, value: zero() };
    let store = |value| Stmt::Store {
        buffer: "b".to_owned(),
        index: Expr::name("i"),
        value,
        through: None,
    };
    let total = Stmt::Variable { name: "s".to_owned(), dtype: F64, value: zero() };
    let body = vec![
        allocate,
        counted("i", 8, LoopKind::Parallel, vec![sum]),
        total,
        counted("i", 8, LoopKind::Serial, vec![store(Value::name("s"))]),
        counted("i", 8, LoopKind::Parallel, vec![store(item())]),
    ];
    assert_eq!(
        after(body, |function| openmp(&mut [function], &|_| false)),
        "f() -> Nothing\n  allocate team t: f64[8]\n  \
         for i in 0..8 worksharing\n    t[i] += f64 0x0\n  \
         single\n    var s: f64 = f64 0x0\n    for i in 0..8\n      b[i] = s\n  \
         for i in 0..8 worksharing\n    b[i] = t[i]\n"
    );
}

/// Dump of a function with this body after the passes of [`gpu_kernel`], without known value ranges.
fn after_passes(body: Vec<Stmt>) -> String {
    after(body, |function| gpu_kernel(function, &Ranges::default()))
}

#[test]
fn partial_tile_becomes_a_remainder_loop() {
    let step = |name: &str, to, kind, body| Stmt::For {
        name: name.to_owned(),
        from: Expr::int(0),
        to,
        step: 1,
        kind,
        body,
    };
    let offset = Expr::Mul { args: vec![Expr::name("o"), Expr::int(16)] };
    let rest = Expr::Add { args: vec![Expr::int(24), Expr::Neg { a: Box::new(offset.clone()) }] };
    let end = Stmt::Let { name: "end".to_owned(), value: Expr::int(16).min(rest) };
    let index = Expr::Add { args: vec![offset, Expr::name("i")] };
    let value = Value::Constant { dtype: F64, bits: 0 };
    let store = Stmt::Store { buffer: "b".to_owned(), index, value, through: None };
    let inner = step("i", Expr::name("end"), LoopKind::Unrolled(16), vec![store]);
    let outer = step("o", Expr::int(2), LoopKind::Serial, vec![end, inner]);
    assert_eq!(
        after_passes(vec![outer]),
        "f() -> Nothing\n  \
         for i in 0..16 unrolled 16\n    b[i] = f64 0x0\n  \
         for i in 0..8 unrolled 16\n    b[(16 + i)] = f64 0x0\n"
    );
}

#[test]
fn loop_with_a_barrier_is_not_partitioned() {
    let condition = Expr::compare(Compare::Lt, Expr::name("k"), Expr::int(2));
    let body = vec![Primitive::Barrier.into()];
    let next = Stmt::If { condition, likely: false, body, otherwise: Vec::new() };
    let name = "k".to_owned();
    let (from, to, kind, body) = (Expr::int(0), Expr::int(3), LoopKind::Serial, vec![next]);
    let staged = Stmt::For { name, from, to, step: 1, kind, body };
    assert_eq!(
        after_passes(vec![staged]),
        "f() -> Nothing\n  for k in 0..3\n    if k < 2\n      barrier\n"
    );
}

#[test]
fn asynchronous_copies_become_loads_and_stores() {
    let dtype = Dtype { scalar: Scalar::F32, lanes: 1 };
    let (to, from) = ("tile".to_owned(), "a".to_owned());
    let (to_index, from_index) = (Expr::name("i"), Expr::name("j"));
    let copy = Primitive::CopyAsync { dtype, to, to_index, from, from_index }.into();
    let condition = Expr::compare(Compare::Lt, Expr::name("i"), Expr::int(2));
    let guarded = Stmt::If { condition, likely: false, body: vec![copy], otherwise: Vec::new() };
    let body = vec![guarded, Primitive::AwaitCopies.into(), Primitive::Barrier.into()];
    assert_eq!(
        after(body.clone(), |_| {}),
        "f() -> Nothing\n  if i < 2\n    copy_async tile[i], a[j]\n  await_copies\n  barrier\n"
    );
    assert_eq!(
        after(body, synchronous),
        "f() -> Nothing\n  if i < 2\n    tile[i] = a[j]\n  barrier\n"
    );
}

#[test]
fn constants_are_right_operands_of_comparisons() {
    let ops = [Compare::Lt, Compare::Le, Compare::Ge, Compare::Eq];
    let guard = |op| Stmt::If {
        condition: Expr::compare(op, Expr::int(3), Expr::name("i")),
        likely: false,
        body: vec![Primitive::Barrier.into()],
        otherwise: Vec::new(),
    };
    assert_eq!(
        after(ops.map(guard).into(), |function| simplify(function, &Ranges::default())),
        "f() -> Nothing\n  if i >= 4\n    barrier\n  if i >= 3\n    barrier\n  \
         if i <= 3\n    barrier\n  if i == 3\n    barrier\n"
    );
}

#[test]
fn constants_that_are_names_of_the_same_stem_are_removed() {
    let constant =
        |name: &str, value: &str| Stmt::Let { name: name.to_owned(), value: Expr::name(value) };
    let store = |index: &str| Stmt::Store {
        buffer: "b".to_owned(),
        index: Expr::name(index),
        value: zero(),
        through: None,
    };
    let body = vec![constant("x1", "x0"), store("x1"), constant("j", "group"), store("j")];
    assert_eq!(
        after(body, merge_constants),
        "f() -> Nothing\n  b[x0] = f64 0x0\n  let j = group\n  b[j] = f64 0x0\n"
    );
}
