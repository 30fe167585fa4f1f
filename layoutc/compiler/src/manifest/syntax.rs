//! A manifest as typed syntax: every node of the language with its parts and their places. Nothing is resolved: a name
//! is not looked up, an expression is not parsed, an extent is not computed.

mod convert;
mod graph;
mod kernel;
mod mesh;
mod ring;

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::cast::CastMode;

pub use convert::{ConvertItem, ConvertScheduleItem, ConvertScheduleKind, ViewItem};
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

/// A text of the user's, mostly an expression. Byte `k` of `value` is byte `span.start + k` of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpannedText {
    /// The text.
    pub value: String,
    /// Its bytes in the file, quotes excluded.
    pub span: Range<usize>,
    /// Whether it stands in quotes.
    pub quoted: bool,
}

/// A name: `[A-Za-z_][A-Za-z0-9_]*`, at most 128 characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identifier {
    /// The name.
    pub value: String,
    /// Its bytes in the file, quotes excluded.
    pub span: Range<usize>,
}

/// An integer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntegerLiteral {
    /// Its value.
    pub value: i128,
    /// Its bytes in the file.
    pub span: Range<usize>,
}

/// An integer that may be written as an expression of consts, symbols and parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum IntegerExpr {
    /// An integer.
    Integer(IntegerLiteral),
    /// A name, or an expression in quotes.
    Text(SpannedText),
}

impl IntegerExpr {
    /// Its bytes in the file, quotes excluded.
    pub fn span(&self) -> Range<usize> {
        match self {
            Self::Integer(number) => number.span.clone(),
            Self::Text(text) => text.span.clone(),
        }
    }
}

/// What an item declares.
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
    /// `tensor`, or `view`: their names are one list
    Tensor,
    /// `kernel`
    Kernel,
    /// `instance`
    Instance,
    /// `backend`
    Backend,
    /// `graph`
    Graph,
    /// `use`: the name is the path
    Use,
}

/// A manifest's items, each kind in the order of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ManifestSyntax {
    /// The path as given; not kept with the rest, so that a text means the same wherever it stands.
    #[serde(skip)]
    pub file: Arc<str>,
    /// The manifests whose items it uses.
    pub uses: Vec<UseItem>,
    /// Its constants.
    pub consts: Vec<ConstItem>,
    /// Its run-time extents.
    pub symbols: Vec<SymbolItem>,
    /// Its memories.
    pub memory_spaces: Vec<MemorySpaceItem>,
    /// Its meshes of devices.
    pub meshes: Vec<MeshItem>,
    /// Its reusable pipelines.
    pub transforms: Vec<TransformItem>,
    /// Its tensors.
    pub tensors: Vec<TensorItem>,
    /// Its views.
    pub views: Vec<ViewItem>,
    /// Its conversions.
    pub converts: Vec<ConvertItem>,
    /// Its kernels.
    pub kernels: Vec<KernelItem>,
    /// Its instances of kernels, its own and those of manifests that it uses.
    pub instances: Vec<InstanceItem>,
    /// What devices accept.
    pub backends: Vec<BackendItem>,
    /// Its graphs of operators.
    pub graphs: Vec<GraphItem>,
    /// What had errors and is left out above: a reference to one of these needs no further diagnostic.
    pub broken: Vec<(ItemKind, String)>,
    /// Whether part of the file could not be read at all: a name that is not found here may stand there, and needs no
    /// further diagnostic.
    pub torn: bool,
}

/// `use "common.kdl"`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UseItem {
    /// The path as written.
    pub path: SpannedText,
    /// The node.
    pub span: Range<usize>,
}

/// `const LANES 4`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConstItem {
    /// The name.
    pub name: Identifier,
    /// The value, of integers and earlier consts.
    pub value: IntegerExpr,
}

/// `symbol batch min=1 max=4096 multiple=4`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SymbolItem {
    /// The name.
    pub name: Identifier,
    /// The least value.
    pub min: Option<IntegerExpr>,
    /// The greatest value.
    pub max: Option<IntegerExpr>,
    /// What divides every value.
    pub multiple: Option<IntegerExpr>,
    /// The node.
    pub span: Range<usize>,
}

/// `memory-space vmem bytes="16 MiB" align=512 xla=1`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemorySpaceItem {
    /// The name.
    pub name: Identifier,
    /// How many bytes it has.
    pub bytes: Option<IntegerExpr>,
    /// What the base address of a tensor in it is a multiple of, in bytes.
    pub align: Option<IntegerExpr>,
    /// The number that XLA has for it: `S(1)`.
    pub xla: Option<IntegerLiteral>,
    /// The node.
    pub span: Range<usize>,
}

