//! Typed syntax of a manifest: every node of the language with its fields and spans. Nothing is resolved: names are not
//! looked up, expressions not parsed, extents not computed.

mod convert;
mod graph;
mod kernel;
mod mesh;
mod ring;

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::base::cast::CastMode;
use crate::base::diagnostic::FileSpan;

pub use convert::{
    ConvertItem, ConvertScheduleItem, ConvertScheduleKind, FillStrategy, InnerKernel, StorePolicy,
    ViewItem,
};
pub use graph::{
    AcceptsItem, BackendItem, CostItem, Decimal, DefaultLayoutItem, FiniteFloat, GraphItem,
    GraphTensorItem, NodeItem, OperatorItem, OperatorRule, OutputItem, PinItem, PropertyItem,
    ShapeRule, TypeRule,
};
pub use kernel::{
    CacheItem, CacheMemory, InstanceItem, KernelItem, LocalItem, ScheduleItem, ScheduleKind,
};
pub use mesh::{MeshItem, ShardItem};
pub use ring::RingItem;

/// String of the manifest, mostly an expression, with its location. Byte `k` of `value` is byte `span.start + k`
/// of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpannedText {
    /// Text of the string, without quotes.
    pub value: String,
    /// Byte range of the text in the file, without quotes.
    pub span: Range<usize>,
    /// True if the text is quoted in the file.
    pub quoted: bool,
}

/// Name of an item, an axis or a parameter: `[A-Za-z_][A-Za-z0-9_]*`, at most 128 characters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identifier {
    /// Text of the name.
    pub value: String,
    /// Byte range of the name in the file, without quotes.
    pub span: Range<usize>,
}

/// Integer literal with its location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntegerLiteral {
    /// Value of the integer.
    pub value: i128,
    /// Byte range of the integer in the file.
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

/// Kind of a declared item. Names of items of one kind share a namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ItemKind {
    /// Kind of `const` items.
    Const,
    /// Kind of `symbol` items.
    Symbol,
    /// Kind of `transform` items.
    Transform,
    /// Kind of `memory-space` items.
    MemorySpace,
    /// Kind of `mesh` items.
    Mesh,
    /// Kind of `tensor` and `view` items, which share a namespace.
    Tensor,
    /// Kind of `kernel` items.
    Kernel,
    /// Kind of `instance` items.
    Instance,
    /// Kind of `backend` items.
    Backend,
    /// Kind of `graph` items.
    Graph,
    /// Kind of `use` items, whose name is their path.
    Use,
}

/// Items of a manifest, those of each kind in the order of the text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ManifestSyntax {
    /// Path of the manifest as the caller gave it; not serialized, so that the cached form does not depend on the
    /// path.
    #[serde(skip)]
    pub file: Arc<str>,
    /// `use` items, which name other manifests.
    pub uses: Vec<UseItem>,
    /// `const` items, which name integers.
    pub consts: Vec<ConstItem>,
    /// `symbol` items, which declare extents known only at run time.
    pub symbols: Vec<SymbolItem>,
    /// `memory-space` items.
    pub memory_spaces: Vec<MemorySpaceItem>,
    /// `mesh` items, which declare device meshes.
    pub meshes: Vec<MeshItem>,
    /// `transform` items, which name reusable layout steps.
    pub transforms: Vec<TransformItem>,
    /// `tensor` items.
    pub tensors: Vec<TensorItem>,
    /// `view` items.
    pub views: Vec<ViewItem>,
    /// `convert` items.
    pub converts: Vec<ConvertItem>,
    /// `kernel` items.
    pub kernels: Vec<KernelItem>,
    /// `instance` items, which may refer to kernels of used manifests.
    pub instances: Vec<InstanceItem>,
    /// `backend` items.
    pub backends: Vec<BackendItem>,
    /// `graph` items, which hold operators.
    pub graphs: Vec<GraphItem>,
    /// Kinds and names of the items with errors, which the lists above leave out. A reference to one of them gets no
    /// further diagnostic.
    pub broken: Vec<(ItemKind, String)>,
    /// True if part of the file could not be read at all. An undefined name may be declared there, and gets no further
    /// diagnostic.
    pub torn: bool,
}

/// `use "common.kdl"`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UseItem {
    /// Path of the used manifest as written, relative to this manifest.
    pub path: SpannedText,
    /// Byte range of the `use` node in the file.
    pub span: Range<usize>,
}

