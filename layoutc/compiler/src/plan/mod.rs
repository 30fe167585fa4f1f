//! Plans of generated functions, independent of the target: index functions, counts and loop nests, as IR.
//!
//! Input is the checked model. [`tensor`] plans one tensor, [`convert`] one relayout; both are pure functions.

mod arith;
mod border;
pub mod cores;
mod domain;
mod elements;
pub mod gpu_relayout;
pub mod image;
pub mod index;
mod inverse;
mod kernel;
mod loops;
pub mod lower;
pub mod merge;
mod moves;
pub mod names;
pub mod nest;
mod prepare;
pub mod relayout;
pub mod reshard;
pub mod ring;
pub mod sharding;
pub mod side;
pub mod transfer;
pub mod view;

use layoutc_algebra::expr::{Expr as Algebra, Var};
use layoutc_algebra::layout::Layout;
use layoutc_algebra::symbol::Symbol;

use self::lower::{Binding, PlanError, Range};
use self::names::Namer;
use self::nest::Ways;
use crate::base::dtype::Dtype;
use crate::ir::{Expr, Function};
use crate::model::{Fill, Memory, Tensor};

pub use self::gpu_relayout::Kernel;
pub use self::kernel::{
    LoopFacts, ReferenceKernel, cpu_kernel, gpu_kernels, is_given, kernel_loops, plain,
    statement_schedules,
};
pub(crate) use self::kernel::{complete_schedule, tile_extents};
pub(crate) use self::moves::repeat_in_bytes;
pub use self::moves::{Move, Padding};
pub(crate) use self::relayout::schedule_diagnostics;
pub use self::relayout::{convert, copy_kernel};

/// Properties of a target that plans depend on.
#[derive(Clone, Copy)]
pub struct Naming<'a> {
    /// Prefix of every identifier.
    pub prefix: &'a str,
    /// True for an identifier that is not available: reserved by the target, or used elsewhere in the file.
    pub avoid: &'a dyn Fn(&str) -> bool,
    /// Implementation of pack, unpack and relayouts.
    pub ways: Ways,
}

impl std::fmt::Debug for Naming<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut naming = f.debug_struct("Naming");
        naming.field("prefix", &self.prefix).field("ways", &self.ways).finish_non_exhaustive()
    }
}

impl Naming<'_> {
    /// Name of a tensor: `<prefix><tensor>`.
    pub fn tensor(&self, name: &str) -> String {
        [self.prefix, name].concat()
    }

    /// Name of a function or constant of a tensor: `<prefix><tensor>_<what>`.
    pub fn member(&self, name: &str, what: &str) -> String {
        [self.prefix, name, "_", what].concat()
    }
}

/// Count or extent that is generated as a constant, or as a function of the same name if it depends on symbols.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quantity {
    /// Name in lower case without the tensor's name: `extent_n`.
    pub name: String,
    /// Documentation of the constant.
    pub doc: String,
    /// Value of the constant, over symbols.
    pub value: Expr,
}

/// Functions and constants that are generated for one tensor.
#[derive(Debug, Clone)]
pub struct TensorPlan {
    /// Symbols that the functions take as parameters, in order.
    pub symbols: Vec<Symbol>,
    /// `symbols_ok(symbols)`: true if the symbols have values for which the layout is proven; `None` without symbols.
    pub symbols_ok: Option<Function>,
    /// Counts and extents, in the order in which they are printed.
    pub quantities: Vec<Quantity>,
    /// `offset(symbols, axes)`: offset of an element in the flat buffer, in elements.
    pub offset: Function,
    /// `index_0(symbols, axes)`, …: index of an element along each physical axis; empty if the physical rank is at most
    /// 1.
    pub indices: Vec<Function>,
    /// `logical(symbols, physical indices, outputs)`: element at a physical index (the inverse map).
    pub logical: Function,
    /// `in_domain(symbols, axes)`: true if an index is an element; `None` if every index is one.
    pub in_domain: Option<Function>,
    /// From the dense row-major buffer into the layout; `None` if the tensor has no memory.
    pub pack: Option<Function>,
    /// From the layout into the dense row-major buffer; `None` if the tensor has no memory.
    pub unpack: Option<Function>,
}

