//! Requirements of a function: helper functions, conversions, primitives and parts of the standard library that the
//! code around the function has to define or include, whatever the target language.

use std::collections::BTreeSet;

use super::arithmetic::{ArithmeticHelper, helper, is_float, update_helper};
use crate::base::cast::Cast;
use crate::base::dtype::{Dtype, Scalar};
use crate::ir::{Expr, Function, Param, ParamType, Part, Primitive, Spelling, Stmt, Value};
use crate::machine::CPU;
use crate::model::compute::MathFunction;

/// Helper function on indices, in the order of their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IndexHelper {
    /// Quotient rounded toward minus infinity.
    FloorDiv,
    /// Remainder of `FloorDiv`, from 0 to the divisor minus 1.
    FloorMod,
    /// Position of a cell along the Hilbert curve of a grid.
    Hilbert,
    /// Cell at a position along the Hilbert curve of a grid.
    HilbertCell,
    /// Greater of two indices.
    Max,
    /// Lesser of two indices.
    Min,
}

/// Primitive that a function calls, as far as its definition depends on the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Routine {
    /// Copy of contiguous runs, [`Primitive::CopyRuns`].
    CopyRuns,
    /// Fill of contiguous runs with zero bytes, [`Primitive::ZeroRuns`].
    ZeroRuns,
    /// Transposition of one or several blocks, [`Primitive::Transpose`], with the bytes of the unit that is transposed.
    Transpose(u32, TransposeKind),
    /// Conversion of the elements of contiguous runs, [`Primitive::CastRuns`].
    CastRuns(Cast),
    /// Transposition of a block with a conversion, [`Primitive::CastTranspose`]; the number is that of adjacent
    /// elements that are transposed as a unit.
    CastTranspose(Cast, u32),
    /// Transposition in registers of words, [`Primitive::TransposeWords`], with the type of an element and the pair of
    /// the number of words read and of words written.
    TransposeWords(Dtype, [i64; 2]),
}

/// Number of blocks and kind of stores of a transposition ([`Primitive::Transpose`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TransposeKind {
    /// One block of a relayout that is known to fit the L2 cache, with cached stores.
    Cached,
    /// One block of any other relayout, with streaming stores where they are faster.
    Streaming,
    /// Several blocks.
    Blocks,
}

/// Part of the C standard library, or of CUDA's library for kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Library {
    /// Check of a condition at run time: `assert.h`.
    Assert,
    /// Mathematical functions, infinity and NaN: `math.h`.
    Math,
    /// Copies and fills of memory: `string.h`.
    Memory,
    /// Asynchronous copies to shared memory: `cuda_pipeline_primitives.h`.
    AsyncCopies,
}

/// Requirements of one or several functions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Requirements {
    /// Helper functions on indices.
    pub index: BTreeSet<IndexHelper>,
    /// Helper functions of arithmetic, as pairs of the helper and the type of its result.
    pub arithmetic: BTreeSet<(ArithmeticHelper, Dtype)>,
    /// Conversions of elements to another type, by values or by primitives.
    pub casts: BTreeSet<Cast>,
    /// Primitives of the runtime library, as far as their definition depends on the call.
    pub routines: BTreeSet<Routine>,
    /// Types of the elements that stores copy unchanged from one buffer parameter to another.
    pub moved: BTreeSet<Dtype>,
    /// Parts of the standard library.
    pub library: BTreeSet<Library>,
}

/// Requirements of a function.
pub fn requirements(function: &Function) -> Requirements {
    let mut found = Requirements::default();
    for stmt in &function.body {
        stmt.visit(&mut |expr| found.index.extend(index_helper(expr)), &mut |_| {});
        stmt.walk(&mut |stmt| found.add_stmt(stmt, &function.params));
    }
    found
}

impl Requirements {
    /// Requirements of an index expression.
    pub fn of_index(expr: &Expr) -> Self {
        let mut found = Self::default();
        expr.visit(&mut |expr| found.index.extend(index_helper(expr)));
        found
    }

    /// Adds the requirements `other` of other functions.
    pub fn extend(&mut self, other: &Self) {
        let Self { index, arithmetic, casts, routines, moved, library } = other;
        self.index.extend(index);
        self.arithmetic.extend(arithmetic);
        self.casts.extend(casts);
        self.routines.extend(routines);
        self.moved.extend(moved);
        self.library.extend(library);
    }

    /// Adds the requirements of a statement, without those of nested statements and of index expressions. `params` are
    /// the parameters of the function.
    fn add_stmt(&mut self, stmt: &Stmt, params: &[Param]) {
        stmt.parts(&mut |part| {
            if let Part::Value(value) = part {
                value.walk(&mut |value| self.add_value(value));
            }
        });
        match stmt {
            Stmt::Assert { .. } => self.library.extend([Library::Assert]),
            Stmt::LetElement { dtype, bytes, spelling: Spelling::Number, .. } => {
                self.library.extend(is_macro(*dtype, bytes).then_some(Library::Math));
            }
            Stmt::Update { how, dtype, value, .. } => {
                let helper = update_helper(*how, *dtype, value);
                self.arithmetic.extend(helper.map(|helper| (helper, *dtype)));
            }
            Stmt::Store {
                buffer: to,
                value: Value::Load { buffer: from, through: None, .. },
                through: None,
                ..
            } => {
                let [to, from] = [to, from].map(|buffer| dtype_of(params, buffer));
                self.moved.extend(to.filter(|_| to == from));
            }
            Stmt::Primitive(primitive) => self.add_primitive(primitive),
            _ => {}
        }
    }

