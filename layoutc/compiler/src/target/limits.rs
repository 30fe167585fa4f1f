//! Limits of the devices for which each target generates code.

/// Limits of the devices for which a target generates code. A tensor that exceeds them is refused.
#[derive(Debug)]
pub struct Limits {
    /// Maximum extents of an image (element 0) and of an image array (element 1), each as [texels in a row, rows,
    /// images]. The key `image-max` of layoutc.toml may override the texels and the rows.
    pub image_max: [[u64; 3]; 2],
    /// Maximum number of work items (threads) of a launch along one axis of the launch grid.
    pub launch_max: i128,
}

/// Limits of C, which has neither images nor launches: the greatest representable values, so that nothing is refused.
pub static C: Limits = Limits { image_max: [[u64::MAX; 3]; 2], launch_max: i128::MAX };

/// Limits of Rust, which has neither images nor launches: those of C.
pub static RUST: Limits = Limits { image_max: [[u64::MAX; 3]; 2], launch_max: i128::MAX };

/// Limits of OpenCL. Version 1.2 requires that a device with images supports at least 8192 texels along each axis and
/// 2048 images in an array; common devices support 16384 texels.
pub static OPENCL: Limits =
    Limits { image_max: [[16384, 16384, 1], [16384, 16384, 2048]], launch_max: i128::MAX };

/// Limits of CUDA: those of two-dimensional and layered textures and surfaces of current devices, and 2^31 - 1 blocks
/// of 256 threads.
pub static CUDA: Limits = Limits {
    image_max: [[131_072, 65536, 1], [32768, 32768, 2048]],
    launch_max: ((1 << 31) - 1) * 256,
};

/// Limits of HIP: those of two-dimensional images of AMD's devices, and a grid of less than 2^32 threads.
pub static HIP: Limits =
    Limits { image_max: [[16384, 16384, 1], [16384, 16384, 2048]], launch_max: (1 << 32) - 256 };
