//! Template function `once`, which caches text that many files have in common.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use minijinja::value::Value;
use minijinja::{Environment, Error, State};

/// Adds the function `once(template, values)`, which renders a template with `values` as its whole model. A repeated
/// call with equal values returns the cached text.
pub(super) fn add(environment: &mut Environment<'_>) {
    let known: Mutex<BTreeMap<String, String>> = Mutex::default();
    environment.add_function(
        "once",
        move |state: &State<'_, '_>, name: &str, values: Value| -> Result<String, Error> {
            let key = format!("{name} {values}");
            let seen =
                |key: &str| known.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned();
            if let Some(text) = seen(&key) {
                return Ok(text);
            }
            let text = state.env().get_template(name)?.render(values)?;
            known.lock().unwrap_or_else(PoisonError::into_inner).insert(key, text.clone());
            Ok(text)
        },
    );
}
