"""Random shape arithmetic: ONNX models whose results have shapes that are computed from the shape of their input, each with
the shapes that ONNX's own evaluation finds, as lines `name dtype extents`.

    python3 arithmetic.py FOLDER FIRST COUNT

Every number that a model computes becomes an extent of a result, so that a wrong one is seen. `op-SEED.onnx` has the seed.
"""

import os
import random
import sys
import warnings

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

warnings.simplefilter("ignore")

INTEGERS, FLOATS, TRUTHS = np.dtype(np.int64), np.dtype(np.float32), np.dtype(np.bool_)
MOST = 48


class Arithmetic:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.nodes, self.constants, self.outputs = [], [], []
        # What is known, by name.
        self.values = {}
        self.extents = [self.random.randint(1, 6) for _ in range(self.random.randint(1, 4))]

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(value), name))
        self.values[name] = np.array(value)
        return name

    def node(self, op, inputs, results=1, **attributes):
        """Adds an operator if it can be evaluated, and all that it gives are few numbers."""
        names = [f"t{len(self.nodes)}_{k}" for k in range(results)]
        made = helper.make_node(op, inputs, names, **attributes)
        given = [self.values[name] for name in inputs if name]
        try:
            found = ReferenceEvaluator(made, opsets={"": 18}).run(
                None, {name: value for name, value in zip([i for i in inputs if i], given)}
            )
        except Exception:
            return None
        for value in found:
            if not isinstance(value, np.ndarray):
                value = np.array(value)
            if value.size > MOST or value.ndim > 4 or value.dtype not in (INTEGERS, FLOATS, TRUTHS):
                return None
            if value.dtype != TRUTHS and value.size and not (np.isfinite(value).all() and np.abs(value).max() < 1e6):
                return None
        self.nodes.append(made)
        self.values.update(zip(names, (np.array(value) for value in found)))
        return names[0]

    def any(self, *dtypes):
        names = [name for name, value in self.values.items() if value.dtype in dtypes and value.size]
        return self.random.choice(names) if names else None

    def axis(self, name, more=0):
        rank = self.values[name].ndim + more
        return self.random.randint(-rank, rank - 1) if rank else 0

    def step(self):
        pick = self.random
        kind = pick.choice(KINDS)
        getattr(self, kind)()

    def unary(self):
        op = self.random.choice(["Neg", "Abs", "Sign", "Identity", "Floor", "Ceil", "Round", "Sqrt", "Reciprocal", "Not", "Relu"])
        dtypes = {"Not": [TRUTHS], "Neg": [INTEGERS, FLOATS], "Abs": [INTEGERS, FLOATS], "Sign": [INTEGERS, FLOATS], "Identity": [INTEGERS, FLOATS, TRUTHS]}
        operand = self.any(*dtypes.get(op, [FLOATS]))
        if operand and not (op == "Sqrt" and (self.values[operand] < 0).any()):
            self.node(op, [operand])

    def cast(self):
        to = self.random.choice([TensorProto.INT64, TensorProto.FLOAT, TensorProto.BOOL])
        self.node("Cast", [self.any(INTEGERS, FLOATS, TRUTHS)], to=to)

    def binary(self):
        dtype = self.random.choice([INTEGERS, INTEGERS, FLOATS])
        a, b = self.any(dtype), self.any(dtype)
        if not a:
            return
        op = self.random.choice(
            ["Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Pow"]
        )
        right = self.values[b]
        if op in ("Div", "Mod") and (right == 0).any():
            return
        # What rounds down here and towards zero there.
        if op == "Div" and dtype == INTEGERS and ((self.values[a] < 0).any() or (right < 0).any()):
            return
        if op == "Pow" and (dtype == FLOATS or (right < 0).any() or (right > 4).any()):
            return
        attributes = {"fmod": 1} if op == "Mod" and (dtype == FLOATS or self.random.random() < 0.3) else {}
        self.node(op, [a, b], **attributes)

    def several(self):
        dtype = self.random.choice([INTEGERS, FLOATS])
        operands = [self.any(dtype) for _ in range(self.random.randint(1, 3))]
        if all(operands):
            self.node(self.random.choice(["Max", "Min"]), operands)

    def logic(self):
        a, b = self.any(TRUTHS), self.any(TRUTHS)
        if a:
            self.node(self.random.choice(["And", "Or", "Xor"]), [a, b])

    def where(self):
        dtype = self.random.choice([INTEGERS, FLOATS])
        operands = [self.any(TRUTHS), self.any(dtype), self.any(dtype)]
        if all(operands):
            self.node("Where", operands)

    def clip(self):
        dtype = self.random.choice([INTEGERS, FLOATS])
        operand = self.any(dtype)
        if operand:
            bounds = [self.constant(np.array(value, dtype)) for value in (self.random.randint(-2, 2), self.random.randint(3, 6))]
            self.node("Clip", [operand, *bounds])

    def concat(self):
        dtype = self.random.choice([INTEGERS, FLOATS])
        operands = [self.any(dtype) for _ in range(self.random.randint(1, 3))]
        if all(operands):
            self.node("Concat", operands, axis=self.axis(operands[0]))

    def gather(self):
        data = self.any(INTEGERS, FLOATS)
        axis = self.axis(data)
        shape = self.values[data].shape
        if not shape:
            return
        most = shape[axis]
        indices = [self.random.randint(-most, most - 1) for _ in range(self.random.randint(1, 3))]
        indices = self.constant(np.array(indices[0] if self.random.random() < 0.3 else indices, np.int64))
        self.node("Gather", [data, indices], axis=axis)

    def gather_elements(self):
        data = self.any(INTEGERS, FLOATS)
        shape = self.values[data].shape
        if shape:
            axis = self.axis(data)
            indices = [self.random.randint(-shape[axis], shape[axis] - 1) for _ in range(self.values[data].size)]
            indices = self.constant(np.array(indices, np.int64).reshape(shape))
            self.node("GatherElements", [data, indices], axis=axis)

    def indices(self, shape):
        """Rows of indices into the first axes of a shape."""
        depth = self.random.randint(1, len(shape))
        rows = [[self.random.randint(-own, own - 1) for own in shape[:depth]] for _ in range(self.random.randint(1, 3))]
        return self.constant(np.array(rows, np.int64)), len(rows), depth

    def gather_nd(self):
        data = self.any(INTEGERS, FLOATS)
        if self.values[data].shape:
            self.node("GatherND", [data, self.indices(self.values[data].shape)[0]])

    def scatter_nd(self):
        data = self.any(INTEGERS)
        shape = self.values[data].shape
        if not shape:
            return
        indices, rows, depth = self.indices(shape)
        if len({tuple(np.array(row) % np.array(shape[:depth])) for row in self.values[indices]}) < rows:
            return
        updates = [rows, *shape[depth:]]
        updates = np.array([self.random.randint(0, 9) for _ in range(int(np.prod(updates)))], np.int64).reshape(updates)
        self.node("ScatterND", [data, indices, self.constant(updates)])

    def scatter_elements(self):
        data = self.any(INTEGERS)
        shape = self.values[data].shape
        if not shape:
            return
        axis, own = self.axis(data), list(shape)
        own[axis] = 1
        indices = np.array([self.random.randint(0, shape[axis] - 1) for _ in range(int(np.prod(own)))], np.int64)
        updates = np.array([self.random.randint(0, 9) for _ in indices], np.int64)
        operands = [self.constant(values.reshape(own)) for values in (indices, updates)]
        self.node("ScatterElements", [data, *operands], axis=axis)

    def slice(self):
        data = self.any(INTEGERS, FLOATS, TRUTHS)
        rank = self.values[data].ndim
        if not rank:
            return
        axes = self.random.sample(range(rank), self.random.randint(1, rank))
        starts, ends, steps = [], [], []
        for axis in axes:
            own, step = self.values[data].shape[axis], self.random.choice([1, 1, 2, -1, -2])
            starts.append(self.random.randint(-own, own))
            ends.append(self.random.choice([2**62, own, -1, 1]) if step > 0 else self.random.choice([-(2**62), 0, -own]))
            steps.append(step)
        lists = [starts, ends, [axis - rank * self.random.randint(0, 1) for axis in axes], steps]
        self.node("Slice", [data, *(self.constant(np.array(one, np.int64)) for one in lists)])

    def transpose(self):
        data = self.any(INTEGERS, FLOATS, TRUTHS)
        rank = self.values[data].ndim
        attributes = {"perm": self.random.sample(range(rank), rank)} if rank and self.random.random() < 0.7 else {}
        self.node("Transpose", [data], **attributes)

    def reshape(self):
        data = self.any(INTEGERS, FLOATS, TRUTHS)
        op = self.random.choice(["Reshape", "Squeeze", "Unsqueeze", "Flatten"])
        if op == "Reshape":
            shape = self.random.choice([[-1], [0, -1], [1, -1], [-1, 1], [2, -1], [-1, 3]])
            self.node(op, [data, self.constant(np.array(shape, np.int64))])
        elif op == "Squeeze":
            self.node(op, [data])
        elif op == "Unsqueeze":
            self.node(op, [data, self.constant(np.array([self.axis(data, 1)], np.int64))])
        elif self.values[data].ndim:
            self.node(op, [data], axis=self.random.randint(0, self.values[data].ndim))

    def expand(self):
        data = self.any(INTEGERS, FLOATS, TRUTHS)
        shape = [self.random.choice([1, own, 2]) for own in self.values[data].shape]
        shape = [2] * self.random.randint(0, 1) + shape
        self.node("Expand", [data, self.constant(np.array(shape, np.int64))])

    def tile(self):
        data = self.any(INTEGERS, FLOATS)
        repeats = [self.random.randint(1, 2) for _ in self.values[data].shape]
        if repeats:
            self.node("Tile", [data, self.constant(np.array(repeats, np.int64))])

    def pad(self):
        data = self.any(INTEGERS, FLOATS)
        rank = self.values[data].ndim
        if rank:
            pads = self.constant(np.array([self.random.randint(0, 2) for _ in range(2 * rank)], np.int64))
            fill = self.constant(np.array(self.random.randint(0, 3), self.values[data].dtype))
            self.node("Pad", [data, pads, fill])

    def split(self):
        data = self.any(INTEGERS, FLOATS)
        if self.values[data].ndim:
            axis = self.axis(data)
            own = self.values[data].shape[axis]
            if own > 1:
                first = self.random.randint(1, own - 1)
                self.node("Split", [data, self.constant(np.array([first, own - first], np.int64))], 2, axis=axis)

    def reduce(self):
        op = self.random.choice(["ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin"])
        data = self.any(INTEGERS) if op in ("ReduceSum", "ReduceProd") else self.any(INTEGERS, FLOATS)
        rank = self.values[data].ndim
        keeps = self.random.randint(0, 1)
        operands = [data]
        if rank and self.random.random() < 0.7:
            axes = self.random.sample(range(rank), self.random.randint(1, rank))
            operands.append(self.constant(np.array(axes, np.int64)))
        self.node(op, operands, keepdims=keeps)

    def best(self):
        data = self.any(INTEGERS, FLOATS)
        if self.values[data].ndim:
            op = self.random.choice(["ArgMax", "ArgMin"])
            self.node(op, [data], axis=self.axis(data), keepdims=self.random.randint(0, 1))

    def cumulate(self):
        data = self.any(INTEGERS)
        if self.values[data].ndim:
            flags = {name: self.random.randint(0, 1) for name in ("exclusive", "reverse")}
            self.node("CumSum", [data, self.constant(np.array(self.axis(data), np.int64))], **flags)

    def range(self):
        if self.random.random() < 0.5:
            numbers = [self.random.randint(-3, 3), self.random.randint(2, 9), self.random.randint(1, 3)]
            numbers = [self.constant(np.array(number, np.int64)) for number in numbers]
        else:
            numbers = [self.random.choice([0.0, 0.5]), self.random.choice([1.0, 2.5, 4.0]), self.random.choice([0.25, 0.5, 1.0])]
            numbers = [self.constant(np.array(number, np.float32)) for number in numbers]
        self.node("Range", numbers)

    def filled(self):
        shape = self.constant(np.array([self.random.randint(1, 3) for _ in range(self.random.randint(0, 2))], np.int64))
        value = numpy_helper.from_array(np.array([self.random.randint(0, 3)], np.int64))
        self.node("ConstantOfShape", [shape], value=value)

    def extent(self):
        self.node(self.random.choice(["Shape", "Size"]), [self.any(INTEGERS, FLOATS, TRUTHS)])

    def found(self):
        self.node("NonZero", [self.any(INTEGERS, TRUTHS)])

    def triangle(self):
        data = self.any(INTEGERS)
        if self.values[data].ndim >= 2:
            self.node("Trilu", [data, self.constant(np.array(self.random.randint(-1, 1), np.int64))], upper=self.random.randint(0, 1))

    def branch(self):
        """An `If` whose condition is known, with branches that read what is around them."""
        conditions = [name for name, value in self.values.items() if value.dtype == TRUTHS and value.size == 1 and value.ndim == 0]
        if not conditions:
            return
        condition, data = self.random.choice(conditions), self.any(INTEGERS)
        name = f"t{len(self.nodes)}_0"
        graphs = {}
        results = {}
        for key, op in (("then_branch", "Neg"), ("else_branch", "Shape")):
            inner = f"{name}_{key}"
            result = helper.make_tensor_value_info(inner, TensorProto.INT64, None)
            graphs[key] = helper.make_graph([helper.make_node(op, [data], [inner])], key, [], [result])
            value = self.values[data]
            results[key] = -value if op == "Neg" else np.array(value.shape, np.int64)
        self.nodes.append(helper.make_node("If", [condition], [name], **graphs))
        self.values[name] = results["then_branch" if self.values[condition] else "else_branch"]

    def reveal(self, name):
        """The numbers, as far as there are few, as extents of a result."""
        one = lambda values: self.constant(np.array(values, np.int64))
        for op, others, attributes in [
            ("Cast", [], {"to": TensorProto.INT64}),
            ("Reshape", [one([-1])], {}),
            ("Slice", [one([0]), one([5])], {}),
            ("Abs", [], {}),
            ("Mod", [one(7)], {}),
            ("Add", [one(1)], {}),
        ]:
            made = helper.make_node(op, [name, *others], [f"t{len(self.nodes)}_0"], **attributes)
            self.nodes.append(made)
            name = made.output[0]
        output = f"y{len(self.outputs)}"
        self.nodes.append(helper.make_node("ConstantOfShape", [name], [output]))
        self.outputs.append(output)

    def model(self):
        self.values["x"] = np.zeros(self.extents, np.float32)
        first = helper.make_node("Shape", ["x"], ["shape"])
        self.nodes.append(first)
        self.values["shape"] = np.array(self.extents, np.int64)
        del self.values["x"]
        self.constant(np.array([self.random.randint(0, 5) for _ in range(3)], np.int64))
        self.constant(np.array(self.random.randint(1, 4), np.int64))
        self.constant(np.array([0.5, 1.25, 3.0], np.float32))
        while len(self.nodes) < 16:
            self.step()
        known = [name for name, value in self.values.items() if name.startswith("t") and value.size]
        for name in self.random.sample(known, min(4, len(known))) + known[-2:]:
            self.reveal(name)
        infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in self.outputs]
        source = helper.make_tensor_value_info("x", TensorProto.FLOAT, self.extents)
        graph = helper.make_graph(self.nodes, "arithmetic", [source], infos, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


KINDS = [
    *["unary", "binary", "binary", "binary", "logic", "where", "cast", "clip", "several", "concat", "gather", "slice", "slice"],
    *["gather_elements", "gather_nd", "scatter_nd", "scatter_elements", "transpose", "reshape", "reshape", "expand", "tile", "pad"],
    *["split", "reduce", "reduce", "best", "cumulate", "range", "filled", "extent", "found", "triangle", "branch"],
]


def main():
    folder, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    for seed in range(first, first + count):
        case = Arithmetic(seed)
        model = case.model()
        results = ReferenceEvaluator(model).run(None, {"x": np.zeros(case.extents, np.float32)})
        onnx.save(model, os.path.join(folder, f"arithmetic-{seed}.onnx"))
        with open(os.path.join(folder, f"arithmetic-{seed}.shapes"), "w") as out:
            for name, value in zip(case.outputs, results):
                print(name, TensorProto.FLOAT, *value.shape, file=out)


main()
