//! Kernels: what one work item of a launch does.
//!
//! An item writes one piece of the destination and reads what belongs there: an element, a byte of packed elements, or
//! a texel of an image. So no two items write the same memory, padding gets its fill on the way, and nothing has to be
//! written twice. A layout without an inverse in closed form is the exception: an item reads one element and writes it
//! where it belongs, and padding is filled by a kernel that runs first. Coalescing and blocking are not its business.

use layoutc_algebra::expr::Expr as Algebra;
use layoutc_algebra::layout::Verdict;

use super::Context;
use super::image::{self, Image, LANES};
use super::index::{buffer_bytes, count, dense_offset};
use super::lower::{PlanError, lower, range};
use super::moves::{Parts, over, padding_doc, place, repeat_in_byte};
use super::side::dense_strides;
use super::tree::{Expr, Function, Operand, ParamType, Stmt, WorkAxis};
use crate::model::{Convert, Manifest};
use crate::plan::Naming;
use crate::plan::relayout::adopt_symbols;

/// A kernel and its launch range.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// What one work item does.
    pub function: Function,
    /// The items along each axis, the fastest first.
    pub range: Vec<Items>,
}

/// How many work items there are along an axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Items {
    /// Their number, over the symbols.
    pub count: Expr,
    /// Whether there may be none, for some values of the symbols.
    pub may_be_none: bool,
}

impl Items {
    fn new(context: &Context<'_>, count: &Algebra) -> Result<Self, PlanError> {
        let symbol = |var| context.symbol(var);
        let may_be_none = range(count, &symbol).low.is_none_or(|low| low <= 0);
        Ok(Self { count: lower(count, &symbol)?, may_be_none })
    }
}

/// Where a buffer or an image of the tensor is, as the move names it.
#[derive(Clone, Copy)]
enum Home<'a> {
    /// The dense row-major tensor.
    Dense(&'a Context<'a>),
    /// The layout's own memory.
    Layout(&'a Context<'a>),
}

/// `pack`, and before it what fills padding where pack itself cannot.
pub(super) fn pack(context: &Context<'_>) -> Result<Vec<Kernel>, PlanError> {
    let doc = vec![
        "From the dense row-major tensor into its layout.".to_owned(),
        padding_doc(context).to_owned(),
    ];
    let parts = Parts::new(context, "pack", ["logical", "physical"], doc);
    let axes: Vec<usize> = (0..context.layout.logical.len()).collect();
    Move { parts, from: Home::Dense(context), to: Home::Layout(context), axes: &axes }
        .kernels(&context.function("fill"))
}

/// `unpack`.
pub(super) fn unpack(context: &Context<'_>) -> Result<Vec<Kernel>, PlanError> {
    let doc = vec!["From the layout back into the dense row-major tensor.".to_owned()];
    let parts = Parts::new(context, "unpack", ["physical", "logical"], doc);
    let axes: Vec<usize> = (0..context.layout.logical.len()).collect();
    Move { parts, from: Home::Layout(context), to: Home::Dense(context), axes: &axes }.kernels("")
}

/// `<from>_to_<to>`; empty where one of the two is not there.
///
/// # Errors
/// [`PlanError`] where a number leaves 64 bits or an expression nests too deep.
pub fn convert(
    manifest: &Manifest,
    convert: &Convert,
    naming: &Naming<'_>,
) -> Result<Vec<Kernel>, PlanError> {
    let (Some(from), Some(to)) =
        (manifest.tensors.get(convert.from), manifest.tensors.get(convert.to))
    else {
        return Ok(Vec::new());
    };
    let Some(target) = adopt_symbols(from, to)? else { return Ok(Vec::new()) };
    let source = Context::new(from, naming);
    let destination = Context::new(&target, naming);
    let name = naming.tensor(&format!("{}_to_{}", from.name, to.name));
    let doc = vec![
        format!("From the layout of {} into that of {}.", from.name, to.name),
        padding_doc(&destination).to_owned(),
    ];
    let fill = format!("{name}_fill");
    let parts = Parts::named(&source, Some(&destination), name, [&from.name, &to.name], doc);
    let ends = (Home::Layout(&source), Home::Layout(&destination));
    Move { parts, from: ends.0, to: ends.1, axes: &convert.axes }.kernels(&fill)
}

