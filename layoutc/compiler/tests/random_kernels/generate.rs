//! Generator of random kernels: elementwise values, reductions, windows, gather and scatter on tensors in random
//! layouts, with and without schedules.

use std::fmt::Write as _;

use layoutc_testing::Random;

/// Extents of the axes of a kernel.
#[derive(Clone, Copy)]
struct Axes {
    i: usize,
    j: usize,
    k: usize,
    /// Rows of a window.
    r: usize,
    /// Rows of a table.
    v: usize,
}

/// A random kernel with its tensors.
pub struct Draft {
    /// The tensors, then the kernel up to its schedule.
    pub text: String,
    /// Schedule nodes for the loops.
    pub schedule: String,
}

impl Draft {
    /// Text of the kernel, with `with` as its schedule.
    pub fn kernel(&self, with: &str) -> String {
        format!("{}    {with}\n}}\n", self.text)
    }
}

/// A random layout of a tensor of two axes.
fn layout(random: &mut Random, [a, b]: [&str; 2], columns: usize) -> String {
    let by = 1 + random.below(6);
    let other = 1 + random.below(6);
    match random.below(9) {
        0 | 1 => format!("order {a} {b}"),
        2 => format!("order {b} {a}"),
        3 => format!("split {b} by={by}; padding allow; order {b}_outer {a} {b}_inner"),
        4 => format!("split {a} by={by}; padding allow; order {a}_outer {b} {a}_inner"),
        5 => format!("tile {by} {other}"),
        6 => format!("strides {} 1; padding allow", columns + random.below(5)),
        7 => format!(
            "pad {a} multiple=8; pad {b} multiple=8; swizzle {} 0 3 unit=elements; padding allow",
            1 + random.below(3)
        ),
        _ => format!("map \"({a}, {b}) -> ({b} // {by}, {a}, {b} % {by})\"; padding allow"),
    }
}

fn tensor(
    text: &mut String,
    random: &mut Random,
    (name, dtype): (&str, &str),
    axes: [(&str, usize); 2],
) {
    let [(a, m), (b, n)] = axes;
    let windows = [m, n].map(|extent| window(random, extent));
    let is_view = random.one_in(4);
    let (owner, extents) = if is_view {
        (format!("{name}_memory"), windows.each_ref().map(|window| window.extent))
    } else {
        (name.to_owned(), [m, n])
    };
    let layout = layout(random, [a, b], extents[1]);
    let [rows, columns] = extents;
    writeln!(
        text,
        "tensor {owner} dtype={dtype} {{ shape {{ {a} {rows}; {b} {columns} }}; layout {{ {layout} }} }}"
    )
    .unwrap();
    if is_view {
        let [first, second] = windows.map(|window| window.index);
        let (first, second) = (first.replace('x', a), second.replace('x', b));
        writeln!(
            text,
            "view {name} of={owner} {{ shape {{ {a} {m}; {b} {n} }}; map \"({a}, {b}) -> ({first}, {second})\" }}"
        )
        .unwrap();
    }
}

/// A window along an axis of the viewed tensor.
struct Window {
    /// Index in the viewed tensor of index `x` of the window.
    index: String,
    /// Extent of the axis of the viewed tensor.
    extent: usize,
}

/// A random window of `extent` indices: all of an axis, or shifted, strided or reversed indices.
fn window(random: &mut Random, extent: usize) -> Window {
    let (before, after) = (random.below(9), random.below(5));
    let step = 2 + random.below(2);
    match random.below(4) {
        0 => Window { index: "x".to_owned(), extent },
        1 => Window { index: format!("x + {before}"), extent: before + extent + after },
        2 => Window {
            index: format!("{step} * x + {before}"),
            extent: before + step * extent + after,
        },
        _ => Window {
            index: format!("{} - x", before + extent - 1),
            extent: before + extent + after,
        },
    }
}

fn line(text: &mut String, (name, dtype): (&str, &str), (axis, extent): (&str, usize)) {
    writeln!(text, "tensor {name} dtype={dtype} {{ shape {{ {axis} {extent} }} }}").unwrap();
}

/// A random expression of one type.
fn value(random: &mut Random, leaves: &[String], is_float: bool, depth: usize) -> String {
    if depth == 0 || random.below(5) == 0 {
        return match random.below(4) {
            0 if is_float => format!("{}.5", random.below(3)),
            0 => format!("{}", 1 + random.below(5)),
            _ => leaves[random.below(leaves.len())].clone(),
        };
    }
    let [a, b] = [(); 2].map(|()| value(random, leaves, is_float, depth - 1));
    let c = &leaves[0];
    match random.below(8) {
        0 | 1 => format!("({a} + {b})"),
        2 => format!("({a} - {b})"),
        3 => format!("({a} * {c})"),
        4 => format!("min({a}, {b}, {c})"),
        5 => format!("max({a}, {b}, {c})"),
        6 => format!("select({c} > {b}, {a}, {c})"),
        _ => format!("abs({a} + {c})"),
    }
}

