//! Memory limit of a conversion in bytes: the size given by `--memory`, or by default a share of the memory of the
//! machine.

use std::fs;
use std::path::Path;

use layoutc_compiler::manifest;

/// Minimum memory limit in bytes, enough for chunks of a few KiB of the input and the output.
pub(crate) const LEAST: u64 = 64 << 10;
/// Maximum of the default memory limit, in bytes.
const MOST: u64 = 1 << 30;
/// Divisor of the machine's memory that gives the default memory limit.
const SHARE: u64 = 4;

/// Parses a size such as `256 MiB` into bytes. The error is a message for the user of the command line.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let trimmed = text.trim();
    let plain = trimmed.parse::<u64>().ok();
    let bytes = plain.or_else(|| u64::try_from(manifest::bytes(trimmed)?).ok());
    match bytes {
        Some(bytes) if bytes >= LEAST => Ok(bytes),
        Some(_) => Err("the minimum is 64 KiB".to_owned()),
        None => {
            Err("expected a size such as `256 MiB`; units are B, KB, MB, GB, TB (powers of 1000) \
                     and KiB, MiB, GiB, TiB (powers of 1024)"
                .to_owned())
        }
    }
}

/// Default memory limit in bytes: a quarter of the available memory, at least [`LEAST`] and at most 1 GiB. The
/// available memory is the lesser of the memory of the machine and the limit of the control groups of this process. If
/// neither is known, the limit is 1 GiB.
pub(crate) fn default_limit() -> u64 {
    let all = [machine(), cgroup_limit()].into_iter().flatten().min();
    all.map_or(MOST, |all| all.checked_div(SHARE).unwrap_or(MOST)).clamp(LEAST, MOST)
}

/// Memory of the machine in bytes, `None` if unknown.
fn machine() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Least memory limit, in bytes, of the control group of this process and of the groups that contain it (v1 and v2);
/// `None` if no limit is found.
fn cgroup_limit() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/cgroup").ok()?;
    let limits = text.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?.trim_start_matches('/'));
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|one| one == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => return None,
        };
        let root = Path::new(root);
        let own = root.join(path);
        let folders = own.ancestors().take_while(|folder| folder.starts_with(root));
        folders.filter_map(|folder| limit(&folder.join(file))).min()
    });
    limits.min()
}

fn limit(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_sizes_have_units_and_a_minimum() {
        assert_eq!(parse("64 KiB"), Ok(65_536));
        assert_eq!(parse(" 1.5gib "), Ok(3 << 29));
        assert_eq!(parse("300MB"), Ok(300_000_000));
        assert_eq!(parse("1000000"), Ok(1_000_000));
        assert_eq!(parse("63 KiB"), Err("the minimum is 64 KiB".to_owned()));
        for text in ["", "much", "-1", "1 XB", "1e9", "0x10000", "99999999 TiB", "1.3 B", "MiB"] {
            assert!(parse(text).is_err_and(|message| message.contains("`256 MiB`")), "{text}");
        }
    }

    #[test]
    fn default_memory_limit_is_within_bounds() {
        assert!((LEAST..=MOST).contains(&default_limit()));
    }
}
