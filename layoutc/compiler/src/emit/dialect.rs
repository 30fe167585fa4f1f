//! What tells the languages of the C family apart, as data. The printer reads it; nothing else asks for a language.

use crate::config::IndexType;
use crate::dtype::Scalar;

/// A language of the C family.
#[derive(Debug)]
pub struct Dialect {
    /// Its name, for messages.
    pub name: &'static str,
    /// The type of indices, extents and offsets.
    pub index: &'static str,
    /// Its greatest value.
    pub index_max: i64,
    /// The macro that prints it.
    pub index_format: &'static str,
    /// The widest integer that a literal without suffix holds.
    pub plain_literal: i64,
    /// What wraps a wider literal, before and after.
    pub wide_literal: (&'static str, &'static str),
    /// The type of a truth value.
    pub boolean: &'static str,
    /// Put before a pointer to elements.
    pub pointer: &'static str,
    /// The scalar types.
    pub scalars: fn(Scalar) -> &'static str,
    /// Whether divisions by powers of two become shifts and masks.
    pub shifts: bool,
    /// The prefix of helper functions, `floor_div` and the like.
    pub helper: &'static str,
    /// Words that cannot be identifiers, and names that the standard library keeps, by language.
    pub reserved: &'static [(&'static str, &'static [&'static str])],
    /// Functions that the generated code calls: nothing local may hide them.
    pub called: &'static [&'static str],
    /// Names that only a function of the same name collides with.
    pub functions: &'static [&'static str],
}

/// C99 to C23, and C++ where a header is included from it.
pub const C: Dialect = Dialect {
    name: "C",
    index: "int64_t",
    index_max: i64::MAX,
    index_format: "PRId64",
    plain_literal: i32::MAX as i64,
    wide_literal: ("INT64_C(", ")"),
    boolean: "bool",
    pointer: "",
    scalars: c_scalar,
    shifts: true,
    helper: "layoutc_",
    reserved: &[("C", C_KEYWORDS), ("C++", CPP_KEYWORDS), ("the C library", C_MACROS)],
    called: &["exit", "fputs", "free", "malloc", "memcmp", "memcpy", "memset", "printf", "puts"],
    functions: C_FUNCTIONS,
};

/// C with indices of 32 bits.
pub const C_INT32: Dialect = Dialect {
    index: "int32_t",
    index_max: i32::MAX as i64,
    index_format: "PRId32",
    helper: "layoutc_i32_",
    ..C
};

/// C without strength reduction, for the definition that the tests hold the generated functions against.
pub const C_PLAIN: Dialect = Dialect { shifts: false, helper: "plain_", ..C };

/// The same with indices of 32 bits.
pub const C_INT32_PLAIN: Dialect = Dialect { shifts: false, helper: "plain_", ..C_INT32 };

/// C with indices of a type.
pub fn c(index: IndexType) -> &'static Dialect {
    match index {
        IndexType::Int64 => &C,
        IndexType::Int32 => &C_INT32,
    }
}

fn c_scalar(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::F64 => "double",
        Scalar::F32 => "float",
        Scalar::F16 | Scalar::Bf16 | Scalar::U16 => "uint16_t",
        Scalar::F8e4m3fn | Scalar::F8e5m2 | Scalar::F8e8m0fnu => "uint8_t",
        Scalar::F4e2m1fn | Scalar::U8 | Scalar::U4 | Scalar::U2 | Scalar::U1 | Scalar::Bool => {
            "uint8_t"
        }
        Scalar::I64 => "int64_t",
        Scalar::I32 => "int32_t",
        Scalar::I16 => "int16_t",
        Scalar::I8 | Scalar::I4 | Scalar::I2 => "int8_t",
        Scalar::U64 => "uint64_t",
        Scalar::U32 => "uint32_t",
        Scalar::C64 => "layoutc_c64",
        Scalar::C128 => "layoutc_c128",
    }
}

impl Dialect {
    /// The language that keeps `name` for itself.
    pub fn reserved(&self, name: &str) -> Option<&'static str> {
        let kept = self.reserved.iter().find(|(_, words)| words.contains(&name));
        kept.map(|(language, _)| *language).or_else(|| is_implementation_name(name).then_some("C"))
    }
}

