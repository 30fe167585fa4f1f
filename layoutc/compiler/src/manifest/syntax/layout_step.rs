//! Typed syntax of the steps of layouts and transforms.

use std::ops::Range;

use layoutc_algebra::notation::Notation;
use serde::{Deserialize, Serialize};

use super::{Identifier, IntegerExpr, IntegerLiteral, SpannedText};

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
    /// `order a ... c`: permutation of the axes, outermost first; `...` stands for all axes that are not named, in
    /// their current order.
    Order(Vec<SpannedText>),
    /// `split c by=4`: axis `c` becomes `c // 4` and `c % 4`. `by` has the extents of all new axes but the outermost,
    /// as in `split i into="io im ii" by="4 4"`. `into` has the names of the new axes, outermost first; empty if not
    /// given.
    Split { axis: Identifier, into: Vec<Identifier>, by: Vec<IntegerExpr> },
    /// `fuse h w as=hw`: adjacent axes become one, `h * extent(w) + w`. `into` is the name of the new axis; `None` if
    /// it is not given.
    Fuse { axes: Vec<Identifier>, into: Option<Identifier> },
    /// `tile 8 * 128 as="r_tile …"`: tile in XLA's sense. There is one entry for each of the last axes, outermost
    /// first. `names` are the names of the new axes, two for each entry that is an extent: first the axes of the grid
    /// of tiles, outermost first, then the axes within a tile, outermost first. Empty if not given.
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
    /// `fill 0`: value that pack writes to padding. `fill none`: pack does not write padding.
    Fill(FillItem),
    /// `padding forbid`: padding is an error. `padding allow`: padding gets no warning.
    Padding(PaddingRule),
    /// `axis-separators h 2`: ends a physical axis after each of these storage axes, given by name or position.
    Separators(Vec<SeparatorItem>),
    /// `swizzle 3 4 3 unit=bytes`: CuTe's `Swizzle<bits, base, shift>` of the offset, which counts bytes or elements.
    Swizzle { bits: IntegerLiteral, base: IntegerLiteral, shift: IntegerLiteral, unit: SwizzleUnit },
    /// `swizzle mode="128B"`: swizzle mode of NVIDIA's tensor memory accelerator (TMA); the number is the row width in
    /// bytes.
    SwizzleMode(IntegerLiteral),
    /// `swizzle auto access="load store"`: the swizzle or row padding with the fewest bank conflicts of the named accesses
    /// of the tensor; empty: all its accesses.
    SwizzleAuto(Vec<SpannedText>),
    /// `notation tvm="NCHW16c"`, or `layout tvm="NCHW16c"`: the layout that `text` denotes in the notation of another
    /// tool, here [`Notation::Tvm`]. `sizes` are the other properties of the node, such as `c16=16` for einops.
    Notation {
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
    /// `*`: merges the axis into the next axis, which varies faster. The member is the byte range of the `*` in the
    /// file.
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
