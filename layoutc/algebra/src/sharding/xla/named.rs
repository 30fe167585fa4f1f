//! Parser of shardings over a mesh, XLA's third form:
//! `{mesh['a'=2,'b'=4], [{'a'}, {'b':(1)2, ?}], replicated={'b':(2)2}}`.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::axis_refs::{SpannedAxisRef, disjoint, sorted, unmerged};
use super::parser::{ShardingParser, few, product};
use crate::expr::parse::Span;
use crate::notation::NotationFault;
use crate::sharding::iota::IotaOrder;
use crate::sharding::mesh::{Mesh, MeshAxis};
use crate::sharding::named::{AxisRef, AxisSharding, NamedSharding};
use crate::sharding::order::DeviceOrder;
use crate::sharding::placement::{DevicePlacement, Subgroup, TensorSharding};

/// Mesh axes of each kind of subgroup, with their byte ranges.
type SubgroupAxes = [(Subgroup, Vec<SpannedAxisRef>); 3];

impl ShardingParser<'_> {
    /// Parses a sharding that starts with `mesh` or `maximal_mesh`, after its `{` and including its `}`.
    pub(super) fn named(&mut self) -> Result<TensorSharding, NotationFault> {
        let placement = match self.word().0 {
            "mesh" => {
                let mesh = self.mesh()?;
                self.eat(",");
                let order = self.device_ids(&mesh)?;
                DevicePlacement::Named(self.over(mesh, order)?)
            }
            _ => self.maximal_mesh()?,
        };
        self.expect("}")?;
        Ok(TensorSharding { placement, group: None })
    }

    /// Parses the device of a tensor that is on one device as a whole, such as `[device_id=5]` after
    /// `maximal_mesh`.
    fn maximal_mesh(&mut self) -> Result<DevicePlacement, NotationFault> {
        self.expect("[")?;
        self.expect("device_id=")?;
        let (device, _) = self.number("a device")?;
        self.expect("]")?;
        while self.eat(",") {
            self.expect("metadata=")?;
            self.metadata()?;
        }
        Ok(DevicePlacement::MaximalMesh { device })
    }

    /// Parses the axes of a mesh, such as `['a'=2,'b'=4]` after `mesh`, major to minor.
    fn mesh(&mut self) -> Result<Mesh, NotationFault> {
        self.blank();
        let start = self.cursor.at();
        self.expect("[")?;
        let mut axes: Vec<MeshAxis> = Vec::new();
        if !self.eat("]") {
            axes = self
                .list("]", |parser| {
                    let (name, span) = parser.name()?;
                    parser.expect("=")?;
                    let (size, _) = parser.size("devices")?;
                    Ok((name, span, size))
                })?
                .into_iter()
                .try_fold(axes, |mut axes, (name, span, size)| {
                    if axes.iter().any(|axis| axis.name == name) {
                        let message = format!("two axes of the mesh are called `{name}`");
                        let fault = NotationFault::value(span, message);
                        return Err(fault.help("give one of them another name"));
                    }
                    axes.push(MeshAxis { name, size });
                    Ok(axes)
                })?;
        }
        let span = start..self.cursor.at();
        few(axes.len(), "axes", &span)?;
        product(axes.iter().map(|axis| axis.size), &span)?;
        Ok(Mesh { axes })
    }

    /// Parses a name in single or double quotes, with its byte range.
    pub(super) fn name(&mut self) -> Result<(String, Span), NotationFault> {
        self.blank();
        let start = self.cursor.at();
        let quote = match self.cursor.next() {
            Some((quote @ ('\'' | '"'), _)) => quote,
            Some((c, span)) => {
                let message = format!("expected a name in quotes, found `{}`", c.escape_default());
                let fault = NotationFault::syntax(span, message);
                return Err(fault.help("write `'x'`"));
            }
            None => return Err(self.cursor.expected("a name in quotes")),
        };
        let (name, inner) = self.cursor.take_while(|c| c != quote);
        self.expect_quote(quote)?;
        let span = start..self.cursor.at();
        let is_odd = |c: char| c.is_control() || matches!(c, '\'' | '"' | '\\');
        if let Some((at, c)) = name.char_indices().find(|(_, c)| is_odd(*c)) {
            let place = inner.start + at..inner.start + at + c.len_utf8();
            let fault =
                NotationFault::unsupported(place, "this character is not allowed in a name");
            return Err(fault.help("write letters, digits and `_`"));
        }
        if name.is_empty() {
            let fault = NotationFault::value(span, "an axis without a name");
            return Err(fault.help("write one: `'x'`"));
        }
        Ok((name.to_string(), span))
    }

    fn expect_quote(&mut self, quote: char) -> Result<(), NotationFault> {
        let mut text = [0; 4];
        self.cursor.expect(quote.encode_utf8(&mut text))
    }

    /// Parses the order of the devices of `mesh`, such as `device_ids=([4,2]T(1,0)),`; row-major order if the text does
    /// not continue with `device_ids=`. A list in ascending order is a fault.
    fn device_ids(&mut self, mesh: &Mesh) -> Result<DeviceOrder, NotationFault> {
        let count = mesh.devices().unwrap_or(1);
        self.blank();
        let start = self.cursor.at();
        if !self.cursor.eat("device_ids=") {
            return Ok(DeviceOrder::Iota(IotaOrder::row_major(count)));
        }
        self.expect("(")?;
        let places = "places of the mesh";
        let order =
            if self.eat("[") { self.iota(count, places)? } else { self.devices(count, places)? };
        self.expect(")")?;
        if let DeviceOrder::List(list) = &order
            && list.is_sorted()
        {
            let span = start..self.cursor.at();
            let fault = NotationFault::value(span, "the devices are in their own order");
            return Err(fault.help("leave `device_ids` out"));
        }
        self.eat(",");
        Ok(order)
    }

    /// Parses the text after a mesh and its device order, such as `[{'a'}, {}], replicated={'b'}` or `manual`: the mesh
    /// axes that shard each tensor axis, then the mesh axes of each subgroup. Returns the sharding over `mesh` with the
    /// device order `order`. A mesh axis that is used twice, and a list that XLA would write differently, are faults.
    fn over(&mut self, mesh: Mesh, order: DeviceOrder) -> Result<NamedSharding, NotationFault> {
        let mut shared: SubgroupAxes = Subgroup::ALL.map(|kind| (kind, Vec::new()));
        let (word, span) = self.word();
        let cuts = if word.is_empty() {
            self.cuts(&mesh)?
        } else {
            whole(word, &span, &mesh, &mut shared)?;
            Vec::new()
        };
        while self.eat(",") {
            self.shared(&mesh, !word.is_empty(), &mut shared)?;
        }
        let cut = cuts.iter().flat_map(|(_, parts)| parts);
        disjoint(cut.chain(shared.iter().flat_map(|row| &row.1)), &mesh)?;
        for (_, parts) in &cuts {
            unmerged(parts, &mesh)?;
        }
        for (kind, parts) in &shared {
            sorted(*kind, parts, &mesh)?;
            unmerged(parts, &mesh)?;
        }
        if cuts.is_empty()
            && let Some(kind) = of_all(&shared, &mesh)
        {
            shared = Subgroup::ALL.map(|kind| (kind, Vec::new()));
            whole(kind.word(), &span, &mesh, &mut shared)?;
        }
        Ok(NamedSharding {
            mesh,
            order,
            cuts: cuts.into_iter().map(|(cut, _)| cut).collect(),
            shared: shared.map(|(kind, parts)| (kind, parts.into_iter().map(|p| p.0).collect())),
        })
    }

    /// Parses the mesh axes that shard each tensor axis, such as `[{'a'}, {}]`; `[]` gives an empty list. Returns a
    /// pair per tensor axis: its sharding, and the mesh axes of that sharding with their byte ranges.
    fn cuts(
        &mut self,
        mesh: &Mesh,
    ) -> Result<Vec<(AxisSharding, Vec<SpannedAxisRef>)>, NotationFault> {
        let start = self.cursor.at();
        if !self.cursor.eat("[") {
            return Err(self.cursor.expected("`[`, `replicated`, `unreduced` or `manual`"));
        }
        if self.eat("]") {
            return Ok(Vec::new());
        }
        let cuts = self.list("]", |parser| parser.cut(mesh))?;
        few(cuts.len(), "axes", &(start..self.cursor.at()))?;
        Ok(cuts)
    }

    /// Parses the mesh axes of a subgroup, such as `replicated={'b'}`, into `shared`; skips an attribute
    /// `metadata={…}`. `is_whole` is true if a keyword for the whole tensor precedes; a subgroup is then a fault.
    fn shared(
        &mut self,
        mesh: &Mesh,
        is_whole: bool,
        shared: &mut SubgroupAxes,
    ) -> Result<(), NotationFault> {
        let (word, span) = self.word();
        if word == "metadata" {
            self.cursor.expect("=")?;
            return self.metadata();
        }
        let row = shared.iter_mut().find(|row| row.0.word() == word);
        let Some(row) = row.filter(|_| !is_whole) else {
            if word.is_empty() {
                return Err(self.cursor.expected("a word"));
            }
            let message = format!("`{word}` is not allowed here");
            let fault = NotationFault::syntax(span, message);
            return Err(fault.help(
                "after the axis shardings, `replicated=`, `unreduced=` or `manual=` may follow",
            ));
        };
        self.cursor.expect("=")?;
        self.expect("{")?;
        if !row.1.is_empty() {
            let message = format!("`{word}` is repeated");
            let fault = NotationFault::value(span, message);
            return Err(fault.help("write all its axes in one list"));
        }
        if !self.eat("}") {
            row.1 = self.list("}", |parser| parser.part(mesh))?;
        }
        Ok(())
    }

    /// Parses the mesh axes that shard one tensor axis, such as `{'a', 'b':(1)2, ?}`. Returns the sharding, and its
    /// mesh axes with their byte ranges in the text.
    fn cut(&mut self, mesh: &Mesh) -> Result<(AxisSharding, Vec<SpannedAxisRef>), NotationFault> {
        self.expect("{")?;
        let (mut parts, mut is_open) = (Vec::new(), false);
        if !self.eat("}") {
            loop {
                if self.eat("?") {
                    is_open = true;
                    self.expect("}")?;
                    break;
                }
                parts.push(self.part(mesh)?);
                if self.eat("}") {
                    break;
                }
                self.blank();
                if !self.cursor.eat(",") {
                    return Err(self.cursor.expected("`,` or `}`"));
                }
            }
        }
        let cut = AxisSharding { parts: parts.iter().map(|(part, _)| *part).collect(), is_open };
        Ok((cut, parts))
    }
}

