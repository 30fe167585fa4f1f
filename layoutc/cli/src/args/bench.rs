//! The arguments of `bench`.

use std::path::PathBuf;

pub(crate) const BENCHING: &str = "\
Times pack, unpack and the conversions in C, next to memcpy and a streaming-store copy of equal size,
and the kernels: an instance with a schedule also as NAME_auto, with the planner's own. A
symbol takes the greatest value for which all buffers fit.
Example: layoutc bench layouts/a.kdl --only to_texture";

#[derive(Debug, clap::Args)]
pub(crate) struct BenchArgs {
    /// Manifests or folders [default: the project of this folder or of a parent]
    pub(crate) paths: Vec<PathBuf>,
    /// Time only routines whose name contains TEXT; repeatable
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Vec<String>,
    /// Time to measure each routine for, in seconds
    #[arg(long, value_name = "S", default_value_t = 0.25, value_parser = positive)]
    pub(crate) seconds: f64,
    /// C compiler [default: $CC, else cc]
    #[arg(long, value_name = "CC")]
    pub(crate) cc: Option<String>,
    /// Compiler flags, separated by spaces
    #[arg(long, value_name = "FLAGS", default_value = "-O2", allow_hyphen_values = true)]
    pub(crate) cflags: String,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 3600.0 => Ok(seconds),
        _ => Err("expected seconds, more than 0 and at most 3600".to_owned()),
    }
}
