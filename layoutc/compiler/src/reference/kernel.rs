//! Reference implementation of a kernel: serial loops over logical axes for one statement after the other, without loop
//! schedules. Offsets of operands are calls of their offset functions. Statements that were fused with a reduction are
//! separate, unless the intermediates between them would then become parameters. Test programs compare the generated
//! function with it.

use layoutc_algebra::expr::{Expr as Algebra, Predicate, Var};
use layoutc_algebra::symbol::Axis;

use crate::base::dtype::Scalar;
use crate::ir::{Compare, Expr, Function, LoopKind, Param, ParamType, Returns, Stmt, Value};
use crate::loops::ExecutionModel;
use crate::loops::buffers::{KernelBuffer, bound};
use crate::loops::error::PlanError;
use crate::loops::range::Range;
use crate::loops::relayout::address_map::dense_strides;
use crate::lower::context::{Context, Naming};
use crate::lower::expr::{Binding, add, lower, multiply};
use crate::lower::index::dense_offset;
use crate::lower::kernel::buffers::{BufferBinding, is_given, on_the_stack};
use crate::lower::kernel::indexed::{IndexedAccess, Lowering, Named};
use crate::lower::kernel::prologue::{KernelPrologue, avoiding, symbol};
use crate::lower::kernel::reduction;
use crate::lower::kernel::value::{ValueLowering, condition, convert, inside, load};
use crate::lower::names::Namer;
use crate::machine::AVX512;
use crate::model::Manifest;
use crate::model::compute::{
    BufferRef, DataIndex, ElementRead, Gather, KernelInstance, Statement, TypedExpr,
};

/// Reference implementation of one kernel instance.
#[derive(Debug, Clone)]
pub(crate) struct ReferenceKernel {
    /// Function of the reference implementation. If it was planned with samples, its last parameter is `every`.
    pub function: Function,
    /// For each operand, true if only those elements are computed whose row-major index is a multiple of `every`.
    pub is_sampled: Vec<bool>,
}

/// Plans the reference implementation of one instance as function `name`. With `samples`, it computes only a sample of
/// the elements of each operand that exactly one statement writes and none reads, unless the instance has a scatter.
///
/// # Errors
/// [`PlanError`], for example if an integer does not fit 64 bits or an expression nests too deep.
pub(crate) fn plain(
    manifest: &Manifest,
    compute: &KernelInstance,
    naming: &Naming<'_>,
    (name, samples): (String, bool),
) -> Result<ReferenceKernel, PlanError> {
    let avoid = avoiding(naming);
    let (written, whole) = (compute.as_written(), compute.computed_as_a_whole());
    // An intermediate that the function of the kernel does not have is too large for the stack, or of unknown size, if
    // it would be a parameter here.
    let has_params = |compute: &KernelInstance| {
        compute.locals.iter().filter(|tensor| is_given(compute, tensor)).count()
    };
    let is_stacked = has_params(&written) == has_params(&whole);
    let compute: &KernelInstance = if is_stacked { &written } else { &whole };
    let processor = ExecutionModel::Cpu(AVX512);
    let buffers = KernelBuffer::all(manifest, compute, processor)?;
    let frame = KernelPrologue::new(manifest, compute, buffers, naming, &avoid, processor)?;
    let KernelPrologue { symbols, buffers, mut params, mut namer, .. } = frame;
    let every = samples.then(|| namer.name("every"));
    let count = |name: &String| Param { name: name.clone(), ty: ParamType::Index };
    params.extend(every.iter().map(count));
    let scope = ReferenceBuilder { manifest, compute, naming, symbols, buffers, every };
    let stacked =
        scope.buffers.iter().filter(|bound| bound.buffer.is_local).filter_map(on_the_stack);
    let mut body: Vec<Stmt> = stacked.collect();
    for number in 0..compute.statements.len() {
        let stmts = scope.statement(number, namer.clone())?;
        // Without a loop around them, the variables of a statement are visible in the next statements.
        for stmt in &stmts {
            if let Stmt::Variable { name, .. }
            | Stmt::LetIndex { name, .. }
            | Stmt::LetElement { name, .. } = stmt
            {
                namer.name(name);
            }
        }
        body.extend(stmts);
    }
    let mut doc: Vec<String> =
        compute.statements.iter().map(|statement| statement.text.clone()).collect();
    doc.push("One element after the other, by definition.".to_owned());
    let operands = 0..compute.operands.len();
    let is_sampled = operands.map(|k| samples && scope.is_sampled(BufferRef::Operand(k))).collect();
    let function = Function { name, doc, returns: Returns::Nothing, params, body };
    Ok(ReferenceKernel { function, is_sampled })
}

