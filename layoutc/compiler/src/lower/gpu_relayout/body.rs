//! Body of a kernel whose thread blocks copy tiles.

use layoutc_algebra::expr::Expr as Algebra;
use layoutc_algebra::symbol::Symbol;

use crate::base::dtype::Dtype;
use crate::ir::{Compare, Expr, LoopKind, Primitive, Stmt, Storage, Value};
use crate::loops::error::PlanError;
use crate::loops::gpu_relayout::schedule::{Staging, TileSchedule, TransposeTile};
use crate::lower::expr::{Scope, add, lower, multiply};
use crate::lower::gpu_relayout::bounds::Guard;
use crate::lower::launch::delinearized;
use crate::lower::relayout::builder::RelayoutBuilder;
use crate::machine::GPU;

/// Private array for the elements that a thread reads in all its iterations before it writes any, so that its loads
/// overlap.
#[derive(Clone)]
pub(crate) struct RegisterArray {
    /// Name of the array.
    pub(crate) name: String,
    /// Name of the variable that counts the thread's iterations and indexes the array.
    pub(crate) round: String,
    /// Number of iterations of a thread.
    pub(crate) rounds: i64,
}

/// Transpose tile that a thread transposes in registers, and the private arrays of its words.
#[derive(Clone)]
pub(crate) struct Block {
    /// Numbers of rows and columns of the tile, and the digits that count them.
    pub(crate) tile: TransposeTile,
    /// Unsigned integer type of the width of one transposed element.
    pub(crate) dtype: Dtype,
    /// Name of the private array of the words that are read.
    pub(crate) held: String,
    /// Name of the private array of the transposed words, which are written.
    pub(crate) transposed: String,
}

/// Lowering of a relayout kernel whose thread blocks copy tiles.
pub(crate) struct TileLowering<'w, 'n> {
    pub(crate) schedule: &'w TileSchedule,
    pub(crate) symbols: &'w [Symbol],
    pub(crate) scope: &'w Scope<'w>,
    pub(crate) builder: &'w mut RelayoutBuilder<'n>,
    /// Name of the variable of each digit, which is the value of the digit inside the tile and starts at 0.
    pub(crate) names: Vec<String>,
    /// Name of the variable that counts the positions of the tile over all threads of a thread block.
    pub(crate) item: String,
    /// Names of the source and of the destination, as buffers of words.
    pub(crate) buffers: [String; 2],
    /// Type of a word that is read from the source, and of one that is written to the destination.
    pub(crate) words: [Dtype; 2],
    /// Names of the variables for the offset of the tile's first element in the source and in the destination.
    pub(crate) starts: [String; 2],
    /// Offset of the tile's first element in the source and in the destination, in words. Empty until
    /// `TileLowering::starts` sets it.
    pub(crate) places: Vec<Expr>,
    /// Strides in the source and in the destination, in words, as the pairs (digit, stride) of `TileLowering::steps`.
    /// Empty until `TileLowering::starts` sets them.
    pub(crate) steps: Vec<Vec<(usize, Expr)>>,
    /// Private arrays of the loop that reads and of the loop that writes; `None` for a loop that does not keep elements
    /// in an array between its read and its write.
    pub(crate) held: [Option<RegisterArray>; 2],
    /// Transpose tile of a thread; `None` if words are copied unchanged.
    pub(crate) block: Option<Block>,
    /// Name and arrangement of the tile in shared memory; `None` if the tile is not staged.
    pub(crate) staged: Option<(String, &'w Staging)>,
    /// Name of the constant for slots without an element; `None` if the kernel does not write padding.
    pub(crate) fill: Option<String>,
}

impl TileLowering<'_, '_> {
    /// Statements of the kernel: the declaration of the tile in shared memory, and the loop over tiles with the
    /// variable `tile`.
    pub(crate) fn kernel(&mut self, tile: &str) -> Result<Vec<Stmt>, PlanError> {
        let mut body = Vec::new();
        if let Some((name, staging)) = &self.staged {
            if staging.padding > 0 {
                let elements = match staging.padding {
                    1 => "1 element".to_owned(),
                    more => format!("{more} elements"),
                };
                let text =
                    format!("Rows of the tile are padded by {elements} to avoid bank conflicts.");
                body.push(Stmt::Comment { text });
            }
            let [_, dtype] = self.words;
            let (name, elements) = (name.clone(), staging.elements);
            let storage = Storage::Shared;
            body.push(Stmt::Allocate { name, dtype, elements, storage });
        }
        let (starts, digit_starts) = self.starts(tile)?;
        let mut inside = starts;
        let elements = self.elements(&digit_starts, &mut inside)?;
        let slots = match self.fill {
            Some(_) => self.slots(&elements, &digit_starts, &mut inside)?,
            None => Vec::new(),
        };
        inside.extend(self.arrays());
        let mut by_to = self.schedule.tile.inside(&self.schedule.tile.by_to);
        if self.staged.is_none()
            && let Some(block) = &self.block
        {
            // The thread writes all words of its transpose tile: the column digit is no loop.
            by_to.retain(|k| *k != block.tile.column);
        }
        if self.staged.is_some() {
            let by_from = self.schedule.tile.inside(&self.schedule.tile.by_from);
            inside.push(comment("Read in the order of the source."));
            inside.extend(self.read(&by_from, &elements)?);
            inside.push(Primitive::Barrier.into());
            inside.push(comment("Write in the order of the destination."));
            inside.extend(self.write(&by_to, elements, &slots)?);
        } else {
            inside.extend(self.write(&by_to, elements, &slots)?);
        }
        let one_each = self.schedule.is_one_each();
        let kind = if one_each { LoopKind::Block } else { LoopKind::GridStride };
        if self.staged.is_some() && kind == LoopKind::GridStride {
            inside.push(Primitive::Barrier.into());
        }
        body.push(comment(&self.told(&kind)));
        let (name, from, to) =
            (tile.to_owned(), Expr::int(0), lower(&self.schedule.tiles, self.scope)?);
        body.push(Stmt::For { name, from, to, step: 1, kind, body: inside });
        Ok(body)
    }

