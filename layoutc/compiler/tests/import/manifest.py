"""Reads an imported manifest, and the profile that it is for."""

import json
import re

import numpy as np

DTYPES = {
    "f32": np.float32, "f64": np.float64, "i64": np.int64, "i32": np.int32, "u8": np.uint8, "i8": np.int8, "bool": np.bool_,
}


class Profile:
    def __init__(self, path):
        text = open(path).read()
        word = r'op (\w+) (elementwise|by-letter)=#true'
        self.rules = dict(re.findall(word, text))
        self.defaults = {int(n): list(letters) for n, letters in re.findall(r"default-layout (\d+) (\w+)", text)}
        self.accepts = {}
        op = None
        for line in map(plain, text.splitlines()):
            head = re.match(r"    op (\w+)", line)
            op = head.group(1) if head else op
            found = re.search(r"accepts .*\{ in ([^;]*); out ([^}]*)\}", line)
            if found:
                self.accepts.setdefault(op, []).append((found.group(1).split(), found.group(2).split()))


def plain(line):
    """A line without its comment."""
    out, quoted = [], False
    k = 0
    while k < len(line):
        if line[k] == '"' and (k == 0 or line[k - 1] != "\\"):
            quoted = not quoted
        if line[k : k + 2] == "//" and not quoted:
            break
        out.append(line[k])
        k += 1
    return "".join(out).rstrip()


def value(text):
    if text.startswith('"'):
        text = json.loads(re.sub(r"\\u\{([0-9a-f]+)\}", lambda m: "\\u" + m.group(1).zfill(4), text))
        parts = text.split(",")
        if len(parts) > 1:
            return [value(part) for part in parts]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def properties(text):
    pairs = re.findall(r'([\w-]+)=("(?:[^"\\]|\\.)*"|[^\s{]+)', text)
    return {key: value(text) for key, text in pairs}


def shape(text):
    body = re.search(r"shape \{(.*?)\}", text).group(1)
    axes = [axis.split() for axis in body.split(";") if axis.strip()]
    return [name for name, _ in axes], [int(extent) for _, extent in axes]


class Node:
    def __init__(self, name, op, props):
        self.name, self.op, self.props = name, op, props
        self.reads, self.outs, self.accepts = [], [], None

    def list(self, key):
        own = self.props.get(key)
        if own is None or own == "":
            return []
        return own if isinstance(own, list) else [own]

    def spread(self, key, count, default=None):
        """A list, of which one number stands for as many."""
        own = self.list(key)
        if not own:
            return [default] * count
        return own * count if len(own) == 1 else own


class Manifest:
    def __init__(self, text):
        self.axes, self.extents, self.dtypes, self.layouts = {}, {}, {}, {}
        self.inputs, self.constants, self.nodes, self.outputs = [], [], [], []
        node = None
        for line in map(plain, text.splitlines()):
            words = line.split()
            if not words:
                continue
            head = words[0]
            if head in ("input", "constant", "out"):
                name = words[1]
                props = properties(line.split("{")[0])
                self.axes[name], self.extents[name] = shape(line)
                self.dtypes[name] = DTYPES[props["dtype"]]
                if "layout" in props:
                    self.layouts[name] = order(str(props["layout"]), self.axes[name])
                if head == "out":
                    node.outs.append(name)
                else:
                    {"input": self.inputs, "constant": self.constants}[head].append(name)
            elif head == "node":
                node = Node(words[1], None, properties(line[: line.rindex("{")]))
                node.op = node.props.pop("op")
                self.nodes.append(node)
            elif head == "in":
                node.reads = words[1:]
            elif head == "accepts":
                reads, gives = re.fullmatch(r"accepts \{ in(.*); out(.*) \}", line.strip()).groups()
                node.accepts = (reads.split(), gives.split())
            elif head == "output":
                props = properties(line)
                self.outputs.append((words[1], order(str(props["layout"]), self.axes[words[1]])))


def order(layout, axes):
    """The axes of a tensor in the order of a layout without blocks."""
    return list(axes) if layout == "row-major" else list(layout)


class Tensor:
    """An array, and the names of its axes."""

    def __init__(self, array, axes):
        self.array, self.axes = np.asarray(array), list(axes)
        assert self.array.ndim == len(self.axes), (self.array.shape, axes)

    def ordered(self, axes):
        assert sorted(axes) == sorted(self.axes), (axes, self.axes)
        return self.array.transpose([self.axes.index(axis) for axis in axes])
