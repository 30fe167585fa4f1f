//! Elements in a buffer, also several in a byte.

/// Reads and writes elements of `bits` bits.
#[derive(Clone, Copy)]
pub struct Elements {
    pub bits: usize,
    pub high_first: bool,
}

impl Elements {
    pub(super) fn bytes(self, elements: usize) -> usize {
        (elements * self.bits).div_ceil(8)
    }

    /// Number of work-items that write packed elements: each writes the fewest that fill whole bytes.
    pub(super) fn items(self, elements: usize) -> usize {
        let several =
            [1, 2, 4, 8].into_iter().find(|several| (several * self.bits).is_multiple_of(8));
        elements.div_ceil(several.unwrap())
    }

    /// Position of a bit of the stream within its byte.
    fn shift(self, bit: usize) -> usize {
        if self.high_first { 7 - bit % 8 } else { bit % 8 }
    }

    /// Bits of an element in stream order.
    fn order(self) -> Vec<usize> {
        if self.high_first { (0..self.bits).rev().collect() } else { (0..self.bits).collect() }
    }

    /// Fills the buffer with copies of an element, to the last bit.
    pub(super) fn fill(self, buffer: &mut [u8], value: &[u8]) {
        if self.bits >= 8 {
            buffer
                .chunks_exact_mut(self.bits / 8)
                .for_each(|element| element.copy_from_slice(value));
            return;
        }
        let order = self.order();
        for bit in 0..buffer.len() * 8 {
            let one = value[0] >> order[bit % self.bits] & 1;
            let byte = &mut buffer[bit / 8];
            *byte = *byte & !(1 << self.shift(bit)) | one << self.shift(bit);
        }
    }

    pub(super) fn get(self, buffer: &[u8], at: usize) -> Vec<u8> {
        if self.bits < 8 {
            let one = |(k, bit): (usize, usize)| {
                let k = at * self.bits + k;
                (buffer[k / 8] >> self.shift(k) & 1) << bit
            };
            return vec![self.order().into_iter().enumerate().map(one).sum()];
        }
        buffer[at * self.bits / 8..(at + 1) * self.bits / 8].to_vec()
    }

    pub(super) fn set(self, buffer: &mut [u8], at: usize, value: &[u8]) {
        if self.bits < 8 {
            for (k, bit) in self.order().into_iter().enumerate() {
                let k = at * self.bits + k;
                let (byte, one) = (&mut buffer[k / 8], value[0] >> bit & 1);
                *byte = *byte & !(1 << self.shift(k)) | one << self.shift(k);
            }
            return;
        }
        buffer[at * self.bits / 8..(at + 1) * self.bits / 8].copy_from_slice(value);
    }
}
