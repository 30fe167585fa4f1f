//! `layoutc trace`: the way of one index through every step of a layout.

use layoutc_compiler::check::Recorder;
use layoutc_compiler::trace;

use crate::args::{Format, Trace, typed};
use crate::console::Console;
use crate::fault::Fault;
use crate::report::{Source, human, json, way};
use crate::session::Session;

use super::Ending;
use super::element::{Wrong, coordinate, one_manifest, symbols, tensor};

/// Prints the way of the coordinate, or what is wrong with it.
pub(crate) fn run(args: &Trace, console: &mut Console) -> Result<Ending, Fault> {
    let recorder = Recorder::new(&args.tensor);
    let session = Session::recording(one_manifest(&args.file)?, &recorder, console)?;
    let Some(tensor) = tensor(&session, &args.tensor, console)? else { return Ok(Ending::Bad) };
    let symbols = symbols(&args.set, tensor)?;
    let steps = recorder.into_steps();
    let text = typed(&args.coordinate);
    let traced = coordinate(&text).and_then(|index| {
        let traced = trace::trace(tensor, &steps, &symbols, &index);
        traced.map_err(|error| Wrong::whole(&text, error.to_string()))
    });
    match traced {
        Ok(traced) => {
            console.result(&match console.format {
                Format::Json => way::json(&traced),
                Format::Text => way::text(&traced, console.paints_results),
            });
            Ok(Ending::Good)
        }
        Err(wrong) => {
            let source = Source::whole(&text);
            let diagnostic = wrong.diagnostic("<coordinate>", source);
            let lookup = |_: &str| Some(source);
            match console.format {
                Format::Json => console.result(&json::render(&diagnostic, &lookup)),
                Format::Text => {
                    let text = human::render(&diagnostic, &lookup, console.color);
                    console.remark(&format!("{text}\n1 error\n"));
                }
            }
            Ok(Ending::Bad)
        }
    }
}
