//! Passes keep what a function computes: random functions before and after a pass, by an interpreter of the IR.

mod dumps;
mod region;
mod requirements;

use std::collections::{BTreeMap, BTreeSet};

use layoutc_testing::Random;

use super::{
    Ranges, dead_code, hoist, merge_constants, partition, scalars, simplify, unroll_budget,
};
use crate::base::dtype::{Dtype, Scalar};
use crate::ir::{
    Compare, Expr, Function, LoopKind, Param, ParamType, Primitive, ReduceOp, Returns, Stmt,
    Storage, Value, ValueOp, verify,
};

const F64: Dtype = Dtype { scalar: Scalar::F64, lanes: 1 };

/// Interpreter of a function. It holds the values of indices, of variables and of buffer elements, and records the
/// writes to buffers in their order, as triples (buffer, index, bits of the value).
#[derive(Default)]
struct Machine {
    names: Vec<(String, i128)>,
    variables: Vec<(String, f64)>,
    memory: Memory,
    writes: Vec<(String, i128, u64)>,
    /// Elements of arrays that are private to the thread.
    private: Memory,
    /// Names of the arrays that the threads of a parallel region share; their elements are in `memory`.
    shared: BTreeSet<String>,
}

/// Elements, by pairs of the name of their buffer or array and of their index.
type Memory = BTreeMap<(String, i128), f64>;

impl Machine {
    fn run(function: &Function, symbols: &[(&str, i128)]) -> Vec<(String, i128, u64)> {
        let names = symbols.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let mut machine = Self { names, ..Self::default() };
        machine.body(&function.body);
        machine.writes
    }

