//! Hostile templates, which exhaust time or memory unless the renderer of templates bounds them.

/// Name and text of each hostile template. An empty text stands for a long one, which [`hostile_template`] generates.
pub const HOSTILE: &[(&str, &str)] = &[
    ("loops", "{% for a in range(10000) %}{% for b in range(10000) %}{% endfor %}{% endfor %}"),
    ("a long range", "{% for a in range(10**8) %}{{ a }}{% endfor %}"),
    ("a long list", "{{ range(10**8)|list|length }}"),
    ("a huge power", "{{ 10**1000000 }}"),
    ("a loop in itself", "{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}"),
    ("an include of itself", "{% include 'c/header.h.j2' %}"),
    ("an include of many", "{% for a in range(10**6) %}{% include 'c/header.h.j2' %}{% endfor %}"),
    ("an extends of itself", "{% extends 'c/header.h.j2' %}"),
    ("an import of itself", "{% import 'c/header.h.j2' as x %}{{ x.y }}"),
    ("a macro of itself", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"),
    ("a macro twice", "{% macro m(n) %}{{ m(n) }}{{ m(n) }}{% endmacro %}{{ m(1) }}"),
    (
        "a caller of itself",
        "{% macro m() %}{% call m() %}{{ caller() }}{% endcall %}{% endmacro %}{% call m() %}x{% endcall %}",
    ),
    ("a repeated text", "{{ 'x' * 2000000000 }}"),
    ("a repeated text unused", "{% set x = 'x' * 2000000000 %}{{ x|length }}"),
    ("a repeated list", "{{ ([1] * 2000000000)|length }}"),
    ("repetitions of repetitions", "{% set x = 'x' * 100000 * 100000 %}{{ x|length }}"),
    ("format", "{{ '%999999999d'|format(1) }}"),
    ("indent", "{{ 'a\nb'|indent(1000000000) }}"),
    ("join", "{{ range(10000)|join('x' * 1000000) }}"),
    ("center", "{{ 'a'|center(1000000000) }}"),
    ("replace", "{{ ('x' * 100000)|replace('x', 'x' * 100000)|length }}"),
    ("replace of nothing", "{{ ('x' * 100000)|replace('', 'x' * 100000)|length }}"),
    ("a batch", "{{ [1]|batch(1000000000, 1)|list }}"),
    ("slices", "{{ [1]|slice(1000000000)|list }}"),
    ("upper", "{{ ('x' * 2000000000)|upper|list|join }}"),
    (
        "a concatenation",
        "{% set n = namespace(x='x') %}{% for a in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}{{ n.x|length }}",
    ),
    (
        "a sum of texts",
        "{% set n = namespace(x='x') %}{% for a in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}{{ n.x|length }}",
    ),
    (
        "a sum of lists",
        "{% set n = namespace(x=[1]) %}{% for a in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}{{ n.x|list|length }}",
    ),
    (
        "a chain of lists",
        "{% set n = namespace(x=[1]) %}{% for a in range(60) %}{% set n.x = n.x|chain(n.x) %}{% endfor %}{{ n.x|list|length }}",
    ),
    (
        "nested lists",
        "{% set n = namespace(x=[1]) %}{% for a in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x }}",
    ),
    (
        "nested lists as JSON",
        "{% set n = namespace(x=[1]) %}{% for a in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x|tojson|length }}",
    ),
    (
        "nested lists as a text",
        "{% set n = namespace(x=[1]) %}{% for a in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x ~ '' }}",
    ),
    (
        "nested lists sorted",
        "{% set n = namespace(x=[1]) %}{% for a in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x|sort|length }}",
    ),
    (
        "nested lists compared",
        "{% set n = namespace(x=[1], y=[1]) %}{% for a in range(60) %}{% set n.x = [n.x, n.x] %}{% set n.y = [n.y, n.y] %}{% endfor %}{{ n.x == n.y }}",
    ),
    ("a list in itself", "{% set n = namespace() %}{% set n.x = n %}{{ n }}"),
    (
        "nested 100000 deep",
        "{% set n = namespace(x=[]) %}{% for a in range(100000) %}{% set n.x = [n.x] %}{% endfor %}{{ n.x }}",
    ),
    (
        "captures",
        "{% set n = namespace(x='xx') %}{% for a in range(60) %}{% set n.x %}{{ n.x }}{{ n.x }}{% endset %}{% endfor %}",
    ),
    (
        "filter blocks",
        "{% filter upper %}{% for a in range(10**8) %}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx{% endfor %}{% endfilter %}",
    ),
    (
        "doubling macros",
        "{% macro m(x, n) %}{% if n > 0 %}{{ m(x ~ x, n - 1) }}{% else %}{{ x|length }}{% endif %}{% endmacro %}{{ m('xx', 50) }}",
    ),
    (
        "raw text in loops",
        "{% for a in range(100000) %}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx{% endfor %}",
    ),
    ("an undefined variable", "{{ nothing }}"),
    ("an undefined attribute", "{{ tensors[0].a.b }}"),
    ("an undefined filter", "{{ 1|nothing }}"),
    ("an open block", "{% for a in [1] %}"),
    ("an open expression", "{{ 1"),
    ("an unknown tag", "{% nothing %}"),
    ("a division by zero", "{{ 1 // 0 }}"),
    ("20,000 parentheses", ""),
    ("5,000 ifs", ""),
    ("200,000 terms", ""),
    ("20,000 lists", ""),
    ("200,000 filters", ""),
    ("200,000 attributes", ""),
    ("200,000 nots", ""),
];

/// Names of the templates in [`HOSTILE`] that no bound of the renderer stops: they take memory or time before the
/// template engine counts a step, or exhaust the stack of its parser. The command line therefore renders a project's
/// templates in a child process with limits first.
pub const CONFINED: &[&str] = &[
    "a concatenation",
    "a sum of texts",
    "a sum of lists",
    "nested lists as a text",
    "nested lists compared",
    "a list in itself",
    "nested 100000 deep",
    "200,000 terms",
    "200,000 filters",
    "200,000 attributes",
    "200,000 nots",
];

/// Names of the templates in [`HOSTILE`] that render without an error: their results are an indentation of a clamped
/// width, a sorted list of two entries, and 60 MB of text.
pub const FINE: &[&str] = &["indent", "nested lists sorted", "raw text in loops"];

/// Text of the template called `name` in [`HOSTILE`]; the long texts, which are empty there, are generated. Empty if no
/// template has the name.
pub fn hostile_template(name: &str) -> String {
    let deep = |open: &str, inside: &str, close: &str, count: usize| {
        format!("{}{inside}{}", open.repeat(count), close.repeat(count))
    };
    match name {
        "20,000 parentheses" => format!("{{{{ {} }}}}", deep("(", "1", ")", 20_000)),
        "5,000 ifs" => deep("{% if true %}", "x", "{% endif %}", 5000),
        "200,000 terms" => format!("{{{{ {} }}}}", deep("", "1", " + 1", 200_000)),
        "20,000 lists" => format!("{{{{ {} }}}}", deep("[", "1", "]", 20_000)),
        "200,000 filters" => format!("{{{{ {} }}}}", deep("", "'x'", "|upper", 200_000)),
        "200,000 attributes" => format!("{{{{ {} }}}}", deep("", "tensors", ".a", 200_000)),
        "200,000 nots" => format!("{{{{ {} }}}}", deep("not ", "true", "", 200_000)),
        _ => HOSTILE.iter().find(|(known, _)| *known == name).map_or("", |row| row.1).to_owned(),
    }
}
