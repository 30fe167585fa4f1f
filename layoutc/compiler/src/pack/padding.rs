//! Fill value of padding, as bytes, and the runs of a buffer that hold no element.

use super::boxes::StridedBox;
use super::chains::Chains;
use super::nest::{Loop, for_each, forward, simplify};
use super::region::{Level, Region, nest};
use super::{Direction, PackError, Packing};
use crate::base::fill;
use crate::machine::CPU;
use crate::model::Tensor;

/// Size of the block of repeated patterns that a fill copies, in bytes.
const BLOCK: usize = 4096;

/// Bytes that are repeated to fill padding: those of one element with the fill value of the tensor, or of the smallest
/// group of packed elements that is a whole number of bytes.
///
/// # Errors
/// [`PackError::Unsupported`] if the element type cannot represent the fill value.
pub(super) fn pattern(tensor: &Tensor) -> Result<Vec<u8>, PackError> {
    let dtype = tensor.dtype;
    let size = |bytes: u32| usize::try_from(bytes).map_err(|_| PackError::TooLarge);
    let unsupported = |_| PackError::Unsupported;
    if let Some(packing) = Packing::new(dtype.element_bits(), tensor.high_first) {
        let bits = fill::bits(dtype, tensor.fill).map_err(unsupported)?;
        let bits = u8::try_from(bits).map_err(|_| PackError::Unsupported)?;
        let (elements, bytes) = dtype.byte_group();
        let mut group = vec![0; size(bytes)?];
        for k in 0..size(elements)? {
            packing.store(&mut group, k, bits).ok_or(PackError::Outside)?;
        }
        return Ok(group);
    }
    // Bytes that the fill value lacks are 0, such as the imaginary part of `c128`.
    let mut lane = fill::bytes(dtype, tensor.fill).map_err(unsupported)?;
    lane.resize(size(dtype.scalar_bits().div_ceil(8))?.max(lane.len()), 0);
    Ok(lane.repeat(size(dtype.lanes)?))
}

/// Fills `bytes` with copies of `pattern`, the last one possibly in part.
pub(super) fn repeat(pattern: &[u8], bytes: &mut [u8]) {
    if let [first, rest @ ..] = pattern
        && rest.iter().all(|byte| byte == first)
    {
        return bytes.fill(*first);
    }
    let width = pattern.len().max(1);
    let (block, rest) = bytes.split_at_mut((BLOCK - BLOCK % width).max(width).min(bytes.len()));
    for part in block.chunks_mut(width) {
        part.iter_mut().zip(pattern).for_each(|(to, from)| *to = *from);
    }
    for part in rest.chunks_mut(block.len().max(1)) {
        part.copy_from_slice(block.get(..part.len()).unwrap_or_default());
    }
}

/// Equal runs of padding in the buffer of a layout: `loops` over the runs, the offset of the first one, and their
/// length, in units.
#[derive(Debug, Clone)]
struct PaddingRuns {
    loops: Vec<Loop>,
    start: i64,
    length: i64,
}

impl PaddingRuns {
    fn count(&self) -> i64 {
        self.loops.iter().map(|level| level.count).product()
    }
}

/// Fills the padding of `window`, the part of the buffer of the layout from offset `start` on that belongs to `region`.
/// `start` counts units of `unit` bytes. Fills the whole window if the padding touches half of its cache lines, or if
/// the digits do not nest. `None` if an access is outside the window.
pub(super) fn fill_padding(
    (chains, region): (&Chains, &Region),
    pattern: &[u8],
    window: &mut [u8],
    (start, unit): (i64, i64),
) -> Option<()> {
    let levels = region.levels(Direction::Pack);
    let mut all = gaps(chains, &levels);
    region.outside(&mut |digits: &StridedBox| {
        let loops = digits.loops.iter().map(|level| Loop { from: level.to, ..*level });
        let (mut loops, [_, mut start]) = (loops.collect::<Vec<_>>(), digits.start);
        forward(&mut loops, [&mut 0, &mut start]);
        all.push(PaddingRuns { loops, start, length: 1 });
    });
    let line = i64::try_from(CPU.line_bytes).ok()?;
    let mut touched = 0_i64;
    for runs in &mut all {
        runs.length = simplify(&mut runs.loops, runs.length);
        let bytes = (runs.length * unit).max(line);
        touched = touched.saturating_add(runs.count().saturating_mul(bytes));
    }
    if touched >= i64::try_from(window.len()).ok()? / 2 || !nest(&levels) {
        repeat(pattern, window);
        return Some(());
    }
    for PaddingRuns { loops, start: first, length } in all {
        let bytes = usize::try_from(length * unit).ok()?;
        for_each(&loops, [0, first - start], |[_, to]| {
            // A gap behind the last element is shorter than the others.
            let to = usize::try_from(to * unit).ok()?.min(window.len());
            let end = to.checked_add(bytes)?.min(window.len());
            repeat(pattern, window.get_mut(to..end)?);
            Some(())
        })?;
    }
    Some(())
}

/// Runs that no digit value addresses: before the first element of the buffer, and behind the values of a digit whose
/// span is smaller than the next stride. `levels` are those of the region in the buffer of the layout.
fn gaps(chains: &Chains, levels: &[Level]) -> Vec<PaddingRuns> {
    let mut all = Vec::new();
    let first = chains.first();
    if first > 0 && levels.iter().all(|level| level.values[0] == 0) {
        all.push(PaddingRuns { loops: Vec::new(), start: 0, length: first });
    }
    let mut span = 1;
    for (k, next) in levels.iter().map(Some).chain([None]).enumerate() {
        let end = next.map_or(chains.slots - first, |level| level.stride);
        let (faster, slower) = levels.split_at(k.min(levels.len()));
        let is_at_end = faster.iter().all(|level| level.values[1] == level.extent);
        if end > span && is_at_end {
            let start = slower.iter().map(|level| level.values[0] * level.stride).sum::<i64>();
            let along = |level: &Level| Loop {
                count: level.values[1] - level.values[0],
                from: level.stride,
                to: level.stride,
            };
            let loops = slower.iter().map(along).collect();
            all.push(PaddingRuns { loops, start: first + start + span, length: end - span });
        }
        if let Some(level) = next {
            span = level.stride * level.extent;
        }
    }
    all
}
