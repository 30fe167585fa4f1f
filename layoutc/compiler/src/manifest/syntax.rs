//! Typed syntax of a manifest: every node of the language with its fields and spans. Nothing is resolved: names are not
//! looked up, expressions not parsed, extents not computed.

mod convert;
mod graph;
mod kernel;
mod mesh;
mod ring;

use std::ops::Range;
use std::sync::Arc;

use layoutc_algebra::notation::Notation;
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
    CacheItem, CacheMemory, CompleteSchedule, InstanceItem, KernelItem, LocalItem, ScheduleItem,
    ScheduleKind,
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
    /// Kinds and names of the items with errors, which the lists of items leave out. A reference to one of them gets no
    /// further diagnostic.
    pub broken: Vec<(ItemKind, String)>,
    /// True if part of the file could not be parsed, for example after an unclosed block. An undefined name may be
    /// declared there, and gets no further diagnostic.
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
    /// Parameters of the transform, each with its default value.
    pub parameters: Vec<(Identifier, IntegerLiteral)>,
    /// Layout steps that `apply NAME` inserts, in order of application.
    pub steps: Vec<StepItem>,
    /// Byte range of the `transform` node in the file.
    pub span: Range<usize>,
}

/// Order of elements that share a byte, such as two `i4`: `nibbles high-first`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum NibbleOrder {
    /// The first element is in the high bits of the byte.
    HighFirst,
    /// The first element is in the low bits of the byte: the default.
    LowFirst,
}

/// `tensor` item, which declares an element type, a shape and a layout: `tensor input dtype=f32 { … }`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TensorItem {
    /// Name that the tensor declares.
    pub name: Identifier,
    /// Element type as written; `None` if `record` or `like` gives it. A tensor has at least one of the three, and not
    /// both `dtype` and `record`.
    pub dtype: Option<SpannedText>,
    /// Record type of the elements, in place of `dtype`; `None` for a tensor without a record.
    pub record: Option<RecordItem>,
    /// Name of the tensor that provides the shape and element type that this item does not give; `None` if there is
    /// none.
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
    /// Conditions of the `require` nodes, such as `require bijective`, which the layout must meet.
    pub gates: Vec<GateItem>,
    /// Names of the targets for which the tensor is generated; `None`: all targets.
    pub targets: Option<Vec<SpannedText>>,
    /// Order of elements that share a byte; `None`: the first element is in the low bits.
    pub nibbles: Option<NibbleOrder>,
    /// Element type of the row-major array that pack reads and unpack writes; `None` if it is the type in memory.
    pub pack_from: Option<PackFromItem>,
    /// Byte range of the `tensor` node in the file.
    pub span: Range<usize>,
}

impl TensorItem {
    /// Tensor with a name, an element type and a span; all other fields are `None` or empty.
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

/// Properties of a tensor that make pack and unpack convert elements: `pack-from=f32 cast=saturate`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackFromItem {
    /// Element type of the array that pack reads and unpack writes, as written.
    pub dtype: SpannedText,
    /// Treatment of values that are out of range for the destination's element type; `None`: [`CastMode::Round`].
    pub cast: Option<CastMode>,
}

/// Name of the axis whose indices are the fields of a record, if all fields have one type.
pub const FIELD: &str = "field";

/// Record type of a tensor's elements: `dtype { x f32; y f32 }`, `dtype align=4 { d f16; q u4 32 }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordItem {
    /// Fields of the record, at least one, with distinct names.
    pub fields: Vec<FieldItem>,
    /// Minimum alignment of the record in bytes; `None`: 1. The alignment is the greatest of `align` and those of the
    /// fields, and the record's size is rounded up to a multiple of the alignment.
    pub align: Option<IntegerExpr>,
    /// Byte range of the record in the file.
    pub span: Range<usize>,
}

/// Field of a record: `q u4 32 align=4` is 32 elements of type `u4`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldItem {
    /// Name that the field declares.
    pub name: Identifier,
    /// Element type of the field, as written.
    pub dtype: SpannedText,
    /// Number of elements along each axis of the field, outermost first; empty for one element.
    pub counts: Vec<IntegerExpr>,
    /// Alignment of the field's offset, in bytes; `None`: the field follows the previous one at the next byte.
    pub align: Option<IntegerExpr>,
    /// Byte range of the field's node in the file.
    pub span: Range<usize>,
}

