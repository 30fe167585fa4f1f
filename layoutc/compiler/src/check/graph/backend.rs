//! Lookup of backends. A backend is a set of operators with the layouts that they accept. It is declared in the
//! manifest, or in a profile that layoutc ships.

use std::sync::{Arc, LazyLock};

use crate::base::codes::Code;
use crate::base::diagnostic::Diagnostic;
use crate::check::scope::ManifestScope;
use crate::manifest::syntax::{
    BackendItem, Identifier, ItemKind, ManifestSyntax, OperatorItem, SpannedText,
};

/// Backend of a manifest, with the file that declares it.
#[derive(Debug)]
pub(in crate::check) struct BackendDef {
    pub(in crate::check) item: BackendItem,
    pub(in crate::check) file: Arc<str>,
}

/// Backend with its bases, as a chain: the backend itself, its `like=` base, the base of that, and so on. A declaration
/// overrides those of the same name later in the chain.
#[derive(Debug)]
pub(super) struct Backend {
    chain: Vec<Arc<BackendDef>>,
}

impl Backend {
    pub(super) fn name(&self) -> &str {
        self.chain.first().map_or("", |def| def.item.name.value.as_str())
    }

    /// True if graphs for the backend are verified (`verify=#true`, the default).
    pub(super) fn is_verified(&self) -> bool {
        self.chain.first().is_none_or(|def| def.item.verify)
    }

    /// Text of the default layout for tensors of rank `rank`, and the file that declares it; `None` if there is none.
    pub(super) fn default_layout(&self, rank: usize) -> Option<(&SpannedText, &Arc<str>)> {
        let rank = i128::try_from(rank).ok()?;
        self.chain.iter().find_map(|def| {
            let found = def.item.defaults.iter().find(|item| item.rank.value == rank)?;
            Some((&found.layout, &def.file))
        })
    }

    /// Declaration of the operator `name`, and the file that contains it. If the backend does not list the operator,
    /// the declaration that applies to all unlisted operators; `None` if there is none.
    pub(super) fn operator(&self, name: &str) -> Option<(&OperatorItem, &Arc<str>)> {
        let named = self.chain.iter().find_map(|def| {
            let found = def.item.operators.iter().find(|operator| operator.name.value == name)?;
            Some((found, &def.file))
        });
        let mut others = self.chain.iter();
        named.or_else(|| others.find_map(|def| Some((def.item.others.as_ref()?, &def.file))))
    }

    pub(super) fn operators(&self) -> impl Iterator<Item = &str> {
        let operators = self.chain.iter().flat_map(|def| &def.item.operators);
        operators.map(|operator| operator.name.value.as_str())
    }
}

/// Profiles that layoutc ships, as (name of the backend, text of a manifest that declares it).
const PROFILES: &[(&str, &str)] = &[
    ("canonical", include_str!("profiles/canonical.kdl")),
    ("opencl", include_str!("profiles/opencl.kdl")),
    ("onnx", include_str!("profiles/onnx.kdl")),
];

static SHIPPED: LazyLock<Vec<Arc<BackendDef>>> = LazyLock::new(|| {
    let mut shipped = Vec::new();
    for (name, text) in PROFILES {
        let file: Arc<str> = Arc::from(format!("profiles/{name}.kdl"));
        let (manifest, _) = crate::manifest::parse(&file, text);
        let def = |item| Arc::new(BackendDef { item, file: Arc::clone(&file) });
        shipped.extend(manifest.backends.into_iter().map(def));
    }
    shipped
});

/// True if `file` is the path of a profile that layoutc ships. The pointers are compared, so that a manifest with an
/// equal path is no profile.
pub(super) fn is_shipped(file: &Arc<str>) -> bool {
    SHIPPED.iter().any(|def| Arc::ptr_eq(&def.file, file))
}

