//! Reports on sharded tensors, and on the data that conversions between devices exchange.

use layoutc_algebra::symbol::Axis;
use serde_json::{Map, Value, json};

use super::{labelled, number};
use crate::lower::reshard::{Traffic, tensors, traffic};
use crate::model::layout_names;
use crate::model::reshard::{DeviceSharding, Reshard};
use crate::model::{Manifest, Tensor};
use crate::query::notations::sharding::texts;

/// Sharding of a tensor as a JSON object: mesh, axes with their shards, verdict, texts in other notations.
pub(super) fn json(tensor: &Tensor, sharded: &DeviceSharding) -> Value {
    let text = |expr: &_| layout_names::layout_expr(expr, &tensor.layout);
    let parts = sharded.sharding.parts(&sharded.mesh).unwrap_or_default();
    let cuts = sharded.sharding.over().iter().map(|list| names(sharded, list));
    let axes = sharded.whole.iter().zip(tensor.layout.logical()).zip(cuts).zip(parts);
    let axis = |(((whole, part), cuts), parts): (((&Axis, &Axis), Vec<&str>), i64)| {
        json!({
            "name": whole.name,
            "extent": number(&whole.extent, &text),
            "cut_by": cuts,
            "parts": parts,
            "part": number(&part.extent, &text),
        })
    };
    let mesh = sharded.mesh.axes.iter();
    let texts = texts(&sharded.mesh, &sharded.sharding).into_iter();
    let texts: Map<String, Value> =
        texts.map(|(target, text)| (target.word().to_owned(), text.into())).collect();
    json!({
        "mesh": sharded.mesh_name,
        "devices": sharded.devices(),
        "mesh_axes": mesh.map(|axis| json!({"name": axis.name, "size": axis.size})).collect::<Vec<_>>(),
        "axes": axes.map(axis).collect::<Vec<_>>(),
        "repeated": names(sharded, &sharded.sharding.repeated(&sharded.mesh)),
        "verdict": sharded.verdict.word(),
        "proof": sharded.proof.word(),
        "texts": texts,
    })
}

/// Pairs (label, line) of the report on a tensor's sharding. A line with an empty label continues the one above.
pub(super) fn lines(tensor: &Tensor, sharded: &DeviceSharding) -> Vec<(&'static str, String)> {
    let whole = layout_names::axes(&sharded.whole, tensor.layout.symbols());
    let mesh = sharded.mesh.axes.iter();
    let mesh: Vec<String> = mesh.map(|axis| format!("{} {}", axis.name, axis.size)).collect();
    let on =
        format!("{} devices of {} ({})", sharded.devices(), sharded.mesh_name, mesh.join(", "));
    let mut lines = vec![("whole", whole.join(", ")), ("on", on)];
    let parts = sharded.sharding.parts(&sharded.mesh).unwrap_or_default();
    let cuts = sharded.whole.iter().zip(sharded.sharding.over()).zip(parts);
    let cuts = cuts.filter(|((_, list), _)| !list.is_empty()).map(|((axis, list), parts)| {
        format!("{} by {}, into {parts}", axis.name, names(sharded, list).join(" and "))
    });
    lines.extend(labelled("cut", cuts));
    let repeated = names(sharded, &sharded.sharding.repeated(&sharded.mesh));
    if !repeated.is_empty() {
        lines.push(("repeated over", repeated.join(", ")));
    }
    let even =
        if sharded.is_uneven() { "shards extend beyond the tensor" } else { "shards are full" };
    let (verdict, proof) = (sharded.verdict.word(), sharded.proof.word());
    lines.push(("parts", format!("{even}: {verdict}, by {proof}")));
    let texts = texts(&sharded.mesh, &sharded.sharding).into_iter();
    let texts = texts.filter_map(|(target, text)| Some(format!("{} {}", target.word(), text?)));
    lines.extend(labelled("shardings", texts));
    lines
}

