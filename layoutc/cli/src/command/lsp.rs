//! `layoutc lsp`: the language server.

use crate::fault::Fault;
use crate::lsp::{self, Farewell};

use super::Ending;

/// Serves an editor until it leaves.
pub(crate) fn run() -> Result<Ending, Fault> {
    Ok(match lsp::run()? {
        Farewell::Polite => Ending::Good,
        Farewell::Sudden => Ending::Bad,
    })
}