/// Backend `name` with its bases. A backend that the manifest declares takes precedence over a shipped profile of this
/// name. `file` is the path of the manifest that contains `name`, for the error.
///
/// # Errors
/// A diagnostic for an unknown backend; `Err(None)` if the fault has been reported elsewhere.
pub(super) fn find(
    name: &Identifier,
    scope: &ManifestScope,
    file: &Arc<str>,
) -> Result<Backend, Option<Diagnostic>> {
    let first = definition(name, scope, file)?;
    // Faults of its bases are reported at their declaration.
    chain(first, scope).map_err(|_| None)
}

/// Errors in the `like=` chains of a manifest's backends: unknown bases and cycles.
pub(super) fn faults(syntax: &ManifestSyntax, scope: &ManifestScope) -> Vec<Diagnostic> {
    let own = syntax.backends.iter().filter_map(|item| scope.backends.get(&item.name.value));
    own.filter_map(|def| chain(Arc::clone(def), scope).err().flatten()).collect()
}

/// Backend `first` with its bases, transitively. `Err` for an unknown base or a cycle; `Err(None)` if it has been
/// reported.
fn chain(first: Arc<BackendDef>, scope: &ManifestScope) -> Result<Backend, Option<Diagnostic>> {
    let mut chain = vec![first];
    loop {
        let Some(last) = chain.last() else { return Ok(Backend { chain }) };
        let Some(like) = &last.item.like else { return Ok(Backend { chain }) };
        let next = definition(like, scope, &last.file)?;
        if chain.iter().any(|def| Arc::ptr_eq(def, &next)) {
            let names: Vec<&str> = chain.iter().map(|def| def.item.name.value.as_str()).collect();
            let message = format!("cyclic `like=`: `{}` is like itself", names.join("` is like `"));
            let place = like.at(&last.file);
            let error = Diagnostic::error(Code::NameCycle, message, place, "");
            return Err(Some(error.help("remove one `like=` of the cycle")));
        }
        chain.push(next);
    }
}

fn definition(
    name: &Identifier,
    scope: &ManifestScope,
    file: &Arc<str>,
) -> Result<Arc<BackendDef>, Option<Diagnostic>> {
    if let Some(own) = scope.backends.get(&name.value) {
        return Ok(Arc::clone(own));
    }
    if scope.is_broken(ItemKind::Backend, &name.value) {
        return Err(None);
    }
    let shipped = SHIPPED.iter().find(|def| def.item.name.value == name.value);
    shipped.cloned().ok_or_else(|| {
        let message = format!("there is no backend `{}`", name.value);
        let error = Diagnostic::error(Code::NameUnknown, message, name.at(file), "");
        let shipped = SHIPPED.iter().map(|def| def.item.name.value.as_str());
        let known = scope.backends.keys().map(String::as_str).chain(shipped);
        Some(error.nearest_or_all(&name.value, "backends", known))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_profiles_are_valid_manifests() {
        for (name, text) in PROFILES {
            let (manifest, found) = crate::manifest::parse(&Arc::from(*name), text);
            assert_eq!(found, [], "{name}");
            assert_eq!(manifest.backends.len(), 1, "{name}");
        }
    }

    #[test]
    fn opencl_profile_overrides_the_canonical_one() {
        let shipped = |name: &str| {
            let def = SHIPPED.iter().find(|def| def.item.name.value == name);
            chain(Arc::clone(def.expect("a profile")), &ManifestScope::default()).expect("a chain")
        };
        let (canonical, opencl) = (shipped("canonical"), shipped("opencl"));
        let file = |def: &Backend, op: &str| def.operator(op).map(|found| found.1.to_string());
        let [own, base] = ["opencl", "canonical"].map(|name| Some(format!("profiles/{name}.kdl")));
        assert_eq!(file(&opencl, "MaxPool"), own);
        assert_eq!(file(&opencl, "Relu"), base);
        assert_eq!(file(&opencl, "SoftMax"), base);
        assert_eq!(file(&canonical, "MaxPool"), base);
        assert_eq!(opencl.default_layout(4).map(|found| found.0.value.as_str()), Some("NHWC"));
    }
}
