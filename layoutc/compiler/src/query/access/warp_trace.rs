//! Execution of GPU kernels of the loop IR by warps in lockstep: the memory requests of their loads and stores.

use std::collections::BTreeMap;

use crate::base::dtype::Dtype;
use crate::ir::{Compare, Expr, Function, LoopKind, ParamType, Primitive, Stmt, Storage, Value};
use crate::machine::{GPU, GpuMemory};
use crate::warp::{AccessDirection, WarpRequest, bank_cost, sector_cost};

/// Maximum number of iterations of a loop within a thread that are executed: the pattern of addresses repeats.
const MAX_ITERATIONS: i64 = 4;

/// Alignment that is assumed of the buffers that the host allocates, in bytes.
const BUFFER_ALIGNMENT: i64 = 256;

/// Memory of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Space {
    Global,
    Shared,
    Private,
}

/// Load or store in a kernel, with the requests that it made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AccessSite {
    pub(super) buffer: String,
    /// Text of the index.
    pub(super) index: String,
    pub(super) space: Space,
    pub(super) direction: AccessDirection,
    /// Number of bytes that a lane accesses in one request.
    pub(super) bytes: i64,
    pub(super) requests: i64,
    /// Wavefronts of shared memory, or sectors of global memory.
    pub(super) transactions: i64,
    /// Least number of wavefronts or sectors.
    pub(super) least: i64,
    /// True if an address depends on data, so that some requests are not counted.
    pub(super) is_data_dependent: bool,
}

/// Shape of a launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LaunchShape {
    /// Number of threads of a block along each axis, fastest first.
    pub(super) block: Vec<i64>,
    /// Number of blocks along each axis, fastest first.
    pub(super) blocks: Vec<i64>,
}

/// Loads and stores of `function`, in the order of their first execution. The warps of the first block and of the block
/// in the middle of the launch are executed, and the first [`MAX_ITERATIONS`] iterations of each loop within a thread;
/// `symbols` has the values of the parameters that are indices.
pub(super) fn sites(
    function: &Function,
    shape: &LaunchShape,
    symbols: &BTreeMap<String, i64>,
    memory: &GpuMemory,
) -> Vec<AccessSite> {
    let mut trace = Trace::default();
    let middle: Vec<i64> = shape.blocks.iter().map(|blocks| blocks / 2).collect();
    let first = vec![0; shape.blocks.len()];
    let blocks = if middle == first { vec![first] } else { vec![first, middle] };
    let threads: i64 = shape.block.iter().product();
    for block in blocks {
        for start in (0..threads).step_by(usize::try_from(memory.warp).unwrap_or(32)) {
            let lanes: Vec<i64> = (start..(start + memory.warp).min(threads)).collect();
            let mut warp = Warp::new(function, shape, (&block, &lanes), symbols, memory);
            warp.body(&function.body, &mut trace);
        }
    }
    trace.sites
}

#[derive(Default)]
struct Trace {
    sites: Vec<AccessSite>,
    /// Positions in `sites` by (address of the statement or value in the IR, part of a wide access).
    found: BTreeMap<(usize, i64), usize>,
}

#[derive(Debug, Clone, Copy)]
struct Buffer {
    space: Space,
    dtype: Dtype,
}

/// Warp whose lanes execute each statement together.
struct Warp<'a> {
    shape: &'a LaunchShape,
    block: &'a [i64],
    /// Number of each lane's thread in its block.
    threads: &'a [i64],
    memory: &'a GpuMemory,
    buffers: BTreeMap<String, Buffer>,
    /// Index variables in scope with their value for each lane; `None` for a value that depends on data.
    names: Vec<(String, Vec<Option<i64>>)>,
    active: Vec<bool>,
}

impl<'a> Warp<'a> {
    fn new(
        function: &Function,
        shape: &'a LaunchShape,
        (block, threads): (&'a [i64], &'a [i64]),
        symbols: &BTreeMap<String, i64>,
        memory: &'a GpuMemory,
    ) -> Self {
        let (mut buffers, mut names) = (BTreeMap::new(), Vec::new());
        for param in &function.params {
            match param.ty {
                ParamType::Input(dtype) | ParamType::Output(dtype) => {
                    buffers.insert(param.name.clone(), Buffer { space: Space::Global, dtype });
                }
                ParamType::Index => {
                    let value = symbols.get(&param.name).copied();
                    names.push((param.name.clone(), vec![value; threads.len()]));
                }
                ParamType::OutIndex | ParamType::InputImage(..) | ParamType::OutputImage(..) => {}
            }
        }
        let active = vec![true; threads.len()];
        Self { shape, block, threads, memory, buffers, names, active }
    }

