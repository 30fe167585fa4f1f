//! Printer of function heads.

use super::rust;
use crate::emit::dialect::{Dialect, Grammar};
use crate::emit::element;
use crate::emit::syntax::{Function, Param, ParamType, Returns};

/// Dialect in which a function is printed: [`Dialect::for_bytes`] of `dialect` if the function returns a byte count,
/// else `dialect`.
pub(super) fn dialect_of(dialect: &'static Dialect, function: &Function) -> &'static Dialect {
    if function.returns == Returns::Bytes { dialect.for_bytes() } else { dialect }
}

/// Function head without a semicolon: `returns name(parameters)`, in Rust `pub fn name(parameters) -> returns`.
pub fn prototype(dialect: &'static Dialect, function: &Function) -> String {
    if dialect.grammar == Grammar::Rust {
        return rust::head(dialect, function);
    }
    let dialect = dialect_of(dialect, function);
    let returns = match function.returns {
        Returns::Nothing => "void",
        Returns::Index | Returns::Bytes => dialect.index,
        Returns::Bool => dialect.boolean,
    };
    let mut text = String::with_capacity(HEAD);
    [returns, " ", &function.name, "("].iter().for_each(|part| text.push_str(part));
    put_parameters(&mut text, dialect, function, dialect.restrict);
    text.push(')');
    text
}

/// Parameter list of a function, without parentheses; `restrict` is the text before the name of each pointer to
/// elements. `void` if there are no parameters.
pub fn parameters(dialect: &'static Dialect, function: &Function, restrict: &str) -> String {
    let mut text = String::with_capacity(HEAD);
    put_parameters(&mut text, dialect, function, restrict);
    text
}

/// Initial capacity for the text of a head, in bytes.
const HEAD: usize = 256;

fn put_parameters(
    text: &mut String,
    dialect: &'static Dialect,
    function: &Function,
    restrict: &str,
) {
    let image = |rank: &u32| dialect.images.iter().find(|image| image.rank == *rank);
    if function.params.is_empty() {
        text.push_str("void");
    }
    for (k, Param { name, ty }) in function.params.iter().enumerate() {
        let mut put = |parts: &[&str]| parts.iter().for_each(|part| text.push_str(part));
        let buffer = |element: &str| buffer_type(dialect, element);
        let pointer = dialect.pointer;
        put(if k == 0 { &[] } else { &[", "] });
        match ty {
            ParamType::Index => put(&[dialect.index, " ", name]),
            ParamType::OutIndex => put(&[dialect.index, " *", name]),
            ParamType::Input { element } => {
                put(&[pointer, "const ", &buffer(element), " *", restrict, name]);
            }
            ParamType::Output { element } => {
                put(&[pointer, &buffer(element), " *", restrict, name]);
            }
            ParamType::InputImage { rank, .. } => {
                put(&[image(rank).map_or("", |image| image.read), " ", name]);
            }
            ParamType::OutputImage { rank, .. } => {
                put(&[image(rank).map_or("", |image| image.write), " ", name]);
            }
        }
    }
}

/// Pointee type of a pointer to elements.
fn buffer_type(dialect: &Dialect, element: &str) -> String {
    match &dialect.half {
        Some(half) if element == "f16" => half.memory.to_owned(),
        _ => element::type_name(dialect, element, true),
    }
}
