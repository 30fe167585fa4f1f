//! Generator of random graphs: their manifest, and what each operator computes on dense arrays.

use std::fmt::Write;

use layoutc_testing::Random;

/// An element type: name, bits, and exclusive bound of its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) name: &'static str,
    pub(super) bits: usize,
    pub(super) modulus: u64,
}

const WHOLE: &[Element] = &[
    Element { name: "f32", bits: 32, modulus: 251 },
    Element { name: "u8", bits: 8, modulus: 251 },
    Element { name: "i32", bits: 32, modulus: 251 },
    Element { name: "f64", bits: 64, modulus: 251 },
];

const PACKED: Element = Element { name: "u4", bits: 4, modulus: 13 };

/// A dense tensor, row-major in the order of its shape.
#[derive(Debug, Clone)]
pub(super) struct Tensor {
    pub(super) name: String,
    pub(super) axes: Vec<(char, usize)>,
    pub(super) element: Element,
    pub(super) is_constant: bool,
}

impl Tensor {
    pub(super) fn elements(&self) -> usize {
        self.axes.iter().map(|axis| axis.1).product()
    }
}

/// Definition of a result: `result[p] = plus[p] + Σ factor · operand[position(p)]`.
#[derive(Debug, Clone)]
pub(super) struct Formula {
    pub(super) result: usize,
    /// Operand, factor, and for each position of the result the operand's position; `None` adds nothing.
    pub(super) terms: Vec<(usize, u64, Vec<Option<usize>>)>,
    /// Constant for each position of the result.
    pub(super) plus: Vec<u64>,
}

#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) reads: Vec<usize>,
    pub(super) formulas: Vec<Formula>,
    /// True if operands and results must have one layout.
    pub(super) is_alike: bool,
    /// Accepted layouts in the notation of a schedule; empty if any layout is accepted.
    pub(super) accepts: Vec<String>,
}

#[derive(Debug, Clone)]
pub(super) struct Sample {
    pub(super) tensors: Vec<Tensor>,
    pub(super) nodes: Vec<Node>,
    pub(super) outputs: Vec<usize>,
    pub(super) text: String,
}

const BACKEND: &str = "backend b {
    default-layout 4 NHWC
    default-layout 3 HWC
    op each elementwise=#true
    op cast elementwise=#true types=any
    op free any=#true cost-per-byte=0.25
    op plain default=#true
    op join elementwise=#true shapes=concat
    op turn transpose=#true
}
";

/// Generates a graph.
pub(super) fn generate(random: &mut Random, is_whole: bool) -> Sample {
    let mut elements = vec![*random.pick(WHOLE), *random.pick(WHOLE)];
    if !is_whole && random.one_in(4) {
        elements.push(PACKED);
    }
    let graph = Sample { tensors: vec![], nodes: vec![], outputs: vec![], text: String::new() };
    let mut maker = Maker { random, graph, elements, layouts: Vec::new() };
    for _ in 0..=maker.random.below(2) {
        let axes = maker.axes();
        let is_constant = maker.random.one_in(5);
        maker.outside(axes, None, is_constant);
    }
    for _ in 0..=maker.random.below(7) {
        maker.node();
    }
    maker.ends();
    let mut graph = maker.graph;
    graph.text = format!("{BACKEND}graph g backend=b {{\n{}}}\n", graph.text);
    graph
}

struct Maker<'r> {
    random: &'r mut Random,
    graph: Sample,
    elements: Vec<Element>,
    /// Used layouts by letters, for reuse.
    layouts: Vec<(Vec<char>, String)>,
}

