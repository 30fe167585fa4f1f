//! Embeds the pages of `book/src/codes` in the binary: a table of `(code, text)`, by code.

use std::fmt::Write as _;
use std::io::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Error> {
    let variable = |name: &str| env::var(name).map_err(Error::other);
    let pages = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("../../book/src/codes");
    let mut table = String::from("&[\n");
    for area in sorted(&pages)? {
        if !area.is_dir() {
            continue;
        }
        for page in sorted(&area)? {
            if page.extension().is_some_and(|extension| extension == "md") {
                let code = format!("{}::{}", stem(&area), stem(&page));
                let text = fs::read_to_string(&page)?;
                writeln!(table, "    ({code:?}, {text:?}),").map_err(Error::other)?;
            }
        }
    }
    table.push_str("]\n");
    fs::write(Path::new(&variable("OUT_DIR")?).join("pages.rs"), table)?;
    let mut out = std::io::stdout();
    std::io::Write::write_all(
        &mut out,
        b"cargo::rerun-if-changed=../../book/src/codes\ncargo::rerun-if-changed=build.rs\n",
    )
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut paths =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, Error>>()?;
    paths.sort();
    Ok(paths)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
