//! Test of the formatter on 200 random documents with every construct of KDL 2 in every position; 3 000 with
//! `LAYOUTC_FULL=1`.

use std::fmt::Write as _;
use std::sync::Arc;

use kdl::{KdlDocument, KdlNode};
use layoutc_testing::{Random, cases};

use super::same::formatted;
use crate::manifest::format;

const WORDS: &[&str] = &[
    "a",
    "tensor",
    "größe",
    "axis-separators",
    "\"quoted\"",
    "\"a // b /* c { ; \\\" \"",
    "\"\"",
    "#\"raw \" // \\\"#",
    "##\"a\"#b\"##",
    "-",
    "+a",
    "...",
    "\"\\u{1F600}\\n\"",
    "日本",
    "a.b",
    "<x>",
    "\"\"\"\n  one\n    two // no comment\n  \"\"\"",
    "#\"\"\"\n\tone\\\n\t\"\"\"#",
    "\"a\\\n   b\"",
];

const VALUES: &[&str] =
    &["0x10", "1_000", "-1.5e-3", "0b1_0", "+7", "#true", "#null", "#-inf", "#nan", "0o17", "1.0"];

const ENDS: &[&str] = &["\n", "\n", "\r\n", "\n\n", "\n\n\n \n", "\u{85}", ";", " ; ", ";;", ";\n"];

struct Writer {
    random: Random,
    text: String,
    comments: usize,
}

impl Writer {
    fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn line_comment(&mut self) {
        self.comments += 1;
        let _ = write!(
            self.text,
            "//{} {}",
            self.random.pick(&["", "/", " {", " \" ;", "-"]),
            self.comments
        );
        let end = self.random.pick(&["\n", "  \n", "\r\n"]);
        self.put(end);
    }

    fn block_comment(&mut self) {
        self.comments += 1;
        let inside = self.random.pick(&["", "/* in */", "\n   lines\n", "// {", "*", " \" "]);
        let _ = write!(self.text, "/* {}{inside} */", self.comments);
    }

    /// Random white space and comments between the words of a node. It contains at least one space if `least` is a
    /// space.
    fn blank(&mut self, least: &str) {
        self.put(least);
        for _ in 0..[0, 0, 0, 1, 2].get(self.random.below(5)).copied().unwrap_or(0) {
            match self.random.below(9) {
                0 | 1 => self.block_comment(),
                2 => self.put("\\\n"),
                3 => self.put("\\  \r\n\t"),
                4 => {
                    self.put("\\ ");
                    self.line_comment();
                }
                5 => self.put("\u{3000}"),
                6 => self.put("\t"),
                _ => self.put("   "),
            }
        }
        self.put(least);
    }

    /// Random white space and comments between nodes.
    fn lines(&mut self) {
        for _ in 0..self.random.below(4) {
            match self.random.below(6) {
                0 => self.line_comment(),
                1 => self.block_comment(),
                2 => self.put("\\\n"),
                3 => self.put("    "),
                _ => self.put("\n"),
            }
        }
    }

    fn slash_dash(&mut self) {
        self.put("/-");
        if self.random.one_in(3) {
            self.lines();
        }
    }

    fn typed(&mut self) {
        if self.random.one_in(8) {
            let is_wide = self.random.one_in(4);
            self.put("(");
            if is_wide {
                self.blank("");
            }
            let word = self.random.pick(&["u8", "\"a b\"", "#\"c\"#"]);
            self.put(word);
            if is_wide {
                self.blank("");
            }
            self.put(")");
            if is_wide {
                self.blank("");
            }
        }
    }

    fn entry(&mut self) {
        if self.random.one_in(3) {
            let key = self.random.pick(&["k", "\"key\"", "#\"raw\"#", "like"]);
            self.put(key);
            self.blank("");
            self.put("=");
            self.blank("");
        }
        self.typed();
        let all = [WORDS, VALUES][self.random.below(2)];
        let value = self.random.pick(all);
        self.put(value);
    }

    fn node(&mut self, depth: usize) {
        if self.random.one_in(8) {
            self.slash_dash();
        }
        self.typed();
        let name = self.random.pick(WORDS);
        self.put(name);
        for _ in 0..self.random.below(5) {
            self.blank(" ");
            if self.random.one_in(6) {
                self.slash_dash();
            }
            self.entry();
        }
        let blocks = if depth < 3 { self.random.below(5_usize).saturating_sub(1) } else { 0 };
        let real = self.random.below(3);
        for block in 0..blocks {
            self.blank(" ");
            if block != real {
                self.slash_dash();
            }
            self.block(depth);
        }
        self.blank("");
    }

    fn block(&mut self, depth: usize) {
        self.put("{");
        let style = self.random.below(3);
        if style > 0 {
            self.nodes(depth + 1);
        } else {
            for _ in 0..self.random.below(4) {
                let node = self.random.pick(&[
                    "a 1",
                    "order c n",
                    "x /* y */ 2",
                    "n \"LANES * 2\"",
                    "b { c; }",
                ]);
                let end = self.random.pick(&[";", " ; ", "; "]);
                self.put(node);
                self.put(end);
            }
        }
        self.put("}");
    }

    fn nodes(&mut self, depth: usize) {
        for _ in 0..self.random.below(5) {
            self.lines();
            self.node(depth);
            if self.random.one_in(4) {
                // A `//` directly after a word is rejected: it was meant as a division.
                let before = self.random.pick(&[" ", "; ", "        "]);
                self.put(before);
                self.line_comment();
            } else {
                let end = self.random.pick(ENDS);
                self.put(end);
            }
        }
        self.lines();
    }
}

/// Content of `nodes` without formatting, one text for each node, parents before children: depth, name, type
/// annotation, entries, and true if it has a block. `depth` is the depth of `nodes`.
fn meant(nodes: &[KdlNode], depth: usize) -> Vec<String> {
    let mut found = Vec::new();
    for node in nodes {
        let each = node.entries().iter().map(|entry| {
            let name = entry.name().map(|name| name.value().to_owned());
            (name, entry.ty().map(|ty| ty.value().to_owned()), entry.value().clone())
        });
        let ty = node.ty().map(|ty| ty.value().to_owned());
        let children = node.children();
        let (name, has_block) = (node.name().value(), children.is_some());
        found.push(format!("{depth} {name} {ty:?} {:?} {has_block}", each.collect::<Vec<_>>()));
        found.extend(children.into_iter().flat_map(|below| meant(below.nodes(), depth + 1)));
    }
    found
}

#[test]
fn formatting_preserves_random_documents() {
    let count = cases(200, 3_000);
    let (mut read, mut seed) = (0, 0);
    while read < count {
        seed += 1;
        assert!(seed < 4 * count, "the parser reads {read} of {seed}");
        let random = Random::new(seed);
        let mut writer = Writer { random, text: String::new(), comments: 0 };
        writer.nodes(0);
        let before = KdlDocument::parse_v2(&writer.text);
        // The parser rejects some texts that the grammar allows; whatever it accepts must format.
        if format(&Arc::from("a.kdl"), &writer.text).is_err() {
            assert!(before.is_err(), "{}", writer.text);
            continue;
        }
        let once = formatted(&writer.text);
        let Ok(before) = before else { continue };
        let after =
            KdlDocument::parse_v2(&once).unwrap_or_else(|error| panic!("{error:?}\n{once}"));
        assert_eq!(meant(before.nodes(), 0), meant(after.nodes(), 0), "{:?}\n{once}", writer.text);
        read += 1;
    }
}
