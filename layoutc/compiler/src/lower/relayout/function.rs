//! Functions that copy a whole tensor: pack, unpack and convert.

use layoutc_algebra::expr::Var;
use layoutc_algebra::layout::Layout;
use layoutc_algebra::symbol::{Axis, Symbol};

use crate::base::cast::Cast;
use crate::base::dtype::Dtype;
use crate::ir::{Expr, Function, LoopKind, Param, ParamType, Returns, Stmt, Value};
use crate::loops::error::PlanError;
use crate::loops::heuristics::parallelize;
use crate::loops::heuristics::parallelize::{Cores, Loop};
use crate::loops::relayout::address_map::{AddressMap, dense_address_map, physical_address_map};
use crate::loops::relayout::digits::common_refinement;
use crate::loops::relayout::plan::plan;
use crate::loops::relayout::plan::{RelayoutOptions, RelayoutPlan};
use crate::lower::context::Context;
use crate::lower::expr::{Binding, lower};
use crate::lower::index::{count, symbol_params};
use crate::lower::kernel::prologue::documented;
use crate::lower::names::Namer;
use crate::lower::relayout::elements::RelayoutEnd;
use crate::lower::relayout::nest;
use crate::lower::relayout::nest::Buffer;
use crate::lower::relayout::padding::{PaddingPolicy, fill_constant};
use crate::model::compute::KernelInstance;
use crate::model::{ConvertSchedule, StorePolicy};
use crate::passes;

/// Requirement of every function that reads one buffer and writes another.
pub(crate) const NO_OVERLAP: &str = "The buffers must not overlap.";

/// `pack(symbols, logical, physical)`: from the dense row-major buffer into the layout; padding gets the fill value.
/// With `sides`, its loops follow digits, else logical axes.
pub(crate) fn pack(context: &Context<'_>, sides: Option<&Sides>) -> Result<Move, PlanError> {
    let mut builder = RelayoutBuilder::pack(context);
    let layout = context.layout;
    let linear = match sides {
        Some(Sides { logical, physical }) => {
            common_refinement(logical, physical, layout.logical(), layout.symbols())?
        }
        None => None,
    };
    let rest = PaddingPolicy::of(context);
    builder.prepare_destination(
        context,
        layout.physical_elements(),
        rest,
        linear.as_ref(),
        None,
    )?;
    let from = builder.buffer(context, 0, "l", "load");
    let to = builder.buffer(context, 1, "p", "store");
    let body = match linear {
        Some(refinement) => {
            builder.nest(context, context, &refinement, [&from, &to], ConvertSchedule::NONE)?
        }
        None => {
            let ends = [RelayoutEnd::Dense(context), RelayoutEnd::Layout(context)];
            builder.by_elements(ends, &all_axes(layout), [&from, &to])?
        }
    };
    Ok(builder.finish(body))
}

/// `unpack(symbols, physical, logical)`: from the layout into the dense row-major buffer; padding is not read. With
/// `sides`, its loops follow digits, else logical axes.
pub(crate) fn unpack(context: &Context<'_>, sides: Option<&Sides>) -> Result<Move, PlanError> {
    let mut builder = RelayoutBuilder::unpack(context);
    // Another logical element type consists of whole bytes, and needs no preparation.
    if context.tensor.pack_from.is_none() {
        let keeps = context.layout.domain().is_some() && !context.fills_outside();
        builder.prepare_destination(
            context,
            &count(context.layout.logical())?,
            if keeps { PaddingPolicy::Kept } else { PaddingPolicy::Zero },
            None,
            None,
        )?;
    }
    let from = builder.buffer(context, 0, "p", "load");
    let to = builder.buffer(context, 1, "l", "store");
    let layout = context.layout;
    let linear = match sides {
        Some(Sides { logical, physical }) => {
            common_refinement(physical, logical, layout.logical(), layout.symbols())?
        }
        None => None,
    };
    let body = match linear {
        Some(refinement) => {
            builder.nest(context, context, &refinement, [&from, &to], ConvertSchedule::NONE)?
        }
        None => {
            let ends = [RelayoutEnd::Layout(context), RelayoutEnd::Dense(context)];
            builder.by_elements(ends, &all_axes(layout), [&from, &to])?
        }
    };
    Ok(builder.finish(body))
}

