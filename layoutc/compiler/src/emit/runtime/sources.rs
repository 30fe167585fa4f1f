//! Sources of the C runtime, which are plain C in the folder `runtime` of the crate.

/// Pair (name, text) of a source.
macro_rules! runtime {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../runtime/", $name)))),*]
    };
}

/// Sources of the runtime as pairs (name, text), sorted by name. `parameters.h` defines the macros that the compiler
/// replaces.
pub(super) const SOURCES: &[(&str, &str)] = runtime![
    "alignment.h",
    "cast_bf16_to_f32.inc",
    "cast_byte_to_f32.inc",
    "cast_f16_to_f32.inc",
    "cast_f32_to_bf16.inc",
    "cast_f32_to_byte.inc",
    "cast_f32_to_f16.inc",
    "cast_run.inc",
    "cast_runs.inc",
    "cast_transpose.inc",
    "consecutive_blocks.h",
    "copy_runs.h",
    "dispatch.h",
    "element.inc",
    "interleave.inc",
    "interleave_three.inc",
    "interleave_wide.inc",
    "kernels.h",
    "lanes.inc",
    "loads.h",
    "mpi_exchange.inc",
    "registers.h",
    "runtime.h",
    "stream.h",
    "stream_buffer.h",
    "tiles.inc",
    "tiles_square.inc",
    "transpose.inc",
    "transpose_blocks.inc",
    "transpose_stream.inc",
    "vectors.h",
    "zero_runs.h",
];

/// Text of a source; `None` if there is no source of this name.
pub(super) fn source(name: &str) -> Option<&'static str> {
    if name == "parameters.h" {
        return Some("");
    }
    SOURCES.iter().find(|row| row.0 == name).map(|row| row.1)
}
