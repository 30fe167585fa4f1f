//! `layoutc translate --from xla-sharding`: translates a sharding to XLA's forms and to JAX, and lists the shards.

use std::ops::Range;

use layoutc_compiler::base::nearest::nearest;
use layoutc_compiler::query::notations::sharding::{
    MeshSharding, ShardFacts, ShardingFacts, ShardingFormat, TensorShard, WrittenSharding, facts,
    read, written,
};
use serde_json::{Map, Value, json};

use crate::args::{TranslateArgs, restore_minus};
use crate::command::CommandOutcome;
use crate::command_error::CommandError;
use crate::console::{Console, ReportFormat};
use crate::report::json::{integer, integers};

use super::{extents, faulty};

/// Maximum number of shards that the table lists. The others are only counted.
const SHOWN: usize = 32;
/// Maximum number of devices that the table lists for one shard. The others are only counted.
const DEVICES: usize = 8;

/// Translates the sharding on the command line, and prints it in the form of `--to`, or in all forms. As text with
/// `--verbose`, also prints a table of the shards if the shape is given. A fault in the text of the sharding is
/// printed, and the outcome is [`CommandOutcome::InputError`].
///
/// # Errors
/// [`CommandError::Usage`] if an option is invalid or does not apply to shardings.
pub(super) fn run(
    args: &TranslateArgs,
    console: &mut Console,
) -> Result<CommandOutcome, CommandError> {
    let targets = match args.to.as_str() {
        "all" => ShardingFormat::ALL.to_vec(),
        word => vec![target(word)?],
    };
    let given = [
        ("--dtype", args.dtype.is_some()),
        ("--axis-names", args.axis_names.is_some()),
        ("--set", !args.set.is_empty()),
    ];
    if let Some((option, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
        return Err(CommandError::Usage(format!(
            "`{option}` does not apply to shardings; remove it"
        )));
    }
    let shape = args.shape.as_deref().map(|shape| extents(&restore_minus(shape))).transpose()?;
    let text = restore_minus(&args.text);
    let read = match read(&text, shape.as_deref()) {
        Ok(read) => read,
        Err(error) => return Ok(faulty(*error, &text, console)),
    };
    let facts = facts(&read);
    for to in &targets {
        match (written(&read, *to), targets.len()) {
            (Err(error), 1) => return Ok(faulty(*error, &text, console)),
            (written, count) => {
                let written = written.map_err(|error| error.message);
                print_form(args, *to, &facts, written, count, console);
            }
        }
    }
    if console.verbose
        && console.format == ReportFormat::Text
        && let Some(shaped) = &facts.shaped
    {
        console.result(&table(shaped));
    }
    Ok(CommandOutcome::Success)
}

fn target(word: &str) -> Result<ShardingFormat, CommandError> {
    ShardingFormat::of(word).ok_or_else(|| {
        let known: Vec<&str> = ShardingFormat::ALL.iter().map(|target| target.word()).collect();
        let hint = nearest(word, known.iter().copied()).map_or_else(
            || format!("expected one of {}", known.join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        CommandError::Usage(format!("unknown sharding notation `{word}`; {hint}"))
    })
}

/// Prints the sharding with the properties `facts` in the form `to`. `written` is its text in that form, or the reason
/// why the form cannot express it. `count` is the number of forms that are printed; if it is not 1, a line of text
/// begins with the name of the form.
fn print_form(
    args: &TranslateArgs,
    to: ShardingFormat,
    facts: &ShardingFacts,
    written: Result<WrittenSharding, String>,
    count: usize,
    console: &mut Console,
) {
    let line = match (console.format, written) {
        (ReportFormat::Json, written) => object(args, to, facts, written).to_string(),
        (ReportFormat::Text, Ok(written)) if count == 1 => written.text,
        (ReportFormat::Text, Ok(written)) => format!("{:<7} {}", to.word(), written.text),
        (ReportFormat::Text, Err(message)) => format!("{:<7} - {message}", to.word()),
    };
    console.result(&format!("{line}\n"));
}

fn object(
    args: &TranslateArgs,
    to: ShardingFormat,
    facts: &ShardingFacts,
    written: Result<WrittenSharding, String>,
) -> Value {
    let is_same = written.is_ok();
    let (text, mut notes) = match written {
        Ok(written) => (Some(written.text), written.notes),
        Err(message) => (None, vec![message]),
    };
    if let Some(ShardFacts { shards: Err(lack), .. }) = &facts.shaped {
        notes.push(format!("the shards of the devices are not listed: {lack}"));
    }
    let shape = args.shape.as_deref().and_then(|shape| extents(&restore_minus(shape)).ok());
    json!({
        "from": args.from,
        "to": to.word(),
        "text": text,
        "shape": shape,
        "same": is_same,
        "notes": notes,
        "sharding": sharding(facts),
    })
}

fn sharding(facts: &ShardingFacts) -> Value {
    let mut object = Map::new();
    object.insert("devices".to_owned(), facts.devices.into());
    object.insert("parts".to_owned(), facts.parts.clone().into());
    object.insert("mesh".to_owned(), facts.mesh.as_ref().map(mesh).into());
    object.insert("over".to_owned(), facts.mesh.as_ref().map(over).into());
    if let Some(shaped) = &facts.shaped {
        object.insert("part".to_owned(), shaped.part.as_deref().map(integers).into());
        let shards = shaped.shards.as_ref().ok();
        let shards = shards.map(|shards| shards.iter().map(part).collect::<Value>());
        object.insert("held".to_owned(), shards.into());
    }
    Value::Object(object)
}

fn mesh(meshed: &MeshSharding) -> Value {
    meshed.mesh.axes.iter().map(|axis| json!({ "name": axis.name, "size": axis.size })).collect()
}

fn over(meshed: &MeshSharding) -> Value {
    let name = |position: &usize| meshed.mesh.axes.get(*position).map(|axis| axis.name.as_str());
    let names = |list: &Vec<usize>| list.iter().map(name).collect::<Value>();
    meshed.sharding.over().iter().map(names).collect()
}

fn part(shard: &TensorShard) -> Value {
    let devices = if shard.devices.is_empty() { Value::Null } else { json!(shard.devices) };
    let first = |range: &Range<i128>| integer(range.start);
    json!({
        "devices": devices,
        "first": shard.bounds.iter().map(first).collect::<Value>(),
        "extents": integers(&shard.extents()),
    })
}

/// Text table of the shards in `shaped`, with the devices, the range of indices on each axis, and the extents of each
/// shard.
fn table(shaped: &ShardFacts) -> String {
    let shards = match &shaped.shards {
        Ok(shards) => shards,
        Err(lack) => return format!("the shards of the devices are not listed: {lack}\n"),
    };
    let mut rows = vec![["devices".to_owned(), "holds".to_owned(), "extents".to_owned()]];
    rows.extend(shards.iter().take(SHOWN).map(|part| {
        let range = |range: &Range<i128>| format!("{}:{}", range.start, range.end);
        let holds = part.bounds.iter().map(range).collect::<Vec<_>>().join(", ");
        let extents = part.extents().iter().map(ToString::to_string).collect::<Vec<_>>();
        [devices(&part.devices), format!("[{holds}]"), format!("[{}]", extents.join(", "))]
    }));
    let width = |k: usize| rows.iter().map(|row| row[k].len()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    let mut lines = String::new();
    for [devices, holds, extents] in &rows {
        lines.push_str(&format!("{devices:<first$}  {holds:<second$}  {extents}\n"));
    }
    if shards.len() > SHOWN {
        lines.push_str(&format!("… and {} more shards\n", shards.len() - SHOWN));
    }
    lines
}

fn devices(devices: &[i64]) -> String {
    if devices.is_empty() {
        return "all".to_owned();
    }
    let shown: Vec<String> = devices.iter().take(DEVICES).map(ToString::to_string).collect();
    match devices.len().saturating_sub(DEVICES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
