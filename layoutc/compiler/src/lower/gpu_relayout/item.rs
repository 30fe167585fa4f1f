//! Kernels with one thread for each element, byte or texel of the destination, or for each logical index.

use layoutc_algebra::expr::Expr as Algebra;

use crate::ir::{Compare, Expr, LaunchAxis, LoopKind, Primitive, Stmt, Storage, Value};
use crate::loops::arith::{ceil_div, is_multiple};
use crate::loops::error::PlanError;
use crate::loops::image::LANES;
use crate::lower::expr::{add, lower, multiply};
use crate::lower::gpu_relayout::GpuRelayout;
use crate::lower::index::{buffer_bytes, count, domain};
use crate::lower::launch::{Items, Kernel};
use crate::lower::relayout::builder::{RelayoutBuilder, loops_over, place, repeat_in_bytes};
use crate::lower::relayout::padding::{fill_bits, fill_constant};
use crate::lower::relayout::statement::{PaddingPolicy, RelayoutEnd};

impl GpuRelayout<'_, '_> {
    /// Kernel with one thread for each of the destination's slots, for elements of at least a byte.
    pub(crate) fn elements(mut self) -> Result<Kernel, PlanError> {
        let slots = self.items(&self.statement.destination.slots()?)?;
        let slot = self.builder.local(self.item_name());
        let mut body = vec![work_item(&slot, &slots)];
        body.extend(self.constant_fill()?);
        let buffer = self.builder.buffer_name(1);
        let index = Expr::name(&slot);
        let store = |value| Stmt::Store {
            buffer: buffer.clone(),
            index: index.clone(),
            value,
            through: None,
        };
        body.extend(self.gather(vec![Expr::name(&slot)], &store, true)?);
        Ok(kernel(self.builder, body, vec![slots]))
    }

    /// Kernel with one thread for each byte of the destination's packed elements; if elements straddle bytes, one for
    /// each smallest group of elements that fills whole bytes (8 elements of 3 bits).
    pub(crate) fn bytes(mut self) -> Result<Kernel, PlanError> {
        let context = self.statement.destination.context();
        let symbol = |var| context.symbol(var);
        let (several, filled) = self.statement.destination.dtype().byte_group();
        let of_tensor = self.statement.destination.slots()?;
        let items = self.items(&ceil_div(&of_tensor, several.into())?)?;
        let slots = lower(&of_tensor, &symbol)?;
        let name = if filled == 1 { "byte" } else { "part" };
        let [byte, slot, end] = [
            self.builder.local(name),
            self.builder.local(self.item_name()),
            self.builder.local("end"),
        ];
        let buffer = self.builder.buffer_name(1);
        let mut body = vec![work_item(&byte, &items)];
        let first = multiply(Expr::name(&byte), Expr::int(several.into()))?;
        let last = add(first.clone(), Expr::int(several.into()))?.min(slots);
        body.push(Stmt::Let { name: end.clone(), value: last });
        if self.fills_outside() {
            body.extend(self.constant_fill()?);
        }
        if let Some(values) = self.background_bytes()? {
            let bytes = lower(&buffer_bytes(context, &of_tensor)?, &symbol)?;
            let is_whole = is_multiple(&of_tensor, several.into(), context.layout.symbols());
            let first = multiply(Expr::name(&byte), Expr::int(filled.into()))?;
            for (k, value) in (0..i64::from(filled)).zip(values.iter().cycle()) {
                let index = add(first.clone(), Expr::int(k))?;
                let (buffer, value) = (buffer.clone(), *value);
                let store = Stmt::StoreByte { buffer, index: index.clone(), value };
                // The last group may fill fewer bytes.
                body.push(if k == 0 || is_whole {
                    store
                } else {
                    let condition = Expr::compare(Compare::Lt, index, bytes.clone());
                    Stmt::If { condition, likely: false, body: vec![store], otherwise: vec![] }
                });
            }
        }
        let through = Some(context.function("store"));
        let index = Expr::name(&slot);
        let store = |value| Stmt::Store {
            buffer: buffer.clone(),
            index: index.clone(),
            value,
            through: through.clone(),
        };
        let each = self.gather(vec![Expr::name(&slot)], &store, false)?;
        body.push(Stmt::For {
            name: slot,
            from: first,
            to: Expr::name(&end),
            step: 1,
            kind: LoopKind::Serial,
            body: each,
        });
        Ok(kernel(self.builder, body, vec![items]))
    }