    /// Text of the comment above the loop over tiles, a loop of the kind `kind`: the extents of a tile, slowest digit
    /// of the destination first.
    fn told(&self, kind: &LoopKind) -> String {
        let extents = self.schedule.extents().into_iter();
        let extents: Vec<String> = extents.map(|(name, n)| format!("{n} of {name}")).collect();
        let tile = match (extents.as_slice(), self.schedule.tile.transpose) {
            ([], None) => "one element".to_owned(),
            ([], Some(_)) => "one block".to_owned(),
            (extents, None) => extents.join(" by "),
            (extents, Some(_)) => format!("{}, in blocks", extents.join(" by ")),
        };
        match kind {
            LoopKind::Block => format!("One tile: {tile}."),
            _ => format!("Tiles, each of {tile}."),
        }
    }

    /// Declarations of the private arrays for elements of all iterations of a thread.
    fn arrays(&self) -> Vec<Stmt> {
        let array = |held: &RegisterArray, dtype: Dtype, words: i64| Stmt::Allocate {
            name: held.name.clone(),
            dtype,
            elements: held.rounds.saturating_mul(words),
            storage: Storage::Private,
        };
        let ([read, written], [from, to]) = (&self.held, self.words);
        match &self.block {
            // The read and the write loop share one array.
            None => written.iter().map(|held| array(held, to, 1)).collect(),
            Some(block) => {
                let read = read.iter().map(|held| array(held, from, block.tile.rows));
                let mut all: Vec<Stmt> = read.collect();
                if let Some(held) = written {
                    // The array has room for the words of at least one transpose tile.
                    let rounds = held.rounds.max(block.tile.columns);
                    all.push(array(&RegisterArray { rounds, ..held.clone() }, to, 1));
                }
                all
            }
        }
    }

    /// Element of the source at the current position, cast to the destination's type.
    fn source(&self) -> Result<Value, PlanError> {
        let [from, _] = &self.buffers;
        let value = load(from, self.place(0)?);
        Ok(value.cast(self.builder.cast))
    }

    /// Loops that copy the tile from the source to shared memory. `order`: digits, fastest first; `elements`: guards of
    /// positions with an element.
    fn read(&self, order: &[usize], elements: &[Guard]) -> Result<Vec<Stmt>, PlanError> {
        let Some((staged, staging)) = &self.staged else { return Err(PlanError::Scope) };
        let place = self.local(staging)?;
        let put = |value| store(staged, place.clone(), value);
        let [held, _] = &self.held;
        let elements = &self.of_words(elements)[..];
        let (first, then) = match (&self.block, held) {
            (Some(block), held) => self.transpose_block(
                block,
                held.as_ref(),
                elements,
                vec![put(self.transposed(block))],
            )?,
            (None, Some(held)) => (vec![held.store(self.source()?)], vec![put(held.load())]),
            (None, None) => (Vec::new(), vec![put(self.source()?)]),
        };
        // Transpose tiles get their fill value as they are read: every position has a value.
        let bounds = if self.fills_blocks() { [&[][..]; 2] } else { [elements; 2] };
        self.both(order, held.as_ref(), bounds, [first, then])
    }

