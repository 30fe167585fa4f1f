//! Whole files of bytes: read, and written by a temporary file beside them.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::console::Console;
use crate::fault::Fault;

/// Standard input or output.
pub(crate) const STANDARD: &str = "-";

/// Whether a path stands for standard input or output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == STANDARD
}

/// How a file is called in messages.
pub(crate) fn called(path: &Path, standard: &str) -> String {
    if is_standard(path) { standard.to_owned() } else { path.display().to_string() }
}

/// The bytes of a file, or of standard input.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::new();
    let read = if is_standard(path) {
        io::stdin().lock().read_to_end(&mut bytes)
    } else {
        match File::open(path) {
            Ok(mut file) => file.read_to_end(&mut bytes),
            Err(error) => Err(error),
        }
    };
    match read {
        Ok(_) => Ok(bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(Fault::Usage(format!("there is no `{}`", path.display())))
        }
        Err(error) if error.kind() == ErrorKind::IsADirectory => {
            Err(Fault::Usage(format!("`{}` is a folder; name a file", path.display())))
        }
        Err(error) => Err(Fault::io("read", path, &error)),
    }
}

/// Refuses an output that is one of the files read.
pub(crate) fn keep(inputs: &[&Path], output: &Path) -> Result<(), Fault> {
    let identity = |path: &Path| {
        let metadata = fs::metadata(path).ok().filter(Metadata::is_file);
        metadata.map(|metadata| (metadata.dev(), metadata.ino()))
    };
    if is_standard(output) {
        return Ok(());
    }
    let there = identity(output);
    match inputs.iter().find(|input| there.is_some() && identity(input) == there) {
        Some(input) => {
            let (input, output) = (input.display(), output.display());
            Err(Fault::Usage(format!("`{output}` would overwrite `{input}`, which is read")))
        }
        None => Ok(()),
    }
}

/// Writes a file whole, or nothing; a device or a pipe is written as it is.
pub(crate) fn write(path: &Path, bytes: &[&[u8]], console: &mut Console) -> Result<(), Fault> {
    if is_standard(path) {
        bytes.iter().for_each(|part| console.bytes(part));
        return Ok(());
    }
    let fault = |error: io::Error| match error.kind() {
        ErrorKind::NotFound => {
            Fault::Usage(format!("the folder of `{}` is not there", path.display()))
        }
        _ => Fault::io("write", path, &error),
    };
    let all = |mut file: File| bytes.iter().try_for_each(|part| file.write_all(part));
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            return Err(Fault::Usage(format!("`{}` is a folder", path.display())));
        }
        Ok(metadata) if !metadata.is_file() => {
            return File::options().write(true).open(path).and_then(all).map_err(fault);
        }
        Ok(_) | Err(_) => {}
    }
    // Through a link the file behind it is meant.
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let temporary = format!(".layoutc-{}-array.tmp", std::process::id());
    let temporary = place.parent().unwrap_or(Path::new("")).join(temporary);
    let written = File::create(&temporary).and_then(all);
    let renamed = written.and_then(|()| fs::rename(&temporary, &place));
    if renamed.is_err() {
        drop(fs::remove_file(&temporary));
    }
    renamed.map_err(fault)
}
