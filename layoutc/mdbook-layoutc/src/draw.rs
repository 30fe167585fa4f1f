//! Drawing of the picture that a KDL block requests: from the block and its request to SVG.

use std::collections::BTreeMap;

use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::{Diagnostic, Severity};
use layoutc_compiler::base::nearest::unknown_tensor;
use layoutc_compiler::config::Config;
use layoutc_compiler::model::{Tensor, View};
use layoutc_compiler::query::locate::NamedLocateError;
use layoutc_compiler::query::picture::{
    Coloring, Picture, PictureLimits, PictureSubject, SliceFrame, extents, fixed_index, inline,
    picture,
};
use layoutc_compiler::{Compiler, LoadError, SourceLoader};

use crate::fence::{CodeFence, PictureRequest};

/// File name of a block that names no path.
const NAMELESS: &str = "manifest.kdl";

pub(crate) enum DrawError {
    /// The picture request of the block is invalid, for example if it names an unknown tensor. The field is a message
    /// of one line.
    InvalidRequest(String),
    /// Errors in the manifest. A location names the file of a block (see [`ChapterFence::file`]) and byte offsets in
    /// the text of that block.
    Manifest(Vec<Diagnostic>),
}

/// KDL block to draw, with all KDL blocks of its chapter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChapterFence<'a> {
    all: &'a [CodeFence],
    /// Index in `all` of the block to draw.
    this: usize,
}

impl<'a> ChapterFence<'a> {
    /// Pair of the KDL blocks `all` with `this` as the block to draw, and that block as a [`CodeFence`]; `None` if
    /// `this` is not an index of `all`.
    pub(crate) fn at(all: &'a [CodeFence], this: usize) -> Option<(Self, &'a CodeFence)> {
        all.get(this).map(|fence| (Self { all, this }, fence))
    }

    fn name(&self) -> &'a str {
        self.all.get(self.this).and_then(CodeFence::path).unwrap_or(NAMELESS)
    }

    /// Block that defines the file at `path`: the block to draw if it defines the file, else the last block before it
    /// that does, else the first block after it that does. `None` if no block defines the file.
    pub(crate) fn file(&self, path: &str) -> Option<&'a CodeFence> {
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

/// SVG text, on one line, of the picture that `request` describes. `blocks` has the block with the request, whose
/// manifest defines the tensor, and the other blocks of the chapter.
///
/// # Errors
/// [`DrawError::Manifest`] if the manifest has errors or the tensor cannot be drawn, [`DrawError::InvalidRequest`] if
/// the request does not match it.
pub(crate) fn figure(
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
    selected(tensor, view, request).map(|picture| inline(&picture))
}

/// Picture of the slice of `tensor` that `request` selects, with the least value of each symbol. `view` is the view to
/// which `tensor` belongs, `None` if it is declared as a tensor.
fn selected(
    tensor: &Tensor,
    view: Option<&View>,
    request: &PictureRequest,
) -> Result<Picture, DrawError> {
    let expected = |text: &str| {
        DrawError::InvalidRequest(format!("`at={text}`: expected NAME=INDEX with an integer"))
    };
    let at = request.at.iter().map(|text| fixed_index(text).ok_or_else(|| expected(text)));
    let at = at.collect::<Result<Vec<_>, _>>()?;
    let name = &tensor.name;
    let undrawn = |error: NamedLocateError| {
        let message = format!("cannot draw `{name}`: {error}");
        DrawError::Manifest(vec![Diagnostic::without_span(Code::LimitGenerated, message)])
    };
    let (tensor, subject) = PictureSubject::of(tensor, view).map_err(undrawn)?;
    let symbols = tensor.layout.symbols().iter();
    let symbols: BTreeMap<String, i128> =
        symbols.map(|symbol| (symbol.name.clone(), symbol.least())).collect();
    let extents = extents(&tensor, &symbols).map_err(undrawn)?;
    let frame = SliceFrame::new(&extents, &request.axes, &at)
        .map_err(|error| DrawError::InvalidRequest(format!("`{name}`: {error}")))?;
    picture(&tensor, &symbols, frame, PictureLimits::FIGURE, (subject, Coloring::Tiles))
        .map_err(undrawn)
}