    fn body(&mut self, body: &[Stmt]) {
        let (names, variables) = (self.names.len(), self.variables.len());
        for stmt in body {
            self.stmt(stmt);
        }
        self.names.truncate(names);
        self.variables.truncate(variables);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Let { name, value } => {
                let value = self.index(value);
                self.names.push((name.clone(), value));
            }
            Stmt::For { name, from, to, step, body, .. } => {
                let (mut at, to) = (self.index(from), self.index(to));
                while at < to {
                    self.names.push((name.clone(), at));
                    self.body(body);
                    self.names.pop();
                    at += i128::from(*step);
                }
            }
            Stmt::If { condition, body, otherwise, .. } => {
                let body = if self.index(condition) == 1 { body } else { otherwise };
                self.body(body);
            }
            Stmt::Store { buffer, index, value, .. } => {
                let (index, value) = (self.index(index), self.value(value));
                match self.private.get_mut(&(buffer.clone(), index)) {
                    Some(element) => *element = value,
                    None => self.write(buffer, index, value),
                }
            }
            Stmt::Update { into: Value::Name { name }, how: ReduceOp::Set, value, .. } => {
                let value = self.value(value);
                let known = self.variables.iter_mut().rev().find(|(known, _)| known == name);
                known.unwrap_or_else(|| panic!("`{name}` is not declared")).1 = value;
            }
            Stmt::Update { into: Value::Load { buffer, index, .. }, how, value, .. } => {
                assert_eq!(*how, ReduceOp::Sum);
                let (index, value) = (self.index(index), self.value(value));
                let before = self.read(buffer, index);
                self.write(buffer, index, before + value);
            }
            Stmt::Allocate { name, elements, storage, .. } => {
                if matches!(storage, Storage::Team { .. }) {
                    self.shared.insert(name.clone());
                }
                for k in 0..i128::from(*elements) {
                    self.items(name).insert((name.clone(), k), 0.0);
                }
            }
            Stmt::Update { into: Value::Item { array, index }, how, value, .. } => {
                assert_eq!(*how, ReduceOp::Sum);
                let (index, value) = (self.index(index), self.value(value));
                *self.items(array).get_mut(&(array.clone(), index)).unwrap() += value;
            }
            Stmt::Primitive(Primitive::StoreVector {
                to,
                to_index,
                from,
                from_index,
                elements,
            }) => {
                let [to_index, from_index] = [to_index, from_index].map(|expr| self.index(expr));
                for k in 0..i128::from(*elements) {
                    let value = self.items(from)[&(from.clone(), from_index + k)];
                    self.write(to, to_index + k, value);
                }
            }
            Stmt::Variable { name, value, .. } => {
                let value = self.value(value);
                self.variables.push((name.clone(), value));
            }
            Stmt::Update { into: Value::Name { name }, how, value, .. } => {
                assert_eq!(*how, ReduceOp::Sum);
                let value = self.value(value);
                let known = self.variables.iter_mut().rev().find(|(known, _)| known == name);
                known.unwrap_or_else(|| panic!("`{name}` is not declared")).1 += value;
            }
            Stmt::Comment { .. } => {}
            other => panic!("the generator does not make {other}"),
        }
    }

    /// Elements of the arrays that are shared if `array` is shared, else of the private arrays.
    fn items(&mut self, array: &str) -> &mut Memory {
        if self.shared.contains(array) { &mut self.memory } else { &mut self.private }
    }

    fn write(&mut self, buffer: &str, index: i128, value: f64) {
        self.memory.insert((buffer.to_owned(), index), value);
        self.writes.push((buffer.to_owned(), index, value.to_bits()));
    }

    fn read(&self, buffer: &str, index: i128) -> f64 {
        // Elements nobody has written differ from each other.
        let first = f64::from(u8::try_from(index.rem_euclid(251)).unwrap()) + 0.5;
        self.memory.get(&(buffer.to_owned(), index)).copied().unwrap_or(first)
    }

    fn index(&self, expr: &Expr) -> i128 {
        let two = |a: &Expr, b: &Expr| (self.index(a), self.index(b));
        match expr {
            Expr::Int { value } => i128::from(*value),
            Expr::Bool { value } => i128::from(*value),
            Expr::Name { name } => {
                let found = self.names.iter().rev().find(|(known, _)| known == name);
                found.unwrap_or_else(|| panic!("`{name}` is not declared")).1
            }
            Expr::Neg { a } => -self.index(a),
            Expr::Add { args } => args.iter().map(|arg| self.index(arg)).sum(),
            Expr::Mul { args } => args.iter().map(|arg| self.index(arg)).product(),
            Expr::FloorDiv { a, b } | Expr::Div { a, b } => {
                let (a, b) = two(a, b);
                a.div_euclid(b)
            }
            Expr::FloorMod { a, b } | Expr::Mod { a, b } => {
                let (a, b) = two(a, b);
                a.rem_euclid(b)
            }
            Expr::Min { a, b } => self.index(a).min(self.index(b)),
            Expr::Max { a, b } => self.index(a).max(self.index(b)),
            Expr::Select { condition, then, otherwise } => {
                self.index(if self.index(condition) == 1 { then } else { otherwise })
            }
            Expr::Compare { op, a, b } => {
                let (a, b) = two(a, b);
                i128::from(match op {
                    Compare::Eq => a == b,
                    Compare::Lt => a < b,
                    Compare::Le => a <= b,
                    Compare::Ge => a >= b,
                })
            }
            Expr::All { args } => i128::from(args.iter().all(|arg| self.index(arg) == 1)),
            Expr::Not { a } => 1 - self.index(a),
            other => panic!("the generator does not make {other}"),
        }
    }

    fn value(&self, value: &Value) -> f64 {
        match value {
            Value::Constant { bits, .. } => f64::from_bits(*bits),
            Value::Load { buffer, index, .. } => {
                let index = self.index(index);
                let private = self.private.get(&(buffer.clone(), index)).copied();
                private.unwrap_or_else(|| self.read(buffer, index))
            }
            Value::Item { array, index } => {
                let held = if self.shared.contains(array) { &self.memory } else { &self.private };
                held[&(array.clone(), self.index(index))]
            }
            Value::Name { name } => {
                let found = self.variables.iter().rev().find(|(known, _)| known == name);
                found.unwrap_or_else(|| panic!("`{name}` is not declared")).1
            }
            Value::Binary { op: ValueOp::Add, a, b, .. } => self.value(a) + self.value(b),
            Value::Binary { op: ValueOp::Divide, a, b, .. } => self.value(a) / self.value(b),
            Value::Select { condition, then, otherwise } => match &**condition {
                Value::Holds { condition } if self.index(condition) == 1 => self.value(then),
                Value::Holds { .. } => self.value(otherwise),
                other => panic!("the generator does not make {other}"),
            },
            other => panic!("the generator does not make {other}"),
        }
    }
}

