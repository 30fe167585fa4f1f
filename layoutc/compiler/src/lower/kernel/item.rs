//! Kernels without shared memory: each thread executes one iteration of all outer loops of a statement.

use layoutc_algebra::expr::{BinOp, Expr as Algebra, ExprComparison};

use crate::ir::{
    Expr, Function, LaunchAxis, LoopKind, Primitive, ReduceOp, Returns, Stmt, Storage, Value,
};
use crate::loops::arith::{fold, product};
use crate::loops::error::PlanError;
use crate::loops::image::LANES;
use crate::lower::context::{Context, Naming};
use crate::lower::kernel::buffers::BufferBinding;
use crate::lower::kernel::nest::{Nest, Phase};
use crate::lower::kernel::prologue::{KernelPrologue, symbol};
use crate::lower::kernel::reduction;
use crate::lower::kernel::value::{condition, convert};
use crate::lower::launch::{Items, Kernel, delinearized};
use crate::lower::relayout::padding::fill_constant;

/// Kernel called `name` that writes the fill value to the whole target before the elements are written. `None` if there
/// is no padding to fill, or if the target is an image, an intermediate tensor, or has elements of less than a byte.
pub(crate) fn padding(
    prologue: &KernelPrologue<'_>,
    target: &BufferBinding,
    naming: &Naming<'_>,
    name: &str,
) -> Result<Option<Kernel>, PlanError> {
    let context = Context::new(target.tensor(), naming);
    let elements = target.tensor().layout.physical_elements();
    let is_plain = target.texels.is_none() && !context.is_packed() && !target.buffer.is_local;
    if !context.fills() || !is_plain {
        return Ok(None);
    }
    let items = Items::new(elements, &|var| symbol(&prologue.symbols, var))?;
    let mut namer = prologue.namer.clone();
    let [fill, slot] = ["fill", "slot"].map(|name| namer.name(name));
    let axes = vec![LaunchAxis { name: slot.clone(), extent: items.count.clone() }];
    let constant = fill_constant(&context, &fill)?;
    let (buffer, index) = (target.name.clone(), Expr::name(&slot));
    let value = Value::Name { name: fill };
    let store = Stmt::Store { buffer, index, value, through: None };
    let function = Function {
        name: name.to_owned(),
        doc: vec!["Writes the fill value to every slot; runs before the next.".to_owned()],
        returns: Returns::Nothing,
        params: prologue.params.clone(),
        body: vec![Stmt::Launch { axes }, constant, store],
    };
    let (range, function) = (vec![items], function);
    Ok(Some(Kernel { function, range, group: None, unaligned: None }))
}