/// Context of all statements of an instance.
struct ReferenceBuilder<'a> {
    manifest: &'a Manifest,
    compute: &'a KernelInstance,
    naming: &'a Naming<'a>,
    symbols: Vec<Binding>,
    buffers: Vec<BufferBinding>,
    every: Option<String>,
}

impl ReferenceBuilder<'_> {
    /// True if only a sample of `target` is computed if samples are requested: `target` is an operand that one
    /// statement writes and none reads, in an instance without scatters.
    fn is_sampled(&self, target: BufferRef) -> bool {
        let statements = || self.compute.statements.iter();
        let writes = statements().filter(|statement| statement.target == target).count();
        matches!(target, BufferRef::Operand(_))
            && writes == 1
            && statements().all(|statement| statement.scatter.is_none() && !statement.reads(target))
    }

    fn statement(&self, number: usize, mut namer: Namer<'_>) -> Result<Vec<Stmt>, PlanError> {
        let statement = self.compute.statements.get(number).ok_or(PlanError::Scope)?;
        let names: Vec<String> = statement.axes.iter().map(|axis| namer.name(&axis.name)).collect();
        let here = ReferenceElement { of: self, statement, names: &names, namer };
        let (written, reduced) = statement.axes.split_at(statement.written_axes);
        let (outer, inner) = names.split_at(statement.written_axes);
        let body = if reduced.is_empty() || statement.scatter.is_some() {
            here.alone()?
        } else {
            let total = here.namer.clone().name(reduction::accumulator_name(statement.op));
            let dtype = statement.accumulator.element();
            let (into, how) = (Value::name(&total), reduction::how(statement.op));
            let (mut inside, value) = here.value()?;
            let value = Stmt::Update { into: into.clone(), how, dtype, value };
            inside.push(value);
            let first = Stmt::Variable { name: total, dtype, value: here.first()? };
            let mut body = vec![first];
            body.extend(here.loops(reduced, inner, inside)?);
            let index = here.written()?;
            let named = Named::new(here.namer.clone());
            let stored = match &statement.epilogue {
                Some(epilogue) => here.with(&named, Some(&into), &|here| here.number(epilogue))?,
                None => into,
            };
            body.extend(named.into_stmts());
            body.push(here.store(stored, &index)?);
            body
        };
        let body = match &self.every {
            Some(every) if self.is_sampled(statement.target) => {
                let number = dense_offset(written, outer, &|var| here.named(var))?;
                let (a, b) = (Box::new(number), Box::new(Expr::name(every)));
                let condition = Expr::compare(Compare::Eq, Expr::Mod { a, b }, Expr::int(0));
                vec![Stmt::If { condition, likely: false, body, otherwise: Vec::new() }]
            }
            _ => body,
        };
        let mut all = Vec::new();
        if self.compute.statements.len() > 1 {
            all.push(Stmt::Comment { text: statement.text.clone() });
        }
        if statement.scatter.is_some() {
            all.extend(here.loops(&statement.axes, &names, body)?);
        } else {
            all.extend(here.loops(written, outer, body)?);
        }
        Ok(all)
    }
}

/// Context of one statement at one point of its iteration domain.
struct ReferenceElement<'a> {
    /// Context of the whole instance.
    of: &'a ReferenceBuilder<'a>,
    statement: &'a Statement,
    /// Variable names of the statement's axes, in order.
    names: &'a [String],
    /// Namer of the function, with the names in use.
    namer: Namer<'a>,
}