    /// Loops over the tile, with the digits in `order`, fastest first, that execute two `bodies`: the read, guarded by
    /// `before`, and the use of what was read, guarded by `after`. With `held`, one loop for each body; otherwise one
    /// loop with both, in which `before` guards both bodies, and `after` guards the use only if `before` is empty.
    fn both(
        &self,
        order: &[usize],
        held: Option<&RegisterArray>,
        [before, after]: [&[Guard]; 2],
        bodies: [Vec<Stmt>; 2],
    ) -> Result<Vec<Stmt>, PlanError> {
        let [first, then] = bodies;
        let Some(held) = held else {
            let body = match before {
                [] => first.into_iter().chain(self.when(after, then, Vec::new())?).collect(),
                _ => self.when(before, first.into_iter().chain(then).collect(), Vec::new())?,
            };
            return Ok(vec![self.mark_parallel(order, None, body)?]);
        };
        let first = self.when(before, first, Vec::new())?;
        let then = self.when(after, then, Vec::new())?;
        Ok(vec![
            self.mark_parallel(order, Some(held), first)?,
            self.mark_parallel(order, Some(held), then)?,
        ])
    }

    /// Pair of bodies for a transpose tile: the reads of its words, and the transposition followed by `put` for each
    /// word. `held` is the array of the reading loop, `elements` are the guards of elements; padding is read as the
    /// fill value if there is one.
    fn transpose_block(
        &self,
        block: &Block,
        held: Option<&RegisterArray>,
        elements: &[Guard],
        put: Vec<Stmt>,
    ) -> Result<(Vec<Stmt>, Vec<Stmt>), PlanError> {
        let Block { tile, dtype, held: words, transposed } = block;
        let TransposeTile { rows, columns, row, column } = tile;
        let [from, to] = self.words;
        let array = |name: &str, dtype: Dtype, elements: i64| Stmt::Allocate {
            name: name.to_owned(),
            dtype,
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
        // If an array holds transposed words for all iterations, the transposition uses its start.
        let mut written = Vec::new();
        let [_, out] = &self.held;
        if out.is_none() {
            written.push(array(transposed, to, *columns));
        }
        let (from, to) = (words.clone(), transposed.clone());
        let (dtype, rows, columns) = (*dtype, *rows, *columns);
        written.push(Primitive::TransposeWords { from, first, to, dtype, rows, columns }.into());
        written.extend(self.each(*column, columns, put));
        Ok((read, written))
    }

    /// Word of the transpose tile `block` to write for the current column, after the transposition.
    fn transposed(&self, block: &Block) -> Value {
        load(&block.transposed, self.digit(block.tile.column))
    }

    /// Guards of the source's words: the guards `elements`, evaluated at the first element of a word.
    fn of_words(&self, elements: &[Guard]) -> Vec<Guard> {
        let column = self.schedule.tile.transpose.map(|own| own.column);
        let of_word = |bound: &Guard| {
            let terms = bound.terms.iter().filter(|term| Some(term.0) != column);
            Guard { terms: terms.cloned().collect(), ..bound.clone() }
        };
        elements.iter().map(of_word).collect()
    }

    /// True if padding gets its fill value when transpose tiles are read, so that every position of a tile has a value.
    fn fills_blocks(&self) -> bool {
        self.block.is_some() && self.fill.is_some()
    }

    /// Unrolled loop over the `values` values of a digit inside a transpose tile; `body` itself if there is one value.
    fn each(&self, digit: usize, values: i64, body: Vec<Stmt>) -> Vec<Stmt> {
        if values == 1 {
            return body;
        }
        let name = self.names.get(digit).cloned().unwrap_or_default();
        let (from, to, kind) = (Expr::int(0), Expr::int(values), LoopKind::Unrolled(values));
        vec![Stmt::For { name, from, to, step: 1, kind, body }]
    }

    /// Loops that copy the tile to the destination, from shared memory or from the source. `order`: digits, fastest
    /// first; `elements`: guards for positions with an element; `slots`: guards for positions with a slot, used if
    /// padding is filled.
    fn write(
        &self,
        order: &[usize],
        mut elements: Vec<Guard>,
        slots: &[Guard],
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
            let mut put = vec![put(self.transposed(block))];
            if words.iter().zip(&elements).any(|(word, element)| word.terms != element.terms) {
                put = self.when(&elements, put, Vec::new())?;
            }
            let (first, then) = self.transpose_block(block, held.as_ref(), &words, put)?;
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
            let share = |body| self.mark_parallel(order, Some(held), body);
            return Ok(vec![share(first)?, share(then)?]);
        }
        let otherwise = fill.map(put).collect();
        if self.fill.is_some() {
            elements.retain(|bound| !bound.of_slots);
        }
        let mut body = self.when(&elements, vec![put(value)], otherwise)?;
        body = self.when(slots, body, Vec::new())?;
        Ok(vec![self.mark_parallel(order, None, body)?])
    }

