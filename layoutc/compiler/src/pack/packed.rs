//! Packed elements of fewer than 8 bits: a bit stream, in which an element of 3, 5, 6 or 7 bits may straddle two bytes.

/// Packing of elements: their width, and the end of each byte at which the bit stream starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packing {
    /// Number of bits of an element, 1 to 7.
    bits: u8,
    /// True if the first element is in the most significant bits.
    high_first: bool,
}

impl Packing {
    /// Packing of elements of `bits` bits; `None` unless `bits` is 1 to 7. `high_first` is true if the first element is
    /// in the most significant bits of a byte.
    pub fn new(bits: u32, high_first: bool) -> Option<Self> {
        let bits = u8::try_from(bits).ok().filter(|bits| (1..8).contains(bits))?;
        Some(Self { bits, high_first })
    }

    /// Size of `elements` packed elements, in bytes, rounded up.
    pub(super) fn bytes(self, elements: usize) -> usize {
        elements / 8 * usize::from(self.bits) + (elements % 8 * usize::from(self.bits)).div_ceil(8)
    }

    /// Sets the bits of the last byte behind `elements` packed elements to 0.
    pub fn clear_unused(self, buffer: &mut [u8], elements: usize) {
        let used = elements % 8 * usize::from(self.bits) % 8;
        if let (Some(last), 1..) = (buffer.last_mut(), used) {
            *last &= if self.high_first { !(0xFF >> used) } else { !(0xFF << used) };
        }
    }

    fn mask(self) -> u16 {
        (1 << self.bits) - 1
    }

    /// Position of element `index`: offset of its first byte, shift of its bits in the 16-bit value of
    /// [`Packing::window`], and true if the element straddles two bytes.
    fn place(self, index: usize) -> (usize, u32, bool) {
        // Every group of 8 elements is a whole number of bytes.
        let bit = (index & 7) * usize::from(self.bits);
        let byte = (index >> 3) * usize::from(self.bits) + (bit >> 3);
        let (bits, inside) = (u32::from(self.bits), u32::try_from(bit & 7).unwrap_or(0));
        let shift = if self.high_first { 16 - bits - inside } else { inside };
        (byte, shift, inside + bits > 8)
    }

    /// Byte `byte` and the next one as a 16-bit value, in stream order: the first byte is the most significant one if
    /// `high_first`. The next byte is read as 0 unless `is_in_two`. `None` if a byte is outside the buffer.
    fn window(self, buffer: &[u8], byte: usize, is_in_two: bool) -> Option<u16> {
        let first = *buffer.get(byte)?;
        let other = if is_in_two { *buffer.get(byte + 1)? } else { 0 };
        Some(if self.high_first {
            u16::from_be_bytes([first, other])
        } else {
            u16::from_le_bytes([first, other])
        })
    }

    /// Bits of element `index`; `None` if it is outside the buffer.
    pub fn load(self, buffer: &[u8], index: usize) -> Option<u8> {
        let (byte, shift, is_in_two) = self.place(index);
        let window = self.window(buffer, byte, is_in_two)?;
        u8::try_from(window >> shift & self.mask()).ok()
    }

    /// Sets the bits of element `index` to the low bits of `value`; `None` if the element is outside the buffer.
    pub fn store(self, buffer: &mut [u8], index: usize, value: u8) -> Option<()> {
        let (byte, shift, is_in_two) = self.place(index);
        let window = self.window(buffer, byte, is_in_two)?;
        let kept = window & !(self.mask() << shift);
        let window = kept | (u16::from(value) & self.mask()) << shift;
        let [first, other] =
            if self.high_first { window.to_be_bytes() } else { window.to_le_bytes() };
        *buffer.get_mut(byte)? = first;
        if is_in_two {
            *buffer.get_mut(byte + 1)? = other;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sub_byte_order_selects_low_or_high_bits_first() {
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

    #[test]
    fn sub_byte_elements_are_a_bit_stream() {
        for bits in 1..8_u32 {
            for high_first in [false, true] {
                let packing = Packing::new(bits, high_first).unwrap();
                let values: Vec<u8> =
                    (0..29_u32).map(|k| u8::try_from(k * 37 % (1 << bits)).unwrap()).collect();
                let mut bytes = vec![0; packing.bytes(values.len())];
                assert_eq!(bytes.len(), (29 * bits as usize).div_ceil(8));
                for (k, value) in values.iter().enumerate() {
                    assert_eq!(packing.store(&mut bytes, k, *value), Some(()));
                }
                // Single bits, in stream order.
                let at = |bit: usize| {
                    let inside = if high_first { 7 - bit % 8 } else { bit % 8 };
                    bytes[bit / 8] >> inside & 1
                };
                for (k, value) in values.iter().enumerate() {
                    assert_eq!(packing.load(&bytes, k), Some(*value), "{bits} {high_first} {k}");
                    let width = bits as usize;
                    for j in 0..width {
                        let bit = if high_first { width - 1 - j } else { j };
                        assert_eq!(at(k * width + j), value >> bit & 1);
                    }
                }
                assert_eq!(packing.load(&bytes, bytes.len() * 8 / bits as usize), None);
            }
        }
    }
}
