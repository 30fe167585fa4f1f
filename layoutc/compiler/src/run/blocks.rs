//! Primitives that move many elements: copies of runs, strided copies, fills, and block descriptors for transposes.
//!
//! Offsets and strides are in bytes unless stated otherwise. A primitive returns `None` if an access is outside a
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

/// Strided copy of `count` elements. Offsets and strides are in elements.
#[derive(Debug, Clone, Copy)]
pub(super) struct Strided {
    pub(super) from: i64,
    pub(super) from_stride: i64,
    pub(super) to: i64,
    pub(super) to_stride: i64,
    pub(super) count: i64,
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

/// Sets `count` runs of `bytes` bytes to 0, the first at `to`, their starts `stride` bytes apart. Does nothing if
/// `count` or `bytes` is not positive.
pub(super) fn zeros(target: &mut [u8], [mut to, stride, count, bytes]: [i64; 4]) -> Option<()> {
    let Ok(bytes @ 1..) = usize::try_from(bytes) else { return Some(()) };
    for _ in 0..count {
        target.get_mut(window(to, bytes)?)?.fill(0);
        to = to.checked_add(stride)?;
    }
    Some(())
}

/// Copies runs; does nothing if `count` or `bytes` is not positive.
pub(super) fn runs(source: &[u8], target: &mut [u8], runs: &Runs) -> Option<()> {
    match runs.bytes {
        4 => runs_of::<4>(source, target, runs),
        8 => runs_of::<8>(source, target, runs),
        16 => runs_of::<16>(source, target, runs),
        32 => runs_of::<32>(source, target, runs),
        64 => runs_of::<64>(source, target, runs),
        128 => runs_of::<128>(source, target, runs),
        bytes => each(runs, |from, to| copy(source, target, from, to, bytes)),
    }
}

/// Copies runs of `N` bytes. The constant size lets the compiler inline the copy instead of calling `memcpy`.
fn runs_of<const N: usize>(source: &[u8], target: &mut [u8], runs: &Runs) -> Option<()> {
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

/// Writes `element` to `count` positions. The first position `to` and the distance `stride` are in elements.
pub(super) fn fill(
    target: &mut [u8],
    element: &[u8],
    to: i64,
    stride: i64,
    count: i64,
) -> Option<()> {
    let width = i64::try_from(element.len()).ok()?;
    if count <= 0 {
        return Some(());
    }
    if stride == 1 {
        let bytes = usize::try_from(count.max(0)).ok()?.checked_mul(element.len())?;
        let target = target.get_mut(window(to.checked_mul(width)?, bytes)?)?;
        match element {
            [byte] => target.fill(*byte),
            _ => target.chunks_exact_mut(element.len()).for_each(|e| e.copy_from_slice(element)),
        }
        return Some(());
    }
    let mut at = to;
    for _ in 0..count {
        let place = window(at.checked_mul(width)?, element.len())?;
        target.get_mut(place)?.copy_from_slice(element);
        at = at.wrapping_add(stride);
    }
    Some(())
}

/// Copies equally spaced runs. If the offsets and strides are multiples of the length of a run, each run is copied as
/// one element of this size.
pub(super) fn elements(source: &[u8], target: &mut [u8], moves: &Runs) -> Option<()> {
    let whole = |bytes: i64| match bytes.checked_rem(moves.bytes) {
        Some(0) => bytes.checked_div(moves.bytes),
        _ => None,
    };
    let parts = [moves.from, moves.from_stride, moves.to, moves.to_stride].map(whole);
    // A run may consist of several smaller elements, so its offset need not be a multiple of its length.
    let [Some(from), Some(from_stride), Some(to), Some(to_stride)] = parts else {
        return runs(source, target, moves);
    };
    let bytes = usize::try_from(moves.bytes).ok()?;
    let count = moves.count;
    strided(source, target, bytes, &Strided { from, from_stride, to, to_stride, count })
}

/// Copies strided elements of `bytes` bytes each.
pub(super) fn strided(
    source: &[u8],
    target: &mut [u8],
    bytes: usize,
    moves: &Strided,
) -> Option<()> {
    match bytes {
        1 => strided_of::<1>(source, target, moves),
        2 => strided_of::<2>(source, target, moves),
        4 => strided_of::<4>(source, target, moves),
        8 => strided_of::<8>(source, target, moves),
        16 => strided_of::<16>(source, target, moves),
        _ => {
            let width = i64::try_from(bytes).ok()?;
            let all = Runs {
                from: moves.from.checked_mul(width)?,
                from_stride: moves.from_stride.wrapping_mul(width),
                to: moves.to.checked_mul(width)?,
                to_stride: moves.to_stride.wrapping_mul(width),
                count: moves.count,
                bytes: width,
            };
            runs(source, target, &all)
        }
    }
}

fn strided_of<const N: usize>(source: &[u8], target: &mut [u8], moves: &Strided) -> Option<()> {
    let Ok(count) = usize::try_from(moves.count) else { return Some(()) };
    if count == 0 {
        return Some(());
    }
    let (source, target) = (source.as_chunks::<N>().0, target.as_chunks_mut::<N>().0);
    let (from, to) = (usize::try_from(moves.from).ok()?, usize::try_from(moves.to).ok()?);
    let (Ok(from_stride @ 1..), Ok(to_stride @ 1..)) =
        (usize::try_from(moves.from_stride), usize::try_from(moves.to_stride))
    else {
        return one_by_one(source, target, moves);
    };
    let reach = |stride: usize| stride.checked_mul(count - 1)?.checked_add(1);
    let source = source.get(from..from.checked_add(reach(from_stride)?)?)?;
    let target = target.get_mut(to..to.checked_add(reach(to_stride)?)?)?;
    match (from_stride, to_stride) {
        (1, 1) => target.copy_from_slice(source),
        (_, 1) => {
            let elements = source.iter().step_by(from_stride);
            target.iter_mut().zip(elements).for_each(|(to, from)| *to = *from);
        }
        _ => {
            let elements = source.iter().step_by(from_stride);
            target.iter_mut().step_by(to_stride).zip(elements).for_each(|(to, from)| *to = *from);
        }
    }
    Some(())
}

/// Copies elements one at a time, for strides that are not positive: a reversed axis, or a broadcast (stride 0).
fn one_by_one<const N: usize>(
    source: &[[u8; N]],
    target: &mut [[u8; N]],
    moves: &Strided,
) -> Option<()> {
    let (mut from, mut to) = (moves.from, moves.to);
    for _ in 0..moves.count {
        let element = source.get(usize::try_from(from).ok()?)?;
        *target.get_mut(usize::try_from(to).ok()?)? = *element;
        from = from.wrapping_add(moves.from_stride);
        to = to.wrapping_add(moves.to_stride);
    }
    Some(())
}