/// A random kernel with this number.
pub fn draft(random: &mut Random, number: usize) -> Draft {
    let axes = Axes {
        i: 1 + random.below(20),
        j: 1 + random.below(37),
        k: 1 + random.below(12),
        r: 1 + random.below(4),
        v: 1 + random.below(9),
    };
    let ty = *random.pick(&["f32", "f32", "f64", "i32", "f16", "i8", "u8", "bf16", "i64"]);
    let is_float = ty.contains('f');
    let named = |name: &str| format!("{name}{number}");
    let mut text = String::new();
    let [a, b, w, t, s, o] = ["A", "B", "W", "T", "S", "O"].map(named);
    let index_type = *random.pick(&["i64", "i32", "u8", "i16", "u16", "u32", "i8"]);
    let (i, j) = (axes.i, axes.j);
    tensor(&mut text, random, (&a, ty), [("i", i), ("j", j)]);
    tensor(&mut text, random, (&t, ty), [("v", axes.v), ("j", j)]);
    line(&mut text, (&w, ty), ("r", axes.r));
    line(&mut text, (&s, index_type), ("i", i));
    let leaf_of_table = match random.below(3) {
        0 => format!("{t}[{s}[i], j]"),
        1 => format!("({t}[{s}[i] + 1, j] ?? 1)"),
        _ => format!("{t}[max({s}[i], 0) // 2, j]"),
    };
    let window = random.below(axes.r + 1);
    let schedule_axes;
    let mut computed_at = String::new();
    let compute = match random.below(8) {
        0 => {
            tensor(&mut text, random, (&b, ty), [("j", j), ("i", i)]);
            tensor(&mut text, random, (&o, ty), [("i", i), ("j", j)]);
            let other = if random.one_in(4) { format!("{o}[i, j]") } else { format!("{b}[j, i]") };
            let leaves = [format!("{a}[i, j]"), other];
            schedule_axes = vec!["i", "j"];
            format!("{o}[i, j] = {}", value(random, &leaves, is_float, 3))
        }
        1 => {
            tensor(&mut text, random, (&b, ty), [("j", j), ("k", axes.k)]);
            tensor(&mut text, random, (&o, ty), [("i", i), ("k", axes.k)]);
            let op = *random.pick(&["+=", "min=", "max="]);
            schedule_axes = vec!["i", "k", "j"];
            let reduced = format!("{op} {a}[i, j] * {b}[j, k]");
            let leaf = format!("{b}[0, k]");
            reduction(random, (&format!("{o}[i, k]"), &reduced), leaf, is_float)
        }
        2 => {
            line(&mut text, (&o, ty), ("i", i));
            let op = *random.pick(&["+=", "min=", "max="]);
            let leaves = [format!("{a}[i, j]")];
            schedule_axes = vec!["i", "j"];
            let reduced = format!("{op} {}", value(random, &leaves, is_float, 2));
            reduction(random, (&format!("{o}[i]"), &reduced), format!("{w}[0]"), is_float)
        }
        3 => {
            tensor(&mut text, random, (&o, ty), [("i", i), ("j", j)]);
            schedule_axes = Vec::new();
            let (lines, locals) = rows(random, [&a, &o, &w], is_float);
            computed_at = locals;
            lines
        }
        4 => {
            tensor(&mut text, random, (&o, ty), [("i", i), ("j", j)]);
            let op = *random.pick(&["+=", "max="]);
            let outside = *random.pick(&["0", "1"]);
            schedule_axes = vec!["i", "j", "r"];
            format!("{o}[i, j] {op} ({a}[i, j + r - {window}] ?? {outside}) * {w}[r]")
        }
        5 => {
            // Reductions of the whole tensor, in one scope with all statements.
            tensor(&mut text, random, (&o, ty), [("i", i), ("j", j)]);
            schedule_axes = Vec::new();
            let reduced = ["top", "all"].map(|name| {
                let op = *random.pick(&["+=", "max=", "min="]);
                format!("{name}[] {op} {a}[i, j]")
            });
            let leaves = [format!("{a}[i, j]"), "top[]".to_owned(), "all[]".to_owned()];
            format!("{}\n{o}[i, j] = {}", reduced.join("\n"), value(random, &leaves, is_float, 2))
        }
        6 => {
            tensor(&mut text, random, (&o, ty), [("i", i), ("j", j)]);
            let leaves = [leaf_of_table, format!("{a}[i, j]")];
            schedule_axes = vec!["i", "j"];
            format!("{o}[i, j] = {}", value(random, &leaves, is_float, 2))
        }
        _ => {
            tensor(&mut text, random, (&o, ty), [("v", axes.v), ("j", j)]);
            let op = *random.pick(&["=", "+=", "max=", "min="]);
            schedule_axes = Vec::new();
            let leaves = [format!("{a}[i, j]")];
            format!("{o}[{s}[i], j] {op} {}", value(random, &leaves, is_float, 1))
        }
    };
    writeln!(text, "kernel k{number} {{").unwrap();
    for statement in compute.lines() {
        writeln!(text, "    compute \"{statement}\"").unwrap();
    }
    let first = compute.lines().next().unwrap_or_default();
    let count = schedule_axes.len();
    let written = if first.contains(" = ") { count } else { count.saturating_sub(1) };
    let schedule = if random.one_in(3) && !schedule_axes.is_empty() {
        complete(random, &schedule_axes, written)
    } else {
        schedule(random, &schedule_axes)
    };
    let schedule = if computed_at.is_empty() { schedule } else { computed_at };
    Draft { text, schedule }
}