    fn body(&mut self, body: &[Stmt], trace: &mut Trace) {
        let scope = self.names.len();
        for stmt in body {
            if !self.active.contains(&true) {
                break;
            }
            self.stmt(stmt, trace);
        }
        self.names.truncate(scope);
    }

    fn stmt(&mut self, stmt: &Stmt, trace: &mut Trace) {
        match stmt {
            Stmt::Let { name, value } => {
                let values = self.lanes(value);
                self.names.push((name.clone(), values));
            }
            Stmt::LetIndex { name, value } => {
                self.value(value, trace);
                self.names.push((name.clone(), vec![None; self.threads.len()]));
            }
            Stmt::Declare { names } => {
                let unset = |name: &String| (name.clone(), vec![None; self.threads.len()]);
                self.names.extend(names.iter().map(unset));
            }
            Stmt::Set { name, value } => {
                let values = self.lanes(value);
                if let Some((_, own)) = self.names.iter_mut().rev().find(|(own, _)| own == name) {
                    *own = values;
                }
            }
            Stmt::Launch { axes } => {
                for (k, axis) in axes.iter().enumerate() {
                    let index = self.global_index(k);
                    let extents = self.lanes(&axis.extent);
                    for ((active, index), extent) in self.active.iter_mut().zip(&index).zip(extents)
                    {
                        *active &= extent.is_none_or(|extent| *index < extent);
                    }
                    self.names.push((axis.name.clone(), index.into_iter().map(Some).collect()));
                }
            }
            Stmt::For { .. } => self.repeat(stmt, trace),
            Stmt::If { condition, body, otherwise, .. } => {
                let holds = self.lanes(condition);
                self.branch(body, &holds, 1, trace);
                self.branch(otherwise, &holds, 0, trace);
            }
            Stmt::Single { body } => self.body(body, trace),
            Stmt::Allocate { name, dtype, storage, .. } => {
                let space = match storage {
                    Storage::Shared => Space::Shared,
                    Storage::Private | Storage::Restrict { .. } | Storage::Team { .. } => {
                        Space::Private
                    }
                };
                self.buffers.insert(name.clone(), Buffer { space, dtype: *dtype });
            }
            Stmt::Alias { name, buffer, dtype, .. } => {
                if let Some(own) = self.buffers.get(buffer).copied() {
                    self.buffers.insert(name.clone(), Buffer { dtype: *dtype, ..own });
                }
            }
            Stmt::Store { buffer, index, value, .. } => {
                self.value(value, trace);
                self.access((buffer, index), AccessDirection::Write, id(stmt), trace);
            }
            Stmt::StoreByte { buffer, index, .. } => {
                self.access((buffer, index), AccessDirection::Write, id(stmt), trace);
            }
            Stmt::Update { into, value, .. } => {
                self.value(value, trace);
                if let Value::Load { buffer, index, .. } = into {
                    self.access((buffer, index), AccessDirection::Write, id(stmt), trace);
                }
            }
            Stmt::Variable { value, .. } => self.value(value, trace),
            Stmt::Primitive(Primitive::StoreTexel { value, .. }) => self.value(value, trace),
            Stmt::LetElement { .. }
            | Stmt::Primitive(_)
            | Stmt::Return { .. }
            | Stmt::Assert { .. }
            | Stmt::Comment { .. } => {}
        }
    }

    /// Executes `body` for the active lanes whose condition has the value `taken`, or a value that depends on data.
    fn branch(&mut self, body: &[Stmt], holds: &[Option<i64>], taken: i64, trace: &mut Trace) {
        let before = self.active.clone();
        for (active, holds) in self.active.iter_mut().zip(holds) {
            *active &= holds.is_none_or(|holds| holds == taken);
        }
        self.body(body, trace);
        self.active = before;
    }

