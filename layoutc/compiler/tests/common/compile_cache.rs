//! Helper: cache of compiled programs, because each test run compiles the same thousands of programs.
#![allow(
    unreachable_pub,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "runs compilers, reads and writes files"
)]

use std::path::Path;
use std::process::Command;
use std::time::UNIX_EPOCH;

use layoutc_testing::files::files_below;
use layoutc_testing::process;

/// Runs a compiler command that writes `program` into a folder; an error has the compiler's output. Skipped if the same
/// command, compiler and sources in that folder and in `others` have already produced the program.
pub fn compile(
    command: &mut Command,
    folder: &Path,
    program: Option<&str>,
    others: &[&Path],
) -> Result<(), String> {
    command.current_dir(folder);
    let key = blake3::hash(format!("{command:?}").as_bytes()).to_hex();
    let name = program.map_or_else(|| key[..16].to_owned(), |name| name.replace('/', "_"));
    let note = folder.join(format!("{name}.compiled"));
    let state = state(&key, command, folder, others);
    let is_there = program.is_none_or(|program| folder.join(program).exists());
    if is_there && std::fs::read_to_string(&note).is_ok_and(|compiled| compiled == state) {
        return Ok(());
    }
    let _gone = std::fs::remove_file(&note);
    process::output(command)?;
    std::fs::write(note, state).unwrap();
    Ok(())
}

/// Hash of everything that the result of a compilation depends on.
fn state(key: &str, command: &Command, folder: &Path, others: &[&Path]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(key.as_bytes());
    let compiler = process::program(&command.get_program().to_string_lossy());
    if let Some(compiler) = compiler.and_then(|path| path.canonicalize().ok()) {
        let file = std::fs::metadata(&compiler).unwrap();
        let age = file.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        hasher.update(format!("{} {age:?} {}", compiler.display(), file.len()).as_bytes());
    }
    for folder in std::iter::once(&folder).chain(others) {
        for source in files_below(folder).into_iter().filter(|file| is_source(file)) {
            let text = std::fs::read(&source).unwrap();
            hasher.update(source.as_os_str().as_encoded_bytes());
            hasher.update(&text.len().to_le_bytes()).update(&text);
        }
    }
    hasher.finalize().to_hex().to_string()
}

fn is_source(file: &Path) -> bool {
    let ending = file.extension().unwrap_or_default();
    ["c", "h", "inc", "cpp", "hpp", "cu", "cuh", "awk", "rs"].iter().any(|source| ending == *source)
}
