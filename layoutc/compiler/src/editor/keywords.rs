//! The words of the language as an editor tells of them: what stands where, what each is, and how it is written.

use crate::manifest::read::{FOREIGN, ITEMS, MEMORIES, NodeScope};
use crate::manifest::syntax::{ShapeRule, TypeRule};

/// A word with how it is written and what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeywordDoc {
    pub(super) name: &'static str,
    pub(super) usage: &'static str,
    pub(super) summary: &'static str,
}

macro_rules! words {
    ($($word:literal $usage:literal $says:literal)*) => {
        &[$(KeywordDoc { name: $word, usage: $usage, summary: $says }),*]
    };
}

pub(super) const TOP: &[KeywordDoc] = words! {
    "use" "use \"common.kdl\"" "transforms, kernels, consts, symbols, memory spaces and backends of another manifest"
    "const" "const LANES 4" "an integer, usable in every expression of the file"
    "symbol" "symbol batch min=1 max=4096 multiple=4" "an extent known only at run time; the facts feed the proofs"
    "memory-space" "memory-space vmem bytes=\"16 MiB\" align=512" "a memory of the project's own"
    "mesh" "mesh pod { x 2; y 4 }" "the devices that tensors are cut over, in a grid of named axes"
    "transform" "transform blocked block=16 { … }" "reusable steps, with parameters that have defaults"
    "tensor" "tensor input dtype=f32 { shape { n 16; c 4 } }" "a tensor: element type, axes and layout"
    "view" "view x4 of=input dtype=f32x4" "the memory of a tensor under other axes or in other elements"
    "convert" "convert input to=texture" "a relayout: the same logical tensor into another layout"
    "kernel" "kernel scale { compute \"b[i] = 2 * a[i]\" }" "compute on logical axes, whatever the layouts"
    "instance" "instance conv_blocked of=conv A=input W=filters B=output" "a kernel on tensors of the file"
    "backend" "backend opencl { … }" "the layouts that each operator of a device accepts"
    "graph" "graph block backend=opencl { … }" "operators and the tensors between them"
};

pub(super) const TENSOR: &[KeywordDoc] = words! {
    "shape" "shape { n 16; c 4 }" "the logical axes with their extents, outermost first"
    "layout" "layout nchw4c, layout { … }" "the steps from logical axes to storage axes; without one it is row-major"
    "memory" "memory texture" "the memory that it lives in; global where nothing is said"
    "nibbles" "nibbles high-first" "which end of a byte holds the first of its packed elements"
    "shard" "shard n=x c=y, shard pod" "what each device of a mesh holds: the axes that are cut, and by which axes of the mesh"
    "ring" "ring y=4" "the axis of which memory holds some neighbours at a time, and how many"
    "require" "require bijective padding-below=0.10" "what the layout must meet"
    "dtype" "dtype { d f16; q u4 32 }" "a record: fields of one type are the labels of an axis `field`, others one element"
    "map" "map \"(h, w) -> (0, h, w)\"" "the window of a view: one index for each axis of what it sees"
};

pub(super) const STEPS: &[KeywordDoc] = words! {
    "map" "map \"(n, c) -> (n, c // 4, c % 4)\"" "an index map from the current axes to the next"
    "apply" "apply nchw4c block=8" "the steps of a transform"
    "order" "order a b ..." "a permutation of the axes by name, major to minor"
    "split" "split c by=4" "an axis into quotient and remainder; the last block is padded"
    "fuse" "fuse h w as=hw" "adjacent axes into one"
    "tile" "tile 8 128" "XLA's tiles on the last axes; `*` merges an axis into the next"
    "pad" "pad c multiple=8, pad h before=1 after=1" "an axis rounded up, or a halo around it"
    "strides" "strides 1056 1" "strides of the axes in elements, major to minor"
    "swizzle" "swizzle 3 4 3 unit=bytes, swizzle mode=\"128B\"" "CuTe's swizzle on the offset inside the last physical axis"
    "align" "align 64, align h 64, align 64 at=origin" "the base address, or every step along an axis, in bytes"
    "fill" "fill 0, fill none" "the value that pack writes to padding"
    "padding" "padding forbid, padding allow" "padding is an error, or is not warned of"
    "axis-separators" "axis-separators h" "a separator after each named axis: where one physical axis ends"
    "notation" "notation tvm=\"NCHW16c\"" "a layout in the notation of another tool"
};