/// Generator of random functions with the symbol `n`, from 1 to 20.
struct Generator {
    random: Random,
    names: Vec<String>,
    variables: Vec<String>,
    /// Names of the visible arrays of one element.
    cells: Vec<String>,
    made: usize,
}

impl Generator {
    fn new(seed: u64) -> Self {
        let random = Random::new(seed);
        Self { random, names: Vec::new(), variables: Vec::new(), cells: Vec::new(), made: 0 }
    }

    fn function(&mut self) -> Function {
        let body = self.body(0);
        let param = |name: &str, ty| Param { name: name.to_owned(), ty };
        let params = vec![
            param("n", ParamType::Index),
            param("a", ParamType::Input(F64)),
            param("b", ParamType::Output(F64)),
        ];
        let (name, doc) = ("f".to_owned(), Vec::new());
        Function { name, doc, returns: Returns::Nothing, params, body }
    }

    fn body(&mut self, depth: usize) -> Vec<Stmt> {
        let (names, variables, cells) = (self.names.len(), self.variables.len(), self.cells.len());
        let count = self.random.between(1_usize, 4);
        let body = (0..count).map(|_| self.stmt(depth)).collect();
        self.names.truncate(names);
        self.variables.truncate(variables);
        self.cells.truncate(cells);
        body
    }

    fn name(&mut self) -> String {
        self.made += 1;
        format!("v{}", self.made)
    }

    fn stmt(&mut self, depth: usize) -> Stmt {
        match self.random.below(10_usize) {
            8 => {
                let name = self.name();
                self.cells.push(name.clone());
                Stmt::Allocate { name, dtype: F64, elements: 1, storage: Storage::Private }
            }
            9 if !self.cells.is_empty() => {
                let (buffer, index) =
                    (self.random.pick::<String>(&self.cells).clone(), Expr::int(0));
                Stmt::Store { buffer, index, value: self.value(2), through: None }
            }
            0 => {
                let (value, name) = (self.index(2), self.name());
                self.names.push(name.clone());
                Stmt::Let { name, value }
            }
            6 => {
                let (value, name) = (self.value(2), self.name());
                self.variables.push(name.clone());
                Stmt::Variable { name, dtype: F64, value }
            }
            7 if !self.variables.is_empty() => {
                let into = Value::name(self.random.pick::<String>(&self.variables));
                Stmt::Update { into, how: ReduceOp::Sum, dtype: F64, value: self.value(2) }
            }
            1 | 2 if depth < 4 => self.counted(depth),
            3 if depth < 4 => {
                let condition = self.condition();
                let otherwise =
                    if self.random.one_in(2) { self.body(depth + 1) } else { Vec::new() };
                Stmt::If { condition, likely: false, body: self.body(depth + 1), otherwise }
            }
            4 => {
                let into =
                    Value::Load { buffer: "b".to_owned(), index: self.index(2), through: None };
                Stmt::Update { into, how: ReduceOp::Sum, dtype: F64, value: self.value(2) }
            }
            _ => {
                let (buffer, index) = ("b".to_owned(), self.index(2));
                Stmt::Store { buffer, index, value: self.value(2), through: None }
            }
        }
    }

    fn counted(&mut self, depth: usize) -> Stmt {
        let from = self.random.between(0_u8, 2).into();
        let to = i64::from(self.random.between(0_u8, 5)) + from;
        let name = self.name();
        // Blocks, and the remainder inside the last one.
        let (from, to, step) = match self.random.below(4_usize) {
            0 => (Expr::int(0), Expr::name("n"), 4),
            1 => (Expr::int(from), self.index(1).min(Expr::int(to)), 1),
            _ => (Expr::int(from), Expr::int(to), self.random.between(1_u8, 3).into()),
        };
        let kind = match self.random.below(3_usize) {
            0 => LoopKind::Unrolled(4),
            _ => LoopKind::Serial,
        };
        self.names.push(name.clone());
        let body = self.body(depth + 1);
        self.names.pop();
        Stmt::For { name, from, to, step, kind, body }
    }

