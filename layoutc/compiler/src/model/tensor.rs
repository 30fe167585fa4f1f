//! Checked tensors: an element type, a proven layout and a memory.

use layoutc_algebra::layout::{Layout, Verdict};
use layoutc_algebra::symbol::Axis;

use super::reshard::DeviceSharding;
use super::ring::Ring;
use super::view::MemoryOwner;
use super::warp_access::WarpAccess;
use crate::base::cast::Cast;
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::base::dtype::Dtype;
use crate::base::fill::{self, Fill, FillValue};
use crate::manifest::syntax::Memory;

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
    /// Owner of the memory, if this is a view in the form of a tensor; `None` for a tensor with memory of its own.
    pub owner: Option<MemoryOwner>,
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
    /// Declared memory space that the tensor is in, in which case `memory` is [`Memory::Global`]. `None` for a built-in
    /// memory.
    pub space: Option<MemorySpace>,
    /// Names of the targets for which the tensor is generated; `None`: all targets.
    pub targets: Option<Vec<String>>,
    /// Labels of the indices, one list for each axis: element `i` of a list is the label of index `i`. A list is empty
    /// for an axis without labels.
    pub labels: Vec<Vec<String>>,
    /// True if, of the elements that share a byte, the first one is in the high bits of the byte.
    pub high_first: bool,
    /// Declared accesses of warps, with distinct names; those of `access` nodes.
    pub accesses: Vec<WarpAccess>,
    /// Text of each layout step, one line each, for comments and reports.
    pub steps: Vec<String>,
    /// Spans of the tensor's parts in the manifest, for diagnostics.
    pub places: TensorSpans,
}

/// Element type of the row-major array that pack reads and unpack writes, if it differs from the element type in
/// memory, with the casts between the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackFrom {
    /// Element type of the row-major array that pack reads and unpack writes.
    pub dtype: Dtype,
    /// Cast that pack applies: from `dtype` to the element type in memory.
    pub pack: Cast,
    /// Cast that unpack applies: from the element type in memory to `dtype`.
    pub unpack: Cast,
}

/// Spans of the parts of a tensor in the manifest. A graph tensor, an intermediate or a view may have one span for
/// several parts.
#[derive(Debug, Clone)]
pub struct TensorSpans {
    /// Span of the layout; that of the tensor's name if it declares none.
    pub layout: FileSpan,
    /// Span of the fill value; that of the layout if there is none.
    pub fill: FileSpan,
    /// Span of the last step `axis-separators`, or of the last `|` in a map if that comes later; that of the layout if
    /// there is neither.
    pub separators: FileSpan,
    /// Span of the element type; in another tensor if the type is inherited by `like=`.
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

/// Diagnostic for a tensor with padding whose element type cannot represent its fill value. `None` if the tensor has no
/// padding or no fill value, or if the fill value can be represented.
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

impl Tensor {
    /// True if the tensor is generated for the target `target`.
    pub fn is_for(&self, target: &str) -> bool {
        self.targets.as_ref().is_none_or(|targets| targets.iter().any(|own| own == target))
    }

    /// True for a view whose memory has positions that hold none of its elements, and may hold other elements of the
    /// owner. A statement that writes the view has loops over its logical axes, not over its storage axes.
    pub(crate) fn is_window(&self) -> bool {
        self.owner.is_some() && self.layout.verdict() == Verdict::Padded
    }

    /// Copy of the tensor with the name `name`.
    pub(crate) fn with_name(&self, name: String) -> Self {
        Self { name, ..self.clone() }
    }

    /// Copy of the tensor with the layout `layout`.
    pub(crate) fn with_layout(&self, layout: Layout) -> Self {
        Self { layout, ..self.clone() }
    }

    /// Copy of the tensor with the layout `layout` and the texts `steps` of the layout steps, one line each.
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
}