/// A move of a whole tensor.
struct Move<'a, 'n> {
    parts: Parts<'n>,
    from: Home<'a>,
    to: Home<'a>,
    /// For each axis of the source, its position in the destination.
    axes: &'a [usize],
}

impl<'a> Home<'a> {
    fn context(self) -> &'a Context<'a> {
        match self {
            Self::Dense(context) | Self::Layout(context) => context,
        }
    }

    fn image(self) -> Result<Option<Image>, PlanError> {
        match self {
            Self::Dense(_) => Ok(None),
            Self::Layout(context) => image::of(context.tensor),
        }
    }

    /// How many elements its memory holds, padding included.
    fn slots(self) -> Result<Algebra, PlanError> {
        match self {
            Self::Dense(context) => count(&context.layout.logical),
            Self::Layout(context) => Ok(context.layout.physical_elements.clone()),
        }
    }
}

impl Move<'_, '_> {
    fn kernels(mut self, fill: &str) -> Result<Vec<Kernel>, PlanError> {
        self.images()?;
        let to = self.to.context();
        if let Some(image) = self.to.image()? {
            return Ok(vec![self.texels(&image)?]);
        }
        let searched = matches!(self.to, Home::Layout(context) if context.layout.inverse.is_none());
        match (searched, to.is_packed()) {
            (true, true) => Ok(vec![self.one_item()?]),
            (true, false) => {
                let first = if to.fills() { Some(self.fill(fill)?) } else { None };
                Ok(first.into_iter().chain([self.scatter()?]).collect())
            }
            (false, true) => {
                let bytes = Items::new(to, &buffer_bytes(to, &self.to.slots()?)?)?;
                Ok(vec![self.bytes(bytes)?])
            }
            (false, false) => {
                let slots = Items::new(to, &self.to.slots()?)?;
                Ok(vec![self.elements(slots)?])
            }
        }
    }

    /// Parameters that are images take the place of buffers.
    fn images(&mut self) -> Result<(), PlanError> {
        for (which, home) in [self.from, self.to].into_iter().enumerate() {
            let Some(image) = home.image()? else { continue };
            let element = home.context().tensor.dtype.to_string();
            let rank = image.rank;
            self.parts.retype(
                which,
                if which == 0 {
                    ParamType::InputImage { element, rank }
                } else {
                    ParamType::OutputImage { element, rank }
                },
            );
        }
        Ok(())
    }

    /// One item for each element of the destination.
    fn elements(mut self, slots: Items) -> Result<Kernel, PlanError> {
        let slot = self.parts.local(self.item_name());
        let mut body = vec![work_item(&slot, &slots)];
        body.extend(self.constant_fill()?);
        let buffer = self.parts.buffer_name(1);
        let index = Expr::name(&slot);
        let store = |value| Stmt::Store {
            buffer: buffer.clone(),
            index: index.clone(),
            value,
            through: None,
        };
        body.extend(self.gather(vec![Expr::name(&slot)], &store, true)?);
        Ok(kernel(self.parts, body, vec![slots]))
    }

