//! Checks of device meshes, and of the sharding of tensors over them.

use std::collections::BTreeSet;
use std::sync::Arc;

use layoutc_algebra::builder::{BuildError, FinishError, LayoutBuilder};
use layoutc_algebra::expr::Expr;
use layoutc_algebra::layout::{ProofMethod, Verdict};
use layoutc_algebra::sharding::{Mesh, MeshAxis, Sharding, part_extent};
use layoutc_algebra::step;
use layoutc_algebra::symbol::Axis;

use super::scope::{ManifestScope, declared_twice, number};
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::env::ResultCache;
use crate::env::executor::CostTrackingExecutor;
use crate::manifest::syntax::{Identifier, ItemKind, MeshItem, ShardItem, SpannedText};
use crate::model::Tensor;
use crate::model::layout_names;
use crate::model::reshard::DeviceSharding;

/// Maximum number of devices of a mesh, as MPI ranks are `int`. A larger mesh is an error.
const MAX_DEVICES: i64 = i32::MAX as i64;

/// Checks the declaration of a mesh in the manifest `file`, and returns the mesh. `scope` resolves the names in its
/// extents, and has the meshes declared before.
///
/// # Errors
/// `name::duplicate` for a second declaration of the name, `mesh::form` for an axis or a mesh with fewer than 1 or more
/// than [`MAX_DEVICES`] devices, and errors of numbers.
pub(super) fn mesh(item: &MeshItem, scope: &ManifestScope, file: &Arc<str>) -> CheckResult<Mesh> {
    let at = |span: &std::ops::Range<usize>| FileSpan::new(file, span.clone());
    let name = &item.name.value;
    if let Some((_, first)) = scope.meshes.get(name) {
        let subject = format!("the mesh `{name}`");
        return Err(declared_twice(&subject, item.name.at(file), first.clone()).into());
    }
    let mut axes = Vec::new();
    for (axis, bound) in &item.axes {
        let size = number(bound, scope, file)?;
        let Some(size) = i64::try_from(size).ok().filter(|size| (1..=MAX_DEVICES).contains(size))
        else {
            let message =
                format!("expected 1 to {MAX_DEVICES} devices along a mesh axis, found {size}");
            let error = Diagnostic::error(Code::MeshForm, message, at(&bound.span()), "");
            return Err(vec![error.help("write the number of devices along the axis")]);
        };
        axes.push(MeshAxis { name: axis.value.clone(), size });
    }
    let mesh = Mesh { axes };
    if mesh.devices().is_none_or(|devices| devices > MAX_DEVICES) {
        let sizes: Vec<String> = mesh.axes.iter().map(|axis| axis.size.to_string()).collect();
        let message = format!(
            "expected a mesh of at most {MAX_DEVICES} devices, found {}",
            sizes.join(" * ")
        );
        let error = Diagnostic::error(Code::MeshForm, message, at(&item.span), "");
        return Err(vec![error.help("reduce an axis")]);
    }
    Ok(mesh)
}

/// Context of the sharding of a tensor: its `shard` item, the scope with the meshes, the path of its manifest, and the
/// cache of proofs.
pub(super) struct ShardContext<'a> {
    pub(super) item: &'a ShardItem,
    pub(super) scope: &'a ManifestScope,
    pub(super) file: &'a Arc<str>,
    pub(super) memo: &'a dyn ResultCache,
}