pub(super) const KERNEL: &[KeywordDoc] = words! {
    "operands" "operands A W B" "the names of its tensors; without them it names the file's own"
    "compute" "compute \"b[i] += a[i, k]\"" "a statement; axes only on the right are reduced"
    "range" "range r 3" "how far an axis counts that no tensor is indexed by alone"
    "acc" "acc f32" "the accumulator's type"
    "accumulate" "accumulate #true" "what the output held before counts"
    "local" "local T dtype=f32 { layout { … } }" "an intermediate with memory"
    "loops" "loops n h w k" "the order of the loops, outermost first"
    "split" "split w by=8" "a loop in two"
    "tile" "tile h w by=\"4 8\"" "loops in tiles"
    "unroll" "unroll r s" "loops written out"
    "vectorize" "vectorize k_inner" "a loop over the lanes of vectors"
    "parallel" "parallel n" "loops over threads"
    "cache" "cache A at=k_outer { layout { … }; memory shared }" "a block of a tensor copied near the compute"
};

pub(super) const CONVERT: &[KeywordDoc] = words! {
    "order" "order h n" "its loops, outermost first"
    "block" "block 32 64" "the block that is transposed"
    "inside" "inside blocks" "what is inside all loops: blocks, runs or elements"
    "stores" "stores streaming" "past the caches, or through them: streaming or cached"
    "fill" "fill first" "when padding is written: first or borders"
};

pub(super) const GRAPH: &[KeywordDoc] = words! {
    "input" "input x dtype=f32 layout=NHWC { shape { … } }" "a tensor that the graph is given"
    "constant" "constant w dtype=f32 { shape { … } }" "a tensor that is converted once at load"
    "node" "node c1 op=conv { in x w; out y dtype=f32 { shape { … } } }" "an operator"
    "output" "output z layout=NHWC" "a tensor that the graph gives"
    "keep" "keep y layout=NHWC" "a tensor that is never converted"
    "forbid" "forbid y layout=NCHW" "a layout that a tensor never has"
    "in" "in x w" "the tensors that are read, or their layouts"
    "out" "out y dtype=f32 { shape { … } }" "a tensor that is written, or its layout"
    "accepts" "accepts cost=100352 { in NHWC OHWI; out NHWC }" "layouts that are taken together, with their cost"
    "default-layout" "default-layout 4 NHWC" "the layout for a number of axes"
    "op" "op conv { … }" "what an operator accepts"
    "others" "others default=#true" "what operators accept that are not named"
};