/// `const LANES 4`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConstItem {
    /// Name that the const declares.
    pub name: Identifier,
    /// Value of the const: an expression of integers and earlier consts.
    pub value: IntegerExpr,
}

/// `symbol batch min=1 max=4096 multiple=4`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SymbolItem {
    /// Name that the symbol declares.
    pub name: Identifier,
    /// Least value that the symbol may have; `None` if not given.
    pub min: Option<IntegerExpr>,
    /// Greatest value that the symbol may have; `None` if not given.
    pub max: Option<IntegerExpr>,
    /// Number of which every value of the symbol is a multiple; `None` if not given.
    pub multiple: Option<IntegerExpr>,
    /// Byte range of the `symbol` node in the file.
    pub span: Range<usize>,
}

/// `memory-space vmem bytes="16 MiB" align=512 xla=1`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemorySpaceItem {
    /// Name that the memory space declares.
    pub name: Identifier,
    /// Capacity of the memory space in bytes; `None` if not given.
    pub bytes: Option<IntegerExpr>,
    /// Alignment of base addresses in the memory space, in bytes; `None` if not given.
    pub align: Option<IntegerExpr>,
    /// XLA's number of the memory space, the n of `S(n)`; `None` if not given.
    pub xla: Option<IntegerLiteral>,
    /// Byte range of the `memory-space` node in the file.
    pub span: Range<usize>,
}

/// `transform blocked block=16 { … }`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TransformItem {
    /// Name that the transform declares.
    pub name: Identifier,
    /// Parameters of the transform, each with its default value.
    pub parameters: Vec<(Identifier, IntegerLiteral)>,
    /// Layout steps that the transform stands for, in order.
    pub steps: Vec<StepItem>,
    /// Byte range of the `transform` node in the file.
    pub span: Range<usize>,
}

/// Order of elements that share a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum NibbleOrder {
    /// The first element is in the high bits of the byte.
    HighFirst,
    /// The first element is in the low bits of the byte: the default.
    LowFirst,
}

/// `tensor input dtype=f32 { … }`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TensorItem {
    /// Name that the tensor declares.
    pub name: Identifier,
    /// The element type as written. A tensor has a `dtype`, a `record` or a `like`, or a `like` with one of the others.
    pub dtype: Option<SpannedText>,
    /// Record type of the elements, in place of `dtype`; `None` if not given.
    pub record: Option<RecordItem>,
    /// Name of the tensor that provides the shape and element type that are not given here.
    pub like: Option<Identifier>,
    /// Shape of the tensor; `None` only with `like`.
    pub shape: Option<ShapeItem>,
    /// Layout of the tensor; `None`: row-major.
    pub layout: Option<LayoutItem>,
    /// Memory of the tensor; `None`: global.
    pub memory: Option<MemoryItem>,
    /// Partition of the tensor over the devices of a mesh; `None` if it is not sharded.
    pub shard: Option<ShardItem>,
    /// Ring buffer: the axis of which memory holds only a window of indices at a time; `None` for a whole tensor.
    pub ring: Option<RingItem>,
    /// Conditions that the layout must meet, from `require` nodes.
    pub gates: Vec<GateItem>,
    /// Names of the targets for which the tensor is generated; `None`: all targets.
    pub targets: Option<Vec<SpannedText>>,
    /// Order of elements that share a byte; `None`: the default.
    pub nibbles: Option<NibbleOrder>,
    /// Element type that pack reads and unpack writes, if it differs from that in memory.
    pub pack_from: Option<PackFromItem>,
    /// Byte range of the `tensor` node in the file.
    pub span: Range<usize>,
}

impl TensorItem {
    /// Tensor with a name and an element type, and with nothing else.
    pub fn new(name: Identifier, dtype: SpannedText, span: Range<usize>) -> Self {
        Self {
            name,
            dtype: Some(dtype),
            record: None,
            like: None,
            shape: None,
            layout: None,
            memory: None,
            shard: None,
            ring: None,
            gates: Vec::new(),
            targets: None,
            nibbles: None,
            pack_from: None,
            span,
        }
    }
}

/// `pack-from=f32 cast=saturate`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackFromItem {
    /// Element type that pack reads and unpack writes, as written.
    pub dtype: SpannedText,
    /// Treatment of values that are out of range for the element type; `None`: the default.
    pub cast: Option<CastMode>,
}

/// The axis whose labels are the fields of a record, if all fields have one type.
pub const FIELD: &str = "field";

