//! Kernels whose work groups move tiles: read in the order of the source, written in the order of the destination.

use layoutc_algebra::expr::{BinOp, Expr as Algebra};
use layoutc_algebra::layout::Symbol;

use super::digits::{Digit, Digits};
use super::staging::{Staging, stage};
use super::tile::Tile;
use super::wide;
use super::{Home, Items, Kernel, Move, Unaligned};
use crate::plan::arith::{ceil_div, fold, is_multiple, product, sum};
use crate::plan::kernel::item::kernel;
use crate::plan::lower::{PlanError, Scope, add, literal, lower, multiply, range};
use crate::plan::merge::merge;
use crate::plan::moves::{self, Parts};
use crate::plan::prepare::{fill_bits, fill_constant};
use crate::plan::relayout::both_sides;
use crate::plan::transfer::{Transfer, transfer};
use crate::plan::tree::{Among, Compare, Expr, GROUP, Operand, Stmt};

/// Work groups at most: each moves one tile after another.
const GROUPS: i64 = 4096;

impl Move<'_, '_> {
    /// The kernels that move tiles; `None` where source or destination is no buffer of whole bytes, or has no digits.
    pub(super) fn tiles(&self, fill_name: &str) -> Result<Option<Vec<Kernel>>, PlanError> {
        let (from, to) = (self.from.context(), self.to.context());
        let images = self.from.image()?.is_some() || self.to.image()?.is_some();
        if images || to.is_packed() || from.tensor.dtype != to.tensor.dtype {
            return Ok(None);
        }
        let Some(transfer) = self.transfer()? else {
            return Ok(None);
        };
        let symbols = &to.layout.symbols;
        let scope = |var| to.symbol(var).or_else(|| from.symbol(var));
        let digits = Digits::new(&merge(&transfer, symbols)?, symbols);
        let fills = matches!(self.to, Home::Layout(context) if context.fills());
        let over_slots = match fills {
            true => digits.over_slots(&self.to.slots()?, symbols, &scope)?,
            false => None,
        };
        let separately = fills && over_slots.is_none();
        let filled = over_slots.is_some();
        let digits = over_slots.unwrap_or(digits);
        let counts = [&from.layout.physical_elements, &to.layout.physical_elements];
        if !digits.stay_near(counts, &scope)? {
            return Ok(None);
        }
        let mut kernels = Vec::new();
        if separately {
            kernels.push(self.fill(fill_name)?);
        }
        let bytes = i64::from(to.tensor.dtype.element_bits() / 8);
        let plain = |digits: &Digits| self.tile_kernel(digits, (bytes, 1), filled);
        kernels.push(match wide::widen(&digits, bytes, symbols)? {
            None => plain(&digits)?,
            Some((wide, together)) => {
                let mut kernel = self.tile_kernel(&wide, (bytes, together), filled)?;
                let alignment_bytes = bytes * together;
                let plain = Box::new(plain(&digits)?);
                kernel.unaligned = Some(Unaligned { alignment_bytes, plain });
                kernel
            }
        });
        Ok(Some(kernels))
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

    /// The kernel over these digits, of elements of so many bytes of which so many are taken as one; with `filled`, it
    /// writes the fill value to slots without an element.
    fn tile_kernel(
        &self,
        digits: &Digits,
        (bytes, together): (i64, i64),
        filled: bool,
    ) -> Result<Kernel, PlanError> {
        let (from, to) = (self.from.context(), self.to.context());
        let symbols = to.layout.symbols.as_slice();
        let scope = |var| to.symbol(var).or_else(|| from.symbol(var));
        let digits = digits.clone().without_units();
        let tile = Tile::new(&digits, bytes * together, symbols);
        let tiles =
            digits.digits.iter().enumerate().try_fold(Algebra::constant(1), |all, (k, d)| {
                Ok::<Algebra, PlanError>(product(&all, &blocks(&d.room, tile.block(k), &scope)?)?)
            })?;
        let may_be_none = range(&tiles, &scope).low.is_none_or(|low| low <= 0);
        let tiles = lower(&tiles, &scope)?;
        let groups = tiles.clone().min(Expr::int(GROUPS));
        let items = Items { count: multiply(groups, Expr::int(GROUP))?, may_be_none };

        let mut parts = self.parts.clone();
        let element = self.element(together, filled)?;
        let buffers = [0, 1].map(|which| parts.buffer_name(which));
        let mut body = Vec::new();
        let mut seen = buffers.clone();
        if together > 1 {
            body.push(Stmt::Comment { text: format!("{together} elements are moved as one.") });
            for (which, buffer) in buffers.iter().enumerate() {
                let name = parts.local(&format!("{buffer}_wide"));
                let (buffer, element, written) = (buffer.clone(), element.clone(), which == 1);
                body.push(Stmt::Alias { name: name.clone(), buffer, element, written });
                if let Some(seen) = seen.get_mut(which) {
                    *seen = name;
                }
            }
        }
        let staging = tile.staged.then(|| stage(&tile, bytes * together));
        let [from_buffer, to_buffer] = seen;
        let starts = buffers.map(|buffer| parts.local(&format!("{buffer}_start")));
        let [tile_name, item] = ["tile", "item"].map(|name| parts.local(name));
        let staged = staging.map(|staging| (parts.local("staged"), staging));
        let fill = if filled {
            Some(self.fill_in(&mut parts, &element, together, &mut body)?)
        } else {
            None
        };
        let names = digits.digits.iter().map(|digit| parts.local(&digit.name)).collect();
        let mut writer = Writer {
            digits: &digits,
            tile: &tile,
            symbols,
            scope: &scope,
            parts: &mut parts,
            names,
            item,
            buffers: [from_buffer, to_buffer],
            starts,
            places: Vec::new(),
            staged,
            fill,
        };
        body.extend(writer.kernel(&tile_name, tiles, &element)?);
        let mut kernel = kernel(parts, body, vec![items]);
        kernel.group = Some(GROUP);
        Ok(kernel)
    }

    /// The type of what is moved as one.
    fn element(&self, together: i64, filled: bool) -> Result<String, PlanError> {
        let context = self.to.context();
        let fill = if filled { fill_bits(context)? } else { 0 };
        Ok(match together {
            1 => context.tensor.dtype.to_string(),
            _ => wide::element(context.tensor.dtype, together, fill),
        })
    }

    /// The constant that padding gets.
    fn fill_in(
        &self,
        parts: &mut Parts<'_>,
        element: &str,
        together: i64,
        body: &mut Vec<Stmt>,
    ) -> Result<String, PlanError> {
        let context = self.to.context();
        let name = parts.fill_name();
        body.push(match together {
            1 => fill_constant(context, &name)?,
            _ => wide::fill_constant(context.tensor.dtype, &name, element, fill_bits(context)?),
        });
        Ok(name)
    }
}

/// A condition on the digits inside a tile: the sum of digits times their weights is below a bound, or not.
struct Bound {
    terms: Vec<(usize, i128)>,
    op: Compare,
    bound: Expr,
}

struct Writer<'w, 'n> {
    digits: &'w Digits,
    tile: &'w Tile,
    symbols: &'w [Symbol],
    scope: &'w Scope<'w>,
    parts: &'w mut Parts<'n>,
    /// What each digit is called: inside the tile, from 0.
    names: Vec<String>,
    /// The number of an element in the tile.
    item: String,
    buffers: [String; 2],
    /// What the tile's first place is called in both.
    starts: [String; 2],
    /// The tile's first place in both.
    places: Vec<Expr>,
    /// The tile in local memory.
    staged: Option<(String, Staging)>,
    /// The constant that slots without an element get.
    fill: Option<String>,
}

impl Writer<'_, '_> {
    fn kernel(&mut self, tile: &str, tiles: Expr, element: &str) -> Result<Vec<Stmt>, PlanError> {
        let mut body = Vec::new();
        if let Some((name, staging)) = &self.staged {
            if staging.padding > 0 {
                let between = if staging.padding == 1 { "is an element" } else { "are elements" };
                let text = format!(
                    "Between rows of the tile {between} left free, so that no two items ask the same bank at once."
                );
                body.push(Stmt::Comment { text });
            }
            let (name, element, elements) = (name.clone(), element.to_owned(), staging.elements);
            body.push(Stmt::DeclareLocal { name, element, elements });
        }
        let (starts, digit_starts) = self.starts(tile)?;
        let mut inside = starts;
        let elements = self.bounds(&digit_starts, &mut inside)?;
        let slots =
            if self.fill.is_some() { self.slots(&digit_starts, &mut inside)? } else { Vec::new() };
        let by_to = self.tile.inside(&self.tile.by_to);
        if self.staged.is_some() {
            let by_from = self.tile.inside(&self.tile.by_from);
            inside.push(comment("Read in the order of the source."));
            inside.push(self.read(&by_from, &elements)?);
            inside.push(Stmt::Barrier);
            inside.push(comment("Write in the order of the destination."));
            inside.push(self.write(&by_to, &elements, slots)?);
            inside.push(Stmt::Barrier);
        } else {
            inside.push(self.write(&by_to, &elements, slots)?);
        }
        body.push(comment(&self.told()));
        let name = tile.to_owned();
        body.push(Stmt::Share { name, to: tiles, among: Among::Groups, body: inside });
        Ok(body)
    }

