//! Backends: those of the manifest, and the profiles that layoutc brings.

use std::sync::{Arc, LazyLock};

use crate::check::scope::{Scope, nearest_or_all};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Place};
use crate::manifest::syntax::{BackendItem, Kind, Name, OperatorItem, Text};

/// A backend with the manifest that it stands in.
#[derive(Debug)]
pub(in crate::check) struct BackendDef {
    pub(in crate::check) item: BackendItem,
    pub(in crate::check) file: Arc<str>,
}

impl BackendDef {
    /// The layout that it has for so many axes.
    pub(super) fn default_layout(&self, rank: usize) -> Option<&Text> {
        let rank = i128::try_from(rank).ok()?;
        let found = self.item.defaults.iter().find(|item| item.rank.value == rank);
        found.map(|item| &item.layout)
    }

    /// The operator of a name, or the rule for those without one.
    pub(super) fn operator(&self, name: &str) -> Option<&OperatorItem> {
        let found = self.item.operators.iter().find(|operator| operator.name.value == name);
        found.or(self.item.others.as_ref())
    }
}

/// The profiles, each a manifest with one backend.
const PROFILES: &[(&str, &str)] = &[
    ("canonical", include_str!("profiles/canonical.kdl")),
    ("opencl", include_str!("profiles/opencl.kdl")),
];

static SHIPPED: LazyLock<Vec<Arc<BackendDef>>> = LazyLock::new(|| {
    let read = |(name, text): &(&str, &str)| {
        let file: Arc<str> = Arc::from(format!("profiles/{name}.kdl"));
        let (manifest, _) = crate::manifest::parse(&file, text);
        manifest
            .backends
            .into_iter()
            .map(move |item| Arc::new(BackendDef { item, file: Arc::clone(&file) }))
    };
    PROFILES.iter().flat_map(read).collect()
});

/// The backend of a name: the manifest's own comes before a profile.
///
/// # Errors
/// That there is none; `None` where an earlier diagnostic says enough.
pub(super) fn find(
    name: &Name,
    scope: &Scope,
    file: &Arc<str>,
) -> Result<Arc<BackendDef>, Option<Box<Diagnostic>>> {
    if let Some(own) = scope.backends.get(&name.value) {
        return Ok(Arc::clone(own));
    }
    if scope.is_broken(Kind::Backend, &name.value) {
        return Err(None);
    }
    let shipped = SHIPPED.iter().find(|def| def.item.name.value == name.value);
    shipped.cloned().ok_or_else(|| {
        let message = format!("there is no backend `{}`", name.value);
        let place = Place::new(file, name.span.clone());
        let mut error = Diagnostic::error(Code::NameUnknown, message, place, "");
        let shipped = SHIPPED.iter().map(|def| def.item.name.value.as_str());
        let known: Vec<&str> = scope.backends.keys().map(String::as_str).chain(shipped).collect();
        error.help.extend(nearest_or_all(&name.value, "backends", &known));
        Some(Box::new(error))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_manifests_without_a_fault() {
        for (name, text) in PROFILES {
            let (manifest, found) = crate::manifest::parse(&Arc::from(*name), text);
            assert_eq!(found, [], "{name}");
            assert_eq!(manifest.backends.len(), 1, "{name}");
        }
    }
}
