//! Verifier of functions of the loop IR. It checks that names are used only in the scope of their declaration and not
//! declared again there, that types agree, that read-only buffers are not written, that loops are nested legally, and
//! that steps are positive.

use thiserror::Error;

use super::{Expr, Function, LoopKind, Param, ParamType, Part, Primitive, Stmt, Storage, Value};
use crate::base::dtype::{Dtype, Scalar};

/// Violation of a rule of the loop IR by a function: a fault of the planner or pass that produced the function.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum VerifyError {
    /// A name is used outside the scope of its declaration.
    #[error("`{name}` is not declared here")]
    Undeclared {
        /// Name that is not visible.
        name: String,
    },
    /// A name is declared in the scope of another declaration of it, so that a pass that moves statements may change
    /// what it means. Reported only if there is no other violation.
    #[error("`{name}` is declared twice")]
    Shadowed {
        /// Name that is declared again.
        name: String,
    },
    /// A statement writes a read-only buffer, or declares a written alias of it. Read-only are inputs of the function,
    /// and aliases that are not declared as written.
    #[error("`{name}` is read only")]
    ReadOnly {
        /// Identifier of the buffer.
        name: String,
    },
    /// An operand has another type than its operation expects.
    #[error("expected {expected}, found {found}")]
    Type {
        /// Type that the operation expects.
        expected: Dtype,
        /// Type of the operand.
        found: Dtype,
    },
    /// An illegal nest of loops: a block or grid-stride loop inside any loop; a parallel or worksharing loop inside a
    /// parallel, worksharing or GPU loop; or a thread loop inside a thread, parallel or worksharing loop.
    #[error("a {kind:?} loop inside a {around:?} loop")]
    LoopKind {
        /// Kind of the inner loop.
        kind: LoopKind,
        /// Kind of the outermost loop around it that must not contain it.
        around: LoopKind,
    },
    /// A loop whose step is not positive.
    #[error("the step of `{name}` is {step}")]
    Step {
        /// Identifier of the loop variable.
        name: String,
        /// Step of the loop.
        step: i64,
    },
}

/// Checks that a function obeys the rules of the loop IR: names declared once in a scope, matching types, no writes to
/// read-only buffers, legal nests and positive steps.
///
/// # Errors
/// The first violation, in the order of the statements: [`VerifyError::Undeclared`], [`VerifyError::ReadOnly`],
/// [`VerifyError::Type`], [`VerifyError::LoopKind`] or [`VerifyError::Step`]. Otherwise the first
/// [`VerifyError::Shadowed`].
pub fn verify(function: &Function) -> Result<(), VerifyError> {
    let mut verifier = Verifier { names: Vec::new(), loops: Vec::new(), shadowed: None };
    for Param { name, ty } in &function.params {
        verifier.names.push((name.clone(), Declared::of_param(*ty)));
    }
    verifier.body(&function.body)?;
    verifier.shadowed.map_or(Ok(()), |name| Err(VerifyError::Shadowed { name }))
}

/// Declared name: an index, an element value, or a buffer with its access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Declared {
    /// Index parameter, index constant, index variable or loop variable.
    Index,
    /// Element value of the given type.
    Element(Dtype),
    /// Array, or buffer that may be written, with its element type; `None` for an output parameter that is an index.
    Writable(Option<Dtype>),
    /// Read-only buffer with its element type.
    Readable(Dtype),
}

impl Declared {
    fn of_param(ty: ParamType) -> Self {
        match ty {
            ParamType::Index => Self::Index,
            ParamType::OutIndex => Self::Writable(None),
            ParamType::Input(dtype) | ParamType::InputImage(dtype, _) => Self::Readable(dtype),
            ParamType::Output(dtype) | ParamType::OutputImage(dtype, _) => {
                Self::Writable(Some(dtype))
            }
        }
    }

    fn dtype(self) -> Option<Dtype> {
        match self {
            Self::Index => None,
            Self::Element(dtype) | Self::Readable(dtype) => Some(dtype),
            Self::Writable(dtype) => dtype,
        }
    }
}

struct Verifier {
    /// Visible names with their declarations, those of the innermost scope last.
    names: Vec<(String, Declared)>,
    /// Kinds of the enclosing loops, the innermost last.
    loops: Vec<LoopKind>,
    /// First name that is declared in the scope of another declaration of it.
    shadowed: Option<String>,
}

