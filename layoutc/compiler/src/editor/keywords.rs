//! Keywords of the language for hover and completion: the nodes and properties allowed in each node, with their usage
//! and a one-line summary.

use crate::machine::VectorIsa;
use crate::manifest::read::{ITEMS, MEMORIES, NOTATION_WORDS, NodeScope};
use crate::manifest::syntax::{ShapeRule, TypeRule};

/// Documentation of a keyword: its name, an example of its use, and a one-line summary.
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
    "use" "use \"common.kdl\"" "imports the transforms, kernels, consts, symbols, memory spaces, meshes and backends of another manifest"
    "const" "const LANES 4" "a named integer, usable in every expression of the file"
    "symbol" "symbol batch min=1 max=4096 multiple=4" "an extent known only at run time; its bounds and divisor are used in proofs"
    "memory-space" "memory-space vmem bytes=\"16 MiB\" align=512" "a custom memory space with its size and alignment"
    "mesh" "mesh pod { x 2; y 4 }" "a grid of devices with named axes, over which tensors are sharded"
    "transform" "transform blocked block=16 { … }" "reusable layout steps, parametrized with defaults"
    "tensor" "tensor input dtype=f32 { shape { n 16; c 4 } }" "a tensor: element type, shape and layout"
    "view" "view x4 of=input dtype=f32x4" "a tensor's memory with other axes or another element type"
    "convert" "convert input to=texture" "a relayout: converts a tensor to the layout of another"
    "kernel" "kernel scale { compute \"b[i] = 2 * a[i]\" }" "a computation on logical axes, independent of the layouts"
    "instance" "instance conv_blocked of=conv A=input W=filters B=output" "a kernel applied to tensors of the file"
    "backend" "backend opencl { … }" "the layouts that each operator accepts on a device"
    "graph" "graph block backend=opencl { … }" "a graph of operators and tensors"
};

pub(super) const TENSOR: &[KeywordDoc] = words! {
    "shape" "shape { n 16; c 4 }" "the logical axes and their extents, outermost first"
    "layout" "layout nchw4c, layout { … }" "the steps from logical to storage axes; the default is row-major"
    "memory" "memory texture" "the memory space of the tensor; the default is `global`"
    "nibbles" "nibbles high-first" "the order of packed elements in a byte"
    "shard" "shard n=x c=y, shard pod" "partitions tensor axes over mesh axes; a mesh alone replicates the tensor"
    "ring" "ring y=4" "a ring buffer along an axis: the number of its indices in memory at a time"
    "access" "access load from=\"(lane) -> (lane // 8, lane % 8 * 8)\" vector=8" "how the lanes of a warp access the tensor"
    "require" "require bijective padding-below=0.10" "conditions that the layout must meet"
    "dtype" "dtype { d f16; q u4 32 }" "a record type: fields of one type become an axis `field`, mixed fields one element"
    "map" "map \"(h, w) -> (0, h, w)\"" "the index map of a view, into the axes of its base"
};

pub(super) const STEPS: &[KeywordDoc] = words! {
    "map" "map \"(n, c) -> (n, c // 4, c % 4)\"" "an index map from the current axes to the next"
    "apply" "apply nchw4c block=8" "applies the steps of a transform"
    "order" "order a b ..." "permutes the axes by name, major to minor"
    "split" "split c by=4" "splits an axis into quotient and remainder; a partial last block is padded"
    "fuse" "fuse h w as=hw" "fuses adjacent axes into one"
    "tile" "tile 8 128" "XLA tiling of the last axes; `*` merges an axis into the next"
    "pad" "pad c multiple=8, pad h before=1 after=1" "rounds an extent up, or adds padding (a halo) before and after"
    "strides" "strides 1056 1" "the strides of the axes in elements, major to minor"
    "swizzle" "swizzle 3 4 3 unit=bytes, swizzle mode=\"128B\", swizzle auto" "a CuTe swizzle of the offset within the last physical axis"
    "align" "align 64, align h 64, align 64 at=origin" "aligns the base address, or each index along an axis, in bytes"
    "fill" "fill 0, fill none" "the value that pack writes to padding"
    "padding" "padding forbid, padding allow" "makes padding an error, or suppresses the warning about it"
    "axis-separators" "axis-separators h" "axis separators: ends a physical axis after each named axis"
    "notation" "notation tvm=\"NCHW16c\"" "a layout in the notation of another tool"
};

