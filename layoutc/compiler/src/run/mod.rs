//! Pack and unpack within the compiler: an interpreter of relayout plans, as a substitute for compiled generated code.
//!
//! [`pack`] and [`unpack`] plan the relayout of a tensor as for the C target, substitute values for its symbols, and
//! lower the plan to steps; [`Move::run`] executes the steps on two buffers. Buffers have the format of the generated
//! code on little-endian hosts; elements of fewer than 8 bits are packed. No file is read or written.

mod blocks;
mod cast;
mod compile;
mod exec;
mod packed;
pub mod pieces;
mod shape;
mod share;
mod step;
mod transpose;
mod value;

use std::collections::BTreeMap;

use thiserror::Error;

use crate::base::dtype::Dtype;
use crate::ir::Function;
use crate::loops::error::PlanError;
use crate::loops::heuristics::parallelize::Cores;
use crate::loops::relayout::plan::{Primitives, RelayoutOptions};
use crate::lower::context::Naming;
use crate::model::{Memory, Tensor};
use crate::plan;

use self::cast::Pass;
use self::compile::Compiler;
use self::step::{Step, Width};

pub use self::packed::Packing;
pub use self::shape::{axis_of_symbol, logical_shape, physical_shape, sizes};

/// Error of an in-process relayout.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RunError {
    /// Planning of the relayout failed.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A symbol has no value, a value for which the layout is not proven, or a value for which a size cannot be
    /// computed.
    #[error("the symbols have no values that the layout is proven for")]
    Symbols,
    /// A buffer has the wrong size.
    #[error("a buffer of {given} bytes, and {needed} are needed")]
    Size {
        /// Actual size, in bytes.
        given: usize,
        /// Required size, in bytes.
        needed: usize,
    },
    /// A size or extent is negative or too large for the address space, or a temporary buffer cannot be allocated.
    #[error("a buffer is larger than memory")]
    TooLarge,
    /// An access is outside its buffer, or an element type conversion is not supported.
    #[error("the plan leaves a buffer")]
    Outside,
    /// The layout has a `where` domain, which relayout in pieces does not support.
    #[error(
        "a tensor whose `where` leaves indices out is not moved in pieces: give more `--memory`"
    )]
    Domain,
    /// The interpreter does not support the plan of the relayout, or the element type cannot represent the fill value.
    #[error("the plan cannot be carried out here")]
    Unsupported,
}

/// Relayout of one tensor, lowered and ready to run.
#[derive(Debug, Clone)]
pub struct Move {
    steps: Vec<Step>,
    slots: usize,
    /// Element type conversion of the dense buffer; `None` if both buffers have the same element type.
    pass: Option<Dense>,
    /// Size of the source, in bytes.
    pub from_bytes: usize,
    /// Size of the destination, in bytes.
    pub to_bytes: usize,
}

/// Conversion between the dense buffer, on the side `side` of the relayout, and a temporary dense buffer of `bytes`
/// bytes with the element type of the tensor.
#[derive(Debug, Clone, Copy)]
struct Dense {
    pass: Pass,
    bytes: usize,
    side: Side,
}

/// Side of a relayout that holds the dense buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Source,
    Destination,
}

/// Plans the relayout from the dense row-major buffer to the layout. `symbols` has the value of each symbol by name.
/// Padding is set to the fill value, or left unchanged if the tensor has none.
///
/// # Errors
/// [`RunError::Plan`] if planning fails, [`RunError::Symbols`] if a symbol has no value of 64 bits or a size cannot be
/// computed for the values, [`RunError::TooLarge`] if a size exceeds the address space, [`RunError::Unsupported`] if
/// the interpreter does not support the plan.
pub fn pack(tensor: &Tensor, symbols: &BTreeMap<String, i128>) -> Result<Move, RunError> {
    let (dense, laid_out) = sizes(tensor, symbols)?;
    let pass = dense_pass(tensor, symbols, Side::Source)?;
    let ready = prepared(tensor, symbols, |plan| plan.pack.as_ref(), [dense, laid_out])?;
    Ok(Move { pass, ..ready })
}

/// Plans the relayout from the layout to the dense row-major buffer. `symbols` has the value of each symbol by name.
/// The contents of padding have no effect.
///
/// # Errors
/// Errors of [`pack`].
pub fn unpack(tensor: &Tensor, symbols: &BTreeMap<String, i128>) -> Result<Move, RunError> {
    let (dense, laid_out) = sizes(tensor, symbols)?;
    let pass = dense_pass(tensor, symbols, Side::Destination)?;
    let ready = prepared(tensor, symbols, |plan| plan.unpack.as_ref(), [laid_out, dense])?;
    Ok(Move { pass, ..ready })
}