    /// Kernel with one thread for each texel of the destination, an image.
    pub(crate) fn texels(mut self) -> Result<Kernel, PlanError> {
        let image = self.statement.destination.image()?.ok_or(PlanError::Scope)?;
        let context = self.statement.destination.context();
        let sizes = [Some(&image.width), Some(&image.height), image.layers.as_ref()];
        let mut range = Vec::new();
        let mut axes = Vec::new();
        let mut at = Vec::new();
        for (name, size) in ["x", "y", "layer"].into_iter().zip(sizes.into_iter().flatten()) {
            let (name, items) = (self.builder.local(name), self.items(size)?);
            at.push(Expr::name(&name));
            axes.push(LaunchAxis { name, extent: items.count.clone() });
            range.push(items);
        }
        let mut body = vec![Stmt::Launch { axes }];
        // Physical indices are ordered slowest first.
        at.reverse();
        let Some(x) = at.pop() else { return Err(PlanError::Scope) };
        body.extend(self.constant_fill()?);
        let function = context.function("put");
        let place: Vec<Expr> = at.iter().cloned().chain([x.clone()]).collect();
        let head = [Expr::name(&self.builder.buffer_name(1))].into_iter().chain(place.clone());
        let args: Vec<Expr> = head.collect();
        let put = |value| {
            let (function, args) = (function.clone(), args.clone());
            Stmt::from(Primitive::StoreTexel { function, args, value })
        };
        if image.per_texel == 1 {
            body.extend(self.gather(place, &put, true)?);
        } else {
            let texel = self.builder.local("texel");
            let dtype = context.tensor.dtype;
            let done = put(Value::Name { name: texel.clone() });
            let (elements, storage) = (LANES.into(), Storage::Private);
            body.push(Stmt::Allocate { name: texel.clone(), dtype, elements, storage });
            let (lane, along) = (self.builder.local("lane"), self.builder.local("column"));
            let index = Expr::name(&lane);
            let store = |value| Stmt::Store {
                buffer: texel.clone(),
                index: index.clone(),
                value,
                through: None,
            };
            let first = multiply(x, Expr::int(i64::from(LANES)))?;
            let column = add(first, Expr::name(&lane))?;
            let physical = at.into_iter().chain([Expr::name(&along)]).collect();
            let mut each = vec![Stmt::Let { name: along, value: column }];
            each.extend(self.gather(physical, &store, true)?);
            let to = Expr::int(i64::from(LANES));
            body.push(Stmt::For {
                name: lane,
                from: Expr::int(0),
                to,
                step: 1,
                kind: LoopKind::Serial,
                body: each,
            });
            body.push(done);
        }
        Ok(kernel(self.builder, body, range))
    }

    /// Kernel with one thread for each logical index within the extents, which writes the element to its slot if the
    /// index is that of an element.
    pub(crate) fn scatter(mut self) -> Result<Kernel, PlanError> {
        let context = self.statement.destination.context();
        let items = self.items(&count(context.layout.logical())?)?;
        let element = self.builder.local("element");
        let mut body = vec![work_item(&element, &items)];
        let (names, lets) = self.decompose(context, &Expr::name(&element))?;
        body.extend(lets);
        if self.fills_outside() {
            body.extend(self.constant_fill()?);
        }
        let (buffer, index) = (self.builder.buffer_name(1), place(context, &names));
        let store = |value| Stmt::Store {
            buffer: buffer.clone(),
            index: index.clone(),
            value,
            through: None,
        };
        let found = self.found(&names, &store)?;
        body.push(domain::guarded(domain::holds(context, &names)?, found, Vec::new()));
        Ok(kernel(self.builder, body, vec![items]))
    }

