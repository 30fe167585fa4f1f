//! Kernels whose thread blocks copy tiles: read in the order of the source, written in the order of the destination.

use layoutc_algebra::expr::{BinOp, Expr as Algebra};

use crate::base::dtype::{Dtype, Scalar};
use crate::ir::{Expr, Stmt};
use crate::loops::arith::{ceil_div, fold, product, sum};
use crate::loops::error::PlanError;
use crate::loops::relayout::fuse::merge;
use crate::lower::expr::{Scope, lower, multiply, range};
use crate::lower::gpu_relayout::body::{Block, Held, TileLowering};
use crate::lower::gpu_relayout::digits::{Digits, quotient};
use crate::lower::gpu_relayout::item::kernel;
use crate::lower::gpu_relayout::staging::stage;
use crate::lower::gpu_relayout::tile::Tile;
use crate::lower::gpu_relayout::turn::{Turn, turned};
use crate::lower::gpu_relayout::{GpuRelayout, Items, Kernel, Unaligned, wide};
use crate::lower::relayout::builder::RelayoutBuilder;
use crate::lower::relayout::padding::{fill_bits, fill_constant};
use crate::lower::relayout::statement::RelayoutEnd;
use crate::machine::GPU;

/// True if each thread block copies exactly one tile: a constant number of tiles, at most `GPU.relayout_blocks`.
pub(crate) fn is_one_each(tiles: &Expr) -> bool {
    matches!(tiles, Expr::Int { value } if *value <= GPU.relayout_blocks)
}

/// Widths of a kernel's accesses to source and destination.
#[derive(Clone, Copy)]
struct Words {
    /// Size of an element, in bytes.
    bytes: i64,
    /// Number of elements of a word of the source and of a word of the destination.
    together: [i64; 2],
    /// Transpose tile between the two words; `None` if the words are copied unchanged.
    turn: Option<Turn>,
}

impl Words {
    /// Sizes of a word of the source and of a word of the destination, in bytes.
    fn word_bytes(self) -> [i64; 2] {
        self.together.map(|together| together.saturating_mul(self.bytes))
    }

    /// Size of a position of the tile, and size of the narrower word, in bytes, as [`Tile::new`] takes them.
    fn sizes(self) -> [i64; 2] {
        let [read, written] = self.word_bytes();
        let rows = self.turn.map_or(1, |turn| turn.rows);
        [read.saturating_mul(rows), read.min(written)]
    }
}

impl GpuRelayout<'_, '_> {
    /// Kernels that copy tiles, in launch order: the kernel that copies the elements, preceded by a kernel called
    /// `fill_name`, which fills the destination, if padding gets a fill value that the copying kernel cannot write.
    /// `None` if source or destination is an image or has packed elements, if they have no common refinement of digits,
    /// or if offsets may exceed 32 bits although the counts of elements and slots fit.
    pub(crate) fn tiles(&self, fill_name: &str) -> Result<Option<Vec<Kernel>>, PlanError> {
        let (from, to) = (self.statement.source.context(), self.statement.destination.context());
        let images = self.statement.source.image()?.is_some()
            || self.statement.destination.image()?.is_some();
        if images || self.statement.source.is_packed() || self.statement.destination.is_packed() {
            return Ok(None);
        }
        let Some(refinement) = self.statement.common_refinement()? else {
            return Ok(None);
        };
        let symbols = to.layout.symbols();
        let scope = |var| to.symbol(var).or_else(|| from.symbol(var));
        let digits = Digits::new(&merge(&refinement, symbols)?, symbols);
        let fills =
            matches!(self.statement.destination, RelayoutEnd::Layout(context) if context.fills());
        let over_slots = if fills {
            digits.over_slots(&self.statement.destination.slots()?, symbols, &scope)?
        } else {
            None
        };
        let first = if fills && over_slots.is_none() { Some(self.fill(fill_name)?) } else { None };
        let fill = over_slots.as_ref().map(|_| fill_bits(to)).transpose()?;
        let digits = over_slots.unwrap_or(digits);
        let counts = [from.layout.physical_elements(), to.layout.physical_elements()];
        if !digits.stay_near(counts, &scope)? {
            return Ok(None);
        }
        let bytes = i64::from(self.statement.destination.dtype().element_bits() / 8);
        let digits = digits.without_units();
        let single = Words { bytes, together: [1, 1], turn: None };
        let plain = self.tile_kernel(&digits, single, fill)?;
        // Elements are cast one at a time.
        let kernel = match (self.builder.cast, self.words(&digits, bytes, fill.is_some())?) {
            (None, Some((digits, words))) => {
                let [read, written] = words.word_bytes();
                let (alignment_bytes, plain) = (read.max(written), Box::new(plain));
                let kernel = self.tile_kernel(&digits, words, fill)?;
                Kernel { unaligned: Some(Unaligned { alignment_bytes, plain }), ..kernel }
            }
            _ => plain,
        };
        Ok(Some(first.into_iter().chain([kernel]).collect()))
    }