    /// What a tile is, for a comment: the slowest digit of the destination first.
    fn told(&self) -> String {
        let inside = self.tile.inside(&self.tile.by_to);
        let digit = |k: &usize| {
            let name = self.digits.digits.get(*k).map_or("", |digit| digit.name.as_str());
            format!("{} of {name}", self.tile.block(*k))
        };
        match inside.as_slice() {
            [] => "The groups share the tiles, of one element each.".to_owned(),
            _ => {
                let digits: Vec<String> = inside.iter().rev().map(digit).collect();
                format!("The groups share the tiles: {}.", digits.join(" by "))
            }
        }
    }

    /// The first value of each digit in a tile, and where the tile starts in both buffers.
    fn starts(&mut self, tile: &str) -> Result<(Vec<Stmt>, Vec<Expr>), PlanError> {
        let mut body = Vec::new();
        let mut starts = vec![Expr::int(0); self.digits.digits.len()];
        let mut below = Algebra::constant(1);
        let several = |k: &usize| self.blocks(*k).is_ok_and(|blocks| blocks.as_const() != Some(1));
        let order: Vec<usize> = self.tile.by_to.iter().copied().filter(several).collect();
        for (place, k) in order.iter().enumerate() {
            let blocks = self.blocks(*k)?;
            let mut value = Expr::name(tile);
            if below.as_const() != Some(1) {
                let below = lower(&below, self.scope)?;
                value = Expr::Div { a: Box::new(value), b: Box::new(below) };
            }
            if place + 1 < order.len() {
                let blocks = lower(&blocks, self.scope)?;
                value = Expr::Mod { a: Box::new(value), b: Box::new(blocks) };
            }
            value = multiply(value, Expr::int(self.tile.block(*k)))?;
            let name = self.names.get(*k).cloned().unwrap_or_default();
            let name = self.parts.local(&format!("{name}_start"));
            if let Some(start) = starts.get_mut(*k) {
                *start = Expr::name(&name);
            }
            body.push(Stmt::Let { name, value });
            below = product(&below, &blocks)?;
        }
        let sides: [(fn(&Digit) -> &Algebra, &Algebra); 2] =
            [(|digit| &digit.from, &self.digits.from), (|digit| &digit.to, &self.digits.to)];
        let mut places = Vec::new();
        for ((stride, constant), name) in sides.into_iter().zip(&self.starts) {
            let mut value = Expr::int(0);
            for (digit, start) in self.digits.digits.iter().zip(&starts) {
                value = add(value, multiply(start.clone(), lower(stride(digit), self.scope)?)?)?;
            }
            value = add(value, lower(constant, self.scope)?)?;
            if !matches!(value, Expr::Int { .. } | Expr::Name { .. }) {
                body.push(Stmt::Let { name: name.clone(), value });
                value = Expr::name(name);
            }
            places.push(value);
        }
        self.places = places;
        Ok((body, starts))
    }

