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

/// A string of the manifest, mostly an expression. Byte `k` of `value` is byte `span.start + k` of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpannedText {
    /// The text.
    pub value: String,
    /// The bytes in the file, without quotes.
    pub span: Range<usize>,
    /// True if it is quoted.
    pub quoted: bool,
}

/// A name: `[A-Za-z_][A-Za-z0-9_]*`, at most 128 characters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identifier {
    /// The name.
    pub value: String,
    /// The bytes in the file, without quotes.
    pub span: Range<usize>,
}

/// An integer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntegerLiteral {
    /// Its value.
    pub value: i128,
    /// The bytes in the file.
    pub span: Range<usize>,
}

/// An integer, or an expression of consts, symbols and parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum IntegerExpr {
    /// An integer literal.
    Integer(IntegerLiteral),
    /// A name, or a quoted expression.
    Text(SpannedText),
}

impl SpannedText {
    /// Its location in `file`.
    pub fn at(&self, file: &Arc<str>) -> FileSpan {
        FileSpan::new(file, self.span.clone())
    }
}

impl Identifier {
    /// Its location in `file`.
    pub fn at(&self, file: &Arc<str>) -> FileSpan {
        FileSpan::new(file, self.span.clone())
    }
}

impl IntegerExpr {
    /// Its location in `file`.
    pub fn at(&self, file: &Arc<str>) -> FileSpan {
        FileSpan::new(file, self.span())
    }

    /// The bytes in the file, without quotes.
    pub fn span(&self) -> Range<usize> {
        match self {
            Self::Integer(number) => number.span.clone(),
            Self::Text(text) => text.span.clone(),
        }
    }
}

/// The kind of a declared item. Names of one kind share a namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ItemKind {
    /// `const`
    Const,
    /// `symbol`
    Symbol,
    /// `transform`
    Transform,
    /// `memory-space`
    MemorySpace,
    /// `mesh`
    Mesh,
    /// `tensor` or `view`, which share a namespace
    Tensor,
    /// `kernel`
    Kernel,
    /// `instance`
    Instance,
    /// `backend`
    Backend,
    /// `graph`
    Graph,
    /// `use`; its name is the path
    Use,
}

/// The items of a manifest, each kind in textual order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ManifestSyntax {
    /// The path of the manifest as given; not serialized, so that the cached form does not depend on the path.
    #[serde(skip)]
    pub file: Arc<str>,
    /// The `use` items.
    pub uses: Vec<UseItem>,
    /// The constants.
    pub consts: Vec<ConstItem>,
    /// The symbols (extents known only at run time).
    pub symbols: Vec<SymbolItem>,
    /// The memory spaces.
    pub memory_spaces: Vec<MemorySpaceItem>,
    /// The device meshes.
    pub meshes: Vec<MeshItem>,
    /// The transforms (reusable layout steps).
    pub transforms: Vec<TransformItem>,
    /// The tensors.
    pub tensors: Vec<TensorItem>,
    /// The views.
    pub views: Vec<ViewItem>,
    /// The conversions.
    pub converts: Vec<ConvertItem>,
    /// The kernels.
    pub kernels: Vec<KernelItem>,
    /// The kernel instances, which may refer to kernels of used manifests.
    pub instances: Vec<InstanceItem>,
    /// The backends.
    pub backends: Vec<BackendItem>,
    /// The operator graphs.
    pub graphs: Vec<GraphItem>,
    /// Items with errors, left out above. A reference to one of these gets no further diagnostic.
    pub broken: Vec<(ItemKind, String)>,
    /// True if part of the file could not be read at all. An undefined name may be declared there, and gets no further
    /// diagnostic.
    pub torn: bool,
}

/// `use "common.kdl"`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UseItem {
    /// The path as written.
    pub path: SpannedText,
    /// The span of the node.
    pub span: Range<usize>,
}