/// A random schedule of the loops. It is rejected if a layout splits an axis, which renames its loops.
fn schedule(random: &mut Random, axes: &[&str]) -> String {
    let Some(first) = axes.first() else { return String::new() };
    let last = axes.get(1).unwrap_or(first);
    let by = 1 + random.below(8);
    if random.one_in(2) {
        return ordered(random, axes);
    }
    match random.below(8) {
        0 => format!("vectorize {last}"),
        1 => format!("parallel {first}"),
        2 => format!("tile {first} {last} by=\"{by} {}\"", 1 + random.below(16)),
        3 => format!("split {first} by={by}; unroll {first}_inner"),
        4 => format!("split {last} by={by}; vectorize {last}_inner"),
        5 => format!("parallel {first}; vectorize {last}"),
        _ => String::new(),
    }
}

/// Statements that compute rows of `o` from rows of `a` by reductions of rows, such as a softmax, some of which read
/// other rows, or write a row that a later one reads; and intermediates that are computed row by row.
fn rows(random: &mut Random, [a, o, w]: [&str; 3], is_float: bool) -> (String, String) {
    let other = *random.pick(&["i", "i", "i", "0", "i - 1"]);
    let read = |name: &str, row: &str| match row {
        "i - 1" => format!("({name}[i - 1] ?? 1)"),
        row => format!("{name}[{row}]"),
    };
    let op = *random.pick(&["+=", "max=", "min="]);
    let mut lines = vec![format!("m[i] {op} {a}[i, j]")];
    if random.one_in(2) {
        lines.push(format!("s[i] += {a}[i, j] * {}", read("m", other)));
    } else {
        lines.push(format!("s[i] = {} + {w}[0]", read("m", other)));
    }
    let mut leaves = vec![format!("{a}[i, j]"), "m[i]".to_owned(), read("s", other)];
    let dtype = if is_float { "f32" } else { "i32" };
    let mut locals = Vec::new();
    if random.one_in(2) {
        // A row of an intermediate, some of it read by all elements of the row.
        let row = value(random, &leaves, is_float, 2);
        lines.push(format!("h[i, j] = {row}"));
        lines.push("q[i] += h[i, j]".to_owned());
        leaves.extend(["h[i, j]", "h[i, 0]", "q[i]"].map(str::to_owned));
        let at = *random.pick(&["", " at=i", " at=i", " at=j"]);
        locals.push(format!("local h dtype={dtype}{at}"));
    }
    for name in ["m", "s"] {
        if random.one_in(3) {
            locals.push(format!("local {name} dtype={dtype} at=i"));
        }
    }
    lines.push(format!("{o}[i, j] = {}", value(random, &leaves, is_float, 2)));
    if random.one_in(3) {
        let row = *random.pick(&["i", "i - 1"]);
        let extent = if row == "i" { "i, j]" } else { "i, j - 1] ?? 2" };
        lines.push(format!("{o}[i, j] = ({o}[i, j] + ({a}[{extent}))"));
    }
    (lines.join("\n"), locals.join("; "))
}

