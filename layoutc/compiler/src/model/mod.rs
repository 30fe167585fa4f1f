//! Checked model of a manifest: [`Manifest`] holds tensors with proven layouts, conversions, kernels and graphs. Only
//! [`check`](crate::check) creates it, and later stages rely on its invariants: other crates cannot construct its
//! structures, and within this crate a test ensures that only the check does.

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

/// Memory space that a `memory-space` item declares. Generated code treats it as global memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemorySpace {
    /// Name of the memory space.
    pub name: String,
    /// Capacity of the memory space in bytes; `None` if none is declared.
    pub bytes: Option<i128>,
    /// Alignment of the base address of every tensor in the memory space, in bytes: a power of two, 1 if none is
    /// declared.
    pub alignment_bytes: u64,
    /// XLA's number of the memory space, the n of `S(n)`; `None` if none is declared.
    pub xla: Option<i128>,
}

/// Checked tensor: element type, layout that is proven injective, memory and fill value.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Tensor {
    /// Path of the tensor's manifest, as the caller gave it.
    pub file: String,
    /// Name of the tensor in the manifest.
    pub name: String,
    /// Element type of the tensor in memory.
    pub dtype: Dtype,
    /// Element type of the row-major array that pack reads and unpack writes, with the casts; `None` if it is `dtype`.
    pub pack_from: Option<PackFrom>,
    /// Sharding over a device mesh; `None` if the tensor is not sharded.
    pub sharded: Option<DeviceSharding>,
    /// Ring buffer; `None` if memory holds all indices of every axis.
    pub ring: Option<Ring>,
    /// Proven layout: the layout of one shard if the tensor is sharded, of the window in memory if it is a ring buffer.
    pub layout: Layout,
    /// Value that pack, the copy of a row-major array into the layout, writes to padding, or the decision to leave
    /// padding unwritten.
    pub fill: Fill,
    /// Kind of memory in which the tensor is stored.
    pub memory: Memory,
    /// Memory space of the tensor if its manifest names a declared one, in which case `memory` is [`Memory::Global`];
    /// `None` for a built-in memory.
    pub space: Option<MemorySpace>,
    /// Names of the targets for which the tensor is generated; `None`: all targets.
    pub targets: Option<Vec<String>>,
    /// Labels of the indices along each axis, by the axis's position; empty for an axis without labels.
    pub labels: Vec<Vec<String>>,
    /// True if, of the elements that share a byte, the first one is in the high bits of the byte.
    pub high_first: bool,
    /// Text of each layout step, one line each, for comments and reports.
    pub steps: Vec<String>,
    /// Spans of the tensor's parts in the manifest, for diagnostics.
    pub places: TensorSpans,
}

/// Element type of the row-major array that pack copies into the layout and unpack copies back to, if it differs from
/// that in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackFrom {
    /// Element type of the row-major array that pack reads and unpack writes.
    pub dtype: Dtype,
    /// Cast that pack applies: from `dtype` to the element type in memory.
    pub pack: Cast,
    /// Cast that unpack applies: from the element type in memory to `dtype`.
    pub unpack: Cast,
}

/// Spans of the parts of a tensor in the manifest.
#[derive(Debug, Clone)]
pub struct TensorSpans {
    /// Span of the layout; that of the tensor's name if it declares none.
    pub layout: FileSpan,
    /// Span of the fill value; that of the layout if there is none.
    pub fill: FileSpan,
    /// Span of the last axis separator; that of the layout if there is none.
    pub separators: FileSpan,
    /// Span of the element type; that of the base tensor's if it is inherited by `like`.
    pub dtype: FileSpan,
    /// Span of the memory; that of the tensor's name if none is declared.
    pub memory: FileSpan,
    /// Span of the sharding; that of the tensor's name if there is none.
    pub shard: FileSpan,
}

impl TensorSpans {
    /// Spans of a tensor whose parts are all located at `place`.
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

/// Diagnostic for a padded tensor whose element type cannot represent its fill value; `None` if the tensor has no
/// padding, no fill value or a representable one.
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
    /// Cast of the elements from the source's element type to the destination's; `None` if both are equal.
    pub cast: Option<Cast>,
    /// Schedule decisions of the manifest that override the planner's.
    pub choices: ConvertSchedule,
    /// Span of the conversion in the manifest.
    pub place: FileSpan,
}