    fn repeat(&mut self, stmt: &Stmt, trace: &mut Trace) {
        let Stmt::For { name, from, to, step, kind, body } = stmt else { return };
        let ends = self.lanes(to);
        let (mut values, step, most, round) = match kind {
            LoopKind::Block | LoopKind::GridStride => {
                let block = self.block.first().copied().unwrap_or(0);
                (vec![Some(block); self.threads.len()], 1, 1, None)
            }
            LoopKind::Thread { round } => {
                let threads = self.threads.iter().map(|thread| Some(*thread)).collect();
                (threads, self.shape.block.iter().product(), i64::MAX, round.as_ref())
            }
            _ => (self.lanes(from), *step, MAX_ITERATIONS, None),
        };
        let before = self.active.clone();
        let mut count = 0;
        loop {
            for (((active, own), value), end) in
                self.active.iter_mut().zip(&before).zip(&values).zip(&ends)
            {
                *active = *own && value.zip(*end).is_none_or(|(value, end)| value < end);
            }
            if !self.active.contains(&true) {
                break;
            }
            let scope = self.names.len();
            if let Some(round) = round {
                self.names.push((round.clone(), vec![Some(count); self.threads.len()]));
            }
            self.names.push((name.clone(), values.clone()));
            self.body(body, trace);
            self.names.truncate(scope);
            count += 1;
            // A loop whose range depends on data is executed once.
            if count == most || values.contains(&None) || ends.contains(&None) {
                break;
            }
            values.iter_mut().for_each(|value| *value = value.map(|value| value + step));
        }
        self.active = before;
    }

    /// Executes the loads of a value.
    fn value(&mut self, value: &Value, trace: &mut Trace) {
        match value {
            Value::Load { buffer, index, .. } => {
                let id = std::ptr::from_ref(value).addr();
                self.access((buffer, index), AccessDirection::Read, id, trace);
            }
            Value::Select { condition, then, otherwise } => {
                let Value::Holds { condition } = condition.as_ref() else {
                    [condition, then, otherwise].iter().for_each(|part| self.value(part, trace));
                    return;
                };
                let (holds, before) = (self.lanes(condition), self.active.clone());
                for (part, taken) in [(then, 1), (otherwise, 0)] {
                    for ((active, own), holds) in self.active.iter_mut().zip(&before).zip(&holds) {
                        *active = *own && holds.is_none_or(|holds| holds == taken);
                    }
                    self.value(part, trace);
                }
                self.active = before;
            }
            Value::Negate { a, .. } | Value::Not { a } => self.value(a, trace),
            Value::Binary { a, b, .. } => {
                self.value(a, trace);
                self.value(b, trace);
            }
            Value::Call { args, .. } => args.iter().for_each(|arg| self.value(arg, trace)),
            Value::Convert { value, .. } | Value::Cast { value, .. } => self.value(value, trace),
            Value::Constant { .. }
            | Value::Name { .. }
            | Value::Item { .. }
            | Value::Index { .. }
            | Value::Holds { .. }
            | Value::Fetch { .. } => {}
        }
    }

    /// Counts the requests of one load or store.
    fn access(
        &mut self,
        (buffer, index): (&str, &Expr),
        direction: AccessDirection,
        id: usize,
        trace: &mut Trace,
    ) {
        let Some(own) = self.buffers.get(buffer).copied() else { return };
        if own.space == Space::Private || !self.active.contains(&true) {
            return;
        }
        let indices = self.lanes(index);
        let bits = i64::from(own.dtype.element_bits());
        let whole = (bits / 8).max(1);
        // An element of 12 bytes is accessed in three requests of 4 bytes.
        let bytes = (whole & whole.wrapping_neg()).min(self.memory.access_bytes);
        for part in 0..whole / bytes {
            let address = |index: i64| index * bits / 8 + part * bytes;
            let lanes = self.active.iter().zip(&indices);
            let addresses = lanes.map(|(active, index)| index.filter(|_| *active).map(address));
            let request = WarpRequest { addresses: addresses.collect(), bytes };
            let unknown =
                self.active.iter().zip(&indices).any(|(on, index)| *on && index.is_none());
            let site = *trace.found.entry((id, part)).or_insert_with(|| {
                trace.sites.push(AccessSite {
                    buffer: buffer.to_owned(),
                    index: index.to_string(),
                    space: own.space,
                    direction,
                    bytes,
                    requests: 0,
                    transactions: 0,
                    least: 0,
                    is_data_dependent: false,
                });
                trace.sites.len() - 1
            });
            let Some(site) = trace.sites.get_mut(site) else { return };
            if unknown {
                site.is_data_dependent = true;
                continue;
            }
            let (transactions, least) = match own.space {
                Space::Shared => {
                    let cost = bank_cost(&request, direction, self.memory);
                    (cost.wavefronts, cost.least)
                }
                Space::Global | Space::Private => {
                    let cost = sector_cost(&request, BUFFER_ALIGNMENT, self.memory);
                    (cost.sectors, cost.least)
                }
            };
            site.requests += 1;
            site.transactions += transactions;
            site.least += least;
        }
    }