impl Nest<'_> {
    /// Pair of the body of the kernel, and of the number of threads: one for each iteration of the loops `outer`.
    ///
    /// # Errors
    /// [`PlanError`], for example if an integer does not fit 64 bits or an expression nests too deep.
    pub(crate) fn write_item(mut self, outer: &[usize]) -> Result<(Vec<Stmt>, Items), PlanError> {
        let items = Items::new(&self.iterations(outer)?, self.symbol)?;
        let item = self.namer.name("item");
        let axes = vec![LaunchAxis { name: item.clone(), extent: items.count.clone() }];
        let mut body = vec![Stmt::Launch { axes }];
        body.extend(self.rounds_of(&item, outer)?);
        let mut at = self.start()?;
        for number in outer {
            at.open.push(*number);
            body.extend(self.advance(*number, &mut at, Phase::Whole, false)?);
        }
        let is_own = |condition: &&ExprComparison| {
            self.mentioned(condition).iter().all(|number| outer.contains(number))
        };
        let own: Vec<ExprComparison> = self.store_guards.iter().filter(is_own).cloned().collect();
        let mut inside = self.innermost(&at, Phase::Whole)?;
        if let Some(last) = outer.last() {
            inside = self.with_blocks(*last, inside)?;
        }
        if own.is_empty() || self.is_image() {
            body.extend(inside);
        } else {
            let condition = condition(&own, &|var| self.scope(var))?;
            body.push(Stmt::If { condition, likely: false, body: inside, otherwise: Vec::new() });
        }
        Ok((body, items))
    }

    /// Number of iterations of the nested loops `loops`, over symbols.
    pub(crate) fn iterations(&self, loops: &[usize]) -> Result<Algebra, PlanError> {
        let found = loops.iter().filter_map(|number| self.domain.loops.get(*number));
        Ok(found
            .map(|found| &found.extent)
            .try_fold(Algebra::constant(1), |a, b| product(&a, b))?)
    }

    /// Declarations of the variables of the loops `outer`, outermost first: the number of the thread or thread block,
    /// in the variable `item`, delinearized with the last loop fastest.
    pub(crate) fn rounds_of(&self, item: &str, outer: &[usize]) -> Result<Vec<Stmt>, PlanError> {
        let one = |number: &usize| {
            let extent = self.domain.loops.get(*number)?.extent.clone();
            Some((self.names.get(*number).cloned().unwrap_or_default(), extent))
        };
        let loops: Vec<_> = outer.iter().filter_map(one).collect();
        delinearized(item, &loops, self.symbol)
    }

    /// True if the statement writes an image.
    pub(crate) fn is_image(&self) -> bool {
        self.accesses.first().is_some_and(|target| target.bound.texels.is_some())
    }

    /// Emits the write of a texel from its accumulated elements; elements in padding are 0. Nothing if the statement
    /// writes no image.
    pub(crate) fn put(&mut self) -> Result<Vec<Stmt>, PlanError> {
        let Some(target) = self.accesses.first() else { return Ok(Vec::new()) };
        let Some([_, put]) = target.bound.texels.clone() else { return Ok(Vec::new()) };
        let (dtype, image) = (target.bound.tensor().dtype, target.bound.name.clone());
        let texel = self.namer.name("texel");
        let lanes = self.order.register_tile(&self.domain).next();
        let from = convert(self.item()?, self.statement.accumulator.element(), dtype);
        let zero = convert(
            reduction::identity(crate::model::compute::Reduction::Sum, self.statement.accumulator),
            self.statement.accumulator.element(),
            dtype,
        );
        let value = if self.store_guards.is_empty() {
            from
        } else {
            let condition = condition(&self.store_guards, &|var| self.scope(var))?;
            let condition = Box::new(Value::Holds { condition });
            Value::Select { condition, then: Box::new(from), otherwise: Box::new(zero) }
        };
        let name = lanes.and_then(|lane| self.names.get(lane).cloned()).unwrap_or_default();
        let into = Value::Item { array: texel.clone(), index: Expr::name(&name) };
        let set = Stmt::Update { into, how: ReduceOp::Set, dtype, value };
        let elements = i64::from(LANES);
        let mut body = vec![
            Stmt::Allocate { name: texel.clone(), dtype, elements, storage: Storage::Private },
            Stmt::For {
                name,
                from: Expr::int(0),
                to: Expr::int(elements),
                step: 1,
                kind: LoopKind::Serial,
                body: vec![set],
            },
        ];
        let target = self.accesses.first().ok_or(PlanError::Scope)?;
        let mut args = vec![Expr::name(&image)];
        let last = target.place.len().saturating_sub(1);
        for (k, index) in target.place.iter().enumerate() {
            // Index of the texel's first lane.
            let first = match lanes {
                Some(lane) => index.substitute(&|var| {
                    crate::loops::domain::var(lane)
                        .is_ok_and(|own| own == var)
                        .then(|| Algebra::constant(0))
                })?,
                None => index.clone(),
            };
            let first = self.domain.facts.simplify(&first)?;
            let texels = fold(BinOp::FloorDiv, &first, &Algebra::constant(i128::from(LANES)))?;
            let place = if k == last { self.domain.facts.simplify(&texels)? } else { first };
            args.push(self.lower(&place)?);
        }
        let value = Value::Name { name: texel };
        body.push(Primitive::StoreTexel { function: put, args, value }.into());
        Ok(body)
    }
}