    fn add_value(&mut self, value: &Value) {
        if let Some((helper, dtype, _)) = helper(value) {
            self.arithmetic.insert((helper, dtype));
            // The helper compares the bits of its operand.
            self.library.extend((helper == ArithmeticHelper::Round).then_some(Library::Memory));
        }
        let is_math = match value {
            Value::Cast { cast, .. } => {
                self.casts.insert(*cast);
                false
            }
            Value::Constant { dtype, bits } => is_macro(*dtype, &bits.to_le_bytes()),
            Value::Call { function, dtype, .. } => {
                *function != MathFunction::Abs || is_float(*dtype)
            }
            _ => false,
        };
        self.library.extend(is_math.then_some(Library::Math));
    }

    fn add_primitive(&mut self, primitive: &Primitive) {
        let routine = match primitive {
            Primitive::Copy { .. } | Primitive::Zero { .. } => {
                self.library.insert(Library::Memory);
                return;
            }
            Primitive::CopyRuns { .. } => Routine::CopyRuns,
            Primitive::ZeroRuns { .. } => Routine::ZeroRuns,
            Primitive::Transpose { element_bytes, whole_bytes, blocks, .. } => {
                Routine::Transpose(*element_bytes, transpose_kind(whole_bytes, blocks.is_some()))
            }
            Primitive::CastRuns { cast, .. } => {
                self.casts.insert(*cast);
                Routine::CastRuns(*cast)
            }
            Primitive::CastTranspose { cast, together, .. } => {
                self.casts.insert(*cast);
                Routine::CastTranspose(*cast, *together)
            }
            Primitive::TransposeWords { dtype, rows, columns, .. } => {
                Routine::TransposeWords(*dtype, [*rows, *columns])
            }
            Primitive::CopyAsync { .. } | Primitive::AwaitCopies => {
                self.library.insert(Library::AsyncCopies);
                return;
            }
            Primitive::StoreVector { .. }
            | Primitive::Fence { .. }
            | Primitive::Barrier
            | Primitive::Call { .. }
            | Primitive::StoreTexel { .. } => return,
        };
        self.routines.insert(routine);
    }
}

impl<'r> FromIterator<&'r Requirements> for Requirements {
    fn from_iter<I: IntoIterator<Item = &'r Self>>(all: I) -> Self {
        all.into_iter().fold(Self::default(), |mut union, one| {
            union.extend(one);
            union
        })
    }
}

/// Helper function for the outermost operation of an index expression; `None` if an operator computes it. Floor
/// divisions by powers of two are printed as shifts and masks.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other nodes are operators")]
fn index_helper(expr: &Expr) -> Option<IndexHelper> {
    match expr {
        Expr::FloorDiv { b, .. } if b.power_of_two().is_none() => Some(IndexHelper::FloorDiv),
        Expr::FloorMod { b, .. } if b.power_of_two().is_none() => Some(IndexHelper::FloorMod),
        Expr::Min { .. } => Some(IndexHelper::Min),
        Expr::Max { .. } => Some(IndexHelper::Max),
        Expr::Hilbert { .. } => Some(IndexHelper::Hilbert),
        Expr::HilbertCell { .. } => Some(IndexHelper::HilbertCell),
        _ => None,
    }
}

/// Kind of a transposition of a relayout that writes `whole_bytes` bytes, or -1 for streaming stores.
fn transpose_kind(whole_bytes: &Expr, has_blocks: bool) -> TransposeKind {
    match whole_bytes {
        _ if has_blocks => TransposeKind::Blocks,
        Expr::Int { value } if (0..=CPU.l2_bytes).contains(value) => TransposeKind::Cached,
        _ => TransposeKind::Streaming,
    }
}

/// Element type of a buffer parameter; `None` if no parameter of this name is a buffer.
fn dtype_of(params: &[Param], buffer: &str) -> Option<Dtype> {
    match params.iter().find(|param| param.name == buffer)?.ty {
        ParamType::Input(dtype) | ParamType::Output(dtype) => Some(dtype),
        _ => None,
    }
}

/// True if a constant of type `dtype` with these bytes, the least significant first, is an infinity or NaN of f32 or
/// f64, or of a type that consists of them: C names these by macros. The first element of a vector, or the real part of
/// a complex number, decides. A record counts if the first element of a field does: all elements of a field are equal.
fn is_macro(dtype: Dtype, bytes: &[u8]) -> bool {
    let number =
        |width| bytes.iter().take(width).rev().fold(0, |all, byte| all << 8 | u64::from(*byte));
    match dtype.scalar {
        Scalar::F32 | Scalar::C64 => {
            u32::try_from(number(4)).is_ok_and(|bits| !f32::from_bits(bits).is_finite())
        }
        Scalar::F64 | Scalar::C128 => !f64::from_bits(number(8)).is_finite(),
        Scalar::Record(record) => record.fields().iter().any(|field| {
            let offset = usize::try_from(field.offset).unwrap_or(usize::MAX);
            bytes.get(offset..).is_some_and(|bytes| is_macro(field.dtype, bytes))
        }),
        _ => false,
    }
}
