//! `layoutc algebra`: CuTe's operations on layout texts.

use std::sync::Arc;

use layoutc_compiler::query::cute_algebra::{
    self, CuteAnswer, CuteOperation, IntTuple, RemainderPolicy,
};
use serde_json::{Value, json};

use crate::args::{AlgebraCommand, InverseSide, restore_minus};
use crate::console::{Console, ReportFormat};
use crate::report::Report;
use crate::report::json::integer;

use super::CommandOutcome;

/// Runs the operation on layouts that `what` selects, and prints its result, or a diagnostic about an operand.
pub(crate) fn run(what: &AlgebraCommand, console: &mut Console) -> CommandOutcome {
    let (name, a, b) = operands(what);
    let operation = operation(what, b.as_deref());
    let found = match cute_algebra::run(operation, &a) {
        Ok(found) => found,
        Err(fault) => {
            let mut report = Report::default();
            report.add([fault]);
            report.text("<a>".to_owned(), Arc::from(a));
            report.text("<b>".to_owned(), Arc::from(b.unwrap_or_default()));
            report.print(console);
            return CommandOutcome::InputError;
        }
    };
    let text = match console.format {
        ReportFormat::Json => object(name, &a, b.as_deref(), &found).to_string() + "\n",
        ReportFormat::Text => lines(&found),
    };
    console.result(&text);
    CommandOutcome::Success
}

/// Triple `(name, a, b)`: the name of the operation, and the texts of its operands A and B as the user typed them. `b`
/// is `None` if the operation has no B.
fn operands(what: &AlgebraCommand) -> (&'static str, String, Option<String>) {
    let (name, a, b) = match what {
        AlgebraCommand::Compose { a, b } => ("compose", a, Some(b)),
        AlgebraCommand::Complement { a, b } => ("complement", a, b.as_ref()),
        AlgebraCommand::Coalesce { a, b } => ("coalesce", a, b.as_ref()),
        AlgebraCommand::Divide(divide) => ("divide", &divide.a, Some(&divide.b)),
        AlgebraCommand::Product(product) => ("product", &product.a, Some(&product.b)),
        AlgebraCommand::Inverse { a, .. } => ("inverse", a, None),
    };
    (name, restore_minus(a), b.map(|b| restore_minus(b)))
}

fn operation<'b>(what: &AlgebraCommand, b: Option<&'b str>) -> CuteOperation<'b> {
    let operand = b.unwrap_or_default();
    match what {
        AlgebraCommand::Compose { .. } => CuteOperation::Compose(operand),
        AlgebraCommand::Complement { .. } => CuteOperation::Complement(b),
        AlgebraCommand::Coalesce { .. } => CuteOperation::Coalesce(b),
        AlgebraCommand::Divide(divide) => {
            let rounding = if divide.pad { RemainderPolicy::Pad } else { RemainderPolicy::Refuse };
            CuteOperation::Divide(operand, divide.kind.into(), rounding)
        }
        AlgebraCommand::Product(product) => CuteOperation::Product(operand, product.kind.into()),
        AlgebraCommand::Inverse { side: InverseSide::Right, .. } => CuteOperation::RightInverse,
        AlgebraCommand::Inverse { side: InverseSide::Left, .. } => CuteOperation::LeftInverse,
    }
}

fn object(name: &str, a: &str, b: Option<&str>, found: &CuteAnswer) -> Value {
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

fn nested(tuple: &IntTuple) -> Value {
    match tuple {
        IntTuple::Integer(value) => integer(*value),
        IntTuple::List(list) => list.iter().map(nested).collect(),
    }
}

fn lines(found: &CuteAnswer) -> String {
    let CuteAnswer { text, layout, notes } = found;
    let mut lines = format!("{text}\nsize {}, cosize {}\n", layout.size(), layout.cosize());
    for note in notes {
        lines.push_str(&format!("note: {note}\n"));
    }
    lines
}
