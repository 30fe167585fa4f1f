//! Checked model of a manifest. Only [`check`](crate::check) makes one, and later stages rely on its
//! invariants: outside of the crate its structures cannot be written as literals, inside a test holds the rule.

pub mod layout_names;

pub mod compute;
pub mod graph;
pub mod reshard;
pub mod ring;
pub mod schedule;

use std::borrow::Cow;

use layoutc_algebra::expr::{BinOp, Expr, ExprError};
use layoutc_algebra::layout::affine::AffineOffset;
use layoutc_algebra::layout::{Layout, Verdict};
use layoutc_algebra::normal_form::simplify::Facts;
use layoutc_algebra::symbol::Axis;

use crate::base::cast::Cast;
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::base::dtype::Dtype;
use crate::base::fill;
pub use crate::base::fill::{Fill, FillValue};
pub use crate::manifest::syntax::{FillStrategy, InnerKernel, Memory, StorePolicy};

use self::compute::KernelInstance;
use self::graph::Graph;
use self::reshard::{DeviceSharding, Reshard};
use self::ring::Ring;
use self::schedule::GraphSchedule;

/// Memory space declared by the project. Generated code treats it as global memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemorySpace {
    /// Name of the memory space.
    pub name: String,
    /// Capacity in bytes, if declared.
    pub bytes: Option<i128>,
    /// Alignment of the base address of every tensor in it, in bytes.
    pub alignment_bytes: u64,
    /// XLA's number of the memory space: `S(1)`.
    pub xla: Option<i128>,
}

/// Checked tensor.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Tensor {
    /// Path of its manifest, as given.
    pub file: String,
    /// Name in the manifest.
    pub name: String,
    /// Element type in memory.
    pub dtype: Dtype,
    /// Element type on the logical side of pack and unpack, if different.
    pub pack_from: Option<PackFrom>,
    /// Sharding over a mesh, if any.
    pub sharded: Option<DeviceSharding>,
    /// Ring buffer, if memory holds only some indices of an axis at a time.
    pub ring: Option<Ring>,
    /// Proven layout: of one shard if the tensor is sharded, of the ring if it is a ring buffer.
    pub layout: Layout,
    /// Value that pack writes to padding.
    pub fill: Fill,
    /// Kind of memory.
    pub memory: Memory,
    /// Memory space, if the project declares one; `memory` is global then.
    pub space: Option<MemorySpace>,
    /// Targets that generate the tensor; `None`: all.
    pub targets: Option<Vec<String>>,
    /// Labels of each axis; empty for an axis without labels.
    pub labels: Vec<Vec<String>>,
    /// True if the first of the elements that share a byte is in its high bits.
    pub high_first: bool,
    /// Source text of the steps, one line each, for comments and reports.
    pub steps: Vec<String>,
    /// Spans of its parts in the manifest.
    pub places: TensorSpans,
}

/// Element type on the logical side of pack and unpack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackFrom {
    /// Logical element type.
    pub dtype: Dtype,
    /// Cast from the logical to the stored type.
    pub pack: Cast,
    /// Cast from the stored to the logical type.
    pub unpack: Cast,
}

/// Spans of the parts of a tensor in the manifest.
#[derive(Debug, Clone)]
pub struct TensorSpans {
    /// Layout; the tensor's name if it has none.
    pub layout: FileSpan,
    /// Fill value; the layout if there is none.
    pub fill: FileSpan,
    /// Last separator; the layout if there is none.
    pub separators: FileSpan,
    /// Element type; that of the tensor in `like` if it is inherited.
    pub dtype: FileSpan,
    /// Memory; the tensor's name if none is declared.
    pub memory: FileSpan,
    /// Sharding; the tensor's name if there is none.
    pub shard: FileSpan,
}

impl TensorSpans {
    /// Uses one span for all parts.
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

/// Diagnostic for a padded tensor whose element type cannot represent its fill value.
pub fn fill_fault(tensor: &Tensor) -> Option<Diagnostic> {
    if tensor.layout.verdict() == Verdict::Bijective {
        return None;
    }
    let fault = fill::bits(tensor.dtype, tensor.fill).err()?;
    let value = match tensor.fill {
        Fill::Value(FillValue::Integer(value)) => value.to_string(),
        Fill::Value(FillValue::Float(value)) => format!("{value:?}"),
        Fill::Nothing => return None,
    };
    let dtype = tensor
        .dtype
        .record()
        .and_then(|record| fill::record::first_unrepresentable(record, tensor.fill));
    let (field, dtype) = match dtype {
        Some(field) => (format!(" in the field `{}`", field.name), field.dtype),
        None => (String::new(), tensor.dtype),
    };
    let message = format!(
        "`{}` cannot hold the fill value `{value}`{field} as `{dtype}`: {fault}",
        tensor.name
    );
    let error = Diagnostic::error(Code::PaddingFill, message, tensor.places.fill.clone(), "");
    let least = match fill::default_fill(tensor.dtype, FillValue::Integer(0)) {
        FillValue::Float(least) => format!(
            "leave `fill` out: padding then has the least value, {least:e}, whose bits are all 0; `fill 1` is a scale of 1"
        ),
        FillValue::Integer(_) => {
            return Some(error.help("give a `fill` that the element type holds, or `fill none`"));
        }
    };
    Some(error.help(least))
}

/// Checked relayout: copies a logical tensor from one layout to another. Axes are matched by name: `axes[k]` is the
/// position in `to` of axis `k` of `from`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Convert {
    /// Position of the source in [`Manifest::tensors`].
    pub from: usize,
    /// Position of the destination in [`Manifest::tensors`].
    pub to: usize,
    /// For each axis of `from`, its position in `to`.
    pub axes: Vec<usize>,
    /// Cast of the elements, if the element types differ.
    pub cast: Option<Cast>,
    /// Schedule decisions of the manifest that override the planner's.
    pub choices: ConvertSchedule,
    /// Span in the manifest.
    pub place: FileSpan,
}