pub(super) const KERNEL: &[KeywordDoc] = words! {
    "operands" "operands A W B" "the parameters of the kernel; without them it names tensors of the file"
    "compute" "compute \"b[i] += a[i, k]\"" "a statement; axes that occur only on the right are reduced"
    "range" "range r 3" "the extent of an axis that does not index a tensor alone"
    "acc" "acc f32" "the accumulator type"
    "accumulate" "accumulate #true" "accumulates into the previous values of the output"
    "local" "local T dtype=f32 at=i" "an intermediate tensor with its own storage"
    "loops" "loops n h w k" "the loop order, outermost first"
    "split" "split w by=8" "splits a loop into an outer and an inner loop"
    "fuse" "fuse h w as=hw" "fuses two loops into one"
    "tile" "tile h w by=\"4 8\"" "tiles loops"
    "unroll" "unroll r s" "unrolls loops"
    "vectorize" "vectorize k_inner" "vectorizes a loop"
    "parallel" "parallel n" "parallelizes loops over threads"
    "cache" "cache A at=k_outer { layout { … }; memory shared }" "stages a tile of a tensor in a buffer inside a loop"
    "schedule" "schedule machine=avx512 { loops i j k }" "the complete schedule of a statement on CPUs, as `inspect --plan` prints it"
    "partial-sums" "partial-sums k_inner" "gives each iteration of a reduced loop accumulators of its own"
    "split-k" "split-k k_outer" "makes the outermost loop one over chunks of the reduction"
};

pub(super) const CONVERT: &[KeywordDoc] = words! {
    "order" "order h n" "the loop order, outermost first"
    "block" "block 32 64" "the tile sizes of the transpose"
    "inside" "inside blocks" "the innermost kernel: transpose tiles, contiguous runs or elements"
    "stores" "stores streaming" "streaming (non-temporal) or cached stores"
    "fill" "fill first" "how padding is filled: the whole destination first, or only the padding region"
};

pub(super) const GRAPH: &[KeywordDoc] = words! {
    "input" "input x dtype=f32 layout=NHWC { shape { … } }" "an input tensor of the graph"
    "constant" "constant w dtype=f32 { shape { … } }" "a constant tensor, converted once at load time"
    "node" "node c1 op=conv { in x w; out y dtype=f32 { shape { … } } }" "an operator"
    "output" "output z layout=NHWC" "an output tensor of the graph"
    "keep" "keep y layout=NHWC" "pins a tensor: it is never converted"
    "forbid" "forbid y layout=NCHW" "forbids a layout for a tensor"
    "in" "in x w" "the input tensors, or their layouts"
    "out" "out y dtype=f32 { shape { … } }" "an output tensor, or its layout"
    "accepts" "accepts cost=100352 { in NHWC OHWI; out NHWC }" "one accepted combination of layouts, with its cost"
    "default-layout" "default-layout 4 NHWC" "the default layout for a rank"
    "op" "op conv { … }" "the layouts that an operator accepts"
    "others" "others default=#true" "the rule for operators that are not listed"
};

