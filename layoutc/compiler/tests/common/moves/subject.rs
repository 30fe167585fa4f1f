//! Tensors at one size, with the expected contents of their memory.

use super::elements::Elements;
use layoutc_testing::Random;

/// Size of an image in texels; `images` is the number of layers of an image array.
#[derive(Clone, Copy)]
pub struct Extents {
    pub width: usize,
    pub height: usize,
    pub images: Option<usize>,
}

impl Extents {
    fn is_empty(self) -> bool {
        self.width * self.height * self.images.unwrap_or(1) == 0
    }
}

/// A tensor at one size of its symbols, described without the emitter.
pub struct Subject {
    pub name: String,
    pub dtype: String,
    pub elements: Elements,
    /// Bits of the fill value of one element; `None` if padding is not written.
    pub fill: Option<Vec<u8>>,
    /// Image that stores the tensor, if any.
    pub image: Option<Extents>,
    /// Slot of each element, by row-major position.
    pub slot_of: Vec<usize>,
    /// Row-major positions of indices outside the domain.
    pub left_out: Vec<usize>,
    pub slots: usize,
    /// True if the layout has padding at some size.
    pub padded: bool,
    /// True if the layout has no inverse in closed form.
    pub searched: bool,
    /// Values of the symbols.
    pub symbols: Vec<i64>,
}

impl Subject {
    /// Expected memory after pack of `dense`, over bytes of 0xAA.
    pub fn packed(&self, dense: &[u8], source: Elements) -> Vec<u8> {
        let mut memory = vec![0xAA; self.elements.bytes(self.slots)];
        // Whole texels are written.
        let zero = self.image.is_some().then(|| vec![0; self.elements.bits.div_ceil(8)]);
        match self.fill.clone().or(zero) {
            Some(value) if self.padded => self.elements.fill(&mut memory, &value),
            // Unused bits of the last byte are 0.
            _ if !self.padded && self.elements.bits < 8 => memory.fill(0),
            _ => {}
        }
        let indices = self.slot_of.iter().enumerate();
        for (k, slot) in indices.filter(|(k, _)| !self.left_out.contains(k)) {
            self.elements.set(&mut memory, *slot, &source.get(dense, k));
        }
        memory
    }

    /// Element at an index outside the domain: the fill value, or the initial bits of the memory.
    pub(super) fn outside(&self) -> Vec<u8> {
        let blank = vec![0xAA; self.elements.bits];
        self.fill.clone().unwrap_or_else(|| self.elements.get(&blank, 0))
    }

    /// Expected dense tensor after unpack, over bytes of 0xAA.
    pub(super) fn unpacked(&self, dense: &[u8]) -> Vec<u8> {
        let is_kept = !self.left_out.is_empty() && self.fill.is_none();
        let mut unpacked = if is_kept { vec![0xAA; dense.len()] } else { dense.to_vec() };
        for k in 0..self.slot_of.len() {
            match (self.left_out.contains(&k), &self.fill) {
                (true, Some(fill)) => self.elements.set(&mut unpacked, k, fill),
                (true, None) => {}
                (false, _) => self.elements.set(&mut unpacked, k, &self.elements.get(dense, k)),
            }
        }
        unpacked
    }

    /// Random dense tensor of bytes up to 0x3F: they differ from 0xAA, and no element type reads them as NaN.
    pub fn dense(&self, seed: u64) -> Vec<u8> {
        let mut random = Random::new(seed);
        let mut dense = vec![0; self.elements.bytes(self.slot_of.len())];
        let bound: u8 = if self.elements.bits < 8 { 1 << self.elements.bits } else { 0x40 };
        for k in 0..self.slot_of.len() {
            let bytes = self.elements.bits.div_ceil(8);
            let value: Vec<u8> = (0..bytes).map(|_| random.below(bound)).collect();
            self.elements.set(&mut dense, k, &value);
        }
        dense
    }

    pub(super) fn home(&self) -> Memory {
        match self.image {
            Some(size) => Memory::Image { dtype: self.dtype.clone(), size },
            None => Memory::Buffer { bytes: self.elements.bytes(self.slots) },
        }
    }
}

/// A buffer or image that a move reads or writes.
#[derive(Clone)]
pub enum Memory {
    Buffer { bytes: usize },
    Image { dtype: String, size: Extents },
}

impl Memory {
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Buffer { bytes } => *bytes == 0,
            Self::Image { size, .. } => size.is_empty(),
        }
    }

    /// True if the memory is a buffer, or an image no larger than the largest of the platform.
    pub(super) fn fits(&self, [width, height, layers]: [usize; 3]) -> bool {
        match self {
            Self::Buffer { .. } => true,
            Self::Image { size, .. } => {
                let images = size.images.unwrap_or(0);
                size.width <= width && size.height <= height && images <= layers
            }
        }
    }
}