/// Schedule of a relayout from the manifest. The planner chooses everything that is not set.
#[derive(Debug, Clone, Default)]
pub struct ConvertSchedule {
    /// Loop names, outermost first; unnamed loops follow inside.
    pub order: Vec<Spanned<String>>,
    /// Extents of the transpose tile along the destination's and the source's fastest digit, in values.
    pub block: Option<Spanned<[i64; 2]>>,
    /// Kernel inside all loops.
    pub inside: Option<Spanned<InnerKernel>>,
    /// Use of streaming stores.
    pub stores: Option<Spanned<StorePolicy>>,
    /// Filling of padding.
    pub fill: Option<Spanned<FillStrategy>>,
}

impl Convert {
    /// Relayout without a cast, scheduled by the planner. `axes` are the positions in `to` of the axes of `from`.
    pub(crate) fn between(from: usize, to: usize, axes: Vec<usize>, place: FileSpan) -> Self {
        Self { from, to, axes, cast: None, choices: ConvertSchedule::default(), place }
    }
}

impl ConvertSchedule {
    /// Empty schedule: the planner chooses everything.
    pub const NONE: &Self =
        &Self { order: Vec::new(), block: None, inside: None, stores: None, fill: None };

    /// True if loop order, tile and inner kernel are left to the planner.
    pub fn has_default_loops(&self) -> bool {
        self.order.is_empty() && self.block.is_none() && self.inside.is_none()
    }

    /// True if everything is left to the planner.
    pub fn is_empty(&self) -> bool {
        let Self { order, block, inside, stores, fill } = self;
        order.is_empty()
            && block.is_none()
            && inside.is_none()
            && stores.is_none()
            && fill.is_none()
    }
}

/// Value with its span in the manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spanned<T> {
    /// Value.
    pub value: T,
    /// Span.
    pub place: FileSpan,
}

/// Base of a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewTarget {
    /// Tensor: its position in [`Manifest::tensors`].
    Tensor(usize),
    /// Earlier view: its position in [`Manifest::views`].
    View(usize),
}

/// Relation of a view to its base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ViewKind {
    /// Other element type: `joined` neighbors along a logical axis of the base form one element of the view, or one
    /// element of the base is split into `cut` elements of the view. One of the two is 1.
    Lanes {
        /// Position of the axis.
        axis: usize,
        /// Base elements per element of the view.
        joined: i128,
        /// Elements of the view per base element.
        cut: i128,
    },
    /// Reinterpretation of the memory with its own shape and layout.
    Reinterpret,
    /// Window: one index per axis of the base, as written, over `Var::Axis` of the view.
    Window(Vec<Expr>),
}

/// Checked view: the memory of a tensor with other axes or another element type. It has no memory of its own.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct View {
    /// The view as a tensor in the buffer.
    pub tensor: Tensor,
    /// Base of the view.
    pub of: ViewTarget,
    /// Name of the base.
    pub of_name: String,
    /// Tensor that owns the memory, at the end of a chain of views: its position in [`Manifest::tensors`].
    pub buffer: usize,
    /// Relation to the base.
    pub seeing: ViewKind,
    /// True if several elements share a slot: the view is read-only and its layout has no inverse.
    pub is_shared: bool,
    /// Origin and strides along the axes, if the offset is affine in them.
    pub affine: Option<AffineOffset>,
}

impl View {
    /// True for a window, which selects elements of its base unchanged.
    pub fn is_window(&self) -> bool {
        matches!(self.seeing, ViewKind::Window(_))
    }
}

