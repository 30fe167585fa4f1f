//! A kernel as its text says it: loops over logical axes, one element after the other, whatever the layouts. Test programs
//! hold the generated function against it.

use layoutc_algebra::expr::{Expr as Algebra, Predicate, Var};
use layoutc_algebra::symbol::Axis;

use super::super::Context;
use super::super::index::dense_offset;
use super::super::lower::{Binding, PlanError, Range, add, lower, multiply};
use super::super::names::Namer;
use super::super::side::dense_strides;
use super::indexed::{Lowering, Named, Place};
use super::value::{Here, condition, convert, inside, load, scalar};
use super::{Bound, Frame, Naming, Runs, avoiding, bound, gather, on_the_stack, symbol};
use crate::base::dtype::Scalar;
use crate::ir::{Compare, Expr, Function, LoopKind, Param, ParamType, Returns, Stmt, Value};
use crate::machine::AVX512;
use crate::model::Manifest;
use crate::model::compute::{
    BufferRef, DataIndex, ElementRead, Gather, KernelInstance, Statement, TypedExpr,
};

/// The definition of one instance.
#[derive(Debug, Clone)]
pub struct Plain {
    /// Its parameters are those of the kernel, behind them `every` where it computes some elements only.
    pub function: Function,
    /// Of each operand, whether it computes only the elements whose number in row-major order is a multiple of `every`.
    pub is_sampled: Vec<bool>,
}

/// Plans the definition of one instance, called `name`. With `samples` it leaves out elements that nothing else needs.
///
/// # Errors
/// [`PlanError`] where a number leaves 64 bits or an expression nests too deep.
pub fn plain(
    manifest: &Manifest,
    compute: &KernelInstance,
    naming: &Naming<'_>,
    (name, samples): (String, bool),
) -> Result<Plain, PlanError> {
    let avoid = avoiding(naming);
    let frame = Frame::new(manifest, compute, naming, &avoid, Runs::OnCores(AVX512))?;
    let Frame { symbols, buffers, mut params, mut namer, .. } = frame;
    let every = samples.then(|| namer.name("every"));
    let count = |name: &String| Param { name: name.clone(), ty: ParamType::Index };
    params.extend(every.iter().map(count));
    let scope = Definition { manifest, compute, naming, symbols, buffers, every };
    let stacked = scope.buffers.iter().filter(|bound| bound.is_local).filter_map(on_the_stack);
    let mut body: Vec<Stmt> = stacked.collect();
    for number in 0..compute.statements.len() {
        body.extend(scope.statement(number, namer.clone())?);
    }
    let mut doc: Vec<String> =
        compute.statements.iter().map(|statement| statement.text.clone()).collect();
    doc.push("One element after the other, by definition.".to_owned());
    let operands = 0..compute.operands.len();
    let is_sampled = operands.map(|k| samples && scope.is_sampled(BufferRef::Operand(k))).collect();
    let function = Function { name, doc, returns: Returns::Nothing, params, body };
    Ok(Plain { function, is_sampled })
}

/// What all statements know.
struct Definition<'a> {
    manifest: &'a Manifest,
    compute: &'a KernelInstance,
    naming: &'a Naming<'a>,
    symbols: Vec<Binding>,
    buffers: Vec<Bound>,
    every: Option<String>,
}

impl Definition<'_> {
    /// Whether some elements of what is written are left out: one statement writes it, and none reads it.
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
        let here = At { of: self, statement, names: &names, namer };
        let (written, reduced) = statement.axes.split_at(statement.written_axes);
        let (outer, inner) = names.split_at(statement.written_axes);
        let body = if reduced.is_empty() || statement.scatter.is_some() {
            here.alone()?
        } else {
            let total = here.namer.clone().name(gather::word(statement.op));
            let dtype = scalar(statement.accumulator);
            let (into, how) = (Value::name(&total), gather::how(statement.op));
            let (mut inside, value) = here.value()?;
            let value = Stmt::Update { into: into.clone(), how, dtype, value };
            inside.push(value);
            let first = Stmt::Variable { name: total, dtype, value: here.first()? };
            let mut body = vec![first];
            body.extend(here.rounds(reduced, inner, inside)?);
            let index = here.written()?;
            body.push(here.store(into, &index)?);
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
            all.extend(here.rounds(&statement.axes, &names, body)?);
        } else {
            all.extend(here.rounds(written, outer, body)?);
        }
        Ok(all)
    }
}

/// One element of a statement.
struct At<'a> {
    of: &'a Definition<'a>,
    statement: &'a Statement,
    /// What the axes are called.
    names: &'a [String],
    /// The names that are taken.
    namer: Namer<'a>,
}

