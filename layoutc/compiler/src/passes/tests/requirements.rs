//! Requirements of functions, one kind at a time.

use std::collections::BTreeSet;

use super::F64;
use crate::base::cast::{Cast, CastMode};
use crate::base::dtype::record::{FieldSpec, Record};
use crate::base::dtype::{Dtype, Scalar};
use crate::ir::{
    Blocks, Expr, Function, LoopKind, Param, ParamType, Primitive, ReduceOp, Returns, Spelling,
    Stmt, Strided, Value, ValueOp,
};
use crate::machine::CPU;
use crate::model::compute::MathFunction;
use crate::passes::{
    ArithmeticHelper, IndexHelper, Library, Requirements, Routine, TransposeKind, requirements,
};

const F32: Dtype = Dtype { scalar: Scalar::F32, lanes: 1 };
const F16: Dtype = Dtype { scalar: Scalar::F16, lanes: 1 };
const U32: Dtype = Dtype { scalar: Scalar::U32, lanes: 1 };
const I32: Dtype = Dtype { scalar: Scalar::I32, lanes: 1 };

/// Requirements of a function with the parameters `a` (f32, read), `b` (f32, written) and `h` (f16, written), and with
/// the statements `body` in a loop of a branch.
fn of(body: Vec<Stmt>) -> Requirements {
    let param = |name: &str, ty| Param { name: name.to_owned(), ty };
    let params = vec![
        param("a", ParamType::Input(F32)),
        param("b", ParamType::Output(F32)),
        param("h", ParamType::Output(F16)),
    ];
    let (name, from, to) = ("i".to_owned(), Expr::int(0), Expr::int(4));
    let nest = Stmt::For { name, from, to, step: 1, kind: LoopKind::Serial, body };
    let condition = Expr::Bool { value: true };
    let body = vec![Stmt::If { condition, likely: true, body: vec![], otherwise: vec![nest] }];
    let (name, doc, returns) = ("f".to_owned(), Vec::new(), Returns::Nothing);
    requirements(&Function { name, doc, returns, params, body })
}

fn load(buffer: &str, index: Expr) -> Value {
    Value::Load { buffer: buffer.to_owned(), index, through: None }
}

fn store(value: Value) -> Stmt {
    Stmt::Store { buffer: "b".to_owned(), index: Expr::int(0), value, through: None }
}

/// Requirements of a store of `value` in `b`.
fn of_value(value: Value) -> Requirements {
    of(vec![store(value)])
}

fn constant(dtype: Dtype, bits: u64) -> Value {
    Value::Constant { dtype, bits }
}

fn single(value: f32) -> Value {
    constant(F32, value.to_bits().into())
}

fn floor_div(divisor: Expr) -> Expr {
    Expr::FloorDiv { a: Box::new(Expr::name("i")), b: Box::new(divisor) }
}

fn strided(stride: Expr) -> Strided {
    Strided { buffer: "a".to_owned(), index: Expr::int(0), stride }
}

fn cast(from: Dtype, to: Dtype) -> Cast {
    Cast::new(from, to, CastMode::Round).unwrap().unwrap()
}

#[test]
fn index_helpers_are_found_in_every_operand() {
    let found = of_value(load("a", floor_div(Expr::int(3)))).index;
    assert_eq!(found, [IndexHelper::FloorDiv].into());
    let least = Expr::name("i").min(floor_div(Expr::name("n")));
    let (name, value) = ("x".to_owned(), Box::new(Expr::name("i")));
    let place = Expr::HilbertCell { a: value, rows: 3, columns: 5 }.max(least);
    let mut expected: BTreeSet<IndexHelper> = [IndexHelper::FloorDiv, IndexHelper::Min].into();
    expected.extend([IndexHelper::Max, IndexHelper::HilbertCell]);
    assert_eq!(Requirements::of_index(&place).index, expected);
    assert_eq!(of(vec![Stmt::Let { name, value: place }]).index, expected);
}

#[test]
fn shifts_divide_by_powers_of_two() {
    assert_eq!(Requirements::of_index(&floor_div(Expr::int(8))), Requirements::default());
    assert_eq!(
        Requirements::of_index(&floor_div(Expr::int(1))).index,
        [IndexHelper::FloorDiv].into()
    );
}

