//! A function as the body of a parallel region writes what it wrote on one thread: random functions with parallel
//! loops, on three threads of an interpreter.

use layoutc_testing::Random;

use super::{F64, Machine, Memory};
use crate::ir::{
    Expr, Function, LoopKind, Param, ParamType, ReduceOp, Returns, Stmt, Storage, Value, verify,
};
use crate::passes::openmp;

/// Number of threads of the region.
const THREADS: usize = 3;

/// Threads of a parallel region, which execute a function statement by statement.
struct Region {
    threads: Vec<Machine>,
    memory: Memory,
}

impl Region {
    /// Elements of the buffer `b` after the function is executed.
    fn run(function: &Function) -> Memory {
        let threads = (0..THREADS).map(|_| Machine::default()).collect();
        let mut region = Self { threads, memory: Memory::new() };
        region.body(&function.body);
        region.memory.retain(|(name, _), _| name == "b");
        region.memory
    }

    /// Calls `run` on the thread with number `thread`, which gets the shared memory for the call.
    fn on(&mut self, thread: usize, run: impl FnOnce(&mut Machine)) {
        let machine = &mut self.threads[thread];
        std::mem::swap(&mut machine.memory, &mut self.memory);
        run(machine);
        std::mem::swap(&mut machine.memory, &mut self.memory);
    }

    fn body(&mut self, body: &[Stmt]) {
        let depths: Vec<_> =
            self.threads.iter().map(|m| (m.names.len(), m.variables.len())).collect();
        body.iter().for_each(|stmt| self.stmt(stmt));
        for (machine, (names, variables)) in self.threads.iter_mut().zip(depths) {
            machine.names.truncate(names);
            machine.variables.truncate(variables);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let is_shared = |stmt: &Stmt| match stmt {
            Stmt::Single { .. } => true,
            Stmt::For { kind, .. } => matches!(kind, LoopKind::Worksharing { .. }),
            _ => false,
        };
        match stmt {
            Stmt::Single { body } => self.on(0, |machine| machine.body(body)),
            Stmt::For { name, from, to, step: 1, kind: LoopKind::Worksharing { .. }, body } => {
                for thread in 0..THREADS {
                    self.on(thread, |machine| {
                        for at in machine.index(from)..machine.index(to) {
                            if at.rem_euclid(3) == i128::try_from(thread).unwrap() {
                                machine.names.push((name.clone(), at));
                                machine.body(body);
                                machine.names.pop();
                            }
                        }
                    });
                }
            }
            Stmt::For { name, from, to, step, body, .. } if stmt.any(is_shared) => {
                let (mut at, to) = (self.threads[0].index(from), self.threads[0].index(to));
                while at < to {
                    self.threads.iter_mut().for_each(|m| m.names.push((name.clone(), at)));
                    self.body(body);
                    self.threads.iter_mut().for_each(|machine| drop(machine.names.pop()));
                    at += i128::from(*step);
                }
            }
            Stmt::If { condition, body, otherwise, .. } if stmt.any(is_shared) => {
                let holds = self.threads[0].index(condition) == 1;
                self.body(if holds { body } else { otherwise });
            }
            _ => {
                for thread in 0..THREADS {
                    self.on(thread, |machine| machine.stmt(stmt));
                }
            }
        }
    }
}

/// Generator of random functions with parallel loops. Elements are only added to, by values that do not depend on
/// elements that the loop writes, so that the order of the iterations does not matter.
struct Generator {
    random: Random,
    indices: Vec<String>,
    variables: Vec<String>,
    arrays: Vec<String>,
    /// Number of visible variables that are declared outside of the innermost parallel loop; these are not updated in
    /// it.
    outside: usize,
    made: usize,
}

impl Generator {
    fn function(seed: u64) -> Function {
        let mut generator = Self {
            random: Random::new(seed),
            indices: Vec::new(),
            variables: Vec::new(),
            arrays: Vec::new(),
            outside: 0,
            made: 0,
        };
        let mut body = Vec::new();
        for _ in 0..generator.random.below(3_usize) {
            let name = generator.name("t");
            generator.arrays.push(name.clone());
            let storage = if generator.random.one_in(2) {
                Storage::Private
            } else {
                Storage::Restrict { memory: format!("{name}_memory") }
            };
            body.push(Stmt::Allocate { name, dtype: F64, elements: 8, storage });
        }
        body.extend(generator.body(0, false));
        // All items are read at the end.
        for array in generator.arrays.clone() {
            let index = Expr::name("k");
            let value = Value::Item { array, index: index.clone() };
            let into = Value::Load { buffer: "b".to_owned(), index, through: None };
            let stmt = Stmt::Update { into, how: ReduceOp::Sum, dtype: F64, value };
            let kind = generator.kind(false);
            body.push(Self::counted("k".to_owned(), 8, kind, vec![stmt]));
        }
        let param = |name: &str, ty| Param { name: name.to_owned(), ty };
        let params = vec![param("a", ParamType::Input(F64)), param("b", ParamType::Output(F64))];
        let (name, doc) = ("f".to_owned(), Vec::new());
        Function { name, doc, returns: Returns::Nothing, params, body }
    }

