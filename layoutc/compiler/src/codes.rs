//! The stable codes of diagnostics: one row each. Every code has a page, `book/src/codes/<area>/<what>.md`, whose
//! first `kdl` block raises it and whose second does not.

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
    PaddingFill "padding::fill" "the fill value does not fit the element type"
    NameCollision "name::collision" "two generated identifiers are equal"
    LimitGenerated "limit::generated" "the generated arithmetic leaves its limits"
    TemplateSyntax "template::syntax" "a template is not well-formed or misuses a value"
    TemplateUndefined "template::undefined" "a template uses a value that the model does not have"
    TemplateFuel "template::fuel" "a template takes too many steps"
    TemplateOutput "template::output" "a template writes too much"
}
