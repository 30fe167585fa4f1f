//! The checked model: what a manifest means. Only [`crate::check()`] makes one; later stages take it on trust.

pub mod compute;
pub mod graph;
pub mod reshard;
pub mod ring;
pub mod schedule;

use std::borrow::Cow;

use layoutc_algebra::affine::AffineOffset;
use layoutc_algebra::expr::{BinOp, Expr, ExprError};
use layoutc_algebra::layout::{Axis, Layout};
use layoutc_algebra::simplify::Facts;

use crate::cast::Cast;
use crate::diagnostic::FileSpan;
use crate::dtype::Dtype;

use self::compute::KernelInstance;
use self::graph::Graph;
use self::reshard::{DeviceSharding, Reshard};
use self::ring::Ring;
use self::schedule::GraphSchedule;

/// What a tensor's memory is, as the manifest says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// An ordinary buffer.
    Global,
    /// A buffer that is only read.
    Constant,
    /// A two-dimensional image (`texture`).
    Image2d,
    /// An array of two-dimensional images.
    Image2dArray,
    /// Memory shared by a group of threads.
    Shared,
    /// Memory private to a group on OpenCL.
    Local,
    /// No memory: constants and index functions only.
    None,
}

/// A memory that a project names. Code takes it for global memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemorySpace {
    /// Its name.
    pub name: String,
    /// How many bytes it has, if that is said.
    pub bytes: Option<i128>,
    /// What the base address of a tensor in it is a multiple of, in bytes.
    pub alignment_bytes: u64,
    /// The number that XLA has for it: `S(1)`.
    pub xla: Option<i128>,
}

/// What pack writes to padding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fill {
    /// This value, in the tensor's element type.
    Value(FillValue),
    /// Nothing: padding keeps what it holds.
    Nothing,
}

/// A fill value, as written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FillValue {
    /// An integer.
    Integer(i128),
    /// A number with a fraction or an exponent.
    Float(f64),
}

/// A checked tensor.
#[derive(Debug, Clone)]
pub struct Tensor {
    /// The manifest it stands in, as the path was given.
    pub file: String,
    /// Its name in the manifest.
    pub name: String,
    /// The element type.
    pub dtype: Dtype,
    /// What pack takes and unpack gives, where that is another element type.
    pub pack_from: Option<PackFrom>,
    /// What each device holds, where the tensor is cut over a mesh.
    pub sharded: Option<DeviceSharding>,
    /// What memory holds, where that is not the whole tensor at once.
    pub ring: Option<Ring>,
    /// Where the elements live, proven; of a tensor that is cut, those of a part, and of one of which memory holds a ring,
    /// those of the ring.
    pub layout: Layout,
    /// What pack writes to padding.
    pub fill: Fill,
    /// The memory it lives in.
    pub memory: Memory,
    /// The memory space, where the project names one for it; its `memory` is global then.
    pub space: Option<MemorySpace>,
    /// The targets it is restricted to; `None`: all.
    pub targets: Option<Vec<String>>,
    /// Labels of axes that have them: `labels[axis]` is empty otherwise.
    pub labels: Vec<Vec<String>>,
    /// Whether the high nibble (or the high bits) of a packed byte comes first.
    pub high_first: bool,
    /// The steps' source text, one line each, for comments and reports.
    pub steps: Vec<String>,
    /// Where its parts stand in the manifest.
    pub places: TensorSpans,
}

/// Another element type on the logical side of pack and unpack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackFrom {
    /// The element type there.
    pub dtype: Dtype,
    /// From it into the tensor's.
    pub pack: Cast,
    /// Back.
    pub unpack: Cast,
}

/// Where the parts of a tensor stand in the manifest.
#[derive(Debug, Clone)]
pub struct TensorSpans {
    /// The layout; the tensor's name when it has none.
    pub layout: FileSpan,
    /// The fill value; the layout when there is none.
    pub fill: FileSpan,
    /// The last separator; the layout when there is none.
    pub separators: FileSpan,
    /// The element type; that of the tensor it is like.
    pub dtype: FileSpan,
    /// The memory; the tensor's name when none is said.
    pub memory: FileSpan,
    /// What each device holds; the tensor's name when nothing is said.
    pub shard: FileSpan,
}

impl TensorSpans {
    /// All parts in one place.
    pub fn at(place: &FileSpan) -> Self {
        Self {
            layout: place.clone(),
            fill: place.clone(),
            separators: place.clone(),
            dtype: place.clone(),
            memory: place.clone(),
            shard: place.clone(),
        }
    }
}

/// A checked relayout: the same logical tensor, from one layout to another. Axes are matched by name: `axes[k]` is
/// the position in `to` of axis `k` of `from`.
#[derive(Debug, Clone)]
pub struct Convert {
    /// Position of the source in [`Manifest::tensors`].
    pub from: usize,
    /// Position of the destination in [`Manifest::tensors`].
    pub to: usize,
    /// For each axis of `from`, its position in `to`.
    pub axes: Vec<usize>,
    /// How elements change on the way, where they do.
    pub cast: Option<Cast>,
    /// What the manifest chooses in the planner's place.
    pub choices: ConvertSchedule,
    /// Where it stands in the manifest.
    pub place: FileSpan,
}