/// Subgroup, unreduced or manual, whose mesh axes together have as many devices as the whole mesh; `None` if there is
/// none. As in XLA's printer, mesh axes of size 1 may be missing in the subgroup.
fn of_all(shared: &SubgroupAxes, mesh: &Mesh) -> Option<Subgroup> {
    let is_all = |kind: &Subgroup| {
        let parts = shared.iter().find(|row| row.0 == *kind).map(|row| &row.1);
        parts.is_some_and(|parts| {
            let size = parts.iter().map(|(part, _)| part.size).product::<i64>();
            !parts.is_empty() && Some(size) == mesh.devices()
        })
    };
    [Subgroup::Unreduced, Subgroup::Manual].into_iter().find(is_all)
}

/// Applies the keyword `word` for the whole tensor, at the byte range `span`. `manual` and `unreduced` set the mesh
/// axes of that subgroup in `shared` to all axes of `mesh`, each with the byte range `span`; a mesh without axes is
/// then a fault. `replicated` changes nothing. Another keyword is a fault.
fn whole(
    word: &str,
    span: &Span,
    mesh: &Mesh,
    shared: &mut SubgroupAxes,
) -> Result<(), NotationFault> {
    if word == Subgroup::Replicated.word() {
        return Ok(());
    }
    let Some(row) = shared.iter_mut().find(|row| row.0.word() == word) else {
        let message = format!("`{word}` does not follow a mesh");
        let fault = NotationFault::syntax(span.clone(), message);
        return Err(fault.help("write the mesh axes of each tensor axis: `[{'a'}, {}]`"));
    };
    if mesh.axes.is_empty() {
        let message = format!("`{word}` needs a mesh with axes");
        let fault = NotationFault::value(span.clone(), message);
        return Err(fault.help("write its axes: `mesh['a'=2]`"));
    }
    let axes = mesh.axes.iter().map(|axis| axis.size).enumerate();
    row.1 = axes.map(|(axis, size)| (AxisRef { axis, before: 1, size }, span.clone())).collect();
    Ok(())
}
