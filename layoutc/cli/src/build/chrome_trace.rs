//! Trace of the tasks of a build in the trace event format of Chrome, which Perfetto and `chrome://tracing`
//! open.

use std::time::Duration;

use serde_json::{Value, json};

use super::WorkSpan;

/// JSON array of trace events as text: one complete event (`"ph": "X"`) for the whole build, which took the time
/// `total`, and one for each task in `spans` on its thread. Times are in microseconds since the build began.
pub(crate) fn chrome_trace(spans: &[WorkSpan], total: Duration) -> String {
    let us = |time: Duration| time.as_secs_f64() * 1e6;
    let event = |name: &str, category: &str, thread: usize, [start, end]: [Duration; 2]| -> Value {
        json!({
            "name": name, "cat": category, "ph": "X", "pid": 1, "tid": thread,
            "ts": us(start), "dur": us(end.saturating_sub(start)),
        })
    };
    let whole = event("build", "build", 0, [Duration::ZERO, total]);
    let spans = spans.iter().map(|span| {
        let name = format!("{} {}", span.stage.word(), span.item);
        event(&name, span.stage.word(), span.thread, [span.start, span.end])
    });
    let events: Vec<Value> = std::iter::once(whole).chain(spans).collect();
    Value::from(events).to_string()
}