impl ShardContext<'_> {
    fn at(&self, span: &std::ops::Range<usize>) -> FileSpan {
        FileSpan::new(self.file, span.clone())
    }

    /// Pair `(axes, sharding)`: `axes` are the axes of one shard of the tensor, `sharding` assigns mesh axes to the
    /// tensor's axes and has the proof. `whole` are the axes of the whole tensor; `labels` has the labels of each axis,
    /// an empty list for an axis without labels.
    ///
    /// # Errors
    /// `mesh::shard` and `name::unknown`; empty if the fault has been reported.
    pub(super) fn sharded(
        &self,
        whole: Vec<Axis>,
        labels: &[Vec<String>],
    ) -> CheckResult<(Vec<Axis>, DeviceSharding)> {
        let (mesh_name, mesh) = self.mesh()?;
        let mut over: Vec<Vec<usize>> = vec![Vec::new(); whole.len()];
        let mut used: BTreeSet<usize> = BTreeSet::new();
        for (axis, text) in &self.item.cuts {
            let position = self.axis(axis, &whole)?;
            if labels.get(position).is_some_and(|labels| !labels.is_empty()) {
                let message = format!("cannot shard axis `{}`: it has labels", axis.value);
                let error = Diagnostic::error(Code::MeshShard, message, self.at(&axis.span), "");
                return Err(vec![error.help("shard another axis")]);
            }
            let extent = whole.get(position).and_then(|axis| axis.extent.as_const());
            if extent.is_none() {
                let (name, place) = (&axis.value, self.at(&axis.span));
                let message =
                    format!("cannot shard axis `{name}`: its extent is known only at run time");
                let error = Diagnostic::error(Code::MeshShard, message, place, "sharded here");
                let help = "shard an axis with a constant extent, or declare the tensor with the extents of a shard and no `shard`";
                return Err(error.help(help).into());
            }
            let cuts = self.mesh_axes(text, mesh_name, mesh)?;
            for (cut, place) in &cuts {
                if !used.insert(*cut) {
                    let name = mesh.axes.get(*cut).map_or("", |axis| axis.name.as_str());
                    let message = format!("mesh axis `{name}` is used twice");
                    let error = Diagnostic::error(Code::MeshShard, message, place.clone(), "");
                    let help = "use each axis of a mesh for one axis of the tensor";
                    return Err(error.help(help).into());
                }
            }
            if let Some(list) = over.get_mut(position) {
                *list = cuts.into_iter().map(|(cut, _)| cut).collect();
            }
        }
        let sharding = Sharding::new(mesh, over).map_err(|error| self.fault(&error))?;
        let parts = sharding.parts(mesh).unwrap_or_default();
        let mut axes = Vec::new();
        for (axis, parts) in whole.iter().zip(&parts) {
            let extent = match axis.extent.as_const().filter(|_| *parts > 1) {
                Some(extent) => Expr::constant(part_extent(extent, *parts)),
                None => axis.extent.clone(),
            };
            axes.push(Axis { name: axis.name.clone(), extent });
        }
        let (verdict, proof) =
            self.prove_sharding(&whole, &axes, &parts).map_err(|error| self.fault(&error))?;
        let (mesh_name, mesh) = (mesh_name.to_owned(), mesh.clone());
        Ok((axes, DeviceSharding { mesh_name, mesh, sharding, whole, verdict, proof }))
    }

    fn fault(&self, error: &dyn std::fmt::Display) -> Diagnostic {
        let message = format!("cannot shard the tensor: {error}");
        let error = Diagnostic::error(Code::MeshShard, message, self.at(&self.item.span), "");
        error.help("reduce the tensor or the mesh")
    }

    /// Pair (name, mesh) of the mesh that the `shard` item names. If it names none, the only mesh that has all axes
    /// that the item uses, or the only mesh of the scope, whose missing axes [`Self::mesh_axes`] reports. `Err` for an
    /// unknown name, and for an item without a name if the mesh is ambiguous or there is none; empty if the fault has
    /// been reported.
    fn mesh(&self) -> CheckResult<(&str, &Mesh)> {
        let meshes = &self.scope.meshes;
        let known = || meshes.keys().map(String::as_str).collect::<Vec<_>>();
        if let Some(name) = &self.item.mesh {
            if let Some((key, (mesh, _))) = meshes.get_key_value(&name.value) {
                return Ok((key, mesh));
            }
            if self.scope.is_broken(ItemKind::Mesh, &name.value) {
                return Err(Vec::new());
            }
            let message = format!("there is no mesh `{}`", name.value);
            let error = Diagnostic::error(Code::NameUnknown, message, self.at(&name.span), "");
            return Err(error.nearest_or_all(&name.value, "meshes", known()).into());
        }
        let names: Vec<&str> =
            self.item.cuts.iter().flat_map(|(_, text)| text.value.split_whitespace()).collect();
        let has = |mesh: &Mesh, name: &&&str| mesh.axes.iter().any(|axis| axis.name == **name);
        let mut found = meshes
            .iter()
            .filter(|(_, (mesh, _))| names.iter().all(|name| has(mesh, &name)))
            .map(|(name, (mesh, _))| (name.as_str(), mesh));
        let place = self.at(&self.item.span);
        match (found.next(), found.next(), meshes.len()) {
            (Some(one), None, _) => Ok(one),
            (Some((one, _)), Some((other, _)), _) => {
                let message = format!("ambiguous mesh: `{one}` and `{other}` both have these axes");
                let error = Diagnostic::error(Code::MeshShard, message, place, "");
                Err(vec![error.help(format!("name the mesh: `shard {one} …`"))])
            }
            (None, _, _)
                if self.scope.torn || self.scope.broken.iter().any(|b| b.0 == ItemKind::Mesh) =>
            {
                Err(Vec::new())
            }
            (None, _, 0) => {
                let message = "there is no mesh to shard the tensor over";
                let error = Diagnostic::error(Code::NameUnknown, message, place, "");
                let help = "declare a mesh at the top: `mesh pod { x 2; y 4 }`";
                Err(vec![error.help(help)])
            }
            // With a single mesh, the unknown axes are reported against it.
            (None, _, 1) => meshes
                .iter()
                .next()
                .map(|(name, (mesh, _))| (name.as_str(), mesh))
                .ok_or_else(Vec::new),
            (None, _, _) => {
                let message = format!("no mesh has the axes `{}`", names.join("`, `"));
                let error = Diagnostic::error(Code::NameUnknown, message, place, "");
                Err(vec![error.help(format!("meshes here: `{}`", known().join("`, `")))])
            }
        }
    }

    fn axis(&self, name: &Identifier, whole: &[Axis]) -> Result<usize, Diagnostic> {
        whole.iter().position(|axis| axis.name == name.value).ok_or_else(|| {
            let message = format!("the tensor has no axis `{}`", name.value);
            let error = Diagnostic::error(Code::MeshShard, message, self.at(&name.span), "");
            let known = whole.iter().map(|axis| axis.name.as_str());
            error.nearest_or_all(&name.value, "axes", known)
        })
    }

    /// Pairs `(position, location)`, one for each mesh axis that `text`, such as `"x y"`, names, in textual order.
    /// `position` is that of the axis in `mesh`; `location` is the span of its name. `Err` for an unknown axis, or if
    /// `text` names none.
    fn mesh_axes(
        &self,
        text: &SpannedText,
        mesh_name: &str,
        mesh: &Mesh,
    ) -> CheckResult<Vec<(usize, FileSpan)>> {
        let mut found = Vec::new();
        let known: Vec<&str> = mesh.axes.iter().map(|axis| axis.name.as_str()).collect();
        let mut from = 0;
        for word in text.value.split_whitespace() {
            let start = text.value.get(from..).and_then(|rest| rest.find(word)).unwrap_or(0);
            let begin = from.saturating_add(start);
            from = begin.saturating_add(word.len());
            let place = self.at(&(text.span.start + begin..text.span.start + from));
            let Some(position) = known.iter().position(|known| *known == word) else {
                let message = format!("mesh `{mesh_name}` has no axis `{}`", word.escape_debug());
                let error = Diagnostic::error(Code::NameUnknown, message, place, "");
                if word.contains(',') {
                    let words = text.value.replace(',', " ");
                    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
                    let help = format!("separate the axes by blanks: `\"{words}\"`");
                    return Err(error.help(help).into());
                }
                return Err(error.nearest_or_all(word, "mesh axes", known).into());
            };
            found.push((position, place));
        }
        if found.is_empty() {
            let message = "expected at least one axis of the mesh";
            let error = Diagnostic::error(Code::MeshShard, message, self.at(&text.span), "");
            return Err(vec![error.help("remove the axis to keep it whole")]);
        }
        Ok(found)
    }

    /// Proves that every element of a tensor with the axes `whole` is at exactly one index of one shard with the axes
    /// `part`. `parts` has the number of shards along each axis. The proof splits the index of each sharded axis into
    /// (number of the shard, index in the shard), and runs the layout prover. The verdict is `Padded` if the shards
    /// together have more indices than the tensor.
    fn prove_sharding(
        &self,
        whole: &[Axis],
        part: &[Axis],
        parts: &[i64],
    ) -> Result<(Verdict, ProofMethod), FinishError> {
        let constant = |axis: &Axis| axis.extent.as_const();
        let fixed: Vec<Axis> =
            whole.iter().filter(|axis| constant(axis).is_some()).cloned().collect();
        let mut builder = LayoutBuilder::new(&[], &fixed, 8)?;
        for (axis, part) in whole.iter().zip(part).filter(|(axis, part)| axis.extent != part.extent)
        {
            let by = Expr::constant(constant(part).unwrap_or(1).max(1));
            let split =
                step::split(builder.axes(), &axis.name, &[], &[by]).map_err(BuildError::from)?;
            builder.apply(&split)?;
        }
        let layout = builder.finish(1, &CostTrackingExecutor::new(self.memo))?;
        // The last shards may be empty.
        let even = |((axis, part), parts): ((&Axis, &Axis), &i64)| {
            let filled = constant(part).and_then(|part| part.checked_mul(i128::from(*parts)));
            *parts == 1 || filled == constant(axis)
        };
        let is_even = whole.iter().zip(part).zip(parts).all(even);
        let verdict = if is_even { layout.verdict() } else { Verdict::Padded };
        Ok((verdict, layout.proof()))
    }
}

/// Error at `place` for the use of `tensor` in an operation that requires whole tensors, if `tensor` is sharded, a ring
/// buffer, or restricted by conditions (`where`). `None` for a whole tensor. `takes` starts the message with the
/// operation: "a kernel requires".
pub(super) fn part_fault(tensor: &Tensor, takes: &str, place: FileSpan) -> Option<Diagnostic> {
    if tensor.ring.is_some() {
        return super::ring::ring_fault(tensor, takes, place);
    }
    if tensor.layout.domain().is_some() {
        return Some(super::domain::whole_fault(tensor, takes, place));
    }
    let mesh = &tensor.sharded.as_ref()?.mesh_name;
    let (name, shape) =
        (&tensor.name, layout_names::shape(tensor.layout.logical(), tensor.layout.symbols()));
    let message = format!("{takes} whole tensors, and `{name}` is sharded over `{mesh}`");
    let error = Diagnostic::error(Code::MeshPart, message, place, "");
    let help =
        format!("declare the shard as a separate tensor with the same layout: `shape {shape}`");
    Some(error.help(help))
}
