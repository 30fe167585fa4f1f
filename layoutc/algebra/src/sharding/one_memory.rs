//! Sharded tensors as one layout: the shards of all devices in one memory with an additional physical axis.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Mesh, Sharding, part_extent};
use crate::expr::{BinOp, CompareOp, Expr, ExprComparison, ExprError, Predicate, Var};
use crate::layout::{Layout, Verdict};
use crate::normal_form::simplify::Facts;
use crate::symbol::Axis;

impl Layout {
    /// Layout of the whole tensor in one memory that contains each shard once, one after another. `self` is the layout
    /// of every shard. `whole` lists the logical axes of the whole tensor. An axis that a mesh axis shards must have a
    /// constant extent, which is not checked if the axis has only one part.
    ///
    /// The second result is the number of leading storage axes that number the shards; these axes are named like the
    /// mesh axes. The shards hold disjoint parts of the tensor and take disjoint ranges of the memory, so that the
    /// result is injective if `self` is.
    ///
    /// # Errors
    /// [`ExprError::Unbound`] unless `mesh` and `sharding` fit together, and `self` has the extents of the largest
    /// shard, no domain, and constant extents along axes of several parts. [`ExprError::Overflow`] if a value
    /// overflows, [`ExprError::TooLarge`] if an expression becomes too large.
    pub fn of_shards(
        &self,
        mesh: &Mesh,
        sharding: &Sharding,
        whole: &[Axis],
    ) -> Result<(Self, usize), ExprError> {
        let shards = ShardsInOneMemory { shard: self, whole, cutters: cutters(mesh, sharding) };
        shards.check(mesh, sharding)?;
        Ok((shards.layout()?, shards.cutters.len()))
    }
}

/// Mesh axis that shards an axis of the tensor.
struct ShardingAxis {
    name: String,
    size: i128,
    /// Position of the tensor axis that the mesh axis shards.
    axis: usize,
    /// Distance between neighbors along the mesh axis, in shards along the tensor axis. It is the product of the sizes
    /// of the mesh axes that follow in the list of mesh axes of the tensor axis.
    below: i128,
    /// Distance between neighbors along the mesh axis, in shards of the memory. It is the product of the sizes of all
    /// more minor mesh axes that shard a tensor axis.
    stride: i128,
}

/// Mesh axes that shard an axis of the tensor, in the order of the mesh. A mesh axis that shards none is omitted.
fn cutters(mesh: &Mesh, sharding: &Sharding) -> Vec<ShardingAxis> {
    let size = |position: &usize| mesh.axes.get(*position).map_or(1, |a| i128::from(a.size));
    let mut found: Vec<ShardingAxis> = Vec::new();
    for (position, mesh_axis) in mesh.axes.iter().enumerate().rev() {
        for (axis, list) in sharding.over().iter().enumerate() {
            let Some(at) = list.iter().position(|cut| *cut == position) else { continue };
            let below = list.iter().skip(at + 1).map(size).product();
            let stride = found.iter().map(|cutter| cutter.size).product();
            let (name, size) = (mesh_axis.name.clone(), i128::from(mesh_axis.size));
            found.push(ShardingAxis { name, size, axis, below, stride });
        }
    }
    found.reverse();
    found
}

struct ShardsInOneMemory<'a> {
    shard: &'a Layout,
    whole: &'a [Axis],
    cutters: Vec<ShardingAxis>,
}

fn number(value: i128) -> Expr {
    Expr::constant(value)
}

