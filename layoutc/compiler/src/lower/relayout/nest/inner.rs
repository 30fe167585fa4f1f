//! Statement inside all loops of a relayout, which copies an element, a run or a tile: its bounds and strides.

use layoutc_algebra::expr::{BinOp, Expr as Algebra};

use crate::ir::{Blocks, Expr, Primitive, Stmt, Strided};
use crate::loops::arith::{fold, is_multiple};
use crate::loops::error::PlanError;
use crate::loops::relayout::digits::CommonDigit;
use crate::loops::relayout::plan::Primitives;
use crate::loops::relayout::schedule::RelayoutPrimitive;
use crate::lower::expr::{add, literal, lower, multiply};
use crate::lower::relayout::nest::{Buffer, PartLowering};
use crate::machine::CPU;

/// Pair of the first value of a digit, and of the number of its values.
type Span = (Expr, Expr);

impl PartLowering<'_, '_> {
    /// Statements inside all loops, at the offsets `from` in the source and `to` in the destination, in elements.
    pub(crate) fn inner(&mut self, from: Expr, to: Expr) -> Result<Vec<Stmt>, PlanError> {
        match self.inner {
            RelayoutPrimitive::Element => Ok(vec![self.store(from, to)]),
            RelayoutPrimitive::Transpose { rows, columns, count: Some(count), bytes, .. } => {
                self.transposes([rows, columns, count], bytes, from, to)
            }
            RelayoutPrimitive::Transpose { rows, columns, bytes, .. } => {
                self.transpose([rows, columns], bytes, from, to)
            }
            RelayoutPrimitive::Runs { run, count } => self.runs(run, count, from, to),
        }
    }

    /// Copy of one run of `elements` elements from the offset `from` in the source to the offset `to` in the
    /// destination. If the refinement consists of this run only, and is not known to fit the last-level cache, the copy
    /// may use streaming stores (`CopyRuns`), on a target with primitives. With a cast, the elements are converted
    /// (`CastRuns`).
    pub(crate) fn copy(&self, from: Expr, to: Expr, elements: Expr) -> Result<Stmt, PlanError> {
        if let Some(cast) = self.cast {
            let place = |buffer: &Buffer, index| Strided {
                buffer: buffer.name.clone(),
                index,
                stride: Expr::int(0),
            };
            let (to, from) = (place(self.to, to), place(self.from, from));
            let count = Expr::int(1);
            return Ok(Primitive::CastRuns { cast, to, from, count, elements }.into());
        }
        let bytes = multiply(elements, literal(element_bytes(self.to))?)?;
        let alone = self.refinement.digits.iter().filter(|digit| !digit.is_unit()).count() == 1;
        let cached =
            matches!(self.whole_bytes, Expr::Int { value } if (0..=CPU.llc_bytes).contains(&value));
        if self.primitives == Primitives::None || !alone || cached {
            let (to_buffer, from_buffer) = (self.to.name.clone(), self.from.name.clone());
            let (to_index, from_index) = (to, from);
            let (to, from) = (to_buffer, from_buffer);
            return Ok(Primitive::Copy { to, to_index, from, from_index, bytes }.into());
        }
        let (buffer, stride) = (self.from.name.clone(), Expr::int(0));
        let from = Strided { buffer, index: from, stride: stride.clone() };
        let to = Strided { buffer: self.to.name.clone(), index: to, stride };
        let (count, whole_bytes) = (Expr::int(1), self.whole_bytes.clone());
        Ok(Primitive::CopyRuns { to, from, count, bytes, whole_bytes }.into())
    }

    fn transpose(
        &mut self,
        [rows, columns]: [usize; 2],
        bytes: u32,
        from: Expr,
        to: Expr,
    ) -> Result<Vec<Stmt>, PlanError> {
        let digits = [rows, columns].map(|k| self.refinement.digits.get(k).cloned());
        let [Some(row), Some(column)] = digits else { return Ok(Vec::new()) };
        let mut body = Vec::new();
        let typical = [(rows, &row), (columns, &column)].map(|(k, digit)| self.typical(k, digit));
        let (row_start, row_count) = self.span(&mut body, rows)?;
        let (column_start, column_count) = self.span(&mut body, columns)?;
        let from = self.at(from, &row_start, &row.from_stride)?;
        let from = self.at(from, &column_start, &column.from_stride)?;
        let to = self.at(to, &row_start, &row.to_stride)?;
        let to = self.at(to, &column_start, &column.to_stride)?;
        let to = self.strided(self.to, to, &column.to_stride)?;
        let from = self.strided(self.from, from, &row.from_stride)?;
        let (rows, columns, whole_bytes) = (row_count, column_count, self.whole_bytes.clone());
        let primitive = match self.cast {
            None => Primitive::Transpose {
                element_bytes: bytes,
                to,
                from,
                rows,
                columns,
                typical,
                whole_bytes,
                blocks: None,
            },
            Some(cast) => {
                let element = element_bytes(self.from).min(element_bytes(self.to));
                let together = i128::from(bytes).checked_div(element);
                let together = together.and_then(|n| u32::try_from(n).ok()).unwrap_or(1);
                Primitive::CastTranspose { cast, together, to, from, rows, columns, whole_bytes }
            }
        };
        body.push(primitive.into());
        Ok(body)
    }

