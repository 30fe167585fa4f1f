//! Index functions of a sharded tensor: the device that holds an element, the offset of the element there, and the
//! element in a slot of a device's buffer.
//!
//! Device numbers are row-major over the mesh; see [`layoutc_algebra::sharding`] for the definition of shards.

use layoutc_algebra::expr::{BinOp, Expr as Algebra, Var};
use layoutc_algebra::normal_form::simplify::Facts;
use layoutc_algebra::sharding::MeshAxis;
use layoutc_algebra::symbol::Axis;

use crate::ir::{Compare, Expr, Function, Param, ParamType, Returns, Stmt};
use crate::loops::arith::{fold, product, scale, sum};
use crate::loops::error::PlanError;
use crate::loops::range::Range;
use crate::lower::context::Context;
use crate::lower::expr::{Binding, literal, lower};
use crate::lower::index::{Quantity, Signature, symbol_params};
use crate::lower::names::Namer;
use crate::model::reshard::DeviceSharding;

/// Functions and constants that are generated for a sharded tensor.
#[derive(Debug, Clone)]
pub(crate) struct ShardingPlan {
    /// Extents and counts of the mesh and of the whole tensor, in addition to those of the shard.
    pub quantities: Vec<Quantity>,
    /// Functions of the whole tensor: `owner`, `holds` and `local`; `begin_n` and `length_n` for each axis `n`; and
    /// `global`.
    pub functions: Vec<Function>,
}

/// Plans the functions of a sharded tensor; `None` for any other tensor.
///
/// # Errors
/// Same as [`crate::plan::tensor`].
pub(crate) fn sharding(context: &Context<'_>) -> Result<Option<ShardingPlan>, PlanError> {
    let Some(sharded) = &context.tensor.sharded else { return Ok(None) };
    let planner = Planner { context, sharded, cuts: cuts(context, sharded) };
    let mut functions = vec![planner.owner()?, planner.holds()?, planner.local()?];
    for (axis, cut) in sharded.whole.iter().zip(&planner.cuts) {
        functions.extend([planner.begin(axis, cut)?, planner.length(axis, cut)?]);
    }
    functions.push(planner.global()?);
    Ok(Some(ShardingPlan { quantities: planner.quantities()?, functions }))
}

/// Mesh axis that shards a given axis of the tensor.
#[derive(Clone, Copy)]
struct ShardingMeshAxis {
    /// Number of devices along the mesh axis.
    size: i128,
    /// Difference of device numbers between neighbors along the mesh axis.
    stride: i128,
    /// Difference between the part numbers of neighbors along the mesh axis; the parts of the tensor's axis are
    /// numbered from 0.
    parts: i128,
}

/// Sharding of one axis of the tensor.
struct AxisSharding {
    /// Mesh axes that shard the axis, most significant first; empty if the axis is not sharded.
    by: Vec<ShardingMeshAxis>,
    /// Extent of a part of the axis, in indices, at least 1.
    part: i128,
    /// True if the last parts have fewer indices, or none.
    is_uneven: bool,
}

fn cuts(context: &Context<'_>, sharded: &DeviceSharding) -> Vec<AxisSharding> {
    let axes: &[MeshAxis] = &sharded.mesh.axes;
    let size = |position: usize| axes.get(position).map_or(1, |axis| i128::from(axis.size));
    let stride =
        |position: usize| -> i128 { (position.saturating_add(1)..axes.len()).map(size).product() };
    let one = |((list, part), whole): ((&Vec<usize>, &Axis), &Axis)| {
        let part = part.extent.as_const().unwrap_or(1).max(1);
        let mut parts = 1;
        let mut by: Vec<ShardingMeshAxis> = Vec::new();
        for position in list.iter().rev() {
            by.push(ShardingMeshAxis { size: size(*position), stride: stride(*position), parts });
            parts *= size(*position);
        }
        by.reverse();
        let is_uneven = !list.is_empty() && whole.extent.as_const() != Some(part * parts);
        AxisSharding { by, part, is_uneven }
    };
    let parts = context.layout.logical();
    sharded.sharding.over().iter().zip(parts).zip(&sharded.whole).map(one).collect()
}

struct Planner<'a> {
    context: &'a Context<'a>,
    sharded: &'a DeviceSharding,
    cuts: Vec<AxisSharding>,
}

