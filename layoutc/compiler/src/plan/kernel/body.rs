//! The statements of a kernel whose work groups move tiles.

use layoutc_algebra::layout::Symbol;

use super::bounds::Bound;
use super::digits::Digits;
use super::staging::Staging;
use super::tile::Tile;
use crate::plan::lower::{PlanError, Scope, add, multiply};
use crate::plan::moves::Parts;
use crate::plan::tree::{Among, Expr, Operand, Stmt};

/// The elements that an item has read before it writes them: no read waits for another.
#[derive(Clone)]
pub(super) struct Held {
    /// The array of them.
    pub(super) name: String,
    /// The number of the element among them.
    pub(super) round: String,
    /// How many they are.
    pub(super) elements: i64,
}

/// Writes the statements of a kernel.
pub(super) struct Writer<'w, 'n> {
    pub(super) digits: &'w Digits,
    pub(super) tile: &'w Tile,
    pub(super) symbols: &'w [Symbol],
    pub(super) scope: &'w Scope<'w>,
    pub(super) parts: &'w mut Parts<'n>,
    /// What each digit is called: inside the tile, from 0.
    pub(super) names: Vec<String>,
    /// The number of an element in the tile.
    pub(super) item: String,
    pub(super) buffers: [String; 2],
    /// What the tile's first place is called in both.
    pub(super) starts: [String; 2],
    /// The tile's first place in both.
    pub(super) places: Vec<Expr>,
    /// Elements between neighbours along each digit in both, as in-tile arithmetic takes them.
    pub(super) steps: Vec<Vec<(usize, Expr)>>,
    /// What each item holds of the tile at once, where that is not much.
    pub(super) held: Option<Held>,
    /// The tile in local memory.
    pub(super) staged: Option<(String, Staging)>,
    /// The constant that slots without an element get.
    pub(super) fill: Option<String>,
}

impl Writer<'_, '_> {
    /// The loop over tiles, and what it needs.
    pub(super) fn kernel(
        &mut self,
        tile: &str,
        tiles: Expr,
        element: &str,
    ) -> Result<Vec<Stmt>, PlanError> {
        let mut body = Vec::new();
        if let Some((name, staging)) = &self.staged {
            if staging.padding > 0 {
                let free = match staging.padding {
                    1 => "1 element is".to_owned(),
                    more => format!("{more} elements are"),
                };
                let text = format!(
                    "Between rows of the tile {free} left free, so that the items of a warp ask different banks."
                );
                body.push(Stmt::Comment { text });
            }
            let (name, element, elements) = (name.clone(), element.to_owned(), staging.elements);
            body.push(Stmt::DeclareLocal { name, element, elements });
        }
        let (starts, digit_starts) = self.starts(tile)?;
        let mut inside = starts;
        let elements = self.elements(&digit_starts, &mut inside)?;
        let slots = match self.fill {
            Some(_) => self.slots(&elements, &digit_starts, &mut inside)?,
            None => Vec::new(),
        };
        if let Some(Held { name, elements, .. }) = self.held.clone() {
            inside.push(Stmt::DeclareArray { name, element: element.to_owned(), elements });
        }
        let by_to = self.tile.inside(&self.tile.by_to);
        if self.staged.is_some() {
            let by_from = self.tile.inside(&self.tile.by_from);
            inside.push(comment("Read in the order of the source."));
            inside.extend(self.read(&by_from, &elements)?);
            inside.push(Stmt::Barrier);
            inside.push(comment("Write in the order of the destination."));
            inside.extend(self.write(&by_to, elements, &slots)?);
            inside.push(Stmt::Barrier);
        } else {
            inside.extend(self.write(&by_to, elements, &slots)?);
        }
        body.push(comment(&self.told()));
        let name = tile.to_owned();
        let among = Among::Groups;
        body.push(Stmt::Share { name, to: tiles, among, round: None, body: inside });
        Ok(body)
    }

