//! The stable codes of diagnostics: one row each. Every code has a page, `book/src/codes/<area>/<what>.md`, whose
//! first `kdl` block raises it and whose second does not; the page of a code that only the binary raises shows commands.

macro_rules! codes {
    ($($variant:ident $id:literal $title:literal)*) => {
        /// A diagnostic's stable code, `area::what`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "each row's title says it")]
        pub enum Code { $($variant),* }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &[Code] = &[$(Code::$variant),*];

            /// `area::what`.
            pub fn id(self) -> &'static str {
                match self { $(Code::$variant => $id),* }
            }

            /// What it means, in a few words.
            pub fn title(self) -> &'static str {
                match self { $(Code::$variant => $title),* }
            }
        }
    };
}

codes! {
    KdlSyntax "kdl::syntax" "the manifest is not well-formed KDL 2"
    KdlNesting "kdl::nesting" "blocks or comments are nested too deep"
    NameUnknown "name::unknown" "nothing of this name is known here"
    NameNotYet "name::not_yet" "this part of the language is not built yet"
    MapNotInjective "map::not_injective" "two elements share a slot"
    MapUnproven "map::unproven" "the map could not be proven one-to-one"
    ConfigGlob "config::glob" "a pattern of `sources` cannot be used"
    ConfigNoSources "config::no_sources" "no manifest matches the project's sources"
    ShapeCoordinate "shape::coordinate" "a coordinate is not an index of the tensor"
    OutputForeign "output::foreign" "something that layoutc did not write stands where an output goes"
    OutputEdited "output::edited" "a generated file was edited"
    OutputLink "output::link" "an output would be written through a link"
    OutputOutside "output::outside" "an output would leave the output folder"
    OutputCollision "output::collision" "two outputs would be one file"
    OutputStale "output::stale" "an output on disk is not what would be written"
    OutputIo "output::io" "a file could not be read or written"
}