/// Scheduling decisions of the manifest for a relayout. The planner makes every decision that is not set.
#[derive(Debug, Clone, Default)]
pub struct ConvertSchedule {
    /// Names of loops, outermost first; loops that are not named are inside these.
    pub order: Vec<Spanned<String>>,
    /// Extents of a transpose tile along the fastest-varying digit of the destination and of the source, in that order,
    /// counted in values of the digit. A digit is a mixed-radix component of an index, such as `c % 4`. `None`: the
    /// planner chooses.
    pub block: Option<Spanned<[i64; 2]>>,
    /// Kernel that copies elements inside all loops; `None`: the planner chooses.
    pub inside: Option<Spanned<InnerKernel>>,
    /// Streaming or ordinary stores to the destination; `None`: the size of the relayout decides.
    pub stores: Option<Spanned<StorePolicy>>,
    /// Strategy for writing the padding of the destination; `None`: the planner chooses.
    pub fill: Option<Spanned<FillStrategy>>,
}

impl Convert {
    /// Relayout without a cast and without schedule decisions of the manifest. `axes[k]` is the position in `to` of
    /// axis `k` of `from`.
    pub(crate) fn between(from: usize, to: usize, axes: Vec<usize>, place: FileSpan) -> Self {
        Self { from, to, axes, cast: None, choices: ConvertSchedule::default(), place }
    }
}

impl ConvertSchedule {
    /// Empty schedule: the planner chooses everything.
    pub const NONE: &Self =
        &Self { order: Vec::new(), block: None, inside: None, stores: None, fill: None };

    /// True if the manifest sets neither loop order nor block nor inner kernel.
    pub fn has_default_loops(&self) -> bool {
        self.order.is_empty() && self.block.is_none() && self.inside.is_none()
    }

    /// True if the manifest sets no decision: the planner makes all.
    pub fn is_empty(&self) -> bool {
        let Self { order, block, inside, stores, fill } = self;
        order.is_empty()
            && block.is_none()
            && inside.is_none()
            && stores.is_none()
            && fill.is_none()
    }
}

/// Value with the span in the manifest where it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spanned<T> {
    /// Value as the manifest gives it.
    pub value: T,
    /// Span of the value in the manifest.
    pub place: FileSpan,
}

/// Base of a view: a tensor or another view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewTarget {
    /// Tensor: its position in [`Manifest::tensors`].
    Tensor(usize),
    /// Earlier view: its position in [`Manifest::views`].
    View(usize),
}

/// Relation between the indices of a view and those of its base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ViewKind {
    /// Another element type, such as `f32x4` for `f32`: `joined` neighbors along a logical axis of the base form one
    /// element of the view, or one element of the base is split into `cut` elements of the view. One of the two numbers
    /// is 1.
    Lanes {
        /// Position of the logical axis along which elements are joined or split.
        axis: usize,
        /// Number of base elements that form one element of the view.
        joined: i128,
        /// Number of elements of the view that one base element forms.
        cut: i128,
    },
    /// Reinterpretation of the base's memory with the shape and layout that the view declares.
    Reinterpret,
    /// Window, such as `map "(h, w) -> (0, h, w)"`: one index per axis of the base, as written, over `Var::Axis` of the
    /// view.
    Window(Vec<Expr>),
}

/// Checked view: the memory of a tensor with other axes or another element type. It has no memory of its own.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct View {
    /// The view in the form of a tensor: its element type, axes and layout in the base's memory.
    pub tensor: Tensor,
    /// Base of the view: a tensor or an earlier view.
    pub of: ViewTarget,
    /// Name of the base in the manifest.
    pub of_name: String,
    /// Position in [`Manifest::tensors`] of the tensor that owns the memory, at the end of the chain of views.
    pub buffer: usize,
    /// Relation between the indices of the view and those of its base.
    pub seeing: ViewKind,
    /// True if several elements of the view share a memory location, so that the view is read-only and its layout has
    /// no inverse.
    pub is_shared: bool,
    /// Offset of the first element and stride along each axis of the view, in elements; `None` if the offset is not
    /// affine in the axes.
    pub affine: Option<AffineOffset>,
}

impl View {
    /// True if the view is a window, which selects elements of its base unchanged.
    pub fn is_window(&self) -> bool {
        matches!(self.seeing, ViewKind::Window(_))
    }
}

