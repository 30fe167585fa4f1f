//! What many files have in common is rendered once.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use minijinja::value::Value;
use minijinja::{Environment, Error, State};

/// Adds `once(template, values)`: the text of a template over these values alone. Values that were seen before give the
/// text that was rendered then.
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
