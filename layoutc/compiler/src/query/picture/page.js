"use strict";
const data = /*DATA*/;
const element = id => document.getElementById(id);
const widest = 100;
const last = data.steps.length + 1;
const cells = new Map();
const marks = new Map();
let kept = null;

// The axes after a step, 0 being none yet; null after the last one: memory.
const axesAt = step => step === 0 ? data.axes : step < last ? data.steps[step - 1].axes : null;
const indexAt = (cell, step) => step === 0 ? cell.index : cell.steps[step - 1];

// Row-major position of a cell over the axes after a step; after the last step its offset.
function orderAt(cell, step) {
  const axes = axesAt(step);
  if (!axes) return BigInt(cell.offset);
  const index = indexAt(cell, step);
  return axes.reduce((sum, axis, k) => sum * BigInt(axis.extent) + BigInt(index[k]), 0n);
}

// Text of a cell in the grid: its order, or after the last step its label.
const textAt = (cell, step) => step === last && data.labelAxes !== null
  ? cell.label
  : String(orderAt(cell, step));

// Text of `layoutc trace`.
function way(cell) {
  const lines = [];
  const named = (names, values) => new Map([...Object.entries(data.symbols), ...names.map((n, k) => [n, values[k]])]);
  const numbers = (expr, values) => expr.replace(/[A-Za-z_]\w*/g, name => values.has(name) ? values.get(name) : name);
  const parts = (term, value, known) => {
    const said = numbers(term.expr, known);
    const equal = text => text !== term.name && text !== String(value) ? ` = ${text}` : "";
    return [term.name, equal(term.expr), said === term.expr ? "" : equal(said), String(value)];
  };
  const block = (terms, values, known, step) => {
    const rows = terms.map((term, k) => parts(term, values[k], known));
    const width = [0, 1, 2, 3].map(column => Math.max(0, ...rows.map(row => row[column].length)));
    const stacks = width.reduce((a, b) => a + b) > widest;
    rows.forEach(([name, expr, said, value], k) => {
      const line = text => text ? `${text}\n      ${"".padEnd(width[0])}` : "";
      const middle = stacks ? line(expr) + line(said) : expr.padEnd(width[1]) + said.padEnd(width[2]);
      const of = terms[k].extent === null ? "" : `  of ${terms[k].extent}`;
      lines.push([step, `      ${name.padEnd(width[0])}${middle} = ${value.padStart(width[3])}${of}`]);
    });
  };
  const symbols = Object.entries(data.symbols).map(([name, value]) => `${name} = ${value}`);
  const where = symbols.length ? ` where ${symbols.join(", ")}` : "";
  lines.push([0, `${data.tensor}[${cell.index.join(", ")}]${where}`]);
  let known = named(data.axes.map(axis => axis.name), cell.index);
  data.steps.forEach((step, k) => {
    lines.push([k + 1, `  ${step.line}`]);
    if (step.note) lines.push([k + 1, `      ${step.note}`]);
    if (step.isMap) block(step.axes, cell.steps[k], known, k + 1);
    known = named(step.axes.map(axis => axis.name), cell.steps[k]);
  });
  lines.push([last, "  physical"]);
  block(data.physical, cell.physical, known, last);
  known = named(data.physical.map(axis => axis.name), cell.physical);
  const [name, expr, said, value] = parts({ name: "offset", expr: data.offset }, cell.offset, known);
  lines.push([last, `  ${name}${expr}${said} = ${value}`]);
  return lines;
}

