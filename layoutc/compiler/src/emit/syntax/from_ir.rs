//! Conversion of the loop IR to the syntax tree of the template model.

use std::cell::RefCell;

use super::{
    Expr, Function, LoopKind, Operand, Param, ParamType, Returns, Spelling, Stmt, Strided,
    TeamArray, Value, WorkAxis,
};
use crate::base::fill;
use crate::{ir, passes};

#[expect(clippy::boxed_local, reason = "operands are boxed on both sides")]
fn boxed<T, U: From<T>>(value: Box<T>) -> Box<U> {
    Box::new(U::from(*value))
}

fn all<T, U: From<T>>(values: Vec<T>) -> Vec<U> {
    values.into_iter().map(U::from).collect()
}

impl From<ir::Expr> for Expr {
    fn from(expr: ir::Expr) -> Self {
        use ir::Expr as From;
        match expr {
            From::Int { value } => Self::Int { value },
            From::Bool { value } => Self::Bool { value },
            From::Name { name } => Self::Name { name },
            From::Output { name } => Self::Output { name },
            From::Address { name } => Self::Address { name },
            From::Neg { a } => Self::Neg { a: boxed(a) },
            From::Add { args } => Self::Add { args: all(args) },
            From::Mul { args } => Self::Mul { args: all(args) },
            From::Div { a, b } => Self::Div { a: boxed(a), b: boxed(b) },
            From::Mod { a, b } => Self::Mod { a: boxed(a), b: boxed(b) },
            From::FloorDiv { a, b } => Self::FloorDiv { a: boxed(a), b: boxed(b) },
            From::FloorMod { a, b } => Self::FloorMod { a: boxed(a), b: boxed(b) },
            From::BitAnd { args } => Self::BitAnd { args: all(args) },
            From::BitXor { args } => Self::BitXor { args: all(args) },
            From::Min { a, b } => Self::Min { a: boxed(a), b: boxed(b) },
            From::Max { a, b } => Self::Max { a: boxed(a), b: boxed(b) },
            From::Hilbert { a, b, rows, columns } => {
                Self::Hilbert { a: boxed(a), b: boxed(b), rows, columns }
            }
            From::HilbertCell { a, rows, columns } => {
                Self::HilbertCell { a: boxed(a), rows, columns }
            }
            From::Select { condition, then, otherwise } => Self::Select {
                condition: boxed(condition),
                then: boxed(then),
                otherwise: boxed(otherwise),
            },
            From::Call { name, args } => Self::Call { name, args: all(args) },
            From::Compare { op, a, b } => Self::Compare { op, a: boxed(a), b: boxed(b) },
            From::All { args } => Self::All { args: all(args) },
            From::Not { a } => Self::Not { a: boxed(a) },
        }
    }
}

impl From<ir::Value> for Value {
    fn from(value: ir::Value) -> Self {
        use ir::Value as From;
        match value {
            From::Constant { dtype, bits } => {
                Self::Constant { element: dtype.to_string(), bits: format!("{bits:x}") }
            }
            From::Name { name } => Self::Name { name },
            From::Item { array, index } => Self::Item { array, index: index.into() },
            From::Index { dtype, value } => {
                Self::Index { element: dtype.to_string(), value: value.into() }
            }
            From::Holds { condition } => Self::Holds { condition: condition.into() },
            From::Load { buffer, index, through } => {
                Self::Load { buffer, index: index.into(), through }
            }
            From::Fetch { function, args } => Self::Fetch { function, args: all(args) },
            From::Negate { dtype, a } => Self::Negate { element: dtype.to_string(), a: boxed(a) },
            From::Not { a } => Self::Not { a: boxed(a) },
            From::Binary { op, dtype, a, b } => {
                Self::Binary { op, element: dtype.to_string(), a: boxed(a), b: boxed(b) }
            }
            From::Select { condition, then, otherwise } => Self::Select {
                condition: boxed(condition),
                then: boxed(then),
                otherwise: boxed(otherwise),
            },
            From::Call { function, dtype, args } => Self::Call {
                function: function.name().to_owned(),
                element: dtype.to_string(),
                args: all(args),
            },
            From::Convert { from, to, value } => {
                Self::Convert { from: from.to_string(), to: to.to_string(), value: boxed(value) }
            }
            From::Cast { cast, value } => Self::Cast { cast: cast.name(), value: boxed(value) },
        }
    }
}