impl RecordItem {
    /// True if the fields are the labels of an axis: all have one type, and neither the record nor a field has counts
    /// or an alignment. Otherwise all fields together form one element.
    pub fn is_axis(&self) -> bool {
        let first = self.fields.first().map(|field| &field.dtype.value);
        let is_plain = |field: &FieldItem| {
            field.counts.is_empty() && field.align.is_none() && Some(&field.dtype.value) == first
        };
        self.align.is_none() && self.fields.iter().all(is_plain)
    }
}

/// Shape of a tensor or view, which names the logical axes: `shape { n batch; h 64 }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShapeItem {
    /// Axes of the shape, outermost first, with distinct names.
    pub axes: Vec<AxisItem>,
    /// Conditions, from nodes such as `where "j <= i"`, that select the indices that are elements; empty if all are.
    pub conditions: Vec<SpannedText>,
    /// Byte range of the `shape` node in the file.
    pub span: Range<usize>,
}

/// Name of the node that states a condition in a shape, `where "j <= i"`; an axis cannot have this name.
pub const WHERE: &str = "where";

/// Axis of a shape with its extent: `n 16`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AxisItem {
    /// Name that the axis declares.
    pub name: Identifier,
    /// Extent of the axis: a number, labels, or the fields of a record.
    pub extent: Extent,
}

/// Extent of an axis: a number, a list of labels, or the fields of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Extent {
    /// Number of elements along the axis: `n 16`, `n "2 * k"`. An integer literal is not negative.
    Bound(IntegerExpr),
    /// Labels of the indices, one index for each label: `part { x; y; z }`. The labels are distinct.
    Labels(Vec<Identifier>),
    /// Fields of the tensor's record, one index for each field: the axis `field` without an extent.
    Fields,
}

/// Layout of a tensor, view, intermediate or cache: `layout { … }`, or `layout nchw4c block=8`, which is one
/// [`StepKind::Apply`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LayoutItem {
    /// Steps of the layout, in order of application; empty: row-major.
    pub steps: Vec<StepItem>,
    /// Byte range of the `layout` node in the file.
    pub span: Range<usize>,
}

/// Step of a layout, such as `split c by=4`, with its location.
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
    /// `map "(n, c) -> (n, c // 4, c % 4)"`: index map from the current axes to the next ones.
    Map(SpannedText),
    /// `apply blocked block=8`: steps of the transform `name`, with values for its parameters.
    Apply { name: Identifier, arguments: Vec<(Identifier, IntegerExpr)> },
    /// `order a ... c`: permutation of the axes, outermost first; `...` stands for the axes that are not named.
    Order(Vec<SpannedText>),
    /// `split c by=4`: axis `c` becomes `c // 4` and `c % 4`. `split i into="io im ii" by="4 4"`: extents of all new
    /// axes but the outermost; `into` has the names of the new axes, outermost first, and is empty if absent.
    Split { axis: Identifier, into: Vec<Identifier>, by: Vec<IntegerExpr> },
    /// `fuse h w as=hw`: adjacent axes become one, `h * extent(w) + w`; `into` is the new name, `None` if absent.
    Fuse { axes: Vec<Identifier>, into: Option<Identifier> },
    /// `tile 8 * 128 as="r_tile …"`: XLA tile of as many of the last axes as there are `entries`, outermost first.
    /// `names` are the names of the new axes, two for each entry that is an extent: first the axes of the grid of
    /// tiles, then the axes within a tile, each outermost first. Empty if absent.
    Tile { entries: Vec<TileEntry>, names: Vec<Identifier> },
    /// `pad c multiple=8`: rounds the extent of an axis up to a multiple.
    PadMultiple { axis: Identifier, multiple: IntegerExpr },
    /// `pad h before=1 after=1`: adds padding before index 0 and after the last index, in elements; at least one of the
    /// two is present.
    PadBeforeAfter { axis: Identifier, before: Option<IntegerExpr>, after: Option<IntegerExpr> },
    /// `strides 1056 1`: stride of each axis, outermost first, in elements.
    Strides(Vec<IntegerExpr>),
    /// `align 64`: alignment of the base address, in bytes.
    AlignBase(IntegerExpr),
    /// `align h 64`: rounds the stride of an axis up to a multiple of `bytes`.
    AlignAxis { axis: Identifier, bytes: IntegerExpr },
    /// `align 64 at=origin`: alignment of the first element that is not padding, in bytes.
    AlignOrigin(IntegerExpr),
    /// `fill 0`, `fill none`: value that pack writes to padding.
    Fill(FillItem),
    /// `padding forbid`, `padding allow`: whether padding is an error or gets no warning.
    Padding(PaddingRule),
    /// `axis-separators h 2`: ends a physical axis after each of these storage axes, given by name or position.
    Separators(Vec<SeparatorItem>),
    /// `swizzle 3 4 3 unit=bytes`: CuTe's `Swizzle<bits, base, shift>` of the offset, which counts bytes or elements.
    Swizzle { bits: IntegerLiteral, base: IntegerLiteral, shift: IntegerLiteral, unit: SwizzleUnit },
    /// `swizzle mode="128B"`: swizzle mode of NVIDIA's tensor memory accelerator (TMA); the number is the row width in
    /// bytes.
    SwizzleMode(IntegerLiteral),
    /// `notation tvm="NCHW16c"`, or `layout tvm="NCHW16c"`: layout `text` in the notation of another tool, here
    /// [`Notation::Tvm`]. `sizes` are the further properties, such as `c16=16` for einops.
    Foreign {
        #[serde(with = "notation_word")]
        notation: Notation,
        text: SpannedText,
        sizes: Vec<(Identifier, IntegerLiteral)>,
    },
}

