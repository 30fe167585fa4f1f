# Makes C++ of CUDA: reads a .cu or .cuh, writes what any C++17 compiler takes with cuda_runtime.h beside this script.
#
#     awk -f launches.awk kernels.cu >kernels.cu.cpp
#
#     kernel<<<grid, block>>>(a, b);      layoutc_shim::launch(syncs, "kernel", layoutc_shim::Config(grid, block), kernel, a, b);
#     __shared__ float tile[32][33];      __shared__ float tile[32][33]; layoutc_shim::shared(&tile, sizeof tile);
#     extern __shared__ float tile[];     float *tile = layoutc_shim::dynamic<float>();
#     #pragma unroll 4                    (blank)
#
# `syncs` is whether the kernel's own body, in this file, has __syncthreads(). Comments and strings stay as they are;
# lines keep their numbers, and a #line says where they come from.

{ text = text $0 "\n" }

END {
    if (NR == 0) exit
    size = length(text)
    blank_out()
    find_syncs()
    printf "#line 1 \"%s\"\n", FILENAME
    rewrite()
}

# `plain`: the text with blanks in place of comments and of what is in quotes. One pass over characters.
function blank_out(    at, next_at, c, two, stop, quote, piece) {
    plain = ""
    rest = text
    while (match(rest, /\/\*|\/\/|"|'/)) {
        two = substr(rest, RSTART, RLENGTH)
        plain = plain substr(rest, 1, RSTART - 1)
        rest = substr(rest, RSTART)
        if (two == "/*") {
            stop = index(substr(rest, 3), "*/")
            stop = stop ? stop + 3 : length(rest)
        } else if (two == "//") {
            stop = index(rest, "\n") - 1
        } else if (two == "'" && plain ~ /[0-9a-fA-F]$/ && substr(rest, 2, 1) ~ /[0-9a-fA-F]/) {
            stop = 1 # 1'000
        } else {
            stop = 2
            while (stop <= length(rest) && substr(rest, stop, 1) != two)
                stop += substr(rest, stop, 1) == "\\" ? 2 : 1
        }
        piece = substr(rest, 1, stop)
        gsub(/[^\n]/, " ", piece)
        plain = plain piece
        rest = substr(rest, stop + 1)
    }
    plain = plain rest
}

# The position of the bracket that closes the one at `at`.
function closing(at,    open, close_, depth, c) {
    open = substr(plain, at, 1)
    close_ = open == "(" ? ")" : open == "{" ? "}" : ">"
    depth = 0
    for (; at <= size; at++) {
        c = substr(plain, at, 1)
        if (c == open) depth++
        else if (c == close_ && --depth == 0) return at
    }
    fault("a bracket is not closed", at)
}

function fault(what, at,    lines) {
    printf "%s:%d: %s\n", FILENAME, split(substr(text, 1, at), lines, "\n"), what >"/dev/stderr"
    exit 1
}

# Of each `__global__` function with a body: whether it waits.
function find_syncs(    from, at, name, body, head) {
    from = 1
    while (at = index(substr(plain, from), "__global__")) {
        at += from - 1
        from = at + length("__global__")
        head = substr(plain, from)
        sub(/^[^(]*__launch_bounds__[ \t\n]*\([^)]*\)/, "", head)
        from += length(substr(plain, from)) - length(head)
        at = from + index(head, "(") - 1
        name = substr(plain, from, at - from)
        sub(/[ \t\n]+$/, "", name)
        sub(/^.*[^A-Za-z0-9_]/, "", name)
        at = closing(at) + 1
        while (substr(plain, at, 1) ~ /[ \t\n]/) at++
        if (substr(plain, at, 1) != "{") continue
        body = substr(plain, at, closing(at) - at)
        syncs[name] = index(body, "__syncthreads") > 0
        from = at
    }
}

# Writes the text up to `to` and goes on from there.
function copy(to) {
    if (to > written) printf "%s", substr(text, written, to - written)
    written = to
}

function rewrite(    from, at, found) {
    written = 1
    from = 1
    while (match(substr(plain, from), /<<<|__shared__|#[ \t]*pragma[ \t]+unroll[^\n]*/)) {
        at = from + RSTART - 1
        found = substr(plain, at, RLENGTH)
        if (found == "<<<") from = rewrite_launch(at)
        else if (found == "__shared__") from = rewrite_shared(at)
        else {
            copy(at)
            from = written = at + RLENGTH
        }
    }
    copy(size + 1)
}

function rewrite_launch(at,    start, name, base, config, stop, open, last, arguments) {
    # Back over the kernel's name and its template arguments.
    start = at - 1
    while (substr(plain, start, 1) ~ /[ \t\n]/) start--
    if (substr(plain, start, 1) == ">") {
        while (start > 1 && substr(plain, start, 1) != "<") start--
        start--
    }
    while (start > 0 && substr(plain, start, 1) ~ /[A-Za-z0-9_:]/) start--
    name = substr(plain, start + 1, at - start - 1)
    sub(/[ \t\n]+$/, "", name)
    base = name
    sub(/<.*$/, "", base)
    sub(/^.*:/, "", base)
    if (base == "") fault("a launch of no kernel", at)
    stop = at + 3
    while (stop <= size && substr(plain, stop, 3) != ">>>") {
        if (substr(plain, stop, 1) == "(") stop = closing(stop)
        stop++
    }
    if (stop > size) fault("a launch without >>>", at)
    config = substr(text, at + 3, stop - at - 3)
    open = stop + 3
    while (substr(plain, open, 1) ~ /[ \t\n]/) open++
    if (substr(plain, open, 1) != "(") fault("a launch without arguments", at)
    last = closing(open)
    arguments = substr(text, open + 1, last - open - 1)
    copy(start + 1)
    printf "layoutc_shim::launch(%s, \"%s\", layoutc_shim::Config(%s), %s%s%s)", \
        syncs[base] ? "true" : "false", base, config, name, arguments ~ /[^ \t\n]/ ? ", " : "", arguments
    written = last + 1
    return written
}

function rewrite_shared(at,    stop, text_, name, type, head) {
    stop = at + index(substr(plain, at), ";") - 1
    text_ = substr(plain, at + length("__shared__"), stop - at - length("__shared__"))
    name = text_
    sub(/[ \t\n]*(\[.*)?$/, "", name)
    type = name
    sub(/^.*[^A-Za-z0-9_]/, "", name)
    if (name == "" || index(text_, ",") > 0) fault("__shared__: one variable a declaration", at)
    head = substr(plain, 1, at - 1)
    if (match(head, /extern[ \t\n]+$/)) {
        sub(/[ \t\n*]*[A-Za-z0-9_]+$/, "", type)
        gsub(/__align__[ \t]*\([^)]*\)|__attribute__[ \t]*\(\([^)]*\)\)/, "", type)
        copy(RSTART)
        printf "%s *%s = layoutc_shim::dynamic<%s>();", type, name, type
        written = stop + 1
    } else {
        copy(stop + 1)
        printf " layoutc_shim::shared(&%s, sizeof %s);", name, name
    }
    return stop + 1
}
