//! Lowering of planned functions to steps: variables become slots, symbols become constants, and calls of index
//! functions are inlined.

use std::collections::BTreeMap;

use layoutc_algebra::expr::curve::CurveGrid;

use crate::base::dtype::Dtype;
use crate::ir::{Compare, Expr, Function, ParamType, Primitive, Stmt, Strided, Value as Element};

use super::RunError;
use super::step::{Each, Loop, Operand, Step, Width};
use super::value::{Binary, Program, Value};

/// Maximum depth of nested calls of index functions.
const CALLS: u32 = 4;

/// State of the lowering of one function. `functions` are the index functions that can be called, by name. `width` is
/// the storage format of the elements of both buffers, `source` and `target` are the identifiers of the buffers, and
/// `calls` is the number of inlined calls around the current expression.
pub(super) struct Compiler<'a> {
    functions: BTreeMap<&'a str, &'a Function>,
    width: Width,
    /// Visible identifiers with their values, the innermost declaration last.
    names: Vec<(String, Value)>,
    /// Named constant elements, as identifier and bytes.
    elements: Vec<(String, Vec<u8>)>,
    source: String,
    target: String,
    /// Number of slots allocated so far.
    pub(super) slots: usize,
    calls: u32,
}

impl<'a> Compiler<'a> {
    /// Creates the lowering state. `functions` are the index functions that can be called, and `width` is the storage
    /// format of the elements of both buffers.
    pub(super) fn new(functions: &[&'a Function], width: Width) -> Self {
        Self {
            functions: functions.iter().map(|f| (f.name.as_str(), *f)).collect(),
            width,
            names: Vec::new(),
            elements: Vec::new(),
            source: String::new(),
            target: String::new(),
            slots: 0,
            calls: 0,
        }
    }

    /// Steps of a relayout function. `symbols` holds the values of its index parameters, in order.
    /// [`RunError::Unsupported`] if a value is missing, or if the interpreter does not support a part of the function.
    pub(super) fn function(
        &mut self,
        function: &Function,
        symbols: &[i64],
    ) -> Result<Vec<Step>, RunError> {
        let mut symbols = symbols.iter();
        for param in &function.params {
            match &param.ty {
                ParamType::Index => {
                    let value = symbols.next().ok_or(RunError::Unsupported)?;
                    self.names.push((param.name.clone(), Value::int(*value)));
                }
                ParamType::Input(_) => self.source.clone_from(&param.name),
                ParamType::Output(_) => self.target.clone_from(&param.name),
                ParamType::OutIndex | ParamType::InputImage(..) | ParamType::OutputImage(..) => {
                    return Err(RunError::Unsupported);
                }
            }
        }
        self.body(&function.body)
    }

    /// Program of an index function. `symbols` holds the values of its first parameters; each other parameter gets a
    /// new slot, in order (from slot 0 in a new [`Compiler`]).
    pub(super) fn index(
        &mut self,
        function: &Function,
        symbols: &[i64],
    ) -> Result<Program, RunError> {
        for (number, param) in function.params.iter().enumerate() {
            match symbols.get(number) {
                Some(value) => self.names.push((param.name.clone(), Value::int(*value))),
                None => {
                    self.new_slot(&param.name);
                }
            }
        }
        let args = function.params.iter().map(|param| Expr::name(&param.name)).collect::<Vec<_>>();
        Ok(Program::of(&self.call(&function.name, &args)?))
    }

    fn body(&mut self, body: &[Stmt]) -> Result<Vec<Step>, RunError> {
        let seen = self.names.len();
        let mut steps = Vec::new();
        for stmt in body {
            steps.extend(self.stmt(stmt)?);
        }
        self.names.truncate(seen);
        Ok(steps)
    }

    fn new_slot(&mut self, name: &str) -> usize {
        let slot = self.slots;
        self.slots += 1;
        self.names.push((name.to_owned(), Value::slot(slot)));
        slot
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<Option<Step>, RunError> {
        Ok(Some(match stmt {
            Stmt::Let { name, value } => {
                let value = self.value(value)?;
                if value.as_const().is_some() {
                    self.names.push((name.clone(), value));
                    return Ok(None);
                }
                let value = Program::of(&value);
                Step::Let { slot: self.new_slot(name), value }
            }
            Stmt::LetElement { name, dtype, bytes, .. } => {
                self.elements.push((name.clone(), element_bytes(*dtype, bytes)));
                return Ok(None);
            }
            Stmt::For { name, from, to, step, kind, body } if !kind.is_gpu() => {
                return self.counted(name, [from, to], *step, body).map(Some);
            }
            Stmt::If { condition, likely: _, body, otherwise } => Step::If {
                condition: self.program(condition)?,
                body: self.body(body)?,
                otherwise: self.body(otherwise)?,
            },
            Stmt::Store { .. } | Stmt::StoreByte { .. } => {
                let slot = self.slots;
                self.slots += 1;
                let [from, to] = [0, 1].map(|k| Program::of(&Value::int(k)));
                return self.each(stmt, (slot, from, to, 1));
            }
            Stmt::Primitive(primitive) => return self.primitive(primitive),
            Stmt::Assert { condition } => {
                let condition = self.value(condition)?;
                if condition.as_const() == Some(1) {
                    return Ok(None);
                }
                Step::Assert { condition: Program::of(&condition) }
            }
            Stmt::Comment { .. } => return Ok(None),
            Stmt::For { .. }
            | Stmt::Launch { .. }
            | Stmt::Alias { .. }
            | Stmt::Declare { .. }
            | Stmt::Allocate { .. }
            | Stmt::Variable { .. }
            | Stmt::LetIndex { .. }
            | Stmt::Update { .. }
            | Stmt::Set { .. }
            | Stmt::Single { .. }
            | Stmt::Return { .. } => return Err(RunError::Unsupported),
        }))
    }

    fn primitive(&mut self, primitive: &Primitive) -> Result<Option<Step>, RunError> {
        Ok(Some(match primitive {
            Primitive::Copy { to, to_index, from, from_index, bytes } => {
                self.check([from, to])?;
                Step::Copy {
                    from: self.offset(from_index)?,
                    to: self.offset(to_index)?,
                    bytes: self.program(bytes)?,
                }
            }
            Primitive::CopyRuns { to, from, count, bytes, whole_bytes: _ } => {
                Step::Runs(self.six([from, to], [count, bytes])?)
            }
            Primitive::Transpose { element_bytes, to, from, rows, columns, blocks, .. } => {
                let mut block = self.six([from, to], [rows, columns])?;
                let Some(blocks) = blocks else {
                    return Ok(Some(Step::Transpose { element_bytes: *element_bytes, block }));
                };
                let slot = self.slots;
                self.slots += 1;
                let number = Value::slot(slot);
                let [first_from, _, first_to, ..] = &mut *block;
                for (first, place, step) in [
                    (first_from, &from.index, &blocks.from_step),
                    (first_to, &to.index, &blocks.to_step),
                ] {
                    let before = number.clone().binary(Binary::Mul, self.value(step)?);
                    *first = Program::of(&self.bytes(place)?.binary(Binary::Add, before));
                }
                let body = vec![Step::Transpose { element_bytes: *element_bytes, block }];
                let (from, to) = (Program::of(&Value::int(0)), self.program(&blocks.count)?);
                Step::Loop(Loop { slot, from, to, step: 1, body, share: None })
            }
            Primitive::Zero { buffer, index, bytes } if *buffer == self.target => {
                let [none, one] = [0, 1].map(|k| Program::of(&Value::int(k)));
                Step::Zeros(Box::new([self.offset(index)?, none, one, self.program(bytes)?]))
            }
            Primitive::ZeroRuns { to, count, bytes } if to.buffer == self.target => {
                Step::Zeros(Box::new([
                    self.offset(&to.index)?,
                    self.program(&to.stride)?,
                    self.program(count)?,
                    self.program(bytes)?,
                ]))
            }
            Primitive::Fence { .. } => return Ok(None),
            Primitive::CastRuns { .. }
            | Primitive::CastTranspose { .. }
            | Primitive::StoreVector { .. }
            | Primitive::Zero { .. }
            | Primitive::ZeroRuns { .. }
            | Primitive::Barrier
            | Primitive::TransposeWords { .. }
            | Primitive::Call { .. }
            | Primitive::StoreTexel { .. } => return Err(RunError::Unsupported),
        }))
    }

    /// Operands of a primitive that copies runs or transposes a block: source offset and stride, destination offset and
    /// stride, in bytes, then `a` and `b`. [`RunError::Unsupported`] if the buffers are not the source and the target.
    fn six(
        &self,
        [from, to]: [&Strided; 2],
        [a, b]: [&Expr; 2],
    ) -> Result<Box<[Program; 6]>, RunError> {
        self.check([&from.buffer, &to.buffer])?;
        Ok(Box::new([
            self.offset(&from.index)?,
            self.program(&from.stride)?,
            self.offset(&to.index)?,
            self.program(&to.stride)?,
            self.program(a)?,
            self.program(b)?,
        ]))
    }

    fn counted(
        &mut self,
        name: &str,
        [from, to]: [&Expr; 2],
        step: i64,
        body: &[Stmt],
    ) -> Result<Step, RunError> {
        let (from, to) = (self.program(from)?, self.program(to)?);
        let seen = self.names.len();
        let slot = self.new_slot(name);
        if let [one @ (Stmt::Store { .. } | Stmt::StoreByte { .. })] = body {
            let each = self.each(one, (slot, from, to, step))?;
            self.names.truncate(seen);
            return each.ok_or(RunError::Unsupported);
        }
        let body = self.body(body)?;
        self.names.truncate(seen);
        Ok(Step::Loop(Loop { slot, from, to, step, body, share: None }))
    }

    /// Lowers a loop whose body is the store `stmt`. The tuple holds the slot of the loop variable, its first value,
    /// its exclusive end, and the step. The result is never `Ok(None)`.
    fn each(
        &self,
        stmt: &Stmt,
        (slot, from, to, step): (usize, Program, Program, i64),
    ) -> Result<Option<Step>, RunError> {
        let (width, index, operand) = match stmt {
            Stmt::Store {
                buffer,
                index,
                value: Element::Load { buffer: source, index: at, .. },
                ..
            } => {
                self.check([source, buffer])?;
                (self.width, self.program(index)?, Operand::Load(self.program(at)?))
            }
            Stmt::Store { buffer, index, value: Element::Name { name }, .. }
                if *buffer == self.target =>
            {
                let element = self.elements.iter().find(|element| element.0 == *name);
                let (_, bytes) = element.ok_or(RunError::Unsupported)?;
                (self.width, self.program(index)?, Operand::Constant(bytes.clone()))
            }
            Stmt::StoreByte { buffer, index, value } if *buffer == self.target => {
                (Width::Bytes(1), self.program(index)?, Operand::Constant(vec![*value]))
            }
            _ => return Err(RunError::Unsupported),
        };
        Ok(Some(Step::Each(Each { slot, from, to, step, width, index, operand })))
    }

    fn check(&self, [from, to]: [&String; 2]) -> Result<(), RunError> {
        let are_ours = *from == self.source && *to == self.target;
        if are_ours { Ok(()) } else { Err(RunError::Unsupported) }
    }

    fn program(&self, expr: &Expr) -> Result<Program, RunError> {
        Ok(Program::of(&self.value(expr)?))
    }

    fn offset(&self, index: &Expr) -> Result<Program, RunError> {
        Ok(Program::of(&self.bytes(index)?))
    }

    /// Offset of element `index` in a buffer, in bytes. Of packed elements, only the one at the constant index 0 has an
    /// offset; any other index is [`RunError::Unsupported`].
    fn bytes(&self, index: &Expr) -> Result<Value, RunError> {
        let bytes = match self.width {
            Width::Bytes(bytes) => bytes,
            // Element 0 starts at byte 0, whatever the packing.
            Width::Packed(_) if *index == Expr::int(0) => return Ok(Value::int(0)),
            Width::Packed(_) => return Err(RunError::Unsupported),
        };
        let bytes = Value::int(i64::try_from(bytes).map_err(|_| RunError::Unsupported)?);
        Ok(self.value(index)?.binary(Binary::Mul, bytes))
    }

    fn value(&self, expr: &Expr) -> Result<Value, RunError> {
        let two = |op: Binary, a: &Expr, b: &Expr| Ok(self.value(a)?.binary(op, self.value(b)?));
        match expr {
            Expr::Int { value } => Ok(Value::int(*value)),
            Expr::Bool { value } => Ok(Value::int(i64::from(*value))),
            Expr::Name { name } => {
                let known = self.names.iter().rev().find(|known| known.0 == *name);
                known.map(|known| known.1.clone()).ok_or(RunError::Unsupported)
            }
            Expr::Output { .. } | Expr::Address { .. } => Err(RunError::Unsupported),
            Expr::Neg { a } => Ok(self.value(a)?.binary(Binary::Mul, Value::int(-1))),
            Expr::Not { a } => Ok(self.value(a)?.binary(Binary::Xor, Value::int(1))),
            Expr::Add { args } => self.all(Binary::Add, 0, args),
            Expr::Mul { args } => self.all(Binary::Mul, 1, args),
            Expr::BitAnd { args } => self.all(Binary::And, -1, args),
            Expr::BitXor { args } => self.all(Binary::Xor, 0, args),
            Expr::All { args } => self.all(Binary::And, 1, args),
            // Truncating and floor division agree on nonnegative operands.
            Expr::Div { a, b } | Expr::FloorDiv { a, b } => two(Binary::FloorDiv, a, b),
            Expr::Mod { a, b } | Expr::FloorMod { a, b } => two(Binary::FloorMod, a, b),
            Expr::Min { a, b } => two(Binary::Min, a, b),
            Expr::Max { a, b } => two(Binary::Max, a, b),
            Expr::Hilbert { a, b, rows, columns } => {
                two(Binary::Distance(grid(*rows, *columns)?), a, b)
            }
            Expr::HilbertCell { a, rows, columns } => {
                Ok(Value::cell(grid(*rows, *columns)?, self.value(a)?))
            }
            Expr::Compare { op: Compare::Eq, a, b } => two(Binary::Equal, a, b),
            Expr::Compare { op: Compare::Lt, a, b } => two(Binary::Less, a, b),
            Expr::Compare { op: Compare::Le, a, b } => two(Binary::LessEqual, a, b),
            Expr::Compare { op: Compare::Ge, a, b } => two(Binary::LessEqual, b, a),
            Expr::Select { condition, then, otherwise } => {
                Ok(Value::select(self.value(condition)?, self.value(then)?, self.value(otherwise)?))
            }
            Expr::Call { name, args } => self.call(name, args),
        }
    }

    fn all(&self, op: Binary, none: i64, args: &[Expr]) -> Result<Value, RunError> {
        let mut values = args.iter().map(|arg| self.value(arg));
        let first = values.next().unwrap_or_else(|| Ok(Value::int(none)))?;
        values.try_fold(first, |all, value| Ok(all.binary(op, value?)))
    }

    /// Inlines a call of an index function: its return value, with `args` substituted for the parameters.
    fn call(&self, name: &str, args: &[Expr]) -> Result<Value, RunError> {
        let function = self.functions.get(name).ok_or(RunError::Unsupported)?;
        if self.calls >= CALLS || function.params.len() != args.len() {
            return Err(RunError::Unsupported);
        }
        let values: Vec<Value> =
            args.iter().map(|arg| self.value(arg)).collect::<Result<_, _>>()?;
        let names = function.params.iter().map(|param| param.name.clone()).zip(values);
        let inside = Compiler {
            functions: self.functions.clone(),
            width: self.width,
            names: names.collect(),
            elements: Vec::new(),
            source: String::new(),
            target: String::new(),
            slots: self.slots,
            calls: self.calls + 1,
        };
        let value = function.body.iter().find_map(|stmt| match stmt {
            Stmt::Return { value } => Some(value),
            _ => None,
        });
        inside.value(value.ok_or(RunError::Unsupported)?)
    }
}

fn grid(rows: i64, columns: i64) -> Result<CurveGrid, RunError> {
    let side = |side: i64| u32::try_from(side).map_err(|_| RunError::Unsupported);
    CurveGrid::new(side(rows)?, side(columns)?).ok_or(RunError::Unsupported)
}

/// Little-endian bytes of an element of type `dtype` whose lanes all have the bytes `lane`. Bytes that `lane` lacks are
/// 0, such as the imaginary part of `c128`.
pub(super) fn element_bytes(dtype: Dtype, lane: &[u8]) -> Vec<u8> {
    let mut lane = lane.to_vec();
    let bytes = usize::try_from(dtype.scalar_bits().div_ceil(8)).unwrap_or(0);
    lane.resize(bytes.max(lane.len()), 0);
    lane.repeat(usize::try_from(dtype.lanes).unwrap_or(1))
}
