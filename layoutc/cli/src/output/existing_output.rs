//! What stands where an output goes.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use layoutc_compiler::codes::Code;
use layoutc_compiler::content_hash;
use layoutc_compiler::diagnostic::{Diagnostic, Severity};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, statat};
use rustix::io::{Errno, retry_on_intr};

use crate::command_error::CommandError;
use crate::project::relative_to_cwd;
use crate::state::fact::{BuildFacts, ContentHash, Fingerprint};
use crate::state::stat::{FileStat, Timestamp};

use super::{OverwritePolicy, name_of};

/// The largest file that is looked into, in bytes.
pub(super) const LARGEST: u64 = 64 << 20;

/// What stands where an output goes, as far as it may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExistingOutput {
    /// The output, untouched since layoutc looked at it last.
    AsRecorded,
    /// The output, to the byte.
    Same(Fingerprint),
    /// Something that may be replaced.
    Other,
    /// Nothing.
    Nothing,
}

/// What is to stand somewhere.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExpectedOutput<'a> {
    /// Where, below the output folder.
    pub(crate) path: &'a str,
    /// The hash of what is to stand there.
    pub(crate) hash: &'a ContentHash,
    /// What is known of what stands there.
    pub(crate) known: Option<&'a Fingerprint>,
}

/// What outputs are looked at with.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProbeContext<'a, 'f> {
    /// The output folder.
    pub(super) root: &'a Path,
    /// A moment before anything was looked at.
    pub(super) now: Timestamp,
    /// What layoutc knows to have written.
    pub(super) facts: &'a BuildFacts<'f>,
    /// What is done with files of others.
    pub(super) strictness: OverwritePolicy,
}

/// What stands in `folder` where `wanted` goes, or why it must not be replaced.
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
            return Err(CommandError::io("look at", &root.join(wanted.path), &error.into()));
        }
    };
    let (stat, known) = (FileStat::of_raw(&raw), wanted.known);
    if let Some(known) = known.filter(|known| known.stat == Some(stat)) {
        // Nobody touched it since layoutc wrote it.
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
        // A `clean` beside this build has removed it since.
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

/// Whether a power failure may have left an output's text so: its end, or all of it, is missing or zeros.
pub(super) fn is_torn(found: &[u8]) -> bool {
    let kept = found.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let (kept, zeros) = found.split_at(kept);
    kept.is_empty() || !zeros.is_empty() && !kept.contains(&0)
}

/// Whether files with such a name carry a seal.
pub(crate) fn has_seal(name: &str) -> bool {
    content_hash::can_seal(name.rsplit_once('.').map_or("", |(_, extension)| extension))
}

/// The content of the file `name` in `folder`.
pub(super) fn read(folder: &OwnedFd, name: &str) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let mut bytes = Vec::new();
    let mut file = File::from(retry_on_intr(|| openat(folder, name, flags, Mode::empty()))?);
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The file `name` in `folder` as it stands, with the hash that it is known to have.
pub(super) fn known(folder: &OwnedFd, name: &str, hash: ContentHash) -> Fingerprint {
    let now = Timestamp::take();
    let raw = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok();
    Fingerprint { stat: raw.and_then(|raw| FileStat::of_raw(&raw).if_settled(now)), hash }
}

pub(super) fn foreign(file: &Path) -> Diagnostic {
    let file = relative_to_cwd(file);
    Diagnostic::without_span(Code::OutputForeign, format!("`{file}` was not written by layoutc"))
        .note("it stands where an output goes")
        .help("move it away, or overwrite it with `--force`")
}

pub(super) fn blocked(file: &Path, what: &str) -> Diagnostic {
    Diagnostic::without_span(Code::OutputForeign, format!("`{}` is {what}", relative_to_cwd(file)))
        .note("an output goes there")
        .help("move it away")
}

pub(super) fn edited(file: &Path) -> Diagnostic {
    let file = relative_to_cwd(file);
    Diagnostic::without_span(
        Code::OutputEdited,
        format!("`{file}` was edited since layoutc wrote it"),
    )
    .help("keep the edit in another file, or overwrite it with `--force`")
}

/// An edited output that is not removed.
pub(super) fn kept(file: &Path) -> Diagnostic {
    let file = relative_to_cwd(file);
    let message = format!("`{file}` was edited since layoutc wrote it, and is kept");
    let warning = Diagnostic {
        severity: Severity::Warning,
        ..Diagnostic::without_span(Code::OutputEdited, message)
    };
    warning.help("remove it yourself if the edit is not needed any more")
}

/// A link where an output or its folder should be.
pub(crate) fn link(path: &Path) -> Diagnostic {
    let target = fs::read_link(path).map_or_else(|_| "?".to_owned(), |to| to.display().to_string());
    Diagnostic::without_span(
        Code::OutputLink,
        format!("`{}` is a link to `{target}`", relative_to_cwd(path)),
    )
    .note("outputs are not written through links")
    .help("remove the link, or write elsewhere with `--out`")
}