/// `const LANES 4`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConstItem {
    /// The declared name.
    pub name: Identifier,
    /// The value: an expression of integers and earlier consts.
    pub value: IntegerExpr,
}

/// `symbol batch min=1 max=4096 multiple=4`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SymbolItem {
    /// The declared name.
    pub name: Identifier,
    /// The minimum value.
    pub min: Option<IntegerExpr>,
    /// The maximum value.
    pub max: Option<IntegerExpr>,
    /// A divisor of every value.
    pub multiple: Option<IntegerExpr>,
    /// The span of the node.
    pub span: Range<usize>,
}

/// `memory-space vmem bytes="16 MiB" align=512 xla=1`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemorySpaceItem {
    /// The declared name.
    pub name: Identifier,
    /// The size in bytes.
    pub bytes: Option<IntegerExpr>,
    /// The alignment of base addresses in this space, in bytes.
    pub align: Option<IntegerExpr>,
    /// XLA's number of the space, the n of `S(n)`.
    pub xla: Option<IntegerLiteral>,
    /// The span of the node.
    pub span: Range<usize>,
}

/// `transform blocked block=16 { … }`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TransformItem {
    /// The declared name.
    pub name: Identifier,
    /// The parameters with their defaults.
    pub parameters: Vec<(Identifier, IntegerLiteral)>,
    /// The steps.
    pub steps: Vec<StepItem>,
    /// The span of the node.
    pub span: Range<usize>,
}

/// The order of packed elements in a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum NibbleOrder {
    /// The first element is in the high bits.
    HighFirst,
    /// The first element is in the low bits: the default.
    LowFirst,
}

/// `tensor input dtype=f32 { … }`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TensorItem {
    /// The declared name.
    pub name: Identifier,
    /// The element type as written. A tensor has a `dtype`, a `record` or a `like`, or a `like` with one of the others.
    pub dtype: Option<SpannedText>,
    /// The record type, in place of `dtype`.
    pub record: Option<RecordItem>,
    /// The tensor that provides the shape and element type that are not given here.
    pub like: Option<Identifier>,
    /// The shape; required without `like`.
    pub shape: Option<ShapeItem>,
    /// The layout; the default is row-major.
    pub layout: Option<LayoutItem>,
    /// The memory; the default is global.
    pub memory: Option<MemoryItem>,
    /// The partition over the devices of a mesh.
    pub shard: Option<ShardItem>,
    /// The ring buffer: the axis of which only some indices are in memory at a time.
    pub ring: Option<RingItem>,
    /// The conditions that the layout must meet.
    pub gates: Vec<GateItem>,
    /// The targets that it is generated for; all if absent.
    pub targets: Option<Vec<SpannedText>>,
    /// The order of packed elements.
    pub nibbles: Option<NibbleOrder>,
    /// The element type that pack reads and unpack writes, if different.
    pub pack_from: Option<PackFromItem>,
    /// The span of the node.
    pub span: Range<usize>,
}

impl TensorItem {
    /// A tensor with an element type, and nothing else.
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
    /// The element type as written.
    pub dtype: SpannedText,
    /// The conversion of values that are out of range for the element type.
    pub cast: Option<CastMode>,
}

/// The axis whose labels are the fields of a record, if all fields have one type.
pub const FIELD: &str = "field";

/// `dtype { x f32; y f32 }`, `dtype align=4 { d f16; q u4 32 }`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordItem {
    /// The fields, at least one, with distinct names.
    pub fields: Vec<FieldItem>,
    /// The alignment of the record in bytes; its size is rounded up to a multiple.
    pub align: Option<IntegerExpr>,
    /// The span of the node.
    pub span: Range<usize>,
}

