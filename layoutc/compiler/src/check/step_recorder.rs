//! Recording of the layout steps of tensors, for tools that trace an index through a layout. Builds record nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use layoutc_algebra::map::IndexMap;
use layoutc_algebra::symbol::Axis;

use super::step_text::integer;
use crate::base::diagnostic::FileSpan;
use crate::manifest::syntax::{IntegerExpr, StepItem, StepKind};
use crate::model::layout_names;

/// Record of one layout step. Transforms are recorded as the steps that they expand to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepRecord {
    /// Text of the step as in a manifest, without the names of new axes.
    pub line: String,
    /// Index maps of the step in the order of application: none if the step changes no axis, sometimes several for a
    /// foreign notation. The first is over the axes before the step.
    pub maps: Vec<IndexMap>,
    /// Sentence on the effect of a step that changes no axes, such as an alignment of the base address; `None` for
    /// other steps, and for `align … at=origin`.
    pub note: Option<String>,
    /// Axes that the layout has after the step.
    pub axes: Vec<Axis>,
    /// Positions in `axes` of the axes after which the layout has an axis separator.
    pub separators: Vec<usize>,
    /// Span of the step in the manifest.
    pub place: FileSpan,
    /// Span of the `apply` step in the tensor's layout whose transform contains this step; `None` for a step of the
    /// layout itself.
    pub within: Option<FileSpan>,
}

/// Steps of each recorded tensor, in order, by (path of the manifest, name of the tensor).
pub type StepRecords = BTreeMap<(Arc<str>, String), Vec<StepRecord>>;

/// Recorder of the layout steps of one tensor, or of all.
#[derive(Debug)]
pub struct Recorder {
    tensor: Option<String>,
    steps: Mutex<StepRecords>,
}

impl Recorder {
    /// Creates a recorder of the tensors with the name `tensor`.
    pub fn new(tensor: &str) -> Self {
        Self { tensor: Some(tensor.to_owned()), steps: Mutex::default() }
    }

    /// Creates a recorder of all tensors.
    pub fn of_all() -> Self {
        Self { tensor: None, steps: Mutex::default() }
    }

    /// Steps of the recorded tensor in order; empty if none was recorded. Of several recorded tensors, those of the
    /// first by path and name.
    pub fn into_steps(self) -> Vec<StepRecord> {
        self.into_all().into_values().next().unwrap_or_default()
    }

    /// Steps of every tensor without errors that the recorder selects. Views with a layout of their own are recorded
    /// too.
    pub fn into_all(self) -> StepRecords {
        self.steps.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn wants(&self, tensor: &str) -> bool {
        self.tensor.as_ref().is_none_or(|wanted| wanted == tensor)
    }

    /// Stores `steps` as the steps of the tensor `tensor` in the manifest at the path `file`. If steps are stored for
    /// the tensor already, `steps` is dropped.
    pub(super) fn take(&self, file: &str, tensor: &str, steps: Vec<StepRecord>) {
        let mut all = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry((Arc::from(file), tensor.to_owned())).or_insert(steps);
    }
}

/// Sentence on the effect of a step that changes no axes, such as an alignment of the base address; `None` for other
/// steps, and for `align … at=origin`. `axes` and `separators` are those after the step.
pub(super) fn note(step: &StepItem, axes: &[Axis], separators: &[usize]) -> Option<String> {
    match &step.kind {
        StepKind::Strides(strides) => {
            let one = |(axis, stride): (&Axis, &IntegerExpr)| {
                format!("{} {}", axis.name, integer(stride))
            };
            let all: Vec<String> = axes.iter().zip(strides).map(one).collect();
            Some(format!("strides in elements: {}", all.join(", ")))
        }
        StepKind::AlignAxis { axis, bytes } => {
            let bytes = integer(bytes);
            Some(format!("the stride of {} is a multiple of {bytes} bytes", axis.value))
        }
        StepKind::AlignBase(bytes) => {
            Some(format!("the buffer is aligned to {} bytes", integer(bytes)))
        }
        StepKind::Swizzle { .. } | StepKind::SwizzleMode(_) | StepKind::SwizzleAuto(_) => {
            Some("xors bits of the last physical index".to_owned())
        }
        StepKind::Fill(_) => Some("fill value of the padding".to_owned()),
        StepKind::Padding(_) => Some("rule for padding".to_owned()),
        StepKind::Separators(_) => {
            let names: Vec<String> = axes.iter().map(|axis| axis.name.clone()).collect();
            Some(format!("physical axes: {}", layout_names::separated(&names, separators)))
        }
        _ => None,
    }
}
