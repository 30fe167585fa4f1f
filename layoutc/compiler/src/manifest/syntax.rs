//! Typed syntax of a manifest: every node of the language with its fields and spans. Nothing is resolved: names are not
//! looked up, expressions not parsed, extents not computed.

mod access;
mod convert;
mod gate;
mod graph;
mod kernel;
mod layout_step;
mod memory;
mod mesh;
mod record;
mod ring;
mod tensor;

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::base::diagnostic::FileSpan;

pub use access::AccessItem;
pub use convert::{
    ConvertItem, ConvertScheduleItem, ConvertScheduleKind, FillStrategy, InnerKernel, StorePolicy,
    ViewItem,
};
pub use gate::{GateItem, GateKind};
pub use graph::{
    AcceptsItem, BackendItem, CostItem, Decimal, DefaultLayoutItem, FiniteFloat, GraphItem,
    GraphTensorItem, NodeItem, OperatorItem, OperatorRule, OutputItem, PinItem, PropertyItem,
    ShapeRule, TypeRule,
};
pub use kernel::{
    CacheItem, CacheMemory, CompleteSchedule, InstanceItem, KernelItem, LocalItem, ScheduleItem,
    ScheduleKind,
};
pub use layout_step::{
    FillItem, FillLiteral, PaddingRule, SeparatorItem, StepItem, StepKind, SwizzleUnit, TileEntry,
};
pub use memory::{Memory, MemoryItem, MemoryKind};
pub use mesh::{MeshItem, ShardItem};
pub use record::{FIELD, FieldItem, RecordItem};
pub use ring::RingItem;
pub use tensor::{
    AxisItem, Extent, LayoutItem, NibbleOrder, PackFromItem, ShapeItem, TensorItem, WHERE,
};

/// String of the manifest, such as an expression or a layout, with its location. Byte `k` of `value` is byte
/// `span.start + k` of the file, unless the text is derived from another: the element type in an XLA text, for example,
/// has the span of the XLA text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpannedText {
    /// Text of the string, without quotes.
    pub value: String,
    /// Byte range of the text in the file, without quotes.
    pub span: Range<usize>,
    /// True if the text is quoted in the file.
    pub quoted: bool,
}

/// Name of an item, an axis or a parameter: `[A-Za-z_][A-Za-z0-9_]*`, at most 128 characters. An `apply` step may also
/// name `row-major`, `column-major` or `col-major`, which the check rejects.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identifier {
    /// Text of the name.
    pub value: String,
    /// Byte range of the name in the file, without quotes; with them if the name has escapes. For an axis of an XLA
    /// text it is that of the text.
    pub span: Range<usize>,
}

/// Integer literal with its location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntegerLiteral {
    /// Value of the integer.
    pub value: i128,
    /// Byte range in the file of the integer, or of the text that it is read from, such as `64 MiB` or an XLA text.
    pub span: Range<usize>,
}

/// Integer literal, or expression of consts, symbols and parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum IntegerExpr {
    /// An integer literal.
    Integer(IntegerLiteral),
    /// Name or quoted expression, not parsed yet.
    Text(SpannedText),
}

impl SpannedText {
    /// Span of the text in `file`.
    pub fn at(&self, file: &Arc<str>) -> FileSpan {
        FileSpan::new(file, self.span.clone())
    }
}

impl Identifier {
    /// Span of the name in `file`.
    pub fn at(&self, file: &Arc<str>) -> FileSpan {
        FileSpan::new(file, self.span.clone())
    }
}

impl IntegerExpr {
    /// Span of the integer or expression in `file`.
    pub fn at(&self, file: &Arc<str>) -> FileSpan {
        FileSpan::new(file, self.span())
    }

    /// Byte range in the file of the integer or expression, without quotes.
    pub fn span(&self) -> Range<usize> {
        match self {
            Self::Integer(number) => number.span.clone(),
            Self::Text(text) => text.span.clone(),
        }
    }
}

/// Kind of a named item, by the keyword that declares it. Items of one kind share a namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ItemKind {
    /// `const` item, a named integer.
    Const,
    /// `symbol` item, an extent known only at run time.
    Symbol,
    /// `transform` item, a named sequence of layout steps.
    Transform,
    /// `memory-space` item, a memory of the target that is not built in.
    MemorySpace,
    /// `mesh` item, a grid of devices.
    Mesh,
    /// `tensor` item or `view` item, which share a namespace.
    Tensor,
    /// `kernel` item, a computation on logical axes.
    Kernel,
    /// `instance` item, which binds the operands of a kernel to tensors.
    Instance,
    /// `backend` item, the layouts that operators accept.
    Backend,
    /// `graph` item, a graph of operators.
    Graph,
    /// `use` item, which imports another manifest; its name is the path of that manifest.
    Use,
}