#[test]
fn helpers_of_arithmetic_depend_on_type_and_operands() {
    let of = |op, dtype, a, b| of_value(Value::binary(op, dtype, a, b)).arithmetic;
    let read = || load("a", Expr::int(0));
    let none = BTreeSet::new();
    let one = |helper, dtype| BTreeSet::from([(helper, dtype)]);
    assert_eq!(of(ValueOp::Add, F32, read(), read()), none);
    assert_eq!(of(ValueOp::Min, F32, read(), read()), one(ArithmeticHelper::Min, F32));
    assert_eq!(of(ValueOp::Min, F32, read(), single(0.0)), one(ArithmeticHelper::Lesser, F32));
    assert_eq!(of(ValueOp::Max, F32, single(1.0), read()), one(ArithmeticHelper::Greater, F32));
    // The sign of a zero depends on the order of the operands.
    assert_eq!(of(ValueOp::Max, F32, single(0.0), read()), one(ArithmeticHelper::Max, F32));
    assert_eq!(of(ValueOp::Max, I32, read(), constant(I32, 1)), one(ArithmeticHelper::Max, I32));
    assert_eq!(of(ValueOp::Modulo, U32, read(), constant(U32, 3)), none);
    assert_eq!(of(ValueOp::Modulo, U32, read(), read()), one(ArithmeticHelper::FloorMod, U32));
    let floor = of(ValueOp::FloorDivide, I32, read(), constant(I32, 3));
    assert_eq!(floor, one(ArithmeticHelper::FloorDiv, I32));
}

#[test]
fn updates_by_values_that_are_not_read_twice_need_a_helper() {
    let of_update = |how, value| {
        let into = Value::name("least");
        of(vec![Stmt::Update { into, how, dtype: F32, value }]).arithmetic
    };
    let read = || load("a", Expr::int(0));
    let sum = || Value::binary(ValueOp::Add, F32, read(), read());
    assert_eq!(of_update(ReduceOp::Min, sum()), [(ArithmeticHelper::Lesser, F32)].into());
    assert_eq!(of_update(ReduceOp::Min, read()), BTreeSet::new());
    assert_eq!(of_update(ReduceOp::Sum, sum()), BTreeSet::new());
}

#[test]
fn mathematical_functions_and_special_floats_are_of_the_library() {
    let call = |function, dtype| {
        let args = vec![load("a", Expr::int(0))];
        of_value(Value::Call { function, dtype, args })
    };
    let math = BTreeSet::from([Library::Math]);
    assert_eq!(call(MathFunction::Exp, F32).library, math);
    assert_eq!(call(MathFunction::Abs, F32).library, math);
    let integer = call(MathFunction::Abs, I32);
    assert_eq!(integer.library, BTreeSet::new());
    assert_eq!(integer.arithmetic, [(ArithmeticHelper::Abs, I32)].into());
    assert_eq!(of_value(single(f32::NEG_INFINITY)).library, math);
    assert_eq!(of_value(single(1.5)).library, BTreeSet::new());
}

#[test]
fn special_floats_of_constants_are_of_the_library() {
    let of_fill = |dtype, bytes: &[u8], spelling| {
        let (name, bytes) = ("fill".to_owned(), bytes.to_vec());
        !of(vec![Stmt::LetElement { name, dtype, bytes, spelling }]).library.is_empty()
    };
    let nan = f32::NAN.to_le_bytes();
    assert!(of_fill(F32, &nan, Spelling::Number));
    assert!(!of_fill(F32, &nan, Spelling::Bits));
    assert!(!of_fill(F16, &[0x00, 0x7E], Spelling::Number));
    assert!(of_fill(F64, &f64::INFINITY.to_le_bytes(), Spelling::Number));
    let field = |name: &str, dtype| {
        let (name, counts, align) = (name.to_owned(), Vec::new(), None);
        FieldSpec { name, dtype, counts, align }
    };
    let fields = [field("n", U32), field("x", F32)];
    let record = Dtype::from(Record::new(&fields, None, false).unwrap());
    let bytes = |x: f32| [[0xFF; 4], x.to_le_bytes()].concat();
    assert!(of_fill(record, &bytes(f32::NAN), Spelling::Number));
    assert!(!of_fill(record, &bytes(1.0), Spelling::Number));
}