/// Operand of a store: an element that is copied or converted, or a computed value.
impl From<ir::Value> for Operand {
    fn from(value: ir::Value) -> Self {
        use ir::Value as From;
        match value {
            From::Load { buffer, index, through } => {
                Self::Load { buffer, index: index.into(), through }
            }
            From::Name { name } => Self::Element { name },
            From::Cast { cast, value } if value.is_copied() => {
                Self::Cast { cast: cast.name(), value: boxed(value) }
            }
            From::Fetch { function, args } => Self::Call { name: function, args: all(args) },
            value => Self::Number { value: value.into() },
        }
    }
}

impl From<ir::Spelling> for Spelling {
    fn from(spelling: ir::Spelling) -> Self {
        match spelling {
            ir::Spelling::Number => Self::Number,
            ir::Spelling::Bits => Self::Bits,
        }
    }
}

impl From<ir::Strided> for Strided {
    fn from(ir::Strided { buffer, index, stride }: ir::Strided) -> Self {
        Self { buffer, index: index.into(), stride: stride.into() }
    }
}

impl From<ir::LaunchAxis> for WorkAxis {
    fn from(ir::LaunchAxis { name, extent }: ir::LaunchAxis) -> Self {
        Self { name, extent: extent.into() }
    }
}

/// Statements of the syntax tree for the statements of a body. A directive precedes an unrolled or worksharing loop. An
/// `Unused` statement after a launch marks each index that the body does not use. Consecutive declarations of arrays
/// that the threads of a parallel region share become one `TeamArrays` statement.
pub fn stmts(body: Vec<ir::Stmt>) -> Vec<Stmt> {
    let unused = unused_indices(&body);
    let mut stmts = Vec::with_capacity(body.len());
    for stmt in body {
        let is_launch = matches!(stmt, ir::Stmt::Launch { .. });
        stmts.extend(directive(&stmt));
        match (stmts.last_mut(), stmt.into()) {
            // Arrays that are declared together are exchanged together.
            (Some(Stmt::OmpShared { arrays }), Stmt::OmpShared { arrays: more }) => {
                arrays.extend(more);
            }
            (_, stmt) => stmts.push(stmt),
        }
        if is_launch {
            stmts.extend(unused.iter().cloned());
        }
    }
    stmts
}

/// Directive before a loop; `None` for any other statement.
fn directive(stmt: &ir::Stmt) -> Option<Stmt> {
    match stmt {
        ir::Stmt::For { kind: ir::LoopKind::Unrolled(rounds), .. } => {
            Some(Stmt::Unroll { rounds: *rounds })
        }
        ir::Stmt::For { kind: ir::LoopKind::Worksharing { waits }, .. } => {
            Some(Stmt::OmpFor { waits: *waits })
        }
        _ => None,
    }
}

/// `Unused` statements for the launch indices that no statement after the launch uses; empty if `body` has no launch.
fn unused_indices(body: &[ir::Stmt]) -> Vec<Stmt> {
    let launch = body.iter().enumerate().find_map(|(k, stmt)| match stmt {
        ir::Stmt::Launch { axes } => Some((k, axes)),
        _ => None,
    });
    let Some((k, axes)) = launch else { return Vec::new() };
    unused(axes.iter().map(|axis| &axis.name), body.iter().skip(k).skip(1))
}

/// `Unused` statements for those of `names` that no statement of `body` mentions.
fn unused<'a>(
    names: impl Iterator<Item = &'a String>,
    body: impl Iterator<Item = &'a ir::Stmt>,
) -> Vec<Stmt> {
    let unused: RefCell<Vec<&String>> = RefCell::new(names.collect());
    let used = |name: &str| unused.borrow_mut().retain(|other| *other != name);
    for stmt in body {
        let expr = |expr: &ir::Expr| {
            if let ir::Expr::Name { name } = expr {
                used(name);
            }
        };
        stmt.visit(&mut { expr }, &mut |name| used(name));
    }
    unused.into_inner().into_iter().map(|name| Stmt::Unused { name: name.clone() }).collect()
}