    fn condition(&mut self) -> Expr {
        let op = *self.random.pick(&[Compare::Eq, Compare::Lt, Compare::Le, Compare::Ge]);
        let compared = Expr::compare(op, self.index(2), self.index(1));
        match self.random.below(4_usize) {
            0 => Expr::All { args: vec![compared, self.condition()] },
            1 => Expr::Not { a: Box::new(compared) },
            _ => compared,
        }
    }

    fn index(&mut self, depth: usize) -> Expr {
        if depth == 0 || self.random.one_in(3) {
            if !self.names.is_empty() && !self.random.one_in(3) {
                return Expr::name(self.random.pick::<String>(&self.names));
            }
            return match self.random.below(4_usize) {
                0 => Expr::name("n"),
                _ => Expr::int(i64::from(self.random.between(0_u8, 24)) - 8),
            };
        }
        let (a, b) = (Box::new(self.index(depth - 1)), Box::new(self.index(depth - 1)));
        let divisor = Box::new(Expr::int(self.random.between(1_u8, 8).into()));
        match self.random.below(8_usize) {
            0 | 1 => Expr::Add { args: vec![*a, *b] },
            2 => Expr::Add { args: vec![*a, Expr::Neg { a: b }] },
            3 => Expr::Mul { args: vec![*a, *divisor] },
            4 => Expr::FloorDiv { a, b: divisor },
            5 => Expr::FloorMod { a, b: divisor },
            6 => Expr::Min { a, b },
            _ => Expr::Max { a, b },
        }
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.random.below(if depth == 0 { 2_usize } else { 4 }) {
            0 if !self.variables.is_empty() && self.random.one_in(2) => {
                Value::name(self.random.pick::<String>(&self.variables))
            }
            0 if !self.cells.is_empty() && self.random.one_in(2) => {
                let (buffer, index) =
                    (self.random.pick::<String>(&self.cells).clone(), Expr::int(0));
                Value::Load { buffer, index, through: None }
            }
            0 => Value::Constant { dtype: F64, bits: 2.5_f64.to_bits() },
            1 => {
                let buffer = if self.random.one_in(2) { "a" } else { "b" };
                Value::Load { buffer: buffer.to_owned(), index: self.index(2), through: None }
            }
            2 => {
                let op = *self.random.pick(&[ValueOp::Add, ValueOp::Divide]);
                Value::binary(op, F64, self.value(depth - 1), self.value(depth - 1))
            }
            _ => Value::Select {
                condition: Box::new(Value::Holds { condition: self.condition() }),
                then: Box::new(self.value(depth - 1)),
                otherwise: Box::new(self.value(depth - 1)),
            },
        }
    }
}

/// Name of a pass, and the function that applies it.
type Pass<'a> = (&'a str, &'a dyn Fn(&mut Function));

#[test]
fn passes_keep_the_writes_of_random_functions() {
    let ranges = Ranges::new([("n".to_owned(), [1, 20])]);
    let passes: [Pass<'_>; 8] = [
        ("simplify", &|function| simplify(function, &ranges)),
        ("partition", &|function| partition(function, &ranges)),
        ("scalars", &scalars),
        ("merge_constants", &merge_constants),
        ("dead_code", &dead_code),
        ("unroll_budget", &unroll_budget),
        ("hoist", &|function| {
            let mut made = 0;
            hoist(function, &ranges, &mut |name| {
                made += 1;
                format!("{name}_{made}")
            });
        }),
        ("gpu_kernel", &|function| super::gpu_kernel(function, &ranges)),
    ];
    for seed in 0..3000 {
        let mut generator = Generator::new(seed);
        let function = generator.function();
        assert_eq!(verify(&function), Ok(()), "{function}");
        for (name, pass) in passes {
            let mut after = function.clone();
            pass(&mut after);
            assert_eq!(verify(&after), Ok(()), "{name}, seed {seed}:\n{function}\n{after}");
            for n in [1, 2, 7, 20] {
                let [expected, found] =
                    [&function, &after].map(|function| Machine::run(function, &[("n", n)]));
                assert_eq!(found, expected, "{name}, seed {seed}, n = {n}:\n{function}\n{after}");
            }
        }
    }
}
