//! One iteration of a nest: the value that it computes, the update of the accumulator, and the store.

use layoutc_algebra::expr::{Expr as Algebra, ExprComparison, Predicate};

use crate::ir::{Expr, ReduceOp, Stmt, Value};
use crate::loops::buffers::bound;
use crate::loops::error::PlanError;
use crate::lower::expr::{add, literal, multiply};
use crate::lower::kernel::indexed::{Lowering, Named, element};
use crate::lower::kernel::nest::{Access, AccessUse, LoopState, Nest};
use crate::lower::kernel::reduction;
use crate::lower::kernel::value::{Indexed, ValueLowering, condition, convert, fetched, load};
use crate::model::compute::{ElementRead, Gather, TypedExpr};

impl<'a> Nest<'a> {
    /// Statement `into op= value` that updates an accumulator, in the accumulator's type; `how` is the operator.
    pub(crate) fn gather(&self, into: Value, how: ReduceOp, value: Value) -> Stmt {
        Stmt::Update { into, how, dtype: self.statement.accumulator.element(), value }
    }

    /// Accumulator of the current element: `sum`, or `sum[i * 4 + j]` in a register tile.
    pub(crate) fn item(&self) -> Result<Value, PlanError> {
        self.item_at(None)
    }

    /// Accumulator as from [`Nest::item`], with another value for the variable of one loop: `other` is the pair (loop,
    /// value), or `None` for no change.
    pub(crate) fn item_at(&self, other: Option<(usize, &Expr)>) -> Result<Value, PlanError> {
        let mut index: Option<Expr> = None;
        for (number, rounds) in self.order.register_tile(&self.domain).zip(&self.array_extents) {
            let there = other.filter(|(own, _)| *own == number).map(|(_, round)| round.clone());
            let name = there.unwrap_or_else(|| self.named(number));
            index = Some(match index {
                None => name,
                Some(index) => add(multiply(index, literal(*rounds)?)?, name)?,
            });
        }
        let array = self.accumulator.clone();
        Ok(match index {
            None => Value::Name { name: array },
            Some(index) => Value::Item { array, index },
        })
    }

    /// Initial value of the accumulator: the target's element in the state `at` if the reduction continues from it,
    /// else the identity of the reduction.
    pub(crate) fn first(&self, at: &LoopState) -> Result<Value, PlanError> {
        if self.accumulates_into_output {
            return self.held(at);
        }
        Ok(reduction::identity(self.statement.op, self.statement.accumulator))
    }

    /// Value of the target's element at its offset in the state `at`, as the initial value of an accumulator, see
    /// [`reduction::as_first`].
    pub(crate) fn held(&self, at: &LoopState) -> Result<Value, PlanError> {
        let target = self.accesses.first().ok_or(PlanError::Scope)?;
        let offset = at.offsets.first().cloned().unwrap_or(Expr::int(0));
        let held = load(target.bound, offset);
        let ty = target.bound.tensor().dtype.scalar.compute_type();
        let held = convert(held, ty.element(), self.statement.accumulator.element());
        Ok(reduction::as_first(self.statement, held))
    }