function tag(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

// Registers a node of the page that represents an element.
function mark(node, index) {
  const key = index.join(",");
  if (!marks.has(key)) marks.set(key, []);
  marks.get(key).push(node);
  node.dataset.index = key;
  node.addEventListener("mouseenter", () => show(key));
  node.addEventListener("mouseleave", () => show(kept));
  node.addEventListener("click", () => keep(key));
}

const spoken = index => data.axes.map((axis, k) => `${axis.name} ${index[k]}`).join(", ") || "the element";
const short = index => data.drawn.filter(axis => axis !== null).map(axis => index[axis]).join(",") || "[]";

function heads(columns, name) {
  const row = tag("tr", { role: "row" }, tag("th", {}));
  columns.forEach((column, k) => {
    if (apart(columns, k)) row.append(tag("th", {}, "…"));
    row.append(tag("th", { scope: "col", role: "columnheader" }, name(column)));
  });
  return row;
}
const apart = (all, k) => k === 0 ? all[0] > 0 : all[k] - all[k - 1] > 1;

function drawGrid(step) {
  const table = element("grid");
  table.replaceChildren(heads(data.columns, column => data.drawn[1] === null ? "" : String(column)));
  data.cells.forEach((row, r) => {
    if (apart(data.rows, r)) table.append(tag("tr", { class: "gap" }, tag("th", {}, "⋮")));
    const line = tag("tr", { role: "row" });
    line.append(tag("th", { scope: "row", role: "rowheader" }, data.drawn[0] === null ? "" : String(data.rows[r])));
    row.forEach((cell, c) => {
      if (apart(data.columns, c)) line.append(tag("td", { class: "gap" }, "…"));
      const classes = [`left${data.columnRules[c]}`, `top${data.rowRules[r]}`];
      let node;
      if (cell && cell.index) {
        const text = textAt(cell, step);
        const what = step < last ? "position" : data.labelAxes ?? "offset";
        const label = `${spoken(cell.index)}: ${what} ${text}`;
        node = tag("td", { class: `c${cell.color} ${classes.join(" ")}`, role: "gridcell", tabindex: -1, "aria-label": label }, text);
        mark(node, cell.index);
        node.addEventListener("focus", () => { rove(node); keep(node.dataset.index); });
      } else if (cell && step === last) {
        node = tag("td", { class: `padding ${classes.join(" ")}`, role: "gridcell", "aria-label": `padding: offset ${cell.padding}` }, data.labelAxes === null ? String(cell.padding) : "");
      } else {
        node = tag("td", { role: "gridcell" });
      }
      node.dataset.row = r;
      node.dataset.column = c;
      line.append(node);
    });
    table.append(line);
  });
  rove(table.querySelector("td[tabindex]"));
}

// The cell in the tab order.
function rove(node) {
  for (const other of element("grid").querySelectorAll("td[tabindex='0']")) other.tabIndex = -1;
  if (node) node.tabIndex = 0;
}

function slotNode(slot, offset) {
  if (slot === null) return tag("td", {});
  if (slot === "padding") return tag("td", { class: "padding", title: `offset ${offset}: padding` });
  if (slot === "unknown") return tag("td", { class: "other", title: `offset ${offset}` }, "?");
  if (slot.other) {
    const whose = slot.other.length ? `[${slot.other.join(", ")}]` : "outside of the view";
    return tag("td", { class: "other", title: `offset ${offset}: ${whose}` }, "·");
  }
  const node = tag("td", { class: `c${slot.color}`, title: `offset ${offset}` }, short(slot.index));
  mark(node, slot.index);
  return node;
}

function drawMemory() {
  const { memory } = data;
  const table = element("memory");
  table.classList.toggle("matrix", memory.isMatrix);
  table.replaceChildren(heads(memory.columns, column => memory.isMatrix ? String(column) : `+${column}`));
  memory.rows.forEach((row, r) => {
    if (apart(memory.numbers, r)) table.append(tag("tr", { class: "gap" }, tag("th", {}, "⋮")));
    const line = tag("tr", {}, tag("th", { scope: "row" }, row.label));
    row.slots.forEach((slot, c) => {
      if (apart(memory.columns, c)) line.append(tag("td", { class: "gap" }, "…"));
      const node = slotNode(slot, BigInt(row.offset) + BigInt(memory.columns[c]) * BigInt(memory.step));
      if (memory.columnRules[c]) node.classList.add(`left${memory.columnRules[c]}`);
      if (row.rule) node.classList.add(`top${row.rule}`);
      line.append(node);
    });
    table.append(line);
  });
}

// Elements in their order after a step, in rows of the innermost axes.
function drawOrder(step) {
  let width = 1n;
  for (const axis of axesAt(step).toReversed()) {
    const wider = width * BigInt(axis.extent);
    if (wider > 8n && width > 1n) break;
    width = wider;
  }
  const rows = new Map();
  for (const cell of cells.values()) {
    const order = orderAt(cell, step);
    const row = order / width;
    if (!rows.has(row)) rows.set(row, new Map());
    rows.get(row).set(Number(order % width), cell);
  }
  const used = new Set([...rows.values()].flatMap(row => [...row.keys()]));
  const columns = width <= 64n ? [...Array(Number(width)).keys()] : [...used].sort((a, b) => a - b);
  const table = element("memory");
  table.classList.remove("matrix");
  table.replaceChildren(heads(columns, column => `+${column}`));
  let before = -1n;
  for (const row of [...rows.keys()].sort((a, b) => a < b ? -1 : 1)) {
    if (row - before > 1n) table.append(tag("tr", { class: "gap" }, tag("th", {}, "⋮")));
    before = row;
    const line = tag("tr", {}, tag("th", { scope: "row" }, String(row * width)));
    columns.forEach((column, k) => {
      if (apart(columns, k)) line.append(tag("td", { class: "gap" }, "…"));
      const cell = rows.get(row).get(column);
      line.append(cell ? slotNode({ index: cell.index, color: cell.color }, row * width + BigInt(column)) : tag("td", { class: "other" }));
    });
    table.append(line);
  }
}

function draw() {
  const step = Number(element("step").value);
  const focused = document.activeElement?.dataset?.index;
  marks.clear();
  drawGrid(step);
  if (step === last) drawMemory(); else drawOrder(step);
  const name = step === 0 ? "logical order" : step < last ? data.steps[step - 1].line : "memory";
  element("step-name").textContent = `${step} of ${last}: ${name}`;
  element("step").setAttribute("aria-valuetext", name);
  element("grid-name").textContent = `${step < last ? "Positions" : data.labelAxes ?? "Offsets"}: ${data.frame}`;
  const axes = axesAt(step);
  element("memory-name").textContent = axes
    ? `In order of ${axes.map(axis => `${axis.name} ${axis.extent}`).join(", ") || "one element"}`
    : `Memory: ${data.memoryText}`;
  show(kept);
  const again = focused && element("grid").querySelector(`td[data-index="${focused}"]`);
  if (again) again.focus();
}

// Highlights an element wherever it is drawn, and shows its trace.
function show(key) {
  for (const node of document.querySelectorAll("td.lit")) node.classList.remove("lit");
  for (const node of marks.get(key) ?? []) node.classList.add("lit");
  const cell = cells.get(key);
  const step = Number(element("step").value);
  element("places").replaceChildren();
  element("way").replaceChildren();
  if (!cell) {
    element("way").textContent = key ? `[${key}] is drawn only in memory; layoutc trace shows its steps.` : "Point at a cell, or go to one with the arrow keys.";
    return;
  }
  for (const [name, value] of [["logical", cell.index], ["storage", cell.storage], ["physical", cell.physical]]) {
    element("places").append(tag("dt", {}, name), tag("dd", {}, `[${value.join(", ")}]`));
  }
  element("places").append(tag("dt", {}, "offset"), tag("dd", {}, String(cell.offset)));
  for (const [at, line] of way(cell)) {
    element("way").append(tag("span", at === step && step > 0 ? { class: "now" } : {}, line), "\n");
  }
}

function keep(key) {
  kept = key;
  show(key);
}

function find(text) {
  const index = text.replace(/[[\]\s]/g, "").split(",").filter(part => part !== "");
  const names = data.axes.map(axis => axis.name).join(", ");
  if (index.length !== data.axes.length || !index.every(part => /^\d+$/.test(part))) {
    return `an index has ${data.axes.length} integers: ${names}`;
  }
  for (const [k, axis] of data.axes.entries()) {
    if (BigInt(index[k]) >= BigInt(axis.extent)) return `${axis.name} = ${index[k]} is out of bounds: its extent is ${axis.extent}`;
  }
  const key = index.map(part => String(BigInt(part))).join(",");
  keep(cells.has(key) || marks.has(key) ? key : null);
  if (!cells.has(key)) return `[${key}] is not drawn; layoutc trace shows its steps, --at and --axes select another slice`;
  marks.get(key)[0].scrollIntoView({ block: "nearest", inline: "nearest" });
  rove(marks.get(key)[0]);
  return `[${key}] is at offset ${cells.get(key).offset}`;
}

element("find").addEventListener("submit", event => {
  event.preventDefault();
  element("said").textContent = find(element("query").value);
});

element("grid").addEventListener("keydown", event => {
  const at = event.target.closest("td");
  const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -Infinity], End: [0, Infinity] };
  if (event.key === "Escape") keep(null);
  if (!at || !(event.key in moves)) return;
  event.preventDefault();
  const [down, across] = moves[event.key];
  const row = Number(at.dataset.row) + down;
  const line = [...element("grid").querySelectorAll(`td[data-row="${row}"][tabindex]`)];
  const column = Number(at.dataset.column) + across;
  const near = node => Math.abs(Number(node.dataset.column) - column);
  const next = Number.isFinite(column)
    ? line.find(node => Number(node.dataset.column) === column)
    : line.at(across < 0 ? 0 : -1);
  (next ?? (down ? line.sort((a, b) => near(a) - near(b))[0] : null))?.focus();
});

for (const cell of data.cells.flat()) {
  if (cell && cell.index) cells.set(cell.index.join(","), cell);
}
element("storage").textContent = `storage: ${data.storage}`;
element("query").placeholder = data.axes.map(axis => axis.name).join(",");
element("step").max = last;
element("step").value = last;
element("step").addEventListener("input", draw);
const legend = element("legend");
if (data.coloredBy.length) legend.append(`One color per ${data.coloredBy.join(", ")}; colors repeat.`);
legend.append(tag("span", { class: "key padding" }), "padding", tag("span", { class: "key other" }), "another slice");
if (cells.size === 0) element("said").textContent = "The tensor has no element.";
draw();
