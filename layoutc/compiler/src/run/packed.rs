//! Elements that share bytes: 8 of 1 bit, 4 of 2 or 2 of 4 in each.

/// Which of a byte's elements comes first, and how wide they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packing {
    /// Bits of an element: 1, 2 or 4.
    bits: u32,
    /// Whether the first element is in the high bits.
    high_first: bool,
}

impl Packing {
    /// `None` for elements of whole bytes.
    pub fn new(bits: u32, high_first: bool) -> Option<Self> {
        matches!(bits, 1 | 2 | 4).then_some(Self { bits, high_first })
    }

    /// Bytes of so many elements, rounded up.
    pub(super) fn bytes(self, elements: usize) -> usize {
        let in_byte = match self.bits {
            1 => 8,
            2 => 4,
            _ => 2,
        };
        elements.div_ceil(in_byte)
    }

    fn mask(self) -> u8 {
        match self.bits {
            1 => 0x1,
            2 => 0x3,
            _ => 0xF,
        }
    }

    /// The byte of an element, and how far its bits are from the byte's lowest.
    fn place(self, index: usize) -> (usize, u32) {
        let (log, in_byte) = match self.bits {
            1 => (3, 7_u32),
            2 => (2, 3),
            _ => (1, 1),
        };
        let inside = u32::try_from(index & 7).unwrap_or(0) & in_byte;
        let inside = if self.high_first { in_byte - inside } else { inside };
        (index >> log, inside * self.bits)
    }

    /// The bits of an element; `None` beyond the buffer.
    pub fn load(self, buffer: &[u8], index: usize) -> Option<u8> {
        let (byte, shift) = self.place(index);
        Some(buffer.get(byte)? >> shift & self.mask())
    }

    /// Sets the bits of an element; `None` beyond the buffer.
    pub fn store(self, buffer: &mut [u8], index: usize, value: u8) -> Option<()> {
        let (byte, shift) = self.place(index);
        let byte = buffer.get_mut(byte)?;
        *byte = *byte & !(self.mask() << shift) | (value & self.mask()) << shift;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_element_is_in_the_low_bits_or_in_the_high_ones() {
        let (low, high) = (Packing::new(4, false).unwrap(), Packing::new(4, true).unwrap());
        let mut bytes = [0x21, 0x43];
        assert_eq!(
            (0..5).map(|k| low.load(&bytes, k)).collect::<Vec<_>>(),
            [Some(1), Some(2), Some(3), Some(4), None]
        );
        assert_eq!(high.load(&bytes, 0), Some(2));
        assert_eq!(high.store(&mut bytes, 3, 0xF5), Some(()));
        assert_eq!(bytes, [0x21, 0x45]);
        let bits = Packing::new(1, true).unwrap();
        assert_eq!(bits.load(&[0x80], 0), Some(1));
        assert_eq!(Packing::new(8, false), None);
    }
}
