"""Writes ONNX models, each with the shapes that ONNX's own inference finds, as lines `name dtype extents`.

    python3 models.py FOLDER [NAME ...]

`--small` writes the models of the book's pages and of the tests of the command line, which are kept in the repository; `--cases=N` every N-th of ONNX's own tests of its operators, with the shapes of their results. `--defaults` prints the attributes that a model may leave out.
"""

import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, shape_inference

FLOAT = TensorProto.FLOAT


class Model:
    """A graph under way; every operator gives the name of its first result."""

    def __init__(self, name, opset=17):
        self.name, self.opset = name, opset
        self.nodes, self.constants, self.inputs, self.outputs = [], [], [], []
        self.infos = []

    def input(self, name, shape, dtype=FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def output(self, name, shape=None, dtype=FLOAT):
        self.outputs.append(helper.make_tensor_value_info(name, dtype, shape))

    def weight(self, name, shape, dtype=FLOAT):
        """A constant whose elements lie in another file: layouts need none."""
        tensor = TensorProto(name=name, data_type=dtype, dims=shape)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="weights.bin")
        self.constants.append(tensor)
        return name

    def values(self, name, values, dtype=np.int64):
        self.constants.append(numpy_helper.from_array(np.array(values, dtype), name))
        return name

    def op(self, op, inputs, results=1, domain="", **attributes):
        name = f"{op.lower()}_{len(self.nodes)}"
        outputs = [f"{name}_out" + (f"{k}" if k else "") for k in range(results)]
        self.nodes.append(helper.make_node(op, inputs, outputs, name, domain=domain, **attributes))
        return outputs[0] if results == 1 else outputs

    def conv(self, x, channels, filters, kernel, stride=1, group=1, bias=False):
        k = len(self.nodes)
        operands = [x, self.weight(f"w{k}", [filters, channels // group, kernel, kernel])]
        if bias:
            operands.append(self.weight(f"b{k}", [filters]))
        pads = [kernel // 2] * 4
        return self.op(
            "Conv", operands, kernel_shape=[kernel, kernel], strides=[stride, stride], pads=pads, group=group
        )

    def norm(self, x, channels):
        k = len(self.nodes)
        operands = [self.weight(f"{part}{k}", [channels]) for part in ("scale", "bias", "mean", "var")]
        return self.op("BatchNormalization", [x, *operands], epsilon=1e-5)

    def made(self):
        graph = helper.make_graph(
            self.nodes, self.name, self.inputs, self.outputs, self.constants, value_info=self.infos
        )
        opsets = [helper.make_opsetid("", self.opset)]
        domains = {node.domain for node in self.nodes if node.domain}
        opsets += [helper.make_opsetid(domain, 1) for domain in sorted(domains)]
        return helper.make_model(graph, opset_imports=opsets)


def resnet50(batch=1):
    m = Model("resnet50")
    x = m.input("input", [batch, 3, 224, 224])
    x = m.op("Relu", [m.conv(x, 3, 64, 7, 2, bias=True)])
    x = m.op("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = 64
    for stage, blocks in enumerate([3, 4, 6, 3]):
        width = 64 << stage
        for block in range(blocks):
            stride = 2 if block == 0 and stage > 0 else 1
            short = x
            x = m.op("Relu", [m.conv(x, channels, width, 1, bias=True)])
            x = m.op("Relu", [m.conv(x, width, width, 3, stride, bias=True)])
            x = m.conv(x, width, width * 4, 1, bias=True)
            if block == 0:
                short = m.conv(short, channels, width * 4, 1, stride, bias=True)
            x = m.op("Relu", [m.op("Add", [x, short])])
            channels = width * 4
    x = m.op("Flatten", [m.op("GlobalAveragePool", [x])], axis=1)
    m.output(m.op("Gemm", [x, m.weight("fc", [1000, 2048]), m.weight("fcb", [1000])], transB=1), [batch, 1000])
    return m


def mobilenet(batch=1):
    """MobileNet-V2, with batch norms, and the shape computed as exporters do."""
    m = Model("mobilenet", 13)
    x = m.input("input", [batch, 3, 224, 224])
    low, high = m.values("low", 0.0, np.float32), m.values("high", 6.0, np.float32)

    def unit(x, channels, filters, kernel, stride=1, group=1, clip=True):
        x = m.norm(m.conv(x, channels, filters, kernel, stride, group), filters)
        return m.op("Clip", [x, low, high]) if clip else x

    x = unit(x, 3, 32, 3, 2)
    channels = 32
    for t, c, n, s in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for k in range(n):
            stride = s if k == 0 else 1
            y = unit(x, channels, channels * t, 1) if t > 1 else x
            y = unit(y, channels * t, channels * t, 3, stride, channels * t)
            y = unit(y, channels * t, c, 1, clip=False)
            x = m.op("Add", [x, y]) if stride == 1 and channels == c else y
            channels = c
    x = unit(x, channels, 1280, 1)
    x = m.op("ReduceMean", [x], axes=[2, 3], keepdims=0)
    size = m.op("Gather", [m.op("Shape", [x]), m.values("zero", 0)], axis=0)
    size = m.op("Unsqueeze", [size, m.values("axes", [0])])
    shape = m.op("Concat", [size, m.values("rest", [-1])], axis=0)
    x = m.op("Reshape", [x, shape])
    m.output(m.op("Gemm", [x, m.weight("fc", [1000, 1280]), m.weight("fcb", [1000])], transB=1), [batch, 1000])
    return m


def tensorflow():
    """NHWC outside, a transposition before and behind every convolution, as converters from TensorFlow write it."""
    m = Model("tensorflow")
    x = m.input("image", ["batch", 56, 56, 32])
    for _ in range(4):
        y = m.op("Transpose", [x], perm=[0, 3, 1, 2])
        y = m.conv(y, 32, 32, 3)
        y = m.op("Transpose", [y], perm=[0, 2, 3, 1])
        y = m.op("Add", [y, m.weight(f"bias{len(m.nodes)}", [32])])
        x = m.op("Relu", [m.op("Add", [x, y])])
    squeezed = m.op("ReduceMean", [x], axes=[1, 2], keepdims=1)
    x = m.op("Mul", [x, m.op("Sigmoid", [squeezed])])
    shape = m.values("flat", [0, -1])
    m.output(m.op("Reshape", [x, shape]), ["batch", 100352])
    return m


def attention():
    m = Model("attention")
    x = m.input("tokens", [2, 128, 256])
    heads = []
    for name in ("q", "k", "v"):
        y = m.op("MatMul", [x, m.weight(f"w_{name}", [256, 256])])
        y = m.op("Add", [y, m.weight(f"b_{name}", [256])])
        y = m.op("Reshape", [y, m.values(f"split_{name}", [2, 128, 4, 64])])
        heads.append(m.op("Transpose", [y], perm=[0, 2, 3, 1] if name == "k" else [0, 2, 1, 3]))
    q, k, v = heads
    score = m.op("Div", [m.op("MatMul", [q, k]), m.values("scale", 8.0, np.float32)])
    score = m.op("Softmax", [score], axis=-1)
    y = m.op("Transpose", [m.op("MatMul", [score, v])], perm=[0, 2, 1, 3])
    y = m.op("Reshape", [y, m.values("join", [2, 128, 256])])
    y = m.op("Add", [m.op("MatMul", [y, m.weight("w_o", [256, 256])]), x])
    y = m.op("LayerNormalization", [y, m.weight("g", [256]), m.weight("h", [256])], axis=-1)
    m.output(y, [2, 128, 256])
    return m


def squeeze_excite():
    m = Model("squeeze excite")
    x = m.input("x", [1, 64, 28, 28])
    s = m.op("GlobalAveragePool", [x])
    s = m.op("Relu", [m.conv(s, 64, 16, 1, bias=True)])
    s = m.op("HardSigmoid", [m.conv(s, 16, 64, 1, bias=True)])
    y = m.op("Mul", [x, s])
    a, b = m.op("Split", [y], 2, axis=1)
    y = m.op("Concat", [b, a], axis=1)
    y = m.op("Resize", [y, "", m.values("scales", [1, 1, 2, 2], np.float32)], mode="nearest")
    y = m.op("Pad", [y, m.values("pads", [0, 0, 1, 1, 0, 0, 1, 1])])
    m.output(m.op("ConvTranspose", [y, m.weight("up", [64, 8, 2, 2])], strides=[2, 2]), [1, 8, 116, 116])
    return m


def conflicts():
    """Transpositions that letters cannot say: a tensor and its own transpose together."""
    m = Model("conflicts")
    x = m.input("x", [8, 8])
    m.output(m.op("Add", [x, m.op("Transpose", [x])]), [8, 8])
    y = m.input("y", [1, 16, 16, 16])
    turned = m.op("Transpose", [y], perm=[0, 2, 1, 3])
    both = m.op("Add", [m.conv(y, 16, 16, 1), m.conv(turned, 16, 16, 1)])
    m.output(both, [1, 16, 16, 16])
    z = m.input("z", [4, 5, 6])
    m.output(m.op("Transpose", [z], perm=[2, 0, 1]), [6, 4, 5])
    m.output(m.op("Identity", [z]), [4, 5, 6])
    return m


def elementwise():
    m = Model("elementwise", 18)
    x, y = m.input("x", [2, 3, 4, 5]), m.input("y", [4, 1])
    z = m.op("Add", [x, y])
    row = m.input("row", [5])
    z = m.op("Mul", [z, row])
    z = m.op("Where", [m.op("Greater", [z, x]), z, x])
    z = m.op("Cast", [z], to=TensorProto.FLOAT16)
    z = m.op("Slice", [z, m.values("starts", [1]), m.values("ends", [-1]), m.values("where", [3])])
    m.output(z, [2, 3, 4, 3], TensorProto.FLOAT16)
    w = m.op("ReduceSum", [x, m.values("over", [1, 3])], keepdims=0)
    w = m.op("Unsqueeze", [w, m.values("at", [1])])
    m.output(m.op("Tile", [w, m.values("times", [1, 2, 1])]), [2, 2, 4])
    m.output(m.op("ArgMax", [x], axis=1), [2, 1, 4, 5], TensorProto.INT64)
    return m


def custom():
    m = Model("custom")
    x = m.input("x", [1, 8, 8, 8])
    y = m.op("Fused", [x], domain="com.example")
    m.infos.append(helper.make_tensor_value_info(y, FLOAT, [1, 8, 8, 8]))
    m.output(m.op("Relu", [y]), [1, 8, 8, 8])
    return m


MODELS = {
    "resnet50": resnet50,
    "mobilenet": mobilenet,
    "tensorflow": tensorflow,
    "attention": attention,
    "squeeze_excite": squeeze_excite,
    "conflicts": conflicts,
    "elementwise": elementwise,
    "custom": custom,
}


def shapes(model):
    """What ONNX itself says of every tensor, the batch being 1."""
    for value in model.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param == "batch":
                dim.dim_value = 1
    model.graph.output[0].type.tensor_type.shape.dim[0].ClearField("dim_param")
    inferred = shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    for value in [*inferred.graph.input, *inferred.graph.value_info, *inferred.graph.output]:
        of = value.type.tensor_type
        if not of.HasField("shape") or not all(dim.HasField("dim_value") for dim in of.shape.dim):
            continue
        yield value.name, of.elem_type, [dim.dim_value for dim in of.shape.dim]


def relu(name="relu", shape=(1, 3, 8, 8)):
    m = Model(name)
    m.output(m.op("Relu", [m.input("x", shape)]), shape)
    return m


def mismatch():
    m = Model("mismatch")
    m.op("Conv", [m.input("x", [1, 3, 8, 8]), m.weight("w", [16, 4, 3, 3])])
    m.output("conv_0_out", [1, 16, 6, 6])
    return m


def control():
    """Which of two graphs runs is known only when the model runs."""
    m = Model("control")
    flag, x = m.input("flag", [], TensorProto.BOOL), m.input("x", [1, 3, 8, 8])
    result = [helper.make_tensor_value_info("y", FLOAT, [1, 3, 8, 8])]
    branches = {
        f"{name}_branch": helper.make_graph([helper.make_node(op, [x], ["y"])], name, [], result)
        for name, op in (("then", "Relu"), ("else", "Abs"))
    }
    m.output(m.op("If", [flag], **branches), [1, 3, 8, 8])
    return m


def values():
    """Constants in the file, one that is worked out, and one that the model computes of others."""
    m = Model("values")
    x = m.op("MatMul", [m.input("x", [1, 4]), m.op("Transpose", [m.weight("w", [3, 4])])])
    x = m.op("Add", [x, m.weight("b", [3])])
    half = m.values("half", [0.5, 1.5, 2.5], np.float32)
    m.output(m.op("Mul", [x, m.op("Add", [half, half])]), [1, 3])
    return m


def nonzero(declared=False):
    """How many elements are not zero is known only when the model runs; the model may say it all the same."""
    m = Model("nonzero")
    m.output(m.op("NonZero", [m.input("x", [4, 8])]), [2, 12] if declared else None, TensorProto.INT64)
    return m


def sequence():
    m = Model("sequence")
    parts = m.op("SplitToSequence", [m.input("x", [4, 8])], axis=0)
    m.output(m.op("ConcatFromSequence", [parts], axis=1), [1, 32])
    return m


SMALL = {
    "values": values,
    "relu": relu,
    "batch": lambda: relu("batch", ("batch", 3, 8, 8)),
    "mismatch": mismatch,
    "control": control,
    "nonzero": nonzero,
    "declared": lambda: nonzero(declared=True),
    "sequence": sequence,
}


def extents_of(value, k, case):
    """The extents that a test declares of a result, which must be those of its data; `?` where neither is a tensor."""
    of = value.type.tensor_type
    known = of.HasField("shape") and all(dim.HasField("dim_value") for dim in of.shape.dim)
    found = [outputs[k] for _, outputs in case.data_sets or [] if k < len(outputs)]
    found = [list(one.dims) if hasattr(one, "dims") else list(one.shape) for one in found if hasattr(one, "dims") or hasattr(one, "shape")]
    if known:
        declared = [dim.dim_value for dim in of.shape.dim]
        assert all(one == declared for one in found), (case.name, value.name)
        return declared
    return found[0] if found and value.type.HasField("tensor_type") else ["?"]


def cases(folder, every):
    from onnx.backend.test.case.node import collect_testcases

    for case in sorted(collect_testcases(None), key=lambda case: case.name)[::every]:
        onnx.save(case.model, os.path.join(folder, f"{case.name}.onnx"))
        with open(os.path.join(folder, f"{case.name}.shapes"), "w") as out:
            for k, value in enumerate(case.model.graph.output):
                print(value.name.replace(" ", "_"), value.type.tensor_type.elem_type, *extents_of(value, k, case), file=out)


def defaults():
    """A line `OPERATOR VERSION NAME=VALUE ...` wherever the defaults of an operator change."""
    versions = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "":
            own = {name: one.default_value for name, one in schema.attributes.items() if one.default_value.type}
            versions.setdefault(schema.name, {})[schema.since_version] = own
    for op in sorted(versions):
        last = {}
        for version in sorted(versions[op]):
            own = {name: text(helper.get_attribute_value(one)) for name, one in versions[op][version].items()}
            if own != last:
                print(op, version, *(f"{name}={own[name]}" for name in sorted(own)))
                last = own


def text(value):
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, float):
        return str(np.float32(value))
    return ",".join(map(text, value)) if isinstance(value, list) else str(value)


def main():
    if sys.argv[1] == "--defaults":
        defaults()
        return
    if sys.argv[1].startswith("--cases="):
        cases(sys.argv[2], int(sys.argv[1].removeprefix("--cases=")))
        return
    if sys.argv[1] == "--small":
        for name, model in SMALL.items():
            onnx.save(model().made(), os.path.join(sys.argv[2], f"{name}.onnx"))
        return
    folder, names = sys.argv[1], sys.argv[2:] or list(MODELS)
    for name in names:
        model = MODELS[name]().made()
        onnx.save(model, os.path.join(folder, f"{name}.onnx"))
        with open(os.path.join(folder, f"{name}.shapes"), "w") as out:
            for tensor, dtype, extents in shapes(model):
                print(tensor, dtype, *extents, file=out)


main()