    /// How many blocks cover a digit.
    fn blocks(&self, k: usize) -> Result<Algebra, PlanError> {
        let Some(digit) = self.digits.digits.get(k) else { return Ok(Algebra::constant(1)) };
        blocks(&digit.room, self.tile.block(k), self.scope)
    }

    /// Whether a tile may reach beyond the values of a digit.
    fn breaks_off(&self, k: usize, digit: &Digit) -> bool {
        !is_multiple(&digit.room, i128::from(self.tile.block(k)), self.symbols)
    }

    /// The conditions under which a place of the tile is an element.
    fn bounds(&mut self, starts: &[Expr], body: &mut Vec<Stmt>) -> Result<Vec<Bound>, PlanError> {
        let mut bounds = Vec::new();
        for (k, digit) in self.digits.digits.iter().enumerate() {
            let ends =
                self.digits.chains.get(digit.chain).is_some_and(|chain| chain.high.is_some());
            let heavier = |other: &Digit| other.chain == digit.chain && other.weight > digit.weight;
            let top = !self.digits.digits.iter().any(heavier);
            let reaches = digit.room != digit.extent || self.breaks_off(k, digit);
            // The end of a chain bounds its most significant digit.
            if digit.lead > 0 {
                let lead = literal(digit.lead)?;
                bounds.push((vec![(k, 1)], Compare::Ge, lead, format!("{}_lead", digit.name)));
            }
            if reaches && !(ends && top) {
                let end = sum(&digit.extent, &Algebra::constant(digit.lead))?;
                let end = lower(&end, self.scope)?;
                bounds.push((vec![(k, 1)], Compare::Lt, end, format!("{}_end", digit.name)));
            }
        }
        for (c, chain) in self.digits.chains.iter().enumerate() {
            let of_chain = self.digits.digits.iter().enumerate().filter(|(_, d)| d.chain == c);
            let terms: Vec<(usize, i128)> = of_chain.map(|(k, d)| (k, d.weight)).collect();
            let heaviest = terms.iter().max_by_key(|(_, weight)| *weight);
            let Some(top) = heaviest.and_then(|(k, _)| self.digits.digits.get(*k)) else {
                continue;
            };
            let sides = [(&chain.high, Compare::Lt, "limit"), (&chain.low, Compare::Ge, "begin")];
            for (edge, op, what) in sides {
                if let Some(edge) = edge {
                    let edge = lower(edge, self.scope)?;
                    bounds.push((terms.clone(), op, edge, format!("{}_{what}", top.name)));
                }
            }
        }
        bounds.into_iter().map(|bound| self.bound(bound, starts, body)).collect()
    }