impl From<ir::Stmt> for Stmt {
    fn from(stmt: ir::Stmt) -> Self {
        use ir::Stmt as From;
        match stmt {
            From::Let { name, value } => Self::Let { name, value: value.into() },
            From::LetIndex { name, value } => Self::LetIndex { name, value: value.into() },
            From::LetElement { name, dtype, bytes, spelling } => Self::LetElement {
                name,
                element: dtype.to_string(),
                bits: fill::digits(dtype, &bytes),
                spelling: spelling.into(),
            },
            From::Variable { name, dtype, value } => {
                Self::Accumulator { name, element: dtype.to_string(), value: value.into() }
            }
            From::Declare { names } => Self::Declare { names },
            From::Allocate { name, dtype, elements, storage } => {
                let element = dtype.to_string();
                match storage {
                    ir::Storage::Private => Self::DeclareArray { name, element, elements },
                    ir::Storage::Shared => Self::DeclareLocal { name, element, elements },
                    ir::Storage::Restrict { memory } => {
                        Self::DeclareBlock { name, memory, element, elements }
                    }
                    ir::Storage::Team { memory, common } => Self::OmpShared {
                        arrays: vec![TeamArray { name, memory, common, element, elements }],
                    },
                }
            }
            From::Alias { name, buffer, dtype, written } => {
                Self::Alias { name, buffer, element: dtype.to_string(), written }
            }
            From::For { name, from, to, step, kind, body } => {
                let (to, body) = (to.into(), stmts(body));
                let share = |among, round| Self::Share {
                    name: name.clone(),
                    to: Expr::clone(&to),
                    among,
                    round,
                    body: body.clone(),
                };
                match kind {
                    ir::LoopKind::GridStride => share(LoopKind::GridStride, None),
                    ir::LoopKind::Block => share(LoopKind::Block, None),
                    ir::LoopKind::Thread { round } => share(LoopKind::Thread, round),
                    ir::LoopKind::Serial
                    | ir::LoopKind::Unrolled(_)
                    | ir::LoopKind::Parallel
                    | ir::LoopKind::Worksharing { .. } => {
                        let parallel = kind == ir::LoopKind::Parallel;
                        Self::For { name, from: from.into(), to, step, parallel, body }
                    }
                }
            }
            From::Launch { axes } => Self::WorkItem { axes: all(axes) },
            From::If { condition, likely, body, otherwise } => Self::If {
                condition: condition.into(),
                likely,
                body: stmts(body),
                otherwise: stmts(otherwise),
            },
            From::Store { buffer, index, value, through } => {
                Self::Store { buffer, index: index.into(), value: value.into(), through }
            }
            From::StoreByte { buffer, index, value } => {
                Self::StoreByte { buffer, index: index.into(), value }
            }
            From::Update { into, how, dtype, value } => Self::Update {
                into: into.into(),
                how,
                element: dtype.to_string(),
                value: value.into(),
            },
            From::Single { body } => Self::OmpSingle { body: stmts(body) },
            From::Primitive(primitive) => primitive.into(),
            From::Set { name, value } => Self::Set { name, value: value.into() },
            From::Return { value } => Self::Return { value: value.into() },
            From::Assert { condition } => Self::Assert { condition: condition.into() },
            From::Comment { text } => Self::Comment { text },
        }
    }
}

