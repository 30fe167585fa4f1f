//! Examination of the files on disk at the paths of outputs. A file is compared with the expected text, and reasons why
//! it must not be replaced are collected.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::content_hash;
use layoutc_compiler::base::diagnostic::{Diagnostic, Severity};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, statat};
use rustix::io::{Errno, retry_on_intr};

use crate::command_error::CommandError;
use crate::paths::relative_to_cwd;
use crate::state::fact::{BuildFacts, ContentHash, Fingerprint};
use crate::state::stat::{FileStat, Timestamp};

use super::{OverwritePolicy, name_of};

/// Maximum size in bytes of a file whose content is read. A larger file counts as not written by layoutc, unless its
/// metadata is that in the log.
pub(super) const LARGEST: u64 = 64 << 20;

/// State of the file at the path of an output, if that file may be replaced. A file that must not be replaced has a
/// diagnostic instead ([`super::ProbeResult`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExistingOutput {
    /// File with the expected text. It was not read, because its metadata equals that of its fingerprint in the log.
    AsRecorded,
    /// File with the expected text, which was read. The fingerprint is its current one.
    Same(Fingerprint),
    /// File with another text than expected, or one too large to be read, which may be replaced. That the text differs
    /// follows from the content of the file, or from its fingerprint in the log.
    Other,
    Nothing,
}

/// Output that a build expects at a path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExpectedOutput<'a> {
    /// Path of the output relative to the output folder.
    pub(crate) path: &'a str,
    /// Hash of the text that the build expects in the output.
    pub(crate) hash: &'a ContentHash,
    /// Fingerprint of the file in the log, `None` if the log has none for the path.
    pub(crate) known: Option<&'a Fingerprint>,
}

/// Parameters that are equal for the examination of all outputs.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProbeContext<'a, 'f> {
    pub(super) root: &'a Path,
    /// Time before the examination of the first file. With it, [`FileStat::if_settled`] decides whether the metadata of
    /// a file would show later changes.
    pub(super) now: Timestamp,
    /// Facts of the log about what layoutc wrote.
    pub(super) facts: &'a BuildFacts<'f>,
    /// Policy for files that layoutc did not write, and for outputs that were edited since.
    pub(super) strictness: OverwritePolicy,
}

/// State of the file at the path of the output `wanted`, compared with the expected text. `folder` is the handle of the
/// folder of that path. No file is changed. The inner error is the reason why the file must not be replaced: it is a
/// link, a folder or a special file; or, unless [`ProbeContext::strictness`] allows overwriting, it was edited or not
/// written by layoutc.
///
/// # Errors
/// [`CommandError::Machine`] if the file cannot be examined or read.
pub(super) fn probe_output(
    folder: &OwnedFd,
    wanted: ExpectedOutput<'_>,
    looking: ProbeContext<'_, '_>,
) -> Result<Result<ExistingOutput, Box<Diagnostic>>, CommandError> {
    let ProbeContext { root, now, facts, strictness } = looking;
    let name = name_of(wanted.path);
    let raw = match retry_on_intr(|| statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)) {
        Ok(raw) => raw,
        Err(Errno::NOENT) => return Ok(Ok(ExistingOutput::Nothing)),
        Err(error) => {
            return Err(CommandError::io("read", &root.join(wanted.path), &error.into()));
        }
    };
    let (stat, known) = (FileStat::of_raw(&raw), wanted.known);
    if let Some(known) = known.filter(|known| known.stat == Some(stat)) {
        // Unchanged since layoutc wrote it.
        let is_same = known.hash == *wanted.hash;
        return Ok(Ok(if is_same { ExistingOutput::AsRecorded } else { ExistingOutput::Other }));
    }
    let file = &root.join(wanted.path);
    match FileType::from_raw_mode(raw.st_mode) {
        FileType::RegularFile => {}
        FileType::Symlink => return Ok(Err(Box::new(link(file)))),
        FileType::Directory => return Ok(Err(Box::new(blocked(file, "a folder")))),
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => return Ok(Err(Box::new(blocked(file, "not a regular file")))),
    }
    let is_small = u64::try_from(raw.st_size).is_ok_and(|bytes| bytes <= LARGEST);
    let found = match is_small.then(|| read(folder, name)).transpose() {
        // A concurrent `clean` removed it.
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok(Ok(ExistingOutput::Nothing));
        }
        found => found.map_err(|error| CommandError::io("read", file, &error))?,
    };
    let hash = found.as_ref().map(|found| ContentHash::of(found));
    if hash.as_ref() == Some(wanted.hash) {
        return Ok(Ok(ExistingOutput::Same(Fingerprint {
            stat: stat.if_settled(now),
            hash: *wanted.hash,
        })));
    }
    let is_lost = known.is_some() && found.as_deref().is_some_and(is_torn);
    let is_ours = hash.is_some_and(|hash| facts.wrote(wanted.path, &hash));
    if is_ours || is_lost || strictness == OverwritePolicy::Overwrite {
        return Ok(Ok(ExistingOutput::Other));
    }
    Ok(
        match found
            .as_deref()
            .and_then(|found| str::from_utf8(found).ok())
            .and_then(content_hash::verify_seal)
        {
            Some(true) => Ok(ExistingOutput::Other),
            Some(false) => Err(Box::new(edited(file))),
            None if known.is_some() && !has_seal(name) => Err(Box::new(edited(file))),
            None => Err(Box::new(foreign(file))),
        },
    )
}

