//! Inner kernels of a nest: copies of equally spaced runs, and the block that a transposition moves.
//!
//! Offsets and strides are in bytes unless stated otherwise. A kernel returns `None` if an access is outside a
//! buffer; it may have written some elements by then.

/// Copy of `count` equally spaced runs of `bytes` bytes each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Runs {
    pub(super) from: i64,
    pub(super) from_stride: i64,
    pub(super) to: i64,
    pub(super) to_stride: i64,
    pub(super) count: i64,
    pub(super) bytes: i64,
}

/// Block to transpose: the elements of a row are contiguous in the source, those of a column in the destination.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) from: i64,
    /// Distance between the starts of consecutive rows in the source, in bytes.
    pub(super) from_stride: i64,
    pub(super) to: i64,
    /// Distance between the starts of consecutive columns in the destination, in bytes.
    pub(super) to_stride: i64,
    pub(super) rows: i64,
    pub(super) columns: i64,
}

impl Block {
    /// Sub-block of `rows` by `columns` elements that starts at element `[row, column]`. `bytes` is the size of an
    /// element. `None` if an offset overflows 64 bits.
    pub(super) fn part(
        &self,
        bytes: u32,
        [row, column]: [i64; 2],
        [rows, columns]: [i64; 2],
    ) -> Option<Self> {
        let at = |start: i64, long: i64, stride: i64, short: i64| {
            let bytes = short.checked_mul(i64::from(bytes))?;
            start.checked_add(long.checked_mul(stride)?)?.checked_add(bytes)
        };
        let from = at(self.from, row, self.from_stride, column)?;
        let to = at(self.to, column, self.to_stride, row)?;
        Some(Self { from, to, rows, columns, ..*self })
    }
}

fn window(start: i64, bytes: usize) -> Option<std::ops::Range<usize>> {
    let start = usize::try_from(start).ok()?;
    Some(start..start.checked_add(bytes)?)
}

/// Copies `bytes` bytes from `source[from..]` to `target[to..]`; does nothing if `bytes` is not positive.
pub(super) fn copy(source: &[u8], target: &mut [u8], from: i64, to: i64, bytes: i64) -> Option<()> {
    let Ok(bytes @ 1..) = usize::try_from(bytes) else { return Some(()) };
    let source = source.get(window(from, bytes)?)?;
    target.get_mut(window(to, bytes)?)?.copy_from_slice(source);
    Some(())
}

/// Copies runs; does nothing if `count` or `bytes` is not positive.
pub(super) fn runs(source: &[u8], target: &mut [u8], runs: &Runs) -> Option<()> {
    match runs.bytes {
        1 => runs_of::<1>(source, target, runs),
        2 => runs_of::<2>(source, target, runs),
        3 => runs_of::<3>(source, target, runs),
        4 => runs_of::<4>(source, target, runs),
        6 => runs_of::<6>(source, target, runs),
        8 => runs_of::<8>(source, target, runs),
        12 => runs_of::<12>(source, target, runs),
        16 => runs_of::<16>(source, target, runs),
        24 => runs_of::<24>(source, target, runs),
        32 => runs_of::<32>(source, target, runs),
        64 => runs_of::<64>(source, target, runs),
        128 => runs_of::<128>(source, target, runs),
        bytes => each(runs, |from, to| copy(source, target, from, to, bytes)),
    }
}

/// Copies runs of `N` bytes. The constant size lets the compiler inline the copy instead of calling `memcpy`.
fn runs_of<const N: usize>(source: &[u8], target: &mut [u8], runs: &Runs) -> Option<()> {
    let Ok(count @ 1..) = usize::try_from(runs.count) else { return Some(()) };
    let strides = [runs.from_stride, runs.to_stride].map(usize::try_from);
    let [Ok(from_stride), Ok(to_stride)] = strides else {
        return one_by_one::<N>(source, target, runs);
    };
    if from_stride < N || to_stride < N {
        return one_by_one::<N>(source, target, runs);
    }
    let part = |start: i64, stride: usize| {
        let bytes = stride.checked_mul(count - 1)?.checked_add(N)?;
        window(start, bytes)
    };
    let source = source.get(part(runs.from, from_stride)?)?.chunks(from_stride);
    let target = target.get_mut(part(runs.to, to_stride)?)?.chunks_mut(to_stride);
    for (from, to) in source.zip(target) {
        if let (Some(from), Some(to)) = (from.first_chunk::<N>(), to.first_chunk_mut::<N>()) {
            *to = *from;
        }
    }
    Some(())
}

/// Copies runs of `N` bytes with strides of any sign: a reversed axis, or a broadcast (stride 0).
fn one_by_one<const N: usize>(source: &[u8], target: &mut [u8], runs: &Runs) -> Option<()> {
    each(runs, |from, to| {
        let run = source.get(usize::try_from(from).ok()?..)?.first_chunk::<N>()?;
        *target.get_mut(usize::try_from(to).ok()?..)?.first_chunk_mut::<N>()? = *run;
        Some(())
    })
}

fn each(runs: &Runs, mut one: impl FnMut(i64, i64) -> Option<()>) -> Option<()> {
    let (mut from, mut to) = (runs.from, runs.to);
    for _ in 0..runs.count {
        one(from, to)?;
        from = from.wrapping_add(runs.from_stride);
        to = to.wrapping_add(runs.to_stride);
    }
    Some(())
}