impl Verifier {
    fn body(&mut self, body: &[Stmt]) -> Result<(), VerifyError> {
        let outside = self.names.len();
        for stmt in body {
            self.stmt(stmt)?;
        }
        self.names.truncate(outside);
        Ok(())
    }

    fn declare(&mut self, name: &str, declared: Declared) {
        if self.shadowed.is_none() && self.names.iter().any(|(known, _)| known == name) {
            self.shadowed = Some(name.to_owned());
        }
        self.names.push((name.to_owned(), declared));
    }

    fn find(&self, name: &str) -> Result<Declared, VerifyError> {
        let found = self.names.iter().rev().find(|(known, _)| known == name);
        found
            .map(|(_, declared)| *declared)
            .ok_or(VerifyError::Undeclared { name: name.to_owned() })
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<(), VerifyError> {
        let mut fault = Ok(());
        stmt.parts(&mut |part| {
            let found = match part {
                Part::Index(expr) => self.expr(expr),
                Part::Value(value) => self.value(value).map(drop),
                Part::Buffer(name) => self.find(name).map(drop),
            };
            if fault.is_ok() {
                fault = found;
            }
        });
        fault?;
        match stmt {
            Stmt::Let { name, .. } | Stmt::LetIndex { name, .. } => {
                self.declare(name, Declared::Index);
            }
            Stmt::LetElement { name, dtype, .. } => self.declare(name, Declared::Element(*dtype)),
            Stmt::Variable { name, dtype, value } => {
                self.same(*dtype, value)?;
                self.declare(name, Declared::Element(*dtype));
            }
            Stmt::Declare { names } => {
                names.iter().for_each(|name| self.declare(name, Declared::Index));
            }
            Stmt::Allocate { name, dtype, elements: _, storage } => {
                if let Storage::Restrict { memory } | Storage::Team { memory, .. } = storage {
                    self.declare(memory, Declared::Writable(Some(*dtype)));
                }
                self.declare(name, Declared::Writable(Some(*dtype)));
            }
            Stmt::Alias { name, buffer, dtype, written } => {
                if *written {
                    self.writable(buffer)?;
                }
                self.declare(
                    name,
                    if *written {
                        Declared::Writable(Some(*dtype))
                    } else {
                        Declared::Readable(*dtype)
                    },
                );
            }
            Stmt::For { name, step, kind, body, .. } => {
                self.legal(name, *step, kind)?;
                let outside = self.names.len();
                self.declare(name, Declared::Index);
                if let LoopKind::Thread { round: Some(round) } = kind {
                    self.declare(round, Declared::Index);
                }
                self.loops.push(kind.clone());
                let found = self.body(body);
                self.loops.pop();
                self.names.truncate(outside);
                found?;
            }
            Stmt::Launch { axes } => {
                axes.iter().for_each(|axis| self.declare(&axis.name, Declared::Index));
            }
            Stmt::If { body, otherwise, .. } => {
                self.body(body)?;
                self.body(otherwise)?;
            }
            Stmt::Store { buffer, value, .. } => {
                let declared = self.writable(buffer)?;
                if let (Some(expected), Some(found)) = (declared.dtype(), self.value(value)?)
                    && expected != found
                {
                    return Err(VerifyError::Type { expected, found });
                }
            }
            Stmt::StoreByte { buffer, .. } | Stmt::Set { name: buffer, .. } => {
                self.writable(buffer)?;
            }
            Stmt::Update { into, dtype, value, .. } => {
                self.same(*dtype, value)?;
                match into {
                    Value::Item { array: name, .. } | Value::Load { buffer: name, .. } => {
                        self.writable(name)?;
                    }
                    _ => {}
                }
            }
            Stmt::Single { body } => self.body(body)?,
            Stmt::Primitive(primitive) => self.primitive(primitive)?,
            Stmt::Return { .. } | Stmt::Assert { .. } | Stmt::Comment { .. } => {}
        }
        Ok(())
    }

    fn primitive(&self, primitive: &Primitive) -> Result<(), VerifyError> {
        match primitive {
            Primitive::Copy { to, .. }
            | Primitive::CopyAsync { to, .. }
            | Primitive::StoreVector { to, .. }
            | Primitive::Zero { buffer: to, .. }
            | Primitive::TransposeWords { to, .. } => self.writable(to).map(drop),
            Primitive::CopyRuns { to, .. }
            | Primitive::Transpose { to, .. }
            | Primitive::CastRuns { to, .. }
            | Primitive::CastTranspose { to, .. }
            | Primitive::ZeroRuns { to, .. } => self.writable(&to.buffer).map(drop),
            Primitive::StoreTexel { args, .. } => match args.first() {
                Some(Expr::Name { name }) => self.writable(name).map(drop),
                _ => Ok(()),
            },
            Primitive::Fence { .. }
            | Primitive::Barrier
            | Primitive::AwaitCopies
            | Primitive::Call { .. } => Ok(()),
        }
    }

    fn legal(&self, name: &str, step: i64, kind: &LoopKind) -> Result<(), VerifyError> {
        if step < 1 {
            return Err(VerifyError::Step { name: name.to_owned(), step });
        }
        let illegal = |around: &&LoopKind| match kind {
            LoopKind::GridStride | LoopKind::Block => true,
            LoopKind::Parallel | LoopKind::Worksharing { .. } => {
                around.is_gpu() || around.is_parallel()
            }
            LoopKind::Thread { .. } => {
                matches!(around, LoopKind::Thread { .. }) || around.is_parallel()
            }
            LoopKind::Serial | LoopKind::Unrolled(_) => false,
        };
        match self.loops.iter().find(illegal) {
            Some(around) => {
                Err(VerifyError::LoopKind { kind: kind.clone(), around: around.clone() })
            }
            None => Ok(()),
        }
    }

    fn writable(&self, name: &str) -> Result<Declared, VerifyError> {
        match self.find(name)? {
            Declared::Readable(_) => Err(VerifyError::ReadOnly { name: name.to_owned() }),
            declared => Ok(declared),
        }
    }

    fn expr(&self, expr: &Expr) -> Result<(), VerifyError> {
        let mut fault = Ok(());
        expr.visit(&mut |part| {
            if let Expr::Name { name } | Expr::Address { name } | Expr::Output { name } = part
                && fault.is_ok()
            {
                fault = self.find(name).map(drop);
            }
        });
        fault
    }

    /// Checks that the operands of a value are declared and have matching types, and that the value has the type
    /// `expected`. A value of unknown type passes.
    fn same(&self, expected: Dtype, value: &Value) -> Result<(), VerifyError> {
        match self.value(value)? {
            Some(found) if found != expected => Err(VerifyError::Type { expected, found }),
            _ => Ok(()),
        }
    }

    /// Checks that the operands of a value are declared and have matching types, and returns the type of the value;
    /// `None` if it is unknown, as for an element of an image, or for the name of an index.
    fn value(&self, value: &Value) -> Result<Option<Dtype>, VerifyError> {
        const BOOL: Dtype = Dtype { scalar: Scalar::Bool, lanes: 1 };
        Ok(match value {
            Value::Constant { dtype, .. } => Some(*dtype),
            Value::Name { name } => self.find(name)?.dtype(),
            Value::Item { array, index } => {
                self.expr(index)?;
                self.find(array)?.dtype()
            }
            Value::Index { dtype, value } => {
                self.expr(value)?;
                Some(*dtype)
            }
            Value::Holds { condition } => {
                self.expr(condition)?;
                Some(BOOL)
            }
            Value::Load { buffer, index, .. } => {
                self.expr(index)?;
                self.find(buffer)?.dtype()
            }
            Value::Fetch { args, .. } => {
                args.iter().try_for_each(|arg| self.expr(arg))?;
                None
            }
            Value::Negate { dtype, a } => {
                self.same(*dtype, a)?;
                Some(*dtype)
            }
            Value::Not { a } => {
                self.same(BOOL, a)?;
                Some(BOOL)
            }
            Value::Binary { op, dtype, a, b } => {
                self.same(*dtype, a)?;
                self.same(*dtype, b)?;
                Some(if op.is_comparison() { BOOL } else { *dtype })
            }
            Value::Select { condition, then, otherwise } => {
                self.same(BOOL, condition)?;
                let [then, other] = [self.value(then)?, self.value(otherwise)?];
                if let (Some(expected), Some(found)) = (then, other)
                    && expected != found
                {
                    return Err(VerifyError::Type { expected, found });
                }
                then.or(other)
            }
            Value::Call { dtype, args, .. } => {
                args.iter().try_for_each(|arg| self.same(*dtype, arg))?;
                Some(*dtype)
            }
            Value::Convert { from, to, value } => {
                self.same(*from, value)?;
                Some(*to)
            }
            Value::Cast { cast, value } => {
                self.same(cast.from(), value)?;
                Some(cast.to())
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{ReduceOp, Returns};

    const F32: Dtype = Dtype { scalar: Scalar::F32, lanes: 1 };
    const F64: Dtype = Dtype { scalar: Scalar::F64, lanes: 1 };

    fn check(body: Vec<Stmt>) -> Result<(), VerifyError> {
        let param = |name: &str, ty| Param { name: name.to_owned(), ty };
        let params = vec![
            param("n", ParamType::Index),
            param("a", ParamType::Input(F32)),
            param("b", ParamType::Output(F32)),
        ];
        let (doc, returns) = (Vec::new(), Returns::Nothing);
        verify(&Function { name: "f".to_owned(), doc, returns, params, body })
    }

    fn load(buffer: &str, index: &str) -> Value {
        Value::Load { buffer: buffer.to_owned(), index: Expr::name(index), through: None }
    }

    fn store(buffer: &str, value: Value) -> Stmt {
        let (buffer, index) = (buffer.to_owned(), Expr::name("i"));
        Stmt::Store { buffer, index, value, through: None }
    }

    fn over(name: &str, kind: LoopKind, body: Vec<Stmt>) -> Stmt {
        let (name, from, to) = (name.to_owned(), Expr::int(0), Expr::name("n"));
        Stmt::For { name, from, to, step: 1, kind, body }
    }

    #[test]
    fn loop_variables_are_scoped_to_their_loop() {
        let copy = || store("b", load("a", "i"));
        assert_eq!(check(vec![over("i", LoopKind::Serial, vec![copy()])]), Ok(()));
        let outside = vec![over("i", LoopKind::Serial, vec![copy()]), copy()];
        assert_eq!(check(outside), Err(VerifyError::Undeclared { name: "i".to_owned() }));
    }

    #[test]
    fn names_are_declared_once_in_a_scope() {
        let constant = || Stmt::Let { name: "k".to_owned(), value: Expr::int(1) };
        let inner = |name: &str| over(name, LoopKind::Serial, vec![constant()]);
        assert_eq!(check(vec![inner("i"), inner("i"), constant()]), Ok(()));
        for (body, name) in [
            (vec![constant(), inner("i")], "k"),
            (vec![inner("k")], "k"),
            (vec![over("i", LoopKind::Serial, vec![inner("i")])], "i"),
            (vec![inner("n")], "n"),
        ] {
            assert_eq!(check(body), Err(VerifyError::Shadowed { name: name.to_owned() }));
        }
    }

    #[test]
    fn inputs_are_read_only_and_types_agree() {
        let into =
            |buffer, value| check(vec![over("i", LoopKind::Serial, vec![store(buffer, value)])]);
        let read_only = VerifyError::ReadOnly { name: "a".to_owned() };
        assert_eq!(into("a", load("b", "i")), Err(read_only));
        let wide = Value::Constant { dtype: F64, bits: 0 };
        let fault = Err(VerifyError::Type { expected: F32, found: F64 });
        assert_eq!(into("b", wide.clone()), fault);
        let into = load("b", "n");
        let update = Stmt::Update { into, how: ReduceOp::Sum, dtype: F32, value: wide };
        assert_eq!(check(vec![update]), fault);
    }

    #[test]
    fn parallel_loops_do_not_nest() {
        let inner = over("j", LoopKind::Parallel, Vec::new());
        let kind = LoopKind::Parallel;
        let fault = VerifyError::LoopKind { kind: kind.clone(), around: kind.clone() };
        assert_eq!(check(vec![over("i", kind, vec![inner])]), Err(fault));
    }
}
