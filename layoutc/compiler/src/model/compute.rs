//! Checked kernels: a [`KernelInstance`] holds statements such as `B[i] += A[i, k]` over logical axes, and the tensors
//! that they read and write.
//!
//! In an [`Expr`], `Var::Axis(k)` is axis `k` of the statement and `Var::Symbol(k)` is symbol `k` of the
//! [`KernelInstance`]. A value has one of the compute types (see [`TypedExpr::ty`]).

use layoutc_algebra::expr::{Expr, Var};
use layoutc_algebra::symbol::{Axis, Symbol};

use super::{Spanned, Tensor};
use crate::base::cast::CastMode;
use crate::base::diagnostic::FileSpan;
use crate::base::dtype::Scalar;
use crate::machine::VectorIsa;

/// Kernel whose operands are bound to concrete tensors by an `instance` item: checked statements, tensors and loop
/// schedule. A kernel without `operands` names tensors directly and is an instance by itself.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct KernelInstance {
    /// Name of the generated function: the name of the `instance` item, or of the kernel if the kernel has no
    /// `operands`.
    pub name: String,
    /// Name of the kernel that the instance binds.
    pub kernel: String,
    /// Parameters of the generated function, in parameter order: the tensors that are only read, by first appearance in
    /// the statements, then the tensors that are written.
    pub operands: Vec<KernelOperand>,
    /// Intermediate tensors that are stored in a buffer: those with a `local` node, and results of reductions that
    /// later statements read.
    pub locals: Vec<Tensor>,
    /// Symbols (extents known only at run time), each name once: those of the operands' tensors, then those that only
    /// the kernel's text names, sorted by name, then those of `locals`.
    pub symbols: Vec<Symbol>,
    /// Statements in execution order.
    pub statements: Vec<Statement>,
    /// Loop schedule that the manifest gives; the planner decides what it leaves open.
    pub schedule: LoopSchedule,
    /// Span in the manifest of the `instance` item, or of the kernel if the kernel has no `operands`.
    pub place: FileSpan,
}

impl KernelInstance {
    /// Copy of the instance with the name `NAME_auto` and without loop schedule and tile caches; `None` if the instance
    /// has neither a schedule nor caches.
    pub(crate) fn unscheduled(&self) -> Option<Self> {
        if self.schedule == LoopSchedule::default()
            && self.statements.iter().all(|own| own.caches.is_empty() && own.schedules.is_empty())
        {
            return None;
        }
        let statements = self.statements.iter().cloned();
        let free = |own| Statement { caches: Vec::new(), schedules: Vec::new(), ..own };
        let statements = statements.map(free).collect();
        let name = format!("{}_auto", self.name);
        Some(Self { name, statements, ..self.with_schedule(LoopSchedule::default()) })
    }

    /// Copy of the instance with the loop schedule `schedule`.
    pub(crate) fn with_schedule(&self, schedule: LoopSchedule) -> Self {
        Self { schedule, ..self.clone() }
    }
}

/// Operand of a kernel: a tensor, and the name by which the kernel's statements refer to the tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelOperand {
    /// Name of the operand in the kernel's statements.
    pub name: String,
    /// Position of the operand's tensor in [`super::Manifest::tensors`].
    pub tensor: usize,
    /// True if a statement writes the tensor.
    pub is_written: bool,
    /// Exclusive upper bound `N` of the element values, declared by `range OPERAND N` for a tensor of indices: the
    /// caller guarantees integers in `0..N`. `None` if no bound is declared.
    pub range: Option<Expr>,
}

/// Tensor that a statement of a kernel reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BufferRef {
    /// Operand of the kernel: its position in [`KernelInstance::operands`].
    Operand(usize),
    /// Intermediate tensor of the kernel: its position in [`KernelInstance::locals`].
    Local(usize),
}

