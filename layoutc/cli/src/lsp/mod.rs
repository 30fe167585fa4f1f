//! Language server over standard input and output.
//!
//! One thread reads messages, and the main thread handles them in order. A request is answered from the text
//! at the time of its arrival. A changed text is checked when a request needs the result or when the queue is
//! empty, so of several changes in a row only the last is checked.
//!
//! Each kind of request has a file here, an arm in `session::answer` and an entry in `session::capabilities`.

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
