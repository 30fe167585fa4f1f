//! Lookup, by name, of the tensors and views of a manifest that have no errors ([`Declarations`]). Operands of kernels,
//! and sources and destinations of conversions, are resolved with it.

use super::scope::undeclared_tensor;
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::manifest::syntax::{Identifier, ManifestSyntax};
use crate::model::{Memory, Tensor, TensorRef, View};

/// Tensors and views of the manifest `syntax` that have no errors.
#[derive(Clone, Copy)]
pub(super) struct Declarations<'a> {
    pub(super) syntax: &'a ManifestSyntax,
    pub(super) tensors: &'a [Tensor],
    pub(super) views: &'a [View],
}

impl<'a> Declarations<'a> {
    /// Tensor or view `name`; `None` if it has errors, or may be declared in a part of the manifest that could not be
    /// parsed; both are reported already. `Err` for an unknown name, and for a view of a texture, which has no buffer.
    pub(super) fn find(&self, name: &Identifier) -> Result<Option<TensorRef>, Diagnostic> {
        let is_it = |tensor: &Tensor| tensor.name == name.value;
        if let Some(k) = self.tensors.iter().position(is_it) {
            return Ok(Some(TensorRef::Tensor(k)));
        }
        if let Some(k) = self.views.iter().position(|view| is_it(&view.tensor)) {
            let of = TensorRef::View(k);
            return self.texture_fault(of, name).map_or(Ok(Some(of)), Err);
        }
        if self.syntax.views.iter().any(|view| view.name.value == name.value) {
            return Ok(None);
        }
        undeclared_tensor(name, self.syntax).map_or(Ok(None), Err)
    }

    /// Tensor or view that `of` refers to; a view in the form of a tensor, with its own axes, layout and element type.
    /// `None` if there is none.
    pub(super) fn tensor(&self, of: TensorRef) -> Option<&'a Tensor> {
        match of {
            TensorRef::Tensor(k) => self.tensors.get(k),
            TensorRef::View(k) => self.views.get(k).map(|view| &view.tensor),
        }
    }

    /// Position in `tensors` of the tensor that owns the memory of `of`; `None` if `of` is a view that does not exist.
    pub(super) fn owner(&self, of: TensorRef) -> Option<usize> {
        match of {
            TensorRef::Tensor(k) => Some(k),
            TensorRef::View(k) => self.views.get(k).map(|view| view.buffer),
        }
    }

    /// Error at `place` for a statement or conversion that writes `of`, if `of` is a view in which several elements
    /// share a memory location, so that it is read-only. `None` for any other tensor or view.
    pub(super) fn read_only_fault(&self, of: TensorRef, place: FileSpan) -> Option<Diagnostic> {
        let TensorRef::View(k) = of else { return None };
        let view = self.views.get(k).filter(|view| view.is_broadcast())?;
        let name = &view.tensor.name;
        let message = format!("cannot write `{name}`: several of its elements share a location");
        let error = Diagnostic::error(Code::NameView, message, place, "");
        let error = error.with_label(view.tensor.places.layout.clone(), "a broadcast");
        let owner = self.tensors.get(view.buffer).map_or("", |tensor| &tensor.name);
        Some(error.help(format!("write `{owner}`, the tensor that it views")))
    }

    fn texture_fault(&self, of: TensorRef, name: &Identifier) -> Option<Diagnostic> {
        let view = self.tensor(of)?;
        let owner = self.tensors.get(self.owner(of)?)?;
        if !matches!(view.memory, Memory::Image2d | Memory::Image2dArray) {
            return None;
        }
        let message = format!("`{}` is a view of the texture `{}`", view.name, owner.name);
        let error = Diagnostic::error(Code::NameView, message, name.at(&self.syntax.file), "");
        let error = error.with_label(owner.places.memory.clone(), "declared here");
        Some(error.help(format!("use `{}`, with its own indices", owner.name)))
    }
}