/// `_X` and `__x` belong to the implementation, in C and C++ alike.
fn is_implementation_name(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next() == Some('_')
        && letters.next().is_some_and(|c| c == '_' || c.is_ascii_uppercase())
}

const C_KEYWORDS: &[&str] = &[
    "alignas",
    "alignof",
    "auto",
    "bool",
    "break",
    "case",
    "char",
    "const",
    "constexpr",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "false",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "nullptr",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "struct",
    "switch",
    "thread_local",
    "true",
    "typedef",
    "typeof",
    "typeof_unqual",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "asm",
];

const CPP_KEYWORDS: &[&str] = &[
    "and",
    "and_eq",
    "bitand",
    "bitor",
    "catch",
    "char8_t",
    "char16_t",
    "char32_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const_cast",
    "consteval",
    "constinit",
    "decltype",
    "delete",
    "dynamic_cast",
    "explicit",
    "export",
    "friend",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "reinterpret_cast",
    "requires",
    "static_cast",
    "template",
    "this",
    "throw",
    "try",
    "typeid",
    "typename",
    "using",
    "virtual",
    "wchar_t",
    "xor",
    "xor_eq",
];

/// Macros that would rewrite a parameter of the name, and types that signatures mention.
const C_MACROS: &[&str] = &[
    "I",
    "INFINITY",
    "NAN",
    "NULL",
    "EOF",
    "BUFSIZ",
    "RAND_MAX",
    "EXIT_FAILURE",
    "EXIT_SUCCESS",
    "NDEBUG",
    "assert",
    "complex",
    "imaginary",
    "errno",
    "stdin",
    "stdout",
    "stderr",
    "offsetof",
    "noreturn",
    "signbit",
    "isnan",
    "isinf",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "intmax_t",
    "uintmax_t",
    "intptr_t",
    "uintptr_t",
    "ptrdiff_t",
    "size_t",
    "FILE",
    "INT64_C",
    "UINT64_C",
    "INT32_MAX",
    "INT64_MAX",
    "SIZE_MAX",
    "CHAR_BIT",
    "linux",
    "unix",
    "i386",
    "mips",
    "sparc",
    "sun",
    "main",
    "y0",
    "y1",
    "yn",
    "j0",
    "j1",
    "jn",
];

/// Functions of the C library: harmless as parameters, taken as functions of their own.
const C_FUNCTIONS: &[&str] = &[
    "abort",
    "abs",
    "labs",
    "llabs",
    "acos",
    "asin",
    "atan",
    "atan2",
    "atexit",
    "atof",
    "atoi",
    "bcmp",
    "bcopy",
    "bzero",
    "calloc",
    "cbrt",
    "ceil",
    "clock",
    "close",
    "connect",
    "copysign",
    "cos",
    "cosh",
    "div",
    "dup",
    "erf",
    "erfc",
    "exit",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "fclose",
    "fdim",
    "feof",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "fopen",
    "fork",
    "fprintf",
    "fread",
    "free",
    "frexp",
    "fwrite",
    "gamma",
    "getenv",
    "hypot",
    "index",
    "isalpha",
    "isdigit",
    "ldexp",
    "lgamma",
    "link",
    "listen",
    "log",
    "log10",
    "log1p",
    "log2",
    "logb",
    "lround",
    "malloc",
    "memchr",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "modf",
    "nan",
    "nearbyint",
    "open",
    "pipe",
    "pow",
    "printf",
    "putchar",
    "puts",
    "qsort",
    "raise",
    "rand",
    "read",
    "realloc",
    "remainder",
    "remove",
    "rename",
    "rindex",
    "rint",
    "round",
    "scalb",
    "scanf",
    "select",
    "signal",
    "significand",
    "sin",
    "sinh",
    "sleep",
    "sprintf",
    "sqrt",
    "srand",
    "strcat",
    "strchr",
    "strcmp",
    "strcpy",
    "strlen",
    "strncmp",
    "system",
    "tan",
    "tanh",
    "tgamma",
    "time",
    "tolower",
    "toupper",
    "trunc",
    "unlink",
    "write",
];