    /// One call that transposes the tiles of all values of digit `count`, with the digits `rows` and `columns` of a
    /// tile, at the offsets `from` and `to`, preceded by declarations. `element_bytes` is the size of what is
    /// transposed as one element.
    fn transposes(
        &mut self,
        [rows, columns, count]: [usize; 3],
        element_bytes: u32,
        from: Expr,
        to: Expr,
    ) -> Result<Vec<Stmt>, PlanError> {
        let Some(counted) = self.refinement.digits.get(count).cloned() else {
            return Ok(Vec::new());
        };
        let mut body = Vec::new();
        let (_, count) = self.span(&mut body, count)?;
        let to_step = self.stride(self.to, &counted.to_stride)?;
        let from_step = self.stride(self.from, &counted.from_stride)?;
        let from_next = self.next_round()?;
        body.extend(self.transpose([rows, columns], element_bytes, from, to)?);
        if let Some(Stmt::Primitive(Primitive::Transpose { blocks, .. })) = body.last_mut() {
            *blocks = Some(Box::new(Blocks { count, to_step, from_step, from_next }));
        }
        Ok(body)
    }

    /// Distance in the source between consecutive iterations of the innermost loop, in bytes; 0 without a loop.
    fn next_round(&self) -> Result<Expr, PlanError> {
        let Some(level) = self.innermost else { return Ok(Expr::int(0)) };
        let Some(digit) = self.refinement.digits.get(level.digit()) else {
            return Ok(Expr::int(0));
        };
        let step = Algebra::constant(i128::from(level.step()));
        let stride = fold(BinOp::Mul, &digit.from_stride, &step)?;
        self.stride(self.from, &stride)
    }

    fn runs(
        &mut self,
        run: usize,
        count: usize,
        from: Expr,
        to: Expr,
    ) -> Result<Vec<Stmt>, PlanError> {
        let Some(counted) = self.refinement.digits.get(count).cloned() else {
            return Ok(Vec::new());
        };
        let mut body = Vec::new();
        let (start, length) = self.span(&mut body, run)?;
        let one = Algebra::constant(1);
        let (from, to) = (self.at(from, &start, &one)?, self.at(to, &start, &one)?);
        let (first, count) = self.span(&mut body, count)?;
        let from = self.at(from, &first, &counted.from_stride)?;
        let to = self.at(to, &first, &counted.to_stride)?;
        let to = self.strided(self.to, to, &counted.to_stride)?;
        let from = self.strided(self.from, from, &counted.from_stride)?;
        let primitive = match self.cast {
            None => Primitive::CopyRuns {
                to,
                from,
                count,
                bytes: multiply(length, literal(element_bytes(self.to))?)?,
                whole_bytes: self.whole_bytes.clone(),
            },
            Some(cast) => Primitive::CastRuns { cast, to, from, count, elements: length },
        };
        body.push(primitive.into());
        Ok(body)
    }

    /// First value of digit `k` inside all loops, and number of its values, which is 0 or negative if there is none;
    /// appends declarations to `before`.
    fn span(&mut self, before: &mut Vec<Stmt>, k: usize) -> Result<Span, PlanError> {
        let Some(digit) = self.refinement.digits.get(k) else {
            return Ok((Expr::int(0), Expr::int(0)));
        };
        let block = self.blocks.iter().position(|(blocked, ..)| *blocked == k);
        let block = block.map(|at| self.blocks.swap_remove(at));
        let (more, (_, high)) = self.loop_bounds(k, digit, &[])?;
        before.extend(more);
        let Some((_, block, size)) = block else { return Ok((Expr::int(0), high)) };
        let start = Expr::name(&block);
        let left = add(high, Expr::Neg { a: Box::new(start.clone()) })?;
        let whole = is_multiple(&digit.extent, i128::from(size), self.symbols)
            && !self.refinement.is_guarded(digit.chain, self.symbols);
        let count = if whole { Expr::int(size) } else { left.min(Expr::int(size)) };
        Ok((start, count))
    }

    /// Number of values of digit `k` in most iterations of the loops around: the size of its tiles, or its extent.
    /// `None` if the extent depends on symbols, or does not fit 32 bits.
    fn typical(&self, k: usize, digit: &CommonDigit) -> Option<u32> {
        let block = self.blocks.iter().find(|(blocked, ..)| *blocked == k);
        let size = block.map(|(.., size)| i128::from(*size)).or(digit.extent.as_const())?;
        u32::try_from(size).ok()
    }

    /// Offset `offset + start * stride`, in elements.
    fn at(&self, offset: Expr, start: &Expr, stride: &Algebra) -> Result<Expr, PlanError> {
        add(offset, multiply(start.clone(), lower(stride, self.scope)?)?)
    }

    fn strided(
        &self,
        buffer: &Buffer,
        index: Expr,
        stride: &Algebra,
    ) -> Result<Strided, PlanError> {
        Ok(Strided { buffer: buffer.name.clone(), index, stride: self.stride(buffer, stride)? })
    }

    /// Stride in bytes of `buffer`, for the stride `stride` in elements.
    fn stride(&self, buffer: &Buffer, stride: &Algebra) -> Result<Expr, PlanError> {
        let bytes = Algebra::constant(element_bytes(buffer));
        lower(&fold(BinOp::Mul, stride, &bytes)?, self.scope)
    }
}

fn element_bytes(buffer: &Buffer) -> i128 {
    buffer.element_bits.checked_div(8).unwrap_or(1)
}
