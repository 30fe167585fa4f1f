//! Identifiers and macros at file scope, and file names, with the detection of collisions.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::file_names::{Name, Names};
use super::language::C_OUTPUTS;
use super::model::Files;
use super::{Part, Settings};
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::model::compute::KernelInstance;
use crate::model::schedule::GraphSchedule;
use crate::model::{Manifest, Memory, Tensor, View};

/// Pair (guard, files): the base name of the guard macro, and the file names, for the path `out_stem` without
/// extension. The guard is made of `prefix` and `out_stem`. It ends with a hash if characters of the stem are replaced
/// by `_`, so that the guards of stems that differ in these characters are distinct.
pub(super) fn file_names(out_stem: &str, prefix: &str) -> (String, Files) {
    let name = out_stem.rsplit('/').next().unwrap_or(out_stem);
    let mut guard: String = format!("{prefix}{out_stem}")
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
        .collect();
    let plain = out_stem.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !plain {
        let hash = blake3::hash(out_stem.as_bytes()).to_hex();
        guard = format!("{guard}_{}", hash.as_str().get(..6).unwrap_or("").to_ascii_uppercase());
    }
    let starts_well = guard.bytes().next().is_some_and(|b| b.is_ascii_alphabetic());
    let guard = if starts_well { guard } else { format!("LAYOUT_{guard}") };
    let [header, source, test, bench, mpi_header, mpi_source, mpi_test] =
        C_OUTPUTS.map(|file| file.path(out_stem));
    let stem = name.to_owned();
    let files = Files { stem, header, source, test, bench, mpi_header, mpi_source, mpi_test };
    (guard, files)
}

/// Origin of a generated identifier, as messages name it.
struct Owner<'a> {
    what: IdentifierKind<'a>,
    subject: Subject<'a>,
}

