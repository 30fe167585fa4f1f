//! Template model of a graph's schedule.

use super::globals::buffer_bytes;
use super::model::{
    BufferUnit, CallUnit, ConvertUnit, HeldUnit, OperatorUnit, ParamUnit, ScheduleUnit,
};
use super::{Settings, element, plan_fault};
use crate::base::diagnostic::Diagnostic;
use crate::loops::error::PlanError;
use crate::model::Manifest;
use crate::model::schedule::{
    BufferAlias, BufferRole, GraphBuffer, GraphSchedule, ScheduleCall, ScheduleOperator,
};

/// Template model of a schedule; `converts` are the conversions of the manifest on this target.
///
/// # Errors
/// `limit::generated` if the schedule calls an operator that does not exist, or a conversion that the target does not
/// have.
#[expect(clippy::result_large_err, reason = "one diagnostic, on the way out")]
pub(super) fn build(
    manifest: &Manifest,
    schedule: &GraphSchedule,
    converts: &[ConvertUnit],
    settings: &Settings,
) -> Result<ScheduleUnit, Diagnostic> {
    let ident = format!("{}{}", settings.prefix, schedule.name);
    let upper = ident.to_ascii_uppercase();
    let buffers = schedule.buffers.iter().map(|buffer| buffer_unit(buffer, &upper, settings));
    let call = |call: &ScheduleCall| match *call {
        ScheduleCall::Operator(k) => {
            let operator = schedule.operators.get(k)?;
            let all = operator.reads.iter().chain(&operator.writes);
            let buffers = all.map(|seen| seen.buffer).collect();
            Some(CallUnit { name: operator.name.clone(), is_operator: true, buffers })
        }
        ScheduleCall::Convert { convert, from, to } => {
            let convert = manifest.converts.get(convert)?;
            let [source, target] = [manifest.tensor(convert.from)?, manifest.tensor(convert.to)?];
            let is_it =
                |unit: &&ConvertUnit| unit.from.name == source.name && unit.to.name == target.name;
            let name = converts.iter().find(is_it)?.function.name.clone();
            Some(CallUnit { name, is_operator: false, buffers: vec![from, to] })
        }
    };
    let calls = |calls: &[ScheduleCall]| calls.iter().map(call).collect::<Option<Vec<_>>>();
    let (Some(load), Some(run)) = (calls(&schedule.load), calls(&schedule.run)) else {
        return Err(plan_fault(schedule.place.clone(), &schedule.name, &PlanError::Scope));
    };
    let operators = schedule.operators.iter().map(|operator| OperatorUnit {
        name: operator.name.clone(),
        doc: operator.doc.clone(),
        params: params(operator),
    });
    Ok(ScheduleUnit {
        name: schedule.name.clone(),
        cost: schedule.cost,
        lower_bound: schedule.lower_bound,
        buffers: buffers.collect(),
        operators: operators.collect(),
        load,
        run,
        ident,
        upper,
    })
}

/// Parameters of an operator: the buffers that it reads, then those that it writes. A repeated name gets a suffix `_2`,
/// `_3`, ….
fn params(operator: &ScheduleOperator) -> Vec<ParamUnit> {
    let reads = operator.reads.iter().map(|seen| (seen, false));
    let writes = operator.writes.iter().map(|seen| (seen, true));
    let mut params: Vec<ParamUnit> = Vec::new();
    for (seen, written) in reads.chain(writes) {
        let is_taken = |params: &[ParamUnit], name: &str| params.iter().any(|p| p.name == name);
        let numbered = (2_usize..).map(|k| format!("{}_{k}", seen.name));
        let mut names = std::iter::once(seen.name.clone()).chain(numbered);
        let name = names.find(|name| !is_taken(&params, name)).unwrap_or_default();
        params.push(ParamUnit { name, buffer: seen.buffer, written });
    }
    params
}

fn buffer_unit(buffer: &GraphBuffer, upper: &str, settings: &Settings) -> BufferUnit {
    let role = match buffer.use_of {
        BufferRole::Input => "input",
        BufferRole::Constant => "constant",
        BufferRole::Loaded => "loaded",
        BufferRole::Intermediate => "between",
        BufferRole::Output => "output",
    };
    BufferUnit {
        name: buffer.name.clone(),
        element: element::type_name(settings.dialect, &buffer.dtype.to_string(), true),
        layout: buffer.layout.clone(),
        bytes: buffer.bytes,
        bytes_name: buffer_bytes(upper, &buffer.name),
        role: role.to_owned(),
        held: buffer.aliases.iter().map(held_unit).collect(),
    }
}

fn held_unit(held: &BufferAlias) -> HeldUnit {
    let BufferAlias { name, layout, is_output } = held.clone();
    HeldUnit { name, layout, is_output }
}
