"""Writes random ONNX models: Transposes that branches, outputs and clashes of axes keep, among operators of all kinds.

    python3 random_models.py FOLDER FIRST COUNT

Model k is FOLDER/k.onnx. Shapes are worked out by running each operator with `onnx.reference`, so every model runs.
"""

import os
import random
import sys
import warnings

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from families import FAMILIES, FLOAT, MOST


class Graph:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.draw = np.random.default_rng(seed)
        self.opset = self.rng.choice([11, 12, 13, 15, 17, 18, 21])
        self.nodes, self.constants, self.inputs = [], [], []
        self.values = {}
        self.floats, self.others = [], []
        self.shared = []

    # Names.

    def name(self, stem):
        k = len(self.nodes) + len(self.constants) + len(self.inputs)
        return self.rng.choice([f"{stem}{k}", f"{stem}{k}", f"/{stem}.{k}/out:0"])

    def input(self, shape):
        name = self.name("x")
        self.inputs.append(helper.make_tensor_value_info(name, FLOAT, shape))
        self.values[name] = self.draw.standard_normal(shape).astype(np.float32)
        self.floats.append(name)
        return name

    def constant(self, array):
        array = np.asarray(array)
        name = self.name("w")
        if self.rng.random() < 0.2:
            self.op("Constant", [], value=numpy_helper.from_array(array), names=[name])
        else:
            self.constants.append(numpy_helper.from_array(array, name))
            self.values[name] = array
        return name

    def weight(self, shape):
        return self.constant(self.draw.standard_normal(shape).astype(np.float32))

    def integers(self, values):
        return self.constant(np.array(values, np.int64))

    def shape(self, name):
        return list(self.values[name].shape)

    def op(self, op, reads, results=1, names=None, **attributes):
        """Adds an operator where it runs and gives what is not too large."""
        names = names or [self.name("y") + (f"_{k}" if k else "") for k in range(results)]
        label = self.rng.choice(["", f"n{len(self.nodes)}", f"/layer.{len(self.nodes)}/{op}"])
        node = helper.make_node(op, reads, names, label, **{k: v for k, v in attributes.items() if v is not None})
        inputs = [
            helper.make_tensor_value_info(one, helper.np_dtype_to_tensor_dtype(self.values[one].dtype), self.values[one].shape)
            for one in dict.fromkeys(reads) if one
        ]
        outputs = [helper.make_tensor_value_info(one, FLOAT, None) for one in names]
        model = helper.make_model(
            helper.make_graph([node], "g", inputs, outputs), opset_imports=[helper.make_opsetid("", self.opset)]
        )
        try:
            with np.errstate(all="ignore"):
                found = ReferenceEvaluator(model).run(None, {one.name: self.values[one.name] for one in inputs})
        except Exception:
            return None
        found = [np.asarray(one) for one in found]
        if any(one.size > MOST or one.ndim > 6 or (one.size == 0 and op != "Constant") for one in found):
            return None
        if any(one.dtype.kind == "f" and (not np.isfinite(one).all() or np.abs(one).max(initial=0) > 1e4) for one in found):
            return None
        self.nodes.append(node)
        for name, array in zip(names, found):
            self.values[name] = array
            if op != "Constant":
                (self.floats if array.dtype == np.float32 else self.others).append(name)
        return names[0]

    # Choices.

    def pick(self, good=lambda shape: True):
        found = [name for name in self.floats if good(self.shape(name))]
        # What is new is read more often.
        return self.rng.choice(found[-6:] if self.rng.random() < 0.7 else found) if found else None

    def axis(self, rank):
        return self.rng.randrange(-rank, rank)

    def axes(self, rank, least=1):
        axes = self.rng.sample(range(rank), self.rng.randint(least, rank))
        return [axis - rank if self.rng.random() < 0.3 else axis for axis in axes]

    def maybe(self, value, share=0.5):
        return value if self.rng.random() < share else None

    def part(self, shape):
        """A shape that is broadcast to another one."""
        own = [1 if self.rng.random() < 0.3 else extent for extent in shape]
        return own[self.rng.randint(0, len(own)) :] if self.rng.random() < 0.4 else own


def model(seed):
    g = Graph(seed)
    for _ in range(g.rng.randint(1, 2)):
        rank = g.rng.choice([2, 3, 3, 4, 4])
        extents = [g.rng.choice([1, 2, 2, 3, 4, 5]) for _ in range(rank)]
        g.input(extents)
    families, weights = zip(*FAMILIES)
    size = g.rng.randint(2, 12)
    tries = 0
    while len(g.nodes) < size and tries < 60:
        tries += 1
        g.rng.choices(families, weights)[0](g)
    read = {name for node in g.nodes for name in node.input}
    fed = {one.name for one in g.inputs}
    made = [name for name in g.floats + g.others if name not in fed]
    outputs = [name for name in made if name not in read or g.rng.random() < 0.15]
    if not outputs:
        outputs = made[-1:]
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(g.values[name].dtype), g.values[name].shape)
        for name in outputs
    ]
    graph = helper.make_graph(g.nodes, f"model {seed}", g.inputs, infos, g.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", g.opset)], ir_version=8)


def main():
    warnings.simplefilter("ignore")
    folder, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    for seed in range(first, first + count):
        onnx.save(model(seed), os.path.join(folder, f"{seed}.onnx"))


main()
