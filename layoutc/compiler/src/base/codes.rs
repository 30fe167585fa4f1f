//! Stable codes of diagnostics, one row each: variant, text, title.
//!
//! Each code has a page `book/src/codes/<area>/<what>.md`: the example below its heading `Wrong` raises the code, the
//! one below `Fixed` does not. `book/src/SUMMARY.md` lists the page, and the table of `book/src/diagnostics.md` lists
//! it with the title of the code. The page of a code that only the command line raises shows commands instead. Test
//! manifests with the recorded reports are in `tests/refused/<area>/<what>/`; the wrong example of the page is named
//! `page` there, such as `page.kdl`. `BLESS=1 cargo test -p layoutc-compiler --test compiler refused` records the
//! reports.

macro_rules! codes {
    ($($variant:ident $id:literal $title:literal)*) => {
        /// Stable code of a diagnostic, printed as `area::what`: [`Code::KdlSyntax`] is `kdl::syntax`.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
        )]
        #[expect(missing_docs, reason = "each row's title says it")]
        pub enum Code { $(#[serde(rename = $id)] $variant),* }

        impl Code {
            /// All codes, in the order of their declaration.
            pub const ALL: &[Code] = &[$(Code::$variant),*];

            /// Text of the code, `area::what`: `kdl::syntax`.
            pub fn id(self) -> &'static str {
                match self { $(Code::$variant => $id),* }
            }

            /// One-line summary of the fault: "unknown name" for `name::unknown`.
            pub fn title(self) -> &'static str {
                match self { $(Code::$variant => $title),* }
            }
        }
    };
}