const PROPERTIES: &[KeywordDoc] = words! {
    "dtype" "dtype=f32" "the element type"
    "like" "like=input" "the tensor or backend whose properties are the defaults"
    "cast" "cast=saturate" "the conversion of values out of range: round or saturate"
    "pack-from" "pack-from=f32" "the element type that pack reads and unpack writes"
    "targets" "targets=\"c opencl\"" "the targets that the tensor is generated for"
    "nibbles" "nibbles=high-first" "the order of packed elements in a byte"
    "of" "of=input" "the base tensor of a view, or the kernel of an instance"
    "to" "to=texture" "the destination tensor"
    "max-staging" "max-staging=\"64 MiB\"" "the maximum size of staging buffers when devices exchange shards"
    "min" "min=1" "the minimum value; the default is 1"
    "max" "max=4096" "the maximum value; the default is 2^31 - 1"
    "multiple" "multiple=4" "a divisor of the value, or of the padded extent"
    "bytes" "bytes=\"16 MiB\"" "the size in bytes"
    "align" "align=512" "the alignment in bytes"
    "by" "by=4" "the block size"
    "into" "into=\"io im ii\"" "the names of the new axes"
    "as" "as=hw" "the name or names of the new axes"
    "before" "before=1" "elements of padding before the axis"
    "after" "after=1" "elements of padding after the axis"
    "unit" "unit=bytes" "the unit of the numbers: bytes or elements"
    "mode" "mode=\"128B\"" "the TMA swizzle mode: 32B, 64B or 128B"
    "at" "at=origin" "for `align`, the first element that is not padding; for `cache`, the loop whose iterations use the tile; for `local`, the loop that computes it"
    "machine" "machine=avx512" "the vector instructions that a schedule is for: avx512 or avx2"
    "statement" "statement=2" "the number of the statement, from 1"
    "double" "double=#true" "double buffering: copies the next tile while the current one is used"
    "from" "from=\"(lane) -> (lane // 8, lane % 8 * 8)\"" "the element of each lane: a map from the lane, and from iterations such as `k : 4`"
    "along" "along=k" "the axis along which a lane accesses a vector; the default is the last"
    "direction" "direction=write" "the direction of an access: read or write"
    "gpu" "gpu=amd" "the memory system of an access: nvidia or amd"
    "padding-below" "padding-below=0.10" "the maximum padding, as a fraction of the bytes"
    "bytes-below" "bytes-below=\"64 MiB\"" "the maximum number of bytes"
    "vector" "vector=4" "aligned vector loads and stores of this many elements are possible"
    "same-as" "same-as=other" "a tensor that must have the same element offsets"
    "backend" "backend=opencl" "the backend, which lists the layouts that operators accept"
    "op" "op=conv" "the operator"
    "layout" "layout=NHWC" "the layout, in Glow's axis letters or another notation"
    "cost" "cost=100352" "the cost, in bytes"
    "cost-per-byte" "cost-per-byte=0.5" "the cost per byte of the results"
    "when" "when=\"R <= 3\"" "the condition under which the alternative applies"
    "elementwise" "elementwise=#true" "any layout, the same one for all operands and results"
    "by-letter" "by-letter=#true" "any layout, the same one for all; a tensor of lower rank takes the part for its axes"
    "any" "any=#true" "any layout, chosen for each tensor separately"
    "default" "default=#true" "the default layout for the rank"
    "transpose" "transpose=#true" "a transposition of the operand: the same memory or a conversion"
    "shapes" "shapes=concat" "the shape inference rule"
    "types" "types=any" "the element types that must be equal"
    "verify" "verify=#false" "whether graphs are verified; `#false` disables it"
    "format" "format=rgba" "the channels of an image's texel"
    "access" "access=read, access=\"load store\"" "for `memory`, how an image is accessed: read, write or read-write; for gates and `swizzle auto`, the names of accesses"
    "xla" "xla=\"{1,0:T(8,128)}\"" "a layout in XLA's notation"
    "tvm" "tvm=\"NCHW16c\"" "a layout in TVM's notation"
    "glow" "glow=\"N[a=32]HWC\"" "a layout in Glow's notation"
    "onednn" "onednn=\"aBcd16b\"" "a oneDNN format tag"
    "cute" "cute=\"((4,2),8):((1,32),4)\"" "a CuTe layout"
    "mlir" "mlir=\"affine_map<(d0, d1) -> (d1, d0)>\"" "an MLIR affine map"
    "einops" "einops=\"b (c c16) h w -> b c h w c16\" c16=16" "an einops pattern"
    "numpy" "numpy=\"…\"" "NumPy strides, in bytes"
    "mdspan" "mdspan=\"layout_left\"" "a C++ mdspan layout"
    "triton" "triton=\"…\"" "a Triton linear layout"
};

/// Names of the nodes that may occur in the block of a node called `node`; empty if `node` has no block, or one whose
/// nodes have arbitrary names, such as `shape`. `around` is the name of the node in whose block `node` occurs, `None`
/// at the top level. Without `node`, the keywords of top-level items.
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
        ("schedule", _) => &NodeScope::SCHEDULE,
        ("local", _) => &NodeScope::LOCAL,
        _ => return None,
    })
}

