//! Limits of each target's devices.

/// Limits of a target's devices.
#[derive(Debug)]
pub struct Limits {
    /// Largest images: texels along a row, rows, images; of a single image, and of an array. A configuration may
    /// override it.
    pub image_max: [[u64; 3]; 2],
    /// Most work items of a launch of one axis.
    pub launch_max: i128,
}

/// No limits: C has no images and no launches.
pub static C: Limits = Limits { image_max: [[u64::MAX; 3]; 2], launch_max: i128::MAX };

/// OpenCL 1.2 requires 8192 texels and 2048 images of a device with images; devices have 16384 texels.
pub static OPENCL: Limits =
    Limits { image_max: [[16384, 16384, 1], [16384, 16384, 2048]], launch_max: i128::MAX };

/// Two-dimensional and layered textures and surfaces since compute capability 3.5; 2^31 - 1 blocks of 256 threads.
pub static CUDA: Limits = Limits {
    image_max: [[131_072, 65536, 1], [32768, 32768, 2048]],
    launch_max: ((1 << 31) - 1) * 256,
};