/// `dtype { x f32; y f32 }`, `dtype align=4 { d f16; q u4 32 }`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordItem {
    /// Fields of the record, at least one, with distinct names.
    pub fields: Vec<FieldItem>,
    /// Alignment of the record in bytes, to a multiple of which its size is rounded up; `None` if not given.
    pub align: Option<IntegerExpr>,
    /// Byte range of the record in the file.
    pub span: Range<usize>,
}

/// Field of a record: `q u4 32 align=4`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldItem {
    /// Name that the field declares.
    pub name: Identifier,
    /// Element type of the field, as written.
    pub dtype: SpannedText,
    /// Number of elements along each axis of the field, outermost first; empty for one element.
    pub counts: Vec<IntegerExpr>,
    /// Alignment of the field's offset, in bytes; `None` if not given.
    pub align: Option<IntegerExpr>,
    /// Byte range of the field's node in the file.
    pub span: Range<usize>,
}

impl RecordItem {
    /// Returns true if the fields are the labels of an axis: all have one type, and none has counts or an alignment.
    /// Otherwise all fields together form one element.
    pub fn is_axis(&self) -> bool {
        let first = self.fields.first().map(|field| &field.dtype.value);
        let is_plain = |field: &FieldItem| {
            field.counts.is_empty() && field.align.is_none() && Some(&field.dtype.value) == first
        };
        self.align.is_none() && self.fields.iter().all(is_plain)
    }
}

/// `shape { n batch; h 64 }`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShapeItem {
    /// Axes of the shape, outermost first, with distinct names.
    pub axes: Vec<AxisItem>,
    /// The `where "j <= i"` conditions that select the indices that are elements; empty for all.
    pub conditions: Vec<SpannedText>,
    /// Byte range of the `shape` node in the file.
    pub span: Range<usize>,
}

/// The node of a shape that states a condition; it cannot be the name of an axis.
pub const WHERE: &str = "where";

/// Axis of a shape with its extent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AxisItem {
    /// Name that the axis declares.
    pub name: Identifier,
    /// Extent of the axis.
    pub extent: Extent,
}

/// Extent of an axis, in one of its notations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Extent {
    /// Number of elements along the axis; an integer literal is not negative.
    Bound(IntegerExpr),
    /// Labels of the indices, one index for each label; the labels are distinct.
    Labels(Vec<Identifier>),
    /// Fields of the tensor's record, one index for each field: the axis `field` without an extent.
    Fields,
}

/// `layout { … }`, or `layout nchw4c block=8`, which is one [`StepKind::Apply`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LayoutItem {
    /// Steps of the layout, in order.
    pub steps: Vec<StepItem>,
    /// Byte range of the `layout` node in the file.
    pub span: Range<usize>,
}

/// Step of a layout, with its location.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepItem {
    /// Operation of the step with its arguments.
    pub kind: StepKind,
    /// Byte range of the step's node in the file.
    pub span: Range<usize>,
    /// Byte range of the node's name in the file.
    pub name_span: Range<usize>,
}

/// Operation of a layout step, with its arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are the keywords of the manifest")]
pub enum StepKind {
    /// `map "(n, c) -> …"`
    Map(SpannedText),
    /// `apply blocked block=8`
    Apply { name: Identifier, arguments: Vec<(Identifier, IntegerExpr)> },
    /// `order a ... c`: names of axes, or `...`
    Order(Vec<SpannedText>),
    /// `split c by=4`, `split i into="io im ii" by="4 4"`; `into` is empty if absent
    Split { axis: Identifier, into: Vec<Identifier>, by: Vec<IntegerExpr> },
    /// `fuse h w as=hw`
    Fuse { axes: Vec<Identifier>, into: Option<Identifier> },
    /// `tile 8 * 128 as="r_tile …"`; `names` is empty if absent
    Tile { entries: Vec<TileEntry>, names: Vec<Identifier> },
    /// `pad c multiple=8`
    PadMultiple { axis: Identifier, multiple: IntegerExpr },
    /// `pad h before=1 after=1`; at least one of the two is present
    PadBeforeAfter { axis: Identifier, before: Option<IntegerExpr>, after: Option<IntegerExpr> },
    /// `strides 1056 1`, in elements
    Strides(Vec<IntegerExpr>),
    /// `align 64`: the base address, in bytes
    AlignBase(IntegerExpr),
    /// `align h 64`: the stride of an axis, in bytes
    AlignAxis { axis: Identifier, bytes: IntegerExpr },
    /// `align 64 at=origin`: the address of the first element that is not padding, in bytes
    AlignOrigin(IntegerExpr),
    /// `fill 0`, `fill none`
    Fill(FillItem),
    /// `padding forbid`, `padding allow`
    Padding(PaddingRule),
    /// `axis-separators h 2`
    Separators(Vec<SeparatorItem>),
    /// `swizzle 3 4 3 unit=bytes`: CuTe's bits, base and shift
    Swizzle { bits: IntegerLiteral, base: IntegerLiteral, shift: IntegerLiteral, unit: SwizzleUnit },
    /// `swizzle mode="128B"`: a swizzle mode of the tensor memory accelerator, by row width in bytes
    SwizzleMode(IntegerLiteral),
    /// `notation tvm="NCHW16c"`, or the same on `layout`; `sizes` are the additional properties, by name
    Foreign { notation: String, text: SpannedText, sizes: Vec<(Identifier, IntegerLiteral)> },
}