/// Items of a manifest, those of each kind in the order of the text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ManifestSyntax {
    /// Path of the manifest as the caller gave it; not serialized, so that the cached form does not depend on the
    /// path.
    #[serde(skip)]
    pub file: Arc<str>,
    /// `use` items, which import other manifests.
    pub uses: Vec<UseItem>,
    /// `const` items, which name integers.
    pub consts: Vec<ConstItem>,
    /// `symbol` items, which declare extents known only at run time.
    pub symbols: Vec<SymbolItem>,
    /// `memory-space` items, which declare memories that are not built in.
    pub memory_spaces: Vec<MemorySpaceItem>,
    /// `mesh` items, which declare device meshes.
    pub meshes: Vec<MeshItem>,
    /// `transform` items, which name reusable layout steps.
    pub transforms: Vec<TransformItem>,
    /// `tensor` items, which declare an element type, a shape and a layout.
    pub tensors: Vec<TensorItem>,
    /// `view` items, which give a tensor's memory other axes or another element type.
    pub views: Vec<ViewItem>,
    /// `convert` items, which request relayouts between tensors.
    pub converts: Vec<ConvertItem>,
    /// `kernel` items, which declare computations on logical axes.
    pub kernels: Vec<KernelItem>,
    /// `instance` items, which bind the operands of kernels, also of kernels in used manifests, to tensors.
    pub instances: Vec<InstanceItem>,
    /// `backend` items, which list the layouts that operators accept.
    pub backends: Vec<BackendItem>,
    /// `graph` items, which declare graphs of operators.
    pub graphs: Vec<GraphItem>,
    /// Pairs (kind, name) of the named items with errors, which are missing in the lists of items. A reference to one
    /// of them gets no further diagnostic.
    pub broken: Vec<(ItemKind, String)>,
    /// True if a part of the file could not be parsed, for example after an unclosed block. A name that is not declared
    /// in the rest may be declared there, so that no diagnostic reports it as undefined.
    pub torn: bool,
}

/// `use` item, which imports the declarations of another manifest: `use "common.kdl"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UseItem {
    /// Path of the used manifest as written, relative to this manifest.
    pub path: SpannedText,
    /// Byte range of the `use` node in the file.
    pub span: Range<usize>,
}

/// `const` item, which names an integer: `const LANES 4`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConstItem {
    /// Name that the const declares.
    pub name: Identifier,
    /// Value of the const: an expression of integers and earlier consts.
    pub value: IntegerExpr,
}

/// `symbol` item, which declares an extent known only at run time: `symbol batch min=1 max=4096 multiple=4`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SymbolItem {
    /// Name that the symbol declares.
    pub name: Identifier,
    /// Least value that the symbol may have; `None`: 1.
    pub min: Option<IntegerExpr>,
    /// Greatest value that the symbol may have, inclusive; `None`: 2^31 - 1.
    pub max: Option<IntegerExpr>,
    /// Number of which every value of the symbol is a multiple; `None`: 1.
    pub multiple: Option<IntegerExpr>,
    /// Byte range of the `symbol` node in the file.
    pub span: Range<usize>,
}

/// `memory-space` item, which declares a memory that is not built in:
/// `memory-space vmem bytes="16 MiB" align=512 xla=1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemorySpaceItem {
    /// Name that the memory space declares.
    pub name: Identifier,
    /// Capacity of the memory space in bytes; `None` if not given, in which case `require fits` is an error.
    pub bytes: Option<IntegerExpr>,
    /// Alignment of base addresses in the memory space, in bytes; `None`: 1.
    pub align: Option<IntegerExpr>,
    /// XLA's number of the memory space, the n of `S(n)`; `None` if not given.
    pub xla: Option<IntegerLiteral>,
    /// Byte range of the `memory-space` node in the file.
    pub span: Range<usize>,
}

/// `transform` item, which names a sequence of layout steps with parameters: `transform blocked block=16 { … }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TransformItem {
    /// Name that the transform declares.
    pub name: Identifier,
    /// Pairs `(name, default)` of the transform's parameters.
    pub parameters: Vec<(Identifier, IntegerLiteral)>,
    /// Layout steps that `apply NAME` inserts, in order of application.
    pub steps: Vec<StepItem>,
    /// Byte range of the `transform` node in the file.
    pub span: Range<usize>,
}
