//! Carries out the plan of pack or unpack on buffers in memory: what the generated code does, without a compiler.
//!
//! [`pack`] and [`unpack`] plan a tensor as it is planned for C, put numbers in place of its symbols, and make the tree
//! of the plan into steps that are quick to carry out; [`Move::run`] does so on two buffers. Elements lie in them as in
//! those of the generated code: little-endian hosts are meant, those that share bytes are packed. It reads no file.

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
use crate::model::{Memory, Tensor};
use crate::plan::cores::Cores;
use crate::plan::lower::PlanError;
use crate::plan::nest::{Moves, Ways};
use crate::plan::{self, Naming};

use self::cast::Pass;
use self::compile::Compiler;
use self::step::{Step, Width};

pub use self::packed::Packing;
pub use self::shape::{axis_of_symbol, logical_shape, physical_shape, sizes};

/// Why a tensor could not be moved.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RunError {
    /// There is no plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A symbol has no value, or one that the layout is not proven for.
    #[error("the symbols have no values that the layout is proven for")]
    Symbols,
    /// A buffer has another size.
    #[error("a buffer of {given} bytes, and {needed} are needed")]
    Size {
        /// How many bytes it has.
        given: usize,
        /// How many it must have.
        needed: usize,
    },
    /// A buffer would have more bytes than memory has addresses.
    #[error("a buffer is larger than memory")]
    TooLarge,
    /// An index of the plan left its buffer.
    #[error("the plan leaves a buffer")]
    Outside,
    /// A tensor of some elements, in pieces.
    #[error(
        "a tensor whose `where` leaves indices out is not moved in pieces: give more `--memory`"
    )]
    Domain,
    /// The plan has a part that only other targets have.
    #[error("the plan cannot be carried out here")]
    Unsupported,
}

/// A move of one tensor, ready to be carried out.
#[derive(Debug, Clone)]
pub struct Move {
    steps: Vec<Step>,
    slots: usize,
    /// What is done on the dense side, where that is of another element type.
    pass: Option<Dense>,
    /// Bytes of the source.
    pub from_bytes: usize,
    /// Bytes of the destination.
    pub to_bytes: usize,
}

/// The dense buffer in the tensor's own element type.
#[derive(Debug, Clone, Copy)]
struct Dense {
    pass: Pass,
    bytes: usize,
    side: Side,
}

/// Which side of a move is the dense one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Source,
    Destination,
}

/// From the dense row-major buffer into the layout; padding gets the fill value, or keeps what it holds.
///
/// # Errors
/// [`RunError::Plan`], [`RunError::Symbols`], [`RunError::TooLarge`].
pub fn pack(tensor: &Tensor, symbols: &BTreeMap<String, i128>) -> Result<Move, RunError> {
    let (dense, laid_out) = sizes(tensor, symbols)?;
    let pass = dense_pass(tensor, symbols, Side::Source)?;
    let ready = prepared(tensor, symbols, |plan| plan.pack.as_ref(), [dense, laid_out])?;
    Ok(Move { pass, ..ready })
}

/// From the layout back into the dense row-major buffer; padding is not read.
///
/// # Errors
/// As [`pack`].
pub fn unpack(tensor: &Tensor, symbols: &BTreeMap<String, i128>) -> Result<Move, RunError> {
    let (dense, laid_out) = sizes(tensor, symbols)?;
    let pass = dense_pass(tensor, symbols, Side::Destination)?;
    let ready = prepared(tensor, symbols, |plan| plan.unpack.as_ref(), [laid_out, dense])?;
    Ok(Move { pass, ..ready })
}

/// What is done to the dense side of a tensor, where that is of another element type.
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

/// How elements of a type lie in a buffer.
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
    // In files a tensor has memory, whatever it has on a device.
    let tensor = &tensor.without_cast().with_memory(Memory::Global);
    let avoid = |_: &str| false;
    let ways = Ways { cores: Cores::One, moves: Moves::Blocks };
    let plan = plan::tensor(tensor, &Naming { prefix: "", avoid: &avoid, ways })?;
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
    /// Moves every element of `source` to its place in `target`. The buffers are those of the generated code, without
    /// any alignment; on all cores where threads can have windows of the destination of their own.
    ///
    /// # Errors
    /// [`RunError::Size`] where a buffer has another size than [`Move::from_bytes`] or [`Move::to_bytes`];
    /// [`RunError::Outside`] never, or the plan is wrong.
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

    /// The elements as they are.
    fn moved(&self, source: &[u8], target: &mut [u8]) -> Result<(), RunError> {
        exec::execute(&self.steps, self.slots, source, target)
    }
}
