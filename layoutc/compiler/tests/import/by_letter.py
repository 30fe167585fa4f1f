"""Operators on elements alone, or with axes named by letters: computed in a random order of the axes."""

import numpy as np
from onnx import helper

from manifest import Tensor
from positional import integers, single

UNARY = {
    "Relu": lambda x, p: np.maximum(x, 0),
    "Neg": lambda x, p: -x,
    "Abs": lambda x, p: np.abs(x),
    "Sigmoid": lambda x, p: 1 / (1 + np.exp(-x)),
    "Tanh": lambda x, p: np.tanh(x),
    "LeakyRelu": lambda x, p: np.where(x < 0, p["alpha"] * x, x),
    "Elu": lambda x, p: np.where(x < 0, p["alpha"] * (np.exp(np.minimum(x, 0)) - 1), x),
    "HardSigmoid": lambda x, p: np.clip(p["alpha"] * x + p["beta"], 0, 1),
    "Identity": lambda x, p: x,
    "Dropout": lambda x, p: x,
    "Floor": lambda x, p: np.floor(x),
}
BINARY = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Max": np.maximum, "Min": np.minimum, "Sum": np.add,
    "Greater": np.greater, "Less": np.less,
}
REDUCE = {
    "ReduceSum": np.sum, "ReduceMean": np.mean, "ReduceMax": np.max, "ReduceMin": np.min, "ReduceProd": np.prod,
    "ReduceL1": lambda x, **k: np.sum(np.abs(x), **k),
    "ReduceL2": lambda x, **k: np.sqrt(np.sum(x * x, **k)),
    "ReduceSumSquare": lambda x, **k: np.sum(x * x, **k),
    "ReduceLogSumExp": lambda x, **k: np.log(np.sum(np.exp(x), **k)),
    "ReduceLogSum": lambda x, **k: np.log(np.sum(x, **k)),
}
ALONG_RESULT = ("Concat", "Unsqueeze", "Expand")


class ByLetter:
    """A node with its operands, in an order of the axes that is drawn at random."""

    def __init__(self, node, operands, manifest, rng):
        self.node, self.manifest = node, manifest
        self.out = node.outs[0]
        whole = manifest.axes[self.out] if self.takes_result() else operands[0].axes
        self.axes = list(whole)
        rng.shuffle(self.axes)
        self.operands = operands

    def takes_result(self):
        return self.node.op in ALONG_RESULT or self.node.op in BINARY or self.node.op == "Where"

    def at(self, letters):
        return tuple(self.axes.index(letter) for letter in letters)

    def over(self):
        return self.at(self.node.list("axes"))

    def axis(self):
        return self.at([self.node.props["axis"]])[0]

    def aligned(self, k):
        """An operand with an axis for each of the whole, one element long where it has none."""
        own = self.operands[k]
        strange = [axis for axis in own.axes if axis not in self.axes]
        assert not strange, (self.node.name, strange)
        kept = [axis for axis in self.axes if axis in own.axes]
        array = own.ordered(kept)
        return array.reshape([array.shape[kept.index(axis)] if axis in kept else 1 for axis in self.axes])

    def vector(self, k, letters=None):
        """A vector along the axis of the node, or what lies along the last of several."""
        own = self.operands[k].array
        letters = [self.node.props["axis"]] if letters is None else letters[len(letters) - own.ndim :]
        if own.ndim == 0:
            return own
        if own.ndim == 1 and own.shape[0] == 1 and letters and letters[0] not in self.axes:
            return own.reshape([1] * len(self.axes))
        kept = [axis for axis in self.axes if axis in letters]
        array = own.transpose([letters.index(axis) for axis in kept])
        return array.reshape([array.shape[kept.index(axis)] if axis in kept else 1 for axis in self.axes])

    def result(self, array, k=0):
        """With the axes that the manifest says of the result; axes that are gone are one element long."""
        wanted = self.manifest.axes[self.node.outs[k]]
        gone = tuple(k for k, axis in enumerate(self.axes) if axis not in wanted)
        kept = [axis for axis in self.axes if axis in wanted]
        return Tensor(np.squeeze(array, gone), kept)


def softmax(x, axes):
    e = np.exp(x - x.max(axis=axes, keepdims=True))
    return e / e.sum(axis=axes, keepdims=True)


def normalized(x, axes, epsilon):
    mean = x.mean(axis=axes, keepdims=True)
    return (x - mean) / np.sqrt(((x - mean) ** 2).mean(axis=axes, keepdims=True) + epsilon)