impl At<'_> {
    /// Without ranges, so that no division is taken for one of numbers that are not negative.
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

    /// Loops over axes, the first outermost.
    fn rounds(
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

    fn bound(&self, buffer: BufferRef) -> Result<&Bound, PlanError> {
        bound(&self.of.buffers, self.of.compute, buffer).ok_or(PlanError::Scope)
    }

    /// Where an element is: an operand's by its own function, an intermediate's in row-major order.
    fn offset(&self, buffer: BufferRef, index: &[Expr]) -> Result<Expr, PlanError> {
        let Definition { manifest, compute, naming, symbols, .. } = self.of;
        let operand = match buffer {
            BufferRef::Operand(k) => compute.operands.get(k).ok_or(PlanError::Scope)?,
            BufferRef::Local(_) => {
                let mut offset = Expr::int(0);
                let strides = dense_strides(self.bound(buffer)?.tensor.layout.logical())?;
                for (index, stride) in index.iter().zip(strides) {
                    offset = add(offset, multiply(index.clone(), self.lower(&stride)?)?)?;
                }
                return Ok(offset);
            }
        };
        let tensor = manifest.tensors.get(operand.tensor).ok_or(PlanError::Scope)?;
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

    /// The index of the element that is written, where that is the axes.
    fn written(&self) -> Result<Vec<Expr>, PlanError> {
        let axes = (0..self.statement.written_axes).map(|k| {
            let k = u32::try_from(k).map_err(|_| PlanError::Scope)?;
            self.lower(&Algebra::var(Var::Axis(k)))
        });
        axes.collect()
    }

    /// The element that is written.
    fn target(&self, index: &[Expr]) -> Result<(&Bound, Expr), PlanError> {
        let target = self.statement.target;
        Ok((self.bound(target)?, self.offset(target, index)?))
    }

    /// What the element holds before.
    fn held(&self, index: &[Expr]) -> Result<Value, PlanError> {
        let (target, offset) = self.target(index)?;
        let ty = target.tensor.dtype.scalar.compute_type();
        let held = convert(load(target, offset), scalar(ty), scalar(self.statement.accumulator));
        Ok(gather::as_first(self.statement, held))
    }

    /// What values are put together with.
    fn first(&self) -> Result<Value, PlanError> {
        if self.statement.accumulate {
            return self.held(&self.written()?);
        }
        Ok(gather::identity(self.statement.op, self.statement.accumulator))
    }

    /// The element, where there is one value, or each is combined with what the element holds.
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
        let value = match gather::operator(self.statement.op) {
            Some(op) if self.statement.accumulate => {
                Value::binary(op, scalar(self.statement.accumulator), self.held(&index)?, value)
            }
            _ => value,
        };
        let store = self.store(value, &index)?;
        let is_inside = is_inside.map(|value| (named.name("is_inside"), value));
        let mut body = named.into_stmts();
        match is_inside {
            None => body.push(store),
            Some((name, value)) => {
                let dtype = scalar(Scalar::Bool);
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
        let value = convert(value, scalar(self.statement.accumulator), target.tensor.dtype);
        let (buffer, through) = (target.name.clone(), target.store.clone());
        Ok(Stmt::Store { buffer, index, value, through })
    }

    /// The value in the accumulator's type, behind the names of indices that it needs.
    fn value(&self) -> Result<(Vec<Stmt>, Value), PlanError> {
        let named = Named::new(self.namer.clone());
        let value = self.number(&named)?;
        Ok((named.into_stmts(), value))
    }

    fn number(&self, named: &Named<'_>) -> Result<Value, PlanError> {
        let value = self.with(named, &|here| here.number(&self.statement.value))?;
        let (from, to) = (self.statement.value.ty, self.statement.accumulator);
        Ok(convert(value, scalar(from), scalar(to)))
    }

    /// Names the indices of an access.
    fn place(
        &self,
        named: &Named<'_>,
        buffer: BufferRef,
        indices: &[DataIndex],
    ) -> Result<Place, PlanError> {
        let found = self.bound(buffer)?;
        self.with(named, &|here| {
            let number = |value: &TypedExpr| here.number(value);
            let index = |expr: &Algebra| self.lower(expr);
            let symbol = |var| symbol(&self.of.symbols, var);
            // Nothing is asserted in the definition.
            let (compute, runs) = (self.of.compute, Runs::OnItems);
            let symbol = &symbol;
            let lowering = Lowering { number: &number, index: &index, symbol, compute, runs };
            named.place(found, indices, &lowering)
        })
    }

    fn with<T>(
        &self,
        named: &Named<'_>,
        run: &dyn Fn(&Here<'_>) -> Result<T, PlanError>,
    ) -> Result<T, PlanError> {
        let read = |read: &ElementRead| {
            let found = self.bound(read.buffer)?;
            let axes = found.tensor.layout.logical();
            let extents: Vec<Algebra> = axes.iter().map(|axis| axis.extent.clone()).collect();
            let index = read.index.iter().map(|index| self.lower(index));
            let index = index.collect::<Result<Vec<_>, PlanError>>()?;
            let element = load(found, self.offset(read.buffer, &index)?);
            Ok((element, inside(read, &read.index, &extents)))
        };
        let gather = |gather: &Gather| {
            let Place { index, is_inside } = self.place(named, gather.buffer, &gather.index)?;
            let found = self.bound(gather.buffer)?;
            Ok((load(found, self.offset(gather.buffer, &index)?), is_inside))
        };
        let index = |expr: &Algebra| self.lower(expr);
        let condition = |all: &Predicate| condition(&all.all, &|var| self.named(var));
        run(&Here { read: &read, gather: &gather, index: &index, condition: &condition })
    }
}