/// `q u4 32 align=4`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldItem {
    /// The declared name.
    pub name: Identifier,
    /// The element type as written.
    pub dtype: SpannedText,
    /// Number of elements along each axis of the field; empty for one element.
    pub counts: Vec<IntegerExpr>,
    /// The alignment of the field's offset, in bytes.
    pub align: Option<IntegerExpr>,
    /// The span of the node.
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
    /// The axes, outermost first, with distinct names.
    pub axes: Vec<AxisItem>,
    /// The `where "j <= i"` conditions that select the indices that are elements; empty for all.
    pub conditions: Vec<SpannedText>,
    /// The span of the node.
    pub span: Range<usize>,
}

/// The node of a shape that states a condition; it cannot be the name of an axis.
pub const WHERE: &str = "where";

/// One axis of a shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AxisItem {
    /// The declared name.
    pub name: Identifier,
    /// The extent.
    pub extent: Extent,
}

/// The extent of an axis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Extent {
    /// A number of elements; an integer literal is not negative.
    Bound(IntegerExpr),
    /// One index for each label; the labels are distinct.
    Labels(Vec<Identifier>),
    /// One index for each field of the record: `field` without an extent.
    Fields,
}

/// `layout { … }`, or `layout nchw4c block=8`, which is one [`StepKind::Apply`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LayoutItem {
    /// The steps.
    pub steps: Vec<StepItem>,
    /// The span of the node.
    pub span: Range<usize>,
}

/// One step of a layout.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepItem {
    /// The operation with its arguments.
    pub kind: StepKind,
    /// The span of the node.
    pub span: Range<usize>,
    /// The name of the node.
    pub name_span: Range<usize>,
}

/// The operation of a step.
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

/// Unit of a swizzle's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the variants are the keywords of the manifest")]
pub enum SwizzleUnit {
    Bytes,
    Elements,
}

/// One entry of a tile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TileEntry {
    /// `*`, which merges its axis into the next more minor one; with its bytes in the file.
    Star(Range<usize>),
    /// The extent of the tile.
    Extent(IntegerExpr),
}

/// The fill value: written to padding by pack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FillItem {
    /// The value.
    pub value: FillLiteral,
    /// Its bytes in the file.
    pub span: Range<usize>,
}

/// A fill value as written.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum FillLiteral {
    /// An integer.
    Integer(i128),
    /// A number with a fraction or an exponent, or `#inf`, `#-inf`, `#nan`.
    Float(f64),
    /// `#true`, `#false`
    Bool(bool),
    /// `none`: padding is not written.
    Nothing,
}

/// The argument of a `padding` step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PaddingRule {
    /// Any padding is an error.
    Forbid,
    /// Padding without a reason needs no warning.
    Allow,
}

/// The position of an axis separator.
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
    /// The memory.
    pub kind: MemoryKind,
    /// The channel order of an image: `rgba`.
    pub format: Option<SpannedText>,
    /// The access mode of an image: `read`, `write` or `read-write`.
    pub access: Option<SpannedText>,
    /// The span of the node.
    pub span: Range<usize>,
}

/// The memory of a tensor as written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemoryKind {
    /// A keyword.
    Kind(Memory),
    /// A declared memory space.
    Space(Identifier),
}

/// Kind of memory of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Memory {
    /// Ordinary buffer.
    Global,
    /// Read-only buffer.
    Constant,
    /// Two-dimensional image (`image2d`, or `texture`).
    Image2d,
    /// Array of two-dimensional images.
    Image2dArray,
    /// Memory shared by the threads of a block.
    Shared,
    /// OpenCL local memory of a work-group.
    Local,
    /// No memory: constants and index functions only.
    None,
}

/// One condition of a `require` node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateItem {
    /// The condition.
    pub kind: GateKind,
    /// The words of the condition, without `require`.
    pub span: Range<usize>,
}

/// A condition on a layout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum GateKind {
    /// `bijective`: every slot has an element.
    Bijective,
    /// `padding-below=0.10`: upper bound of the fraction of bytes that are padding.
    PaddingBelow(Decimal),
    /// `bytes-below="64 MiB"`
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