enum IdentifierKind<'a> {
    /// Noun phrase, printed as it is.
    Word(&'a str),
    /// Noun phrase with `_` for blanks.
    Words(&'a str),
    Label(&'a str),
    /// Identifier of the subject itself.
    Subject,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Subject<'a> {
    Tensor(&'a str),
    View(&'a str),
    Convert([&'a str; 2]),
    Compute(&'a str),
    Graph(&'a str),
}

impl fmt::Display for Owner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.what {
            IdentifierKind::Word(what) => write!(f, "{what} of ")?,
            IdentifierKind::Words(what) => write!(f, "{} of ", what.replace('_', " "))?,
            IdentifierKind::Label(label) => write!(f, "label `{label}` of ")?,
            IdentifierKind::Subject => {}
        }
        match self.subject {
            Subject::Tensor(name) => write!(f, "tensor `{name}`"),
            Subject::View(name) => write!(f, "view `{name}`"),
            Subject::Convert([from, to]) => write!(f, "convert `{from}` to `{to}`"),
            Subject::Compute(name) => write!(f, "kernel `{name}`"),
            Subject::Graph(name) => write!(f, "graph `{name}`"),
        }
    }
}

/// Identifiers at file scope that have been claimed so far.
struct Claims<'a> {
    settings: &'a Settings,
    owners: BTreeMap<Name, Owner<'a>>,
    faults: Vec<Diagnostic>,
    /// Pairs of subjects with a reported collision; further collisions of a pair are not reported.
    told: BTreeSet<(Subject<'a>, Subject<'a>)>,
}

impl<'a> Claims<'a> {
    fn claim(
        &mut self,
        name: String,
        what: IdentifierKind<'a>,
        subject: Subject<'a>,
        at: &FileSpan,
    ) {
        let owner = Owner { what, subject };
        match self.owners.entry(Name::from(name)) {
            Entry::Occupied(entry) => {
                let (name, other) = (entry.key().as_str(), entry.get());
                if !self.told.insert((other.subject, subject)) {
                    return;
                }
                let message =
                    format!("`{name}` would be generated twice: for {other} and for {owner}");
                let fault = Diagnostic::error(Code::NameCollision, message, at.clone(), "");
                self.faults.push(fault.help("rename one of the two, or set another `prefix`"));
            }
            Entry::Vacant(entry) => {
                let name = entry.key().as_str();
                let Some(language) = self.settings.dialect.keywords.reserved_function(name) else {
                    entry.insert(owner);
                    return;
                };
                let message = format!("`{name}`, generated for {owner}, belongs to {language}");
                let fault = Diagnostic::error(Code::NameCollision, message, at.clone(), "");
                self.faults.push(fault.help("rename it, or set a `prefix`"));
            }
        }
    }

    /// Claims the identifiers of a tensor or a view; `quantities` are the names of its constants or size functions.
    fn tensor(&mut self, tensor: &'a Tensor, subject: Subject<'a>, quantities: &'a [String]) {
        let settings = self.settings;
        let ident = format!("{}{}", settings.prefix, tensor.name);
        let upper = ident.to_ascii_uppercase();
        let at = &tensor.places.layout;
        let mut claim = |name: String, what| self.claim(name, what, subject, at);
        for what in ["offset", "logical", "pack", "unpack", "load", "store", "symbols_ok"] {
            claim(joined(&ident, what), IdentifierKind::Word(what));
        }
        if let Some(sharded) = &tensor.sharded {
            for what in ["owner", "holds", "local", "global"] {
                claim(joined(&ident, what), IdentifierKind::Word(what));
            }
            for axis in &sharded.whole {
                for what in ["begin", "length"] {
                    claim(format!("{ident}_{what}_{}", axis.name), IdentifierKind::Word(what));
                }
            }
        }
        if tensor.layout.domain().is_some() {
            claim(joined(&ident, "in_domain"), IdentifierKind::Word("in_domain"));
        }
        if tensor.ring.is_some() {
            claim(joined(&ident, "at"), IdentifierKind::Word("at"));
        }
        if settings.language.kernels {
            for what in KERNEL_NAMES {
                claim(joined(&ident, what), IdentifierKind::Word(what));
            }
            for what in ["pack", "unpack", "fill", "pack_unaligned", "unpack_unaligned"] {
                for name in range_names(&joined(&ident, what)) {
                    claim(name, IdentifierKind::Word("a launch range"));
                }
            }
        }
        let physical = 0..tensor.layout.physical_shape().len();
        for k in physical.clone() {
            claim(format!("{ident}_index_{k}"), IdentifierKind::Word("an index function"));
        }
        if settings.emit.contains(&Part::Macros) {
            claim(format!("{upper}_OFFSET"), IdentifierKind::Word("the offset macro"));
            for k in physical {
                claim(format!("{upper}_INDEX_{k}"), IdentifierKind::Word("an index macro"));
            }
        }
        for name in quantities {
            claim(joined(&ident, name), IdentifierKind::Word(name));
            claim(joined(&upper, &name.to_ascii_uppercase()), IdentifierKind::Words(name));
        }
        for (name, label) in label_names(tensor, &upper) {
            claim(name, IdentifierKind::Label(label));
        }
    }

    fn convert(&mut self, [from, to]: [&'a Tensor; 2], at: &FileSpan) {
        let settings = self.settings;
        let subject = Subject::Convert([&from.name, &to.name]);
        let name = format!("{}{}_to_{}", settings.prefix, from.name, to.name);
        let mut claim = |name: String| self.claim(name, IdentifierKind::Subject, subject, at);
        claim(name.clone());
        if settings.language.kernels {
            claim(joined(&name, "kernel"));
            claim(joined(&name, "wide_kernel"));
            claim(joined(&name, "fill"));
            let unaligned = joined(&name, "unaligned");
            let ranges = range_names(&name).into_iter().chain(range_names(&unaligned));
            ranges.chain([unaligned]).for_each(claim);
        }
    }
}

impl<'a> Claims<'a> {
    /// Claims the identifiers of a kernel instance, whose function is called `name`; on a target with GPU kernels also
    /// those of the kernels for all statements but the last.
    fn compute(&mut self, compute: &'a KernelInstance, name: &str) {
        let kernels = self.settings.language.kernels;
        let statements = if kernels { compute.statements.len() } else { 1 };
        let numbered = (1..statements).map(|k| format!("{name}_{k}")).chain([name.to_owned()]);
        for name in numbered {
            let (subject, at) = (Subject::Compute(&compute.name), &compute.place);
            let mut claim = |name: String| self.claim(name, IdentifierKind::Subject, subject, at);
            if kernels {
                let [fill, unaligned] = ["fill", "unaligned"].map(|what| joined(&name, what));
                for whole in [&name, &fill, &unaligned] {
                    range_names(whole).into_iter().for_each(&mut claim);
                }
                for whole in [&name, &fill] {
                    claim(joined(whole, "kernel"));
                }
                claim(joined(&name, "wide_kernel"));
                [fill, unaligned].into_iter().for_each(&mut claim);
            }
            claim(name);
        }
    }
}

impl<'a> Claims<'a> {
    /// Claims the identifiers of a graph's schedule, without those of its tensors and conversions.
    fn schedule(&mut self, schedule: &'a GraphSchedule) {
        let ident = format!("{}{}", self.settings.prefix, schedule.name);
        let upper = ident.to_ascii_uppercase();
        let words = ["buffers", "operators", "load", "run"].map(|word| joined(&ident, word));
        let bytes = schedule.buffers.iter().map(|buffer| buffer_bytes(&upper, &buffer.name));
        for name in words.into_iter().chain(bytes) {
            self.claim(
                name,
                IdentifierKind::Subject,
                Subject::Graph(&schedule.name),
                &schedule.place,
            );
        }
    }
}

/// Name of the macro for the size of a graph's buffer in bytes. `upper` is the graph's identifier in upper case, and
/// `buffer` the name of the buffer.
pub(super) fn buffer_bytes(upper: &str, buffer: &str) -> String {
    format!("{upper}_{}_BUFFER_BYTES", buffer.to_ascii_uppercase())
}

fn joined(owner: &str, what: &str) -> String {
    [owner, "_", what].concat()
}

/// Identifiers at file scope of a manifest's files that are derived from names in the manifest. `Err` has the
/// diagnostics for identifiers that are equal or reserved.
pub(super) fn globals(manifest: &Manifest, settings: &Settings) -> Result<Names, Vec<Diagnostic>> {
    let quantities: Vec<Vec<String>> = manifest.tensors.iter().map(quantity_names).collect();
    let view_quantities: Vec<Vec<String>> = manifest.views.iter().map(view_quantities).collect();
    let (owners, faults, told) = (BTreeMap::new(), Vec::new(), BTreeSet::new());
    let mut claims = Claims { settings, owners, faults, told };
    for (tensor, quantities) in manifest.tensors.iter().zip(&quantities) {
        claims.tensor(tensor, Subject::Tensor(&tensor.name), quantities);
    }
    for (view, quantities) in manifest.views.iter().zip(&view_quantities) {
        claims.tensor(&view.tensor, Subject::View(&view.tensor.name), quantities);
    }
    for convert in &manifest.converts {
        let named = [convert.from, convert.to].map(|of| manifest.tensor(of));
        if let [Some(from), Some(to)] = named {
            claims.convert([from, to], &convert.place);
        }
    }
    for reshard in &manifest.reshards {
        let named = [reshard.from, reshard.to].map(|k| manifest.tensors.get(k));
        if let [Some(from), Some(to)] = named {
            claims.convert([from, to], &reshard.place);
        }
    }
    for compute in &manifest.computes {
        let name = format!("{}{}", settings.prefix, compute.name);
        claims.compute(compute, &name);
    }
    for schedule in &manifest.schedules {
        claims.schedule(schedule);
    }
    let Claims { owners, faults, .. } = claims;
    if faults.is_empty() { Ok(Names::new(owners.into_keys().collect())) } else { Err(faults) }
}

/// Suffixes of further functions of a tensor on a target with GPU kernels.
const KERNEL_NAMES: &[&str] = &[
    "fill",
    "fetch",
    "put",
    "fill_kernel",
    "pack_kernel",
    "unpack_kernel",
    "pack_wide_kernel",
    "unpack_wide_kernel",
    "pack_unaligned",
    "unpack_unaligned",
];

/// Names of the constants and functions for the launch range of the kernel called `kernel`.
fn range_names(kernel: &str) -> Vec<String> {
    let upper = kernel.to_ascii_uppercase();
    let sizes = (0..3).flat_map(|axis| {
        [format!("{upper}_GLOBAL_SIZE_{axis}"), format!("{kernel}_global_size_{axis}")]
    });
    let others = ["WORK_DIM", "LOCAL_SIZE_0", "BUFFER_ALIGNMENT"];
    sizes.chain(others.map(|what| joined(&upper, what))).collect()
}

fn quantity_names(tensor: &Tensor) -> Vec<String> {
    let layout = &tensor.layout;
    let mut names: Vec<String> = ["rank", "physical_rank", "logical_elements", "physical_elements"]
        .iter()
        .chain(&["bytes", "alignment"])
        .map(|name| (*name).to_owned())
        .collect();
    names.extend(layout.logical().iter().map(|axis| joined("extent", &axis.name)));
    for axis in layout.storage() {
        names.push(joined("storage_extent", &axis.name));
        names.push(joined("stride", &axis.name));
    }
    names.extend((0..layout.physical_shape().len()).map(|k| format!("physical_extent_{k}")));
    if let Some(sharded) = &tensor.sharded {
        names.extend(["devices", "whole_elements"].map(str::to_owned));
        let mesh = sharded.mesh.axes.iter();
        names.extend(mesh.map(|axis| joined("mesh_extent", &axis.name)));
        names.extend(sharded.whole.iter().map(|axis| joined("whole_extent", &axis.name)));
    }
    if let Some(ring) = &tensor.ring {
        names.push("whole_elements".to_owned());
        names.extend(ring.whole.iter().map(|axis| joined("whole_extent", &axis.name)));
    }
    if layout.origin().is_some() {
        names.push("origin_offset".to_owned());
    }
    if matches!(tensor.memory, Memory::Image2d | Memory::Image2dArray) {
        let image = ["width", "height", "layers", "row_pitch", "channel_order", "channel_type"];
        names.extend(image.iter().map(|what| format!("image_{what}")));
    }
    names
}

/// Names of the constants or size functions of a view; a window has strides along its own axes.
fn view_quantities(view: &View) -> Vec<String> {
    if !view.is_window() {
        return quantity_names(&view.tensor);
    }
    let axes = view.tensor.layout.logical().iter();
    let own = axes.flat_map(|axis| ["extent", "stride"].map(|what| joined(what, &axis.name)));
    let counts = ["rank", "origin", "logical_elements", "bytes"].map(str::to_owned);
    own.chain(counts).collect()
}

/// Pairs (macro, label) of a tensor's axis labels: `INPUT_FIELD_X` for the label `x` of the axis `field`. `upper` is
/// the tensor's identifier in upper case.
pub(super) fn label_names<'t>(tensor: &'t Tensor, upper: &str) -> Vec<(String, &'t str)> {
    let mut names = Vec::new();
    for (axis, labels) in tensor.layout.logical().iter().zip(&tensor.labels) {
        let axis_upper = axis.name.to_ascii_uppercase();
        for label in labels {
            let name = format!("{upper}_{axis_upper}_{}", label.to_ascii_uppercase());
            names.push((name, label.as_str()));
        }
    }
    names
}
