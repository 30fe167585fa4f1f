"""Computes what imported graphs say, and compares it with `onnx.reference`.

    python3 evaluate.py FOLDER PROFILE

FOLDER has models `NAME.onnx`, their manifests `NAME.kdl` and maps `NAME.json` (`map` of `import --format json`); PROFILE is the
manifest of the backend `onnx`. Nothing here knows how the importer works: a manifest is read as text, operators that the
profile says to be elementwise or told axes by letter are computed in an order of axes drawn at random, and all others in the
order that the node, or else the profile, says. Every tensor that the map names is compared. Prints one line for each model
that is wrong, then `COUNT models, COUNT tensors`.
"""

import glob
import json
import os
import random
import sys

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

from by_letter import ALONG_RESULT, BINARY, ByLetter, by_letter
from manifest import Manifest, Profile, Tensor, order
from positional import positional


def computed(model, names):
    """Tensors that a model computes of constants alone."""
    inner = onnx.ModelProto()
    inner.CopyFrom(model)
    del inner.graph.output[:]
    needed, kept = set(names), []
    for node in reversed(model.graph.node):
        if needed & set(node.output):
            kept.insert(0, node)
            needed |= set(node.input)
    del inner.graph.node[:]
    inner.graph.node.extend(kept)
    del inner.graph.input[:]
    for name in names:
        inner.graph.output.append(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None))
    return dict(zip(names, ReferenceEvaluator(inner).run(None, {})))


def elements(constant, manifest):
    name = constant["name"]
    letters = manifest.layouts.get(name, manifest.axes[name])
    extents = dict(zip(manifest.axes[name], manifest.extents[name]))
    values = [float(one) if isinstance(one, str) else one for one in constant["elements"]]
    return np.array(values, manifest.dtypes[name]).reshape([extents[axis] for axis in letters])


def constants(model, manifest, listed):
    stored = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    run = computed(model, [one["model"] for one in listed if one["source"] == "computed"])
    found = {}
    for one in listed:
        array = elements(one, manifest) if one["source"] == "elements" else (stored if one["source"] == "file" else run)[one["model"]]
        found[one["name"]] = array
    return found


def evaluated(manifest, arrays, profile, rng):
    tensors = {}
    for name in manifest.inputs + manifest.constants:
        array = arrays[name]
        assert array.dtype == manifest.dtypes[name], (name, array.dtype)
        tensors[name] = Tensor(array, manifest.layouts.get(name, manifest.axes[name]))
    for node in manifest.nodes:
        operands = [tensors[name] for name in node.reads]
        if node.accepts is None and profile.rules.get(node.op):
            results = by_letter(ByLetter(node, operands, manifest, rng))
        else:
            results = in_order(node, operands, manifest, profile, rng)
        for name, result in zip(node.outs, results):
            array = result.ordered(manifest.axes[name])
            extents = manifest.extents[name]
            assert list(array.shape) == extents, (node.name, node.op, array.shape, extents)
            tensors[name] = Tensor(array.astype(manifest.dtypes[name]), manifest.axes[name])
    return tensors


def in_order(node, operands, manifest, profile, rng):
    """Operands in the orders that the node states, or else the profile."""
    axes = [operand.axes for operand in operands], [manifest.axes[name] for name in node.outs]
    if node.op == "Transpose":
        # It says its order by the axes as they are declared.
        reads, gives = [[manifest.axes[name] for name in names] for names in (node.reads, node.outs)]
    elif node.accepts is not None:
        reads, gives = [[order(text, own) for text, own in zip(*side)] for side in zip(node.accepts, axes)]
    elif node.op in profile.accepts:
        fits = lambda texts, side: len(texts) == len(side) and all(
            sorted(text) == sorted(own) for text, own in zip(texts, side)
        )
        reads, gives = next(one for one in profile.accepts[node.op] if all(map(fits, one, axes)))
    else:
        reads, gives = [[profile.defaults.get(len(own), own) for own in side] for side in axes]
    ordered = [operand.ordered(own) for operand, own in zip(operands, reads)]
    arrays = positional(node, ordered, gives, manifest)
    if arrays is None:
        arrays = unnamed(node, ordered, reads, gives, manifest, rng)
    return [Tensor(array, own) for array, own in zip(arrays, gives)]


