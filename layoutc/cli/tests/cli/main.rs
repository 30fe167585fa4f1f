//! End-to-end tests of the binary: exit codes, standard output, standard error, files.

#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod algebra;
mod arguments;
mod bench;
mod book;
mod build;
mod ci;
mod client;
mod commands;
mod deps;
mod editors;
mod examples;
mod explain;
mod farm;
mod fmt;
mod hermetic;
mod hostile;
mod import;
mod incremental;
mod index;
mod inspect;
mod integrations;
mod library;
mod lsp;
mod lsp_editors;
mod lsp_hostile;
#[path = "../common/manifests.rs"]
mod manifests;
mod marks;
mod pack;
mod pack_pieces;
mod page;
mod project;
mod sandbox;
mod schemas;
mod shardings;
mod shared_runtime;
mod shells;
mod show;
mod solve;
mod std_library;
mod trace;
mod translate;
mod views;
mod watch;
mod watching;
