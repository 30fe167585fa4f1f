"""Operators that go by the order of axes."""

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

OPSET = 21


def single(op, arrays, attributes, results=1, opset=OPSET):
    """An operator as `onnx.reference` has it; `None` stands for an operand that is left out."""
    names = ["" if array is None else f"i{k}" for k, array in enumerate(arrays)]
    node = helper.make_node(op, names, [f"o{k}" for k in range(results)], **attributes)
    none = onnx.TensorProto.FLOAT
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in zip(names, arrays) if name
    ]
    outputs = [helper.make_tensor_value_info(f"o{k}", none, None) for k in range(results)]
    model = helper.make_model(helper.make_graph([node], "g", inputs, outputs), opset_imports=[helper.make_opsetid("", opset)])
    feeds = {name: np.asarray(array, order="C") for name, array in zip(names, arrays) if name}
    return ReferenceEvaluator(model).run(None, feeds)


def integers(values):
    return np.array(values, np.int64)


def window(node, arrays):
    space = arrays[0].ndim - 2
    kept = {}
    for key, count in (("strides", 1), ("dilations", 1), ("kernel_shape", 1), ("pads", 2), ("output_padding", 1)):
        if key in node.props:
            kept[key] = node.spread(key, count * space)
    for key in ("auto_pad", "group", "ceil_mode", "count_include_pad", "storage_order", "p"):
        if key in node.props:
            kept[key] = node.props[key]
    return kept


def positional(node, arrays, outs, manifest):
    op, props = node.op, node.props
    shape_of = lambda k: manifest.extents[node.outs[k]]
    if op == "Transpose":
        perm = node.list("perm")
        return [arrays[0].transpose(perm)]
    if op in ("Reshape", "Flatten"):
        return [arrays[0].reshape([dict(zip(manifest.axes[node.outs[0]], shape_of(0)))[a] for a in outs[0]])]
    if op in ("Conv", "ConvTranspose", "MaxPool", "AveragePool"):
        kept = window(node, arrays)
        if op == "AveragePool":
            kept.pop("storage_order", None)
        return single(op, arrays, kept, len(node.outs))
    if op == "MatMul":
        return [np.matmul(arrays[0], arrays[1])]
    if op == "Gemm":
        a = arrays[0].T if props["transA"] else arrays[0]
        b = arrays[1].T if props["transB"] else arrays[1]
        y = props["alpha"] * (a @ b)
        return [(y + props["beta"] * arrays[2] if len(arrays) > 2 else y).astype(arrays[0].dtype)]
    if op == "Gather":
        return [np.take(arrays[0], arrays[1], axis=props["axis"])]
    if op in ("DepthToSpace", "SpaceToDepth"):
        kept = {key: props[key] for key in ("blocksize", "mode") if key in props and op == "DepthToSpace" or key == "blocksize"}
        return single(op, arrays, kept)
    if op == "Trilu":
        return single(op, [arrays[0], np.array(props.get("k", 0), np.int64)], {"upper": props["upper"]})
    return None
