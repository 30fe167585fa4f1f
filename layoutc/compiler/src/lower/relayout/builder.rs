//! Builder of the function of a relayout: parameters, names, loops.

use layoutc_algebra::expr::Var;
use layoutc_algebra::symbol::Axis;

use crate::base::cast::Cast;
use crate::base::dtype::Dtype;
use crate::ir::{Expr, Function, LoopKind, Param, ParamType, Returns, Stmt, Value};
use crate::loops::error::PlanError;
use crate::loops::heuristics::parallelize::{self, Cores, Loop};
use crate::loops::relayout::plan::{RelayoutOptions, RelayoutPlan};
use crate::lower::context::Context;
use crate::lower::expr::{Binding, lower};
use crate::lower::index::symbol_params;
use crate::lower::kernel::prologue::documented;
use crate::lower::names::Namer;
use crate::lower::relayout::nest::{self, Buffer};
use crate::lower::relayout::padding::fill_constant;
use crate::lower::relayout::statement::RelayoutStatement;
use crate::model::compute::KernelInstance;

/// Line of the documentation of generated functions that read and write buffers (relayouts and kernels): the
/// requirement that the buffers do not overlap.
pub(crate) const NO_OVERLAP: &str = "The buffers must not overlap.";

fn padding_doc(context: &Context<'_>) -> &'static str {
    if context.fills() {
        "Padding gets the fill value."
    } else if context.layout.verdict() == layoutc_algebra::layout::Verdict::Padded {
        "Padding is not written."
    } else {
        "There is no padding."
    }
}

/// Names and types of the parameters of a relayout function for source and destination, in this order.
struct RelayoutSignature<'e> {
    /// Wanted names of the parameters.
    buffers: [&'e str; 2],
    /// Prefixes of the names of partial offsets in source and destination.
    partials: [&'static str; 2],
    /// Element types of source and destination.
    dtypes: [Dtype; 2],
    /// Conversion of each element; `None` if both types are equal.
    cast: Option<Cast>,
}

/// Builder of a function that copies all elements of a tensor.
#[derive(Clone)]
pub(crate) struct RelayoutBuilder<'a> {
    /// Namer of the function, with the names in use.
    pub(crate) namer: Namer<'a>,
    /// Function under construction; its body has the statements before the loops.
    pub(crate) function: Function,
    /// Names of the parameters for source and destination.
    buffers: [String; 2],
    /// Prefixes of the names of partial offsets in source and destination.
    partials: [&'static str; 2],
    /// Element types of source and destination.
    dtypes: [Dtype; 2],
    /// Conversion of each element; `None` if both types are equal.
    pub(crate) cast: Option<Cast>,
    /// Name of the fill constant; `None` until `fill_name` is called.
    fill: Option<String>,
    pub(crate) options: RelayoutOptions,
}

impl<'a> RelayoutBuilder<'a> {
    /// Builder of the function `<tensor>_pack(symbols, logical, physical)`.
    pub(crate) fn pack(context: &Context<'a>) -> Self {
        let doc = vec![
            "From the dense row-major tensor into its layout.".to_owned(),
            padding_doc(context).to_owned(),
        ];
        let tensor = context.tensor;
        let dtypes = [tensor.logical_dtype(), tensor.dtype];
        let cast = tensor.pack_from.map(|logical| logical.pack);
        let buffers = ["logical", "physical"];
        let signature = RelayoutSignature { buffers, partials: ["l", "p"], dtypes, cast };
        Self::named(context, None, context.function("pack"), signature, doc)
    }

    /// Builder of the function `<tensor>_unpack(symbols, physical, logical)`.
    pub(crate) fn unpack(context: &Context<'a>) -> Self {
        let doc = vec!["From the layout back into the dense row-major tensor.".to_owned()];
        let tensor = context.tensor;
        let dtypes = [tensor.dtype, tensor.logical_dtype()];
        let cast = tensor.pack_from.map(|logical| logical.unpack);
        let buffers = ["physical", "logical"];
        let signature = RelayoutSignature { buffers, partials: ["p", "l"], dtypes, cast };
        Self::named(context, None, context.function("unpack"), signature, doc)
    }

    /// Builder of the function `<from>_to_<to>(symbols, from, to)`.
    pub(crate) fn convert(from: &Context<'a>, to: &Context<'a>, cast: Option<Cast>) -> Self {
        let names = [&from.tensor.name, &to.tensor.name];
        let name = from.naming.tensor(&format!("{}_to_{}", names[0], names[1]));
        let doc = vec![
            format!("From the layout of {} into that of {}.", names[0], names[1]),
            padding_doc(to).to_owned(),
        ];
        let dtypes = [from, to].map(|side| side.tensor.dtype);
        let buffers = names.map(String::as_str);
        let signature = RelayoutSignature { buffers, partials: ["s", "d"], dtypes, cast };
        Self::named(from, Some(to), name, signature, doc)
    }

    /// Builder of the function `NAME(symbols, from, to)` of the instance `compute`, which copies its operand `from` to
    /// its operand `to`. `None` if the instance does not have these two operands and their symbols, in this order, as
    /// its only parameters.
    pub(crate) fn copy_kernel(
        [from, to]: [&Context<'a>; 2],
        compute: &KernelInstance,
        cast: Option<Cast>,
    ) -> Option<Self> {
        let [source, target] = compute.operands.as_slice() else { return None };
        let names = [&*source.name, &*target.name];
        let dtypes = [from, to].map(|side| side.tensor.dtype);
        let signature = RelayoutSignature { buffers: names, partials: ["s", "d"], dtypes, cast };
        let name = from.naming.tensor(&compute.name);
        let other = (source.tensor != target.tensor).then_some(to);
        let mut symbols: Vec<&str> = Vec::new();
        for symbol in from.symbols.iter().chain(&to.symbols) {
            if !symbols.contains(&&*symbol.facts.name) {
                symbols.push(&symbol.facts.name);
            }
        }
        let is_equal = symbols.into_iter().eq(compute.symbols.iter().map(|symbol| &*symbol.name));
        is_equal.then(|| Self::named(from, other, name, signature, documented(compute)))
    }

    /// Name of the function.
    pub(crate) fn name(&self) -> &str {
        &self.function.name
    }

    fn named(
        context: &Context<'a>,
        other: Option<&Context<'a>>,
        name: String,
        RelayoutSignature { buffers, partials, dtypes, cast }: RelayoutSignature<'_>,
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
            partials,
            dtypes,
            cast,
            fill: None,
            options: context.naming.options,
        }
    }

    /// Unused identifier for a local variable, `wanted` if possible.
    pub(crate) fn local(&mut self, wanted: &str) -> String {
        self.namer.name(wanted)
    }

    /// Unused identifier for a second variable like `name`: for a partial offset `p0` the next one with its prefix.
    pub(crate) fn fresh(&mut self, name: &str) -> String {
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        if self.partials.contains(&prefix) {
            self.namer.partial(prefix)
        } else {
            self.namer.name(name)
        }
    }

    /// Identifier of the fill constant, the same in every call.
    pub(crate) fn fill_name(&mut self) -> String {
        let namer = &mut self.namer;
        self.fill.get_or_insert_with(|| namer.name("fill")).clone()
    }

    /// Name of the parameter for the source (`which` = 0) or the destination (1).
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

    /// Builder of the function `name` that fills the destination, to run before this function: it has the same
    /// parameters without the source.
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
            partials: self.partials,
            dtypes: self.dtypes,
            cast: None,
            fill: None,
            options: self.options,
        }
    }

    /// Buffer of the source (`which` = 0) or the destination (1), for loops. `context` is the tensor that is stored
    /// there.
    fn buffer(&self, which: usize, context: &Context<'_>) -> Buffer {
        let dtype = self.dtypes.get(which).copied().unwrap_or(context.tensor.dtype);
        let access = if which == 0 { "load" } else { "store" };
        Buffer {
            name: self.buffer_name(which),
            partial: self.partials.get(which).copied().unwrap_or_default().to_owned(),
            through: (dtype.element_bits() < 8).then(|| context.access(access)),
            element_bits: i128::from(dtype.element_bits()),
        }
    }

    /// Buffers of the source and of the destination of a statement, for loops.
    pub(crate) fn buffers(&self, statement: &RelayoutStatement<'_>) -> [Buffer; 2] {
        let ends = [statement.source, statement.destination];
        [(0, ends[0]), (1, ends[1])].map(|(which, end)| self.buffer(which, end.context()))
    }

    /// Sizes of an element in the source and in the destination, in bits.
    pub(crate) fn element_bits(&self) -> [i128; 2] {
        self.dtypes.map(|dtype| i128::from(dtype.element_bits()))
    }

    /// Loops that copy the elements of a statement as `plan` schedules them.
    ///
    /// # Errors
    /// [`PlanError`], for example if a bound or stride does not fit 64 bits or nests too deep.
    pub(crate) fn lower(
        &self,
        statement: &RelayoutStatement<'_>,
        plan: &RelayoutPlan,
    ) -> Result<Vec<Stmt>, PlanError> {
        let [from, to] = &self.buffers(statement);
        let symbol = |var| statement.symbol(var);
        let (cast, primitives) = (self.cast, self.options.primitives);
        nest::lower_plan(
            plan,
            statement.symbols(),
            &symbol,
            &self.namer,
            [from, to],
            cast,
            primitives,
        )
    }

    /// Declares the fill value of the tensor of `context`, for elements outside the domain of the source, as a constant
    /// before the loops. Returns its name as a value.
    pub(crate) fn declare_fill(&mut self, context: &Context<'_>) -> Result<Value, PlanError> {
        // Padding may have a separate fill constant.
        let name = self.local("outside");
        self.function.body.push(fill_constant(context, &name)?);
        Ok(Value::Name { name })
    }

    /// Marks the most suitable one of the nested loops of `body` as parallel, if there is one and all threads may be
    /// used. `loops` has an entry for each of them, outermost first; `to` is the destination.
    pub(crate) fn mark_parallel(&self, body: &mut [Stmt], loops: &[Loop], to: &Buffer) {
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

    /// Function with the statements `body` after those that precede its loops.
    pub(crate) fn finish(mut self, body: Vec<Stmt>) -> Function {
        self.function.body.extend(body);
        self.function
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

/// Marks the loops of `body` at the nesting depth `depth` as parallel; 0 is the outermost.
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

pub(crate) fn loops_over(
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

/// Bytes of a buffer whose elements all have the bits `bits`: the shortest period, 3 bytes for 3-bit elements, or 1
/// byte if all bytes are equal. The pair is the element type, and true if the first of the elements that share a byte
/// is in the high bits.
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