#[test]
fn narrowing_conversions_compare_bits() {
    let value = Box::new(Value::name("x"));
    let found = of_value(Value::Convert { from: F64, to: F32, value });
    assert_eq!(found.arithmetic, [(ArithmeticHelper::Round, F32)].into());
    assert_eq!(found.library, [Library::Memory].into());
}

#[test]
fn casts_are_found_in_values_and_primitives() {
    let (up, down) = (cast(F16, F32), cast(F32, F16));
    let value = load("a", Expr::int(0)).cast(Some(down)).cast(Some(up));
    assert_eq!(of_value(value).casts, [up, down].into());
    let (to, from, count) = (strided(Expr::int(2)), strided(Expr::int(4)), Expr::int(3));
    let runs = Primitive::CastRuns { cast: down, to, from, count, elements: Expr::int(8) };
    let found = of(vec![runs.into()]);
    assert_eq!(found.casts, [down].into());
    assert_eq!(found.routines, [Routine::CastRuns(down)].into());
}

#[test]
fn copies_of_one_type_are_moves() {
    assert_eq!(of_value(load("a", Expr::name("i"))).moved, [F32].into());
    let buffer = "h".to_owned();
    let other =
        Stmt::Store { buffer, index: Expr::int(0), value: load("a", Expr::int(0)), through: None };
    assert_eq!(of(vec![other]).moved, BTreeSet::new());
    assert_eq!(of_value(load("local", Expr::int(0))).moved, BTreeSet::new());
}

#[test]
fn transpositions_of_small_relayouts_need_cached_stores_only() {
    let kind = |whole_bytes: Expr, has_blocks: bool| {
        let zero = || Expr::int(0);
        let blocks =
            Blocks { count: zero(), to_step: zero(), from_step: zero(), from_next: zero() };
        let transpose = Primitive::Transpose {
            element_bytes: 4,
            to: strided(Expr::int(12)),
            from: strided(Expr::name("n")),
            rows: Expr::name("n"),
            columns: Expr::int(3),
            typical: [None, Some(3)],
            whole_bytes,
            blocks: has_blocks.then(|| Box::new(blocks)),
        };
        of(vec![transpose.into()]).routines
    };
    let l2 = CPU.l2_bytes;
    for (whole_bytes, expected) in [
        (Expr::int(-1), TransposeKind::Streaming),
        (Expr::int(0), TransposeKind::Cached),
        (Expr::int(l2), TransposeKind::Cached),
        (Expr::int(l2 + 1), TransposeKind::Streaming),
        (Expr::name("n"), TransposeKind::Streaming),
    ] {
        let found = kind(whole_bytes.clone(), false);
        assert_eq!(found, [Routine::Transpose(4, expected)].into(), "{whole_bytes:?}");
        let found = kind(whole_bytes, true);
        assert_eq!(found, [Routine::Transpose(4, TransposeKind::Blocks)].into());
    }
}

#[test]
fn primitives_and_conditions_need_routines_or_the_library() {
    let (from, to, bytes) = ("a".to_owned(), "b".to_owned(), Expr::int(8));
    let [to_index, from_index] = [Expr::int(0), Expr::int(1)];
    let copy = Primitive::Copy { to, to_index, from, from_index, bytes };
    assert_eq!(of(vec![copy.into()]).library, [Library::Memory].into());
    let condition = Expr::Bool { value: true };
    assert_eq!(of(vec![Stmt::Assert { condition }]).library, [Library::Assert].into());
    let (to, count, bytes) = (strided(Expr::int(4)), Expr::int(2), Expr::int(3));
    let zeros = of(vec![Primitive::ZeroRuns { to, count, bytes }.into()]);
    assert_eq!(zeros.routines, [Routine::ZeroRuns].into());
    let (from, first, to, dtype) = ("w".to_owned(), Expr::int(0), "t".to_owned(), F16);
    let words = Primitive::TransposeWords { from, first, to, dtype, rows: 2, columns: 4 };
    let expected = Routine::TransposeWords(F16, [2, 4]);
    assert_eq!(of(vec![words.into()]).routines, [expected].into());
}

#[test]
fn unions_hold_the_requirements_of_all_functions() {
    let read = of_value(load("a", floor_div(Expr::int(3))));
    let special = of_value(single(f32::NAN));
    let union: Requirements = [&read, &special, &Requirements::default()].into_iter().collect();
    assert_eq!((&union.index, &union.moved), (&read.index, &read.moved));
    assert_eq!(union.library, special.library);
}
