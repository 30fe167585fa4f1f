//! Kernels whose work groups move tiles: read in the order of the source, written in the order of the destination.

use layoutc_algebra::expr::{BinOp, Expr as Algebra};

use super::body::{Held, Writer};
use super::digits::Digits;
use super::item::kernel;
use super::staging::stage;
use super::tile::Tile;
use super::wide;
use super::{Home, Items, Kernel, Move, Unaligned};
use crate::plan::arith::{ceil_div, fold, product, sum};
use crate::plan::lower::{PlanError, Scope, lower, multiply, range};
use crate::plan::merge::merge;
use crate::plan::moves::{self, Parts};
use crate::plan::prepare::{fill_bits, fill_constant};
use crate::plan::relayout::both_sides;
use crate::plan::transfer::{Transfer, transfer};
use crate::plan::tree::{Expr, GROUP, Stmt};

/// Work groups at most: each moves one tile after another.
const GROUPS: i64 = 4096;

impl Move<'_, '_> {
    /// The kernels that move tiles; `None` where source or destination is no buffer of whole bytes, or has no digits.
    pub(super) fn tiles(&self, fill_name: &str) -> Result<Option<Vec<Kernel>>, PlanError> {
        let (from, to) = (self.from.context(), self.to.context());
        let images = self.from.image()?.is_some() || self.to.image()?.is_some();
        if images || self.from.is_packed() || self.to.is_packed() {
            return Ok(None);
        }
        let Some(transfer) = self.transfer()? else {
            return Ok(None);
        };
        let symbols = &to.layout.symbols;
        let scope = |var| to.symbol(var).or_else(|| from.symbol(var));
        let digits = Digits::new(&merge(&transfer, symbols)?, symbols);
        let fills = matches!(self.to, Home::Layout(context) if context.fills());
        let over_slots =
            if fills { digits.over_slots(&self.to.slots()?, symbols, &scope)? } else { None };
        let first = if fills && over_slots.is_none() { Some(self.fill(fill_name)?) } else { None };
        let fill = over_slots.as_ref().map(|_| fill_bits(to)).transpose()?;
        let digits = over_slots.unwrap_or(digits);
        let counts = [&from.layout.physical_elements, &to.layout.physical_elements];
        if !digits.stay_near(counts, &scope)? {
            return Ok(None);
        }
        let bytes = i64::from(self.to.dtype().element_bits() / 8);
        let plain = self.tile_kernel(&digits, (bytes, 1), fill)?;
        // Elements that change their type change it one by one.
        let wide = match self.parts.cast {
            None => wide::widen(&digits, bytes, symbols)?,
            Some(_) => None,
        };
        let kernel = match wide {
            None => plain,
            Some((wide, together)) => {
                let kernel = self.tile_kernel(&wide, (bytes, together), fill)?;
                let (alignment_bytes, plain) = (bytes * together, Box::new(plain));
                Kernel { unaligned: Some(Unaligned { alignment_bytes, plain }), ..kernel }
            }
        };
        Ok(Some(first.into_iter().chain([kernel]).collect()))
    }

    /// What moves where; `None` where one of the two sides is no sum of digits.
    fn transfer(&self) -> Result<Option<Transfer>, PlanError> {
        let layout = self.to.context().layout;
        let sides = match (self.from, self.to) {
            (Home::Layout(from), Home::Layout(to)) => {
                both_sides(from.layout, to.layout, self.axes)?
            }
            (Home::Dense(_), _) => {
                moves::sides(layout)?.map(|sides| (sides.logical, sides.physical))
            }
            (_, Home::Dense(_)) => {
                moves::sides(layout)?.map(|sides| (sides.physical, sides.logical))
            }
        };
        let Some((from, to)) = sides else { return Ok(None) };
        Ok(transfer(&from, &to, &layout.logical, &layout.symbols)?)
    }

