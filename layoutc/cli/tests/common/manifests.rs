//! Manifests for runs of a program.

/// Four rows of eight, in blocks of four.
pub(crate) const BLOCKED: &str = "\
tensor t dtype=f32 {
    shape { h 4; w 8 }
    layout {
        map \"(h, w) -> (w // 4, h, w % 4)\"
    }
}
";

/// A map that drops a digit.
pub(crate) const BROKEN: &str = "\
tensor t dtype=f32 {
    shape { h 4; w 8 }
    layout {
        map \"(h, w) -> (h, w % 4)\"
    }
}
";
