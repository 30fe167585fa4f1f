//! `layoutc algebra`: CuTe's operations on layout texts.

use std::sync::Arc;

use layoutc_compiler::algebra::{self, Found, Operation, Rounding, Tuple};
use serde_json::{Value, json};

use crate::args::{Algebra, Format, Side, typed};
use crate::console::Console;
use crate::report::Report;
use crate::report::json::integer;

use super::Ending;

/// Does one operation, and prints its answer or its fault.
pub(crate) fn run(what: &Algebra, console: &mut Console) -> Ending {
    let (name, a, b) = operands(what);
    let operation = operation(what, b.as_deref());
    let found = match algebra::run(operation, &a) {
        Ok(found) => found,
        Err(fault) => {
            let mut report = Report::default();
            report.add([fault]);
            report.text("<a>".to_owned(), Arc::from(a));
            report.text("<b>".to_owned(), Arc::from(b.unwrap_or_default()));
            report.print(console);
            return Ending::Bad;
        }
    };
    let text = match console.format {
        Format::Json => object(name, &a, b.as_deref(), &found).to_string() + "\n",
        Format::Text => lines(&found),
    };
    console.result(&text);
    Ending::Good
}

/// The operation's word, A and B as they were typed.
fn operands(what: &Algebra) -> (&'static str, String, Option<String>) {
    let (name, a, b) = match what {
        Algebra::Compose { a, b } => ("compose", a, Some(b)),
        Algebra::Complement { a, b } => ("complement", a, b.as_ref()),
        Algebra::Coalesce { a, b } => ("coalesce", a, b.as_ref()),
        Algebra::Divide(divide) => ("divide", &divide.a, Some(&divide.b)),
        Algebra::Product(product) => ("product", &product.a, Some(&product.b)),
        Algebra::Inverse { a, .. } => ("inverse", a, None),
    };
    (name, typed(a), b.map(|b| typed(b)))
}

fn operation<'b>(what: &Algebra, b: Option<&'b str>) -> Operation<'b> {
    let operand = b.unwrap_or_default();
    match what {
        Algebra::Compose { .. } => Operation::Compose(operand),
        Algebra::Complement { .. } => Operation::Complement(b),
        Algebra::Coalesce { .. } => Operation::Coalesce(b),
        Algebra::Divide(divide) => {
            let rounding = if divide.pad { Rounding::Pad } else { Rounding::Refuse };
            Operation::Divide(operand, divide.kind.into(), rounding)
        }
        Algebra::Product(product) => Operation::Product(operand, product.kind.into()),
        Algebra::Inverse { side: Side::Right, .. } => Operation::RightInverse,
        Algebra::Inverse { side: Side::Left, .. } => Operation::LeftInverse,
    }
}

fn object(name: &str, a: &str, b: Option<&str>, found: &Found) -> Value {
    json!({
        "op": name,
        "a": a,
        "b": b,
        "layout": found.text,
        "shape": nested(&found.layout.shape()),
        "stride": nested(&found.layout.stride()),
        "size": integer(found.layout.size()),
        "cosize": integer(found.layout.cosize()),
        "notes": found.notes,
    })
}

fn nested(tuple: &Tuple) -> Value {
    match tuple {
        Tuple::Integer(value) => integer(*value),
        Tuple::List(list) => list.iter().map(nested).collect(),
    }
}

fn lines(found: &Found) -> String {
    let Found { text, layout, notes } = found;
    let mut lines = format!("{text}\nsize {}, cosize {}\n", layout.size(), layout.cosize());
    for note in notes {
        lines.push_str(&format!("note: {note}\n"));
    }
    lines
}
