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
    /// The profile that says what this one does not.
    base: Option<Arc<BackendDef>>,
}

impl BackendDef {
    /// A backend of a manifest.
    pub(in crate::check) fn new(item: &BackendItem, file: &Arc<str>) -> Self {
        Self { item: item.clone(), file: Arc::clone(file), base: None }
    }

    /// This one, and those that it stands on.
    fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |def| def.base.as_deref())
    }

    /// The layout that it has for so many axes, and the manifest that says so.
    pub(super) fn default_layout(&self, rank: usize) -> Option<(&Text, &Arc<str>)> {
        let rank = i128::try_from(rank).ok()?;
        self.chain().find_map(|def| {
            let found = def.item.defaults.iter().find(|item| item.rank.value == rank)?;
            Some((&found.layout, &def.file))
        })
    }

    /// The operator of a name, or the rule for those without one, and the manifest that it stands in.
    pub(super) fn operator(&self, name: &str) -> Option<(&OperatorItem, &Arc<str>)> {
        let named = self.chain().find_map(|def| {
            let found = def.item.operators.iter().find(|operator| operator.name.value == name)?;
            Some((found, &def.file))
        });
        named.or_else(|| self.chain().find_map(|def| Some((def.item.others.as_ref()?, &def.file))))
    }

    /// The names of its operators.
    pub(super) fn operators(&self) -> impl Iterator<Item = &str> {
        let operators = self.chain().flat_map(|def| &def.item.operators);
        operators.map(|operator| operator.name.value.as_str())
    }
}

/// The profiles, each a manifest with one backend; all but the first stand on it.
const PROFILES: &[(&str, &str)] = &[
    ("canonical", include_str!("profiles/canonical.kdl")),
    ("opencl", include_str!("profiles/opencl.kdl")),
];

static SHIPPED: LazyLock<Vec<Arc<BackendDef>>> = LazyLock::new(|| {
    let mut shipped: Vec<Arc<BackendDef>> = Vec::new();
    for (name, text) in PROFILES {
        let file: Arc<str> = Arc::from(format!("profiles/{name}.kdl"));
        let (manifest, _) = crate::manifest::parse(&file, text);
        let base = shipped.first().cloned();
        let def = |item| BackendDef { item, file: Arc::clone(&file), base: base.clone() };
        shipped.extend(manifest.backends.into_iter().map(|item| Arc::new(def(item))));
    }
    shipped
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

    #[test]
    fn the_profile_of_opencl_says_only_what_differs() {
        let [canonical, opencl] = [&SHIPPED[0], &SHIPPED[1]];
        let file = |def: &BackendDef, op: &str| def.operator(op).map(|found| found.1.to_string());
        let [own, base] = ["opencl", "canonical"].map(|name| Some(format!("profiles/{name}.kdl")));
        assert_eq!(file(opencl, "MaxPool"), own);
        assert_eq!(file(opencl, "Relu"), base);
        assert_eq!(file(opencl, "SoftMax"), base);
        assert_eq!(file(canonical, "MaxPool"), base);
        assert_eq!(opencl.default_layout(4).map(|found| found.0.value.as_str()), Some("NHWC"));
    }
}