/// Kernels that pack and unpack a tensor on a GPU, in the order in which they run.
#[derive(Debug, Clone)]
pub struct GpuRelayouts {
    /// From the dense row-major buffer into the layout.
    pub pack: Vec<Kernel>,
    /// From the layout into the dense row-major buffer.
    pub unpack: Vec<Kernel>,
}

/// Plans the pack and unpack kernels of one tensor; `None` if kernels cannot access its memory.
///
/// # Errors
/// Same as [`tensor`].
pub fn gpu_relayouts(
    tensor: &Tensor,
    naming: &Naming<'_>,
) -> Result<Option<GpuRelayouts>, PlanError> {
    if image::rank_of(tensor.memory).is_none() {
        return Ok(None);
    }
    let context = Context::new(tensor, naming);
    Ok(Some(GpuRelayouts {
        pack: gpu_relayout::pack(&context)?,
        unpack: gpu_relayout::unpack(&context)?,
    }))
}

/// Plans the functions of one tensor.
///
/// # Errors
/// [`PlanError`] if an integer does not fit 64 bits or an expression nests too deep.
pub fn tensor(tensor: &Tensor, naming: &Naming<'_>) -> Result<TensorPlan, PlanError> {
    let context = Context::new(tensor, naming);
    let moves = tensor.memory != Memory::None;
    let sides = if moves { moves::sides(&tensor.layout)? } else { None };
    Ok(TensorPlan {
        symbols: context.symbols.iter().map(|symbol| symbol.facts.clone()).collect(),
        symbols_ok: index::symbols_ok(&context),
        quantities: index::quantities(&context)?,
        offset: index::offset(&context)?,
        indices: index::indices(&context)?,
        logical: inverse::logical(&context)?,
        in_domain: domain::in_domain(&context)?,
        pack: moves.then(|| moves::pack(&context, sides.as_ref())).transpose()?.map(function),
        unpack: moves.then(|| moves::unpack(&context, sides.as_ref())).transpose()?.map(function),
    })
}

/// Pack and unpack of one tensor, with their loop nests; `None` if the tensor has no memory.
///
/// # Errors
/// Same as [`tensor`].
pub fn moves(tensor: &Tensor, naming: &Naming<'_>) -> Result<Option<[Move; 2]>, PlanError> {
    if tensor.memory == Memory::None {
        return Ok(None);
    }
    let context = Context::new(tensor, naming);
    let sides = moves::sides(&tensor.layout)?;
    let pack = moves::pack(&context, sides.as_ref())?;
    Ok(Some([pack, moves::unpack(&context, sides.as_ref())?]))
}

fn function(moved: Move) -> Function {
    moved.function
}

/// Symbol with its identifier in the generated code.
pub(crate) struct NamedSymbol<'a> {
    pub(crate) number: u32,
    pub(crate) facts: &'a Symbol,
    pub(crate) name: String,
}

/// Tensor with the identifiers of its symbols.
pub(crate) struct Context<'a> {
    pub(crate) tensor: &'a Tensor,
    pub(crate) layout: &'a Layout,
    pub(crate) naming: &'a Naming<'a>,
    /// Symbols on which the tensor depends, in the order of the layout.
    pub(crate) symbols: Vec<NamedSymbol<'a>>,
    /// Name of the tensor whose functions load and store elements that share bytes.
    owner: &'a str,
}