    /// One item for each byte of the destination's packed elements.
    fn bytes(mut self, bytes: Items) -> Result<Kernel, PlanError> {
        let context = self.to.context();
        let symbol = |var| context.symbol(var);
        let per_byte =
            i64::from(8_u32.checked_div(context.tensor.dtype.element_bits()).unwrap_or(1));
        let slots = lower(&self.to.slots()?, &symbol)?;
        let [byte, slot, end] =
            [self.parts.local("byte"), self.parts.local(self.item_name()), self.parts.local("end")];
        let buffer = self.parts.buffer_name(1);
        let mut body = vec![work_item(&byte, &bytes)];
        let first = super::lower::multiply(Expr::name(&byte), Expr::int(per_byte))?;
        let last = super::lower::add(first.clone(), Expr::int(per_byte))?.min(slots);
        body.push(Stmt::Let { name: end.clone(), value: last });
        if let Some(value) = self.rest_of_bytes()? {
            body.push(Stmt::StoreByte { buffer: buffer.clone(), index: Expr::name(&byte), value });
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
            parallel: false,
            body: each,
        });
        Ok(kernel(self.parts, body, vec![bytes]))
    }

    /// One item for each texel of the destination.
    fn texels(mut self, image: &Image) -> Result<Kernel, PlanError> {
        let context = self.to.context();
        let sizes = [Some(&image.width), Some(&image.height), image.layers.as_ref()];
        let mut range = Vec::new();
        let mut axes = Vec::new();
        let mut at = Vec::new();
        for (name, size) in ["x", "y", "layer"].into_iter().zip(sizes.into_iter().flatten()) {
            let (name, items) = (self.parts.local(name), Items::new(context, size)?);
            at.push(Expr::name(&name));
            axes.push(WorkAxis { name, extent: items.count.clone() });
            range.push(items);
        }
        let mut body = vec![Stmt::WorkItem { axes }];
        // Physical indices are major first.
        at.reverse();
        let Some(x) = at.pop() else { return Err(PlanError::Scope) };
        body.extend(self.constant_fill()?);
        let function = context.function("put");
        let place: Vec<Expr> = at.iter().cloned().chain([x.clone()]).collect();
        let head = [Expr::name(&self.parts.buffer_name(1))].into_iter().chain(place.clone());
        let args: Vec<Expr> = head.collect();
        let put = |value| Stmt::Put { function: function.clone(), args: args.clone(), value };
        if image.per_texel == 1 {
            body.extend(self.gather(place, &put, true)?);
        } else {
            let texel = self.parts.local("texel");
            let element = context.tensor.dtype.to_string();
            let done = put(Operand::Element { name: texel.clone() });
            body.push(Stmt::DeclareTexel { name: texel.clone(), element, lanes: LANES });
            let (lane, along) = (self.parts.local("lane"), self.parts.local("column"));
            let index = Expr::name(&lane);
            let store = |value| Stmt::Store {
                buffer: texel.clone(),
                index: index.clone(),
                value,
                through: None,
            };
            let first = super::lower::multiply(x, Expr::int(i64::from(LANES)))?;
            let column = super::lower::add(first, Expr::name(&lane))?;
            let physical = at.into_iter().chain([Expr::name(&along)]).collect();
            let mut each = vec![Stmt::Let { name: along, value: column }];
            each.extend(self.gather(physical, &store, true)?);
            let to = Expr::int(i64::from(LANES));
            body.push(Stmt::For {
                name: lane,
                from: Expr::int(0),
                to,
                step: 1,
                parallel: false,
                body: each,
            });
            body.push(done);
        }
        Ok(kernel(self.parts, body, range))
    }

    /// One item for each element of the tensor, written where it belongs.
    fn scatter(mut self) -> Result<Kernel, PlanError> {
        let context = self.to.context();
        let items = Items::new(context, &count(&context.layout.logical)?)?;
        let element = self.parts.local("element");
        let mut body = vec![work_item(&element, &items)];
        let (names, lets) = self.decompose(context, &Expr::name(&element))?;
        body.extend(lets);
        let value = self.source(&names)?;
        let buffer = self.parts.buffer_name(1);
        body.push(Stmt::Store { buffer, index: place(context, &names), value, through: None });
        Ok(kernel(self.parts, body, vec![items]))
    }

    /// A single item that moves everything: elements that share bytes, and no inverse to tell which.
    fn one_item(mut self) -> Result<Kernel, PlanError> {
        let context = self.to.context();
        let symbol = |var| context.symbol(var);
        let item = self.parts.local("item");
        let one = Items { count: Expr::int(1), may_be_none: false };
        self.parts.remark("A single work item moves all: elements share bytes, and the layout has no inverse in closed form.");
        let mut body = vec![work_item(&item, &one), Stmt::Unused { name: item }];
        let bytes = lower(&buffer_bytes(context, &context.layout.physical_elements)?, &symbol)?;
        if let Some(value) = self.rest_of_bytes()? {
            let byte = self.parts.local("byte");
            let (buffer, index) = (self.parts.buffer_name(1), Expr::name(&byte));
            let store = vec![Stmt::StoreByte { buffer, index, value }];
            body.push(Stmt::For {
                name: byte,
                from: Expr::int(0),
                to: bytes,
                step: 1,
                parallel: false,
                body: store,
            });
        }
        let axes = &context.layout.logical;
        let names: Vec<String> = axes.iter().map(|axis| self.parts.local(&axis.name)).collect();
        let value = self.source(&names)?;
        let (buffer, index) = (self.parts.buffer_name(1), place(context, &names));
        let through = Some(context.function("store"));
        let store = Stmt::Store { buffer, index, value, through };
        body.extend(over(axes, names, store, &symbol)?);
        Ok(kernel(self.parts, body, vec![one]))
    }

    /// What bytes of packed elements hold where no element goes; `None` where they keep what they held.
    fn rest_of_bytes(&self) -> Result<Option<u8>, PlanError> {
        let Home::Layout(context) = self.to else { return Ok(Some(0)) };
        if context.fills() {
            let bits = fill_bits(context)?;
            return Ok(Some(repeat_in_byte(bits, context.tensor.dtype.element_bits())));
        }
        Ok((!is_padded(context)).then_some(0))
    }

    /// The kernel that writes the fill value to every slot, padding or not.
    fn fill(&self, name: &str) -> Result<Kernel, PlanError> {
        let context = self.to.context();
        let mut parts = self.parts.for_destination(name);
        let slots = Items::new(context, &context.layout.physical_elements)?;
        let slot = parts.local("slot");
        let fill = parts.local("fill");
        let body = vec![
            work_item(&slot, &slots),
            fill_constant(context, &fill)?,
            Stmt::Store {
                buffer: parts.buffer_name(1),
                index: Expr::name(&slot),
                value: Operand::Element { name: fill },
                through: None,
            },
        ];
        Ok(kernel(parts, body, vec![slots]))
    }

    /// What an item's number counts.
    fn item_name(&self) -> &'static str {
        match self.to {
            Home::Dense(_) => "element",
            Home::Layout(_) => "slot",
        }
    }

    /// The constant `fill`, where the destination's padding gets one.
    fn constant_fill(&mut self) -> Result<Option<Stmt>, PlanError> {
        let Home::Layout(context) = self.to else { return Ok(None) };
        let image = self.to.image()?.is_some();
        if !is_padded(context) || !(context.fills() || image) {
            return Ok(None);
        }
        // Texels are written whole: padding in an image gets 0 where nothing else is asked for.
        let name = self.parts.fill_name();
        fill_constant(context, &name).map(Some)
    }

    /// The statements that find the element at a physical index of the destination and store it, or the fill.
    fn gather(
        &mut self,
        physical: Vec<Expr>,
        store: &dyn Fn(Operand) -> Stmt,
        fill: bool,
    ) -> Result<Vec<Stmt>, PlanError> {
        let to = self.to;
        let context = match to {
            Home::Dense(context) => {
                let Some(element) = physical.into_iter().next() else {
                    return Err(PlanError::Scope);
                };
                let (names, mut body) = self.decompose(context, &element)?;
                body.push(store(self.source(&names)?));
                return Ok(body);
            }
            Home::Layout(context) => context,
        };
        let axes = &context.layout.logical;
        let names: Vec<String> = axes.iter().map(|axis| self.parts.local(&axis.name)).collect();
        let mut args = context.symbol_args();
        args.extend(physical);
        args.extend(names.iter().map(|name| Expr::Address { name: name.clone() }));
        let find = context.function("logical");
        let mut body = Vec::new();
        if !names.is_empty() {
            body.push(Stmt::Declare { names: names.clone() });
        }
        let found = store(self.source(&names)?);
        if !is_padded(context) {
            if !names.is_empty() {
                body.push(Stmt::Invoke { name: find, args });
            }
            body.push(found);
            return Ok(body);
        }
        let mut otherwise = Vec::new();
        if fill && (context.fills() || to.image()?.is_some()) {
            otherwise.push(store(Operand::Element { name: self.parts.fill_name() }));
        }
        let condition = Expr::call(&find, args);
        body.push(Stmt::If { condition, body: vec![found], otherwise });
        Ok(body)
    }

    /// The indices of the element at `offset` of the dense row-major tensor: their names, and the statements.
    fn decompose(
        &mut self,
        context: &Context<'_>,
        offset: &Expr,
    ) -> Result<(Vec<String>, Vec<Stmt>), PlanError> {
        let symbol = |var| context.symbol(var);
        let axes = &context.layout.logical;
        let names: Vec<String> = axes.iter().map(|axis| self.parts.local(&axis.name)).collect();
        let mut lets = Vec::new();
        for (k, ((axis, stride), name)) in
            axes.iter().zip(dense_strides(axes)?).zip(&names).enumerate()
        {
            let (stride, extent) = (lower(&stride, &symbol)?, lower(&axis.extent, &symbol)?);
            let one = Expr::int(1);
            let above = match stride {
                stride if stride == one => offset.clone(),
                stride => Expr::Div { a: Box::new(offset.clone()), b: Box::new(stride) },
            };
            let value = match extent {
                extent if extent == one => Expr::int(0),
                _ if k == 0 => above,
                extent => Expr::Mod { a: Box::new(above), b: Box::new(extent) },
            };
            lets.push(Stmt::Let { name: name.clone(), value });
        }
        Ok((names, lets))
    }

    /// What the source holds for the element with the destination's axes named so.
    fn source(&self, names: &[String]) -> Result<Operand, PlanError> {
        let context = self.from.context();
        let matched: Vec<String> =
            self.axes.iter().filter_map(|k| names.get(*k).cloned()).collect();
        let buffer = self.parts.buffer_name(0);
        let through = context.is_packed().then(|| context.function("load"));
        let symbol = |var| context.symbol(var);
        match self.from {
            Home::Dense(_) => {
                let index = dense_offset(&context.layout.logical, &matched, &symbol)?;
                Ok(Operand::Load { buffer, index, through })
            }
            Home::Layout(_) if self.from.image()?.is_some() => {
                let mut args = context.symbol_args();
                args.extend(matched.iter().map(|name| Expr::name(name)));
                let indices = (0..context.layout.physical_shape.len())
                    .map(|k| Expr::call(&context.function(&format!("index_{k}")), args.clone()));
                let args = [Expr::name(&buffer)].into_iter().chain(indices).collect();
                Ok(Operand::Call { name: context.function("fetch"), args })
            }
            Home::Layout(_) => {
                Ok(Operand::Load { buffer, index: place(context, &matched), through })
            }
        }
    }
}