    /// What a tile is, for a comment: the slowest digit of the destination first.
    fn told(&self) -> String {
        let inside = self.tile.inside(&self.tile.by_to);
        let digit = |k: &usize| {
            let name = self.digits.list.get(*k).map_or("", |digit| digit.name.as_str());
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

    /// An element of the source, as the destination has it.
    fn source(&self) -> Result<Operand, PlanError> {
        let [from, _] = &self.buffers;
        let value = load(from, self.place(0)?);
        Ok(value.cast(self.parts.cast))
    }

    /// From the source into local memory.
    fn read(&self, order: &[usize], elements: &[Bound]) -> Result<Vec<Stmt>, PlanError> {
        let Some((staged, staging)) = &self.staged else { return Err(PlanError::Scope) };
        let place = self.local(staging)?;
        let put = |value| store(staged, place.clone(), value);
        let Some(held) = &self.held else {
            let there = put(self.source()?);
            return Ok(vec![self.share(order, self.when(elements, vec![there], Vec::new())?)]);
        };
        let first = self.when(elements, vec![held.store(self.source()?)], Vec::new())?;
        let then = self.when(elements, vec![put(held.load())], Vec::new())?;
        Ok(vec![self.share(order, first), self.share(order, then)])
    }

    /// Into the destination: from local memory, or from the source.
    fn write(
        &self,
        order: &[usize],
        mut elements: Vec<Bound>,
        slots: &[Bound],
    ) -> Result<Vec<Stmt>, PlanError> {
        let [_, to] = &self.buffers;
        let value = match &self.staged {
            Some((staged, staging)) => load(staged, self.local(staging)?),
            None => self.source()?,
        };
        let index = self.place(1)?;
        let put = |value| store(to, index.clone(), value);
        let fill = self.fill.iter().map(|fill| Operand::Element { name: fill.clone() });
        if let Some(held) = &self.held {
            let otherwise = fill.map(|fill| held.store(fill)).collect();
            let first = self.when(&elements, vec![held.store(value)], otherwise)?;
            let there = if self.fill.is_some() { slots } else { &elements };
            let then = self.when(there, vec![put(held.load())], Vec::new())?;
            return Ok(vec![self.share(order, first), self.share(order, then)]);
        }
        let otherwise = fill.map(put).collect();
        if self.fill.is_some() {
            elements.retain(|bound| !bound.of_slots);
        }
        let mut body = self.when(&elements, vec![put(value)], otherwise)?;
        body = self.when(slots, body, Vec::new())?;
        Ok(vec![self.share(order, body)])
    }

    /// The offset in one of the buffers.
    fn place(&self, which: usize) -> Result<Expr, PlanError> {
        let place = self.places.get(which).cloned().ok_or(PlanError::Scope)?;
        self.sum(place, self.steps.get(which).ok_or(PlanError::Scope)?)
    }

    /// What digits times their steps add to a number.
    fn sum(&self, start: Expr, steps: &[(usize, Expr)]) -> Result<Expr, PlanError> {
        steps
            .iter()
            .try_fold(start, |sum, (k, step)| add(sum, multiply(self.digit(*k), step.clone())?))
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
        for Bound { terms, op, limit, .. } in bounds {
            args.push(Expr::compare(*op, self.sum(Expr::int(0), terms)?, limit.clone()));
        }
        let condition = match args.len() {
            0 => return Ok(body),
            1 => args.swap_remove(0),
            _ => Expr::All { args },
        };
        Ok(vec![Stmt::If { condition, is_usual: false, body, otherwise }])
    }

    /// The loop over the elements of a tile in an order of its digits.
    fn share(&self, order: &[usize], body: Vec<Stmt>) -> Stmt {
        let to = Expr::int(self.tile.elements());
        let name = |k: &usize| self.names.get(*k).cloned().unwrap_or_default();
        let (among, mut inside) = (Among::Items, Vec::new());
        let round = self.held.as_ref().map(|held| held.round.clone());
        if let [only] = order {
            return Stmt::Share { name: name(only), to, among, round, body };
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
        Stmt::Share { name: self.item.clone(), to, among, round, body: inside }
    }
}

impl Held {
    fn store(&self, value: Operand) -> Stmt {
        store(&self.name, Expr::name(&self.round), value)
    }

    fn load(&self) -> Operand {
        load(&self.name, Expr::name(&self.round))
    }
}

fn load(buffer: &str, index: Expr) -> Operand {
    Operand::Load { buffer: buffer.to_owned(), index, through: None }
}

fn store(buffer: &str, index: Expr, value: Operand) -> Stmt {
    Stmt::Store { buffer: buffer.to_owned(), index, value, through: None }
}

fn comment(text: &str) -> Stmt {
    Stmt::Comment { text: text.to_owned() }
}