/// A reduction that writes `target`, or an intermediate from which a second statement computes `target`; `leaf` is a
/// read that it may use.
fn reduction(
    random: &mut Random,
    (target, reduced): (&str, &str),
    leaf: String,
    is_float: bool,
) -> String {
    if random.one_in(2) {
        return format!("{target} {reduced}");
    }
    let index = target.split_once('[').unwrap_or_default().1;
    let leaf = if random.one_in(4) { target.to_owned() } else { leaf };
    let leaves = [format!("sums[{index}"), leaf];
    format!("sums[{index} {reduced}\n{target} = {}", value(random, &leaves, is_float, 2))
}

/// A random complete schedule. The last of `axes` is reduced if there are more axes than `written`.
fn complete(random: &mut Random, axes: &[&str], written: usize) -> String {
    let mut nodes = Vec::new();
    let (mut outer, mut inner) = (Vec::new(), Vec::new());
    for (k, axis) in axes.iter().enumerate() {
        let is_reduced = k >= written;
        if random.one_in(2) {
            let by = if is_reduced { 1 << (1 + random.below(3)) } else { 1 + random.below(8) };
            nodes.push(format!("split {axis} by={by}"));
            outer.push(format!("{axis}_outer"));
            inner.push(format!("{axis}_inner"));
        } else {
            outer.push((*axis).to_owned());
        }
    }
    let reduced = axes.get(written).map(|axis| [format!("{axis}_outer"), format!("{axis}_inner")]);
    let is_split = |names: &[String; 2]| inner.contains(&names[1]);
    let special = random.below(4);
    let whole = axes.get(written).filter(|axis| outer.iter().any(|name| name == *axis));
    if let Some(whole) = whole.filter(|_| special < 2) {
        // Each chunk is one value.
        outer.retain(|name| name != whole);
        outer.append(&mut inner);
        random.shuffle(&mut outer);
        return format!(
            "schedule {{ {}; loops {whole} {}; split-k {whole} }}",
            nodes.join("; "),
            outer.join(" ")
        );
    }
    match reduced.filter(|names| is_split(names) && special < 3) {
        Some([around, lanes]) if special == 2 => {
            // Partial sums in each chunk.
            outer.retain(|name| *name != around);
            inner.retain(|name| *name != lanes);
            random.shuffle(&mut outer);
            nodes.push(format!("split {lanes} by=2"));
            outer.insert(0, around.clone());
            outer.push(format!("{lanes}_outer"));
            inner.push(format!("{lanes}_inner"));
            nodes.push(format!("split-k {around}; partial-sums {lanes}_inner"));
        }
        Some([around, lanes]) if special == 0 => {
            outer.retain(|name| *name != around);
            inner.retain(|name| *name != lanes);
            random.shuffle(&mut outer);
            outer.push(around);
            inner.push(lanes.clone());
            nodes.push(format!("partial-sums {lanes}"));
        }
        Some([around, _]) => {
            outer.retain(|name| *name != around);
            random.shuffle(&mut outer);
            outer.insert(0, around.clone());
            random.shuffle(&mut inner);
            nodes.push(format!("split-k {around}"));
        }
        None => {
            outer.append(&mut inner);
            random.shuffle(&mut outer);
        }
    }
    let loops = [outer, inner].concat();
    nodes.push(format!("loops {}", loops.join(" ")));
    if random.one_in(3) {
        nodes.push(format!("unroll {}", random.pick(&loops)));
    }
    if random.one_in(3) {
        nodes.push(format!("parallel {}", random.pick(&loops)));
    }
    format!("schedule {{ {} }}", nodes.join("; "))
}

/// A random schedule with splits and an order of some or all of the loops.
fn ordered(random: &mut Random, axes: &[&str]) -> String {
    let mut nodes = Vec::new();
    let mut loops = Vec::new();
    for axis in axes {
        if random.one_in(3) {
            nodes.push(format!("split {axis} by={}", 1 + random.below(8)));
            loops.extend([format!("{axis}_outer"), format!("{axis}_inner")]);
        } else {
            loops.push((*axis).to_owned());
        }
    }
    if random.one_in(4) {
        nodes.push(format!("fuse {} {} as=fused", loops[0], loops[1]));
        loops.splice(0..2, ["fused".to_owned()]);
    }
    if random.one_in(3) {
        nodes.push(format!("unroll {}", random.pick(&loops)));
    }
    if random.one_in(3) {
        nodes.push(format!("vectorize {}", loops[loops.len() - 1]));
    }
    random.shuffle(&mut loops);
    loops.truncate(1 + random.below(loops.len()));
    if !random.one_in(3) {
        nodes.push(format!("loops {}", loops.join(" ")));
    }
    if random.one_in(3) {
        nodes.push(format!("parallel {}", loops[0]));
    }
    nodes.join("; ")
}