/// Whether there are slots without an element.
fn is_padded(context: &Context<'_>) -> bool {
    context.layout.verdict == Verdict::Padded
}

/// The kernel with its body; without one where there is never an item.
fn kernel(parts: Parts<'_>, body: Vec<Stmt>, range: Vec<Items>) -> Kernel {
    let never = range.iter().any(|items| items.count == Expr::int(0));
    let function = if never { parts.nothing() } else { parts.finish(body) };
    Kernel { function, range }
}

/// The number of the item in a range of one axis.
fn work_item(name: &str, items: &Items) -> Stmt {
    let extent = items.count.clone();
    Stmt::WorkItem { axes: vec![WorkAxis { name: name.to_owned(), extent }] }
}

/// The bits of the fill value.
fn fill_bits(context: &Context<'_>) -> Result<u64, PlanError> {
    crate::fill::bits(context.tensor.dtype, context.tensor.fill).map_err(|_| PlanError::Scope)
}

/// The constant that padding gets.
fn fill_constant(context: &Context<'_>, name: &str) -> Result<Stmt, PlanError> {
    let dtype = context.tensor.dtype;
    let bits = fill_bits(context)?;
    let digits = usize::try_from(dtype.scalar_bits().div_ceil(4)).unwrap_or(16);
    let (name, element) = (name.to_owned(), dtype.to_string());
    Ok(Stmt::LetElement { name, element, bits: format!("{bits:0digits$x}") })
}