/// Statement of a kernel, such as `B[n, k] += A[n, c] * W[c, k]`: computes a value at every point of the axes and
/// writes or reduces the values into one tensor.
#[derive(Debug, Clone)]
pub struct Statement {
    /// Tensor that the statement writes.
    pub target: BufferRef,
    /// Axes of the statement, which span the iteration domain: the target's axes in the target's order, then the
    /// reduced axes. With a `scatter`, the axes that the scatter indices use come first. Extents are over symbols.
    pub axes: Vec<Axis>,
    /// Number of axes that are not reduced; these are the first ones in `axes`.
    pub written_axes: usize,
    /// Indices of the written element, one per axis of the target, if one of them is read from a tensor, as in
    /// `B[ids[i], j] += …`; `None` if index `k` is axis `k` of the statement.
    pub scatter: Option<Vec<DataIndex>>,
    /// Reduction that combines the values of one written element.
    pub op: Reduction,
    /// True if the reduction starts from the previous value of the target's element, false if it starts from the
    /// initial value of `op`.
    pub accumulate: bool,
    /// Type in which the reduction is computed; the type of the value if there is no reduction.
    pub accumulator: Scalar,
    /// Treatment of results that are out of the range of the target's element type.
    pub store: CastMode,
    /// Right side of the statement: the value at one point of the iteration domain.
    pub value: TypedExpr,
    /// Value that is stored in place of the reduced one, over the written axes: the right side of the statement that
    /// follows the reduction and is fused with it. [`TypedExprKind::Reduced`] is the reduced value. `None`: the reduced
    /// value is stored.
    pub epilogue: Option<TypedExpr>,
    /// Tiles of operands that are copied to a cache inside the loops, each of a different tensor.
    pub caches: Vec<TileCache>,
    /// Complete schedules for CPUs, at most one for each instruction set.
    pub schedules: Vec<StatementSchedule>,
    /// Text of the statement in the manifest, on one line; of two fused statements, separated by `; `.
    pub text: String,
    /// Numbers of the first and the last of the kernel's `compute` nodes that the statement executes, from 1; `None` for
    /// a statement that initializes the target of a scatter.
    pub numbers: Option<[usize; 2]>,
    /// Span of the statement in the manifest.
    pub place: FileSpan,
}

impl Statement {
    /// True if the previous contents of the target must be preserved: the statement accumulates, reads its target, or
    /// writes only some elements.
    pub fn keeps(&self) -> bool {
        self.accumulate || self.scatter.is_some() || self.reads(self.target)
    }

    /// True if the statement reads an element of the buffer, for the value or for an index.
    pub fn reads(&self, buffer: BufferRef) -> bool {
        self.values().any(|value| value.uses(buffer))
    }

    /// Scatter indices, value and epilogue.
    pub(crate) fn values(&self) -> impl Iterator<Item = &TypedExpr> {
        let indices = self.scatter.iter().flatten().map(|index| &index.value);
        indices.chain([&self.value]).chain(&self.epilogue)
    }

    /// Type of the value that is stored.
    pub fn stored_type(&self) -> Scalar {
        self.epilogue.as_ref().map_or(self.accumulator, |epilogue| epilogue.ty)
    }

    /// Complete schedule for an instruction set; `None`: the planner chooses.
    pub fn complete_schedule(&self, isa: VectorIsa) -> Option<&StatementSchedule> {
        self.schedules.iter().find(|schedule| schedule.isa.is_none_or(|own| own == isa))
    }

    /// True if an index of a read or of the write is read from a tensor (gather or scatter).
    pub fn is_indexed(&self) -> bool {
        self.scatter.is_some() || self.value.gathers()
    }

    /// Calls `visit` on the scatter indices, the value and the epilogue, each before all its subexpressions.
    pub fn walk<'s>(&'s self, visit: &mut dyn FnMut(&'s TypedExpr)) {
        self.values().for_each(|value| value.walk(visit));
    }
}

/// Cached tile of a tensor, `cache A at=k_outer`: a copy of the elements that one iteration of a loop uses, in a
/// layout of its own.
#[derive(Debug, Clone)]
pub struct TileCache {
    /// Tensor that is cached.
    pub buffer: BufferRef,
    /// Name of the loop whose iterations each use one tile.
    pub at: Spanned<String>,
    /// Tile as a tensor: the axes of the cached tensor, with the extents that one iteration of the loop spans.
    pub block: Tensor,
    /// True for double buffering: GPU threads copy the next tile while they use the current one.
    pub is_double: bool,
    /// True if the tile is in memory shared by a thread block, false if in private memory.
    pub is_shared: bool,
}

