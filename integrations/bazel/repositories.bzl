"""The program layoutc as a repository, and what Bazel needs of others where there is no network."""

def _local_impl(ctx):
    program = ctx.attr.path or ctx.os.environ.get("LAYOUTC") or ctx.which("layoutc")
    if not program:
        fail("there is no program layoutc in PATH; set LAYOUTC to its path, or say `path = ...`")
    ctx.symlink(program, "layoutc")
    ctx.file("BUILD.bazel", 'exports_files(["layoutc"], visibility = ["//visibility:public"])\n')

layoutc_local = repository_rule(
    implementation = _local_impl,
    doc = "The program that is installed, as `@<name>//:layoutc`. Its content is an input of every action.",
    attrs = {"path": attr.string(doc = "Its path [LAYOUTC, else what is in PATH].")},
    environ = ["LAYOUTC", "PATH"],
    local = True,
)

def _natives(names):
    return "".join(["%s = native.%s\n" % (name, name) for name in names])

_FILES = {
    "rules_cc": {
        "cc/BUILD": 'toolchain_type(name = "toolchain_type", visibility = ["//visibility:public"])\n',
        "cc/defs.bzl": _natives(["cc_binary", "cc_library", "cc_test", "cc_toolchain", "cc_toolchain_suite"]),
    },
    "rules_java": {
        "java/BUILD": "",
        "java/defs.bzl": _natives(["java_import", "java_library", "java_runtime", "java_toolchain"]),
    },
    "remote_coverage_tools": {
        "BUILD": "".join([
            'filegroup(name = "%s", visibility = ["//visibility:public"])\n' % name
            for name in ("coverage_report_generator", "lcov_merger")
        ]),
    },
}

def _stand_in_impl(ctx):
    ctx.file("WORKSPACE", "")
    for path, text in _FILES[ctx.name].items():
        ctx.file(path, text)

_stand_in = repository_rule(implementation = _stand_in_impl)

def stand_ins():
    """Repositories that Bazel 4 would download to compile C, as far as that needs them: native rules, no coverage."""
    for name in _FILES:
        _stand_in(name = name)