impl From<ir::Primitive> for Stmt {
    fn from(primitive: ir::Primitive) -> Self {
        use ir::Primitive as From;
        match primitive {
            From::Copy { to, to_index, from, from_index, bytes } => Self::Copy {
                to,
                to_index: to_index.into(),
                from,
                from_index: from_index.into(),
                bytes: bytes.into(),
            },
            From::CopyRuns { to, from, count, bytes, whole_bytes } => Self::CopyRuns {
                to: to.into(),
                from: from.into(),
                count: count.into(),
                bytes: bytes.into(),
                whole_bytes: whole_bytes.into(),
            },
            From::StoreVector { to, to_index, from, from_index, elements } => Self::StoreVector {
                buffer: to,
                index: to_index.into(),
                array: from,
                item: from_index.into(),
                elements,
            },
            From::Transpose {
                element_bytes,
                to,
                from,
                rows,
                columns,
                typical,
                whole_bytes,
                blocks,
            } => {
                let (to, from) = (to.into(), from.into());
                let (rows, columns) = (rows.into(), columns.into());
                let whole_bytes = whole_bytes.into();
                match blocks.map(|blocks| *blocks) {
                    None => Self::Transpose {
                        element_bytes,
                        to,
                        from,
                        rows,
                        columns,
                        typical,
                        whole_bytes,
                    },
                    Some(ir::Blocks { count, to_step, from_step, from_next }) => Self::Transposes {
                        element_bytes,
                        to,
                        to_step: to_step.into(),
                        from,
                        from_step: from_step.into(),
                        from_next: from_next.into(),
                        rows,
                        columns,
                        typical,
                        count: count.into(),
                        whole_bytes,
                    },
                }
            }
            From::CastRuns { cast, to, from, count, elements } => Self::CastRuns {
                cast: cast.name(),
                to: to.into(),
                from: from.into(),
                count: count.into(),
                elements: elements.into(),
            },
            From::CastTranspose { cast, together, to, from, rows, columns, whole_bytes } => {
                Self::CastTranspose {
                    cast: cast.name(),
                    together,
                    to: to.into(),
                    from: from.into(),
                    rows: rows.into(),
                    columns: columns.into(),
                    whole_bytes: whole_bytes.into(),
                }
            }
            From::Zero { buffer, index, bytes } => {
                Self::Zero { buffer, index: index.into(), bytes: bytes.into() }
            }
            From::ZeroRuns { to, count, bytes } => {
                Self::ZeroRuns { to: to.into(), count: count.into(), bytes: bytes.into() }
            }
            From::TransposeWords { from, first, to, dtype, rows, columns } => {
                let (first, element) = (first.into(), dtype.to_string());
                Self::RegisterTranspose { from, first, to, element, rows, columns }
            }
            From::Fence { whole_bytes } => Self::Fence { whole_bytes: whole_bytes.into() },
            From::Barrier => Self::Barrier,
            From::CopyAsync { dtype, to, to_index, from, from_index } => {
                let (to_index, from_index) = (to_index.into(), from_index.into());
                Self::CopyAsync { to, to_index, from, from_index, element: dtype.to_string() }
            }
            From::AwaitCopies => Self::AwaitCopies,
            From::Call { name, args } => Self::Call { name, args: all(args) },
            From::StoreTexel { function, args, value } => {
                Self::ImageStore { function, args: all(args), value: value.into() }
            }
        }
    }
}

impl From<ir::ParamType> for ParamType {
    fn from(ty: ir::ParamType) -> Self {
        match ty {
            ir::ParamType::Index => Self::Index,
            ir::ParamType::OutIndex => Self::OutIndex,
            ir::ParamType::Input(dtype) => Self::Input { element: dtype.to_string() },
            ir::ParamType::Output(dtype) => Self::Output { element: dtype.to_string() },
            ir::ParamType::InputImage(dtype, rank) => {
                Self::InputImage { element: dtype.to_string(), rank }
            }
            ir::ParamType::OutputImage(dtype, rank) => {
                Self::OutputImage { element: dtype.to_string(), rank }
            }
        }
    }
}

impl From<ir::Param> for Param {
    fn from(ir::Param { name, ty }: ir::Param) -> Self {
        Self { name, ty: ty.into() }
    }
}

impl From<ir::Returns> for Returns {
    fn from(returns: ir::Returns) -> Self {
        match returns {
            ir::Returns::Nothing => Self::Nothing,
            ir::Returns::Index => Self::Index,
            ir::Returns::Bytes => Self::Bytes,
            ir::Returns::Bool => Self::Bool,
        }
    }
}

/// Converts a function, with an `Unused` statement for each parameter that its body does not use.
impl From<ir::Function> for Function {
    fn from(function: ir::Function) -> Self {
        debug_assert_eq!(ir::verify(&function), Ok(()), "{function}");
        let vector_versions = passes::has_vector_versions(&function);
        let is_shared = |stmt: &ir::Stmt| match stmt {
            ir::Stmt::Single { .. } => true,
            ir::Stmt::For { kind, .. } => matches!(kind, ir::LoopKind::Worksharing { .. }),
            _ => false,
        };
        let in_region = function.body.iter().any(|stmt| stmt.any(is_shared));
        let ir::Function { name, doc, returns, params, body } = function;
        let names = || params.iter().map(|param| &param.name);
        let is_condition = |stmt: &ir::Stmt| matches!(stmt, ir::Stmt::Assert { .. });
        let unchecked = unused(names(), body.iter().filter(|stmt| !is_condition(stmt)));
        let unused = unused(names(), body.iter());
        let body = unused.into_iter().chain(stmts(body)).collect();
        let (returns, params, lengths) = (returns.into(), all(params), Vec::new());
        Self { name, doc, returns, params, body, vector_versions, in_region, unchecked, lengths }
    }
}