impl ShardsInOneMemory<'_> {
    fn check(&self, mesh: &Mesh, sharding: &Sharding) -> Result<(), ExprError> {
        let parts = sharding.parts(mesh).ok_or(ExprError::Unbound)?;
        let facts = Facts::new(&self.shard.symbols);
        let axes = self.shard.logical.iter().zip(self.whole);
        let is_shard = |((own, whole), parts): ((&Axis, &Axis), &i64)| match whole.extent.as_const()
        {
            Some(extent) => own.extent.as_const() == Some(part_extent(extent, *parts)),
            None => *parts == 1 && facts.proves_eq(&own.extent, &whole.extent) == Ok(true),
        };
        let ranks = [self.shard.logical.len(), self.whole.len()];
        let is_whole = ranks == [parts.len(); 2] && self.shard.domain.is_none();
        if is_whole && axes.zip(&parts).all(is_shard) { Ok(()) } else { Err(ExprError::Unbound) }
    }

    fn layout(&self) -> Result<Layout, ExprError> {
        let part = self.shard;
        let count = self.cutters.len();
        let names = self.cutters.iter();
        let mut storage: Vec<Axis> =
            names.map(|c| Axis { name: c.name.clone(), extent: number(c.size) }).collect();
        storage.extend(part.storage.iter().cloned());
        let mut storage_map =
            self.cutters.iter().map(|cutter| self.place(cutter)).collect::<Result<Vec<_>, _>>()?;
        let mut device = number(0);
        for (place, cutter) in storage_map.iter().zip(&self.cutters) {
            let step = Expr::binary(BinOp::Mul, place, &number(cutter.stride))?;
            device = Expr::binary(BinOp::Add, &device, &step)?;
        }
        storage_map.extend(self.all_inside(&part.storage_map)?);
        let slots = &part.physical_elements;
        let mut strides = Vec::new();
        for cutter in &self.cutters {
            strides.push(Expr::binary(BinOp::Mul, slots, &number(cutter.stride))?);
        }
        strides.extend(part.strides.iter().cloned());
        let parts = number(self.cutters.iter().map(|cutter| cutter.size).product());
        let with = |first: Expr, rest: &[Expr]| [&[first], rest].concat();
        let before = Expr::binary(BinOp::Mul, &device, slots)?;
        let offset = Expr::binary(BinOp::Add, &before, &self.inside(&part.offset)?)?;
        let (inverse, valid) = self.inverse()?;
        let separator = count.checked_sub(1).into_iter();
        let is_padded = self.is_uneven() || part.verdict == Verdict::Padded;
        let mut elements = number(1);
        for axis in self.whole {
            elements = Expr::binary(BinOp::Mul, &elements, &axis.extent)?;
        }
        Ok(Layout {
            logical: self.whole.to_vec(),
            storage,
            storage_map,
            separators: separator.chain(part.separators.iter().map(|at| at + count)).collect(),
            physical_shape: with(parts.clone(), &part.physical_shape),
            physical_strides: with(slots.clone(), &part.physical_strides),
            strides,
            physical_map: with(device, &self.all_inside(&part.physical_map)?),
            offset,
            inverse,
            valid,
            verdict: if is_padded { Verdict::Padded } else { part.verdict },
            digits: None,
            logical_elements: elements,
            physical_elements: Expr::binary(BinOp::Mul, &parts, slots)?,
            demands: None,
            ..part.clone()
        })
    }

    /// Extent of a shard along a tensor axis, in elements; 1 if the extent is 0 or symbolic.
    fn extent(&self, axis: usize) -> i128 {
        let extent = self.shard.logical.get(axis).and_then(|axis| axis.extent.as_const());
        extent.unwrap_or(1).max(1)
    }

    /// Distance between neighbors along the mesh axis `cutter`, in elements along the tensor axis that it shards:
    /// `extent * below`. Every shard counts with the extent of the largest one.
    fn range(&self, cutter: &ShardingAxis) -> Result<Expr, ExprError> {
        let range = self.extent(cutter.axis).checked_mul(cutter.below);
        range.map(number).ok_or(ExprError::Overflow)
    }

    /// True if shards may reach beyond the tensor: the parts of some sharded axis together are longer than the axis, or
    /// the extent of a sharded axis is symbolic.
    fn is_uneven(&self) -> bool {
        self.whole.iter().enumerate().any(|(axis, whole)| {
            let sizes = self.cutters.iter().filter(|cutter| cutter.axis == axis);
            let parts: i128 = sizes.map(|cutter| cutter.size).product();
            self.is_cut(axis) && whole.extent.as_const() != self.extent(axis).checked_mul(parts)
        })
    }

    fn is_cut(&self, axis: usize) -> bool {
        self.cutters.iter().any(|cutter| cutter.axis == axis)
    }

    /// Coordinate along the mesh axis `cutter` of the shard that contains an element, as an expression over the index
    /// of the element.
    fn place(&self, cutter: &ShardingAxis) -> Result<Expr, ExprError> {
        let axis = u32::try_from(cutter.axis).unwrap_or(u32::MAX);
        let by = self.range(cutter)?;
        let place = Expr::binary(BinOp::FloorDiv, &Expr::var(Var::Axis(axis)), &by)?;
        Expr::binary(BinOp::Mod, &place, &number(cutter.size))
    }

    /// Rewrites an expression over the indices of a shard to an expression over the indices of the whole tensor: the
    /// index `i` of a sharded axis becomes `i % extent`, where `extent` is that of the shard.
    fn inside(&self, expr: &Expr) -> Result<Expr, ExprError> {
        expr.substitute(&|var| {
            let Var::Axis(k) = var else { return None };
            let axis = usize::try_from(k).ok().filter(|axis| self.is_cut(*axis))?;
            Expr::binary(BinOp::Mod, &Expr::var(var), &number(self.extent(axis))).ok()
        })
    }

    fn all_inside(&self, exprs: &[Expr]) -> Result<Vec<Expr>, ExprError> {
        exprs.iter().map(|expr| self.inside(expr)).collect()
    }

    /// Pair `(inverse, predicate)`, both over the physical indices, of which index 0 numbers the shards. The inverse
    /// returns the index in the whole tensor. The predicate is true where there is an element; it is `None` if it is
    /// always true. Both are `None` if the shard has no inverse.
    fn inverse(&self) -> Result<(Option<Vec<Expr>>, Option<Predicate>), ExprError> {
        let later = |expr: &Expr| {
            expr.substitute(&|var| match var {
                Var::Physical(k) => Some(Expr::var(Var::Physical(k.saturating_add(1)))),
                _ => None,
            })
        };
        let Some(part) = &self.shard.inverse else { return Ok((None, None)) };
        let (mut inverse, mut all) = (Vec::new(), Vec::new());
        if let Some(valid) = &self.shard.valid {
            for ExprComparison { left, op, right } in &valid.all {
                all.push(ExprComparison { left: later(left)?, op: *op, right: later(right)? });
            }
        }
        for (axis, (index, whole)) in part.iter().zip(self.whole).enumerate() {
            let mut index = later(index)?;
            for cutter in self.cutters.iter().filter(|cutter| cutter.axis == axis) {
                let device = Expr::var(Var::Physical(0));
                let place = Expr::binary(BinOp::FloorDiv, &device, &number(cutter.stride))?;
                let place = Expr::binary(BinOp::Mod, &place, &number(cutter.size))?;
                let by = self.range(cutter)?;
                let before = Expr::binary(BinOp::Mul, &place, &by)?;
                index = Expr::binary(BinOp::Add, &before, &index)?;
            }
            if self.is_cut(axis) && self.is_uneven() {
                let (left, right) = (index.clone(), whole.extent.clone());
                all.push(ExprComparison { left, op: CompareOp::Lt, right });
            }
            inverse.push(index);
        }
        Ok((Some(inverse), (!all.is_empty()).then_some(Predicate { all })))
    }
}
