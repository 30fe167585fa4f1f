//! Helper: cache of compiled programs, because each test run compiles the same thousands of programs.
#![allow(
    unreachable_pub,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "runs compilers, reads and writes files"
)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::UNIX_EPOCH;

/// Runs a compiler command that writes `program` into a folder; an error has the compiler's output. Skipped if the same
/// command, compiler and sources in that folder and in `others` have already produced the program.
pub fn compile(
    command: &mut Command,
    folder: &Path,
    program: Option<&str>,
    others: &[&Path],
) -> Result<(), String> {
    command.current_dir(folder);
    let how = blake3::hash(format!("{command:?}").as_bytes()).to_hex();
    let name = program.map_or_else(|| how[..16].to_owned(), |name| name.replace('/', "_"));
    let note = folder.join(format!("{name}.made"));
    let state = state(&how, command, folder, others);
    let is_there = program.is_none_or(|program| folder.join(program).exists());
    if is_there && std::fs::read_to_string(&note).is_ok_and(|made| made == state) {
        return Ok(());
    }
    let _gone = std::fs::remove_file(&note);
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
        return Err(format!("{command:?} in {}: {}\n{out}{err}", folder.display(), output.status));
    }
    std::fs::write(note, state).unwrap();
    Ok(())
}

/// Hash of everything that the result of a compilation depends on.
fn state(how: &str, command: &Command, folder: &Path, others: &[&Path]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(how.as_bytes());
    if let Some(compiler) = found(Path::new(command.get_program())) {
        let is = std::fs::metadata(&compiler).unwrap();
        let age = is.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        hasher.update(format!("{} {age:?} {}", compiler.display(), is.len()).as_bytes());
    }
    for folder in std::iter::once(&folder).chain(others) {
        let files =
            std::fs::read_dir(folder).into_iter().flatten().map(|file| file.unwrap().path());
        let mut sources: Vec<PathBuf> = files.filter(|file| is_source(file)).collect();
        sources.sort();
        for source in sources {
            let text = std::fs::read(&source).unwrap();
            hasher.update(source.as_os_str().as_encoded_bytes());
            hasher.update(&text.len().to_le_bytes()).update(&text);
        }
    }
    hasher.finalize().to_hex().to_string()
}

/// Path of a program, with links resolved.
fn found(program: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut all = std::env::split_paths(&path).map(|folder| folder.join(program));
    all.find_map(|path| path.canonicalize().ok())
}

fn is_source(file: &Path) -> bool {
    let ending = file.extension().unwrap_or_default();
    ["c", "h", "cpp", "hpp", "cu", "cuh", "awk"].iter().any(|source| ending == *source)
}
