"""Families of operators for random models: each function adds one or several operators to a graph, or none."""

import numpy as np
from onnx import TensorProto

FLOAT = TensorProto.FLOAT

# The most elements of a tensor.
MOST = 1500


def has(least, most=9):
    return lambda shape: least <= len(shape) <= most


def transpose(g):
    x = g.pick(has(2))
    if not x:
        return
    rank = len(g.shape(x))
    perm = g.rng.sample(range(rank), rank)
    y = g.op("Transpose", [x], perm=g.maybe(perm, 0.9))
    if g.rng.random() < 0.3 and y:
        # Another one behind it, often the one that goes back.
        again = g.rng.choice([[perm.index(k) for k in range(rank)], g.rng.sample(range(rank), rank)])
        z = y if g.rng.random() < 0.5 else unary(g, y)
        g.op("Transpose", [z or y], perm=again)


def unary(g, x=None):
    x = x or g.pick()
    op = g.rng.choice(["Relu", "Neg", "Abs", "Sigmoid", "Tanh", "LeakyRelu", "Elu", "HardSigmoid", "Clip", "Identity", "Dropout"])
    if op == "Clip":
        low = g.constant(np.float32(-0.5)) if g.rng.random() < 0.7 else ""
        high = g.constant(np.float32(0.75)) if g.rng.random() < 0.7 else ""
        if g.rng.random() < 0.3:
            scalars = [name for name in g.floats if g.shape(name) == []]
            high = g.rng.choice(scalars) if scalars else high
        return g.op("Clip", [x, low, high])
    alpha = g.maybe(0.3) if op in ("LeakyRelu", "Elu", "HardSigmoid") else None
    return g.op(op, [x], alpha=alpha)


def binary(g):
    x = g.pick()
    op = g.rng.choice(["Add", "Sub", "Mul", "Max", "Min", "Sum"])
    shape = g.shape(x)
    fits = lambda other: broadcasts(shape, other)
    kind = g.rng.random()
    if kind < 0.4:
        other = g.pick(fits)
    elif kind < 0.6 and (shared := [name for name in g.shared if fits(g.shape(name))]):
        other = g.rng.choice(shared)
    else:
        other = g.weight(g.part(shape))
        g.shared.append(other)
    reads = [x, other]
    g.rng.shuffle(reads)
    g.op(op, reads)


def broadcasts(a, b):
    try:
        return np.prod(np.broadcast_shapes(tuple(a), tuple(b))) <= MOST
    except ValueError:
        return False


def square(g):
    """A tensor and its own transpose together."""
    x = g.pick(lambda shape: len(shape) >= 2 and len(set(shape)) < len(shape))
    if not x:
        return
    shape = g.shape(x)
    a, b = next((a, b) for a in range(len(shape)) for b in range(a) if shape[a] == shape[b])
    perm = list(range(len(shape)))
    perm[a], perm[b] = b, a
    y = g.op("Transpose", [x], perm=perm)
    if y:
        g.op(g.rng.choice(["Add", "Mul"]), [x, y])


def where(g):
    x = g.pick()
    z = g.weight(g.part(g.shape(x)))
    cond = g.op(g.rng.choice(["Greater", "Less"]), [x, g.weight(g.part(g.shape(x)))])
    if cond:
        g.op("Where", [cond, x, z])


def reduce(g):
    x = g.pick(has(1))
    if not x:
        return
    ops = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp", "ReduceProd"]
    op = g.rng.choice(ops)
    axes = g.maybe(g.axes(len(g.shape(x))), 0.85)
    keep = g.rng.choice([None, 0, 1])
    since = 13 if op == "ReduceSum" else 18
    if g.opset >= since:
        noop = g.maybe(1, 0.2) if axes is None else None
        g.op(op, [x] + ([g.integers(axes)] if axes else []), keepdims=keep, noop_with_empty_axes=noop)
    else:
        g.op(op, [x], axes=axes, keepdims=keep)


def arg(g):
    x = g.pick(has(1))
    if not x:
        return
    last = g.maybe(1, 0.3) if g.opset >= 12 else None
    y = g.op(
        g.rng.choice(["ArgMax", "ArgMin"]), [x], axis=g.maybe(g.axis(len(g.shape(x))), 0.8), keepdims=g.rng.choice([None, 0, 1]),
        select_last_index=last,
    )
    if y:
        g.op("Cast", [y], to=FLOAT)