impl Maker<'_> {
    fn axes(&mut self) -> Vec<(char, usize)> {
        let rank = *self.random.pick(&[1, 2, 3, 4, 4, 4, 4]);
        let letters = &['N', 'H', 'W', 'C'][4 - rank..];
        let sizes = [1, 1, 2, 3, 4, 5];
        letters.iter().map(|letter| (*letter, *self.random.pick(&sizes))).collect()
    }

    fn say(&mut self, line: &str) {
        let _written = writeln!(self.graph.text, "    {line}");
    }

    /// Adds an input or a constant.
    fn outside(
        &mut self,
        axes: Vec<(char, usize)>,
        element: Option<Element>,
        is_constant: bool,
    ) -> usize {
        let element = element.unwrap_or_else(|| *self.random.pick(&self.elements));
        let tensor = self.tensor(axes, element, is_constant);
        let layout = if self.random.one_in(4) { String::new() } else { self.stated(tensor) };
        let what = if is_constant { "constant" } else { "input" };
        let line = format!("{what} {}", self.declared(tensor, &layout));
        self.say(&line);
        tensor
    }

    fn tensor(&mut self, axes: Vec<(char, usize)>, element: Element, is_constant: bool) -> usize {
        let k = self.graph.tensors.len();
        let name = format!("t{k}");
        self.graph.tensors.push(Tensor { name, axes, element, is_constant });
        k
    }

    /// Declaration of a tensor: `t1 dtype=f32 layout=NHWC { shape { N 1 } }`.
    fn declared(&self, tensor: usize, layout: &str) -> String {
        let Tensor { name, axes, element, .. } = &self.graph.tensors[tensor];
        let axes: Vec<String> =
            axes.iter().map(|(letter, extent)| format!("{letter} {extent}")).collect();
        format!("{name} dtype={}{layout} {{ shape {{ {} }} }}", element.name, axes.join("; "))
    }

    fn stated(&mut self, tensor: usize) -> String {
        format!(" layout=\"{}\"", self.layout(tensor))
    }

    /// A layout for a tensor: one used before with these letters, or a new one.
    fn layout(&mut self, tensor: usize) -> String {
        let letters: Vec<char> =
            self.graph.tensors[tensor].axes.iter().map(|axis| axis.0).collect();
        let known: Vec<String> = self
            .layouts
            .iter()
            .filter(|(own, _)| *own == letters)
            .map(|(_, layout)| layout.clone())
            .collect();
        if !known.is_empty() && !self.random.one_in(3) {
            return self.random.pick(&known).clone();
        }
        let layout = self.new_layout(&letters);
        self.layouts.push((letters, layout.clone()));
        layout
    }

    fn new_layout(&mut self, letters: &[char]) -> String {
        let rank = letters.len();
        if rank == 0 {
            return "row-major".to_owned();
        }
        let mut order: Vec<usize> = (0..rank).collect();
        if !self.random.one_in(3) {
            self.random.shuffle(&mut order);
        }
        let written: String = order.iter().map(|k| letters[*k]).collect();
        let block = *self.random.pick(&[2, 3, 4, 8, 16]);
        let blocked = *self.random.pick(&order);
        match self.random.below(11) {
            5 | 6 if rank > 1 => {
                let at = self.random.below(rank - 1);
                let align = *self.random.pick(&[16, 32, 64, 128]);
                let one = |(k, c): (usize, char)| {
                    if k == at { format!("{c}[a={align}]") } else { c.to_string() }
                };
                written.chars().enumerate().map(one).collect()
            }
            7 | 8 => format!("{written}{block}{}", letters[blocked].to_ascii_lowercase()),
            9 => {
                let letter = |k: usize| char::from(b'a' + u8::try_from(k).unwrap());
                let one = |k: &usize| {
                    let c = letter(*k);
                    if *k == blocked { c.to_ascii_uppercase() } else { c }
                };
                let outer: String = order.iter().map(one).collect();
                format!("onednn:{outer}{block}{}", letter(blocked))
            }
            10 => {
                let axes: Vec<String> = order.iter().map(ToString::to_string).collect();
                let tile = if rank > 1 && self.random.one_in(2) { ":T(2,4)" } else { "" };
                format!("xla:{{{}{tile}}}", axes.join(","))
            }
            4 => "row-major".to_owned(),
            _ => written,
        }
    }

    fn pick(&mut self) -> usize {
        let count = self.graph.tensors.len();
        count - 1 - self.random.below(count.min(5))
    }

    fn node(&mut self) {
        match self.random.below(10) {
            0..=2 => self.each(),
            3..=5 => self.turn(),
            6 => self.join(),
            _ => self.own(),
        }
    }

    /// Adds an operator; `accepts` is the text after its results.
    fn add(&mut self, op: &str, (reads, results): (Vec<usize>, Vec<usize>), accepts: &str) -> Node {
        let name = format!("n{}", self.graph.nodes.len());
        let read: Vec<String> = reads.iter().map(|k| self.graph.tensors[*k].name.clone()).collect();
        let mut line = format!("node {name} op={op} {{ in {}", read.join(" "));
        for result in results {
            let layout = if self.random.one_in(8) { self.stated(result) } else { String::new() };
            let _written = write!(line, "; out {}", self.declared(result, &layout));
        }
        self.say(&format!("{line}{accepts} }}"));
        Node { name, reads, formulas: Vec::new(), is_alike: false, accepts: Vec::new() }
    }

    /// Adds an elementwise operator, which broadcasts its operands by axis name.
    fn each(&mut self) {
        let first = self.pick();
        let Tensor { mut axes, element, .. } = self.graph.tensors[first].clone();
        if self.random.one_in(4) {
            self.random.shuffle(&mut axes);
        }
        let mut reads = vec![first];
        for _ in 0..self.random.below(3) {
            let other = self.other(&axes, element);
            reads.push(other);
        }
        let is_cast = self.random.one_in(5);
        let given = if is_cast { *self.random.pick(&self.elements) } else { element };
        let result = self.tensor(axes, given, false);
        let op = if is_cast { "cast" } else { "each" };
        let mut node = self.add(op, (reads.clone(), vec![result]), "");
        let to = &self.graph.tensors[result];
        let places = indices(to);
        let term = |(k, read): (usize, &usize)| {
            let own = &self.graph.tensors[*read];
            let place = |index: &Vec<usize>| Some(by_name(own, to, index));
            (*read, k as u64 + 2, places.iter().map(place).collect())
        };
        let terms = reads.iter().enumerate().map(term).collect();
        node.formulas = vec![Formula { result, terms, plus: vec![1; to.elements()] }];
        node.is_alike = true;
        self.graph.nodes.push(node);
    }

    /// A further operand of an elementwise operator with this result.
    fn other(&mut self, axes: &[(char, usize)], element: Element) -> usize {
        let mut sorted = axes.to_vec();
        sorted.sort_unstable();
        let is_fit = |tensor: &Tensor| {
            let mut own = tensor.axes.clone();
            own.sort_unstable();
            own == sorted && tensor.element == element
        };
        let tensors = self.graph.tensors.iter().enumerate();
        let known: Vec<usize> = tensors.filter(|row| is_fit(row.1)).map(|row| row.0).collect();
        if !known.is_empty() && !self.random.one_in(3) {
            return *self.random.pick(&known);
        }
        let mut own = Vec::new();
        for (letter, extent) in axes {
            match self.random.below(4) {
                0 => {}
                1 => own.push((*letter, 1)),
                _ => own.push((*letter, *extent)),
            }
        }
        let is_constant = self.random.one_in(2);
        self.outside(own, Some(element), is_constant)
    }

    /// Adds a transposition, often the inverse of the previous one.
    fn turn(&mut self) {
        let from = self.pick();
        let Tensor { axes, element, .. } = self.graph.tensors[from].clone();
        if axes.is_empty() {
            return;
        }
        let mut order: Vec<usize> = (0..axes.len()).collect();
        self.random.shuffle(&mut order);
        let mut given: Vec<(char, usize)> = order.iter().map(|k| axes[*k]).collect();
        let mut perm = String::new();
        match self.random.below(3) {
            // By the names of the axes.
            0 => {}
            // Unchanged letters at each position, now for other axes.
            1 => {
                given.iter_mut().zip(&axes).for_each(|(own, there)| own.0 = there.0);
                perm = order_text(&order);
            }
            _ => {
                let mut letters = ['A', 'B', 'D', 'E', 'G', 'N', 'H', 'W', 'C'];
                self.random.shuffle(&mut letters);
                given.iter_mut().zip(letters).for_each(|(own, letter)| own.0 = letter);
                perm = order_text(&order);
            }
        }
        let result = self.tensor(given, element, false);
        let mut node = self.add(&format!("turn{perm}"), (vec![from], vec![result]), "");
        let (own, to) = (&self.graph.tensors[from], &self.graph.tensors[result]);
        let place = |index: &Vec<usize>| {
            let mut there = vec![0; index.len()];
            order.iter().zip(index).for_each(|(axis, k)| there[*axis] = *k);
            Some(flat(own, &there))
        };
        let places = indices(to).iter().map(place).collect();
        let terms = vec![(from, 1, places)];
        node.formulas = vec![Formula { result, terms, plus: vec![0; to.elements()] }];
        self.graph.nodes.push(node);
    }

    fn join(&mut self) {
        let first = self.pick();
        let Tensor { axes, element, .. } = self.graph.tensors[first].clone();
        if axes.is_empty() {
            return;
        }
        let along = self.random.below(axes.len());
        let mut part = axes.clone();
        part[along].1 = 1 + self.random.below(3);
        let second = self.outside(part.clone(), Some(element), false);
        let mut whole = axes.clone();
        whole[along].1 += part[along].1;
        let result = self.tensor(whole, element, false);
        let op = format!("join axis={}", axes[along].0);
        let mut node = self.add(&op, (vec![first, second], vec![result]), "");
        let to = &self.graph.tensors[result];
        let places = indices(to);
        let before = axes[along].1;
        let of = |read: usize, from: usize, until: usize| {
            let own = &self.graph.tensors[read];
            let place = |index: &Vec<usize>| {
                let mut there = index.clone();
                let is_own = (from..until).contains(&there[along]);
                there[along] = there[along].saturating_sub(from);
                is_own.then(|| flat(own, &there))
            };
            (read, 1, places.iter().map(place).collect())
        };
        let terms = vec![of(first, 0, before), of(second, before, usize::MAX)];
        node.formulas = vec![Formula { result, terms, plus: vec![0; to.elements()] }];
        self.graph.nodes.push(node);
    }

    /// Adds an operator with layouts of its own or any layout, and results of any shape.
    fn own(&mut self) {
        let reads: Vec<usize> = (0..=self.random.below(2)).map(|_| self.pick()).collect();
        let mut results = Vec::new();
        for _ in 0..=usize::from(self.random.one_in(6)) {
            let (axes, element) = (self.axes(), *self.random.pick(&self.elements));
            results.push(self.tensor(axes, element, false));
        }
        let op = *self.random.pick(&["own", "own", "own", "free", "plain"]);
        let (mut lines, mut accepts) = (String::new(), Vec::new());
        let count = if op == "own" { 1 + self.random.below(3) } else { 0 };
        for _ in 0..count {
            let side = |maker: &mut Self, list: &[usize]| -> Vec<String> {
                list.iter().map(|k| maker.layout(*k)).collect()
            };
            let (mut required, given) = (side(self, &reads), side(self, &results));
            let quoted = |list: &[String]| {
                list.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(" ")
            };
            let mut rule = format!("{} -> {}", required.join(" "), given.join(" "));
            if self.random.one_in(6) {
                // Wildcards: any order of the middle axes.
                let letters: String =
                    self.graph.tensors[reads[0]].axes.iter().map(|a| a.0).collect();
                if letters.len() > 2 {
                    let middle = "*".repeat(letters.len() - 2);
                    let ends: Vec<char> = letters.chars().collect();
                    required[0] = format!("{}{middle}{}", ends[0], ends[ends.len() - 1]);
                    rule = String::new();
                }
            }
            let cost = match self.random.below(3) {
                0 => format!(" cost={}", self.random.below(600)),
                1 => " cost-per-byte=1.5".to_owned(),
                _ => String::new(),
            };
            let (required, given) = (quoted(&required), quoted(&given));
            let _written = write!(lines, "; accepts{cost} {{ in {required}; out {given} }}");
            accepts.push(rule);
        }
        let mut node = self.add(op, (reads.clone(), results.clone()), &lines);
        if accepts.iter().all(|rule| !rule.is_empty()) {
            node.accepts = accepts;
        }
        for (number, result) in results.iter().enumerate() {
            let count = self.graph.tensors[*result].elements();
            let term = |(k, read): (usize, &usize)| {
                let own = self.graph.tensors[*read].elements();
                let places = (0..count).map(|place| Some(place * (2 * k + 3 + number) % own));
                (*read, (k + number) as u64 + 3, places.collect())
            };
            let terms = reads.iter().enumerate().map(term).collect();
            let plus = (0..count as u64).collect();
            node.formulas.push(Formula { result: *result, terms, plus });
        }
        self.graph.nodes.push(node);
    }

    /// Adds outputs, and a pinned or forbidden layout.
    fn ends(&mut self) {
        let count = self.graph.tensors.len();
        let mut outputs = vec![count - 1];
        for _ in 0..self.random.below(3) {
            let more = self.random.below(count);
            if !outputs.contains(&more) {
                outputs.push(more);
            }
        }
        for output in &outputs {
            let layout = if self.random.one_in(3) { String::new() } else { self.stated(*output) };
            self.say(&format!("output t{output}{layout}"));
        }
        self.graph.outputs = outputs;
        let pinned = self.random.below(count);
        match self.random.below(16) {
            0 => self.say(&format!("keep t{pinned}")),
            1 => {
                let layout = self.stated(pinned);
                self.say(&format!("forbid t{pinned}{layout}"));
            }
            _ => {}
        }
    }
}

/// The property ` perm="0,2,1"`.
fn order_text(order: &[usize]) -> String {
    let order: Vec<String> = order.iter().map(ToString::to_string).collect();
    format!(" perm=\"{}\"", order.join(","))
}

/// Indices of a tensor in row-major order.
pub(super) fn indices(tensor: &Tensor) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for (_, extent) in &tensor.axes {
        let longer = |head: &Vec<usize>| {
            (0..*extent).map(|k| head.iter().copied().chain([k]).collect()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

fn flat(tensor: &Tensor, index: &[usize]) -> usize {
    tensor.axes.iter().zip(index).fold(0, |place, ((_, extent), k)| place * extent + k)
}

/// Position in an operand for an index of the result, matched by axis name.
fn by_name(own: &Tensor, to: &Tensor, index: &[usize]) -> usize {
    let there = own.axes.iter().map(|(letter, extent)| {
        let axis = to.axes.iter().position(|axis| axis.0 == *letter).unwrap();
        if *extent == 1 { 0 } else { index[axis] }
    });
    flat(own, &there.collect::<Vec<_>>())
}
