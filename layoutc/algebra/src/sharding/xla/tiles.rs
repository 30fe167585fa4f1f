//! Parser of tiles and their devices, such as `[4,2]<=[2,2,2]T(2,1,0)` or `[2,2]0,1,2,3`.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use super::parser::{ShardingParser, SpannedInt, devices, few, product};
use crate::expr::parse::Span;
use crate::notation::NotationFault;
use crate::sharding::iota::IotaOrder;
use crate::sharding::order::DeviceOrder;

/// Value of `devices=`: the numbers of tiles, and the devices of the tiles in row-major order.
pub(super) struct TileAssignment {
    /// Number of tiles along each axis. The trailing numbers may be sizes of subgroups.
    pub(super) counts: Vec<i64>,
    pub(super) counts_span: Span,
    pub(super) order: DeviceOrder,
    pub(super) span: Span,
}

impl ShardingParser<'_> {
    /// Parses the value of `devices=`, such as `[4,2]<=[8]`. The numbers of tiles and of devices must agree.
    pub(super) fn tiles(&mut self) -> Result<TileAssignment, NotationFault> {
        self.blank();
        let start = self.cursor.at();
        self.expect("[")?;
        let counts = self.list("]", |parser| parser.size("tiles"))?;
        let counts_span = start..self.cursor.at();
        few(counts.len(), "axes", &counts_span)?;
        let counts: Vec<i64> = counts.into_iter().map(|(count, _)| count).collect();
        let tiles = product(counts.iter().copied(), &counts_span)?;
        let order = if self.eat("<=") {
            self.expect("[")?;
            self.iota(tiles, "tiles")?
        } else {
            if !self.peek().is_some_and(|c| c.is_ascii_digit() || c == '-') {
                return Err(self.cursor.expected("`<=` or a device"));
            }
            self.devices(tiles, "tiles")?
        };
        Ok(TileAssignment { counts, counts_span, order, span: start..self.cursor.at() })
    }

    /// Parses an iota such as `2,2,2]T(2,1,0)` after its opening bracket. It must have `count` devices. `many` is the
    /// plural noun that `count` counts, such as `tiles`, for a fault.
    pub(super) fn iota(&mut self, count: i64, many: &str) -> Result<DeviceOrder, NotationFault> {
        let start = self.cursor.at() - 1;
        let sizes = self.list("]", |parser| parser.size("devices"))?;
        let span = start..self.cursor.at();
        few(sizes.len(), "sizes", &span)?;
        let sizes: Vec<i64> = sizes.into_iter().map(|(size, _)| size).collect();
        let all = product(sizes.iter().copied(), &span)?;
        if all != count {
            let shown = devices(all);
            let fault = NotationFault::value(span, format!("{shown} for {count} {many}"));
            return Err(fault.help(format!("write sizes whose product is {count}")));
        }
        let transpose = match sizes.len() {
            1 => {
                let at = self.cursor.at();
                if self.eat("T") {
                    let fault = NotationFault::syntax(at..at + 1, "one size has no order");
                    return Err(fault.help("leave the `T(…)` out"));
                }
                vec![0]
            }
            _ => self.transpose(sizes.len(), &span)?,
        };
        IotaOrder::new(&sizes, &transpose).map(DeviceOrder::Iota).ok_or_else(|| {
            NotationFault::value(span, "the order is none of these sizes")
                .help("write each position once")
        })
    }

    /// Parses the permutation `T(2,1,0)` of an iota with `rank` sizes; a fault if it is missing, or is not a
    /// permutation of `0..rank`. `sizes` is the byte range of the sizes, for a fault.
    fn transpose(&mut self, rank: usize, sizes: &Span) -> Result<Vec<usize>, NotationFault> {
        self.blank();
        let start = self.cursor.at();
        let help = || format!("write each of 0 to {} once, the major one first", rank - 1);
        if !self.cursor.eat("T") {
            let fault = self.cursor.expected("`T(`");
            let product = "or one size, their product, where nothing is transposed";
            return Err(fault.help(format!("write their order, `T(1,0)`, {product}")));
        }
        self.expect("(")?;
        let entries = self.list(")", |parser| parser.number("a position"))?;
        let span = start..self.cursor.at();
        let mut places: Vec<usize> = Vec::with_capacity(entries.len());
        for (value, span) in &entries {
            let place = usize::try_from(*value).ok().filter(|place| *place < rank);
            let Some(place) = place else {
                let message = format!("position {value} is out of range for {rank} sizes");
                return Err(NotationFault::value(span.clone(), message).help(help()));
            };
            if places.contains(&place) {
                let message = format!("{value} occurs twice");
                return Err(NotationFault::value(span.clone(), message).help(help()));
            }
            places.push(place);
        }
        if places.len() != rank {
            let shown = places.len();
            let message = format!("{shown} of {rank} positions are in the order");
            let fault = NotationFault::value(span.start.max(sizes.end)..span.end, message);
            return Err(fault.help(help()));
        }
        Ok(places)
    }

    /// Parses a list of devices such as `0,1,2,3`, which must be a permutation of `0..count`. `many` is the plural noun
    /// that `count` counts, such as `tiles`, for a fault.
    pub(super) fn devices(&mut self, count: i64, many: &str) -> Result<DeviceOrder, NotationFault> {
        self.blank();
        let start = self.cursor.at();
        let mut list: Vec<SpannedInt> = Vec::new();
        loop {
            list.push(self.number("a device")?);
            self.blank();
            if !self.cursor.eat(",") {
                break;
            }
        }
        let end = list.last().map_or(start, |(_, span)| span.end);
        let found = i64::try_from(list.len()).unwrap_or(i64::MAX);
        if found != count {
            let message = format!("{} for {count} {many}", devices(found));
            let fault = NotationFault::value(start..end, message);
            return Err(fault.help(format!("write {}, one for each", devices(count))));
        }
        let help = || format!("write each of 0 to {} once", count - 1);
        let mut taken = vec![false; list.len()];
        for (device, span) in &list {
            let Some(place) = usize::try_from(*device).ok().and_then(|k| taken.get_mut(k)) else {
                let message = format!("device {device} is none of the {count}");
                return Err(NotationFault::value(span.clone(), message).help(help()));
            };
            if core::mem::replace(place, true) {
                let message = format!("device {device} occurs twice");
                return Err(NotationFault::value(span.clone(), message).help(help()));
            }
        }
        Ok(DeviceOrder::List(list.into_iter().map(|(device, _)| device).collect()))
    }
}