    fn counted(name: String, to: i64, kind: LoopKind, body: Vec<Stmt>) -> Stmt {
        Stmt::For { name, from: Expr::int(0), to: Expr::int(to), step: 1, kind, body }
    }

    fn name(&mut self, word: &str) -> String {
        self.made += 1;
        format!("{word}{}", self.made)
    }

    fn kind(&mut self, in_parallel: bool) -> LoopKind {
        if !in_parallel && self.random.one_in(2) { LoopKind::Parallel } else { LoopKind::Serial }
    }

    fn body(&mut self, depth: usize, in_parallel: bool) -> Vec<Stmt> {
        let (indices, variables) = (self.indices.len(), self.variables.len());
        let count = self.random.between(1_usize, 4);
        let body = (0..count).map(|_| self.stmt(depth, in_parallel)).collect();
        self.indices.truncate(indices);
        self.variables.truncate(variables);
        body
    }

    fn stmt(&mut self, depth: usize, in_parallel: bool) -> Stmt {
        let own = self.variables.get(self.outside..).unwrap_or_default().to_vec();
        let (how, dtype) = (ReduceOp::Sum, F64);
        match self.random.below(9_usize) {
            0 => {
                let (name, value) = (self.name("x"), self.index());
                self.indices.push(name.clone());
                Stmt::Let { name, value }
            }
            1 => {
                let (name, value) = (self.name("v"), self.value());
                self.variables.push(name.clone());
                Stmt::Variable { name, dtype, value }
            }
            2 if !own.is_empty() => {
                let into = Value::name(self.random.pick::<String>(&own));
                Stmt::Update { into, how, dtype, value: self.value() }
            }
            3 | 4 if depth < 3 => {
                let (name, to) = (self.name("i"), self.random.between(1_u8, 5).into());
                let kind = self.kind(in_parallel);
                let is_parallel = kind == LoopKind::Parallel;
                let outside = self.outside;
                self.indices.push(name.clone());
                if is_parallel {
                    self.outside = self.variables.len();
                }
                let body = self.body(depth + 1, in_parallel || is_parallel);
                self.outside = outside;
                self.indices.pop();
                Self::counted(name, to, kind, body)
            }
            5 if depth < 3 => {
                let (a, b) = (Box::new(self.index()), Box::new(Expr::int(3)));
                let condition =
                    Expr::compare(crate::ir::Compare::Lt, Expr::Mod { a, b }, Expr::int(2));
                let body = self.body(depth + 1, in_parallel);
                let otherwise = self.body(depth + 1, in_parallel);
                Stmt::If { condition, likely: false, body, otherwise }
            }
            6 if !self.arrays.is_empty() => {
                let array = self.random.pick::<String>(&self.arrays).clone();
                let (a, b) = (Box::new(self.index()), Box::new(Expr::int(8)));
                let into = Value::Item { array, index: Expr::Mod { a, b } };
                Stmt::Update { into, how, dtype, value: self.value() }
            }
            _ => {
                let into =
                    Value::Load { buffer: "b".to_owned(), index: self.index(), through: None };
                Stmt::Update { into, how, dtype, value: self.value() }
            }
        }
    }

    fn index(&mut self) -> Expr {
        let constant = Expr::int(self.random.between(0_u8, 9).into());
        if self.indices.is_empty() || self.random.one_in(4) {
            return constant;
        }
        let name = Expr::name(self.random.pick::<String>(&self.indices));
        if self.random.one_in(2) { Expr::Add { args: vec![name, constant] } } else { name }
    }

    /// Value that is a small multiple of 0.5, so that sums are exact.
    fn value(&mut self) -> Value {
        match self.random.below(3_usize) {
            0 if !self.variables.is_empty() => {
                Value::name(self.random.pick::<String>(&self.variables))
            }
            1 => Value::Constant { dtype: F64, bits: 2.5_f64.to_bits() },
            _ => Value::Load { buffer: "a".to_owned(), index: self.index(), through: None },
        }
    }
}

#[test]
fn regions_write_what_one_thread_writes() {
    let (mut converted, mut unchanged) = (0, 0);
    for seed in 0..4000 {
        let function = Generator::function(seed);
        assert_eq!(verify(&function), Ok(()), "{function}");
        let mut after = function.clone();
        openmp(&mut [&mut after], &|_| false);
        assert_eq!(verify(&after), Ok(()), "seed {seed}:\n{function}\n{after}");
        if !function.body.iter().any(Stmt::is_parallel) {
            continue;
        }
        if after == function {
            unchanged += 1;
            continue;
        }
        converted += 1;
        let mut machine = Machine::default();
        machine.body(&function.body);
        machine.memory.retain(|(name, _), _| name == "b");
        assert_eq!(Region::run(&after), machine.memory, "seed {seed}:\n{function}\n{after}");
    }
    assert!(converted > 1000 && unchanged < converted, "{converted} {unchanged}");
}
