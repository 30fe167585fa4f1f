//! Heads of functions as text.

use crate::emit::dialect::Dialect;
use crate::emit::element;
use crate::plan::tree::{Function, Param, ParamType, Returns};

/// The dialect of a function: that with wide indices where it counts bytes.
pub(super) fn dialect_of(dialect: &'static Dialect, function: &Function) -> &'static Dialect {
    if function.returns == Returns::Bytes { dialect.for_bytes() } else { dialect }
}

/// `returns name(parameters)`, without a semicolon.
pub fn prototype(dialect: &'static Dialect, function: &Function) -> String {
    let dialect = dialect_of(dialect, function);
    let returns = match function.returns {
        Returns::Nothing => "void",
        Returns::Index | Returns::Bytes => dialect.index,
        Returns::Bool => dialect.boolean,
    };
    format!("{returns} {}({})", function.name, parameters(dialect, function, dialect.restrict))
}

/// The parameters of a function, `restrict` before the names of pointers to elements.
pub fn parameters(dialect: &'static Dialect, function: &Function, restrict: &str) -> String {
    let image = |rank: &u32| dialect.images.iter().find(|image| image.rank == *rank);
    if function.params.is_empty() {
        return "void".to_owned();
    }
    let mut text = String::new();
    for (k, Param { name, ty }) in function.params.iter().enumerate() {
        let buffer = |element: &str| buffer_type(dialect, element);
        let pointer = dialect.pointer;
        text.push_str(if k == 0 { "" } else { ", " });
        text.push_str(&match ty {
            ParamType::Index => [dialect.index, " ", name].concat(),
            ParamType::OutIndex => [dialect.index, " *", name].concat(),
            ParamType::Input { element } => {
                [pointer, "const ", &buffer(element), " *", restrict, name].concat()
            }
            ParamType::Output { element } => {
                [pointer, &buffer(element), " *", restrict, name].concat()
            }
            ParamType::InputImage { rank, .. } => {
                [image(rank).map_or("", |image| image.read), " ", name].concat()
            }
            ParamType::OutputImage { rank, .. } => {
                [image(rank).map_or("", |image| image.write), " ", name].concat()
            }
        });
    }
    text
}

/// The type that a pointer to elements points to.
fn buffer_type(dialect: &Dialect, element: &str) -> String {
    match &dialect.half {
        Some(half) if element == "f16" => half.memory.to_owned(),
        _ => element::type_name(dialect, element, true),
    }
}