    /// Offset of the current element in the source (`which` = 0) or in the destination (1).
    fn place(&self, which: usize) -> Result<Expr, PlanError> {
        let place = self.places.get(which).cloned().ok_or(PlanError::Scope)?;
        self.sum(place, self.steps.get(which).ok_or(PlanError::Scope)?)
    }

    /// Sum of `start` and the products `digit * step` over the pairs of `steps`.
    fn sum(&self, start: Expr, steps: &[(usize, Expr)]) -> Result<Expr, PlanError> {
        steps
            .iter()
            .try_fold(start, |sum, (k, step)| add(sum, multiply(self.digit(*k), step.clone())?))
    }

    /// Offset of the current element in the shared array.
    fn local(&self, staging: &Staging) -> Result<Expr, PlanError> {
        staging.strides.iter().enumerate().try_fold(Expr::int(0), |place, (k, stride)| {
            add(place, multiply(self.digit(k), Expr::int(*stride))?)
        })
    }

    /// Value of digit `k` inside the tile; 0 for a digit with one value there.
    fn digit(&self, k: usize) -> Expr {
        match self.names.get(k) {
            Some(name) if self.schedule.tile.block(k) > 1 => Expr::name(name),
            _ => Expr::int(0),
        }
    }

    fn when(
        &self,
        bounds: &[Guard],
        body: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    ) -> Result<Vec<Stmt>, PlanError> {
        let mut args = Vec::new();
        for Guard { terms, op, limit, .. } in bounds {
            args.push(Expr::compare(*op, self.sum(Expr::int(0), terms)?, limit.clone()));
        }
        let condition = match args.len() {
            0 => return Ok(body),
            1 => args.swap_remove(0),
            _ => Expr::All { args },
        };
        Ok(vec![Stmt::If { condition, likely: false, body, otherwise }])
    }

    /// Loop of a thread block over the positions of a tile, with the digits in `order`, fastest first, around `body`.
    /// With `held`, the trip count is a multiple of the number of threads, and a guard excludes the excess iterations.
    fn mark_parallel(
        &self,
        order: &[usize],
        held: Option<&RegisterArray>,
        mut body: Vec<Stmt>,
    ) -> Result<Stmt, PlanError> {
        let places = self.schedule.tile.places(order);
        let name = |k: &usize| self.names.get(*k).cloned().unwrap_or_default();
        let only = match order {
            [only] => Some(name(only)),
            _ => None,
        };
        let counter = only.clone().unwrap_or_else(|| self.item.clone());
        let mut inside = Vec::new();
        if only.is_none() {
            let block = |k: &usize| Algebra::constant(self.schedule.tile.block(*k).into());
            let digits: Vec<_> = order.iter().rev().map(|k| (name(k), block(k))).collect();
            inside = delinearized(&self.item, &digits, self.scope)?;
            inside.reverse();
        }
        inside.append(&mut body);
        let (mut to, round) = (places, held.map(|held| held.round.clone()));
        // In the last iteration some threads may have no position.
        if let Some(held) = held
            && held.rounds.saturating_mul(GPU.threads) > places
        {
            to = held.rounds.saturating_mul(GPU.threads);
            let condition = Expr::compare(Compare::Lt, Expr::name(&counter), Expr::int(places));
            let (likely, otherwise) = (false, Vec::new());
            inside = vec![Stmt::If { condition, likely, body: inside, otherwise }];
        }
        let (from, to, kind) = (Expr::int(0), Expr::int(to), LoopKind::Thread { round });
        Ok(Stmt::For { name: counter, from, to, step: 1, kind, body: inside })
    }
}

impl RegisterArray {
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