    /// The conditions under which a place of the tile is a slot.
    fn slots(&mut self, starts: &[Expr], body: &mut Vec<Stmt>) -> Result<Vec<Bound>, PlanError> {
        let mut bounds = Vec::new();
        for (k, digit) in self.digits.digits.iter().enumerate() {
            if self.breaks_off(k, digit) {
                let room = lower(&digit.room, self.scope)?;
                bounds.push((vec![(k, 1)], Compare::Lt, room, format!("{}_room", digit.name)));
            }
        }
        if let Some(end) = &self.digits.end {
            let step = |(k, digit): (usize, &Digit)| Some((k, digit.to.as_const()?));
            let terms = self.digits.digits.iter().enumerate().filter_map(step).collect();
            bounds.push((terms, Compare::Lt, lower(end, self.scope)?, "slots_end".to_owned()));
        }
        bounds.into_iter().map(|bound| self.bound(bound, starts, body)).collect()
    }

    /// A condition on digits, for the part of them that lies inside the tile.
    fn bound(
        &mut self,
        (terms, op, mut bound, name): (Vec<(usize, i128)>, Compare, Expr, String),
        starts: &[Expr],
        body: &mut Vec<Stmt>,
    ) -> Result<Bound, PlanError> {
        for (k, weight) in &terms {
            let start = starts.get(*k).cloned().unwrap_or(Expr::int(0));
            bound = add(bound, multiply(start, literal(-*weight)?)?)?;
        }
        if !matches!(bound, Expr::Int { .. } | Expr::Name { .. }) {
            let name = self.parts.local(&name);
            body.push(Stmt::Let { name: name.clone(), value: bound });
            bound = Expr::name(&name);
        }
        Ok(Bound { terms, op, bound })
    }

    /// From the source into local memory.
    fn read(&self, order: &[usize], elements: &[Bound]) -> Result<Stmt, PlanError> {
        let Some((staged, staging)) = &self.staged else { return Err(PlanError::Scope) };
        let [from, _] = &self.buffers;
        let value = self.load(from, self.place(0, |digit| &digit.from)?);
        let store = self.store(staged, self.local(staging)?, value);
        let body = self.when(elements, vec![store], Vec::new())?;
        self.share(order, body)
    }