/// Fixed keys of the properties that a node called `node` may have; empty if there are none. `around` is the name of
/// the node in whose block `node` occurs, `None` at the top level.
pub(super) fn properties_of(node: &str, around: Option<&str>) -> Vec<&'static str> {
    let own: &[&str] = match (node, around) {
        ("symbol", _) => &["min", "max", "multiple"],
        ("memory-space", _) => &["bytes", "align", "xla"],
        ("tensor", None) => {
            let own = NodeScope::TENSOR.words().1.iter().chain(&["xla"]);
            return own.copied().collect();
        }
        ("convert", _) => &["to", "cast", "max-staging"],
        ("layout" | "notation", _) => &NOTATION_WORDS,
        ("split" | "tile", Some("kernel" | "instance" | "schedule")) => &["by"],
        ("split", _) => &["by", "into"],
        ("fuse" | "tile", _) => &["as"],
        ("pad", _) => &["multiple", "before", "after"],
        ("swizzle", _) => &["unit", "mode", "access"],
        ("access", Some("tensor")) => &["from", "vector", "along", "direction", "gpu"],
        ("align", _) => &["at"],
        ("require", _) => &["access", "padding-below", "bytes-below", "vector", "same-as"],
        ("dtype", Some("tensor")) => &["align"],
        ("memory", Some("tensor")) => &["format", "access"],
        ("output" | "keep" | "forbid", _) => &["layout"],
        _ => scope(node, around).map_or(&[], |scope| scope.words().1),
    };
    own.to_vec()
}

/// Keywords that may be arguments of a node called `node`; with `key`, the keywords that may be values of its property
/// `key`. Empty if there are none.
pub(super) fn values_of(node: &str, key: Option<&str>) -> Vec<&'static str> {
    match (node, key) {
        ("memory", None) => MEMORIES.iter().map(|row| row.0).collect(),
        ("padding", None) => vec!["forbid", "allow"],
        ("fill", None) => vec!["none", "first", "borders"],
        ("inside", None) => vec!["blocks", "runs", "elements"],
        ("stores", None) => vec!["streaming", "cached"],
        ("require", None) => vec!["bijective", "conflict-free", "coalesced", "contiguous", "fits"],
        ("swizzle", None) => vec!["auto"],
        (_, Some("direction")) => vec!["read", "write"],
        (_, Some("gpu")) => vec!["nvidia", "amd"],
        (_, Some("machine")) => VectorIsa::NAMES.iter().map(|row| row.0).collect(),
        ("nibbles", None) | (_, Some("nibbles")) => vec!["high-first", "low-first"],
        (_, Some("cast")) => vec!["round", "saturate"],
        (_, Some("unit")) => vec!["bytes", "elements"],
        (_, Some("mode")) => vec!["32B", "64B", "128B"],
        ("align", Some("at")) => vec!["origin"],
        (_, Some("targets")) => vec!["c", "opencl", "cuda", "hip", "rust"],
        (_, Some("format")) => vec!["rgba"],
        ("memory", Some("access")) => vec!["read", "write", "read-write"],
        (_, Some("elementwise" | "by-letter" | "any" | "default" | "transpose" | "double")) => {
            vec!["#true"]
        }
        (_, Some("shapes")) => ShapeRule::WORDS.iter().map(|row| row.0).collect(),
        (_, Some("types")) => TypeRule::WORDS.iter().map(|row| row.0).collect(),
        (_, Some("verify")) => vec!["#false"],
        _ => Vec::new(),
    }
}

/// Documentation of a node called `name`; `None` if no such node is known there. `around` is the name of the node in
/// whose block it occurs, `None` at the top level.
pub(super) fn node(name: &str, around: Option<&str>) -> Option<&'static KeywordDoc> {
    let table = match around {
        None => TOP,
        Some("tensor" | "view" | "input" | "constant" | "out" | "local" | "cache")
            if TENSOR.iter().any(|word| word.name == name) =>
        {
            TENSOR
        }
        Some("layout" | "transform") => STEPS,
        Some("kernel" | "instance" | "schedule") => KERNEL,
        Some("convert") => CONVERT,
        Some("graph" | "node" | "backend" | "op" | "others" | "accepts") => GRAPH,
        Some(_) => return None,
    };
    table.iter().find(|word| word.name == name)
}

/// Documentation of the property with the key `name`, on any node; `None` for an unknown key.
pub(super) fn property(name: &str) -> Option<&'static KeywordDoc> {
    PROPERTIES.iter().find(|word| word.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_and_property_is_documented() {
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
            (Some("schedule"), Some("kernel")),
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
