//! Reports on the memory accesses of warps: the declared accesses of tensors, and the generated GPU kernels.

mod arrangements;
mod declared;
mod kernels;
mod warp_trace;

use serde_json::{Value, json};

pub use self::arrangements::{ArrangementReport, arrangements};
use self::declared::DeclaredAccess;
use self::kernels::{KernelAccesses, kernel_accesses, tensor_accesses};
use super::inspect::lines_text;
use crate::base::diagnostic::Diagnostic;
use crate::model::compute::KernelInstance;
use crate::model::{Manifest, Tensor};

/// Text on the wavefronts of requests to shared memory: `128 wavefronts, 112 by bank conflicts`.
fn wavefronts_text(wavefronts: i64, least: i64) -> String {
    match wavefronts - least {
        0 => format!("{wavefronts} wavefronts, no bank conflicts"),
        more => format!("{wavefronts} wavefronts, {more} by bank conflicts"),
    }
}

/// Text on the sectors of requests to global memory: `32 sectors, 4 needed`.
fn sectors_text(sectors: i64, least: i64) -> String {
    match sectors - least {
        0 => format!("{sectors} sectors, coalesced"),
        _ => format!("{sectors} sectors, {least} needed"),
    }
}

/// Text on the requests of an access: `reads 16 bytes a lane; 4 requests`.
fn requests_text(direction: &str, bytes: i64, requests: i64) -> String {
    let plural = if requests == 1 { "" } else { "s" };
    format!("{direction}s {bytes} bytes a lane; {requests} request{plural}")
}

/// Report of `inspect --access` for a tensor or a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessReport {
    declared: Vec<DeclaredAccess>,
    kernels: Vec<KernelAccesses>,
}

impl AccessReport {
    /// Report on the declared accesses of a tensor, and on the GPU kernels that pack, unpack and convert it.
    ///
    /// # Errors
    /// The diagnostic that a build for GPUs reports if planning fails.
    #[expect(clippy::result_large_err, reason = "one diagnostic, on the error path")]
    pub fn of_tensor(manifest: &Manifest, tensor: &Tensor) -> Result<Self, Diagnostic> {
        let kernels = tensor_accesses(manifest, tensor)?;
        Ok(Self { declared: DeclaredAccess::all(tensor), kernels })
    }

    /// Report on the GPU kernels of an instance.
    ///
    /// # Errors
    /// The diagnostic that a build for GPUs reports if planning fails.
    #[expect(clippy::result_large_err, reason = "one diagnostic, on the error path")]
    pub fn of_kernel(manifest: &Manifest, compute: &KernelInstance) -> Result<Self, Diagnostic> {
        Ok(Self { declared: Vec::new(), kernels: kernel_accesses(manifest, compute)? })
    }

    /// Lines of a text report: the declared accesses, then each kernel with its loads and stores.
    pub fn text(&self) -> String {
        let lines: Vec<(&str, String)> =
            self.declared.iter().map(|access| ("access", access.text())).collect();
        let kernels = self.kernels.iter().map(|kernel| format!("\n{}", kernel.text()));
        lines_text(&lines) + &kernels.collect::<String>()
    }

    /// Object of a JSON report, with the lists `declared` and `kernels`.
    pub fn json(&self) -> Value {
        json!({
            "declared": self.declared.iter().map(DeclaredAccess::json).collect::<Vec<_>>(),
            "kernels": self.kernels.iter().map(KernelAccesses::json).collect::<Vec<_>>(),
        })
    }
}
