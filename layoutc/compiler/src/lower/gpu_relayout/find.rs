//! Index computations of a GPU thread: from a slot of the destination to its element in the source.

use crate::ir::{Expr, Primitive, Stmt, Value};
use crate::loops::error::PlanError;
use crate::loops::relayout::address_map::dense_strides;
use crate::lower::context::Context;
use crate::lower::expr::lower;
use crate::lower::gpu_relayout::{GpuRelayout, is_padded};
use crate::lower::index::{dense_offset, domain};
use crate::lower::relayout::builder::place;
use crate::lower::relayout::padding::fill_constant;
use crate::lower::relayout::statement::RelayoutEnd;

impl GpuRelayout<'_, '_> {
    /// Declaration of the constant that has the fill value. `None` if the kernel writes neither padding nor elements
    /// outside of the source's domain.
    pub(crate) fn constant_fill(&mut self) -> Result<Option<Stmt>, PlanError> {
        let context = self.statement.destination.context();
        let image = self.statement.destination.image()?.is_some();
        let is_padding =
            matches!(self.statement.destination, RelayoutEnd::Layout(_)) && is_padded(context);
        let is_written = is_padding && (context.fills() || image);
        if !is_written && !self.fills_outside() {
            return Ok(None);
        }
        // Texels are written whole: without a fill value of the tensor, padding in an image gets 0.
        let name = self.builder.fill_name();
        fill_constant(context, &name).map(Some)
    }

    /// Statements that compute the logical index of the element at the index `physical` of the destination, and `store`
    /// its value from the source. `physical` is the offset for a dense destination, otherwise one index for each
    /// physical axis. On padding they store the fill value (0 for an image without one) if `fill` is true and there is
    /// such a value, and nothing otherwise.
    pub(crate) fn gather(
        &mut self,
        physical: Vec<Expr>,
        store: &dyn Fn(Value) -> Stmt,
        fill: bool,
    ) -> Result<Vec<Stmt>, PlanError> {
        let to = self.statement.destination;
        let context = match to {
            RelayoutEnd::Dense(context) => {
                let Some(element) = physical.into_iter().next() else {
                    return Err(PlanError::Scope);
                };
                let (names, mut body) = self.decompose(context, &element)?;
                body.push(self.found(&names, store)?);
                return Ok(body);
            }
            RelayoutEnd::Layout(context) => context,
        };
        let axes = context.layout.logical();
        let names: Vec<String> = axes.iter().map(|axis| self.builder.local(&axis.name)).collect();
        let mut args = context.symbol_args();
        args.extend(physical);
        args.extend(names.iter().map(|name| Expr::Address { name: name.clone() }));
        let find = context.function("logical");
        let mut body = Vec::new();
        if !names.is_empty() {
            body.push(Stmt::Declare { names: names.clone() });
        }
        let found = self.found(&names, store)?;
        if !is_padded(context) {
            if !names.is_empty() {
                body.push(Primitive::Call { name: find, args }.into());
            }
            body.push(found);
            return Ok(body);
        }
        let mut otherwise = Vec::new();
        if fill && (context.fills() || to.image()?.is_some()) {
            otherwise.push(store(Value::Name { name: self.builder.fill_name() }));
        }
        let condition = Expr::call(&find, args);
        body.push(Stmt::If { condition, likely: false, body: vec![found], otherwise });
        Ok(body)
    }

    /// True if elements of the destination that are outside of the source's domain get the fill value; false if they
    /// keep their values, or there are none.
    pub(crate) fn fills_outside(&self) -> bool {
        let source = self.statement.source.context();
        let leaves_out = matches!(self.statement.source, RelayoutEnd::Layout(_))
            && source.layout.domain().is_some();
        leaves_out && self.statement.destination.context().fills_outside()
    }

    /// Statement that stores the source's value of the element whose index variables in the destination are `names`. If
    /// the element is outside of the source's domain, stores the fill value or nothing, see `fills_outside`.
    pub(crate) fn found(
        &mut self,
        names: &[String],
        store: &dyn Fn(Value) -> Stmt,
    ) -> Result<Stmt, PlanError> {
        let stored = store(self.source(names)?);
        let RelayoutEnd::Layout(source) = self.statement.source else { return Ok(stored) };
        let matched: Vec<String> =
            self.axes.iter().filter_map(|k| names.get(*k).cloned()).collect();
        let condition = domain::holds(source, &matched)?;
        let mut otherwise = Vec::new();
        if self.fills_outside() {
            let fill = Value::Name { name: self.builder.fill_name() };
            // The dense tensor may have another element type than the fill value.
            let fill = if matches!(self.statement.destination, RelayoutEnd::Dense(_)) {
                fill.cast(self.builder.cast)
            } else {
                fill
            };
            otherwise.push(store(fill));
        }
        Ok(domain::guarded(condition, stored, otherwise))
    }

    /// Delinearization of `offset` in the dense row-major tensor of `context`: pair of the names of the index
    /// variables, one for each logical axis, and of the statements that declare them.
    pub(crate) fn decompose(
        &mut self,
        context: &Context<'_>,
        offset: &Expr,
    ) -> Result<(Vec<String>, Vec<Stmt>), PlanError> {
        let symbol = |var| context.symbol(var);
        let axes = context.layout.logical();
        let names: Vec<String> = axes.iter().map(|axis| self.builder.local(&axis.name)).collect();
        let mut lets = Vec::new();
        for (k, ((axis, stride), name)) in
            axes.iter().zip(dense_strides(axes)?).zip(&names).enumerate()
        {
            let (stride, extent) = (lower(&stride, &symbol)?, lower(&axis.extent, &symbol)?);
            let one = Expr::int(1);
            let above = match stride {
                stride if stride == one => offset.clone(),
                stride => Expr::Div { a: Box::new(offset.clone()), b: Box::new(stride) },
            };
            let value = match extent {
                extent if extent == one => Expr::int(0),
                _ if k == 0 => above,
                extent => Expr::Mod { a: Box::new(above), b: Box::new(extent) },
            };
            lets.push(Stmt::Let { name: name.clone(), value });
        }
        Ok((names, lets))
    }

    /// Value in the source, cast to the destination's type, of the element whose index variables in the destination are
    /// `names`.
    pub(crate) fn source(&self, names: &[String]) -> Result<Value, PlanError> {
        Ok(self.read(names)?.cast(self.builder.cast))
    }

    fn read(&self, names: &[String]) -> Result<Value, PlanError> {
        let context = self.statement.source.context();
        let matched: Vec<String> =
            self.axes.iter().filter_map(|k| names.get(*k).cloned()).collect();
        let buffer = self.builder.buffer_name(0);
        let through = self.statement.source.is_packed().then(|| context.function("load"));
        let symbol = |var| context.symbol(var);
        match self.statement.source {
            RelayoutEnd::Dense(_) => {
                let index = dense_offset(context.layout.logical(), &matched, &symbol)?;
                Ok(Value::Load { buffer, index, through })
            }
            RelayoutEnd::Layout(_) if self.statement.source.image()?.is_some() => {
                let mut args = context.symbol_args();
                args.extend(matched.iter().map(|name| Expr::name(name)));
                let indices = (0..context.layout.physical_shape().len())
                    .map(|k| Expr::call(&context.function(&format!("index_{k}")), args.clone()));
                let args = [Expr::name(&buffer)].into_iter().chain(indices).collect();
                Ok(Value::Fetch { function: context.function("fetch"), args })
            }
            RelayoutEnd::Layout(_) => {
                Ok(Value::Load { buffer, index: place(context, &matched), through })
            }
        }
    }
}
