//! Transposes of elements of every size against a reference loop: blocks smaller than a tile, blocks with partial
//! pieces, strides with gaps between rows, and negative strides.
#![allow(clippy::unwrap_used, reason = "a test")]

use layoutc_testing::Random;

use super::super::kernels::Block;
use super::transpose;

/// Transposes a block with a reference loop.
fn wanted(source: &[u8], target: &mut [u8], bytes: u32, block: &Block) {
    let element = usize::try_from(bytes).unwrap();
    for row in 0..block.rows {
        for column in 0..block.columns {
            let one = block.part(bytes, [row, column], [1, 1]).unwrap();
            let [from, to] = [one.from, one.to].map(|at| usize::try_from(at).unwrap());
            target[to..to + element].copy_from_slice(&source[from..from + element]);
        }
    }
}

/// Signs of the strides in source and destination.
const SIGNS: [[i64; 2]; 4] = [[1, 1], [1, -1], [-1, 1], [-1, -1]];

#[test]
fn blocked_transpose_equals_a_reference_loop() {
    let extents = [(1, 1), (3, 70), (64, 256), (65, 257), (130, 700), (1000, 300), (260, 1100)];
    for (bytes, (rows, columns)) in
        [1, 2, 4, 8, 16].into_iter().flat_map(|b| extents.map(|e| (b, e)))
    {
        for (apart, signs) in [0, 5].into_iter().flat_map(|k| SIGNS.map(|signs| (k, signs))) {
            let wide = i64::from(bytes);
            let strides = [columns * wide + apart, rows * wide + 2 * apart];
            let size = |lines: i64, stride: i64| usize::try_from(lines * stride + 16).unwrap();
            let source = Random::new(1).bytes(size(rows, strides[0]));
            let mut found = vec![0x5A; size(columns, strides[1])];
            let mut block = Block { from: 3, from_stride: 0, to: 7, to_stride: 0, rows, columns };
            (block.from_stride, block.to_stride) = (signs[0] * strides[0], signs[1] * strides[1]);
            block.from += if signs[0] < 0 { strides[0] * (rows - 1) } else { 0 };
            block.to += if signs[1] < 0 { strides[1] * (columns - 1) } else { 0 };
            let mut plain = found.clone();
            transpose(&source, &mut found, bytes, &block).unwrap();
            wanted(&source, &mut plain, bytes, &block);
            assert!(
                found == plain,
                "{rows} x {columns} of {bytes} bytes, {apart} apart, {signs:?}"
            );
        }
    }
}

#[test]
fn an_access_outside_a_buffer_is_refused() {
    let (rows, columns) = (300, 700);
    let block =
        Block { from: 0, from_stride: columns * 4, to: 0, to_stride: rows * 4, rows, columns };
    let mut target = vec![0; 300 * 700 * 4];
    let source = vec![0; target.len()];
    assert_eq!(transpose(&source[1..], &mut target, 4, &block), None);
    assert_eq!(transpose(&source, &mut target[1..], 4, &block), None);
    assert_eq!(transpose(&source, &mut target, 4, &block), Some(()));
}