/// Mixed-radix digit `expr // k % m`; `expr // k` if `m` is `None`.
fn digit(expr: &Algebra, k: i128, m: Option<i128>) -> Result<Algebra, PlanError> {
    let quotient = fold(BinOp::FloorDiv, expr, &Algebra::constant(k))?;
    Ok(match m {
        Some(m) => fold(BinOp::Mod, &quotient, &Algebra::constant(m))?,
        None => quotient,
    })
}

impl Planner<'_> {
    /// Ranges of the symbols, and of the indices along the whole tensor's axes.
    fn facts(&self) -> Result<Facts, PlanError> {
        let mut facts = Facts::new(self.context.layout.symbols());
        for (k, axis) in (0..).zip(&self.sharded.whole) {
            facts.set_extent(Var::Axis(k), &axis.extent)?;
        }
        Ok(facts)
    }

    fn function(&self, what: &str, says: &str) -> Function {
        Function {
            name: self.context.function(what),
            doc: vec![says.to_owned()],
            returns: Returns::Index,
            params: Vec::new(),
            body: Vec::new(),
        }
    }

    /// `owner(symbols, axes)`: number of the first device that holds an element of the whole tensor.
    fn owner(&self) -> Result<Function, PlanError> {
        let mut namer = Namer::new(self.context.naming.avoid);
        let signature = Signature::new(self.context, &mut namer, &self.sharded.whole);
        let mut device = Algebra::constant(0);
        for (k, cut) in (0..).zip(&self.cuts) {
            let part = digit(&Algebra::var(Var::Axis(k)), cut.part, None)?;
            for (at, by) in cut.by.iter().enumerate() {
                // The major mesh axis needs no remainder.
                let rest = digit(&part, by.parts, (at > 0).then_some(by.size))?;
                device = sum(&device, &scale(&rest, by.stride)?)?;
            }
        }
        let device = self.facts()?.simplify(&device)?;
        let value = lower(&device, &|var| signature.binding(var))?;
        let says = "The device that holds an element; of several, which lie along other axes of the mesh, the first.";
        Ok(Function {
            params: signature.params,
            body: vec![Stmt::Return { value }],
            ..self.function("owner", says)
        })
    }

    /// `holds(symbols, device, axes)`: true if a device holds an element of the whole tensor.
    fn holds(&self) -> Result<Function, PlanError> {
        let mut namer = Namer::new(self.context.naming.avoid);
        let mut params = symbol_params(self.context, &mut namer);
        let device = namer.name("device");
        let signature = Signature::new(self.context, &mut namer, &self.sharded.whole);
        // The symbols precede the device.
        let axes = signature.params.iter().skip(params.len()).cloned();
        params.push(Param { name: device.clone(), ty: ParamType::Index });
        params.extend(axes);
        let mut all = Vec::new();
        for (k, cut) in (0..).zip(&self.cuts).filter(|(_, cut)| !cut.by.is_empty()) {
            let part = digit(&Algebra::var(Var::Axis(k)), cut.part, None)?;
            let part = self.facts()?.simplify(&part)?;
            let own = lower(&part, &|var| signature.binding(var))?;
            all.push(Expr::compare(Compare::Eq, own, self.part_of(cut, &device)?));
        }
        let value = match all.len() {
            0 => Expr::Bool { value: true },
            1 => all.swap_remove(0),
            _ => Expr::All { args: all },
        };
        Ok(Function {
            params,
            returns: Returns::Bool,
            body: vec![Stmt::Return { value }],
            ..self.function("holds", "Whether a device holds an element.")
        })
    }

    /// `local(symbols, axes)`: offset of an element of the whole tensor in the buffer of any device that holds it, in
    /// elements.
    fn local(&self) -> Result<Function, PlanError> {
        let mut namer = Namer::new(self.context.naming.avoid);
        let signature = Signature::new(self.context, &mut namer, &self.sharded.whole);
        let inside = |var: Var| {
            let Var::Axis(k) = var else { return None };
            let cut = self.cuts.get(usize::try_from(k).ok()?).filter(|cut| !cut.by.is_empty())?;
            fold(BinOp::Mod, &Algebra::var(var), &Algebra::constant(cut.part)).ok()
        };
        let offset = self.context.layout.offset().substitute(&inside)?;
        let offset = self.facts()?.simplify(&offset)?;
        let value = lower(&offset, &|var| signature.binding(var))?;
        Ok(Function {
            params: signature.params,
            body: vec![Stmt::Return { value }],
            ..self.function(
                "local",
                "Where an element lies on a device that holds it: the offset in its buffer.",
            )
        })
    }

    fn binding(&self, device: &str) -> Binding {
        let high = i128::from(self.sharded.devices()).checked_sub(1);
        Binding { tree: Expr::name(device), range: Range { low: Some(0), high } }
    }

    /// Number of the part of an axis that a device holds, from the sharding `cut` of the axis and the identifier
    /// `device` of the device's number.
    fn part_of(&self, cut: &AxisSharding, device: &str) -> Result<Expr, PlanError> {
        let own = Var::Axis(0);
        let mut part = Algebra::constant(0);
        for by in &cut.by {
            let at = digit(&Algebra::var(own), by.stride, Some(by.size))?;
            part = sum(&part, &scale(&at, by.parts)?)?;
        }
        let mut facts = Facts::default();
        facts.set_extent(own, &Algebra::constant(i128::from(self.sharded.devices())))?;
        let part = facts.simplify(&part)?;
        lower(&part, &|var| (var == own).then(|| self.binding(device)))
    }

    /// Pair of the parameters for the symbols and the device, and of the identifier of the device.
    fn of_device(&self) -> (Vec<Param>, String) {
        let mut namer = Namer::new(self.context.naming.avoid);
        let mut params = symbol_params(self.context, &mut namer);
        let device = namer.name("device");
        params.push(Param { name: device.clone(), ty: ParamType::Index });
        (params, device)
    }

    /// `begin_n(symbols, device)`: first index of axis `n` that a device holds; the extent of the axis if it holds
    /// none.
    fn begin(&self, axis: &Axis, cut: &AxisSharding) -> Result<Function, PlanError> {
        let (params, device) = self.of_device();
        let part = self.part_of(cut, &device)?;
        let begin = crate::lower::expr::multiply(part, literal(cut.part)?)?;
        let extent = axis.extent.as_const().filter(|_| cut.is_uneven);
        let value = match extent {
            Some(extent) => Expr::Min { a: Box::new(begin), b: Box::new(literal(extent)?) },
            None => begin,
        };
        let says = format!("The first index of {} that a device holds.", axis.name);
        Ok(Function {
            params,
            body: vec![Stmt::Return { value }],
            ..self.function(&format!("begin_{}", axis.name), &says)
        })
    }

    /// `length_n(symbols, device)`: number of indices of axis `n` that a device holds.
    fn length(&self, axis: &Axis, cut: &AxisSharding) -> Result<Function, PlanError> {
        let (params, device) = self.of_device();
        let extent = axis.extent.as_const().filter(|_| cut.is_uneven);
        let value = match extent {
            Some(extent) => {
                let mut args = self.context.symbol_args();
                args.push(Expr::name(&device));
                let begin =
                    Expr::call(&self.context.function(&format!("begin_{}", axis.name)), args);
                let left =
                    crate::lower::expr::add(literal(extent)?, Expr::Neg { a: Box::new(begin) })?;
                Expr::Min { a: Box::new(literal(cut.part)?), b: Box::new(left) }
            }
            None if cut.by.is_empty() => lower(&axis.extent, &|var| self.context.symbol(var))?,
            None => literal(cut.part)?,
        };
        let says = format!("How many indices of {} a device holds.", axis.name);
        Ok(Function {
            params,
            body: vec![Stmt::Return { value }],
            ..self.function(&format!("length_{}", axis.name), &says)
        })
    }

    /// `global(symbols, device, offset, outputs)`: writes the index in the whole tensor of the element at an offset of
    /// a device's buffer, in elements, to the outputs; returns false for padding.
    fn global(&self) -> Result<Function, PlanError> {
        let context = self.context;
        let layout = context.layout;
        let mut namer = Namer::new(context.naming.avoid);
        let mut params = symbol_params(context, &mut namer);
        let device = namer.name("device");
        let offset = namer.name("offset");
        for name in [&device, &offset] {
            params.push(Param { name: name.clone(), ty: ParamType::Index });
        }
        let outputs: Vec<String> =
            layout.logical().iter().map(|axis| namer.name(&axis.name)).collect();
        for name in &outputs {
            params.push(Param { name: name.clone(), ty: ParamType::OutIndex });
        }
        let own = Var::Axis(0);
        let whole = Binding { tree: Expr::name(&offset), range: Range::NATURAL };
        let scope = |var: Var| if var == own { Some(whole.clone()) } else { context.symbol(var) };
        // The offset is row-major over the physical strides, which include the pitch.
        let (mut args, mut body) = (context.symbol_args(), Vec::new());
        let mut rest = Algebra::var(own);
        let mut inside = Vec::new();
        let last = layout.physical_shape().len().saturating_sub(1);
        for (k, (extent, stride)) in
            layout.physical_shape().iter().zip(layout.physical_strides()).enumerate()
        {
            let index = match stride.as_const() {
                Some(1) => rest.clone(),
                _ => fold(BinOp::FloorDiv, &rest, stride)?,
            };
            let name = namer.name(&format!("p{k}"));
            body.push(Stmt::Let { name: name.clone(), value: lower(&index, &scope)? });
            if k > 0 || last == 0 {
                let extent = lower(extent, &|var| context.symbol(var))?;
                inside.push(Expr::compare(Compare::Lt, Expr::name(&name), extent));
            }
            args.push(Expr::name(&name));
            rest = fold(BinOp::Mod, &rest, stride)?;
        }
        args.extend(outputs.iter().map(|name| Expr::name(name)));
        let found = Expr::call(&context.function("logical"), args);
        inside.push(found);
        let real =
            if inside.len() == 1 { inside.swap_remove(0) } else { Expr::All { args: inside } };
        let absent = vec![Stmt::Return { value: Expr::Bool { value: false } }];
        let condition = Expr::Not { a: Box::new(real) };
        body.push(Stmt::If { condition, likely: false, body: absent, otherwise: Vec::new() });
        let mut elements = Vec::new();
        for ((axis, cut), name) in self.sharded.whole.iter().zip(&self.cuts).zip(&outputs) {
            if cut.by.is_empty() {
                continue;
            }
            let mut args = context.symbol_args();
            args.push(Expr::name(&device));
            // `begin_n` is not used, since it stops at the end of the tensor.
            let first =
                crate::lower::expr::multiply(self.part_of(cut, &device)?, literal(cut.part)?)?;
            let output = Expr::Output { name: name.clone() };
            let value = crate::lower::expr::add(first, output.clone())?;
            body.push(Stmt::Set { name: name.clone(), value });
            if let Some(extent) = axis.extent.as_const().filter(|_| cut.is_uneven) {
                elements.push(Expr::compare(Compare::Lt, output, literal(extent)?));
            }
        }
        let value = match elements.len() {
            0 => Expr::Bool { value: true },
            1 => elements.swap_remove(0),
            _ => Expr::All { args: elements },
        };
        body.push(Stmt::Return { value });
        let says = "Which element a slot of a device's buffer holds. False on padding, where the outputs mean nothing.";
        Ok(Function { params, returns: Returns::Bool, body, ..self.function("global", says) })
    }

    /// Number of devices, extents of the mesh, and extents and number of elements of the whole tensor.
    fn quantities(&self) -> Result<Vec<Quantity>, PlanError> {
        let mut all = Vec::new();
        let mut push =
            |name: String, doc: String, value: Expr| all.push(Quantity { name, doc, value });
        let devices = literal(i128::from(self.sharded.devices()))?;
        push("devices".to_owned(), "Devices of the mesh.".to_owned(), devices);
        for axis in &self.sharded.mesh.axes {
            let doc = format!("Devices along the mesh axis {}.", axis.name);
            push(format!("mesh_extent_{}", axis.name), doc, literal(i128::from(axis.size))?);
        }
        for axis in &self.sharded.whole {
            let doc = format!("Extent of axis {} of the whole tensor.", axis.name);
            let value = lower(&axis.extent, &|var| self.context.symbol(var))?;
            push(format!("whole_extent_{}", axis.name), doc, value);
        }
        let mut elements = Algebra::constant(1);
        for axis in &self.sharded.whole {
            elements = product(&elements, &axis.extent)?;
        }
        let value = lower(&elements, &|var| self.context.symbol(var))?;
        push("whole_elements".to_owned(), "Elements of the whole tensor.".to_owned(), value);
        Ok(all)
    }
}