/// How a move is to be done, where the manifest says so; what it leaves out the planner chooses.
#[derive(Debug, Clone, Default)]
pub struct ConvertSchedule {
    /// Loops by their names, outermost first; those that are not named follow inside.
    pub order: Vec<Spanned<String>>,
    /// How many values of the destination's fastest digit, and of the source's, make a block.
    pub block: Option<Spanned<[i64; 2]>>,
    /// What is inside all loops.
    pub inside: Option<Spanned<InnerKernel>>,
    /// Whether the destination is written past the caches.
    pub stores: Option<Spanned<StorePolicy>>,
    /// When padding is written.
    pub fill: Option<Spanned<FillStrategy>>,
}

impl Convert {
    /// A conversion between tensors of the same axes in the same order, so many, as the planner does it.
    pub fn between(from: usize, to: usize, axes: usize, place: FileSpan) -> Self {
        let choices = ConvertSchedule::default();
        Self { from, to, axes: (0..axes).collect(), cast: None, choices, place }
    }
}

impl ConvertSchedule {
    /// None: the planner chooses.
    pub const NONE: &Self =
        &Self { order: Vec::new(), block: None, inside: None, stores: None, fill: None };

    /// Whether the loops and what is inside them are left to the planner.
    pub fn has_default_loops(&self) -> bool {
        self.order.is_empty() && self.block.is_none() && self.inside.is_none()
    }

    /// Whether all is left to the planner.
    pub fn is_empty(&self) -> bool {
        let Self { order, block, inside, stores, fill } = self;
        order.is_empty()
            && block.is_none()
            && inside.is_none()
            && stores.is_none()
            && fill.is_none()
    }
}

/// A choice, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spanned<T> {
    /// What is chosen.
    pub value: T,
    /// Where.
    pub place: FileSpan,
}

/// What is inside all loops of a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InnerKernel {
    /// A block that is transposed.
    Transpose,
    /// Runs that are copied.
    CopyRuns,
    /// One element, or one run.
    Elementwise,
}

/// How a destination is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorePolicy {
    /// Past the caches, whatever its size.
    Streaming,
    /// Through the caches, whatever its size.
    Cached,
}

/// When padding is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FillStrategy {
    /// The whole destination first.
    WholeFirst,
    /// Padding alone.
    PaddingOnly,
}

/// What a view is a view of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewTarget {
    /// A tensor: its position in [`Manifest::tensors`].
    Tensor(usize),
    /// Another view: its position in [`Manifest::views`], before this one.
    View(usize),
}

/// How a view sees what it is a view of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ViewKind {
    /// In other elements: `joined` neighbours there along a logical axis are one here, or one there is `cut` into so
    /// many here. One of the two is 1.
    Lanes {
        /// The position of the axis.
        axis: usize,
        /// How many become one.
        joined: i128,
        /// How many one becomes.
        cut: i128,
    },
    /// As the same memory with a shape and a layout of its own.
    Reinterpret,
    /// Through a window: one index for each axis there, as written, over `Var::Axis` of the view.
    Window(Vec<Expr>),
}

/// A checked view: the memory of a tensor under other axes or in other elements. It has no memory of its own.
#[derive(Debug, Clone)]
pub struct View {
    /// What the view is, told as a tensor that lives in the buffer.
    pub tensor: Tensor,
    /// What it is a view of.
    pub of: ViewTarget,
    /// The name of that.
    pub of_name: String,
    /// The tensor whose memory it is, at the end of a chain of views: its position in [`Manifest::tensors`].
    pub buffer: usize,
    /// How it sees what it is a view of.
    pub seeing: ViewKind,
    /// Whether several of its elements share a slot: it is only read, and its layout has no inverse.
    pub is_shared: bool,
    /// Origin and strides along its axes, where its offset is a sum of those.
    pub affine: Option<AffineOffset>,
}

impl View {
    /// Whether it takes elements of what it is a view of, each as it is.
    pub fn is_window(&self) -> bool {
        matches!(self.seeing, ViewKind::Window(_))
    }
}

/// A checked manifest.
#[derive(Debug, Clone, Default)]
pub struct Manifest {
    /// The path as given.
    pub path: String,
    /// The good tensors, in the order of the manifest.
    pub tensors: Vec<Tensor>,
    /// The good views, each after what it is a view of.
    pub views: Vec<View>,
    /// The good conversions.
    pub converts: Vec<Convert>,
    /// The good conversions between devices.
    pub reshards: Vec<Reshard>,
    /// The good kernels, each on the tensors of one instance.
    pub computes: Vec<KernelInstance>,
    /// The good graphs.
    pub graphs: Vec<Graph>,
    /// The graphs that are solved, as they are run.
    pub schedules: Vec<GraphSchedule>,
}

/// Counts that follow from a layout and an element type, over symbols.
#[derive(Debug, Clone)]
pub struct MemoryFootprint {
    /// Slots without an element.
    pub padding_elements: Expr,
    /// Bytes of the buffer: elements times bits, rounded up.
    pub bytes: Expr,
}

