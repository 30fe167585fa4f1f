//! The stable codes of diagnostics: one row each. Every code has a page, `book/src/codes/<area>/<what>.md`, whose
//! first `kdl` block raises it and whose second does not; the page of a code that only the binary raises shows commands.

macro_rules! codes {
    ($($variant:ident $id:literal $title:literal)*) => {
        /// A diagnostic's stable code, `area::what`.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
        )]
        #[expect(missing_docs, reason = "each row's title says it")]
        pub enum Code { $(#[serde(rename = $id)] $variant),* }

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
    MapUndecided "map::undecided" "whether two tensors lie alike could not be decided"
    NameFile "name::file" "a manifest cannot be read"
    NameCycle "name::cycle" "a chain of names leads back to its start"
    NameHides "name::hides" "an axis or parameter has the name of a const or symbol"
    NameReserved "name::reserved" "a word that a target language keeps for itself"
    NameCase "name::case" "two names differ in case only"
    DtypeUnknown "dtype::unknown" "there is no such element type"
    DtypeView "dtype::view" "a view with an element type that its buffer's does not become"
    DtypeConvert "dtype::convert" "a conversion between different element types that does not say how"
    DtypeCast "dtype::cast" "elements of a type that is not converted into others"
    DtypeRecord "dtype::record" "the fields of a record do not make one axis of one element type"
    ShapeSymbol "shape::symbol" "the facts of a symbol leave it no value"
    ShapeLanes "shape::lanes" "the elements of a buffer do not join to whole vectors"
    ShapeView "shape::view" "a view is not the memory of its buffer"
    ShapeConvert "shape::convert" "a conversion between different shapes"
    ShapeSame "shape::same" "two tensors that are compared have different axes"
    ExprSyntax "expr::syntax" "an expression or map is not well-formed"
    ExprSlash "expr::slash" "`/` alone in an expression"
    ExprNesting "expr::nesting" "an expression is nested too deep or too long"
    ExprOverflow "expr::overflow" "a value leaves the integer range"
    ExprDivisor "expr::divisor" "a divisor is not a positive constant"
    ExprProduct "expr::product" "a product of two indices"
    ExprExtent "expr::extent" "a stated extent holds an axis"
    ExprFunction "expr::function" "a function is given what it does not take"
    MapArity "map::arity" "the parameters of a map do not match the axes"
    MapNegative "map::negative" "an index goes below 0"
    MapOutside "map::outside" "an index of a window leaves what it looks at"
    MapExtent "map::extent" "a stated extent is too small"
    StepAxis "step::axis" "a step names an axis wrongly"
    StepValue "step::value" "an argument of a step is out of range"
    NotationSyntax "notation::syntax" "a text is not of its notation"
    NotationAxes "notation::axes" "a text in a foreign notation is for other axes"
    NotationValue "notation::value" "a text in a foreign notation means nothing"
    NotationUnsupported "notation::unsupported" "a text in a foreign notation means what no layout is"
    NotationRemark "notation::remark" "a foreign tool goes another way with this text"
    NotationComposition "notation::composition" "no layout is one layout after another"
    NotationComplement "notation::complement" "copies of a layout do not lie side by side"
    NotationInverse "notation::inverse" "a layout has no inverse"
    NotationRounds "notation::rounds" "tiles would cover elements that do not exist"
    NotationUnverified "notation::unverified" "a layout could not be verified"
    NotationInexpressible "notation::inexpressible" "a notation has no way to say a layout"
    SeparatorsEmptyGroup "separators::empty_group" "a separator leaves a group of axes empty"
    SeparatorsLaterStep "separators::later_step" "a step changes axes after separators"
    PaddingForbidden "padding::forbidden" "padding where none is allowed"
    PaddingUnexplained "padding::unexplained" "slots without an element that no rounding up explains"
    PaddingLarge "padding::large" "a large share of the memory is padding"
    GateBijective "gate::bijective" "a layout that must have no padding has some"
    GatePadding "gate::padding" "more padding than a gate allows"
    GateBytes "gate::bytes" "more bytes than a gate allows"
    GateContiguous "gate::contiguous" "neighbours along an axis are not neighbours in memory"
    GateVector "gate::vector" "elements that must be one vector access are not"
    GateFits "gate::fits" "a tensor is larger than its memory space"
    GateSameAs "gate::same_as" "two layouts that must be the same differ"
    LimitSize "limit::size" "a tensor does not fit 64 bits"
    LimitAxes "limit::axes" "a layout with too many axes"
    LimitSteps "limit::steps" "a layout with too many steps"
    TargetUnknown "target::unknown" "there is no such target"
    TargetRank "target::rank" "a target's memory has another number of axes"
    TargetFormat "target::format" "no image holds elements of this type"
    TargetTexel "target::texel" "a row of an image does not end with a whole texel"
    TargetImageSize "target::image_size" "an image is larger than the target's"
    PaddingFill "padding::fill" "the fill value does not fit the element type"
    NameCollision "name::collision" "two generated identifiers are equal"
    LimitChoice "limit::choice" "a conversion cannot be done as the manifest chooses"
    KernelSyntax "kernel::syntax" "a statement of a kernel is not well-formed"
    KernelOperand "kernel::operand" "the operands of a kernel do not go together"
    KernelAxes "kernel::axes" "a tensor of a kernel has other axes than are written"
    KernelUnbound "kernel::unbound" "nothing says how far an axis of a kernel counts"
    KernelExtent "kernel::extent" "an axis of a kernel counts differently in two tensors"
    KernelOutside "kernel::outside" "a kernel reads outside a tensor"
    KernelReduction "kernel::reduction" "an axis is reduced where one value is written"
    KernelIntermediate "kernel::intermediate" "an intermediate of a kernel needs memory, or is of no use"
    KernelSchedule "kernel::schedule" "a kernel is scheduled by loops that it does not have"
    KernelVectorize "kernel::vectorize" "a vectorised loop is not contiguous in the output"
    KernelParallel "kernel::parallel" "a parallel loop carries a reduction"
    KernelCache "kernel::cache" "a block of a tensor cannot be copied near the compute"
    DtypeKernel "dtype::kernel" "types in a kernel do not go together"
    LimitGenerated "limit::generated" "the generated arithmetic leaves its limits"
    LimitIndexType "limit::index_type" "a tensor does not fit the index type"
    TemplateMissing "template::missing" "a target names a template that is not there"
    TemplateSyntax "template::syntax" "a template is not well-formed or misuses a value"
    TemplateUndefined "template::undefined" "a template uses a value that the model does not have"
    TemplateFuel "template::fuel" "a template takes too many steps"
    TemplateOutput "template::output" "a template writes too much"
    TemplateMemory "template::memory" "templates take too much memory or time"
    ConfigGlob "config::glob" "a pattern of `sources` cannot be used"
    ConfigNoSources "config::no_sources" "no manifest matches the project's sources"
    ShapeCoordinate "shape::coordinate" "a coordinate is not an index of the tensor"
    DtypeData "dtype::data" "the elements of a file are not of the tensor's type"
    ShapeData "shape::data" "a file does not hold the elements of the tensor"
    OutputForeign "output::foreign" "something that layoutc did not write stands where an output goes"
    OutputEdited "output::edited" "a generated file was edited"
    OutputLink "output::link" "an output would be written through a link"
    OutputOutside "output::outside" "an output would leave the output folder"
    OutputCollision "output::collision" "two outputs would be one file"
    OutputStale "output::stale" "an output on disk is not what would be written"
    OutputLocked "output::locked" "the layout ABI differs from layoutc.lock"
    OutputIo "output::io" "a file could not be read or written"
}