codes! {
    KdlSyntax "kdl::syntax" "the manifest is not well-formed KDL 2"
    KdlCharacter "kdl::character" "a character that is not allowed in a manifest"
    KdlNumber "kdl::number" "a number is malformed or out of range"
    KdlMissing "kdl::missing" "a node lacks a required part"
    KdlSurplus "kdl::surplus" "unexpected argument, property or child of a node"
    KdlTwice "kdl::twice" "duplicate property or child"
    KdlValue "kdl::value" "a value of the wrong type"
    KdlStyle "kdl::style" "a manifest is not formatted as by `layoutc fmt`"
    KdlNesting "kdl::nesting" "blocks or comments are nested too deeply"
    NameUnknown "name::unknown" "unknown name"
    NameInvalid "name::invalid" "a name contains characters other than ASCII letters, digits and `_`"
    NameDuplicate "name::duplicate" "duplicate name"
    NameNotYet "name::not_yet" "not implemented yet"
    NameView "name::view" "a view cannot be used here"
    ConfigSyntax "config::syntax" "the configuration is not well-formed TOML"
    ConfigUnknownKey "config::unknown_key" "unknown configuration key"
    ConfigValue "config::value" "invalid value of a configuration key"
    ConfigPath "config::path" "a path leaves the project"
    ShapeForm "shape::form" "the axes of a shape are not written as one node each"
    ShapeExtent "shape::extent" "an extent is not a non-negative integer"
    ShapeLabels "shape::labels" "the labels of an axis are not plain names"
    ExprUnquoted "expr::unquoted" "an expression is not quoted"
    ExprEscape "expr::escape" "an expression or a name is written with escapes or over several lines"
    StepForm "step::form" "parts of a node exclude each other"
    MapNotInjective "map::not_injective" "two elements share a slot"
    MapUnproven "map::unproven" "the map could not be proven injective"
    MapUndecided "map::undecided" "equality of two layouts could not be decided"
    NameFile "name::file" "a manifest cannot be read"
    NameCycle "name::cycle" "cyclic definition"
    NameHides "name::hides" "an axis or parameter shadows a const or symbol"
    NameReserved "name::reserved" "a name is reserved in a target language"
    NameCase "name::case" "two names differ only in case"
    DtypeUnknown "dtype::unknown" "unknown element type"
    DtypeView "dtype::view" "element type of a view is incompatible with its buffer"
    DtypeConvert "dtype::convert" "a conversion between element types lacks `round` or `saturate`"
    DtypeCast "dtype::cast" "no conversion from or to this element type"
    DtypeRecord "dtype::record" "invalid fields of a record"
    ShapeSymbol "shape::symbol" "the constraints of a symbol allow no value"
    ShapeLanes "shape::lanes" "the elements of a buffer do not form whole vectors"
    ShapeView "shape::view" "a view does not cover the memory of its buffer"
    ShapeConvert "shape::convert" "the shapes of a conversion differ"
    ShapeSame "shape::same" "two compared tensors have different axes"
    ExprSyntax "expr::syntax" "an expression or map is not well-formed"
    ExprSlash "expr::slash" "`/` in an expression; integer division is `//`"
    ExprNesting "expr::nesting" "an expression is nested too deeply or is too long"
    ExprOverflow "expr::overflow" "integer overflow"
    ExprDivisor "expr::divisor" "a divisor is not a positive constant"
    ExprExtent "expr::extent" "a stated extent contains an axis"
    ExprFunction "expr::function" "wrong arguments of a function"
    MapArity "map::arity" "the parameters of a map do not match the axes"
    MapNegative "map::negative" "an index is negative"
    MapOutside "map::outside" "an index of a window is out of bounds"
    MapExtent "map::extent" "a stated extent is too small"
    StepAxis "step::axis" "invalid axes of a step"
    StepValue "step::value" "an argument of a step is out of range"
    NotationSyntax "notation::syntax" "syntax error in a text in a foreign notation"
    NotationAxes "notation::axes" "a text in a foreign notation does not match the axes"
    NotationValue "notation::value" "invalid value in a text in a foreign notation"
    NotationUnsupported "notation::unsupported" "a text in a foreign notation does not describe the layout of one tensor"
    NotationRemark "notation::remark" "the tool that owns the notation treats this text differently"
    NotationComposition "notation::composition" "the composition of two layouts is not a layout"
    NotationComplement "notation::complement" "a layout has no complement: copies would overlap or leave holes"
    NotationInverse "notation::inverse" "a layout has no inverse"
    NotationRounds "notation::rounds" "tiles do not divide the elements"
    NotationUnverified "notation::unverified" "a layout could not be verified"
    NotationInexpressible "notation::inexpressible" "a notation cannot express the layout"
    SeparatorsEmptyGroup "separators::empty_group" "a separator leaves a group of axes empty"
    SeparatorsLaterStep "separators::later_step" "a step after `separators` changes axes"
    PaddingForbidden "padding::forbidden" "a layout that must not pad has padding"
    PaddingUnexplained "padding::unexplained" "padding that rounding up to tiles does not explain"
    PaddingLarge "padding::large" "a large fraction of the memory is padding"
    GateBijective "gate::bijective" "a layout that must have no padding has some"
    GatePadding "gate::padding" "a tensor exceeds its limit on padding"
    GateBytes "gate::bytes" "a tensor exceeds its limit on bytes"
    GateContiguous "gate::contiguous" "neighbors along an axis are not adjacent in memory"
    GateVector "gate::vector" "elements cannot be accessed as one vector"
    GateFits "gate::fits" "a tensor is larger than its memory space"
    GateConflictFree "gate::conflict_free" "an access to shared memory has bank conflicts"
    GateCoalesced "gate::coalesced" "an access to global memory touches more sectors than it needs"
    AccessRange "access::range" "an access leaves its tensor"
    AccessVector "access::vector" "the elements of a lane are not an aligned vector"
    GateSameAs "gate::same_as" "two layouts that must be equal differ"
    LimitSize "limit::size" "the size of a tensor exceeds 64 bits"
    LimitAxes "limit::axes" "a layout has too many axes"
    LimitSteps "limit::steps" "a layout has too many steps"
    MeshForm "mesh::form" "a mesh is malformed or has too many devices"
    MeshShard "mesh::shard" "invalid sharding of a tensor"
    MeshConvert "mesh::convert" "invalid conversion between devices"
    MeshPart "mesh::part" "a sharded tensor is used where a whole tensor is required"
    RingAxis "ring::axis" "invalid ring buffer"
    RingWhole "ring::whole" "a ring buffer is used where a whole tensor is required"
    DomainCondition "domain::condition" "invalid condition in `where`"
    DomainUncounted "domain::uncounted" "the elements of a domain could not be counted"
    DomainWhole "domain::whole" "a tensor with a `where` is used where every index must be an element"
    TargetUnknown "target::unknown" "unknown target"
    TargetRank "target::rank" "the physical rank does not match the target's memory"
    TargetFormat "target::format" "the target has no image format for the element type"
    TargetTexel "target::texel" "a row of an image is not a whole number of texels"
    TargetImageSize "target::image_size" "an image exceeds the target's limits"
    PaddingFill "padding::fill" "the element type cannot represent the fill value"
    NameCollision "name::collision" "two generated identifiers are equal"
    LimitChoice "limit::choice" "a conversion cannot follow the schedule in the manifest"
    KernelSyntax "kernel::syntax" "a statement of a kernel is malformed"
    KernelOperand "kernel::operand" "operands of a kernel do not match"
    KernelAxes "kernel::axes" "axes of a tensor do not match its use in a kernel"
    KernelUnbound "kernel::unbound" "the extent of a kernel axis is undetermined"
    KernelExtent "kernel::extent" "an axis of a kernel has different extents in two tensors"
    KernelOutside "kernel::outside" "a kernel reads out of bounds"
    KernelReduction "kernel::reduction" "an assignment reduces an axis"
    KernelIntermediate "kernel::intermediate" "an intermediate of a kernel needs storage or is unused"
    KernelSchedule "kernel::schedule" "invalid loop schedule of a kernel"
    KernelSlowSchedule "kernel::slow_schedule" "a schedule of a kernel costs more than the planner's own"
    KernelVectorize "kernel::vectorize" "a vectorized loop is not contiguous in the output"
    KernelParallel "kernel::parallel" "a parallel loop carries a reduction"
    KernelCache "kernel::cache" "a tile of a tensor cannot be cached"
    GraphAlternative "graph::alternative" "no alternative of an operator fits its tensors"
    GraphCondition "graph::condition" "the condition of an alternative is malformed"
    GraphDtype "graph::dtype" "element types of an operator do not match"
    GraphShape "graph::shape" "shapes of an operator do not match"
    GraphCycle "graph::cycle" "the operators of a graph form a cycle"
    GraphExtent "graph::extent" "the size of a graph tensor is not constant"
    GraphPinned "graph::pinned" "no layout assignment satisfies the pins of a graph"
    GraphUnknown "graph::unknown" "a required layout attribute is opaque and cannot be compared"
    GraphUnsatisfied "graph::unsatisfied" "a tensor does not have the layout that its reader requires"
    LimitGraph "limit::graph" "a graph is too large"
    ImportMalformed "import::malformed" "a file is not an ONNX model"
    ImportOperands "import::operands" "operands of an operator in a model do not match"
    ImportShape "import::shape" "a model lacks the shape of a tensor"
    ImportUnsupported "import::unsupported" "a model uses a feature that graphs do not support"
    DtypeKernel "dtype::kernel" "operand types in a kernel do not match"
    LimitGenerated "limit::generated" "the generated index arithmetic exceeds its limits"
    LimitNesting "limit::nesting" "a value of a kernel or a chain of `use` is nested too deeply"
    LimitIndexType "limit::index_type" "a tensor does not fit the index type"
    TemplateMissing "template::missing" "the template of a target does not exist"
    TemplateSyntax "template::syntax" "a template is malformed or misuses a value"
    TemplateUndefined "template::undefined" "a template uses an undefined value"
    TemplateFuel "template::fuel" "a template executes too many instructions"
    TemplateOutput "template::output" "a template writes too much output"
    TemplateMemory "template::memory" "templates exceed their limit on memory or time"
    ConfigGlob "config::glob" "a pattern in `sources` is malformed or leaves the project"
    ConfigNoSources "config::no_sources" "no manifest matches the project's sources"
    ShapeCoordinate "shape::coordinate" "a coordinate is not an index of the tensor"
    DtypeData "dtype::data" "the elements of a file do not have the tensor's element type"
    ShapeData "shape::data" "the data in a file does not match the tensor"
    OutputForeign "output::foreign" "an output path is occupied by a file that layoutc did not write"
    OutputEdited "output::edited" "a generated file was edited"
    OutputLink "output::link" "an output path leads through a symbolic link"
    OutputOutside "output::outside" "an output path leaves the output folder"
    OutputCollision "output::collision" "two outputs have the same path"
    OutputStale "output::stale" "an output on disk is out of date"
    OutputLocked "output::locked" "the layout ABI differs from layoutc.lock"
    OutputIo "output::io" "a file could not be read or written"
}