    /// Pair of the digits with elements joined to words, and of the words; `None` if only single elements can be
    /// accessed. `bytes`: size of an element; `fills`: true if padding is filled.
    fn words(
        &self,
        digits: &Digits,
        bytes: i64,
        fills: bool,
    ) -> Result<Option<(Digits, Words)>, PlanError> {
        let symbols = self.statement.destination.context().layout.symbols();
        let wide = wide::widen(digits, bytes, symbols)?.map(|(d, n)| (d.without_units(), n));
        let together = wide.as_ref().map_or(1, |wide| wide.1);
        let source = quotient(&self.statement.source.slots()?, i128::from(together), symbols)?;
        let digits = wide.as_ref().map_or(digits, |wide| &wide.0);
        if Tile::new(digits, [bytes * together; 2], None, symbols).staged
            && let Some((digits, turn)) = turned(digits, bytes * together, fills, &source, symbols)?
        {
            let words = [turn.columns, turn.rows].map(|word| word * together);
            return Ok(Some((digits, Words { bytes, together: words, turn: Some(turn) })));
        }
        Ok(wide.map(|(digits, _)| (digits, Words { bytes, together: [together; 2], turn: None })))
    }

    /// Kernel that copies tiles of `digits` with accesses of `words`. `fill` has the bits of the value for slots
    /// without an element; `None` if these are not written.
    fn tile_kernel(
        &self,
        digits: &Digits,
        words: Words,
        fill: Option<u64>,
    ) -> Result<Kernel, PlanError> {
        let (from, to) = (self.statement.source.context(), self.statement.destination.context());
        let symbols = to.layout.symbols();
        let scope = |var| to.symbol(var).or_else(|| from.symbol(var));
        let tile = Tile::new(digits, words.sizes(), words.turn, symbols);
        let (tiles, items) = tiles(digits, &tile, &scope)?;
        let mut builder = self.builder.clone();
        let types = words.together.map(|word| self.word(word, words, fill.unwrap_or(0)));
        let starts = [0, 1].map(|which| {
            let name = format!("{}_start", builder.buffer_name(which));
            builder.local(&name)
        });
        let mut body = Vec::new();
        let buffers = seen(&mut builder, types, words, &mut body);
        let fill = match fill {
            Some(bits) => {
                // Transpose tiles get their fill value as they are read.
                let name = builder.fill_name();
                body.push(self.fill_element(&name, types[0], words, bits)?);
                Some(name)
            }
            None => None,
        };
        let [tile_name, item] = ["tile", "item"].map(|name| builder.local(name));
        let [_, word_bytes] = words.word_bytes();
        let staging = tile.staged.then(|| stage(&tile, word_bytes));
        let staged = staging.map(|staging| (builder.local("staged"), staging));
        let [read, written] = [&tile.by_from, &tile.by_to].map(|order| tile.rounds(order));
        // Transposed words that are not staged are written without another array.
        let written = written.filter(|_| tile.staged || words.turn.is_none());
        let [held, round] = ["held", "round"].map(|name| builder.local(name));
        let block = words.turn.map(|turn| {
            let bits = words.bytes.saturating_mul(8 * words.together[0]).div_euclid(turn.columns);
            let scalar = if bits == 64 { Scalar::U64 } else { Dtype::integers(bits / 8).scalar };
            let dtype = Dtype { scalar, lanes: 1 };
            Block { turn, dtype, held: held.clone(), turned: builder.local("turned") }
        });
        let out = block.as_ref().map_or(&held, |block| &block.turned);
        let held = [(read, &held), (written, out)].map(|(rounds, name)| {
            rounds.map(|rounds| Held { name: name.clone(), round: round.clone(), rounds })
        });
        let names = digits.list.iter().map(|digit| builder.local(&digit.name)).collect();
        let mut lowering = TileLowering {
            digits,
            tile: &tile,
            symbols,
            scope: &scope,
            builder: &mut builder,
            names,
            item,
            buffers,
            words: types,
            starts,
            places: Vec::new(),
            steps: Vec::new(),
            held,
            block,
            staged,
            fill,
        };
        body.extend(lowering.kernel(&tile_name, tiles)?);
        let mut kernel = kernel(builder, body, vec![items]);
        kernel.group = Some(GPU.threads);
        Ok(kernel)
    }