const PROPERTIES: &[KeywordDoc] = words! {
    "dtype" "dtype=f32" "the element type"
    "like" "like=input" "the tensor, or the backend, that what is not said is taken from"
    "cast" "cast=saturate" "what becomes of values that the element type does not hold: round or saturate"
    "pack-from" "pack-from=f32" "the element type that pack takes and unpack gives"
    "targets" "targets=\"c opencl\"" "the targets that it is written for"
    "nibbles" "nibbles=high-first" "which end of a byte holds the first of its packed elements"
    "of" "of=input" "what it is a view, or an instance, of"
    "to" "to=texture" "the tensor that is written"
    "max-staging" "max-staging=\"64 MiB\"" "the most memory that copies may take where devices exchange parts"
    "min" "min=1" "the least value; 1 where nothing is said"
    "max" "max=4096" "the greatest value; 2^31 - 1 where nothing is said"
    "multiple" "multiple=4" "what divides the value"
    "bytes" "bytes=\"16 MiB\"" "its size in bytes"
    "align" "align=512" "what base addresses are a multiple of, in bytes"
    "by" "by=4" "the size of a block"
    "into" "into=\"io im ii\"" "the names of the new axes"
    "as" "as=hw" "the name of the new axis, or the names"
    "before" "before=1" "elements of padding before the axis"
    "after" "after=1" "elements of padding behind the axis"
    "unit" "unit=bytes" "what the numbers count: bytes or elements"
    "mode" "mode=\"128B\"" "the swizzle of TMA: 32B, 64B or 128B"
    "at" "at=origin" "of `align`: the first real element; of `cache`: the loop inside which a block is used"
    "double" "double=#true" "the next block is copied while one is used"
    "padding-below" "padding-below=0.10" "the most padding, as a share of the bytes"
    "bytes-below" "bytes-below=\"64 MiB\"" "the most bytes"
    "vector" "vector=4" "groups of so many elements can be read and written at once"
    "same-as" "same-as=other" "a tensor whose elements are at the same places"
    "backend" "backend=opencl" "what says which layouts operators accept"
    "op" "op=conv" "the operator"
    "layout" "layout=NHWC" "the layout, in Glow's letters or another notation"
    "cost" "cost=100352" "the cost, in bytes"
    "cost-per-byte" "cost-per-byte=0.5" "the cost for each byte of the results"
    "when" "when=\"R <= 3\"" "when the alternative is there at all"
    "elementwise" "elementwise=#true" "any layout, the same for all operands and results"
    "by-letter" "by-letter=#true" "any layout, the same for all, each the part for its axes"
    "any" "any=#true" "any layout, each its own"
    "default" "default=#true" "the default layouts"
    "transpose" "transpose=#true" "the operand with its axes in another order: the same memory, or a conversion"
    "shapes" "shapes=concat" "how the shapes of the results follow from those of the operands"
    "types" "types=any" "which element types are one"
    "verify" "verify=#false" "whether graphs are verified"
    "format" "format=rgba" "the channels of an image's texel"
    "access" "access=read" "how an image is accessed: read, write or read-write"
    "xla" "xla=\"{1,0:T(8,128)}\"" "XLA's notation"
    "tvm" "tvm=\"NCHW16c\"" "TVM's notation"
    "glow" "glow=\"N[a=32]HWC\"" "Glow's notation"
    "onednn" "onednn=\"aBcd16b\"" "oneDNN's notation"
    "cute" "cute=\"((4,2),8):((1,32),4)\"" "CuTe's notation"
    "mlir" "mlir=\"affine_map<(d0, d1) -> (d1, d0)>\"" "MLIR's affine map"
    "einops" "einops=\"b (c c16) h w -> b c h w c16\" c16=16" "the notation of einops"
    "numpy" "numpy=\"…\"" "strides as NumPy has them"
    "mdspan" "mdspan=\"layout_left\"" "the layouts of C++ mdspan"
    "triton" "triton=\"…\"" "Triton's linear layouts"
};

/// The nodes that may stand in a node of this name, inside a node `around`; at the top where it is `None`.
pub(super) fn nodes_in(node: Option<&str>, around: Option<&str>) -> &'static [&'static str] {
    let Some(node) = node else { return ITEMS };
    scope(node, around).map_or(&[], |scope| scope.words().0)
}

fn scope(node: &str, around: Option<&str>) -> Option<&'static NodeScope> {
    Some(match (node, around) {
        ("tensor", _) => &NodeScope::TENSOR,
        ("view", _) => &NodeScope::VIEW,
        ("convert", _) => &NodeScope::CONVERT,
        ("kernel", _) => &NodeScope::KERNEL,
        ("instance", _) => &NodeScope::INSTANCE,
        ("backend", _) => &NodeScope::BACKEND,
        ("graph", _) => &NodeScope::GRAPH,
        ("transform" | "layout", _) => &NodeScope::STEPS,
        ("op" | "others", _) => &NodeScope::OPERATOR,
        ("accepts", _) => &NodeScope::ACCEPTS,
        ("node", _) => &NodeScope::NODE,
        ("input" | "constant", _) | ("out", Some("node")) => &NodeScope::GRAPH_TENSOR,
        ("cache", _) => &NodeScope::CACHE,
        ("local", _) => &NodeScope::LOCAL,
        _ => return None,
    })
}

