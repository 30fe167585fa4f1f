"""Times the language server on a project of 1,000 tensors: python3 bench/lsp/run.py LAYOUTC [ROUNDS].

One manifest is open. Each round changes one character of a layout, and waits for the diagnostics, or for the answer to a
request sent right after the change. The same requests are timed without a preceding change.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "build"))
import project  # noqa: E402

TENSORS = 1000


class Server:
    def __init__(self, program, root):
        self.process = subprocess.Popen(
            [program, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root
        )
        self.number = 0
        self.request("initialize", {"rootUri": root.as_uri(), "capabilities": {}})
        self.notify("initialized", {})

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self):
        length = 0
        while (line := self.process.stdout.readline().strip()) != b"":
            length = int(line.removeprefix(b"Content-Length: "))
        return json.loads(self.process.stdout.read(length))

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def request(self, method, params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        while (message := self.receive()).get("id") != self.number:
            pass
        if "error" in message:
            raise RuntimeError(message["error"])
        return message["result"]

    def diagnostics(self, uri):
        while True:
            message = self.receive()
            if message.get("method") == "textDocument/publishDiagnostics":
                if message["params"]["uri"] == uri:
                    return message["params"]["diagnostics"]


def place(text, part):
    before = text[: text.index(part)]
    return {"line": before.count("\n"), "character": len(before) - (before.rfind("\n") + 1)}


def requests(uri, text):
    document = {"textDocument": {"uri": uri}}
    head, order = place(text, "tensor t"), place(text, "// 4")
    tensor = {"line": head["line"], "character": head["character"] + len("tensor ")}
    ends = {"start": {"line": 0, "character": 0}, "end": {"line": 10**6, "character": 0}}
    apply = place(text, "nchw16c") if "nchw16c" in text else tensor
    at = lambda position, **more: {**document, "position": position, **more}
    return [
        ("hover", "textDocument/hover", at(tensor)),
        ("completion", "textDocument/completion", at(order)),
        ("definition", "textDocument/definition", at(apply)),
        ("references", "textDocument/references", at(apply, context={"includeDeclaration": True})),
        ("rename", "textDocument/rename", at(apply, newName="other")),
        ("inlay hints", "textDocument/inlayHint", {**document, "range": ends}),
        ("symbols", "textDocument/documentSymbol", document),
        ("folding", "textDocument/foldingRange", document),
        ("code actions", "textDocument/codeAction",
         {**document, "range": ends, "context": {"diagnostics": []}}),
    ]


def timed(act):
    start = time.perf_counter()
    act()
    return (time.perf_counter() - start) * 1e3


def measure(program, each, rounds):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "project"
        project.make(root, TENSORS, each)
        path = sorted((root / "layouts").glob("*/m*.kdl"))[0]
        uri, text = path.as_uri(), path.read_text()
        server = Server(program, root)
        version, times = 0, {}

        def change(new):
            nonlocal version
            version += 1
            server.notify("textDocument/didChange", {
                "textDocument": {"uri": uri, "version": version},
                "contentChanges": [{"text": new}],
            })

        def note(name, took):
            times.setdefault(name, []).append(took)

        server.notify("textDocument/didOpen", {
            "textDocument": {"uri": uri, "languageId": "kdl", "version": 0, "text": text}
        })
        start = time.perf_counter()
        server.request("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
        note("open, first answer", (time.perf_counter() - start) * 1e3)
        broken = text.replace("c % 4", "c % 2", 1)
        for turn in range(rounds):
            new = (broken, text)[turn % 2]
            note("edit → diagnostics", timed(lambda: (change(new), server.diagnostics(uri))))
        for name, method, params in requests(uri, text):
            for turn in range(rounds):
                note(name, timed(lambda: server.request(method, params)))
            for turn in range(rounds):
                change(text + "\n" * (turn + 1))
                note(f"edit, {name}", timed(lambda: server.request(method, params)))
            change(text)
        server.request("shutdown", None)
        server.notify("exit", None)
        server.process.wait()
        return times


def main():
    program = str(Path(sys.argv[1]).resolve())
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    kinds = [("100 manifests", 10), ("one manifest", TENSORS)]
    results = [measure(program, each, rounds) for _, each in kinds]
    print("| | " + " | ".join(f"{name}: median, ms | max, ms" for name, _ in kinds) + " |")
    print("|---|" + "--:|" * 2 * len(kinds))
    for name in results[0]:
        cells = [f"{statistics.median(r[name]):.2f} | {max(r[name]):.2f}" for r in results]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
