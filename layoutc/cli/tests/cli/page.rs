//! The page of `layoutc show --html` in a browser: hovering, searching, stepping.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;
use layoutc_testing::process::needed_program;

const LAYOUTS: &str = "\
tensor t dtype=bf16 { shape { h 4; w 8 }; layout { tile 2 4; tile 2 1 } }
tensor texture dtype=f32 {
    shape { n 2; h 2; w 2; c 8 }
    layout { map \"(n, h, w, c) -> (n, c // 4, h | w, c % 4)\" }
    memory texture
}
symbol batch min=1 max=64
tensor padded dtype=f32 {
    shape { n batch; h 6; c 10 }
    layout {
        pad h before=1 after=1
        split c by=4
        order n c_outer h c_inner
        align n 256
    }
}
";

/// Result of a script run in a page: its last expression.
fn used(sandbox: &Sandbox, tensor: &str, script: &str) -> Option<Value> {
    let chromium = needed_program("chromium")?;
    sandbox.run(&["show", "a.kdl", tensor, "--html", "page.html", "-q"]).success();
    let page = sandbox.read("page.html").expect("a page");
    // The page's own script has finished when this one starts.
    let driver = format!(
        "<script>\nconst said = (() => {{ {HELPERS}\n{script} }})();\n\
         document.body.replaceChildren(Object.assign(document.createElement('pre'), \
         {{ id: 'answer', textContent: JSON.stringify(said) }}));\n</script>\n</html>"
    );
    sandbox.write("driven.html", &page.replace("</html>", &driver));
    let (text, errors) = printed(&chromium, sandbox);
    let answer =
        text.split("<pre id=\"answer\">").nth(1).and_then(|rest| rest.split("</pre>").next());
    let answer = answer.unwrap_or_else(|| panic!("no answer: {text}\n{errors}"));
    let answer = answer.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    Some(serde_json::from_str(&answer).expect("JSON"))
}

/// Document that the browser prints, and its messages. A browser that prints nothing has failed itself: on machines under
/// load its processes sometimes lose each other.
fn printed(chromium: &Path, sandbox: &Sandbox) -> (String, String) {
    let mut last = Default::default();
    for profile in ["profile", "profile-2", "profile-3"] {
        let output = Command::new(chromium)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
            .arg(format!("--user-data-dir={}", sandbox.path(profile).display()))
            .arg("--dump-dom")
            .arg(format!("file://{}", sandbox.path("driven.html").display()))
            .output()
            .expect("it ends");
        let [text, errors] = [&output.stdout, &output.stderr]
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        if !text.trim().is_empty() {
            return (text, errors);
        }
        last = (text, errors);
    }
    last
}

const HELPERS: &str = "\
const at = id => document.getElementById(id);
const cell = index => at('grid').querySelector(`td[data-index='${index}']`);
const slot = index => at('memory').querySelector(`td[data-index='${index}']`);
const fire = (node, event) => node.dispatchEvent(event);
const hover = node => fire(node, new MouseEvent('mouseenter'));
const key = name => fire(document.activeElement, new KeyboardEvent('keydown', { key: name, bubbles: true }));
const find = text => { at('query').value = text; at('find').requestSubmit(); return at('said').textContent; };
const step = to => { at('step').value = to; fire(at('step'), new Event('input')); return at('step-name').textContent; };
const lit = () => [...document.querySelectorAll('td.lit')].map(node => node.textContent);
const way = () => at('way').textContent;
";

#[test]
fn hovered_cell_is_highlighted_with_its_trace() {
    let sandbox = Sandbox::new(&[("a.kdl", LAYOUTS)]);
    for (tensor, index, set) in
        [("t", "3,5", None), ("texture", "0,0,1,7", None), ("padded", "0,5,9", Some("batch=1"))]
    {
        let script =
            format!("hover(cell('{index}')); return [way(), lit(), at('places').textContent];");
        let Some(message) = used(&sandbox, tensor, &script) else { return };
        let set: Vec<&str> = set.iter().flat_map(|set| ["--set", *set]).collect();
        let traced = sandbox.run(&[&["trace", "a.kdl", tensor, index], set.as_slice()].concat());
        assert_eq!(message[0], traced.success());
        assert_eq!(message[1].as_array().map(Vec::len), Some(2), "{message}");
    }
    let script = "hover(slot('3,5')); return [lit(), at('places').textContent];";
    let Some(message) = used(&sandbox, "t", script) else { return };
    let places = "logical[3, 5]storage[1, 1, 0, 1, 1, 0]physical[27]offset27";
    assert_eq!(message, json!([["27", "3,5"], places]));
}

#[test]
fn a_typed_index_is_located_or_rejected_with_a_reason() {
    let sandbox = Sandbox::new(&[("a.kdl", LAYOUTS)]);
    let script =
        "return ['3, 5', '[0,1]', '4,0', '1', 'x,y'].map(text => [find(text), lit()[0] ?? null]);";
    let Some(message) = used(&sandbox, "t", script) else { return };
    let wanted = json!([
        ["[3,5] is at offset 27", "27"],
        ["[0,1] is at offset 2", "2"],
        ["h = 4 is out of bounds: its extent is 4", "2"],
        ["an index has 2 integers: h, w", "2"],
        ["an index has 2 integers: h, w", "2"],
    ]);
    assert_eq!(message, wanted);
    let Some(message) = used(&sandbox, "texture", "return [find('1,1,0,0'), lit()];") else {
        return;
    };
    let line = "[1,1,0,0] is not drawn; layoutc trace shows its steps, --at and --axes select another slice";
    assert_eq!(message, json!([line, []]));
}

#[test]
fn slider_shows_steps_and_preserves_the_highlight() {
    let sandbox = Sandbox::new(&[("a.kdl", LAYOUTS)]);
    let script = "\
find('3,5');
return [0, 1, 2, 3].map(to => [step(to), cell('3,5').textContent, at('memory-name').textContent, lit()]);";
    let Some(message) = used(&sandbox, "t", script) else { return };
    let wanted = json!([
        ["0 of 3: logical order", "29", "In order of h 4, w 8", ["29", "3,5"]],
        [
            "1 of 3: tile 2 4",
            "29",
            "In order of h_outer 2, w_outer 2, h_inner 2, w_inner 4",
            ["29", "3,5"]
        ],
        [
            "2 of 3: tile 2 1",
            "27",
            "In order of h_outer 2, w_outer 2, h_inner_outer 1, w_inner_outer 4, h_inner_inner 2, w_inner_inner 1",
            ["27", "3,5"]
        ],
        ["3 of 3: memory", "27", "Memory: 32 slots, 4 rows of 8", ["27", "3,5"]],
    ]);
    assert_eq!(message, wanted);
}

#[test]
fn cells_are_keyboard_reachable_and_labeled() {
    let sandbox = Sandbox::new(&[("a.kdl", LAYOUTS)]);
    let script = "\
const stops = at('grid').querySelectorAll(\"td[tabindex='0']\").length;
at('grid').querySelector(\"td[tabindex='0']\").focus();
const seen = ['ArrowRight', 'ArrowDown', 'End', 'ArrowLeft', 'Home', 'ArrowUp', 'ArrowUp']
    .map(name => { key(name); return document.activeElement.dataset.index; });
const label = document.activeElement.getAttribute('aria-label');
key('Escape');
return [stops, seen, label, lit()];";
    let Some(message) = used(&sandbox, "t", script) else { return };
    let seen = ["0,1", "1,1", "1,7", "1,6", "1,0", "0,0", "0,0"];
    assert_eq!(message, json!([1, seen, "h 0, w 0: offset 0", []]));
}

#[test]
fn page_is_self_contained() {
    let sandbox = Sandbox::new(&[("a.kdl", LAYOUTS)]);
    sandbox.run(&["show", "a.kdl", "t", "--html", "page.html", "-q"]).success();
    let page = sandbox.read("page.html").expect("a page");
    for word in
        ["http:", "https:", "src=", "@import", "url(", "<!--", "/*DATA", "/*STYLE", "/*SCRIPT"]
    {
        assert!(!page.contains(word), "{word}");
    }
    let ran = sandbox.run(&["show", "a.kdl", "t", "--html", "-"]);
    assert_eq!(ran.success(), page);
}