def squeeze(g):
    x = g.pick()
    shape = g.shape(x)
    ones = [k for k, extent in enumerate(shape) if extent == 1]
    new = g.opset >= 13
    if ones and g.rng.random() < 0.6:
        axes = g.maybe(g.rng.sample(ones, g.rng.randint(1, len(ones))), 0.8)
        reads = [x] + ([g.integers(axes)] if new and axes else [])
        g.op("Squeeze", reads, axes=None if new else axes)
    else:
        rank = len(shape) + g.rng.randint(1, 2)
        axes = g.rng.sample(range(rank), rank - len(shape))
        # Before version 13 the reference puts them in one after the other.
        axes = [axis - rank if g.rng.random() < 0.3 else axis for axis in axes] if new else sorted(axes)
        g.op("Unsqueeze", [x, g.integers(axes)] if new else [x], axes=None if new else axes)


def softmax(g):
    x = g.pick(has(1))
    if not x:
        return
    axis = g.maybe(g.axis(len(g.shape(x))), 0.8)
    if g.opset < 13:
        # Before version 13 all axes from this one on are one, which the reference does not know.
        axis = -1
    g.op(g.rng.choice(["Softmax", "LogSoftmax", "Hardmax"]), [x], axis=axis)


def concat(g):
    x = g.pick(has(1))
    if not x:
        return
    axis = g.axis(len(g.shape(x)))
    shape = g.shape(x)
    fits = lambda other: len(other) == len(shape) and all(
        a == b or k == axis % len(shape) for k, (a, b) in enumerate(zip(shape, other))
    )
    reads = [x, g.pick(fits)]
    if g.rng.random() < 0.4:
        other = list(shape)
        other[axis] = g.rng.randint(1, 3)
        reads.append(g.weight(other))
    g.rng.shuffle(reads)
    g.op("Concat", reads, axis=axis)


def split(g):
    x = g.pick(lambda shape: any(extent > 1 for extent in shape))
    if not x:
        return
    shape = g.shape(x)
    axis = g.rng.choice([k for k, extent in enumerate(shape) if extent > 1])
    first = g.rng.randint(1, shape[axis] - 1)
    sizes = [first, shape[axis] - first]
    said = axis if axis or g.rng.random() < 0.5 else None
    if g.opset >= 13:
        g.op("Split", [x, g.integers(sizes)], 2, axis=said)
    else:
        g.op("Split", [x], 2, axis=said, split=sizes)


def cut(g):
    x = g.pick(has(1))
    if not x:
        return
    shape = g.shape(x)
    axes = g.axes(len(shape))
    starts, ends, steps = [], [], []
    for axis in axes:
        size = shape[axis]
        if g.rng.random() < 0.3:
            starts.append(g.rng.choice([-1, size, size - 1]))
            ends.append(g.rng.choice([-(2**62), -size - 1]))
            steps.append(g.rng.choice([-1, -2]))
        else:
            starts.append(g.rng.choice([0, -size, min(1, size - 1)]))
            ends.append(g.rng.choice([size, 2**62, max(1, size - 1)]))
            steps.append(g.rng.choice([1, 1, 2]))
    reads = [x, g.integers(starts), g.integers(ends)]
    if g.rng.random() < 0.8:
        reads.append(g.integers(axes))
        if any(step != 1 for step in steps) or g.rng.random() < 0.3:
            reads.append(g.integers(steps))
    g.op("Slice", reads)


def pad(g):
    x = g.pick(has(1, 4))
    if not x:
        return
    rank = len(g.shape(x))
    mode = g.rng.choice([None, "constant", "reflect", "edge"])
    if mode == "reflect" and min(g.shape(x)) < 3:
        mode = "edge"
    axes = g.axes(rank) if g.opset >= 18 and g.rng.random() < 0.5 else None
    count = len(axes) if axes else rank
    reads = [x, g.integers([g.rng.randint(0, 2) for _ in range(2 * count)])]
    reads.append(g.constant(np.float32(0.5)) if mode in (None, "constant") and g.rng.random() < 0.5 else "")
    if axes:
        reads.append(g.integers(axes))
    while reads[-1] == "":
        reads.pop()
    g.op("Pad", reads, mode=mode)


def tile(g):
    x = g.pick(has(1, 5))
    if x:
        g.op("Tile", [x, g.integers([g.rng.randint(1, 2) for _ in g.shape(x)])])


def expand(g):
    x = g.pick(has(0, 5))
    shape = [g.rng.randint(1, 3) if extent == 1 else g.rng.choice([extent, 1]) for extent in g.shape(x)]
    more = [g.rng.randint(1, 3)] if g.rng.random() < 0.5 else []
    g.op("Expand", [x, g.integers(more + shape)])


