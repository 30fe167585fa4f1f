//! Kernels whose thread blocks copy tiles: read in the order of the source, written in the order of the destination.

use crate::base::dtype::{Dtype, Scalar};
use crate::ir::Stmt;
use crate::loops::error::PlanError;
use crate::loops::gpu_relayout::schedule::{TilePadding, TileSchedule, TiledRelayout};
use crate::lower::gpu_relayout::body::{Block, RegisterArray, TileLowering};
use crate::lower::gpu_relayout::item::kernel;
use crate::lower::gpu_relayout::{GpuRelayout, word};
use crate::lower::launch::{Items, Kernel, Unaligned};
use crate::lower::relayout::builder::RelayoutBuilder;
use crate::lower::relayout::padding::{fill_bits, fill_constant};
use crate::machine::GPU;

impl GpuRelayout<'_, '_> {
    /// Kernels that copy tiles, in launch order: the kernel that copies the elements, preceded by a kernel called
    /// `fill_name`, which fills the destination, if the schedule has one.
    pub(crate) fn tiles(
        &self,
        tiled: &TiledRelayout,
        fill_name: &str,
    ) -> Result<Vec<Kernel>, PlanError> {
        let (mut kernels, mut fill) = (Vec::new(), None);
        match tiled.padding {
            TilePadding::Kept => {}
            TilePadding::First => kernels.push(self.fill(fill_name)?),
            TilePadding::InTiles => fill = Some(fill_bits(self.statement.destination.context())?),
        }
        let mut kernel = self.tile_kernel(&tiled.single, fill)?;
        if let Some(wide) = &tiled.wide {
            let [read, written] = wide.word_bytes();
            let (alignment_bytes, plain) = (read.max(written), Box::new(kernel));
            kernel = self.tile_kernel(wide, fill)?;
            kernel.unaligned = Some(Unaligned { alignment_bytes, plain });
        }
        kernels.push(kernel);
        Ok(kernels)
    }

    /// Kernel that copies tiles. `fill` has the bits of the value for slots without an element; `None` if these are not
    /// written.
    fn tile_kernel(&self, schedule: &TileSchedule, fill: Option<u64>) -> Result<Kernel, PlanError> {
        let symbols = self.statement.symbols();
        let scope = |var| self.statement.symbol(var);
        let items = Items::of_blocks(&schedule.tiles, GPU.relayout_blocks, &scope)?;
        let mut builder = self.builder.clone();
        let types = schedule.words.map(|word| self.word(word, schedule, fill.unwrap_or(0)));
        let starts = [0, 1].map(|which| {
            let name = format!("{}_start", builder.buffer_name(which));
            builder.local(&name)
        });
        let mut body = Vec::new();
        let buffers = seen(&mut builder, types, schedule, &mut body);
        let fill = match fill {
            Some(bits) => {
                // Transpose tiles get their fill value as they are read.
                let name = builder.fill_name();
                body.push(self.fill_element(&name, types[0], schedule, bits)?);
                Some(name)
            }
            None => None,
        };
        let [tile_name, item] = ["tile", "item"].map(|name| builder.local(name));
        let staged = schedule.staging.as_ref().map(|staging| (builder.local("staged"), staging));
        let [held, round] = ["held", "round"].map(|name| builder.local(name));
        let block = schedule.tile.transpose.map(|tile| {
            let [read, _] = schedule.word_bytes();
            let bits = read.saturating_mul(8).div_euclid(tile.columns);
            let scalar = if bits == 64 { Scalar::U64 } else { Dtype::integers(bits / 8).scalar };
            let dtype = Dtype { scalar, lanes: 1 };
            Block { tile, dtype, held: held.clone(), transposed: builder.local("transposed") }
        });
        let out = block.as_ref().map_or(&held, |block| &block.transposed);
        let [read, written] = schedule.held;
        let held = [(read, &held), (written, out)].map(|(rounds, name)| {
            rounds.map(|rounds| RegisterArray { name: name.clone(), round: round.clone(), rounds })
        });
        let digits = schedule.digits.list.iter();
        let names = digits.map(|digit| builder.local(&digit.name)).collect();
        let mut lowering = TileLowering {
            schedule,
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
        body.extend(lowering.kernel(&tile_name)?);
        let mut kernel = kernel(builder, body, vec![items]);
        kernel.group = Some(GPU.threads);
        Ok(kernel)
    }

    /// Type of a word of `together` elements: the element type for one element without transposition, otherwise an
    /// integer type. `fill` has the bits of the fill value, which the word type must be able to repeat.
    fn word(&self, together: i64, schedule: &TileSchedule, fill: u64) -> Dtype {
        let dtype = self.statement.destination.dtype();
        match (together, schedule.tile.transpose) {
            (1, None) => dtype,
            _ => word::element(dtype, together, fill),
        }
    }

    /// Declaration of the constant `name` of type `word`, with the fill value of the bits `bits` in every element of
    /// the word.
    fn fill_element(
        &self,
        name: &str,
        word: Dtype,
        schedule: &TileSchedule,
        bits: u64,
    ) -> Result<Stmt, PlanError> {
        let context = self.statement.destination.context();
        if schedule.words == [1, 1] {
            return fill_constant(context, name);
        }
        Ok(word::fill_constant(context.tensor.dtype, name, word, bits))
    }
}

/// Names of source and destination for accesses of the words of `schedule`, whose types are `types`. For words of
/// several elements, appends a comment and the declarations of aliases of the buffers to `body`.
fn seen(
    builder: &mut RelayoutBuilder<'_>,
    types: [Dtype; 2],
    schedule: &TileSchedule,
    body: &mut Vec<Stmt>,
) -> [String; 2] {
    let [read, written] = schedule.words;
    let text = match schedule.tile.transpose {
        None if written == 1 => return [0, 1].map(|which| builder.buffer_name(which)),
        None => format!("{written} elements are moved as one."),
        Some(_) => {
            format!(
                "Transposes {written}x{read} elements in registers: loads of {read}, stores of {written}."
            )
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