impl Tensor {
    /// The element type on the logical side of pack and unpack.
    pub fn logical_dtype(&self) -> Dtype {
        self.pack_from.map_or(self.dtype, |logical| logical.dtype)
    }

    /// The axes of the whole tensor, which are those of the layout unless it is cut.
    pub fn whole_axes(&self) -> &[Axis] {
        self.sharded.as_ref().map_or(&self.layout.logical, |sharded| &sharded.whole)
    }

    /// The word for its memory in manifests.
    pub fn memory_word(&self) -> &str {
        match (&self.space, self.memory) {
            (Some(space), _) => &space.name,
            (None, Memory::Global) => "global",
            (None, Memory::Constant) => "constant",
            (None, Memory::Image2d) => "texture",
            (None, Memory::Image2dArray) => "image2d-array",
            (None, Memory::Shared) => "shared",
            (None, Memory::Local) => "local",
            (None, Memory::None) => "none",
        }
    }

    /// Padding and bytes. The layout's size was checked with it, so no value leaves 64 bits.
    pub fn counts(&self) -> MemoryFootprint {
        let layout = &self.layout;
        let all = &layout.physical_elements;
        let padding = Expr::binary(BinOp::Sub, all, &layout.logical_elements);
        MemoryFootprint {
            padding_elements: simple(padding, layout),
            bytes: layout_bytes(layout, self.dtype.element_bits()),
        }
    }
}

/// Bytes of a layout's buffer, over symbols: slots times bits, rounded up.
pub fn layout_bytes(layout: &Layout, element_bits: u32) -> Expr {
    let all = &layout.physical_elements;
    let bits = i128::from(element_bits);
    let bytes = if bits % 8 == 0 {
        Expr::binary(BinOp::Mul, all, &Expr::constant(bits / 8))
    } else {
        let bits = Expr::binary(BinOp::Mul, all, &Expr::constant(bits));
        let up = bits.and_then(|bits| Expr::binary(BinOp::Add, &bits, &Expr::constant(7)));
        up.and_then(|up| Expr::binary(BinOp::FloorDiv, &up, &Expr::constant(8)))
    };
    simple(bytes, layout)
}

/// A count over symbols, simplified.
fn simple(expr: Result<Expr, ExprError>, layout: &Layout) -> Expr {
    let facts = Facts::new(&layout.symbols);
    expr.and_then(|e| facts.simplify(&e)).unwrap_or_else(|_| layout.physical_elements.clone())
}

impl Manifest {
    /// Whether it converts tensors that are cut over devices: then there are files for MPI, also where every device
    /// converts its own parts.
    pub fn needs_mpi(&self) -> bool {
        let is_cut = |convert: &Convert| {
            self.tensors.get(convert.from).is_some_and(|tensor| tensor.sharded.is_some())
        };
        !self.reshards.is_empty() || self.converts.iter().any(is_cut)
    }

    /// The manifest with the tensors that a target is to have, their views, and the conversions between them; graphs
    /// are not solved yet.
    #[must_use]
    pub fn for_target(&self, target: &str) -> Cow<'_, Self> {
        let wanted =
            |tensor: &Tensor| tensor.targets.as_ref().is_none_or(|t| t.iter().any(|t| t == target));
        if self.tensors.iter().all(wanted) {
            return Cow::Borrowed(self);
        }
        let mut position = Vec::new();
        let mut tensors = Vec::new();
        for tensor in &self.tensors {
            position.push(wanted(tensor).then_some(tensors.len()));
            if wanted(tensor) {
                tensors.push(tensor.clone());
            }
        }
        let at = |k: usize| position.get(k).copied().flatten();
        let convert = |convert: &Convert| {
            Some(Convert { from: at(convert.from)?, to: at(convert.to)?, ..convert.clone() })
        };
        let converts = self.converts.iter().filter_map(convert).collect();
        let reshard = |reshard: &Reshard| {
            Some(Reshard { from: at(reshard.from)?, to: at(reshard.to)?, ..reshard.clone() })
        };
        let reshards = self.reshards.iter().filter_map(reshard).collect();
        // A kernel is there where all its tensors are.
        let compute = |compute: &KernelInstance| {
            let mut kept = compute.clone();
            for operand in &mut kept.operands {
                operand.tensor = at(operand.tensor)?;
            }
            Some(kept)
        };
        let computes = self.computes.iter().filter_map(compute).collect();
        let (mut views, mut view_position) = (Vec::new(), Vec::new());
        for view in &self.views {
            let of = match view.of {
                ViewTarget::Tensor(k) => at(k).map(ViewTarget::Tensor),
                ViewTarget::View(k) => {
                    view_position.get(k).copied().flatten().map(ViewTarget::View)
                }
            };
            let kept = of.zip(at(view.buffer));
            view_position.push(kept.map(|_| views.len()));
            views.extend(kept.map(|(of, buffer)| View { of, buffer, ..view.clone() }));
        }
        let path = self.path.clone();
        let (graphs, schedules) = (self.graphs.clone(), Vec::new());
        Cow::Owned(Self { path, tensors, views, converts, reshards, computes, graphs, schedules })
    }
}