fn padding_doc(context: &Context<'_>) -> &'static str {
    if context.fills() {
        "Padding gets the fill value."
    } else if context.layout.verdict() == layoutc_algebra::layout::Verdict::Padded {
        "Padding is not written."
    } else {
        "There is no padding."
    }
}

/// Dense row-major and physical arrangement of a tensor: source and destination of pack, or the reverse for unpack.
pub(crate) struct Sides {
    pub(crate) logical: AddressMap,
    pub(crate) physical: AddressMap,
}

/// Both sides of a layout; `None` if it has no normal form.
pub(crate) fn sides(layout: &Layout) -> Result<Option<Sides>, PlanError> {
    let Some(digits) = layout.digits() else { return Ok(None) };
    let physical = physical_address_map(layout, digits)?;
    Ok(dense_address_map(layout.logical(), &physical)?.map(|logical| Sides { logical, physical }))
}

/// Positions of all logical axes of a layout.
fn all_axes(layout: &Layout) -> Vec<usize> {
    (0..layout.logical().len()).collect()
}

/// Function that copies a whole tensor.
#[derive(Debug, Clone)]
pub struct Move {
    /// Copy function.
    pub function: Function,
    /// Loop nest over digits; `None` if the loops copy single elements, as the layouts have no common digits.
    pub nest: Option<RelayoutPlan>,
    /// Symbols of the digits' strides and extents.
    pub symbols: Vec<Symbol>,
    /// Treatment of the destination's padding.
    pub padding: Padding,
}

/// Treatment of the destination's padding by a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Padding {
    /// The destination has no padding.
    None,
    /// Padding keeps its values.
    Kept,
    /// The whole destination is filled before elements are written.
    First,
    /// Only padding is filled.
    Alone,
}

/// Source and destination of a function.
struct Ends<'e> {
    /// Names of source and destination.
    buffers: [&'e str; 2],
    dtypes: [Dtype; 2],
    /// Conversion of each element; `None` if both types are equal.
    cast: Option<Cast>,
}

/// Builder of a function that copies a tensor.
#[derive(Clone)]
pub(crate) struct RelayoutBuilder<'a> {
    pub(crate) namer: Namer<'a>,
    pub(crate) function: Function,
    buffers: [String; 2],
    /// Element types of source and destination.
    dtypes: [Dtype; 2],
    /// Conversion of each element; `None` if both types are equal.
    pub(crate) cast: Option<Cast>,
    fill: Option<String>,
    nest: Option<RelayoutPlan>,
    symbols: Vec<Symbol>,
    pub(crate) padding: Padding,
    pub(crate) options: RelayoutOptions,
}

impl<'a> RelayoutBuilder<'a> {
    /// Function `<tensor>_pack(symbols, logical, physical)`.
    pub(crate) fn pack(context: &Context<'a>) -> Self {
        let doc = vec![
            "From the dense row-major tensor into its layout.".to_owned(),
            padding_doc(context).to_owned(),
        ];
        let tensor = context.tensor;
        let dtypes = [tensor.logical_dtype(), tensor.dtype];
        let cast = tensor.pack_from.map(|logical| logical.pack);
        let ends = Ends { buffers: ["logical", "physical"], dtypes, cast };
        Self::named(context, None, context.function("pack"), ends, doc)
    }

    /// Function `<tensor>_unpack(symbols, physical, logical)`.
    pub(crate) fn unpack(context: &Context<'a>) -> Self {
        let doc = vec!["From the layout back into the dense row-major tensor.".to_owned()];
        let tensor = context.tensor;
        let dtypes = [tensor.dtype, tensor.logical_dtype()];
        let cast = tensor.pack_from.map(|logical| logical.unpack);
        let ends = Ends { buffers: ["physical", "logical"], dtypes, cast };
        Self::named(context, None, context.function("unpack"), ends, doc)
    }

    /// Function `<from>_to_<to>(symbols, from, to)`.
    pub(crate) fn convert(from: &Context<'a>, to: &Context<'a>, cast: Option<Cast>) -> Self {
        let names = [&from.tensor.name, &to.tensor.name];
        let name = from.naming.tensor(&format!("{}_to_{}", names[0], names[1]));
        let doc = vec![
            format!("From the layout of {} into that of {}.", names[0], names[1]),
            padding_doc(to).to_owned(),
        ];
        let dtypes = [from, to].map(|side| side.tensor.dtype);
        let ends = Ends { buffers: names.map(String::as_str), dtypes, cast };
        Self::named(from, Some(to), name, ends, doc)
    }

