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
    KdlCharacter "kdl::character" "a character that no manifest may contain"
    KdlNumber "kdl::number" "a number that cannot be held"
    KdlMissing "kdl::missing" "a node lacks a part that it needs"
    KdlSurplus "kdl::surplus" "a node has a part that it does not take"
    KdlTwice "kdl::twice" "something that stands once is given twice"
    KdlValue "kdl::value" "a value of the wrong kind"
    KdlNesting "kdl::nesting" "blocks or comments are nested too deep"
    NameUnknown "name::unknown" "nothing of this name is known here"
    NameInvalid "name::invalid" "a name with other characters than ASCII letters, digits and `_`"
    NameDuplicate "name::duplicate" "two things of one list have one name"
    NameNotYet "name::not_yet" "this part of the language is not built yet"
    ConfigSyntax "config::syntax" "the configuration is not well-formed TOML"
    ConfigUnknownKey "config::unknown_key" "the configuration has no such key"
    ConfigValue "config::value" "a key of the configuration cannot have this value"
    ConfigPath "config::path" "a path leads out of the project"
    ShapeForm "shape::form" "the axes of a shape are not written one node each"
    ShapeExtent "shape::extent" "an extent is not a whole number from 0"
    ShapeLabels "shape::labels" "the labels of an axis are not written as names alone"
    ExprUnquoted "expr::unquoted" "an expression stands without quotes"
    ExprEscape "expr::escape" "an expression or a name is written with escapes or over several lines"
    StepForm "step::form" "the parts of a step do not go together"
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
