//! Checked model of a manifest: [`Manifest`] holds tensors with proven layouts, conversions, kernels and graphs.
//! [`check`](crate::check) creates it, and later stages rely on its invariants: other crates cannot construct a
//! manifest, tensor, view, conversion, kernel or graph, and a test ensures that no other stage does so by a literal.

pub mod compute;
pub mod graph;
pub mod layout_names;
pub mod reshard;
pub mod ring;
pub mod schedule;

mod convert;
mod memory_footprint;
mod tensor;
mod view;
mod warp_access;

use std::borrow::Cow;

use crate::base::diagnostic::FileSpan;
pub use crate::base::fill::{Fill, FillValue};
pub use crate::manifest::syntax::{FillStrategy, InnerKernel, Memory, StorePolicy};

use self::compute::KernelInstance;
pub use self::convert::{Convert, ConvertSchedule};
use self::graph::Graph;
pub use self::memory_footprint::{MemoryFootprint, layout_bytes};
use self::reshard::Reshard;
use self::schedule::GraphSchedule;
pub use self::tensor::{MemorySpace, PackFrom, Tensor, TensorSpans, fill_fault};
pub(crate) use self::view::splits_at_digits;
pub use self::view::{MemoryOwner, TensorRef, View, ViewKind};
pub use self::warp_access::{WarpAccess, WarpAccessFault};

/// Value with the span in the manifest where it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spanned<T> {
    /// Value as the manifest gives it.
    pub value: T,
    /// Span in the manifest of the value, or of the node that gives it.
    pub place: FileSpan,
}

/// Checked manifest, with only the declarations that have no errors.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Manifest {
    /// Path of the manifest, as the caller gave it.
    pub path: String,
    /// Tensors, in the order of the manifest; after the graphs are solved, followed by the tensors of their schedules.
    pub tensors: Vec<Tensor>,
    /// Views, each after its base.
    pub views: Vec<View>,
    /// Conversions without data exchange between devices, in the order of the manifest; after the graphs are solved,
    /// followed by the conversions of their schedules. Of a sharded tensor, each device converts its own shard.
    pub converts: Vec<Convert>,
    /// Conversions that exchange data between devices, in the order of the manifest.
    pub reshards: Vec<Reshard>,
    /// Kernels, each bound to the tensors of one instance.
    pub computes: Vec<KernelInstance>,
    /// Operator graphs, in the order of the manifest.
    pub graphs: Vec<Graph>,
    /// Schedules of the solved graphs, in the order of `graphs`; empty before the graphs are solved.
    pub schedules: Vec<GraphSchedule>,
}

impl Manifest {
    /// Manifest at `path` without any declaration.
    pub(crate) fn empty(path: String) -> Self {
        Self {
            path,
            tensors: Vec::new(),
            views: Vec::new(),
            converts: Vec::new(),
            reshards: Vec::new(),
            computes: Vec::new(),
            graphs: Vec::new(),
            schedules: Vec::new(),
        }
    }

    /// Tensor or view that `of` refers to, in the form of a tensor; `None` if there is none.
    pub fn tensor(&self, of: TensorRef) -> Option<&Tensor> {
        match of {
            TensorRef::Tensor(k) => self.tensors.get(k),
            TensorRef::View(k) => self.views.get(k).map(|view| &view.tensor),
        }
    }

    /// True if the manifest has a conversion that exchanges data between devices, or one with a sharded source of which
    /// every device converts its own shard. Files that use MPI are generated only then.
    pub fn needs_mpi(&self) -> bool {
        let is_cut = |convert: &Convert| {
            self.tensor(convert.from).is_some_and(|tensor| tensor.sharded.is_some())
        };
        !self.reshards.is_empty() || self.converts.iter().any(is_cut)
    }

    /// Copy of the manifest in which each instance `NAME` with a loop schedule, complete schedules or tile caches is
    /// followed by an instance `NAME_auto`: the same kernel without these, so that the planner chooses everything.
    /// `NAME_auto` is left out if another instance has this name, ignoring case.
    #[must_use]
    pub fn with_unscheduled_instances(&self) -> Self {
        let mut computes = Vec::with_capacity(self.computes.len());
        for compute in &self.computes {
            computes.push(compute.clone());
            let auto = compute.unscheduled().filter(|auto| {
                !self.computes.iter().any(|other| other.name.eq_ignore_ascii_case(&auto.name))
            });
            computes.extend(auto);
        }
        Self { computes, ..self.clone() }
    }

    /// Manifest restricted to the target `target`: the tensors that are generated for it, and the views, conversions
    /// and kernels that use only these tensors. If all tensors are, the manifest itself is borrowed. Otherwise it is a
    /// copy with all graphs and without `schedules`, so that the restriction must precede the solving of graphs.
    #[must_use]
    pub fn for_target(&self, target: &str) -> Cow<'_, Self> {
        let wanted = |tensor: &Tensor| tensor.is_for(target);
        if self.tensors.iter().all(wanted) {
            return Cow::Borrowed(self);
        }
        let mut position = Vec::new();
        let mut tensors = Vec::new();
        for tensor in &self.tensors {
            position.push(wanted(tensor).then_some(tensors.len()));
            if wanted(tensor) {
                tensors.push(tensor.clone());
            }
        }
        let at = |k: usize| position.get(k).copied().flatten();
        let reshard = |reshard: &Reshard| {
            Some(Reshard { from: at(reshard.from)?, to: at(reshard.to)?, ..reshard.clone() })
        };
        let reshards = self.reshards.iter().filter_map(reshard).collect();
        let mut views = Vec::new();
        let mut view_position: Vec<Option<usize>> = Vec::new();
        let referred = |of: TensorRef, view_position: &[Option<usize>]| match of {
            TensorRef::Tensor(k) => at(k).map(TensorRef::Tensor),
            TensorRef::View(k) => view_position.get(k).copied().flatten().map(TensorRef::View),
        };
        for view in &self.views {
            let found = referred(view.of, &view_position).zip(at(view.buffer));
            view_position.push(found.map(|_| views.len()));
            views.extend(found.map(|(of, buffer)| View { of, buffer, ..view.clone() }));
        }
        let referred = |of| referred(of, &view_position);
        let convert = |convert: &Convert| {
            let (from, to) = (referred(convert.from)?, referred(convert.to)?);
            Some(Convert { from, to, ..convert.clone() })
        };
        let converts = self.converts.iter().filter_map(convert).collect();
        // A kernel is generated if all its operands are.
        let compute = |compute: &KernelInstance| {
            let mut copy = compute.clone();
            for operand in &mut copy.operands {
                operand.tensor = referred(operand.tensor)?;
            }
            Some(copy)
        };
        let computes = self.computes.iter().filter_map(compute).collect();
        let path = self.path.clone();
        let (graphs, schedules) = (self.graphs.clone(), Vec::new());
        Cow::Owned(Self { path, tensors, views, converts, reshards, computes, graphs, schedules })
    }
}