/// Checked manifest, with only the declarations that have no errors.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Manifest {
    /// Path of the manifest, as the caller gave it.
    pub path: String,
    /// Tensors, in the order of the manifest.
    pub tensors: Vec<Tensor>,
    /// Views, each after its base.
    pub views: Vec<View>,
    /// Conversions without data exchange between devices, in the order of the manifest. Of a sharded tensor, each
    /// device converts its own shard.
    pub converts: Vec<Convert>,
    /// Conversions that exchange data between devices, in the order of the manifest.
    pub reshards: Vec<Reshard>,
    /// Kernels, each bound to the tensors of one instance.
    pub computes: Vec<KernelInstance>,
    /// Operator graphs, in the order of the manifest.
    pub graphs: Vec<Graph>,
    /// Schedules of the solved graphs, in the order of `graphs`; empty before the graphs are solved.
    pub schedules: Vec<GraphSchedule>,
}

/// Size of a tensor's buffer, as expressions over symbols. A slot is a position of the buffer that can hold one
/// element.
#[derive(Debug, Clone)]
pub struct MemoryFootprint {
    /// Number of positions of the buffer that hold no element, that is, padding.
    pub padding_elements: Expr,
    /// Size of the buffer in bytes: ceil(slots * element bits / 8), where a slot can hold one element.
    pub bytes: Expr,
}

impl Tensor {
    /// Copy of the tensor with the name `name`.
    pub(crate) fn with_name(&self, name: String) -> Self {
        Self { name, ..self.clone() }
    }

    /// Copy of the tensor with the layout `layout`.
    pub(crate) fn with_layout(&self, layout: Layout) -> Self {
        Self { layout, ..self.clone() }
    }

    /// Copy of the tensor with the layout `layout`, which the steps `steps` give.
    pub(crate) fn with_steps(&self, layout: Layout, steps: Vec<String>) -> Self {
        Self { layout, steps, ..self.clone() }
    }

    /// Copy of the tensor with the kind of memory `memory`.
    pub(crate) fn with_memory(&self, memory: Memory) -> Self {
        Self { memory, ..self.clone() }
    }

    /// Copy of the tensor without `pack_from`: pack and unpack do not convert elements.
    pub(crate) fn without_cast(&self) -> Self {
        Self { pack_from: None, ..self.clone() }
    }

    /// Element type of the row-major array that pack reads and unpack writes.
    pub fn logical_dtype(&self) -> Dtype {
        self.pack_from.map_or(self.dtype, |logical| logical.dtype)
    }

    /// Axes of the whole tensor if the tensor is sharded, otherwise the logical axes of the layout.
    pub fn whole_axes(&self) -> &[Axis] {
        self.sharded.as_ref().map_or(self.layout.logical(), |sharded| &sharded.whole)
    }

    /// Word for the tensor's memory in manifests: a keyword such as `shared`, or the name of a memory space.
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

    /// Size of the tensor's buffer. The check has rejected layouts whose size overflows 64 bits.
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

/// Size of a layout's buffer in bytes, over symbols: `ceil(slots * element_bits / 8)`, where a slot can hold one
/// element.
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

/// Simplified form of `expr` over the layout's symbols; the layout's number of slots, positions that can hold one
/// element, if `expr` is an error or cannot be simplified.
fn simple(expr: Result<Expr, ExprError>, layout: &Layout) -> Expr {
    let facts = Facts::new(layout.symbols());
    expr.and_then(|e| facts.simplify(&e)).unwrap_or_else(|_| layout.physical_elements().clone())
}

impl Manifest {
    /// Manifest at `path` without any declaration.
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

    /// True if the manifest converts sharded tensors, so that MPI files are generated, also if every device converts
    /// only its own shard.
    pub fn needs_mpi(&self) -> bool {
        let is_cut = |convert: &Convert| {
            self.tensors.get(convert.from).is_some_and(|tensor| tensor.sharded.is_some())
        };
        !self.reshards.is_empty() || self.converts.iter().any(is_cut)
    }

    /// Copy of the manifest with an additional instance `NAME_auto` after each instance `NAME` that has a loop schedule
    /// or tile caches: the same kernel without schedule and caches, so that the planner chooses everything. No instance
    /// is added if another one has that name, ignoring case.
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

    /// Manifest restricted to the tensors that are generated for `target`, and to the views, conversions and kernels
    /// that use only those tensors. Borrowed and unchanged if that is every tensor; otherwise a copy with all graphs
    /// and without `schedules`, so that the restriction must precede the solving of graphs.
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
