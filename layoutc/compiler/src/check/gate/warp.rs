//! Gates on the accesses of warps: no bank conflicts in shared memory, and no surplus sectors in global memory.

use super::{GateSubject, GateViolation};
use crate::base::codes::Code;
use crate::check::faults::index;
use crate::manifest::syntax::Memory;
use crate::model::WarpAccess;
use crate::warp::{BankConflict, TileSlots, bank_cost, fewest_conflicts, sector_cost};

/// Violation of the gate `conflict-free`: the tensor is not in shared memory, or a request of one of the accesses takes
/// more wavefronts than one for each group of lanes. `None` if there is no conflict.
pub(super) fn conflict_free(
    subject: &GateSubject<'_>,
    accesses: &[&WarpAccess],
) -> Option<GateViolation> {
    let broken = |message| GateViolation::new(Code::GateConflictFree, message);
    if subject.kind != Memory::Shared {
        let message =
            format!("`{}` is in `{}` memory, which has no banks", subject.name, subject.memory);
        return Some(
            broken(message).help("write `memory shared` in the tensor, or `require coalesced`"),
        );
    }
    for access in accesses {
        let slots = slots(subject, access)?;
        let (mut wavefronts, mut least, mut worst) = (0, 0, None);
        for (k, lanes) in slots.requests.iter().enumerate() {
            let cost = bank_cost(&slots.request(lanes, |slot| slot), slots.direction, slots.memory);
            wavefronts += cost.wavefronts;
            least += cost.least;
            worst = worst.or(cost.conflict.map(|conflict| (k, conflict)));
        }
        let Some((request, conflict)) = worst else { continue };
        let message = format!("access `{}` of `{}` has bank conflicts", access.name, subject.name);
        let requests = slots.requests.len();
        let plural = if requests == 1 { "request takes" } else { "requests take" };
        let figures =
            format!("{requests} {plural} {wavefronts} wavefronts, {least} without conflicts");
        let broken = broken(message).note(figures);
        let broken = match pair(subject, access, &slots, (request, conflict)) {
            Some(pair) => broken.note(pair),
            None => broken,
        };
        return Some(match advice(subject, accesses) {
            Some(help) => broken.help(help),
            None => broken.otherwise(
                "no swizzle and no row padding removes the conflicts: change the map of the access",
            ),
        });
    }
    None
}

/// Slots of an access in the layout of `subject`; `None` for an access that does not fit it, which is reported by the
/// check of the tensor.
fn slots(subject: &GateSubject<'_>, access: &WarpAccess) -> Option<TileSlots> {
    access.slots(subject.layout, subject.element_bits).ok()
}

/// Text on two lanes of request number `request` that conflict, with their elements and offsets in bytes.
fn pair(
    subject: &GateSubject<'_>,
    access: &WarpAccess,
    slots: &TileSlots,
    (request, conflict): (usize, BankConflict),
) -> Option<String> {
    let lanes = slots.requests.get(request)?;
    let part = |lane: usize| {
        let slot = lanes.get(lane).copied().flatten()?;
        let number = |number: usize| i128::try_from(number).ok();
        let at = access.params_of(number(request)?, number(lane)?);
        let element = access.element(&at).ok()?;
        let bytes = slot * i128::from(subject.element_bits) / 8;
        Some(format!("{}{} at byte {bytes}", subject.name, index(&element)))
    };
    let [a, b] = conflict.lanes;
    Some(format!(
        "lanes {a} and {b} need different words of bank {}: {} and {}",
        conflict.bank,
        part(a)?,
        part(b)?
    ))
}

/// Help that names the swizzle or the row padding with which none of the accesses has conflicts; `None` if there is none.
fn advice(subject: &GateSubject<'_>, accesses: &[&WarpAccess]) -> Option<String> {
    let layout = subject.layout;
    let row = layout.storage().last()?;
    let plain = |access: &&WarpAccess| Some(slots(subject, access)?.unswizzled(layout.swizzle()));
    let all: Vec<TileSlots> = accesses.iter().map(plain).collect::<Option<_>>()?;
    let size = (layout.physical_elements().as_const()?, row.extent.as_const()?);
    let (arrangement, cost) = fewest_conflicts(&all, size);
    if cost.conflicts() > 0 {
        return None;
    }
    let replaced =
        if layout.swizzle().is_some() { ", in place of the present swizzle" } else { "" };
    Some(match arrangement.step(&row.name) {
        None => "remove the swizzle".to_owned(),
        Some(step) => format!(
            "write `{step}` or `swizzle auto` as the last step{replaced}: no conflicts remain"
        ),
    })
}

/// Violation of the gate `coalesced`: the tensor is not in global memory, or a request of one of the accesses touches
/// more sectors than its bytes fill, at the worst base address with the alignment of the tensor. `None` if none does.
pub(super) fn coalesced(
    subject: &GateSubject<'_>,
    accesses: &[&WarpAccess],
) -> Option<GateViolation> {
    let broken = |message| GateViolation::new(Code::GateCoalesced, message);
    if !matches!(subject.kind, Memory::Global | Memory::Constant) {
        let message =
            format!("`{}` is in `{}` memory, which has no sectors", subject.name, subject.memory);
        return Some(broken(message).help("remove `memory`, or write `require conflict-free`"));
    }
    let alignment = i64::try_from(subject.layout.alignment_bytes()).unwrap_or(i64::MAX);
    for access in accesses {
        let slots = slots(subject, access)?;
        let costs = slots
            .requests
            .iter()
            .map(|lanes| sector_cost(&slots.request(lanes, |slot| slot), alignment, slots.memory));
        let worst = costs.max_by_key(|cost| cost.sectors - cost.least)?;
        if worst.sectors == worst.least {
            continue;
        }
        let message = format!("access `{}` of `{}` is not coalesced", access.name, subject.name);
        let size = slots.memory.sector_bytes;
        let note = format!(
            "a warp accesses {} bytes and touches {} sectors of {size} bytes; {} would hold them",
            worst.bytes, worst.sectors, worst.least
        );
        let help = if i64::try_from(subject.layout.alignment_bytes()).is_ok_and(|own| own < size) {
            format!("align the tensor: `align {size}`")
        } else {
            "let neighboring lanes access neighboring elements along the fastest axis".to_owned()
        };
        return Some(broken(message).note(note).help(help));
    }
    None
}