def unnamed(node, arrays, reads, gives, manifest, rng):
    """An operator told its axes by letter that states the orders of what it reads: axes count, and are aligned from the end."""
    takes_result = node.op in ALONG_RESULT or node.op in BINARY or node.op == "Where"
    whole = gives[0] if takes_result else reads[0]
    if node.op == "Unsqueeze":
        letters = [axis for axis in whole if axis not in node.list("axes")]
        named = [Tensor(arrays[0], letters)]
    else:
        named = []
        for array in arrays:
            own = whole[len(whole) - array.ndim :] if array.ndim <= len(whole) else None
            named.append(Tensor(array, own))
    inner = Manifest("")
    inner.axes, inner.extents = dict(manifest.axes), dict(manifest.extents)
    for name, own in zip(node.outs, gives):
        extents = dict(zip(manifest.axes[name], manifest.extents[name]))
        if len(own) == len(whole):
            letters = list(whole)
        else:
            letters = [axis for axis in whole if axis not in node.list("axes") and axis != node.props.get("axis")]
        inner.axes[name] = letters
        inner.extents[name] = [extents[axis] for axis in own]
    results = by_letter(ByLetter(node, named, inner, rng))
    return [result.ordered(inner.axes[name]) for name, result in zip(node.outs, results)]


def alike(own, reference):
    if own.shape != reference.shape:
        return False
    if reference.dtype.kind != "f":
        return np.array_equal(own, reference)
    finite = reference[np.isfinite(reference)]
    scale = max(1.0, float(np.abs(finite).max()) if finite.size else 1.0)
    return np.allclose(own, reference, rtol=1e-3, atol=2e-5 * scale, equal_nan=True)


def compared(stem, profile):
    model = onnx.load(f"{stem}.onnx")
    manifest = Manifest(open(f"{stem}.kdl").read())
    names = json.load(open(f"{stem}.json"))
    rng = random.Random(stem)
    draw = np.random.default_rng(len(manifest.nodes))
    stored = {tensor.name for tensor in model.graph.initializer}
    feeds = {}
    for one in model.graph.input:
        if one.name not in stored:
            of = one.type.tensor_type
            extents = [dim.dim_value for dim in of.shape.dim]
            dtype = helper.tensor_dtype_to_np_dtype(of.elem_type)
            feeds[one.name] = draw.standard_normal(extents).astype(dtype)
    session = ReferenceEvaluator(model)
    with np.errstate(all="ignore"):
        reference = session.run(None, feeds, intermediate=True)
        reference.update(feeds)
        arrays = constants(model, manifest, names["constants"])
        ours = {one["model"]: one["name"] for one in names["tensors"]}
        arrays.update({ours[name]: array for name, array in feeds.items() if name in ours})
        tensors = evaluated(manifest, arrays, profile, rng)
    count = 0
    for one in names["tensors"]:
        if one["model"] not in reference:
            continue
        own, wanted = tensors[one["name"]].ordered(one["axes"]), np.asarray(reference[one["model"]])
        maker = next((node for node in manifest.nodes if one["name"] in node.outs), None)
        what = f"{maker.op} {maker.props} {maker.accepts}" if maker else "outside"
        assert alike(own, wanted), f"`{one['model']}` of {what} is wrong: {own.shape} {wanted.shape}"
        count += 1
    orders = {one["model"]: (one["name"], one["axes"]) for one in names["tensors"]}
    given = dict(manifest.outputs)
    wanted = {one.name for one in model.graph.output}
    assert len(manifest.outputs) == len({orders[name][0] for name in wanted}), "outputs are missing"
    for name in wanted:
        assert given[orders[name][0]] == orders[name][1], f"the output `{name}` is given in another order"
    return count


def main():
    folder, profile = sys.argv[1], Profile(sys.argv[2])
    models = tensors = wrong = 0
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*.kdl"))):
        stem = path[: -len(".kdl")]
        models += 1
        try:
            tensors += compared(stem, profile)
        except Exception as fault:
            wrong += 1
            print(f"{os.path.basename(stem)}: {type(fault).__name__}: {str(fault)[:300]}")
    print(f"{models} models, {tensors} tensors")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