    /// Epilogue of the stores that are being emitted; `None` without an epilogue, and for all chunks but the last
    /// (split-K).
    fn epilogue(&self) -> Option<&'a TypedExpr> {
        self.statement.epilogue.as_ref().filter(|_| !self.stores_sums)
    }

    /// Statements that store a value of the accumulator's type in the target: the value itself or, if the statement has
    /// an epilogue, the value of the epilogue.
    pub(crate) fn store(&self, at: &LoopState, value: Value) -> Result<Vec<Stmt>, PlanError> {
        let target = self.accesses.first().ok_or(PlanError::Scope)?;
        let (mut body, mut value) = (Vec::new(), value);
        if let Some(epilogue) = self.epilogue() {
            let named = Named::new(self.namer.clone());
            if !matches!(value, Value::Name { .. } | Value::Item { .. }) {
                let (name, dtype) = (named.name("reduced"), self.statement.accumulator.element());
                body.push(Stmt::Variable { name: name.clone(), dtype, value });
                value = Value::Name { name };
            }
            let reduced = Some(&value);
            let stored = self.with(at, &named, reduced, &|here| here.number(epilogue))?;
            body.extend(named.into_stmts());
            value = stored;
        }
        let index = at.offsets.first().cloned().unwrap_or(Expr::int(0));
        let ty = self.epilogue().map_or(self.statement.accumulator, |epilogue| epilogue.ty);
        let value = convert(value, ty.element(), target.bound.tensor().dtype);
        let (buffer, through) = (target.bound.name.clone(), target.bound.store.clone());
        body.push(Stmt::Store { buffer, index, value, through });
        Ok(body)
    }

    /// Pair of the declarations of data-dependent indices, and of the value of the current iteration that uses them, in
    /// the accumulator's type.
    pub(crate) fn update_value(&self, at: &LoopState) -> Result<(Vec<Stmt>, Value), PlanError> {
        let (from, to) = (self.statement.value.ty, self.statement.accumulator);
        let named = Named::new(self.namer.clone());
        let value = self.with(at, &named, None, &|here| here.number(&self.statement.value))?;
        Ok((named.into_stmts(), convert(value, from.element(), to.element())))
    }

    /// Element at a data-dependent index, and its bounds check, `None` if no check is needed. Declarations of the index
    /// are added to `named`.
    fn indexed(
        &self,
        at: &LoopState,
        named: &Named<'_>,
        gather: &Gather,
    ) -> Result<Indexed, PlanError> {
        let found = bound(self.buffers, self.compute, gather.buffer).ok_or(PlanError::Scope)?;
        let place = self.with(at, named, None, &|here| {
            let number = |value: &TypedExpr| here.number(value);
            let (index, symbol, compute, processor) =
                (here.index, self.symbol, self.compute, self.processor);
            let lowering = Lowering { number: &number, index, symbol, compute, processor };
            named.place(found, &gather.index, &lowering)
        })?;
        Ok((element(found, &place.index, self.symbol)?, place.is_inside))
    }

    /// Result of `run` with functions that lower the reads, indices and conditions of the statement's value, or of its
    /// epilogue if `reduced` is the reduced value. Declarations of data-dependent indices are added to `named`.
    fn with<T>(
        &self,
        at: &LoopState,
        named: &Named<'_>,
        reduced: Option<&Value>,
        run: &dyn Fn(&ValueLowering<'_>) -> Result<T, PlanError>,
    ) -> Result<T, PlanError> {
        let read = |read: &ElementRead| {
            let part = if reduced.is_some() { AccessUse::Epilogue } else { AccessUse::Value };
            let is_it = |access: &Access<'_>| access.read == Some(read) && access.part == part;
            let k = self.accesses.iter().position(is_it).ok_or(PlanError::Scope)?;
            let access = self.accesses.get(k).ok_or(PlanError::Scope)?;
            let number = match &access.bound.texels {
                Some([fetch, _]) => {
                    let place = access.place.iter().map(|index| self.lower(index));
                    let args = [Ok(Expr::name(&access.bound.name))].into_iter().chain(place);
                    let args = args.collect::<Result<Vec<_>, PlanError>>()?;
                    fetched(access.bound, fetch, args)
                }
                None => load(access.bound, at.offsets.get(k).cloned().unwrap_or(Expr::int(0))),
            };
            let unsure = |condition: &&ExprComparison| !at.proven.contains(condition);
            let unsure = access.inside.iter().filter(unsure).cloned().collect();
            Ok((number, unsure))
        };
        let index = |expr: &Algebra| {
            let there = self.domain.at(expr, &self.domain.axes)?;
            self.lower(&there)
        };
        let condition = |all: &Predicate| condition(&all.all, &|var| self.scope(var));
        let gather = |gather: &Gather| self.indexed(at, named, gather);
        run(&ValueLowering {
            read: &read,
            gather: &gather,
            reduced,
            index: &index,
            condition: &condition,
        })
    }
}