/// Reduction operator of a statement, with its initial value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// `=`: no reduction.
    Assign,
    /// `+=`: sum, with the initial value 0.
    Sum,
    /// `*=`: product, with the initial value 1.
    Product,
    /// `min=`: minimum, with the greatest value of the type as initial value: infinity for floats.
    Min,
    /// `max=`: maximum, with the least value of the type as initial value: minus infinity for floats.
    Max,
}

/// Scalar expression with its type.
#[derive(Debug, Clone, PartialEq)]
pub struct TypedExpr {
    /// Type of the result: `f64`, `f32`, `i64`, `i32`, `u64`, `u32` or `bool`; a narrower type only inside a cast.
    pub ty: Scalar,
    /// Operation with its operands.
    pub kind: TypedExprKind,
}

impl TypedExpr {
    /// Expression of the operator `op` on two operands, with a result of type `ty`.
    pub fn binary(ty: Scalar, op: Arithmetic, a: TypedExpr, b: TypedExpr) -> Self {
        Self { ty, kind: TypedExprKind::Binary(op, Box::new(a), Box::new(b)) }
    }

    /// Direct subexpressions in textual order: operands, the indices of a gather, and values that replace out-of-bounds
    /// reads.
    pub fn children(&self) -> Vec<&TypedExpr> {
        match &self.kind {
            TypedExprKind::Read(read) => {
                read.outside.iter().map(|outside| &outside.value).collect()
            }
            TypedExprKind::Gather(gather) => {
                let index = gather.index.iter().map(|index| &index.value);
                index.chain([&gather.outside]).collect()
            }
            TypedExprKind::Negate(a) | TypedExprKind::Not(a) | TypedExprKind::Convert(a) => {
                vec![a]
            }
            TypedExprKind::Binary(_, a, b) | TypedExprKind::Compare(_, a, b) => vec![a, b],
            TypedExprKind::Select(condition, then, otherwise) => vec![condition, then, otherwise],
            TypedExprKind::Call(_, args) => args.iter().collect(),
            TypedExprKind::Integer(_)
            | TypedExprKind::Float(_)
            | TypedExprKind::Bool(_)
            | TypedExprKind::Index(_)
            | TypedExprKind::Reduced => Vec::new(),
        }
    }

    /// Calls `visit` on this expression and then on all subexpressions, including values for out-of-bounds reads.
    pub fn walk<'v>(&'v self, visit: &mut dyn FnMut(&'v TypedExpr)) {
        visit(self);
        self.children().into_iter().for_each(|part| part.walk(visit));
    }

    /// Element reads at affine indices in the expression, without duplicates.
    pub fn reads(&self) -> Vec<&ElementRead> {
        let mut reads: Vec<&ElementRead> = Vec::new();
        self.walk(&mut |value| {
            if let TypedExprKind::Read(read) = &value.kind
                && !reads.contains(&&**read)
            {
                reads.push(read);
            }
        });
        reads
    }

    /// True if the expression contains a read at a data-dependent index ([`TypedExprKind::Gather`]).
    pub fn gathers(&self) -> bool {
        let mut found = false;
        self.walk(&mut |value| found |= matches!(value.kind, TypedExprKind::Gather(_)));
        found
    }

    /// True if the expression contains a read of `buffer` at a data-dependent index ([`TypedExprKind::Gather`]).
    pub fn gathers_of(&self, buffer: BufferRef) -> bool {
        let mut found = false;
        self.walk(&mut |value| {
            found |=
                matches!(&value.kind, TypedExprKind::Gather(gather) if gather.buffer == buffer);
        });
        found
    }

    /// True if the expression reads an element of the buffer, at an affine or a data-dependent index.
    pub fn uses(&self, buffer: BufferRef) -> bool {
        self.reads().iter().any(|read| read.buffer == buffer) || self.gathers_of(buffer)
    }