def by_letter(s):
    node, p = s.node, s.node.props
    op = node.op
    x = None if op in ALONG_RESULT else s.aligned(0)
    if op in UNARY:
        return [s.result(UNARY[op](x, p))]
    if op in BINARY:
        y = x
        for k in range(1, len(s.operands)):
            y = BINARY[op](y, s.aligned(k))
        return [s.result(np.broadcast_to(y, spread_to(s, y)))]
    if op == "Where":
        return [s.result(np.where(x, s.aligned(1), s.aligned(2)))]
    if op == "Clip":
        slots = node.list("operands") or list(range(len(s.operands)))
        bounds = {"min": p.get("min", -np.inf), "max": p.get("max", np.inf)}
        for k, slot in enumerate(slots):
            if slot > 0:
                bounds[["min", "max"][slot - 1]] = s.operands[k].array
        return [s.result(np.minimum(np.maximum(x, bounds["min"]), bounds["max"]).astype(x.dtype))]
    if op == "PRelu":
        return [s.result(np.where(x < 0, x * s.aligned(1), x))]
    if op == "Cast":
        return [s.result(x.astype(helper.tensor_dtype_to_np_dtype(p["to"])))]
    if op in ("QuantizeLinear", "DequantizeLinear"):
        scale, zero = s.vector(1), s.vector(2) if len(s.operands) > 2 else np.uint8(0)
        if op == "DequantizeLinear":
            return [s.result((x.astype(np.int32) - zero.astype(np.int32)).astype(np.float32) * scale)]
        info = np.iinfo(zero.dtype)
        y = np.clip(np.rint(x / scale) + zero.astype(np.float32), info.min, info.max)
        return [s.result(y.astype(zero.dtype))]
    if op in REDUCE:
        axes = s.over()
        assert axes or p["noop_with_empty_axes"] == 1
        return [s.result(np.asarray(REDUCE[op](x, axis=axes, keepdims=True)).astype(x.dtype))]
    if op in ("ArgMax", "ArgMin"):
        axis = s.axis()
        if p.get("select_last_index"):
            flipped = np.flip(x, axis)
            y = x.shape[axis] - 1 - (flipped.argmax(axis) if op == "ArgMax" else flipped.argmin(axis))
        else:
            y = x.argmax(axis) if op == "ArgMax" else x.argmin(axis)
        return [s.result(np.expand_dims(y, axis).astype(np.int64))]
    if op in ("Softmax", "LogSoftmax"):
        axes = (s.axis(),) if "axis" in p else s.over()
        y = softmax(x, axes)
        return [s.result(np.log(y) if op == "LogSoftmax" else y)]
    if op == "Hardmax":
        axis = s.axis() if "axis" in p else s.over()[0]
        return [s.result((np.expand_dims(x.argmax(axis), axis) == index_along(x, axis)).astype(x.dtype))]
    if op == "Concat":
        return [s.result(np.concatenate([s.aligned(k) for k in range(len(s.operands))], s.axis()))]
    if op == "Split":
        axis = s.axis()
        sizes = [dict(zip(s.manifest.axes[out], s.manifest.extents[out]))[p["axis"]] for out in node.outs]
        assert "split" not in p or node.spread("split", len(sizes)) == sizes
        parts = np.split(x, np.cumsum(sizes)[:-1], axis)
        return [s.result(part, k) for k, part in enumerate(parts)]
    if op == "Slice":
        cut = [slice(None)] * x.ndim
        count = len(node.list("axes"))
        starts, ends, steps = (node.spread(key, count, 1) for key in ("starts", "ends", "steps"))
        for letter, start, end, step in zip(node.list("axes"), starts, ends, steps):
            cut[s.axes.index(letter)] = sliced(x.shape[s.axes.index(letter)], start, end, step)
        return [s.result(x[tuple(cut)])]
    if op == "Pad":
        count = len(node.list("axes"))
        pads = node.spread("pads", 2 * count)
        width = [(0, 0)] * x.ndim
        for k, letter in enumerate(node.list("axes")):
            width[s.axes.index(letter)] = (pads[k], pads[count + k])
        mode = {"constant": "constant", "reflect": "reflect", "edge": "edge"}[p["mode"]]
        more = {"constant_values": p.get("value", 0)} if mode == "constant" else {}
        return [s.result(np.pad(x, width, mode, **more))]
    if op == "Tile":
        repeats = node.spread("repeats", len(node.list("axes")))
        times = dict(zip(node.list("axes"), repeats))
        return [s.result(np.tile(x, [times.get(axis, 1) for axis in s.axes]))]
    if op == "Expand":
        y = s.aligned(0)
        return [s.result(np.broadcast_to(y, spread_to(s, y)))]
    if op == "Squeeze":
        return [s.result(x)]
    if op == "Unsqueeze":
        return [s.result(s.aligned(0))]
    if op == "CumSum":
        return [s.result(single(op, [x, np.array(s.axis(), np.int64)], {k: p[k] for k in ("exclusive", "reverse")})[0])]
    if op == "TopK":
        attributes = {"axis": s.axis(), "largest": p.get("largest", 1), "sorted": p.get("sorted", 1)}
        return [s.result(y, k) for k, y in enumerate(single(op, [x, integers([p["k"]])], attributes, 2))]
    if op == "GatherElements":
        return [s.result(np.take_along_axis(x, s.aligned(1), s.axis()))]
    if op == "ScatterElements":
        attributes = {"axis": s.axis(), "reduction": p.get("reduction", "none")}
        return [s.result(single(op, [x, s.aligned(1), s.aligned(2)], attributes, opset=18)[0])]
    if op == "BatchNormalization":
        scale, bias, mean, variance = (s.vector(k) for k in range(1, 5))
        return [s.result(scale * (x - mean) / np.sqrt(variance + p["epsilon"]) + bias)]
    if op == "InstanceNormalization":
        return [s.result(normalized(x, s.over(), p["epsilon"]) * s.vector(1) + s.vector(2))]
    if op == "LayerNormalization":
        letters = node.list("axes")
        y = normalized(x, s.over(), p["epsilon"]) * s.vector(1, letters)
        return [s.result(y + s.vector(2, letters) if len(s.operands) > 2 else y)]
    if op == "LpNormalization":
        norm = np.sum(np.abs(x) ** p["p"], axis=s.axis(), keepdims=True) ** (1 / p["p"])
        return [s.result(np.divide(x, norm, out=np.zeros_like(x), where=norm != 0))]
    if op == "MeanVarianceNormalization":
        axes = s.over()
        std = np.sqrt((x * x).mean(axis=axes, keepdims=True) - x.mean(axis=axes, keepdims=True) ** 2)
        return [s.result((x - x.mean(axis=axes, keepdims=True)) / (std + 1e-9))]
    if op == "LRN":
        axis = s.axis()
        moved = np.moveaxis(x, axis, 0)
        size, count = p["size"], moved.shape[0]
        y = np.empty_like(moved)
        for c in range(count):
            low, high = max(0, c - (size - 1) // 2), min(count - 1, c + -(-(size - 1) // 2))
            y[c] = moved[c] / (p["bias"] + p["alpha"] / size * (moved[low : high + 1] ** 2).sum(0)) ** p["beta"]
        return [s.result(np.moveaxis(y, 0, axis))]
    if op in ("GlobalAveragePool", "GlobalMaxPool"):
        reduce = np.mean if op == "GlobalAveragePool" else np.max
        return [s.result(reduce(x, axis=s.over(), keepdims=True))]
    if op == "Resize":
        return [s.result(resize(s, x))]
    raise NotImplementedError(op)


def spread_to(s, y):
    """The shape of the result in the order that was drawn."""
    extents = dict(zip(s.manifest.axes[s.out], s.manifest.extents[s.out]))
    return [extents[axis] for axis in s.axes]


def index_along(x, axis):
    index = np.arange(x.shape[axis])
    return index.reshape([-1 if k == axis else 1 for k in range(x.ndim)])


def sliced(size, start, end, step):
    counted = lambda at: at + size if at < 0 else at
    if step > 0:
        return slice(min(max(counted(start), 0), size), min(max(counted(end), 0), size), step)
    start, end = min(max(counted(start), 0), size - 1), min(max(counted(end), -1), size - 1)
    return slice(start, None if end < 0 else end, step)


def resize(s, x):
    node = s.node
    letters = node.list("axes")
    place = lambda values, default: [dict(zip(letters, values)).get(axis, default) for axis in s.axes]
    scales = sizes = None
    if "sizes" in node.props:
        sizes = integers([dict(zip(letters, node.spread("sizes", len(letters)))).get(a, x.shape[k]) for k, a in enumerate(s.axes)])
    else:
        scales = np.array(place(node.spread("scales", len(letters)), 1.0), np.float32)
    keys = ("mode", "coordinate_transformation_mode", "nearest_mode", "cubic_coeff_a")
    attributes = {key: node.props[key] for key in keys if key in node.props}
    return single("Resize", [x, None, scales, sizes], attributes)[0]