    /// Type of a word of `together` elements: the element type for one element without transposition, otherwise an
    /// integer type. `fill` has the bits of the fill value, which the word type must be able to repeat.
    fn word(&self, together: i64, words: Words, fill: u64) -> Dtype {
        let dtype = self.statement.destination.dtype();
        match (together, words.turn) {
            (1, None) => dtype,
            _ => wide::element(dtype, together, fill),
        }
    }

    /// Declaration of the constant `name` of type `word`, with the fill value of the bits `bits` in every element of
    /// the word.
    fn fill_element(
        &self,
        name: &str,
        word: Dtype,
        words: Words,
        bits: u64,
    ) -> Result<Stmt, PlanError> {
        let context = self.statement.destination.context();
        if words.together == [1, 1] {
            return fill_constant(context, name);
        }
        Ok(wide::fill_constant(context.tensor.dtype, name, word, bits))
    }
}

/// Pair of the number of tiles, and of the number of threads of the launch.
fn tiles(digits: &Digits, tile: &Tile, scope: &Scope<'_>) -> Result<(Expr, Items), PlanError> {
    let mut tiles = Algebra::constant(1);
    for (k, digit) in digits.list.iter().enumerate() {
        tiles = product(&tiles, &blocks(&digit.room, tile.block(k), scope)?)?;
    }
    let may_be_none = range(&tiles, scope).low.is_none_or(|low| low <= 0);
    let tiles = lower(&tiles, scope)?;
    let groups = tiles.clone().min(Expr::int(GPU.relayout_blocks));
    let items = Items { count: multiply(groups, Expr::int(GPU.threads))?, may_be_none };
    Ok((tiles, items))
}

/// Names of source and destination for accesses of `words`, whose types are `types`. For words of several elements,
/// appends a comment and the declarations of aliases of the buffers to `body`.
fn seen(
    builder: &mut RelayoutBuilder<'_>,
    types: [Dtype; 2],
    words: Words,
    body: &mut Vec<Stmt>,
) -> [String; 2] {
    let [read, written] = words.together;
    let text = match words.turn {
        None if written == 1 => return [0, 1].map(|which| builder.buffer_name(which)),
        None => format!("{written} elements are moved as one."),
        Some(_) => {
            let blocks = format!("Each item turns blocks of {written} by {read} elements");
            format!("{blocks}: it reads {} at once, and writes {}.", told(read), told(written))
        }
    };
    body.push(Stmt::Comment { text });
    let [from, to] = types;
    [(0, from), (1, to)].map(|(which, dtype)| {
        let buffer = builder.buffer_name(which);
        let name = builder.local(&format!("{buffer}_wide"));
        body.push(Stmt::Alias { name: name.clone(), buffer, dtype, written: which == 1 });
        name
    })
}

fn told(elements: i64) -> String {
    match elements {
        1 => "one".to_owned(),
        _ => elements.to_string(),
    }
}

/// Quotient `room / size` rounded up, in a form whose intermediate values fit 32 bits if `room` does: the number of
/// tiles of `size` values along a digit.
pub(crate) fn blocks(room: &Algebra, size: i64, scope: &Scope<'_>) -> Result<Algebra, PlanError> {
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
