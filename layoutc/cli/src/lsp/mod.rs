//! The language server: what an editor is told of manifests, over standard input and output.
//!
//! One thread reads messages, and the main thread does all the rest in the order in which they came. What was asked for
//! is always answered from the text as it stood then. A text that changed is checked when its meaning is asked for, or
//! when there is nothing else to do: of many changes in a row only the last is checked.
//!
//! Each kind of request has a file here, an arm in `session::answer` and a line in `session::capabilities`.

mod actions;
mod completion;
mod definition;
mod diagnostics;
mod documents;
mod folding;
mod formatting;
mod hints;
mod hover;
mod memo;
mod positions;
mod projects;
mod queue;
mod rename;
mod scan;
mod server;
mod session;
mod symbols;
mod uri;
mod wire;

pub(crate) use session::{SessionEnd, run};