impl<'a> Context<'a> {
    /// Context of a tensor, or of a view in the form of a tensor. A view has all symbols of its layout, also those that
    /// only the viewed tensor depends on.
    pub(crate) fn new(tensor: &'a Tensor, naming: &'a Naming<'a>) -> Self {
        let layout = &tensor.layout;
        let whole = || tensor.ring.iter().flat_map(|ring| &ring.whole).map(|axis| &axis.extent);
        let used = |number: u32, symbol: &Symbol| match &tensor.owner {
            Some(owner) => owner.symbols.contains(&symbol.name),
            None => all_exprs(layout)
                .chain(whole())
                .any(|expr| expr.mentions(&|other| other == Var::Symbol(number))),
        };
        // Symbols are the first parameters of every function, so that their identifiers are the same in all of them.
        let mut namer = Namer::new(naming.avoid);
        let symbols = (0..)
            .zip(layout.symbols())
            .filter(|(number, symbol)| used(*number, symbol))
            .map(|(number, facts)| NamedSymbol { number, facts, name: namer.name(&facts.name) })
            .collect();
        let owner = tensor.owner.as_ref().map_or(&tensor.name, |owner| &owner.name);
        Self { tensor, layout, naming, symbols, owner }
    }

    /// Name of a function: `<prefix><tensor>_<what>`.
    pub(crate) fn function(&self, what: &str) -> String {
        self.naming.member(&self.tensor.name, what)
    }

    /// Name of the function that loads or stores an element that shares its byte: `<prefix><owner>_<what>`.
    pub(crate) fn access(&self, what: &str) -> String {
        self.naming.member(self.owner, what)
    }

    /// Identifier and range of a symbol; `None` for any other variable.
    pub(crate) fn symbol(&self, var: Var) -> Option<Binding> {
        let symbol = self.symbols.iter().find(|symbol| var == Var::Symbol(symbol.number))?;
        let range = Range::new(symbol.facts.min, symbol.facts.max);
        Some(Binding { tree: Expr::name(&symbol.name), range })
    }

    /// Symbols as arguments of a call.
    pub(crate) fn symbol_args(&self) -> Vec<Expr> {
        self.symbols.iter().map(|symbol| Expr::name(&symbol.name)).collect()
    }

    /// Width of an element, in bits.
    pub(crate) fn bits(&self) -> i128 {
        i128::from(self.tensor.dtype.element_bits())
    }

    /// Element type, and true if the first of the elements that share a byte is in the high bits.
    pub(crate) fn packing(&self) -> (Dtype, bool) {
        (self.tensor.dtype, self.tensor.high_first)
    }

    /// True if elements are narrower than a byte and share bytes.
    pub(crate) fn is_packed(&self) -> bool {
        self.bits() < 8
    }

    /// True if pack writes the fill value to padding.
    pub(crate) fn fills(&self) -> bool {
        let padded = self.layout.verdict() == layoutc_algebra::layout::Verdict::Padded;
        padded && self.tensor.fill != Fill::Nothing
    }

    /// True if indices without an element get the fill value: indices of the dense buffer outside the domain, and
    /// elements of a relayout's destination that the source lacks.
    pub(crate) fn fills_outside(&self) -> bool {
        self.tensor.fill != Fill::Nothing
    }
}

fn all_exprs(layout: &Layout) -> impl Iterator<Item = &Algebra> {
    let extents = layout.logical().iter().chain(layout.storage()).map(|axis| &axis.extent);
    let shapes =
        layout.physical_shape().iter().chain(layout.physical_strides()).chain(layout.strides());
    let maps = layout.physical_map().iter().chain(layout.storage_map()).chain([layout.offset()]);
    let origin = layout.origin().into_iter().map(|origin| &origin.offset).chain([layout.lead()]);
    let conditions = layout.domain().into_iter().flat_map(|domain| &domain.all);
    let conditions = conditions.flat_map(|condition| [&condition.left, &condition.right]);
    let counts = [layout.physical_elements(), layout.logical_elements()];
    extents.chain(shapes).chain(maps).chain(origin).chain(conditions).chain(counts)
}