def reshape(g):
    x = g.pick(has(1))
    if not x:
        return
    shape = g.shape(x)
    kind = g.rng.random()
    if kind < 0.3:
        g.op("Flatten", [x], axis=g.maybe(g.rng.randint(0, len(shape)), 0.7))
    elif kind < 0.6 and len(shape) >= 2:
        k = g.rng.randrange(len(shape) - 1)
        g.op("Reshape", [x, g.integers(shape[:k] + [shape[k] * shape[k + 1]] + shape[k + 2 :])])
    else:
        # As exporters do it: a shape that is worked out.
        own = g.op("Shape", [x])
        first = g.op("Gather", [own, g.integers([0])], axis=0) if own else None
        whole = g.op("Concat", [first, g.integers([-1])], axis=0) if first else None
        if whole:
            g.op("Reshape", [x, whole])


def product(g):
    x = g.pick(has(2))
    if not x:
        return
    shape = g.shape(x)
    if len(shape) == 2 and g.rng.random() < 0.5:
        a, b = g.rng.choice([0, 1]), g.rng.choice([0, 1])
        inner, n = (shape[0] if a else shape[1]), g.rng.randint(1, 4)
        reads = [x, g.weight([n, inner] if b else [inner, n])]
        if g.rng.random() < 0.6:
            reads.append(g.weight(g.part([shape[1] if a else shape[0], n])))
        g.op("Gemm", reads, transA=a or None, transB=b or None, alpha=g.maybe(0.5), beta=g.maybe(2.0))
    elif g.rng.random() < 0.3 and len(shape) >= 2:
        turned = list(range(len(shape) - 2)) + [len(shape) - 1, len(shape) - 2]
        y = g.op("Transpose", [x], perm=turned)
        if y:
            g.op("MatMul", [x, y])
    else:
        g.op("MatMul", [x, g.weight([shape[-1], g.rng.randint(1, 4)])])


def gather(g):
    x = g.pick(has(1, 4))
    if not x:
        return
    shape = g.shape(x)
    axis = g.axis(len(shape))
    kind = g.rng.random()
    if kind < 0.5:
        index = [g.rng.randrange(shape[axis]) for _ in range(2)]
        g.op("Gather", [x, g.integers(g.rng.choice([index, index[0], [index]]))], axis=g.maybe(axis, 0.8) if axis else None)
        return
    size = list(shape)
    size[axis] = g.rng.randint(1, shape[axis])
    index = np.argsort(g.draw.random([size[k] if k != axis % len(shape) else shape[axis] for k in range(len(shape))]), axis)
    index = np.take(index, range(size[axis]), axis).astype(np.int64)
    if kind < 0.8:
        g.op("GatherElements", [x, g.constant(index)], axis=axis)
    else:
        reduction = g.maybe("add") if g.opset >= 16 else None
        g.op("ScatterElements", [x, g.constant(index), g.weight(size)], axis=axis, reduction=reduction)


def norm(g):
    x = g.pick(has(2, 5))
    if not x:
        return
    shape = g.shape(x)
    channels = shape[1]
    kinds = ["lp", "lrn"] + (["instance"] if len(shape) >= 3 else []) + (["mean"] if len(shape) == 4 else [])
    kind = g.rng.choice(kinds + (["layer"] if g.opset >= 17 else []))
    # Before version 14 the reference trains.
    kind = "batch" if g.opset >= 14 and g.rng.random() < 0.4 else kind
    if kind == "batch":
        reads = [x, *(g.weight([channels]) for _ in range(3)), g.constant(g.draw.random(channels).astype(np.float32) + 0.5)]
        g.op("BatchNormalization", reads, epsilon=g.maybe(1e-3))
    elif kind == "instance":
        g.op("InstanceNormalization", [x, g.weight([channels]), g.weight([channels])], epsilon=g.maybe(1e-2))
    elif kind == "layer":
        axis = g.axis(len(shape))
        reads = [x, g.weight(shape[axis:])] + ([g.weight(shape[axis:])] if g.rng.random() < 0.6 else [])
        g.op("LayerNormalization", reads, axis=None if axis == -1 else axis)
    elif kind == "lp":
        g.op("LpNormalization", [x], axis=g.maybe(g.axis(len(shape))))
    elif kind == "lrn" and len(shape) == 4:
        g.op("LRN", [x], size=3, bias=g.maybe(2.0))
    elif kind == "mean":
        g.op("MeanVarianceNormalization", [x], axes=g.maybe(g.axes(4)))


def along(g):
    x = g.pick(has(1, 5))
    if not x:
        return
    rank = len(g.shape(x))
    axis = g.axis(rank)
    if g.rng.random() < 0.5:
        g.op("CumSum", [x, g.constant(np.array(axis, np.int64))], exclusive=g.maybe(1, 0.3), reverse=g.maybe(1, 0.3))
    else:
        k = g.rng.randint(1, g.shape(x)[axis])
        g.op("TopK", [x, g.integers([k])], 2, axis=g.maybe(axis, 0.8) if axis != -1 else None, largest=g.maybe(0, 0.3))