    /// True if the expression contains an integer division `//` or `%`, which is undefined for divisor 0.
    pub fn divides(&self) -> bool {
        let mut found = false;
        self.walk(&mut |value| {
            found |= matches!(
                value.kind,
                TypedExprKind::Binary(Arithmetic::FloorDivide | Arithmetic::Modulo, ..)
            );
        });
        found
    }
}

/// Operation of a scalar expression, with its operands.
#[derive(Debug, Clone, PartialEq)]
pub enum TypedExprKind {
    /// Integer constant.
    Integer(i128),
    /// Float constant.
    Float(f64),
    /// Boolean constant.
    Bool(bool),
    /// Integer expression of axes and symbols, such as `2 * h + r`, of type `i64`.
    Index(Expr),
    /// Element at an affine index, converted to its compute type: `f16`, `bf16` and narrower floats to `f32`,
    /// integers below 32 bits to `i32`.
    Read(Box<ElementRead>),
    /// Element at a data-dependent index, converted to its compute type as by `Read`.
    Gather(Box<Gather>),
    /// Reduced value of the statement, in the accumulator's type; only in an epilogue.
    Reduced,
    /// `-a`, of a number.
    Negate(Box<TypedExpr>),
    /// `not a`, of a `bool`.
    Not(Box<TypedExpr>),
    /// Binary operator on two operands; both have the type of the result.
    Binary(Arithmetic, Box<TypedExpr>, Box<TypedExpr>),
    /// Comparison of two operands of one type, which yields `bool`.
    Compare(ComparePredicate, Box<TypedExpr>, Box<TypedExpr>),
    /// `select(condition, then, otherwise)`: the second operand if the first is true, otherwise the third.
    Select(Box<TypedExpr>, Box<TypedExpr>, Box<TypedExpr>),
    /// Mathematical function; its operands have the type of the result.
    Call(MathFunction, Vec<TypedExpr>),
    /// Conversion of an operand of another type. A cast to a narrow type, `f16(x)`, is a conversion to that type inside
    /// a conversion back to its compute type; narrow types occur nowhere else.
    Convert(Box<TypedExpr>),
}

impl TypedExprKind {
    /// Copy of an operation in which `operand` gives each operand. Reads, and their indices and boundary values, are
    /// copied unchanged.
    ///
    /// # Errors
    /// The first error of `operand`.
    pub fn with_operands<E>(
        &self,
        operand: &mut dyn FnMut(&TypedExpr) -> Result<TypedExpr, E>,
    ) -> Result<Self, E> {
        let mut of = |value: &TypedExpr| operand(value).map(Box::new);
        Ok(match self {
            Self::Negate(a) => Self::Negate(of(a)?),
            Self::Not(a) => Self::Not(of(a)?),
            Self::Convert(a) => Self::Convert(of(a)?),
            Self::Binary(op, a, b) => Self::Binary(*op, of(a)?, of(b)?),
            Self::Compare(op, a, b) => Self::Compare(*op, of(a)?, of(b)?),
            Self::Select(c, a, b) => Self::Select(of(c)?, of(a)?, of(b)?),
            Self::Call(function, arguments) => {
                let all = arguments.iter().map(operand);
                Self::Call(*function, all.collect::<Result<_, _>>()?)
            }
            Self::Integer(_)
            | Self::Float(_)
            | Self::Bool(_)
            | Self::Index(_)
            | Self::Read(_)
            | Self::Gather(_)
            | Self::Reduced => self.clone(),
        })
    }
}

/// Read of an element of a tensor at an affine index: `A[n, h + r, 2 * w]`.
#[derive(Debug, Clone, PartialEq)]
pub struct ElementRead {
    /// Tensor that is read.
    pub buffer: BufferRef,
    /// One index per axis of the tensor, over axes and symbols of the kernel.
    pub index: Vec<Expr>,
    /// Value that replaces the element at out-of-bounds indices; `None` if all indices are proven in bounds.
    pub outside: Option<BoundaryCondition>,
}

