//! The statements of a kernel whose work groups move tiles.

use layoutc_algebra::symbol::Symbol;

use super::bounds::Bound;
use super::digits::Digits;
use super::staging::Staging;
use super::tile::Tile;
use super::tiled::is_one_each;
use super::turn::Turn;
use crate::ir::{Compare, Expr, LoopKind, Primitive, Stmt, Storage, Value};
use crate::machine::GPU;
use crate::plan::lower::{PlanError, Scope, add, multiply};
use crate::plan::moves::Parts;

/// The elements that an item has read before it writes them: no read waits for another.
#[derive(Clone)]
pub(super) struct Held {
    /// The array of them.
    pub(super) name: String,
    /// The number of the element among them.
    pub(super) round: String,
    /// How many of them there are.
    pub(super) rounds: i64,
}

/// The block that an item turns.
#[derive(Clone)]
pub(super) struct Block {
    pub(super) turn: Turn,
    /// The type of integers as wide as its elements.
    pub(super) element: String,
    /// The array of words as they are read.
    pub(super) held: String,
    /// The array of words as they are written.
    pub(super) turned: String,
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
    /// The types of what is read and of what is written at once.
    pub(super) elements: [String; 2],
    /// What the tile's first place is called in both.
    pub(super) starts: [String; 2],
    /// The tile's first place in both.
    pub(super) places: Vec<Expr>,
    /// Elements between neighbours along each digit in both, as in-tile arithmetic takes them.
    pub(super) steps: Vec<Vec<(usize, Expr)>>,
    /// What each item holds of the tile at once, where that is not much: as it reads, and as it writes.
    pub(super) held: [Option<Held>; 2],
    pub(super) block: Option<Block>,
    /// The tile in local memory.
    pub(super) staged: Option<(String, Staging)>,
    /// The constant that slots without an element get.
    pub(super) fill: Option<String>,
}

