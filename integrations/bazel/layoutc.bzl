"""Tensor layouts as C libraries: one hermetic action for each manifest.

    load("@rules_layoutc//:layoutc.bzl", "layoutc_library")

    layoutc_library(
        name = "layouts",
        srcs = glob(["layouts/**/*.kdl"]),
        deps = ["//shared:blocks.kdl"],
        config = "layoutc.toml",
    )

    cc_binary(name = "a", srcs = ["a.c"], deps = [":layouts"])
"""

# Folder before a manifest's path and suffix after it, for each language, and the part of `emit` that asks for the file.
_FILES = {
    "c": [
        ("", ".h", None),
        ("", ".c", "pack"),
        ("tests", "_test.c", "test"),
        ("bench", "_bench.c", "bench"),
        ("mpi", "_mpi.h", "mpi"),
        ("mpi", "_mpi.c", "mpi"),
        ("tests", "_mpi_test.c", "mpi"),
    ],
    "opencl": [("", ".cl", None), ("", ".h", None)],
    "cuda": [("", ".cuh", None), ("", ".cu", None)],
    "hip": [("", ".hip.h", None), ("", ".hip", None)],
    "rust": [("", ".rs", None)],
}

def _join(*parts):
    return "/".join([part for part in parts if part not in ("", ".")])

def _below(path, folder):
    """The path below a folder; None: it is elsewhere."""
    if folder in ("", "."):
        return path
    return path[len(folder) + 1:] if path.startswith(folder + "/") else None

def _outputs(ctx, path):
    """The paths of the files that are made of a manifest, as layoutc names them, with what each is."""
    stem = _below(path, ctx.attr.strip) or path
    stem = stem[:-len(".kdl")] if stem.endswith(".kdl") else stem
    emit = ctx.attr.emit

    # Programs that test or measure need what moves elements.
    moves = [part for part in ("pack", "test", "bench") if part in emit]
    outputs = []
    for target in ctx.attr.targets:
        if target in ctx.attr.extensions:
            outputs.append((_join(target, stem) + "." + ctx.attr.extensions[target], "other"))
            continue
        if target not in _FILES:
            fail("say what the target `%s` writes: `extensions = {\"%s\": ...}`" % (target, target))
        for folder, suffix, part in _FILES[target]:
            if part == None or part in emit or part == "pack" and moves:
                kind = {"test": "tests", "bench": "benches"}.get(part, "other")
                if target == "c" and suffix in (".h", ".c"):
                    kind = "headers" if suffix == ".h" else "sources"
                outputs.append((_join(target, folder, stem) + suffix, kind))
    return outputs

def _staged(ctx, files):
    """Links to all files in one folder, each at its path in its repository; and that folder."""
    folder = ctx.label.name + ".inputs"
    staged = {}
    for file in files:
        path = file.short_path
        path = "external/" + path[len("../"):] if path.startswith("../") else path
        link = ctx.actions.declare_file(_join(folder, path))
        ctx.actions.symlink(output = link, target_file = file)
        staged[file] = link
    return staged, _join(ctx.bin_dir.path, ctx.label.workspace_root, ctx.label.package, folder)