impl ElementRead {
    /// Position in `written` of each axis in `read`, the axes of the tensor, if the indices of the read are the axes of
    /// `written` in some order, with equal extents. The index of an axis of extent 1 may be 0.
    pub(crate) fn permutation(&self, read: &[Axis], written: &[Axis]) -> Option<Vec<usize>> {
        let mut left: Vec<usize> = (0..written.len()).collect();
        let named = |index: &Expr| match index.as_var()? {
            Var::Axis(axis) => usize::try_from(axis).ok(),
            _ => None,
        };
        let mut take = |wanted: &dyn Fn(usize) -> bool, axis: &Axis| {
            let equal =
                |number: usize| written.get(number).is_some_and(|own| own.extent == axis.extent);
            let place = left.iter().position(|number| wanted(*number) && equal(*number))?;
            Some(left.remove(place))
        };
        let mut axes = vec![None; read.len()];
        for ((index, axis), place) in self.index.iter().zip(read).zip(&mut axes) {
            if let Some(number) = named(index) {
                *place = Some(take(&|other| other == number, axis)?);
            }
        }
        for ((index, axis), place) in self.index.iter().zip(read).zip(&mut axes) {
            if place.is_none() {
                let is_only = index.as_const() == Some(0) && axis.extent.as_const() == Some(1);
                *place = is_only.then(|| take(&|_| true, axis)).flatten();
            }
        }
        let axes: Option<Vec<usize>> = axes.into_iter().collect();
        axes.filter(|_| left.is_empty())
    }
}

/// Read of an element of a tensor at an index that is itself read from a tensor: `table[ids[t], d]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Gather {
    /// Tensor that is read.
    pub buffer: BufferRef,
    /// One index per axis of the tensor.
    pub index: Vec<DataIndex>,
    /// Value that replaces the element at out-of-bounds indices; it has the compute type of the element.
    pub outside: TypedExpr,
}

/// Index along one axis in a gather or scatter.
#[derive(Debug, Clone, PartialEq)]
pub struct DataIndex {
    /// Value of the index, of type `i64`.
    pub value: TypedExpr,
    /// True if the index may be out of bounds, so that generated code checks it.
    pub is_checked: bool,
}

/// Value that replaces an element at out-of-bounds indices, and the axes along which they occur.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundaryCondition {
    /// Value in place of the element; it has the compute type of the element.
    pub value: TypedExpr,
    /// Positions of the tensor's axes along which the index may be negative.
    pub below: Vec<usize>,
    /// Positions of the tensor's axes along which the index may be equal to or above the extent.
    pub beyond: Vec<usize>,
}

/// Binary operator of a scalar expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    /// `a + b` of integers or floats.
    Add,
    /// `a - b` of integers or floats.
    Subtract,
    /// `a * b` of integers or floats.
    Multiply,
    /// `a / b` of floats.
    Divide,
    /// `a // b` of integers, rounded towards minus infinity.
    FloorDivide,
    /// `a % b` of integers, with the sign of the divisor.
    Modulo,
    /// `a and b` of booleans.
    And,
    /// `a or b` of booleans.
    Or,
    /// `min(a, b)`; of floats, NaN only if both are NaN.
    Min,
    /// `max(a, b)`; of floats, NaN only if both are NaN.
    Max,
}

/// Predicate of a comparison of two scalar values: `==`, `!=`, `<`, `<=`, `>` or `>=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are their own names")]
pub enum ComparePredicate {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Mathematical function of one number, or of two (`pow`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the variants are their own names")]
pub enum MathFunction {
    Abs,
    Exp,
    Log,
    Sqrt,
    /// Reciprocal square root, `1 / sqrt(x)`.
    Rsqrt,
    Tanh,
    Erf,
    Floor,
    Pow,
}

impl MathFunction {
    /// Name of the function in manifests and generated code.
    pub fn name(self) -> &'static str {
        match self {
            Self::Abs => "abs",
            Self::Exp => "exp",
            Self::Log => "log",
            Self::Sqrt => "sqrt",
            Self::Rsqrt => "rsqrt",
            Self::Tanh => "tanh",
            Self::Erf => "erf",
            Self::Floor => "floor",
            Self::Pow => "pow",
        }
    }
}

/// Loop schedule of a kernel from the manifest. Loops have the names of the output's storage axes and of reduced axes.
///
/// A name may denote loops of several statements: each name in `loops` is a loop of at least one, and a split applies
/// to every statement that has the loop. `vectorize` applies to the statements in which the loop is contiguous,
/// `parallel` to those in which the loop is not a reduction, each to at least one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoopSchedule {
    /// Names of loops in their required order, outermost first; the planner places the other loops.
    pub loops: Vec<Spanned<String>>,
    /// Splits and fusions of loops, in the order of application.
    pub steps: Vec<LoopStep>,
    /// Names of the loops to unroll.
    pub unroll: Vec<Spanned<String>>,
    /// Name of the loop to vectorize; `None`: the planner chooses.
    pub vectorize: Option<Spanned<String>>,
    /// Names of the loops to run in parallel on CPU threads.
    pub parallel: Vec<Spanned<String>>,
}