    /// Into the destination: from local memory, or from the source.
    fn write(
        &self,
        order: &[usize],
        elements: &[Bound],
        slots: Vec<Bound>,
    ) -> Result<Stmt, PlanError> {
        let [from, to] = &self.buffers;
        let value = match &self.staged {
            Some((staged, staging)) => self.load(staged, self.local(staging)?),
            None => self.load(from, self.place(0, |digit| &digit.from)?),
        };
        let index = self.place(1, |digit| &digit.to)?;
        let store = self.store(to, index.clone(), value);
        let otherwise = self
            .fill
            .iter()
            .map(|fill| self.store(to, index.clone(), Operand::Element { name: fill.clone() }));
        let mut body = self.when(elements, vec![store], otherwise.collect())?;
        body = self.when(&slots, body, Vec::new())?;
        self.share(order, body)
    }

    fn load(&self, buffer: &str, index: Expr) -> Operand {
        Operand::Load { buffer: buffer.to_owned(), index, through: None }
    }

    fn store(&self, buffer: &str, index: Expr, value: Operand) -> Stmt {
        Stmt::Store { buffer: buffer.to_owned(), index, value, through: None }
    }

    /// The offset in one of the buffers.
    fn place(&self, which: usize, stride: fn(&Digit) -> &Algebra) -> Result<Expr, PlanError> {
        let mut place = self.places.get(which).cloned().ok_or(PlanError::Scope)?;
        for (k, digit) in self.digits.digits.iter().enumerate() {
            let step = lower(stride(digit), self.scope)?;
            place = add(place, multiply(self.digit(k), step)?)?;
        }
        Ok(place)
    }

    /// The place in local memory.
    fn local(&self, staging: &Staging) -> Result<Expr, PlanError> {
        staging.strides.iter().enumerate().try_fold(Expr::int(0), |place, (k, stride)| {
            add(place, multiply(self.digit(k), Expr::int(*stride))?)
        })
    }

    /// The value of a digit inside the tile.
    fn digit(&self, k: usize) -> Expr {
        match self.names.get(k) {
            Some(name) if self.tile.block(k) > 1 => Expr::name(name),
            _ => Expr::int(0),
        }
    }

    fn when(
        &self,
        bounds: &[Bound],
        body: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    ) -> Result<Vec<Stmt>, PlanError> {
        let mut args = Vec::new();
        for Bound { terms, op, bound } in bounds {
            let mut sum = Expr::int(0);
            for (k, weight) in terms {
                sum = add(sum, multiply(self.digit(*k), literal(*weight)?)?)?;
            }
            args.push(Expr::compare(*op, sum, bound.clone()));
        }
        let condition = match args.len() {
            0 => return Ok(body),
            1 => args.swap_remove(0),
            _ => Expr::All { args },
        };
        Ok(vec![Stmt::If { condition, body, otherwise }])
    }

    /// The loop over the elements of a tile in an order of its digits.
    fn share(&self, order: &[usize], body: Vec<Stmt>) -> Result<Stmt, PlanError> {
        let to = Expr::int(self.tile.elements());
        let name = |k: &usize| self.names.get(*k).cloned().unwrap_or_default();
        let (among, mut inside) = (Among::Items, Vec::new());
        if let [only] = order {
            return Ok(Stmt::Share { name: name(only), to, among, body });
        }
        let mut below = 1;
        for (place, k) in order.iter().enumerate() {
            let mut value = Expr::name(&self.item);
            if below > 1 {
                value = Expr::Div { a: Box::new(value), b: Box::new(Expr::int(below)) };
            }
            let block = self.tile.block(*k);
            if place + 1 < order.len() {
                value = Expr::Mod { a: Box::new(value), b: Box::new(Expr::int(block)) };
            }
            inside.push(Stmt::Let { name: name(k), value });
            below *= block;
        }
        inside.extend(body);
        Ok(Stmt::Share { name: self.item.clone(), to, among, body: inside })
    }
}

/// How many blocks of a size cover so many values; within 32 bits where their number is.
fn blocks(room: &Algebra, size: i64, scope: &Scope<'_>) -> Result<Algebra, PlanError> {
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

fn comment(text: &str) -> Stmt {
    Stmt::Comment { text: text.to_owned() }
}