    /// Kernel with a single thread that copies everything, for packed elements in a view, or in a layout without a
    /// closed-form inverse.
    pub(crate) fn one_item(mut self) -> Result<Kernel, PlanError> {
        let context = self.statement.destination.context();
        let symbol = |var| context.symbol(var);
        let item = self.builder.local("item");
        let one = Items { count: Expr::int(1), may_be_none: false };
        self.builder.remark("One thread copies all elements: they share bytes, and the layout has no inverse in closed form.");
        let mut body = vec![work_item(&item, &one)];
        let bytes = lower(&buffer_bytes(context, context.layout.physical_elements())?, &symbol)?;
        let values = self.background_bytes()?.unwrap_or_default();
        let step = i64::try_from(values.len()).unwrap_or(1);
        let byte = self.builder.local("byte");
        for (from, value) in (0..).zip(values) {
            let (buffer, index) = (self.builder.buffer_name(1), Expr::name(&byte));
            let store = vec![Stmt::StoreByte { buffer, index, value }];
            body.push(Stmt::For {
                name: byte.clone(),
                from: Expr::int(from),
                to: bytes.clone(),
                step,
                kind: LoopKind::Serial,
                body: store,
            });
        }
        let axes = context.layout.logical();
        let names: Vec<String> = axes.iter().map(|axis| self.builder.local(&axis.name)).collect();
        if self.fills_outside() {
            body.extend(self.constant_fill()?);
        }
        let (buffer, index) = (self.builder.buffer_name(1), place(context, &names));
        let through = Some(context.function("store"));
        let store = |value| Stmt::Store {
            buffer: buffer.clone(),
            index: index.clone(),
            value,
            through: through.clone(),
        };
        let found = self.found(&names, &store)?;
        let found = domain::guarded(domain::holds(context, &names)?, found, Vec::new());
        body.extend(loops_over(axes, names, found, &symbol)?);
        Ok(kernel(self.builder, body, vec![one]))
    }

    /// Bytes that are written, repeated from the start of the destination, before packed elements. `None` if bits that
    /// belong to no element keep their values.
    fn background_bytes(&self) -> Result<Option<Vec<u8>>, PlanError> {
        let context = self.statement.destination.context();
        match self.statement.padding {
            PaddingPolicy::Fill => {
                Ok(Some(repeat_in_bytes(fill_bits(context)?, context.packing())))
            }
            PaddingPolicy::Kept => Ok(None),
            PaddingPolicy::Zero => Ok(Some(vec![0])),
        }
    }

    /// Kernel called `name` that writes the fill value to every slot of the destination, padding or not.
    pub(crate) fn fill(&self, name: &str) -> Result<Kernel, PlanError> {
        let context = self.statement.destination.context();
        let mut builder = self.builder.for_destination(name);
        let slots = self.items(context.layout.physical_elements())?;
        let slot = builder.local("slot");
        let fill = builder.local("fill");
        let body = vec![
            work_item(&slot, &slots),
            fill_constant(context, &fill)?,
            Stmt::Store {
                buffer: builder.buffer_name(1),
                index: Expr::name(&slot),
                value: Value::Name { name: fill },
                through: None,
            },
        ];
        Ok(kernel(builder, body, vec![slots]))
    }

    /// Launch of `count` threads along one axis, for a number over the symbols of the destination.
    fn items(&self, count: &Algebra) -> Result<Items, PlanError> {
        let context = self.statement.destination.context();
        Items::new(count, &|var| context.symbol(var))
    }

    /// Name of the variable that counts the destination's slots.
    fn item_name(&self) -> &'static str {
        match self.statement.destination {
            RelayoutEnd::Dense(_) => "element",
            RelayoutEnd::Layout(_) => "slot",
        }
    }
}

/// Kernel of the function that `builder` finishes with `body`, for the launch range `range`. The function has an empty
/// body if an axis of the range has no threads.
pub(crate) fn kernel(builder: RelayoutBuilder<'_>, body: Vec<Stmt>, range: Vec<Items>) -> Kernel {
    let never = range.iter().any(|items| items.count == Expr::int(0));
    let function = if never { builder.nothing() } else { builder.finish(body) };
    Kernel { function, range, group: None, unaligned: None }
}

/// Declaration of the variable `name` for the thread's index in a launch of `items` threads along one axis.
fn work_item(name: &str, items: &Items) -> Stmt {
    let extent = items.count.clone();
    Stmt::Launch { axes: vec![LaunchAxis { name: name.to_owned(), extent }] }
}
