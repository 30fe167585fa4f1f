//! Palette of colors that are distinguishable with color vision deficiencies: tints and shades of six of Okabe
//! and Ito's colors.
//!
//! Source: M. Okabe and K. Ito, Color Universal Design, 2008.

/// Number of colors in the palette.
pub(super) const COLORS: usize = 6;

/// Color of a tile, in variants for light and dark backgrounds, terminals, and media without colors.
#[derive(Debug, Clone, Copy)]
pub(super) struct TileColor {
    /// Background color behind dark text: `0xrrggbb`.
    pub(super) light: u32,
    /// Background color behind light text: `0xrrggbb`.
    pub(super) dark: u32,
    /// Index of a color similar to `light` among a terminal's 256 colors.
    pub(super) indexed: u8,
    /// Letter that stands for the color on a medium without colors.
    pub(super) letter: char,
}

/// Colors of tiles: sky blue, orange, bluish green, yellow, vermilion, reddish purple.
pub(super) const PALETTE: [TileColor; COLORS] = [
    TileColor { light: 0x8c_cd_f2, dark: 0x28_51_95, indexed: 117, letter: 'A' },
    TileColor { light: 0xf5_b9_4d, dark: 0xb3_33_0d, indexed: 215, letter: 'B' },
    TileColor { light: 0x4d_bf_99, dark: 0x00_5f_46, indexed: 79, letter: 'C' },
    TileColor { light: 0xf7_f0_9a, dark: 0x41_6c_08, indexed: 229, letter: 'D' },
    TileColor { light: 0xe0_80_50, dark: 0x95_59_39, indexed: 173, letter: 'E' },
    TileColor { light: 0xe0_b0_d0, dark: 0x80_45_68, indexed: 182, letter: 'F' },
];

/// Color of the palette at `position` modulo the number of colors.
pub(super) fn color(position: usize) -> TileColor {
    let [first, ..] = PALETTE;
    PALETTE.get(position % COLORS).copied().unwrap_or(first)
}

/// Number of colors that a terminal supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorDepth {
    /// No colors: a letter in each cell stands for the color.
    None,
    /// 256 indexed colors.
    Indexed,
    /// True color with 24 bits per color.
    True,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linear color channels (red, green, blue), from 0 to 1, of the sRGB color `0xrrggbb`.
    fn linear(color: u32) -> [f64; 3] {
        [16, 8, 0].map(|shift| {
            let value = f64::from((color >> shift) & 0xff) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn luminance([r, g, b]: [f64; 3]) -> f64 {
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    /// Contrast ratio of two colors as WCAG defines it.
    fn contrast(a: u32, b: u32) -> f64 {
        let (a, b) = (luminance(linear(a)), luminance(linear(b)));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_is_legible_on_every_color() {
        for color in PALETTE {
            assert!(contrast(color.light, 0x11_11_11) >= 6.5, "{color:x?}");
            assert!(contrast(color.dark, 0xff_ff_ff) >= 5.0, "{color:x?}");
        }
    }

    /// Pairs (name, matrix) of a kind of vision and the matrix on linear RGB that simulates it: all cones, or without
    /// one type of cone. Source: Machado, Oliveira, Fernandes, 2009, severity 1.
    const SEEN: [(&str, [[f64; 3]; 3]); 4] = [
        ("all", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        (
            "protanopia",
            [
                [0.152_286, 1.052_583, -0.204_868],
                [0.114_503, 0.786_281, 0.099_216],
                [-0.003_882, -0.048_116, 1.051_998],
            ],
        ),
        (
            "deuteranopia",
            [
                [0.367_322, 0.860_646, -0.227_968],
                [0.280_085, 0.672_501, 0.047_413],
                [-0.011_820, 0.042_940, 0.968_881],
            ],
        ),
        (
            "tritanopia",
            [
                [1.255_528, -0.076_749, -0.178_779],
                [-0.078_411, 0.930_809, 0.147_602],
                [0.004_733, 0.691_367, 0.303_900],
            ],
        ),
    ];

    /// Coordinates in CIE L*a*b* of the color that `color` (`0xrrggbb`) becomes under `matrix`, a simulation from
    /// [`SEEN`].
    fn lab(color: u32, matrix: &[[f64; 3]; 3]) -> [f64; 3] {
        let given = linear(color);
        let seen = matrix
            .map(|row| row.iter().zip(given).map(|(a, b)| a * b).sum::<f64>().clamp(0.0, 1.0));
        let dot = |row: [f64; 3], white: f64| {
            let value = row.iter().zip(seen).map(|(a, b)| a * b).sum::<f64>() / white;
            if value > 0.008_856 { value.cbrt() } else { 7.787 * value + 16.0 / 116.0 }
        };
        let x = dot([0.4124, 0.3576, 0.1805], 0.9505);
        let y = dot([0.2126, 0.7152, 0.0722], 1.0);
        let z = dot([0.0193, 0.1192, 0.9505], 1.089);
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    #[test]
    fn colors_differ_under_color_blindness() {
        for (name, matrix) in SEEN {
            for (k, a) in PALETTE.iter().enumerate() {
                for b in &PALETTE[k + 1..] {
                    for (theme, pair) in [("light", [a.light, b.light]), ("dark", [a.dark, b.dark])]
                    {
                        let [a, b] = pair.map(|color| lab(color, &matrix));
                        let far: f64 =
                            a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                        assert!(far >= 8.0, "{name}, {theme}: {pair:06x?} are {far:.1} apart");
                    }
                }
            }
        }
    }
}
