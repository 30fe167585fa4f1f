//! The arguments of `bench`.

use std::path::PathBuf;

/// What `bench --help` says besides.
pub(crate) const BENCHING: &str = "\
Times pack, unpack and the conversions in C: each beside memcpy and a copy past the caches of as many bytes. A
symbol has the greatest value with which all buffers fit.
Example: layoutc bench layouts/a.kdl --only to_texture";

// The arguments of `bench`.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchArgs {
    /// Manifests or folders [none: the project of this folder or of a parent]
    pub(crate) paths: Vec<PathBuf>,
    /// Only routines whose name contains this; may be given again
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Vec<String>,
    /// Seconds for each routine
    #[arg(long, value_name = "S", default_value_t = 0.25, value_parser = positive)]
    pub(crate) seconds: f64,
    /// The C compiler [default: $CC, else cc]
    #[arg(long, value_name = "CC")]
    pub(crate) cc: Option<String>,
    /// Its flags, apart by blanks
    #[arg(long, value_name = "FLAGS", default_value = "-O2", allow_hyphen_values = true)]
    pub(crate) cflags: String,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 3600.0 => Ok(seconds),
        _ => Err("it is a number of seconds above 0 and not above 3600".to_owned()),
    }
}
