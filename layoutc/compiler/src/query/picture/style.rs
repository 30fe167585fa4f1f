//! Style sheets (CSS) of SVG pictures, with light and dark colors.

use super::palette::{PALETTE, TileColor};

/// CSS rules for fonts and line widths.
const SHAPE: &str = "\
text{font:13px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace}
.t{font-size:16px;font-weight:bold}.h{font-weight:bold}.s{font-size:9.5px}
.m{text-anchor:middle}.e{text-anchor:end}
.c{stroke-width:1}.r1,.r2,.r3{fill:none}.r1{stroke-width:1.5;stroke-dasharray:3 3}.r2{stroke-width:2.5}.r3{stroke-width:4}
.hl{stroke-width:2}
";

/// CSS rules for light colors.
const LIGHT: &str = "\
.paper{fill:#ffffff}text{fill:#1a1a1a}.n,.s{fill:#595959}.i{fill:#111111}
.c{stroke:#ffffff}.o{fill:#ececec}.p{fill:url(#hatch)}.hp{fill:#f6f6f6}.hl{stroke:#d5d5d5}
.r1,.r2{stroke:#1a1a1a}.r3{stroke:#0072b2}
";

/// CSS rules for dark colors.
const DARK: &str = "\
.paper{fill:#16181c}text{fill:#eaeaea}.n,.s{fill:#b4b8be}.i{fill:#ffffff}
.c{stroke:#16181c}.o{fill:#2b2f36}.hp{fill:#1d2025}.hl{stroke:#3d434c}
.r1,.r2{stroke:#eaeaea}.r3{stroke:#56b4e9}
";

/// `<style>` element of an SVG file, with dark colors if the viewer prefers dark.
pub(super) fn alone() -> String {
    let (light, dark) = (tiles(|color| color.light), tiles(|color| color.dark));
    format!(
        "<style>\n{SHAPE}{LIGHT}{light}\n@media (prefers-color-scheme:dark){{\n{DARK}{dark}\n}}\n</style>\n"
    )
}

/// CSS rules for pictures with the CSS class `class` that are part of a page. Pictures inside an element that matches
/// the CSS selector `dark` have dark colors. The id of the hatching pattern of padding is `class` followed by `-hatch`.
pub(super) fn inline(class: &str, dark: &str) -> String {
    let pattern = format!("#{class}-hatch");
    let within = format!("svg.{class}");
    let (light, shade) = (tiles(|color| color.light), tiles(|color| color.dark));
    let light = [SHAPE, &LIGHT.replace("#hatch", &pattern), &light].concat();
    // The pattern is not inside the pictures.
    let part = |css: &str, around: &str| {
        let gap = if around.is_empty() { "" } else { " " };
        let marks = rules(css, &|selector| match selector {
            ".hp" | ".hl" => format!("{around}{gap}{pattern} {selector}"),
            _ => format!("{around}{gap}{within} {selector}"),
        });
        marks.concat()
    };
    let size = format!("{within}{{max-width:100%;height:auto}}");
    size + &part(&light, "") + &part(&[DARK, &shade].concat(), dark)
}

/// CSS rules of the style sheet `css`, one text each, in which each selector is replaced by the result of `change`.
fn rules(css: &str, change: &dyn Fn(&str) -> String) -> Vec<String> {
    let rules = css.split('}').filter_map(|rule| rule.trim().split_once('{'));
    rules
        .map(|(selectors, body)| {
            let selectors: Vec<String> = selectors.split(',').map(change).collect();
            format!("{}{{{body}}}", selectors.join(","))
        })
        .collect()
}

/// CSS rules for the colors of tiles, `.c0`, `.c1`, …. `of` selects the light or the dark variant.
fn tiles(of: fn(&TileColor) -> u32) -> String {
    let one = |(k, color): (usize, _)| format!(".c{k}{{fill:#{:06x}}}", of(color));
    PALETTE.iter().enumerate().map(one).collect()
}