impl Writer<'_, '_> {
    /// The loop over tiles, and what it needs.
    pub(super) fn kernel(&mut self, tile: &str, tiles: Expr) -> Result<Vec<Stmt>, PlanError> {
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
            let [_, element] = self.elements.clone();
            let (name, elements) = (name.clone(), staging.elements);
            let storage = Storage::Shared;
            body.push(Stmt::Allocate { name, element, elements, storage });
        }
        let (starts, digit_starts) = self.starts(tile)?;
        let mut inside = starts;
        let elements = self.elements(&digit_starts, &mut inside)?;
        let slots = match self.fill {
            Some(_) => self.slots(&elements, &digit_starts, &mut inside)?,
            None => Vec::new(),
        };
        inside.extend(self.arrays());
        let mut by_to = self.tile.inside(&self.tile.by_to);
        if self.staged.is_none()
            && let Some(block) = &self.block
        {
            // Every item writes all of its block.
            by_to.retain(|k| *k != block.turn.column);
        }
        if self.staged.is_some() {
            let by_from = self.tile.inside(&self.tile.by_from);
            inside.push(comment("Read in the order of the source."));
            inside.extend(self.read(&by_from, &elements)?);
            inside.push(Primitive::Barrier.into());
            inside.push(comment("Write in the order of the destination."));
            inside.extend(self.write(&by_to, elements, &slots)?);
        } else {
            inside.extend(self.write(&by_to, elements, &slots)?);
        }
        let kind = if is_one_each(&tiles) { LoopKind::Block } else { LoopKind::GridStride };
        if self.staged.is_some() && kind == LoopKind::GridStride {
            inside.push(Primitive::Barrier.into());
        }
        body.push(comment(&self.told(&kind)));
        let (name, from) = (tile.to_owned(), Expr::int(0));
        body.push(Stmt::For { name, from, to: tiles, step: 1, kind, body: inside });
        Ok(body)
    }

    /// What a tile is, for a comment: the slowest digit of the destination first.
    fn told(&self, kind: &LoopKind) -> String {
        let mut inside = self.tile.inside(&self.tile.by_to);
        let blocks = match self.tile.turn {
            None => "",
            Some(turn) => {
                inside.retain(|k| *k != turn.column);
                ", in blocks"
            }
        };
        let digit = |k: &usize| {
            let name = self.digits.list.get(*k).map_or("", |digit| digit.name.as_str());
            format!("{} of {name}", self.tile.block(*k))
        };
        let tile = match inside.as_slice() {
            [] if blocks.is_empty() => "one element".to_owned(),
            [] => "one block".to_owned(),
            _ => {
                let digits: Vec<String> = inside.iter().rev().map(digit).collect();
                format!("{}{blocks}", digits.join(" by "))
            }
        };
        match kind {
            LoopKind::Block => format!("Each group moves a tile: {tile}."),
            _ => format!("The groups share the tiles, each of {tile}."),
        }
    }

    /// What items hold of a tile in all rounds.
    fn arrays(&self) -> Vec<Stmt> {
        let array = |held: &Held, element: &String, words: i64| Stmt::Allocate {
            name: held.name.clone(),
            element: element.clone(),
            elements: held.rounds.saturating_mul(words),
            storage: Storage::Private,
        };
        let ([read, written], [from, to]) = (&self.held, &self.elements);
        match &self.block {
            // Both have one array.
            None => written.iter().map(|held| array(held, to, 1)).collect(),
            Some(block) => {
                let read = read.iter().map(|held| array(held, from, block.turn.rows));
                let mut all: Vec<Stmt> = read.collect();
                if let Some(held) = written {
                    // The words of one block have room there, too.
                    let rounds = held.rounds.max(block.turn.columns);
                    all.push(array(&Held { rounds, ..held.clone() }, to, 1));
                }
                all
            }
        }
    }

    /// An element of the source, as the destination has it.
    fn source(&self) -> Result<Value, PlanError> {
        let [from, _] = &self.buffers;
        let value = load(from, self.place(0)?);
        Ok(value.cast(self.parts.cast))
    }

    /// From the source into local memory.
    fn read(&self, order: &[usize], elements: &[Bound]) -> Result<Vec<Stmt>, PlanError> {
        let Some((staged, staging)) = &self.staged else { return Err(PlanError::Scope) };
        let place = self.local(staging)?;
        let put = |value| store(staged, place.clone(), value);
        let [held, _] = &self.held;
        let elements = &self.of_words(elements)[..];
        let (first, then) = match (&self.block, held) {
            (Some(block), held) => {
                self.turn(block, held.as_ref(), elements, vec![put(self.turned(block))])?
            }
            (None, Some(held)) => (vec![held.store(self.source()?)], vec![put(held.load())]),
            (None, None) => (Vec::new(), vec![put(self.source()?)]),
        };
        // Blocks are filled as they are read: there is something for every place.
        let bounds = if self.fills_blocks() { [&[][..]; 2] } else { [elements; 2] };
        self.both(order, held.as_ref(), bounds, [first, then])
    }

    /// What items read, and what they do with it, under their conditions; all of the first before any of the second where
    /// they hold what they read. The second has the first's conditions, where that has some.
    fn both(
        &self,
        order: &[usize],
        held: Option<&Held>,
        [before, after]: [&[Bound]; 2],
        bodies: [Vec<Stmt>; 2],
    ) -> Result<Vec<Stmt>, PlanError> {
        let [first, then] = bodies;
        let Some(held) = held else {
            let body = match before {
                [] => first.into_iter().chain(self.when(after, then, Vec::new())?).collect(),
                _ => self.when(before, first.into_iter().chain(then).collect(), Vec::new())?,
            };
            return Ok(vec![self.share(order, None, body)]);
        };
        let first = self.when(before, first, Vec::new())?;
        let then = self.when(after, then, Vec::new())?;
        Ok(vec![self.share(order, Some(held), first), self.share(order, Some(held), then)])
    }

    /// How an item reads a block, and how it turns it and puts its words where they belong.
    fn turn(
        &self,
        block: &Block,
        held: Option<&Held>,
        elements: &[Bound],
        put: Vec<Stmt>,
    ) -> Result<(Vec<Stmt>, Vec<Stmt>), PlanError> {
        let Block { turn: Turn { rows, columns, row, column }, element, held: words, turned } =
            block;
        let [from, to] = &self.elements;
        let array = |name: &str, element: &String, elements: i64| Stmt::Allocate {
            name: name.to_owned(),
            element: element.clone(),
            elements,
            storage: Storage::Private,
        };
        let first = match held {
            Some(held) => multiply(Expr::name(&held.round), Expr::int(*rows))?,
            None => Expr::int(0),
        };
        let mut read = Vec::new();
        if held.is_none() {
            read.push(array(words, from, *rows));
        }
        let at = add(first.clone(), self.digit(*row))?;
        let mut each = vec![store(words, at.clone(), self.source()?)];
        if let Some(fill) = &self.fill {
            let fill = Value::Name { name: fill.clone() };
            each = self.when(elements, each, vec![store(words, at, fill)])?;
        }
        read.extend(self.each(*row, *rows, each));
        // Where words as they are written have an array of their own for all rounds, its first ones do.
        let mut written = Vec::new();
        let [_, out] = &self.held;
        if out.is_none() {
            written.push(array(turned, to, *columns));
        }
        let (from, to) = (words.clone(), turned.clone());
        let (element, rows, columns) = (element.clone(), *rows, *columns);
        written.push(Primitive::TransposeWords { from, first, to, element, rows, columns }.into());
        written.extend(self.each(*column, columns, put));
        Ok((read, written))
    }

    /// A word of a block that is turned.
    fn turned(&self, block: &Block) -> Value {
        load(&block.turned, self.digit(block.turn.column))
    }

    /// The conditions under which words of the source have an element: their first one.
    fn of_words(&self, elements: &[Bound]) -> Vec<Bound> {
        let column = self.tile.turn.map(|turn| turn.column);
        let of_word = |bound: &Bound| {
            let terms = bound.terms.iter().filter(|term| Some(term.0) != column);
            Bound { terms: terms.cloned().collect(), ..bound.clone() }
        };
        elements.iter().map(of_word).collect()
    }

    /// Whether padding gets its value as blocks are read.
    fn fills_blocks(&self) -> bool {
        self.block.is_some() && self.fill.is_some()
    }

    /// Statements for every value of a digit inside a block.
    fn each(&self, digit: usize, values: i64, body: Vec<Stmt>) -> Vec<Stmt> {
        if values == 1 {
            return body;
        }
        let name = self.names.get(digit).cloned().unwrap_or_default();
        let (from, to, kind) = (Expr::int(0), Expr::int(values), LoopKind::Unrolled(values));
        vec![Stmt::For { name, from, to, step: 1, kind, body }]
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
        let fill = self.fill.iter().filter(|_| !self.fills_blocks());
        let fill = fill.map(|fill| Value::Name { name: fill.clone() });
        if let (Some(block), None) = (&self.block, &self.staged) {
            let [held, _] = &self.held;
            let words = self.of_words(&elements);
            let mut put = vec![put(self.turned(block))];
            if words.iter().zip(&elements).any(|(word, element)| word.terms != element.terms) {
                put = self.when(&elements, put, Vec::new())?;
            }
            let (first, then) = self.turn(block, held.as_ref(), &words, put)?;
            let bounds = if self.fills_blocks() { [&[][..], slots] } else { [&words[..]; 2] };
            return self.both(order, held.as_ref(), bounds, [first, then]);
        }
        if self.fills_blocks() {
            elements.clear();
        }
        let [_, held] = &self.held;
        if let Some(held) = held {
            let otherwise = fill.map(|fill| held.store(fill)).collect();
            let first = self.when(&elements, vec![held.store(value)], otherwise)?;
            let there = if self.fill.is_some() { slots } else { &elements };
            let then = self.when(there, vec![put(held.load())], Vec::new())?;
            let share = |body| self.share(order, Some(held), body);
            return Ok(vec![share(first), share(then)]);
        }
        let otherwise = fill.map(put).collect();
        if self.fill.is_some() {
            elements.retain(|bound| !bound.of_slots);
        }
        let mut body = self.when(&elements, vec![put(value)], otherwise)?;
        body = self.when(slots, body, Vec::new())?;
        Ok(vec![self.share(order, None, body)])
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
        Ok(vec![Stmt::If { condition, likely: false, body, otherwise }])
    }

    /// The loop over the places of a tile in an order of its digits.
    fn share(&self, order: &[usize], held: Option<&Held>, mut body: Vec<Stmt>) -> Stmt {
        let places = self.tile.places(order);
        let name = |k: &usize| self.names.get(*k).cloned().unwrap_or_default();
        let only = match order {
            [only] => Some(name(only)),
            _ => None,
        };
        let counter = only.clone().unwrap_or_else(|| self.item.clone());
        let mut inside = Vec::new();
        if only.is_none() {
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
        }
        inside.append(&mut body);
        let (mut to, round) = (places, held.map(|held| held.round.clone()));
        // In the last round not every item may have a place.
        if let Some(held) = held
            && held.rounds.saturating_mul(GPU.threads) > places
        {
            to = held.rounds.saturating_mul(GPU.threads);
            let condition = Expr::compare(Compare::Lt, Expr::name(&counter), Expr::int(places));
            let (likely, otherwise) = (false, Vec::new());
            inside = vec![Stmt::If { condition, likely, body: inside, otherwise }];
        }
        let (from, to, kind) = (Expr::int(0), Expr::int(to), LoopKind::Thread { round });
        Stmt::For { name: counter, from, to, step: 1, kind, body: inside }
    }
}

impl Held {
    fn store(&self, value: Value) -> Stmt {
        store(&self.name, Expr::name(&self.round), value)
    }

    fn load(&self) -> Value {
        load(&self.name, Expr::name(&self.round))
    }
}

fn load(buffer: &str, index: Expr) -> Value {
    Value::Load { buffer: buffer.to_owned(), index, through: None }
}

fn store(buffer: &str, index: Expr, value: Value) -> Stmt {
    Stmt::Store { buffer: buffer.to_owned(), index, value, through: None }
}

fn comment(text: &str) -> Stmt {
    Stmt::Comment { text: text.to_owned() }
}
