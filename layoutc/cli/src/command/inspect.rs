//! `layoutc inspect`: everything known of tensors.

use std::path::PathBuf;

use layoutc_compiler::inspect::{tensor_json, tensor_text};
use layoutc_compiler::model::Tensor;
use layoutc_compiler::nearest::nearest;
use serde_json::{Value, json};

use crate::args::Format;
use crate::console::Console;
use crate::fault::Fault;
use crate::session::Session;

use super::Ending;

/// Prints the tensors that PATHS hold; of those, only `names` if there are any.
pub(crate) fn run(
    paths: &[PathBuf],
    names: &[String],
    console: &mut Console,
) -> Result<Ending, Fault> {
    let session = Session::open(paths, console)?;
    let ending = Ending::of(&session.report);
    let all: Vec<(String, &Tensor)> = session.tensors().collect();
    // A name may be that of a tensor which was refused: then the diagnostics say so.
    if ending == Ending::Good {
        names.iter().try_for_each(|name| known(name, &all))?;
    }
    let asked = |tensor: &Tensor| names.is_empty() || names.contains(&tensor.name);
    let tensors = all.iter().filter(|(_, tensor)| asked(tensor));
    match console.format {
        Format::Json => {
            let tensors: Vec<Value> =
                tensors.map(|(file, tensor)| tensor_json(tensor, file)).collect();
            console.result(&format!("{}\n", json!({ "version": 1, "tensors": tensors })));
        }
        Format::Text => {
            for (k, (file, tensor)) in tensors.enumerate() {
                let gap = if k > 0 { "\n" } else { "" };
                console.result(&format!("{gap}{}\n", tensor_text(tensor, file).trim_end()));
            }
        }
    }
    session.report.print(console);
    Ok(ending)
}

fn known(name: &str, all: &[(String, &Tensor)]) -> Result<(), Fault> {
    if all.iter().any(|(_, tensor)| tensor.name == name) {
        return Ok(());
    }
    let names: Vec<&str> = all.iter().map(|(_, tensor)| tensor.name.as_str()).collect();
    Err(Fault::Usage(unknown_tensor(name, &names)))
}

/// The most tensors that a fault lists.
const LISTED: usize = 12;

/// There is no such tensor: the one that was meant, else those that there are.
pub(crate) fn unknown_tensor(name: &str, known: &[&str]) -> String {
    let hint = match nearest(name, known.iter().copied()) {
        Some(near) => format!("; did you mean `{near}`?"),
        None if known.is_empty() => String::new(),
        None => {
            let more = if known.len() > LISTED { ", …" } else { "" };
            let listed: Vec<&str> = known.iter().take(LISTED).copied().collect();
            format!("; there is `{}`{more}", listed.join("`, `"))
        }
    };
    format!("there is no tensor `{name}`{hint}")
}
