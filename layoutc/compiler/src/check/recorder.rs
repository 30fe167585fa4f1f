//! What the steps of tensors did, for whoever wants to follow an index through them. Builds record nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use layoutc_algebra::layout::Axis;
use layoutc_algebra::map::IndexMap;

use crate::diagnostic::FileSpan;
use crate::manifest::syntax::{IntegerExpr, StepItem, StepKind};

/// One step of a layout, transforms unfolded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepRecord {
    /// The step as text.
    pub line: String,
    /// The maps that it is, one after another: none where it changes no axis, several for most foreign notations. The
    /// first is over the axes before the step.
    pub maps: Vec<IndexMap>,
    /// What it does besides.
    pub note: Option<String>,
    /// The axes after it.
    pub axes: Vec<Axis>,
    /// After which of them a separator stands.
    pub separators: Vec<usize>,
    /// Where it stands.
    pub place: FileSpan,
    /// The step of the tensor's own layout that applies the transform it stands in, if it stands in one.
    pub within: Option<FileSpan>,
}

/// The steps of tensors, each by its file and its name.
pub type StepRecords = BTreeMap<(Arc<str>, String), Vec<StepRecord>>;

/// Takes down the steps of one tensor, or of all.
#[derive(Debug)]
pub struct Recorder {
    tensor: Option<String>,
    steps: Mutex<StepRecords>,
}

impl Recorder {
    /// One for the tensor called `tensor`.
    pub fn new(tensor: &str) -> Self {
        Self { tensor: Some(tensor.to_owned()), steps: Mutex::default() }
    }

    /// One for all tensors.
    pub fn of_all() -> Self {
        Self { tensor: None, steps: Mutex::default() }
    }

    /// The steps of the tensor, from its logical axes on; none if there is no good tensor of the name.
    pub fn into_steps(self) -> Vec<StepRecord> {
        self.into_all().into_values().next().unwrap_or_default()
    }

    /// The steps of every good tensor, from its logical axes on.
    pub fn into_all(self) -> StepRecords {
        self.steps.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn wants(&self, tensor: &str) -> bool {
        self.tensor.as_ref().is_none_or(|wanted| wanted == tensor)
    }

    /// The first of a name counts.
    pub(super) fn take(&self, file: &str, tensor: &str, steps: Vec<StepRecord>) {
        let mut all = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry((Arc::from(file), tensor.to_owned())).or_insert(steps);
    }
}

/// What a step does besides making axes; `separators` are those that stand after it.
pub(super) fn note(step: &StepItem, axes: &[Axis], separators: &[usize]) -> Option<String> {
    let written = |bound: &IntegerExpr| match bound {
        IntegerExpr::Integer(number) => number.value.to_string(),
        IntegerExpr::Text(text) => text.value.clone(),
    };
    match &step.kind {
        StepKind::Strides(strides) => {
            let one = |(axis, stride): (&Axis, &IntegerExpr)| {
                format!("{} {}", axis.name, written(stride))
            };
            let all: Vec<String> = axes.iter().zip(strides).map(one).collect();
            Some(format!("elements between neighbours: {}", all.join(", ")))
        }
        StepKind::AlignAxis { axis, bytes } => {
            let bytes = written(bytes);
            Some(format!("every step along {} is a multiple of {bytes} bytes", axis.value))
        }
        StepKind::AlignBase(bytes) => {
            Some(format!("the buffer begins at a multiple of {} bytes", written(bytes)))
        }
        StepKind::Swizzle { .. } | StepKind::SwizzleMode(_) => {
            Some("folds bits of the last physical index".to_owned())
        }
        StepKind::Fill(_) => Some("what pack writes to padding".to_owned()),
        StepKind::Padding(_) => Some("whether padding may be".to_owned()),
        StepKind::Separators(_) => Some(format!("physical axes: {}", grouped(axes, separators))),
        _ => None,
    }
}

/// `n, c_outer, h | w, c_inner`.
fn grouped(axes: &[Axis], separators: &[usize]) -> String {
    let mut text = String::new();
    for (k, axis) in axes.iter().enumerate() {
        text.push_str(&axis.name);
        if k + 1 < axes.len() {
            text.push_str(if separators.contains(&k) { " | " } else { ", " });
        }
    }
    text
}
