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
#[path = "../../../compiler/tests/hostile/mod.rs"]
mod hostile_templates;
mod import;
mod incremental;
mod index;
mod inspect;
mod integrations;
mod library;
mod lsp;
mod lsp_editors;
mod lsp_hostile;
mod marks;
mod pack;
mod pack_pieces;
mod page;
mod project;
#[path = "../common/ran.rs"]
mod ran;
mod schemas;
mod shardings;
mod shells;
mod show;
mod solve;
mod tools;
mod trace;
mod translate;
mod views;
#[path = "../common/waiting.rs"]
mod waiting;
mod watch;
mod watching;
mod world;