/// The properties of a node of this name inside a node `around`.
pub(super) fn properties_of(node: &str, around: Option<&str>) -> Vec<&'static str> {
    let own: &[&str] = match (node, around) {
        ("symbol", _) => &["min", "max", "multiple"],
        ("memory-space", _) => &["bytes", "align", "xla"],
        ("tensor", None) => {
            let own = NodeScope::TENSOR.words().1.iter().chain(&["xla"]);
            return own.copied().collect();
        }
        ("convert", _) => &["to", "cast", "max-staging"],
        ("layout" | "notation", _) => FOREIGN,
        ("split" | "tile", Some("kernel" | "instance")) => &["by"],
        ("split", _) => &["by", "into"],
        ("fuse" | "tile", _) => &["as"],
        ("pad", _) => &["multiple", "before", "after"],
        ("swizzle", _) => &["unit", "mode"],
        ("align", _) => &["at"],
        ("require", _) => &["padding-below", "bytes-below", "vector", "same-as"],
        ("dtype", Some("tensor")) => &["align"],
        ("memory", Some("tensor")) => &["format", "access"],
        ("output" | "keep" | "forbid", _) => &["layout"],
        _ => scope(node, around).map_or(&[], |scope| scope.words().1),
    };
    own.to_vec()
}

/// The words that may stand as an argument of a node, or as the value of its property `key`.
pub(super) fn values_of(node: &str, key: Option<&str>) -> Vec<&'static str> {
    match (node, key) {
        ("memory", None) => MEMORIES.iter().map(|row| row.0).collect(),
        ("padding", None) => vec!["forbid", "allow"],
        ("fill", None) => vec!["none", "first", "borders"],
        ("inside", None) => vec!["blocks", "runs", "elements"],
        ("stores", None) => vec!["streaming", "cached"],
        ("require", None) => vec!["bijective", "contiguous", "fits"],
        ("nibbles", None) | (_, Some("nibbles")) => vec!["high-first", "low-first"],
        (_, Some("cast")) => vec!["round", "saturate"],
        (_, Some("unit")) => vec!["bytes", "elements"],
        (_, Some("mode")) => vec!["32B", "64B", "128B"],
        ("align", Some("at")) => vec!["origin"],
        (_, Some("targets")) => vec!["c", "opencl", "cuda"],
        (_, Some("format")) => vec!["rgba"],
        (_, Some("access")) => vec!["read", "write", "read-write"],
        (_, Some("elementwise" | "by-letter" | "any" | "default" | "transpose" | "double")) => {
            vec!["#true"]
        }
        (_, Some("shapes")) => ShapeRule::WORDS.iter().map(|row| row.0).collect(),
        (_, Some("types")) => TypeRule::WORDS.iter().map(|row| row.0).collect(),
        (_, Some("verify")) => vec!["#false"],
        _ => Vec::new(),
    }
}

/// What a node of this name inside a node `around` is.
pub(super) fn node(name: &str, around: Option<&str>) -> Option<&'static KeywordDoc> {
    let table = match around {
        None => TOP,
        Some("tensor" | "view" | "input" | "constant" | "out" | "local" | "cache")
            if TENSOR.iter().any(|word| word.name == name) =>
        {
            TENSOR
        }
        Some("layout" | "transform") => STEPS,
        Some("kernel" | "instance") => KERNEL,
        Some("convert") => CONVERT,
        Some("graph" | "node" | "backend" | "op" | "others" | "accepts") => GRAPH,
        Some(_) => return None,
    };
    table.iter().find(|word| word.name == name)
}

/// What a property is.
pub(super) fn property(name: &str) -> Option<&'static KeywordDoc> {
    PROPERTIES.iter().find(|word| word.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_and_property_that_may_be_written_is_told_of() {
        let scopes = [
            (None, None),
            (Some("tensor"), None),
            (Some("view"), None),
            (Some("convert"), None),
            (Some("kernel"), None),
            (Some("instance"), None),
            (Some("backend"), None),
            (Some("graph"), None),
            (Some("layout"), Some("tensor")),
            (Some("op"), Some("backend")),
            (Some("accepts"), Some("op")),
            (Some("node"), Some("graph")),
            (Some("input"), Some("graph")),
            (Some("cache"), Some("kernel")),
            (Some("local"), Some("kernel")),
        ];
        for (name, around) in scopes {
            for word in nodes_in(name, around) {
                assert!(node(word, name).is_some(), "{word} in {name:?}");
                for key in properties_of(word, name) {
                    assert!(property(key).is_some(), "{key}= of {word}");
                }
            }
        }
    }
}
