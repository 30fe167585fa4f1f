//! Symbols, buffers, parameters and names that all functions of a kernel instance share, and their documentation.

use layoutc_algebra::expr::Var;
use layoutc_algebra::symbol::Symbol;

use crate::ir::{Expr, Param, ParamType, Stmt};
use crate::loops::ExecutionModel;
use crate::loops::buffers::KernelBuffer;
use crate::loops::error::PlanError;
use crate::loops::range::Range;
use crate::lower::context::{Context, Naming};
use crate::lower::expr::Binding;
use crate::lower::kernel::buffers::{BufferBinding, bind, is_given};
use crate::lower::names::Namer;
use crate::lower::relayout::builder::NO_OVERLAP;
use crate::model::compute::KernelInstance;
use crate::model::{Manifest, TensorRef, layout_names};

/// Functions of the C math library; the names of a kernel's variables avoid them, with and without the suffix `f`.
const MATH: [&str; 10] =
    ["exp", "log", "sqrt", "tanh", "erf", "floor", "pow", "fabs", "fmin", "fmax"];

/// Symbols, buffers, parameters and names in common to all functions of a kernel instance.
pub(crate) struct KernelPrologue<'a> {
    /// Binding of each symbol of the instance: that of `Var::Symbol(k)` is `symbols[k]`.
    pub(crate) symbols: Vec<Binding>,
    /// Buffers of the operands, then of the intermediates.
    pub(crate) buffers: Vec<BufferBinding>,
    pub(crate) params: Vec<Param>,
    /// Namer in which the names of all parameters and buffers are in use.
    pub(crate) namer: Namer<'a>,
    /// Assertions of preconditions on the symbols.
    pub(crate) body: Vec<Stmt>,
}

impl<'a> KernelPrologue<'a> {
    /// Prologue of an instance whose buffers are those of [`KernelBuffer::all`].
    ///
    /// # Errors
    /// [`PlanError::Scope`] if there are fewer buffers than operands.
    pub(crate) fn new(
        manifest: &Manifest,
        compute: &KernelInstance,
        buffers: Vec<KernelBuffer>,
        naming: &Naming<'_>,
        avoid: &'a dyn Fn(&str) -> bool,
        processor: ExecutionModel,
    ) -> Result<Self, PlanError> {
        let mut namer = Namer::new(avoid);
        let (mut symbols, mut params) = (Vec::new(), Vec::new());
        for symbol in &compute.symbols {
            let name = namer.name(&symbol.name);
            let range = Range::new(symbol.min, symbol.max);
            symbols.push(Binding { tree: Expr::name(&name), range });
            params.push(Param { name, ty: ParamType::Index });
        }
        let (buffers, bound) = bind(compute, buffers, naming, &mut namer, processor)?;
        params.extend(bound);
        let body = asserted(manifest, compute, naming, &symbols);
        Ok(Self { symbols, buffers, params, namer, body })
    }
}

/// Predicate that is true for identifiers that a kernel must not declare: reserved ones and those of math functions.
pub(crate) fn avoiding<'a>(naming: &'a Naming<'_>) -> impl Fn(&str) -> bool + 'a {
    |name: &str| {
        let is_math = |name: &str| MATH.contains(&name);
        (naming.avoid)(name) || is_math(name) || name.strip_suffix('f').is_some_and(is_math)
    }
}

/// Binding of the variable `var` if it is a symbol of a kernel, whose symbols have the bindings `symbols`; `None` for
/// any other variable.
pub(crate) fn symbol(symbols: &[Binding], var: Var) -> Option<Binding> {
    match var {
        Var::Symbol(k) => symbols.get(usize::try_from(k).ok()?).cloned(),
        _ => None,
    }
}

/// Lines of the doc comment of an instance's function: its statements, the intermediates that the caller of a CPU
/// kernel allocates, and the required ranges of operand elements.
pub(crate) fn documented(compute: &KernelInstance) -> Vec<String> {
    let mut doc: Vec<String> =
        compute.statements.iter().map(|statement| statement.text.clone()).collect();
    for tensor in compute.locals.iter().filter(|tensor| is_given(compute, tensor)) {
        doc.push(format!("`{}` is memory of the caller's for an intermediate.", tensor.name));
    }
    for operand in &compute.operands {
        if let Some(below) = &operand.range {
            let below = layout_names::symbol_expr(below, &compute.symbols);
            doc.push(format!(
                "Every element of `{}` is at least 0 and below {below}.",
                operand.name
            ));
        }
    }
    doc
}

pub(crate) fn with_no_overlap(mut doc: Vec<String>) -> Vec<String> {
    doc.push(NO_OVERLAP.to_owned());
    doc
}

/// Assertions that the symbols, with the bindings `symbols`, satisfy the preconditions of the operands' tensors:
/// `T_symbols_ok(n, m)`.
fn asserted(
    manifest: &Manifest,
    compute: &KernelInstance,
    naming: &Naming<'_>,
    symbols: &[Binding],
) -> Vec<Stmt> {
    let named = |symbol: &Symbol| {
        let number = compute.symbols.iter().position(|other| other.name == symbol.name);
        number.and_then(|number| symbols.get(number)).map(|binding| binding.tree.clone())
    };
    let mut seen: Vec<TensorRef> = Vec::new();
    let mut all = Vec::new();
    for operand in &compute.operands {
        let Some(tensor) = manifest.tensor(operand.tensor) else { continue };
        let context = Context::new(tensor, naming);
        if context.symbols.is_empty() || seen.contains(&operand.tensor) {
            continue;
        }
        seen.push(operand.tensor);
        let args = context.symbols.iter().filter_map(|symbol| named(symbol.facts)).collect();
        all.push(Stmt::Assert { condition: Expr::call(&context.function("symbols_ok"), args) });
    }
    all
}