    /// The kernel over these digits, of elements of so many bytes of which so many are taken as one. With the bits of a
    /// fill value it writes that to slots without an element.
    fn tile_kernel(
        &self,
        digits: &Digits,
        (bytes, together): (i64, i64),
        fill: Option<u64>,
    ) -> Result<Kernel, PlanError> {
        let (from, to) = (self.from.context(), self.to.context());
        let symbols = to.layout.symbols.as_slice();
        let scope = |var| to.symbol(var).or_else(|| from.symbol(var));
        let digits = digits.clone().without_units();
        let tile = Tile::new(&digits, bytes * together, symbols);
        let (tiles, items) = tiles(&digits, &tile, &scope)?;
        let mut parts = self.parts.clone();
        let element = self.element(together, fill.unwrap_or(0));
        let starts = [0, 1].map(|which| {
            let name = format!("{}_start", parts.buffer_name(which));
            parts.local(&name)
        });
        let mut body = Vec::new();
        let buffers = seen(&mut parts, &element, together, &mut body);
        let fill = match fill {
            Some(bits) => {
                let name = parts.fill_name();
                body.push(self.fill_element(&name, &element, together, bits)?);
                Some(name)
            }
            None => None,
        };
        let [tile_name, item] = ["tile", "item"].map(|name| parts.local(name));
        let staging = tile.staged.then(|| stage(&tile, bytes * together));
        let staged = staging.map(|staging| (parts.local("staged"), staging));
        let held = tile.rounds().map(|elements| {
            let [name, round] = ["held", "round"].map(|name| parts.local(name));
            Held { name, round, elements }
        });
        let names = digits.list.iter().map(|digit| parts.local(&digit.name)).collect();
        let mut writer = Writer {
            digits: &digits,
            tile: &tile,
            symbols,
            scope: &scope,
            parts: &mut parts,
            names,
            item,
            buffers,
            starts,
            places: Vec::new(),
            steps: Vec::new(),
            held,
            staged,
            fill,
        };
        body.extend(writer.kernel(&tile_name, tiles, &element)?);
        let mut kernel = kernel(parts, body, vec![items]);
        kernel.group = Some(GROUP);
        Ok(kernel)
    }

    /// The type of what is moved as one.
    fn element(&self, together: i64, fill: u64) -> String {
        let dtype = self.to.dtype();
        if together == 1 { dtype.to_string() } else { wide::element(dtype, together, fill) }
    }

    /// The constant that padding gets.
    fn fill_element(
        &self,
        name: &str,
        element: &str,
        together: i64,
        bits: u64,
    ) -> Result<Stmt, PlanError> {
        let context = self.to.context();
        if together == 1 {
            return fill_constant(context, name);
        }
        Ok(wide::fill_constant(context.tensor.dtype, name, element, bits))
    }
}

/// How many tiles there are, and the items that move them.
fn tiles(digits: &Digits, tile: &Tile, scope: &Scope<'_>) -> Result<(Expr, Items), PlanError> {
    let mut tiles = Algebra::constant(1);
    for (k, digit) in digits.list.iter().enumerate() {
        tiles = product(&tiles, &blocks(&digit.room, tile.block(k), scope)?)?;
    }
    let may_be_none = range(&tiles, scope).low.is_none_or(|low| low <= 0);
    let tiles = lower(&tiles, scope)?;
    let groups = tiles.clone().min(Expr::int(GROUPS));
    let items = Items { count: multiply(groups, Expr::int(GROUP))?, may_be_none };
    Ok((tiles, items))
}

/// What both buffers are called where so many elements are taken as one of this type.
fn seen(parts: &mut Parts<'_>, element: &str, together: i64, body: &mut Vec<Stmt>) -> [String; 2] {
    if together > 1 {
        body.push(Stmt::Comment { text: format!("{together} elements are moved as one.") });
    }
    [0, 1].map(|which| {
        let buffer = parts.buffer_name(which);
        if together == 1 {
            return buffer;
        }
        let name = parts.local(&format!("{buffer}_wide"));
        let (element, written) = (element.to_owned(), which == 1);
        body.push(Stmt::Alias { name: name.clone(), buffer, element, written });
        name
    })
}

/// How many blocks of a size cover so many values; within 32 bits where their number is.
pub(super) fn blocks(room: &Algebra, size: i64, scope: &Scope<'_>) -> Result<Algebra, PlanError> {
    let size = i128::from(size);
    let most = i128::from(i32::MAX);
    let near = |high: i128| high <= most && high.saturating_add(size) > most;
    if size == 1 || room.as_const().is_some() || !range(room, scope).high.is_some_and(near) {
        return Ok(ceil_div(room, size)?);
    }
    let (one, size) = (Algebra::constant(1), Algebra::constant(size));
    let rest = fold(BinOp::Min, &fold(BinOp::Mod, room, &size)?, &one)?;
    Ok(sum(&fold(BinOp::FloorDiv, room, &size)?, &rest)?)
}