/// Element type conversion of the dense buffer on `side`; `None` if the dense buffer has the element type of the
/// tensor.
fn dense_pass(
    tensor: &Tensor,
    symbols: &BTreeMap<String, i128>,
    side: Side,
) -> Result<Option<Dense>, RunError> {
    let Some(logical) = tensor.pack_from else { return Ok(None) };
    let own = tensor.without_cast();
    let (bytes, _) = sizes(&own, symbols)?;
    let [inside, outside] = [tensor.dtype, logical.dtype].map(|d| width(d, tensor.high_first));
    let (inside, outside) = (inside?, outside?);
    let pass = match side {
        Side::Source => Pass { cast: logical.pack, from: outside, to: inside },
        Side::Destination => Pass { cast: logical.unpack, from: inside, to: outside },
    };
    Ok(Some(Dense { pass, bytes, side }))
}

/// Storage format of elements of type `dtype`: whole bytes, or packed if an element has fewer than 8 bits.
fn width(dtype: Dtype, high_first: bool) -> Result<Width, RunError> {
    let bits = dtype.element_bits();
    Ok(match Packing::new(bits, high_first) {
        Some(packing) => Width::Packed(packing),
        None => Width::Bytes(usize::try_from(bits / 8).map_err(|_| RunError::TooLarge)?),
    })
}

fn prepared(
    tensor: &Tensor,
    symbols: &BTreeMap<String, i128>,
    which: fn(&plan::TensorPlan) -> Option<&Function>,
    [from_bytes, to_bytes]: [usize; 2],
) -> Result<Move, RunError> {
    // A file is linear memory, even if the device holds the tensor in an image.
    let tensor = &tensor.without_cast().with_memory(Memory::Global);
    let avoid = |_: &str| false;
    let options = RelayoutOptions { cores: Cores::One, primitives: Primitives::Runtime };
    let plan = plan::tensor(tensor, &Naming { prefix: "", avoid: &avoid, options })?;
    let function = which(&plan).ok_or(RunError::Unsupported)?;
    let value = |name: &str| symbols.get(name).and_then(|value| i64::try_from(*value).ok());
    let values: Option<Vec<i64>> = plan.symbols.iter().map(|symbol| value(&symbol.name)).collect();
    let width = width(tensor.dtype, tensor.high_first)?;
    let mut called = vec![&plan.offset];
    called.extend(&plan.symbols_ok);
    let mut compiler = Compiler::new(&called, width);
    let mut steps = compiler.function(function, &values.ok_or(RunError::Symbols)?)?;
    let slots = compiler.slots;
    let threads = rayon::current_num_threads();
    for step in &mut steps {
        if let (Step::Loop(nest), 2..) = (step, threads) {
            nest.share = share::share(nest, slots, threads);
        }
    }
    Ok(Move { steps, slots, pass: None, from_bytes, to_bytes })
}

impl Move {
    /// Copies every element of `source` to its position in `target`, with the element type conversion if there is one.
    /// Buffers need no alignment. May run on several threads.
    ///
    /// # Errors
    /// [`RunError::Size`] if the size of a buffer is not [`Move::from_bytes`] or [`Move::to_bytes`];
    /// [`RunError::TooLarge`] if a temporary buffer cannot be allocated; [`RunError::Symbols`] if an assertion of the
    /// plan fails; [`RunError::Outside`] if the plan is wrong or the element type conversion is not supported.
    pub fn run(&self, source: &[u8], target: &mut [u8]) -> Result<(), RunError> {
        for (given, needed) in [(source.len(), self.from_bytes), (target.len(), self.to_bytes)] {
            if given != needed {
                return Err(RunError::Size { given, needed });
            }
        }
        let Some(Dense { pass, bytes, side }) = self.pass else {
            return self.moved(source, target);
        };
        let mut own = Vec::new();
        own.try_reserve_exact(bytes).map_err(|_| RunError::TooLarge)?;
        own.resize(bytes, 0);
        match side {
            Side::Source => {
                pass.run(source, &mut own).ok_or(RunError::Outside)?;
                self.moved(&own, target)
            }
            Side::Destination => {
                self.moved(source, &mut own)?;
                pass.run(&own, target).ok_or(RunError::Outside)
            }
        }
    }

    /// Runs the steps on buffers that both have the element type of the tensor.
    fn moved(&self, source: &[u8], target: &mut [u8]) -> Result<(), RunError> {
        exec::execute(&self.steps, self.slots, source, target)
    }
}
