//! Context of a tensor's functions: the tensor with the identifiers of its functions and symbols, and the properties of
//! a target on which they depend.

use layoutc_algebra::expr::{Expr as Algebra, Var};
use layoutc_algebra::layout::Layout;
use layoutc_algebra::symbol::Symbol;

use crate::base::dtype::Dtype;
use crate::ir::Expr;
use crate::loops::range::Range;
use crate::loops::relayout::plan::RelayoutOptions;
use crate::lower::expr::Binding;
use crate::lower::names::Namer;
use crate::model::{Fill, Tensor};

/// Properties of a target on which plans depend: its identifiers, and the implementation of relayouts.
#[derive(Clone, Copy)]
pub struct Naming<'a> {
    /// Prefix of every identifier.
    pub prefix: &'a str,
    /// Predicate that is true for an identifier that is not available: reserved by the target, or used elsewhere in the
    /// file.
    pub avoid: &'a dyn Fn(&str) -> bool,
    /// Threads and primitives of pack, unpack and relayouts.
    pub options: RelayoutOptions,
}

impl std::fmt::Debug for Naming<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut naming = f.debug_struct("Naming");
        naming.field("prefix", &self.prefix).field("options", &self.options).finish_non_exhaustive()
    }
}

impl Naming<'_> {
    /// Identifier of the tensor `name`: `<prefix><name>`.
    pub fn tensor(&self, name: &str) -> String {
        [self.prefix, name].concat()
    }

    /// Identifier of a function or constant of the tensor `name`: `<prefix><name>_<what>`.
    pub fn member(&self, name: &str, what: &str) -> String {
        [self.prefix, name, "_", what].concat()
    }
}

/// Symbol of a layout with its identifier in generated code.
pub(crate) struct NamedSymbol<'a> {
    /// Number of the symbol in the layout: it is `Var::Symbol(number)`.
    pub(crate) number: u32,
    /// Name, range and multiple of the symbol.
    pub(crate) facts: &'a Symbol,
    /// Identifier in generated code.
    pub(crate) name: String,
}

/// Tensor with the identifiers of its symbols, as the context in which its functions are planned.
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
    /// Context of a tensor, or of a view in the form of a tensor. A view has the symbols that `MemoryOwner::symbols`
    /// names, also those on which only the viewed tensor depends.
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

    /// Identifier of a function of the tensor: `<prefix><tensor>_<what>`.
    pub(crate) fn function(&self, what: &str) -> String {
        self.naming.member(&self.tensor.name, what)
    }

    /// Identifier of the function that loads (`what` is `load`) or stores (`store`) an element that shares its byte:
    /// `<prefix><owner>_<what>`.
    pub(crate) fn access(&self, what: &str) -> String {
        self.naming.member(self.owner, what)
    }

    /// Identifier and range of a symbol on which the tensor depends; `None` for any other variable.
    pub(crate) fn symbol(&self, var: Var) -> Option<Binding> {
        let symbol = self.symbols.iter().find(|symbol| var == Var::Symbol(symbol.number))?;
        let range = Range::new(symbol.facts.min, symbol.facts.max);
        Some(Binding { tree: Expr::name(&symbol.name), range })
    }

    /// Identifiers of the symbols, as the first arguments of a call of the tensor's functions.
    pub(crate) fn symbol_args(&self) -> Vec<Expr> {
        self.symbols.iter().map(|symbol| Expr::name(&symbol.name)).collect()
    }

    /// Width of an element, in bits.
    pub(crate) fn bits(&self) -> i128 {
        i128::from(self.tensor.dtype.element_bits())
    }

    /// Pair of the element type, and of a flag that is true if the first of the elements that share a byte is in the
    /// high bits.
    pub(crate) fn packing(&self) -> (Dtype, bool) {
        (self.tensor.dtype, self.tensor.high_first)
    }

    /// True if elements are narrower than a byte and share bytes.
    pub(crate) fn is_packed(&self) -> bool {
        self.bits() < 8
    }

    /// True if the layout may have padding, and pack writes the fill value to it.
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