/// True if the content `found` of a file may be the result of a power failure during a write: it is empty, or consists
/// of zero bytes, or has zero bytes at its end and nowhere else.
pub(super) fn is_torn(found: &[u8]) -> bool {
    let length = found.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let (written, zeros) = found.split_at(length);
    written.is_empty() || !zeros.is_empty() && !written.contains(&0)
}

/// True if layoutc writes a seal (a comment with a hash of the text) into the file called `name`. It does so for all
/// formats with comments, which the extension of `name` tells.
pub(crate) fn has_seal(name: &str) -> bool {
    content_hash::can_seal(name.rsplit_once('.').map_or("", |(_, extension)| extension))
}

/// Content of the file `name` in `folder`. A link is an error.
pub(super) fn read(folder: &OwnedFd, name: &str) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let mut bytes = Vec::new();
    let mut file = File::from(retry_on_intr(|| openat(folder, name, flags, Mode::empty()))?);
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Current fingerprint of the file `name` in `folder`, whose content has the hash `hash`. It has no metadata if the
/// file changed so recently that another change might leave the metadata equal, or if the file is missing.
pub(super) fn known(folder: &OwnedFd, name: &str, hash: ContentHash) -> Fingerprint {
    let now = Timestamp::take();
    let raw = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok();
    Fingerprint { stat: raw.and_then(|raw| FileStat::of_raw(&raw).if_settled(now)), hash }
}

pub(super) fn foreign(file: &Path) -> Diagnostic {
    let file = relative_to_cwd(file);
    Diagnostic::without_span(Code::OutputForeign, format!("`{file}` was not written by layoutc"))
        .note("an output has this path")
        .help("move it, or overwrite it with `--force`")
}

pub(super) fn blocked(file: &Path, what: &str) -> Diagnostic {
    Diagnostic::without_span(Code::OutputForeign, format!("`{}` is {what}", relative_to_cwd(file)))
        .note("an output has this path")
        .help("move it")
}

pub(super) fn edited(file: &Path) -> Diagnostic {
    let file = relative_to_cwd(file);
    Diagnostic::without_span(
        Code::OutputEdited,
        format!("`{file}` was edited since layoutc wrote it"),
    )
    .help("move the edit to another file, or overwrite it with `--force`")
}

/// Warning about the output at the absolute path `file`, which is not removed because it was edited.
pub(super) fn preserved(file: &Path) -> Diagnostic {
    let file = relative_to_cwd(file);
    let message = format!("`{file}` was edited since layoutc wrote it, and is not removed");
    let warning = Diagnostic {
        severity: Severity::Warning,
        ..Diagnostic::without_span(Code::OutputEdited, message)
    };
    warning.help("remove it manually if the edit is no longer needed")
}

/// Error about a link at the absolute path `path`, which is that of an output or of its folder.
pub(crate) fn link(path: &Path) -> Diagnostic {
    let target = fs::read_link(path).map_or_else(|_| "?".to_owned(), |to| to.display().to_string());
    Diagnostic::without_span(
        Code::OutputLink,
        format!("`{}` is a link to `{target}`", relative_to_cwd(path)),
    )
    .note("outputs are not written through links")
    .help("remove the link, or write elsewhere with `--out`")
}