impl ReferenceElement<'_> {
    /// Binding of an axis or symbol; `None` for any other variable. An axis has an unbounded range, so that no floor
    /// division of an axis is lowered as a truncating one.
    fn named(&self, var: Var) -> Option<Binding> {
        match var {
            Var::Axis(k) => {
                let tree = Expr::name(self.names.get(usize::try_from(k).ok()?)?);
                Some(Binding { tree, range: Range::ANY })
            }
            _ => symbol(&self.of.symbols, var),
        }
    }

    fn lower(&self, expr: &Algebra) -> Result<Expr, PlanError> {
        lower(expr, &|var| self.named(var))
    }

    /// Loops over `axes` with the variables `names` around `body`, the first axis outermost.
    fn loops(
        &self,
        axes: &[Axis],
        names: &[String],
        body: Vec<Stmt>,
    ) -> Result<Vec<Stmt>, PlanError> {
        let mut body = body;
        for (axis, name) in axes.iter().zip(names).rev() {
            let (name, from, to) = (name.clone(), Expr::int(0), self.lower(&axis.extent)?);
            body = vec![Stmt::For { name, from, to, step: 1, kind: LoopKind::Serial, body }];
        }
        Ok(body)
    }

    fn bound(&self, buffer: BufferRef) -> Result<&BufferBinding, PlanError> {
        bound(&self.of.buffers, self.of.compute, buffer).ok_or(PlanError::Scope)
    }

    /// Offset of the element of `buffer` with the logical index `index`, in elements: a call of the operand's offset
    /// function, or row-major for an intermediate tensor.
    fn offset(&self, buffer: BufferRef, index: &[Expr]) -> Result<Expr, PlanError> {
        let ReferenceBuilder { manifest, compute, naming, symbols, .. } = self.of;
        let operand = match buffer {
            BufferRef::Operand(k) => compute.operands.get(k).ok_or(PlanError::Scope)?,
            BufferRef::Local(_) => {
                let mut offset = Expr::int(0);
                let strides = dense_strides(self.bound(buffer)?.tensor().layout.logical())?;
                for (index, stride) in index.iter().zip(strides) {
                    offset = add(offset, multiply(index.clone(), self.lower(&stride)?)?)?;
                }
                return Ok(offset);
            }
        };
        let tensor = manifest.tensor(operand.tensor).ok_or(PlanError::Scope)?;
        let context = Context::new(tensor, naming);
        let own = context.symbols.iter().map(|symbol| {
            let mut all = compute.symbols.iter();
            let number = all.position(|other| other.name == symbol.facts.name);
            let binding = number.and_then(|number| symbols.get(number)).ok_or(PlanError::Scope)?;
            Ok(binding.tree.clone())
        });
        let args = own.chain(index.iter().cloned().map(Ok));
        Ok(Expr::call(&context.function("offset"), args.collect::<Result<_, PlanError>>()?))
    }

    /// Logical index of the target's element for a statement without scatter: the written axes.
    fn written(&self) -> Result<Vec<Expr>, PlanError> {
        let axes = (0..self.statement.written_axes).map(|k| {
            let k = u32::try_from(k).map_err(|_| PlanError::Scope)?;
            self.lower(&Algebra::var(Var::Axis(k)))
        });
        axes.collect()
    }

    /// Target buffer, and the offset in it of the element with the logical index `index`, in elements.
    fn target(&self, index: &[Expr]) -> Result<(&BufferBinding, Expr), PlanError> {
        let target = self.statement.target;
        Ok((self.bound(target)?, self.offset(target, index)?))
    }

    /// Value of the target's element at the logical index `index` before it is written, as the initial value of an
    /// accumulator, see [`reduction::as_first`].
    fn held(&self, index: &[Expr]) -> Result<Value, PlanError> {
        let (target, offset) = self.target(index)?;
        let ty = target.tensor().dtype.scalar.compute_type();
        let held =
            convert(load(target, offset), ty.element(), self.statement.accumulator.element());
        Ok(reduction::as_first(self.statement, held))
    }

    /// Initial value of the accumulator: the target's element with `accumulate`, else the identity of the reduction.
    fn first(&self) -> Result<Value, PlanError> {
        if self.statement.accumulate {
            return self.held(&self.written()?);
        }
        Ok(reduction::identity(self.statement.op, self.statement.accumulator))
    }

    /// Statements that store one value without an accumulator: for a statement without reduced axes, or with a scatter.
    /// With `accumulate`, the operator of the statement combines the value with the target's element.
    fn alone(&self) -> Result<Vec<Stmt>, PlanError> {
        let named = Named::new(self.namer.clone());
        let (index, is_inside) = match &self.statement.scatter {
            None => (self.written()?, None),
            Some(index) => {
                let place = self.place(&named, self.statement.target, index)?;
                (place.index, place.is_inside)
            }
        };
        let value = self.number(&named)?;
        let value = match reduction::operator(self.statement.op) {
            Some(op) if self.statement.accumulate => {
                Value::binary(op, self.statement.accumulator.element(), self.held(&index)?, value)
            }
            _ => value,
        };
        let store = self.store(value, &index)?;
        let is_inside = is_inside.map(|value| (named.name("is_inside"), value));
        let mut body = named.into_stmts();
        match is_inside {
            None => body.push(store),
            Some((name, value)) => {
                let dtype = Scalar::Bool.element();
                body.push(Stmt::Variable { name: name.clone(), dtype, value });
                let (condition, body_then) = (Expr::Name { name }, vec![store]);
                body.push(Stmt::If {
                    condition,
                    likely: false,
                    body: body_then,
                    otherwise: Vec::new(),
                });
            }
        }
        Ok(body)
    }

    fn store(&self, value: Value, index: &[Expr]) -> Result<Stmt, PlanError> {
        let (target, index) = self.target(index)?;
        let value = convert(value, self.statement.stored_type().element(), target.tensor().dtype);
        let (buffer, through) = (target.name.clone(), target.store.clone());
        Ok(Stmt::Store { buffer, index, value, through })
    }

    /// Pair of the declarations of data-dependent indices and the value that uses them, in the accumulator's type.
    fn value(&self) -> Result<(Vec<Stmt>, Value), PlanError> {
        let named = Named::new(self.namer.clone());
        let value = self.number(&named)?;
        Ok((named.into_stmts(), value))
    }

    fn number(&self, named: &Named<'_>) -> Result<Value, PlanError> {
        let value = self.with(named, None, &|here| here.number(&self.statement.value))?;
        let (from, to) = (self.statement.value.ty, self.statement.accumulator);
        Ok(convert(value, from.element(), to.element()))
    }

    /// Logical index of a data-dependent access to `buffer`, lowered from `indices`, and its bounds check. Declarations
    /// of its components are added to `named`.
    fn place(
        &self,
        named: &Named<'_>,
        buffer: BufferRef,
        indices: &[DataIndex],
    ) -> Result<IndexedAccess, PlanError> {
        let found = self.bound(buffer)?;
        self.with(named, None, &|here| {
            let number = |value: &TypedExpr| here.number(value);
            let index = |expr: &Algebra| self.lower(expr);
            let symbol = |var| symbol(&self.of.symbols, var);
            // The reference implementation asserts nothing about indices.
            let (compute, processor) = (self.of.compute, ExecutionModel::Gpu);
            let symbol = &symbol;
            let lowering = Lowering { number: &number, index: &index, symbol, compute, processor };
            named.place(found, indices, &lowering)
        })
    }

    /// Result of `run` with functions that lower the reads, indices and conditions of the statement's value, or of its
    /// epilogue if `reduced` is the reduced value. Declarations of data-dependent indices are added to `named`.
    fn with<T>(
        &self,
        named: &Named<'_>,
        reduced: Option<&Value>,
        run: &dyn Fn(&ValueLowering<'_>) -> Result<T, PlanError>,
    ) -> Result<T, PlanError> {
        let read = |read: &ElementRead| {
            let found = self.bound(read.buffer)?;
            let axes = found.tensor().layout.logical();
            let extents: Vec<Algebra> = axes.iter().map(|axis| axis.extent.clone()).collect();
            let index = read.index.iter().map(|index| self.lower(index));
            let index = index.collect::<Result<Vec<_>, PlanError>>()?;
            let element = load(found, self.offset(read.buffer, &index)?);
            Ok((element, inside(read, &read.index, &extents)))
        };
        let gather = |gather: &Gather| {
            let IndexedAccess { index, is_inside } =
                self.place(named, gather.buffer, &gather.index)?;
            let found = self.bound(gather.buffer)?;
            Ok((load(found, self.offset(gather.buffer, &index)?), is_inside))
        };
        let index = |expr: &Algebra| self.lower(expr);
        let condition = |all: &Predicate| condition(&all.all, &|var| self.named(var));
        run(&ValueLowering {
            read: &read,
            gather: &gather,
            reduced,
            index: &index,
            condition: &condition,
        })
    }
}