def resize(g):
    x = g.pick(has(1, 4))
    if not x:
        return
    shape = g.shape(x)
    mode = g.rng.choice([None, "nearest", "linear"])
    axes = None
    if g.opset >= 18 and g.rng.random() < 0.4:
        axes = g.rng.sample(range(len(shape)), g.rng.randint(1, len(shape)))
    count = len(axes) if axes else len(shape)
    if g.rng.random() < 0.5:
        scales = g.constant(np.array([g.rng.choice([1.0, 2.0]) for _ in range(count)], np.float32))
        reads = [x, "", scales] if g.opset >= 13 else [x, g.constant(np.array([], np.float32)), scales]
    else:
        sizes = g.integers([g.rng.randint(1, 5) for _ in range(count)])
        empty = np.array([], np.float32)
        reads = [x, "", "", sizes] if g.opset >= 13 else [x, g.constant(empty), g.constant(empty), sizes]
    g.op("Resize", reads, mode=mode, axes=axes, coordinate_transformation_mode=g.maybe("asymmetric"))


def window(g):
    x = g.pick(lambda shape: len(shape) in (3, 4) and min(shape[2:]) >= 2)
    if not x:
        return
    shape = g.shape(x)
    space, channels = len(shape) - 2, shape[1]
    kind = g.rng.random()
    if kind < 0.2 and space == 2:
        g.op(g.rng.choice(["GlobalAveragePool", "GlobalMaxPool"]), [x])
    elif kind < 0.45:
        op = g.rng.choice(["MaxPool", "AveragePool"])
        pads = g.maybe([1] * (2 * space), 0.3)
        # With both, what the reference gives has another size if strides of 1 are said.
        ceil = None if pads else g.maybe(1, 0.2)
        g.op(op, [x], kernel_shape=[2] * space, strides=g.maybe([2] * space), pads=pads, ceil_mode=ceil)
    elif kind < 0.9:
        group = g.rng.choice([one for one in (1, 1, 2, channels) if channels % one == 0])
        filters = group * g.rng.randint(1, 2)
        reads = [x, g.weight([filters, channels // group] + [2] * space)] + ([g.weight([filters])] if g.rng.random() < 0.5 else [])
        auto = g.maybe("SAME_UPPER", 0.15)
        pads = None if auto else g.maybe([1] * (2 * space))
        g.op("Conv", reads, group=group if group > 1 else None, pads=pads, auto_pad=auto, strides=g.maybe([1] * space, 0.3))
    else:
        g.op("ConvTranspose", [x, g.weight([channels, 2] + [2] * space)], strides=g.maybe([2] * space))


def image(g):
    """A shape of four axes out of any other, so that windows have something to read."""
    x = g.pick(lambda shape: np.prod(shape) >= 8 and np.prod(shape) % 4 == 0)
    if x:
        size = int(np.prod(g.shape(x)))
        g.op("Reshape", [x, g.integers([1, size // 4, 2, 2] if g.rng.random() < 0.5 else [1, 2, 2, size // 4])])


def quantized(g):
    x = g.pick(has(1))
    if not x or g.opset < 13:
        return
    shape = g.shape(x)
    axis = g.axis(len(shape))
    per_axis = g.rng.random() < 0.6
    size = [shape[axis]] if per_axis else []
    scale = g.constant((g.draw.random(size) * 0.1 + 0.01).astype(np.float32))
    zero = g.constant(np.full(size, 128, np.uint8))
    axis = axis if per_axis else None
    y = g.op("QuantizeLinear", [x, scale, zero], axis=axis)
    if y:
        g.op("DequantizeLinear", [y, scale, zero], axis=axis)


def slope(g):
    x = g.pick(has(1))
    if x:
        g.op("PRelu", [x, g.weight(g.part(g.shape(x)))])


def folded(g):
    """Constants that the importer works out, or that it cannot."""
    x = g.pick(has(2))
    if not x:
        return
    shape = g.shape(x)
    w = g.op("Transpose", [g.weight(shape[::-1])])
    if w and g.rng.random() < 0.5:
        w = g.op("Add", [w, g.weight([1])])
    if w:
        g.op("Mul", [x, w])


FAMILIES = [
    (transpose, 9), (unary, 3), (binary, 6), (square, 2), (where, 1), (reduce, 4), (arg, 1), (squeeze, 3), (softmax, 2), (concat, 3),
    (split, 1), (cut, 2), (pad, 2), (tile, 1), (expand, 1), (reshape, 2), (product, 2), (gather, 2), (norm, 3), (along, 1),
    (resize, 1), (window, 3), (image, 1), (quantized, 1), (slope, 1), (folded, 1),
]