def _impl(ctx):
    config = [ctx.file.config] if ctx.file.config else []
    shared = config + ctx.files.templates + ctx.files.deps
    files = {file: file for file in shared + ctx.files.srcs}
    before = ""

    # Manifests name each other by their places, and those of what is generated are not those of the sources.
    if [file for file in files if not file.is_source]:
        files, before = _staged(ctx, files.keys())

    folder = _join(ctx.label.workspace_root, ctx.label.package)
    if ctx.file.config:
        folder = _join(ctx.file.config.short_path[:-len("layoutc.toml")].rstrip("/"))
        folder = "external/" + folder[len("../"):] if folder.startswith("../") else folder
    root = _join(before, folder) or "."
    out = _join(ctx.bin_dir.path, ctx.label.workspace_root, ctx.label.package, ctx.label.name)

    kinds = {kind: [] for kind in ("headers", "sources", "tests", "benches", "other")}

    # Each run writes the shared runtime of a project; the first one declares it.
    is_shared = ctx.file.config and ctx.attr.runtime == "shared" and "c" in ctx.attr.targets
    runtime = ["c/layoutc_runtime.h"] if is_shared and [part for part in ctx.attr.emit if part in ("pack", "test", "bench")] else []
    for src in ctx.files.srcs:
        manifest = files[src]
        path = _below(manifest.path, root)
        if path == None:
            fail("`%s` is not in the project's folder, `%s`" % (src.short_path, folder or "."))
        outputs = []
        for name, kind in _outputs(ctx, path):
            output = ctx.actions.declare_file(_join(ctx.label.name, name))
            kinds[kind].append(output)
            outputs.append(output)
        for name in runtime:
            output = ctx.actions.declare_file(_join(ctx.label.name, name))
            kinds["headers"].append(output)
            outputs.append(output)
        runtime = []
        args = ctx.actions.args()
        args.add("build").add(manifest)
        args.add("--root", root)
        args.add("--out", out)
        args.add_all(ctx.attr.targets, before_each = "--target")
        args.add_all(["--jobs", "1", "--quiet"])
        ctx.actions.run(
            executable = ctx.executable.layoutc,
            arguments = [args],
            inputs = [manifest] + [files[file] for file in shared],
            outputs = outputs,
            mnemonic = "Layoutc",
            progress_message = "Laying out %s" % src.short_path,
        )

    groups = {kind: depset(found) for kind, found in kinds.items()}
    return [
        DefaultInfo(files = depset(transitive = groups.values())),
        OutputGroupInfo(**groups),
    ]

layoutc_files = rule(
    implementation = _impl,
    doc = "What layoutc makes of manifests, below `<name>/<target>/`. Output groups: `headers` and `sources` of C, its " +
          "`tests` and `benches`, which are programs, and `other`.",
    attrs = {
        "config": attr.label(
            doc = "The configuration, layoutc.toml. Its folder is the project's; without one that is this package.",
            allow_single_file = ["layoutc.toml"],
        ),
        "deps": attr.label_list(
            doc = "The manifests that these use, directly or not.",
            allow_files = [".kdl"],
        ),
        "emit": attr.string_list(
            doc = "What `[target.c] emit` of the configuration says: which files there are must be known before. And `mpi` where all of the " +
                  "manifests convert tensors that are cut over devices.",
            default = ["constants", "index", "pack", "test"],
        ),
        "extensions": attr.string_dict(
            doc = "The `extension` of each target of the project's own.",
        ),
        "layoutc": attr.label(
            doc = "The program.",
            default = "@layoutc//:layoutc",
            allow_single_file = True,
            cfg = "exec",
            executable = True,
        ),
        "runtime": attr.string(
            doc = "The value of `[target.c] runtime` in the configuration; without one it is \"inline\".",
            default = "shared",
            values = ["inline", "shared"],
        ),
        "srcs": attr.label_list(
            doc = "The manifests.",
            allow_files = [".kdl"],
            mandatory = True,
        ),
        "strip": attr.string(
            doc = "The folder that all `sources` of the configuration begin with: it is no part of the outputs' paths.",
            default = "layouts",
        ),
        "targets": attr.string_list(
            doc = "The targets that are written.",
            default = ["c"],
        ),
        "templates": attr.label_list(
            doc = "The project's own templates: all that its templates folder holds.",
            allow_files = True,
        ),
    },
)

def layoutc_library(name, visibility = None, testonly = None, tags = None, linkopts = None, **kwargs):
    """A cc_library of the C that layoutc makes of manifests, with its headers to include.

    `<name>.files` is what `layoutc_files` gives; `<name>.headers`, `<name>.sources` and `<name>.tests` are its groups.

    Args:
      name: the library's name
      visibility: who may use it
      testonly: whether only tests may
      tags: of all targets
      linkopts: of the library
      **kwargs: the attributes of `layoutc_files`: srcs, deps, config, ...
    """
    common = {"visibility": visibility, "testonly": testonly, "tags": tags}
    layoutc_files(name = name + ".files", **dict(kwargs, **common))
    for group in ("headers", "sources", "tests"):
        native.filegroup(name = "%s.%s" % (name, group), srcs = [name + ".files"], output_group = group, **common)
    native.cc_library(
        name = name,
        hdrs = [name + ".headers"],
        srcs = [name + ".sources"],
        includes = [name + ".files/c"],
        linkopts = linkopts,
        **common
    )
