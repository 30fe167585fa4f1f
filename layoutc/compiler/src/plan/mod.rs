//! What the generated code does, whatever the target: index functions, counts, and loop nests as trees.
//!
//! Reads the checked model, knows no C. [`tensor`] plans one tensor, [`convert`] one relayout; both are pure.

mod arith;
mod border;
pub mod cores;
mod domain;
pub mod gpu_relayout;
pub mod image;
pub mod index;
mod inverse;
mod kernel;
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
pub(crate) use self::kernel::tile_extents;
pub use self::kernel::{LoopFacts, Plain, cpu_kernel, gpu_kernels, is_given, kernel_loops, plain};
pub use self::moves::{Move, Padding};
pub(crate) use self::moves::{past_caches, repeat_in_bytes};
pub(crate) use self::relayout::schedule_diagnostics;
pub use self::relayout::{convert, copy_kernel};

/// What a plan has to know of its target.
#[derive(Clone, Copy)]
pub struct Naming<'a> {
    /// Put before every identifier.
    pub prefix: &'a str,
    /// Whether an identifier is not free: kept by the target, or given to something else in the file.
    pub avoid: &'a dyn Fn(&str) -> bool,
    /// How moves are done.
    pub ways: Ways,
}

impl std::fmt::Debug for Naming<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut naming = f.debug_struct("Naming");
        naming.field("prefix", &self.prefix).field("ways", &self.ways).finish_non_exhaustive()
    }
}

impl Naming<'_> {
    /// `<prefix><tensor>`.
    pub fn tensor(&self, name: &str) -> String {
        [self.prefix, name].concat()
    }

    /// `<prefix><tensor>_<what>`.
    pub fn member(&self, name: &str, what: &str) -> String {
        [self.prefix, name, "_", what].concat()
    }
}

/// A count or an extent with the constant's name, which is also that of the function where it depends on symbols.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quantity {
    /// The name without the tensor's, in lower case: `extent_n`.
    pub name: String,
    /// What it counts.
    pub doc: String,
    /// Its value.
    pub value: Expr,
}

/// Everything that is generated for one tensor.
#[derive(Debug, Clone)]
pub struct TensorPlan {
    /// The symbols that its signatures take, in order.
    pub symbols: Vec<Symbol>,
    /// Whether the symbols have values that are promised; `None` without symbols.
    pub symbols_ok: Option<Function>,
    /// Counts and extents, in the order they are printed.
    pub quantities: Vec<Quantity>,
    /// The offset of an element in the flat buffer.
    pub offset: Function,
    /// The physical index of an element; empty unless the physical rank is over 1.
    pub indices: Vec<Function>,
    /// The element of a physical index.
    pub logical: Function,
    /// Whether an index is an element; `None` where every index is one.
    pub in_domain: Option<Function>,
    /// From the dense logical buffer into the layout; `None` where the tensor has no memory.
    pub pack: Option<Function>,
    /// Back.
    pub unpack: Option<Function>,
}

/// What a target with kernels has in place of pack and unpack: in the order in which they run.
#[derive(Debug, Clone)]
pub struct GpuRelayouts {
    /// From the dense logical buffer into the layout.
    pub pack: Vec<Kernel>,
    /// Back.
    pub unpack: Vec<Kernel>,
}

/// Plans the kernels of one tensor; `None` where no kernel can reach its memory.
///
/// # Errors
/// As [`tensor`].
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

/// Plans one tensor.
///
/// # Errors
/// [`PlanError`] where a number leaves 64 bits or an expression nests too deep.
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

/// pack and unpack of one tensor, with how they go about it; `None` where the tensor has no memory.
///
/// # Errors
/// As [`tensor`].
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

/// A symbol under the name that it has in the generated code.
pub(crate) struct NamedSymbol<'a> {
    pub(crate) number: u32,
    pub(crate) facts: &'a Symbol,
    pub(crate) name: String,
}

/// A tensor with the names of its symbols.
pub(crate) struct Context<'a> {
    pub(crate) tensor: &'a Tensor,
    pub(crate) layout: &'a Layout,
    pub(crate) naming: &'a Naming<'a>,
    /// The symbols that the tensor depends on.
    pub(crate) symbols: Vec<NamedSymbol<'a>>,
    /// The tensor whose functions read and write elements that share bytes.
    owner: &'a str,
}

impl<'a> Context<'a> {
    pub(crate) fn new(tensor: &'a Tensor, naming: &'a Naming<'a>) -> Self {
        let layout = &tensor.layout;
        let whole = || tensor.ring.iter().flat_map(|ring| &ring.whole).map(|axis| &axis.extent);
        let used = |var: Var| {
            all_exprs(layout).chain(whole()).any(|expr| expr.mentions(&|other| other == var))
        };
        Self::with(tensor, naming, &used)
    }

    /// A view in the memory of the tensor `owner`; with the symbols that only what it sees depends on.
    pub(crate) fn of_view(tensor: &'a Tensor, owner: &'a str, naming: &'a Naming<'a>) -> Self {
        Self { owner, ..Self::with(tensor, naming, &|_| true) }
    }

    fn with(tensor: &'a Tensor, naming: &'a Naming<'a>, used: &dyn Fn(Var) -> bool) -> Self {
        let layout = &tensor.layout;
        // They come first in every signature, so their names are the same in all of them.
        let mut namer = Namer::new(naming.avoid);
        let symbols = (0..)
            .zip(layout.symbols())
            .filter(|(number, _)| used(Var::Symbol(*number)))
            .map(|(number, facts)| NamedSymbol { number, facts, name: namer.name(&facts.name) })
            .collect();
        Self { tensor, layout, naming, symbols, owner: &tensor.name }
    }

    /// The function `<prefix><tensor>_<what>`.
    pub(crate) fn function(&self, what: &str) -> String {
        self.naming.member(&self.tensor.name, what)
    }

    /// The function that reads or writes an element which shares its byte.
    pub(crate) fn access(&self, what: &str) -> String {
        self.naming.member(self.owner, what)
    }

    /// A symbol's name and values.
    pub(crate) fn symbol(&self, var: Var) -> Option<Binding> {
        let symbol = self.symbols.iter().find(|symbol| var == Var::Symbol(symbol.number))?;
        let range = Range::new(symbol.facts.min, symbol.facts.max);
        Some(Binding { tree: Expr::name(&symbol.name), range })
    }

    /// Each symbol by its name, for calls.
    pub(crate) fn symbol_args(&self) -> Vec<Expr> {
        self.symbols.iter().map(|symbol| Expr::name(&symbol.name)).collect()
    }

    /// The bits of an element.
    pub(crate) fn bits(&self) -> i128 {
        i128::from(self.tensor.dtype.element_bits())
    }

    /// The element type, and whether the first of elements that share bytes is in the high bits.
    pub(crate) fn packing(&self) -> (Dtype, bool) {
        (self.tensor.dtype, self.tensor.high_first)
    }

    /// Whether elements share bytes.
    pub(crate) fn is_packed(&self) -> bool {
        self.bits() < 8
    }

    /// Whether pack writes something to padding.
    pub(crate) fn fills(&self) -> bool {
        let padded = self.layout.verdict() == layoutc_algebra::layout::Verdict::Padded;
        padded && self.tensor.fill != Fill::Nothing
    }

    /// Whether what has no element of the tensor for it gets its fill value: indices of the dense tensor that the domain
    /// leaves out, and elements of a destination that the source has not.
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