impl StatementSchedule {
    /// Schedule without loops and directives.
    pub fn new(isa: Option<VectorIsa>, place: FileSpan) -> Self {
        Self {
            isa,
            steps: Vec::new(),
            loops: Vec::new(),
            partial_sums: None,
            split_k: None,
            unroll: Vec::new(),
            parallel: Vec::new(),
            caches: Vec::new(),
            place,
        }
    }
}

/// Change of the loops of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoopStep {
    /// `split w by=8`.
    Split(Split),
    /// `fuse h w as=hw`.
    Fuse(Fuse),
}

impl LoopStep {
    /// Names of the loops that the step replaces.
    pub fn loops(&self) -> Vec<&Spanned<String>> {
        match self {
            Self::Split(split) => vec![&split.axis],
            Self::Fuse(fuse) => vec![&fuse.outer, &fuse.inner],
        }
    }

    /// Keyword of the directive in manifests.
    pub fn keyword(&self) -> &'static str {
        match self {
            Self::Split(split) if split.is_tile => "tile",
            Self::Split(_) => "split",
            Self::Fuse(_) => "fuse",
        }
    }

    /// Name of the first loop that the step replaces.
    pub fn first_loop(&self) -> &Spanned<String> {
        match self {
            Self::Split(split) => &split.axis,
            Self::Fuse(fuse) => &fuse.outer,
        }
    }
}

/// `fuse h w as=hw`: replaces two loops by one over all pairs of their iterations, in which the inner one varies
/// fastest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fuse {
    /// Name of the outer loop.
    pub outer: Spanned<String>,
    /// Name of the inner loop.
    pub inner: Spanned<String>,
    /// Name of the loop that replaces them.
    pub name: String,
}

/// Complete schedule of a statement on CPUs, a `schedule` node: the planner adds no loop, register tile or packing.
#[derive(Debug, Clone)]
pub struct StatementSchedule {
    /// Instruction set for which the schedule holds; `None`: all.
    pub isa: Option<VectorIsa>,
    /// Splits and fusions of loops, in the order of application.
    pub steps: Vec<LoopStep>,
    /// Names of all loops with more than one iteration, outermost first. A written loop inside a reduced one belongs to
    /// the register tile.
    pub loops: Vec<Spanned<String>>,
    /// Name of the reduced loop each of whose iterations has accumulators of its own; it is innermost.
    pub partial_sums: Option<Spanned<String>>,
    /// Name of the reduced loop, the outermost one, over chunks of the reduction: each chunk continues from the results
    /// that the previous one has stored.
    pub split_k: Option<Spanned<String>>,
    /// Names of the loops to unroll.
    pub unroll: Vec<Spanned<String>>,
    /// Names of the loops to run in parallel on CPU threads.
    pub parallel: Vec<Spanned<String>>,
    /// Tiles of operands that are copied to a buffer inside the loops, each of a different tensor.
    pub caches: Vec<TileCache>,
    /// Span of the `schedule` node.
    pub place: FileSpan,
}

/// `split w by=8`: splits `w` into `w_outer` and `w_inner`, which has extent 8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Name of the loop that is split.
    pub axis: Spanned<String>,
    /// Extent of the inner loop, at least 1.
    pub by: i64,
    /// True for a split by a `tile` directive: if the planner orders the loops, the inner loops of a tile are
    /// innermost.
    pub is_tile: bool,
}
