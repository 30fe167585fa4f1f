//! `layoutc swizzle`: finds the arrangement of a tensor in shared memory with the fewest bank conflicts.

use layoutc_compiler::base::nearest::unknown_tensor;
use layoutc_compiler::query::access::arrangements;

use crate::args::SwizzleArgs;
use crate::check_session::CheckSession;
use crate::command_error::CommandError;
use crate::console::{Console, ReportFormat};

use super::CommandOutcome;

/// Prints the wavefronts of the tensor's accesses: as the layout is, without a swizzle, with the best swizzle, and with
/// the best row padding.
///
/// # Errors
/// [`CommandError::Usage`] if the path is a folder, the tensor is unknown and the manifest has no errors, or its accesses
/// cannot be counted. Any error of [`CheckSession::open`].
pub(crate) fn run(
    args: &SwizzleArgs,
    console: &mut Console,
) -> Result<CommandOutcome, CommandError> {
    if args.file.is_dir() {
        let folder = args.file.display();
        return Err(CommandError::Usage(format!("`{folder}` is a folder, expected a manifest")));
    }
    let session = CheckSession::open(std::slice::from_ref(&args.file), console)?;
    let found = session.tensors().map(|(_, tensor)| tensor).find(|t| t.name == args.tensor);
    let Some(tensor) = found else {
        if session.report.has_errors() {
            session.report.print(console);
            return Ok(CommandOutcome::InputError);
        }
        let names: Vec<&str> = session.tensors().map(|(_, t)| t.name.as_str()).collect();
        return Err(CommandError::Usage(unknown_tensor(&args.tensor, &names)));
    };
    let report = arrangements(tensor, &args.access).map_err(CommandError::Usage)?;
    match console.format {
        ReportFormat::Json => console.result(&format!("{}\n", report.json())),
        ReportFormat::Text => console.result(&report.text()),
    }
    Ok(CommandOutcome::Success)
}