/// `transform blocked block=16 { … }`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TransformItem {
    /// The name.
    pub name: Identifier,
    /// The parameters with their defaults.
    pub parameters: Vec<(Identifier, IntegerLiteral)>,
    /// The steps.
    pub steps: Vec<StepItem>,
    /// The node.
    pub span: Range<usize>,
}

/// Which end of a byte holds the first of its packed elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum NibbleOrder {
    /// The first element is in the high bits.
    HighFirst,
    /// The first element is in the low bits: the default.
    LowFirst,
}

/// `tensor input dtype=f32 { … }`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TensorItem {
    /// The name.
    pub name: Identifier,
    /// The element type as written. There is one, or a record, or a `like`, or one of both and a `like`.
    pub dtype: Option<SpannedText>,
    /// The record that stands in its place.
    pub record: Option<RecordItem>,
    /// The tensor whose shape and element type it takes.
    pub like: Option<Identifier>,
    /// The shape. There is one, or a `like`, or both.
    pub shape: Option<ShapeItem>,
    /// The layout; without one it is row-major.
    pub layout: Option<LayoutItem>,
    /// The memory; without it, it is global.
    pub memory: Option<MemoryItem>,
    /// What each device holds of it.
    pub shard: Option<ShardItem>,
    /// The axis of which memory holds some indices at a time.
    pub ring: Option<RingItem>,
    /// What the layout must meet.
    pub gates: Vec<GateItem>,
    /// The targets that it is restricted to.
    pub targets: Option<Vec<SpannedText>>,
    /// The order of packed elements.
    pub nibbles: Option<NibbleOrder>,
    /// The element type on the logical side of pack and unpack, where it is another.
    pub pack_from: Option<PackFromItem>,
    /// The node.
    pub span: Range<usize>,
}

/// `pack-from=f32 cast=saturate`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackFromItem {
    /// The element type as written.
    pub dtype: SpannedText,
    /// What becomes of values that the tensor's element type does not hold.
    pub cast: Option<CastMode>,
}

/// The axis that the fields of a record of one type are the labels of.
pub const FIELD: &str = "field";

/// `dtype { x f32; y f32 }`, `dtype align=4 { d f16; q u4 32 }`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordItem {
    /// The fields, in their order; one at least, and their names differ.
    pub fields: Vec<FieldItem>,
    /// The alignment of the whole record: its size is a multiple of it, in bytes.
    pub align: Option<IntegerExpr>,
    /// The node.
    pub span: Range<usize>,
}

/// `q u4 32 align=4`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldItem {
    /// The name.
    pub name: Identifier,
    /// The element type as written.
    pub dtype: SpannedText,
    /// How many elements there are along each axis of the field; one element where there are none.
    pub counts: Vec<IntegerExpr>,
    /// The multiple of bytes that it begins at.
    pub align: Option<IntegerExpr>,
    /// The node.
    pub span: Range<usize>,
}

impl RecordItem {
    /// Whether the fields are the labels of an axis: they have one type, and neither counts nor alignments. Other fields
    /// are one element together.
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
    /// The axes, outermost first; their names differ.
    pub axes: Vec<AxisItem>,
    /// `where "j <= i"`: which indices are elements; all where there is none.
    pub conditions: Vec<SpannedText>,
    /// The node.
    pub span: Range<usize>,
}

/// The node of a shape that says which indices are elements; no axis is called so.
pub const WHERE: &str = "where";

/// One axis of a shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AxisItem {
    /// The name.
    pub name: Identifier,
    /// The extent.
    pub extent: Extent,
}

/// How long an axis is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Extent {
    /// So many elements; an integer here is not negative.
    Bound(IntegerExpr),
    /// As many as there are labels; they differ.
    Labels(Vec<Identifier>),
    /// As many as the record has fields: nothing stands behind `field`.
    Fields,
}

/// `layout { … }`, or `layout nchw4c block=8`, which is one [`StepKind::Apply`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LayoutItem {
    /// The steps.
    pub steps: Vec<StepItem>,
    /// The node.
    pub span: Range<usize>,
}

/// One step of a layout.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepItem {
    /// What it does.
    pub kind: StepKind,
    /// The node.
    pub span: Range<usize>,
    /// The name of the node.
    pub name_span: Range<usize>,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are the words of the manifest")]
