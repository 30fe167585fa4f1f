//! Draws the picture requested by a block.

use layoutc_compiler::base::diagnostic::{Diagnostic, Severity};
use layoutc_compiler::config::Config;
use layoutc_compiler::query::picture::{PictureLimits, inline};
use layoutc_compiler::{Compiler, LoadError, SourceLoader};

use crate::command::show::{PictureInput, parse_fixed_axes};
use crate::command::unknown_tensor;
use crate::command_error::CommandError;

use super::fence::{CodeFence, PictureRequest};

/// File name of a block without a path.
const NAMELESS: &str = "manifest.kdl";

pub(super) enum DrawError {
    /// Invalid request: one line.
    InvalidRequest(String),
    /// Errors in the manifest, with locations in blocks, named as by [`ChapterFence`].
    Manifest(Vec<Diagnostic>),
}

/// A block with all blocks of its chapter.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChapterFence<'a> {
    all: &'a [CodeFence],
    /// Index of the block to draw.
    this: usize,
}

impl<'a> ChapterFence<'a> {
    /// Block at an index; `None` beyond the last.
    pub(super) fn at(all: &'a [CodeFence], this: usize) -> Option<(Self, &'a CodeFence)> {
        all.get(this).map(|fence| (Self { all, this }, fence))
    }

    fn name(&self) -> &'a str {
        self.all.get(self.this).and_then(CodeFence::path).unwrap_or(NAMELESS)
    }

    /// Block that defines the file at `path`: this one, else the last before it, else the first after it.
    pub(super) fn file(&self, path: &str) -> Option<&'a CodeFence> {
        if path == self.name() {
            return self.all.get(self.this);
        }
        let is_it = |fence: &&CodeFence| fence.path() == Some(path.trim_start_matches("../"));
        let (before, behind) = self.all.split_at_checked(self.this)?;
        before.iter().rev().find(is_it).or_else(|| behind.iter().find(is_it))
    }
}

impl SourceLoader for ChapterFence<'_> {
    fn load(&self, path: &str) -> Result<String, LoadError> {
        self.file(path).map(|fence| fence.text.clone()).ok_or(LoadError::NotFound)
    }
}

/// Draws the picture as a single line of SVG.
pub(super) fn picture(
    blocks: ChapterFence<'_>,
    request: &PictureRequest,
) -> Result<String, DrawError> {
    let config = Config::default();
    let checked = Compiler::new(&blocks, &config).check(&[blocks.name().to_owned()]);
    if !checked.is_valid() {
        let mut errors = checked.diagnostics;
        errors.retain(|diagnostic| diagnostic.severity == Severity::Error);
        return Err(DrawError::Manifest(errors));
    }
    let tensors = || checked.manifests.iter().flat_map(|manifest| &manifest.tensors);
    let views = || checked.manifests.iter().flat_map(|manifest| &manifest.views);
    let view = views().find(|view| view.tensor.name == request.tensor);
    let tensor = tensors().find(|tensor| tensor.name == request.tensor);
    let Some(tensor) = view.map(|view| &view.tensor).or(tensor) else {
        let tensors = tensors().map(|tensor| tensor.name.as_str());
        let views = views().map(|view| view.tensor.name.as_str());
        let names: Vec<&str> = tensors.chain(views).collect();
        return Err(DrawError::InvalidRequest(unknown_tensor(&request.tensor, &names)));
    };
    let picture = parse_fixed_axes("at=", &request.at)
        .and_then(|at| PictureInput::new(tensor, view, &[], (&request.axes, &at)))
        .and_then(|shown| shown.picture(PictureLimits::FIGURE));
    picture.map(|picture| inline(&picture)).map_err(undrawn)
}

fn undrawn(fault: CommandError) -> DrawError {
    match fault {
        CommandError::Usage(line) => DrawError::InvalidRequest(line),
        CommandError::Input(diagnostics) => DrawError::Manifest(diagnostics),
        CommandError::Machine(diagnostic) => DrawError::Manifest(vec![*diagnostic]),
        // Drawing needs no project and does not check for interrupts.
        CommandError::NoProject | CommandError::Interrupted => {
            DrawError::InvalidRequest("cannot draw the block".to_owned())
        }
    }
}