/// Unit in which the numbers of a swizzle count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the variants are the keywords of the manifest")]
pub enum SwizzleUnit {
    Bytes,
    Elements,
}

/// Entry of a `tile` step for one axis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TileEntry {
    /// `*`, which merges its axis into the next more minor one; with its bytes in the file.
    Star(Range<usize>),
    /// Extent of the tile along its axis.
    Extent(IntegerExpr),
}

/// Fill value, which pack writes to padding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FillItem {
    /// Value as written.
    pub value: FillLiteral,
    /// Byte range of the value in the file.
    pub span: Range<usize>,
}

/// Fill value as the manifest gives it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum FillLiteral {
    /// Integer, such as 0 or -1.
    Integer(i128),
    /// A number with a fraction or an exponent, or `#inf`, `#-inf`, `#nan`.
    Float(f64),
    /// `#true`, `#false`
    Bool(bool),
    /// `none`: pack does not write padding.
    Nothing,
}

/// Argument of a `padding` step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PaddingRule {
    /// `forbid`: any padding is an error.
    Forbid,
    /// `allow`: padding without a reason gets no warning.
    Allow,
}

/// Position of an axis separator among the storage axes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum SeparatorItem {
    /// After the storage axis of this name.
    Name(Identifier),
    /// After the storage axis at this position, from 0.
    Position(IntegerLiteral),
}

/// `memory image2d format=rgba access=read`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryItem {
    /// Kind of the memory: a built-in one or a memory space.
    pub kind: MemoryKind,
    /// Channel order of an image, such as `rgba`; `None` if not given.
    pub format: Option<SpannedText>,
    /// Access mode of an image, `read`, `write` or `read-write`; `None` if not given.
    pub access: Option<SpannedText>,
    /// Byte range of the `memory` node in the file.
    pub span: Range<usize>,
}

/// Memory of a tensor, as written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemoryKind {
    /// Built-in kind of memory, given by a keyword.
    Kind(Memory),
    /// Memory space that the project declares, given by its name.
    Space(Identifier),
}

/// Kind of memory in which a tensor is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Memory {
    /// Ordinary buffer, in global memory.
    Global,
    /// Read-only buffer, in constant memory.
    Constant,
    /// Two-dimensional image (`image2d`, or `texture`).
    Image2d,
    /// Array of two-dimensional images.
    Image2dArray,
    /// Memory shared by the threads of a block.
    Shared,
    /// OpenCL local memory of a work-group.
    Local,
    /// No memory: only constants and index functions are generated.
    None,
}

/// Condition of a `require` node, with its location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateItem {
    /// Condition that the layout must meet.
    pub kind: GateKind,
    /// Byte range in the file of the condition's words, without `require`.
    pub span: Range<usize>,
}

/// Condition that a layout must meet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum GateKind {
    /// `bijective`: every slot has an element.
    Bijective,
    /// `padding-below=0.10`: upper bound of the fraction of bytes that are padding.
    PaddingBelow(Decimal),
    /// `bytes-below="64 MiB"`: exclusive upper bound of the buffer's size in bytes.
    BytesBelow(IntegerExpr),
    /// `contiguous c`: consecutive indices along an axis are adjacent in memory.
    Contiguous(Identifier),
    /// `vector=4`: aligned loads and stores of this many elements are possible.
    Vector(IntegerExpr),
    /// `fits`: the tensor is no larger than its memory space.
    Fits,
    /// `same-as=other`: both tensors store every element at the same offset.
    SameAs(Identifier),
}
