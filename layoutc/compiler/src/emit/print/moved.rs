//! Detection and printing of element copies that must preserve every bit.

use super::stmts::Writer;
use crate::base::dtype::Dtype;
use crate::emit::dialect::Dialect;
use crate::emit::syntax::{Expr, Operand, Param, ParamType, Stmt};

/// Copy of an element from one buffer to another without conversion.
pub(super) struct Moved<'a> {
    to: &'a str,
    to_index: &'a Expr,
    from: &'a str,
    from_index: &'a Expr,
}

/// Copy by `stmt` of a float whose bits an assignment may change: x87 registers turn a signaling NaN into a quiet one.
/// `params` are the parameters of the function. `None` for any other statement.
pub(super) fn moved<'a>(dialect: &Dialect, params: &[Param], stmt: &'a Stmt) -> Option<Moved<'a>> {
    let Stmt::Store { buffer: to, index: to_index, value, through: None } = stmt else {
        return None;
    };
    let Operand::Load { buffer: from, index: from_index, through: None } = value else {
        return None;
    };
    let element = element_of(params, to)?;
    let is_bits = Dtype::parse(element).is_some_and(|dtype| dialect.moves_bits.contains(&dtype));
    (is_bits && element_of(params, from) == Some(element)).then_some(Moved {
        to,
        to_index,
        from,
        from_index,
    })
}

/// Element type of a buffer parameter; `None` if no parameter of this name is a buffer.
pub(super) fn element_of<'p>(params: &'p [Param], buffer: &str) -> Option<&'p str> {
    let param = params.iter().find(|param| param.name == buffer)?;
    match &param.ty {
        ParamType::Input { element } | ParamType::Output { element } => Some(element),
        ParamType::Index
        | ParamType::OutIndex
        | ParamType::InputImage { .. }
        | ParamType::OutputImage { .. } => None,
    }
}

impl Writer<'_> {
    pub(super) fn move_bits(&mut self, moved: &Moved<'_>, depth: usize) {
        self.begin(depth, &["memcpy("]);
        self.put_address(moved.to, moved.to_index);
        self.put(&[", "]);
        self.put_address(moved.from, moved.from_index);
        self.put(&[", sizeof *", moved.to, ");\n"]);
    }
}
