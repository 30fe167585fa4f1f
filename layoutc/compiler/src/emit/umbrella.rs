//! One header that includes those of all manifests.

use super::filters::Dialects;
use super::globals::file_names;
use super::render::Frames;
use super::seen::Seen;
use super::{Output, Templates, tidy};
use crate::base::content_hash;
use crate::base::diagnostic::Diagnostic;

/// Steps for each header that its template may take.
const FUEL_PER_HEADER: u64 = 1000;
const FUEL: u64 = 100_000;

/// What the template sees.
pub(super) struct Umbrella {
    pub(super) generator: String,
    pub(super) guard: String,
    pub(super) includes: Vec<String>,
}

/// The header at `path` that includes `headers`, all below one folder; sorted, and by their paths from its own folder.
///
/// # Errors
/// The faults of a template of the user's: `template::*`.
#[expect(clippy::result_large_err, reason = "one diagnostic, on the way out")]
pub fn umbrella(
    path: &str,
    headers: &[String],
    prefix: &str,
    templates: &Templates,
) -> Result<Output, Diagnostic> {
    let mut includes: Vec<String> = headers.iter().map(|header| relative(path, header)).collect();
    includes.sort();
    let fuel = FUEL_PER_HEADER.saturating_mul(u64::try_from(includes.len()).unwrap_or(u64::MAX));
    let model = Umbrella {
        generator: format!("layoutc {}", env!("CARGO_PKG_VERSION")),
        // The extension makes it differ from that of a manifest.
        guard: format!("{}_H", file_names(path, prefix).0),
        includes,
    };
    let frames = Frames::new(templates, "c", Dialects::default());
    let text = frames.render("c/umbrella.h.j2", model.seen(), FUEL.saturating_add(fuel))?;
    Ok(Output { text: content_hash::seal(path, &tidy(&text)), path: path.to_owned() })
}

/// `to` from the folder of `from`: `../a.h` from `include/all.h` to `a.h`.
fn relative(from: &str, to: &str) -> String {
    let mut folders: Vec<&str> = from.split('/').collect();
    folders.pop();
    let mut parts: Vec<&str> = to.split('/').collect();
    let file = parts.pop().unwrap_or_default();
    let shared = folders.iter().zip(&parts).take_while(|(a, b)| a == b).count();
    let up = folders.iter().skip(shared).map(|_| "..");
    let down = parts.iter().skip(shared).copied().chain([file]);
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::relative;

    #[test]
    fn headers_are_included_by_their_path_from_the_umbrella() {
        for (from, to, expected) in [
            ("all.h", "a.h", "a.h"),
            ("all.h", "layers/a.h", "layers/a.h"),
            ("include/all.h", "a.h", "../a.h"),
            ("layers/all.h", "layers/a.h", "a.h"),
            ("layers/x/all.h", "layers/y/a.h", "../y/a.h"),
        ] {
            assert_eq!(relative(from, to), expected, "{from} {to}");
        }
    }
}