/// Serialization of a notation as its keyword, such as `tvm`.
mod notation_word {
    use layoutc_algebra::notation::Notation;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
    pub(super) fn serialize<S: Serializer>(
        notation: &Notation,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(notation.word())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Notation, D::Error> {
        let word = String::deserialize(deserializer)?;
        Notation::of(&word).ok_or_else(|| D::Error::custom(format!("unknown notation `{word}`")))
    }
}

/// Unit of the offset whose bits a swizzle combines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the variants are the keywords of the manifest")]
pub enum SwizzleUnit {
    Bytes,
    Elements,
}

/// Entry of a `tile` step for one axis: an extent or `*`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TileEntry {
    /// `*`, which merges an axis into the next more minor one; holds the byte range of the `*` in the file.
    Star(Range<usize>),
    /// Extent of the tile along its axis.
    Extent(IntegerExpr),
}

/// Value of a `fill` step, which pack (the copy of a row-major array into the layout) writes to padding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FillItem {
    /// Value as written.
    pub value: FillLiteral,
    /// Byte range of the value in the file.
    pub span: Range<usize>,
}

/// Fill value as the manifest gives it, before conversion to the element type.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum FillLiteral {
    /// Integer, such as 0 or -1.
    Integer(i128),
    /// A number with a fraction or an exponent, or `#inf`, `#-inf`, `#nan`.
    Float(f64),
    /// Boolean, `#true` or `#false`.
    Bool(bool),
    /// `none`: pack does not write padding.
    Nothing,
}

/// Argument of a `padding` step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PaddingRule {
    /// `forbid`: any padding is an error.
    Forbid,
    /// `allow`: padding gets no warning, whatever its amount and origin.
    Allow,
}

/// Position of an axis separator, which ends a physical axis, among the storage axes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum SeparatorItem {
    /// After the storage axis of this name.
    Name(Identifier),
    /// After the storage axis at this position, from 0.
    Position(IntegerLiteral),
}

/// Memory of a tensor: `memory shared`, `memory image2d format=rgba access=read`.
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

/// Name of a memory as written: a built-in keyword or a declared memory space.
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
    /// `global`: ordinary buffer in global memory.
    Global,
    /// `constant`: read-only buffer in constant memory.
    Constant,
    /// `image2d` or `texture`: two-dimensional image.
    Image2d,
    /// `image2d-array`: array of two-dimensional images.
    Image2dArray,
    /// `shared`: CUDA shared memory of a thread block.
    Shared,
    /// `local`: OpenCL local memory of a work-group.
    Local,
    /// `none`: no memory; only constants and index functions are generated.
    None,
}

/// Condition of a `require` node, such as `bijective`, with its location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateItem {
    /// Condition with its bound or axis.
    pub kind: GateKind,
    /// Byte range in the file of the condition's words, without `require`.
    pub span: Range<usize>,
}

/// Condition that a `require` node states and the tensor's layout must meet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum GateKind {
    /// `bijective`: every position of the buffer holds an element, that is, there is no padding.
    Bijective,
    /// `padding-below=0.10`: exclusive upper bound of the fraction of the buffer that is padding.
    PaddingBelow(Decimal),
    /// `bytes-below="64 MiB"`: exclusive upper bound of the buffer's size in bytes.
    BytesBelow(IntegerExpr),
    /// `contiguous c`: consecutive indices along an axis are adjacent in memory.
    Contiguous(Identifier),
    /// `vector=4`: aligned vector loads and stores of this number of elements are possible.
    Vector(IntegerExpr),
    /// `fits`: the tensor is no larger than its memory space.
    Fits,
    /// `same-as=other`: both tensors store every element at the same offset.
    SameAs(Identifier),
}
