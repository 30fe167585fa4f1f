//! The pieces of a build as a page: who did what when.

use std::collections::BTreeMap;
use std::time::Duration;

use layoutc_compiler::env::CompileStage;
use serde_json::{Value, json};

use crate::build::WorkSpan;

use super::summary::ms;

/// The page, with a place for the data.
const PAGE: &str = include_str!("timeline.html");
/// That place.
const PLACE: &str = "/*DATA*/";

/// The page of a build that took `total`.
pub(crate) fn page(stages: &[(&str, Duration)], spans: &[WorkSpan], total: Duration) -> String {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for span in spans {
        let next = numbers.len();
        numbers.entry(&span.item).or_insert(next);
    }
    let mut items = vec![""; numbers.len()];
    for (item, number) in &numbers {
        items[*number] = item;
    }
    let stage = |stage: CompileStage| CompileStage::ALL.iter().position(|other| *other == stage);
    let piece = |span: &WorkSpan| -> Value {
        let item = numbers.get(span.item.as_str());
        json!([stage(span.stage), item, span.thread, ms(span.start), ms(span.end)])
    };
    let data = json!({
        "total_ms": ms(total),
        "stages": stages.iter().map(|(name, took)| json!([name, ms(*took)])).collect::<Vec<_>>(),
        "items": items,
        "spans": spans.iter().map(piece).collect::<Vec<_>>(),
    });
    // Nothing in a name ends the script.
    PAGE.replacen(PLACE, &data.to_string().replace('<', "\\u003c"), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_end_the_script() {
        let span = WorkSpan {
            stage: CompileStage::Check,
            item: "</script><b>.kdl".to_owned(),
            thread: 1,
            start: Duration::from_micros(1500),
            end: Duration::from_micros(2500),
        };
        let page = page(&[("look", Duration::from_millis(1))], &[span], Duration::from_millis(3));
        assert!(page.contains("[[2,0,1,1.5,2.5]]"), "{page}");
        assert!(page.contains(r#""\u003c/script>\u003cb>.kdl""#), "{page}");
        assert_eq!(page.matches("</script>").count(), 1);
    }
}