/// Names of the mesh axes at the given positions in the mesh.
fn names<'a>(sharded: &'a DeviceSharding, positions: &[usize]) -> Vec<&'a str> {
    let name = |position: &usize| sharded.mesh.axes.get(*position).map(|axis| axis.name.as_str());
    positions.iter().filter_map(name).collect()
}

/// Report on a conversion between devices: the messages that they exchange, and the bytes in them.
#[derive(Debug)]
pub struct ReshardReport {
    name: String,
    to: String,
    traffic: Traffic,
    is_typed: bool,
    max_staging: Option<i64>,
}

/// Reports on all conversions between devices whose source is `tensor`, in the order of the manifest.
pub fn exchanges(manifest: &Manifest, tensor: &Tensor) -> Vec<ReshardReport> {
    let exchange = |reshard: &Reshard| {
        let [from, to] = tensors(manifest, reshard)?;
        (from.name == tensor.name).then_some(())?;
        Some(ReshardReport {
            name: format!("{}_to_{}", from.name, to.name),
            to: to.name.clone(),
            traffic: traffic(manifest, reshard)?,
            is_typed: from.layout.is_separable() && to.layout.is_separable(),
            max_staging: reshard.max_staging,
        })
    };
    manifest.reshards.iter().filter_map(exchange).collect()
}

impl ReshardReport {
    /// JSON form of the report, with amounts in bytes. `ranks` is the number of devices. `messages`, `sent_bytes` and
    /// `devices` are null if there are too many devices to examine in pairs.
    pub fn json(&self) -> Value {
        let Traffic { ranks, least_bytes, sent } = &self.traffic;
        let devices = sent.as_ref().map(|sent| {
            let device = |[sent, received]: &[i128; 2]| json!({"sent": wide(*sent), "received": wide(*received)});
            sent.devices.iter().map(device).collect::<Vec<_>>()
        });
        json!({
            "name": self.name,
            "to": self.to,
            "ranks": ranks,
            "messages": sent.as_ref().map(|sent| sent.messages),
            "sent_bytes": sent.as_ref().map(|sent| wide(sent.bytes)),
            "least_bytes": wide(*least_bytes),
            "devices": devices,
            "copies": if self.is_typed { "none" } else { "messages" },
            "max_staging": self.max_staging,
        })
    }

    /// Text form of the report, one property per line.
    pub fn text(&self) -> String {
        let Traffic { ranks, least_bytes, sent } = &self.traffic;
        let mut lines = vec![("devices", ranks.to_string())];
        match sent {
            Some(sent) if sent.bytes == 0 => {
                lines.push(("sent", "nothing: every device already holds its data".to_owned()));
            }
            Some(sent) => {
                let over = sent.bytes.saturating_sub(*least_bytes);
                let least = match over {
                    0 => "the minimum".to_owned(),
                    over => format!("{over} more than the minimum"),
                };
                let messages = sent.messages;
                lines.push((
                    "sent",
                    format!("{} bytes in {messages} messages, {least}", sent.bytes),
                ));
                let most = |k: usize| {
                    sent.devices
                        .iter()
                        .filter_map(|device| device.get(k))
                        .max()
                        .copied()
                        .unwrap_or(0)
                };
                lines.push((
                    "by a device",
                    format!("{} bytes at most, and {} received", most(0), most(1)),
                ));
            }
            None => lines.push(("sent", format!("at least {least_bytes} bytes"))),
        }
        lines.push((
            "copies",
            match (self.is_typed, self.max_staging) {
                (true, _) => "none: MPI datatypes describe both buffers".to_owned(),
                (false, None) => {
                    "of whole messages: offsets are not a sum over the axes".to_owned()
                }
                (false, Some(bytes)) => format!(
                    "in rounds of at most {bytes} bytes: offsets are not a sum over the axes"
                ),
            },
        ));
        format!("{}\n{}", self.name, super::lines_text(&lines))
    }
}

/// JSON number of a count; a string if the count exceeds 64 bits.
fn wide(count: i128) -> Value {
    i64::try_from(count).map_or_else(|_| Value::from(count.to_string()), Value::from)
}