pub enum StepKind {
    /// `map "(n, c) -> …"`
    Map(SpannedText),
    /// `apply blocked block=8`
    Apply { name: Identifier, arguments: Vec<(Identifier, IntegerExpr)> },
    /// `order a ... c`: names of axes, or `...`
    Order(Vec<SpannedText>),
    /// `split c by=4`, `split i into="io im ii" by="4 4"`; `into` is empty where it is not written
    Split { axis: Identifier, into: Vec<Identifier>, by: Vec<IntegerExpr> },
    /// `fuse h w as=hw`
    Fuse { axes: Vec<Identifier>, into: Option<Identifier> },
    /// `tile 8 * 128 as="r_tile …"`; `names` is empty where it is not written
    Tile { entries: Vec<TileEntry>, names: Vec<Identifier> },
    /// `pad c multiple=8`
    PadMultiple { axis: Identifier, multiple: IntegerExpr },
    /// `pad h before=1 after=1`: one of the two at least
    PadBeforeAfter { axis: Identifier, before: Option<IntegerExpr>, after: Option<IntegerExpr> },
    /// `strides 1056 1`, in elements
    Strides(Vec<IntegerExpr>),
    /// `align 64`: the base address, in bytes
    AlignBase(IntegerExpr),
    /// `align h 64`: every step along an axis
    AlignAxis { axis: Identifier, bytes: IntegerExpr },
    /// `align 64 at=origin`: the first real element
    AlignOrigin(IntegerExpr),
    /// `fill 0`, `fill none`
    Fill(FillItem),
    /// `padding forbid`, `padding allow`
    Padding(PaddingRule),
    /// `axis-separators h 2`
    Separators(Vec<SeparatorItem>),
    /// `swizzle 3 4 3 unit=bytes`: bits, base and shift of CuTe's swizzle
    Swizzle { bits: IntegerLiteral, base: IntegerLiteral, shift: IntegerLiteral, unit: SwizzleUnit },
    /// `swizzle mode="128B"`: a swizzle of the tensor memory accelerator, by the bytes of its widest row
    SwizzleMode(IntegerLiteral),
    /// `notation tvm="NCHW16c"`, or the same behind `layout`; `sizes` are the sizes beside the text, by name
    Foreign { notation: String, text: SpannedText, sizes: Vec<(Identifier, IntegerLiteral)> },
}

/// What a swizzle's numbers count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the variants are the words of the manifest")]
pub enum SwizzleUnit {
    Bytes,
    Elements,
}

/// One entry of a tile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TileEntry {
    /// `*`: merges its axis into the next more minor one. Its bytes in the file.
    Star(Range<usize>),
    /// The extent of the tile.
    Extent(IntegerExpr),
}

/// What pack writes to padding.
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
    /// `none`: padding keeps what it holds.
    Nothing,
}

/// What is said of padding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PaddingRule {
    /// Any padding is an error.
    Forbid,
    /// Padding without a reason needs no warning.
    Allow,
}

/// Where a separator stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum SeparatorItem {
    /// After the storage axis of this name.
    Name(Identifier),
    /// After the storage axis at this position, counted from 0; not negative.
    Position(IntegerLiteral),
}

/// `memory image2d format=rgba access=read`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryItem {
    /// The memory.
    pub kind: MemoryKind,
    /// The channels of an image's texel: `rgba`.
    pub format: Option<SpannedText>,
    /// How an image is accessed: `read`, `write` or `read-write`.
    pub access: Option<SpannedText>,
    /// The node.
    pub span: Range<usize>,
}

/// The kinds of memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the variants are the words of the manifest")]
pub enum MemoryKind {
    Global,
    Constant,
    /// `image2d`, or `texture`
    Image2d,
    Image2dArray,
    Shared,
    Local,
    None,
    /// A memory of the project's own, by name
    Space(Identifier),
}

/// One condition of a `require` node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateItem {
    /// The condition.
    pub kind: GateKind,
    /// Its words, without `require`.
    pub span: Range<usize>,
}

/// The conditions that a layout may have to meet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum GateKind {
    /// `bijective`: no slot without an element.
    Bijective,
    /// `padding-below=0.10`: a share of the bytes.
    PaddingBelow(Fraction),
    /// `bytes-below="64 MiB"`
    BytesBelow(IntegerExpr),
    /// `contiguous c`: neighbours along an axis are neighbours in memory.
    Contiguous(Identifier),
    /// `vector=4`: groups of so many elements can be read and written at once.
    Vector(IntegerExpr),
    /// `fits`: the tensor is no larger than its memory space.
    Fits,
    /// `same-as=other`: the layouts of two tensors put every element at the same place.
    SameAs(Identifier),
}

/// A share, exact: `digits / 10^places`, above 0 and at most 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fraction {
    /// The digits without the point.
    pub digits: i128,
    /// How many of them stand behind the point, at most 18.
    pub places: u32,
}