    /// Function `NAME(symbols, from, to)` of an instance whose operands are `from` and `to`; `None` if the instance has
    /// other parameters.
    pub(crate) fn copy_kernel(
        [from, to]: [&Context<'a>; 2],
        compute: &KernelInstance,
        cast: Option<Cast>,
    ) -> Option<Self> {
        let [source, target] = compute.operands.as_slice() else { return None };
        let names = [&*source.name, &*target.name];
        let dtypes = [from, to].map(|side| side.tensor.dtype);
        let ends = Ends { buffers: names, dtypes, cast };
        let name = from.naming.tensor(&compute.name);
        let other = (source.tensor != target.tensor).then_some(to);
        let mut symbols: Vec<&str> = Vec::new();
        for symbol in from.symbols.iter().chain(&to.symbols) {
            if !symbols.contains(&&*symbol.facts.name) {
                symbols.push(&symbol.facts.name);
            }
        }
        let is_equal = symbols.into_iter().eq(compute.symbols.iter().map(|symbol| &*symbol.name));
        is_equal.then(|| Self::named(from, other, name, ends, documented(compute)))
    }

    /// Name of the function.
    pub(crate) fn name(&self) -> &str {
        &self.function.name
    }

    fn named(
        context: &Context<'a>,
        other: Option<&Context<'a>>,
        name: String,
        Ends { buffers, dtypes, cast }: Ends<'_>,
        mut doc: Vec<String>,
    ) -> Self {
        doc.extend(
            cast.map(|cast| format!("{} becomes {}. {}", cast.from(), cast.to(), cast.doc())),
        );
        doc.push(NO_OVERLAP.to_owned());
        let mut namer = Namer::new(context.naming.avoid);
        let mut params = symbol_params(context, &mut namer);
        for symbol in other.into_iter().flat_map(|other| &other.symbols) {
            if params.iter().all(|param| param.name != symbol.name) {
                params.push(Param { name: namer.name(&symbol.facts.name), ty: ParamType::Index });
            }
        }
        let buffers = buffers.map(|buffer| namer.name(buffer));
        let [from, to] = &buffers;
        let [read, written] = dtypes;
        params.push(Param { name: from.clone(), ty: ParamType::Input(read) });
        params.push(Param { name: to.clone(), ty: ParamType::Output(written) });
        let mut body = Vec::new();
        for context in [Some(context), other].into_iter().flatten() {
            if !context.symbols.is_empty() {
                let condition = Expr::call(&context.function("symbols_ok"), context.symbol_args());
                body.push(Stmt::Assert { condition });
            }
        }
        let function = Function { name, doc, returns: Returns::Nothing, params, body };
        Self {
            namer,
            function,
            buffers,
            dtypes,
            cast,
            fill: None,
            nest: None,
            symbols: Vec::new(),
            padding: Padding::None,
            options: context.naming.options,
        }
    }

    /// Unused identifier for a local name, `wanted` if possible.
    pub(crate) fn local(&mut self, wanted: &str) -> String {
        self.namer.name(wanted)
    }

    /// Identifier of the fill constant, equal in every call.
    pub(crate) fn fill_name(&mut self) -> String {
        let namer = &mut self.namer;
        self.fill.get_or_insert_with(|| namer.name("fill")).clone()
    }

    /// Name of the source (`which` = 0) or the destination (1).
    pub(crate) fn buffer_name(&self, which: usize) -> String {
        self.buffers.get(which).cloned().unwrap_or_default()
    }

    /// Changes the parameter type of the source (`which` = 0) or the destination (1), for example to an image.
    pub(crate) fn retype(&mut self, which: usize, ty: ParamType) {
        let name = self.buffer_name(which);
        if let Some(param) = self.function.params.iter_mut().find(|param| param.name == name) {
            param.ty = ty;
        }
    }

    /// Adds a line to the function's documentation.
    pub(crate) fn remark(&mut self, line: &str) {
        self.function.doc.push(line.to_owned());
    }

    /// Function `name` that fills the destination: without the source parameter, to run before this function.
    pub(crate) fn for_destination(&self, name: &str) -> Self {
        let source = self.buffer_name(0);
        let mut function = self.function.clone();
        name.clone_into(&mut function.name);
        function.doc =
            vec!["Writes the fill value to every slot; runs before the other.".to_owned()];
        function.params.retain(|param| param.name != source);
        let (namer, buffers) = (self.namer.clone(), self.buffers.clone());
        Self {
            namer,
            function,
            buffers,
            dtypes: self.dtypes,
            cast: None,
            fill: None,
            nest: None,
            symbols: Vec::new(),
            padding: Padding::None,
            options: self.options,
        }
    }

    pub(crate) fn buffer(
        &self,
        context: &Context<'_>,
        which: usize,
        partial: &str,
        access: &str,
    ) -> Buffer {
        let dtype = self.dtypes.get(which).copied().unwrap_or(context.tensor.dtype);
        Buffer {
            name: self.buffers.get(which).cloned().unwrap_or_default(),
            partial: partial.to_owned(),
            through: (dtype.element_bits() < 8).then(|| context.access(access)),
            element_bits: i128::from(dtype.element_bits()),
        }
    }

    pub(crate) fn nest(
        &mut self,
        context: &Context<'_>,
        other: &Context<'_>,
        refinement: &crate::loops::relayout::digits::DigitRefinement,
        buffers: [&Buffer; 2],
        choices: &ConvertSchedule,
    ) -> Result<Vec<Stmt>, PlanError> {
        let symbol = |var| context.symbol(var).or_else(|| other.symbol(var));
        let symbols = context.layout.symbols();
        let ranges = |var| symbol(var).map(|binding| binding.range);
        let element_bits = buffers.map(|buffer| buffer.element_bits);
        let nest = plan(refinement, symbols, &ranges, element_bits, self.options, choices)?;
        // Primitives for tiles do not convert: a copy with a conversion copies single elements.
        let nest = if self.cast.is_some() { nest.one_by_one() } else { nest };
        let body = nest::write(
            &nest,
            symbols,
            &symbol,
            &self.namer,
            buffers,
            self.cast,
            self.options.primitives,
        )?;
        if let Some(stores) = &choices.stores
            && stores.value == StorePolicy::Streaming
            && !nest.parts.is_empty()
            && !passes::streams(&body)
        {
            return Err(PlanError::Choice {
                message: "there are no streaming stores here: the relayout transposes no block and copies no run".into(),
                help: "remove `stores`; `layoutc inspect --plan` prints the inner kernels".into(),
                place: stores.place.clone(),
            });
        }
        self.nest = Some(nest);
        self.symbols = symbols.to_vec();
        Ok(body)
    }

    /// Declares the fill constant of elements outside the domain before the loops, and returns its name as a value.
    pub(crate) fn declare_fill(&mut self, context: &Context<'_>) -> Result<Value, PlanError> {
        // Padding may have a separate fill constant.
        let name = self.local("outside");
        self.function.body.push(fill_constant(context, &name)?);
        Ok(Value::Name { name })
    }

    /// Marks the most suitable of the nested loops as parallel, if all threads may be used.
    pub(crate) fn share(&self, body: &mut [Stmt], loops: &[Loop], to: &Buffer) {
        let chosen = parallelize::choose(loops, to.element_bits);
        if let (Some(chosen), Cores::All) = (chosen, self.options.cores) {
            set_parallel(body, chosen);
        }
    }

    /// Function with an empty body.
    pub(crate) fn nothing(mut self) -> Function {
        self.function.body.clear();
        self.function
    }

    pub(crate) fn finish(mut self, body: Vec<Stmt>) -> Move {
        self.function.body.extend(body);
        passes::cpu_relayout(&mut self.function);
        let Self { nest, symbols, padding, .. } = self;
        Move { function: self.function, nest, symbols, padding }
    }
}

pub(crate) fn write(to: &Buffer, index: Expr, value: Value) -> Stmt {
    Stmt::Store { buffer: to.name.clone(), index, value, through: to.through.clone() }
}

pub(crate) fn place(context: &Context<'_>, names: &[String]) -> Expr {
    let mut args = context.symbol_args();
    args.extend(names.iter().map(|name| Expr::name(name)));
    Expr::call(&context.function("offset"), args)
}

/// Marks the loop at nesting depth `depth` as parallel; 0 is the outermost.
fn set_parallel(body: &mut [Stmt], depth: usize) {
    for stmt in body {
        if let Stmt::For { kind, body, .. } = stmt {
            match depth.checked_sub(1) {
                None => *kind = LoopKind::Parallel,
                Some(above) => set_parallel(body, above),
            }
        }
    }
}

pub(crate) fn over(
    axes: &[Axis],
    names: Vec<String>,
    stmt: Stmt,
    symbol: &dyn Fn(Var) -> Option<Binding>,
) -> Result<Vec<Stmt>, PlanError> {
    let mut body = vec![stmt];
    for (axis, name) in axes.iter().zip(names).rev() {
        let to = lower(&axis.extent, symbol)?;
        let (from, kind) = (Expr::int(0), LoopKind::Serial);
        body = vec![Stmt::For { name, from, to, step: 1, kind, body }];
    }
    Ok(body)
}

/// Bytes of a buffer whose elements all have these bits: the shortest period, 3 bytes for 3-bit elements, or 1 byte if
/// all are equal.
pub(crate) fn repeat_in_bytes(bits: u64, (dtype, high_first): (Dtype, bool)) -> Vec<u8> {
    let (elements, bytes) = dtype.byte_group();
    let width = dtype.element_bits();
    let mut stream = 0_u128;
    for k in 0..elements {
        let shift = if high_first { bytes * 8 - width * (k + 1) } else { width * k };
        stream |= u128::from(bits) << shift;
    }
    let mut all = stream.to_le_bytes().get(..bytes as usize).unwrap_or_default().to_vec();
    if high_first {
        all.reverse();
    }
    if all.windows(2).all(|pair| pair.first() == pair.last()) {
        all.truncate(1);
    }
    all
}