/// Checked manifest. Contains only declarations without errors.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Manifest {
    /// Path as given.
    pub path: String,
    /// Tensors, in the order of the manifest.
    pub tensors: Vec<Tensor>,
    /// Views, each after its base.
    pub views: Vec<View>,
    /// Relayouts.
    pub converts: Vec<Convert>,
    /// Conversions between devices.
    pub reshards: Vec<Reshard>,
    /// Kernels, each bound to the tensors of one instance.
    pub computes: Vec<KernelInstance>,
    /// Graphs.
    pub graphs: Vec<Graph>,
    /// Schedules of the solved graphs.
    pub schedules: Vec<GraphSchedule>,
}

/// Size of a tensor's buffer, over symbols.
#[derive(Debug, Clone)]
pub struct MemoryFootprint {
    /// Slots without an element.
    pub padding_elements: Expr,
    /// Bytes of the buffer: ceil(slots * element bits / 8).
    pub bytes: Expr,
}

impl Tensor {
    /// The tensor under another name.
    pub(crate) fn with_name(&self, name: String) -> Self {
        Self { name, ..self.clone() }
    }

    /// The tensor in another layout.
    pub(crate) fn with_layout(&self, layout: Layout) -> Self {
        Self { layout, ..self.clone() }
    }

    /// The tensor in another kind of memory.
    pub(crate) fn with_memory(&self, memory: Memory) -> Self {
        Self { memory, ..self.clone() }
    }

    /// The tensor with its stored element type also on the logical side of pack and unpack.
    pub(crate) fn without_cast(&self) -> Self {
        Self { pack_from: None, ..self.clone() }
    }

    /// Element type on the logical side of pack and unpack.
    pub fn logical_dtype(&self) -> Dtype {
        self.pack_from.map_or(self.dtype, |logical| logical.dtype)
    }

    /// Axes of the whole tensor; those of the layout unless the tensor is sharded.
    pub fn whole_axes(&self) -> &[Axis] {
        self.sharded.as_ref().map_or(self.layout.logical(), |sharded| &sharded.whole)
    }

    /// Keyword or memory space name in manifests.
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

    /// Size of the buffer. The check of the layout's size excludes overflow of 64 bits.
    pub fn counts(&self) -> MemoryFootprint {
        let layout = &self.layout;
        let all = layout.physical_elements();
        let padding = Expr::binary(BinOp::Sub, all, layout.logical_elements());
        MemoryFootprint {
            padding_elements: simple(padding, layout),
            bytes: layout_bytes(layout, self.dtype.element_bits()),
        }
    }
}

/// Bytes of a layout's buffer, over symbols: ceil(slots * element bits / 8).
pub fn layout_bytes(layout: &Layout, element_bits: u32) -> Expr {
    let all = layout.physical_elements();
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

/// Simplified count over symbols.
fn simple(expr: Result<Expr, ExprError>, layout: &Layout) -> Expr {
    let facts = Facts::new(layout.symbols());
    expr.and_then(|e| facts.simplify(&e)).unwrap_or_else(|_| layout.physical_elements().clone())
}

impl Manifest {
    /// Manifest without declarations.
    pub(crate) fn empty(path: String) -> Self {
        Self {
            path,
            tensors: Vec::new(),
            views: Vec::new(),
            converts: Vec::new(),
            reshards: Vec::new(),
            computes: Vec::new(),
            graphs: Vec::new(),
            schedules: Vec::new(),
        }
    }

    /// True if it converts sharded tensors. MPI files are generated then, also if every device converts only its own
    /// shard.
    pub fn needs_mpi(&self) -> bool {
        let is_cut = |convert: &Convert| {
            self.tensors.get(convert.from).is_some_and(|tensor| tensor.sharded.is_some())
        };
        !self.reshards.is_empty() || self.converts.iter().any(is_cut)
    }

    /// The manifest with an instance `NAME_auto` after each instance `NAME` that has a schedule: without the schedule, so
    /// that the planner chooses everything. A name that an instance has already is left to it.
    #[must_use]
    pub fn with_unscheduled_instances(&self) -> Self {
        let mut computes = Vec::with_capacity(self.computes.len());
        for compute in &self.computes {
            computes.push(compute.clone());
            let auto = compute.unscheduled().filter(|auto| {
                !self.computes.iter().any(|other| other.name.eq_ignore_ascii_case(&auto.name))
            });
            computes.extend(auto);
        }
        Self { computes, ..self.clone() }
    }

    /// Restriction of the manifest to the tensors of a target, with their views, conversions and kernels. Graphs are
    /// not solved yet.
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
        // A kernel is generated if all its tensors are.
        let compute = |compute: &KernelInstance| {
            let mut copy = compute.clone();
            for operand in &mut copy.operands {
                operand.tensor = at(operand.tensor)?;
            }
            Some(copy)
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
            let found = of.zip(at(view.buffer));
            view_position.push(found.map(|_| views.len()));
            views.extend(found.map(|(of, buffer)| View { of, buffer, ..view.clone() }));
        }
        let path = self.path.clone();
        let (graphs, schedules) = (self.graphs.clone(), Vec::new());
        Cow::Owned(Self { path, tensors, views, converts, reshards, computes, graphs, schedules })
    }
}