    /// Index of each lane along axis `k` of the launch.
    fn global_index(&self, k: usize) -> Vec<i64> {
        let inside: i64 = self.shape.block.iter().take(k).product();
        let extent = self.shape.block.get(k).copied().unwrap_or(1);
        let block = self.block.get(k).copied().unwrap_or(0);
        let within = self.threads.iter().map(|thread| thread / inside.max(1) % extent);
        within.map(|within| block * extent + within).collect()
    }

    fn lanes(&self, expr: &Expr) -> Vec<Option<i64>> {
        (0..self.threads.len()).map(|lane| self.index(expr, lane)).collect()
    }

    fn index(&self, expr: &Expr, lane: usize) -> Option<i64> {
        evaluate(expr, &|name| {
            let own = self.names.iter().rev().find(|(own, _)| own == name);
            own.and_then(|(_, values)| values.get(lane).copied().flatten())
        })
    }
}

/// Value of an index or condition, 1 for true and 0 for false, with the values `names` of its names; `None` if a name has
/// no value, or if the expression calls a function or overflows.
pub(super) fn evaluate(expr: &Expr, names: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
    let of = |expr: &Expr| evaluate(expr, names);
    let all = |args: &[Expr], start: i64, op: fn(i64, i64) -> Option<i64>| {
        args.iter().try_fold(start, |all, arg| op(all, of(arg)?))
    };
    match expr {
        Expr::Int { value } => Some(*value),
        Expr::Bool { value } => Some(i64::from(*value)),
        Expr::Name { name } => names(name),
        Expr::Neg { a } => of(a)?.checked_neg(),
        Expr::Add { args } => all(args, 0, i64::checked_add),
        Expr::Mul { args } => all(args, 1, i64::checked_mul),
        Expr::Div { a, b } => of(a)?.checked_div(of(b)?),
        Expr::Mod { a, b } => of(a)?.checked_rem(of(b)?),
        Expr::FloorDiv { a, b } => of(a)?.checked_div_euclid(of(b)?),
        Expr::FloorMod { a, b } => of(a)?.checked_rem_euclid(of(b)?),
        Expr::BitAnd { args } => all(args, -1, |a, b| Some(a & b)),
        Expr::BitXor { args } => all(args, 0, |a, b| Some(a ^ b)),
        Expr::Min { a, b } => Some(of(a)?.min(of(b)?)),
        Expr::Max { a, b } => Some(of(a)?.max(of(b)?)),
        Expr::Select { condition, then, otherwise } => {
            of(if of(condition)? == 1 { then } else { otherwise })
        }
        Expr::Compare { op, a, b } => {
            let (a, b) = (of(a)?, of(b)?);
            Some(i64::from(match op {
                Compare::Eq => a == b,
                Compare::Lt => a < b,
                Compare::Le => a <= b,
                Compare::Ge => a >= b,
            }))
        }
        Expr::All { args } => all(args, 1, |a, b| Some(a.min(b))),
        Expr::Not { a } => Some(1 - of(a)?),
        Expr::Output { .. }
        | Expr::Address { .. }
        | Expr::Hilbert { .. }
        | Expr::HilbertCell { .. }
        | Expr::Call { .. } => None,
    }
}

/// Address of a statement in the IR, which identifies it.
fn id(stmt: &Stmt) -> usize {
    std::ptr::from_ref(stmt).addr()
}

/// Launch shape of a kernel with the given numbers of threads along each axis, fastest first, and `group` threads a
/// block if the kernel has thread blocks of a fixed size.
pub(super) fn launch_shape(range: &[i64], group: Option<i64>) -> LaunchShape {
    let block = match (group, range.len()) {
        (Some(group), _) => vec![group],
        (None, 2) => vec![32, 8],
        (None, 3..) => vec![32, 8, 1],
        (None, _) => vec![GPU.threads],
    };
    let blocks = range.iter().zip(&block).map(|(items, threads)| (items + threads - 1) / threads);
    LaunchShape { blocks: blocks.collect(), block }
}
