"""Writes model.onnx: a residual block as converters from TensorFlow write it, channels last outside, channels first at
convolutions. Requires `pip install onnx`; the weights are external data, and their file is not needed.
"""

import onnx
from onnx import TensorProto, helper


def weight(name, shape):
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape)
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="weights.bin")
    return tensor


def node(op, inputs, output, **attributes):
    return helper.make_node(op, inputs, [output], output, **attributes)


shape = ["batch", 28, 28, 64]
graph = helper.make_graph(
    [
        node("Transpose", ["image"], "image_nchw", perm=[0, 3, 1, 2]),
        node("Conv", ["image_nchw", "w1"], "conv1"),
        node("Relu", ["conv1"], "relu1"),
        node("Conv", ["relu1", "w2"], "conv2", pads=[1, 1, 1, 1]),
        node("Transpose", ["conv2"], "conv2_nhwc", perm=[0, 2, 3, 1]),
        node("Add", ["conv2_nhwc", "image"], "sum"),
        node("Relu", ["sum"], "result"),
    ],
    "block",
    [helper.make_tensor_value_info("image", TensorProto.FLOAT, shape)],
    [helper.make_tensor_value_info("result", TensorProto.FLOAT, shape)],
    [weight("w1", [64, 64, 1, 1]), weight("w2", [64, 64, 3, 3])],
)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), "model.onnx")
