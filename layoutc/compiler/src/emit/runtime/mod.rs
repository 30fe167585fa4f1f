//! C runtime: primitives that copy, transpose and convert blocks, the same for all manifests.
//!
//! The sources are plain C (folder `runtime` of the crate). A unit either defines the sections that it needs, or includes
//! the header of the project with all of them.

mod casts;
mod condition;
mod expand;
pub(super) mod header;
mod sections;
mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use minijinja::{Environment, Error, ErrorKind};

use self::expand::{ExpandError, expand};
use self::sections::Section;
use self::sources::source;
use crate::passes::Requirements;

/// Whole runtime but for the sections that convert elements by functions of the generated code.
const WHOLE: &str = "runtime.h";

/// Where the runtime that a unit needs is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuntimePlace {
    /// In the source of the unit.
    Inline,
    /// In one header for all units of the project.
    Shared,
}

/// Runtime of a unit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct UnitRuntime {
    /// Sections that the source defines, in order, in the form of the template function `runtime_text`.
    pub(super) sections: Vec<String>,
    /// True if the source includes the header of the project.
    pub(super) is_shared: bool,
}

impl UnitRuntime {
    /// Runtime for functions with these requirements. `has_kernels` is true if one of them computes elements.
    pub(super) fn new(needs: &Requirements, has_kernels: bool, place: RuntimePlace) -> Self {
        let sections = sections::of(needs, has_kernels);
        match place {
            RuntimePlace::Inline => Self {
                sections: sections.iter().map(Section::to_string).collect(),
                is_shared: false,
            },
            RuntimePlace::Shared => {
                let is_own = |section: &&Section| casts::is_of_unit(section);
                let own = sections.iter().filter(is_own).map(Section::to_string).collect();
                Self { sections: own, is_shared: !sections.is_empty() }
            }
        }
    }
}

/// Text of the shared runtime, without an include guard. `index` is the index type.
///
/// # Errors
/// An [`ExpandError`] if a source is invalid, which the tests exclude.
fn whole(index: &str) -> Result<String, ExpandError> {
    expand(source, WHOLE, [("INDEX", index)])
}

/// Standard headers that these sections need besides `headers`, sorted and without duplicates.
pub(super) fn includes(headers: Vec<String>, sections: &[String]) -> Vec<String> {
    let own = ["stddef.h", "string.h"].map(str::to_owned);
    let is_relayout = |section: &String| !["alignment.h", "kernels.h"].contains(&section.as_str());
    let own = own.into_iter().filter(|_| sections.iter().any(is_relayout));
    headers.into_iter().chain(own).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Adds the template function `runtime_text(sections, index)`: text of the sections, each in an include guard, so that
/// sources can be compiled as one. The text of a section is cached.
pub(super) fn add(environment: &mut Environment<'_>) {
    let known: Mutex<BTreeMap<String, String>> = Mutex::default();
    environment.add_function(
        "runtime_text",
        move |sections: Vec<String>, index: &str| -> Result<String, Error> {
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            let mut text = String::new();
            for section in &sections {
                let key = format!("{section}; INDEX={index}");
                if let Some(known) = known.get(&key) {
                    text.push_str(known);
                    continue;
                }
                let invalid = |fault: String| Error::new(ErrorKind::InvalidOperation, fault);
                let guarded = guarded(&key).map_err(invalid)?;
                text.push_str(&guarded);
                known.insert(key, guarded);
            }
            Ok(text)
        },
    );
}

/// Text of a section in its include guard, with an empty line after it. `Err` describes an invalid section.
fn guarded(section: &str) -> Result<String, String> {
    let section: Section = section.parse()?;
    let parameters = section.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let text = expand(source, &section.file, parameters).map_err(|fault| fault.to_string())?;
    let guard = section.guard();
    Ok(format!("#ifndef {guard}\n#define {guard}\n{}\n#endif\n\n", text.trim_end()))
}
