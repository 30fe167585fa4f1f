//! Reserved names of each target language: [`Keywords`] tells which language or library reserves an identifier.

use super::word_set::{Marked, Words};
use super::words::{
    C_FUNCTIONS, C_KEYWORDS, C_MACROS, CPP_KEYWORDS, CUDA_FUNCTIONS, CUDA_KEYWORDS,
    OPENCL_FUNCTIONS, OPENCL_KEYWORDS, OPENCL_MACROS, RUST_KEYWORDS, RUST_NAMES, WINDOWS_MACROS,
};

/// Identifiers that a target language or its libraries reserve.
#[derive(Debug)]
pub struct Keywords {
    /// Name of the language in messages.
    language: &'static str,
    /// Words that no generated identifier may have, such as keywords, and macros and types of libraries, as pairs (name
    /// of the language or library in messages, set of words).
    words: &'static [(&'static str, &'static Words)],
    /// Prefixes of names that libraries reserve, as pairs (name of the library in messages, prefix).
    prefixes: &'static [(&'static str, &'static str)],
    /// Names of library functions. A generated function must not have one of these names. A parameter may, unless
    /// generated code calls the function.
    functions: &'static [&'static Words],
}

/// Names reserved in C99 to C23 and in C++. C++ programs may include the generated headers.
pub static C: Keywords = Keywords {
    language: "C",
    words: &[("C", &C_KEYWORDS), ("C++", &CPP_KEYWORDS), ("the C library", &C_MACROS)],
    prefixes: &[("layoutc", "layoutc_"), ("layoutc", "LAYOUTC_")],
    functions: &[&C_FUNCTIONS],
};

/// Names reserved in OpenCL C 1.2. The generated header for the host is C or C++ code, so that the keywords of C and
/// C++ are reserved too.
pub static OPENCL: Keywords = Keywords {
    language: "OpenCL C",
    words: &[
        ("OpenCL C", &OPENCL_KEYWORDS),
        ("C", &C_KEYWORDS),
        ("C++", &CPP_KEYWORDS),
        ("the OpenCL C library", &OPENCL_MACROS),
    ],
    prefixes: &[
        ("layoutc", "layoutc_"),
        ("layoutc", "LAYOUTC_"),
        ("OpenCL", "CL_"),
        ("OpenCL", "cl_"),
    ],
    functions: &[&OPENCL_FUNCTIONS],
};

/// Names reserved in CUDA C++, for the host and the device.
pub static CUDA: Keywords = Keywords {
    language: "CUDA C++",
    words: &[
        ("CUDA C++", &CUDA_KEYWORDS),
        ("C", &C_KEYWORDS),
        ("C++", &CPP_KEYWORDS),
        ("the C library", &C_MACROS),
    ],
    prefixes: &[("layoutc", "layoutc_"), ("layoutc", "LAYOUTC_")],
    functions: &[&C_FUNCTIONS, &CUDA_FUNCTIONS],
};

/// Names reserved in HIP C++, for the host and the device: those of CUDA C++, and the prefix of HIP's library.
pub static HIP: Keywords = Keywords {
    language: "HIP C++",
    prefixes: &[("layoutc", "layoutc_"), ("layoutc", "LAYOUTC_"), ("HIP", "hip"), ("HIP", "HIP_")],
    words: &[
        ("HIP C++", &CUDA_KEYWORDS),
        ("C", &C_KEYWORDS),
        ("C++", &CPP_KEYWORDS),
        ("the C library", &C_MACROS),
    ],
    functions: &[&C_FUNCTIONS, &CUDA_FUNCTIONS],
};

/// Names reserved in Rust.
pub static RUST: Keywords = Keywords {
    language: "Rust",
    words: &[("Rust", &RUST_KEYWORDS), ("Rust's library", &RUST_NAMES)],
    prefixes: &[("layoutc", "layoutc_"), ("layoutc", "LAYOUTC_")],
    functions: &[],
};

impl Keywords {
    /// Reserved names of the built-in target `target`: `c`, `opencl`, `cuda`, `hip` or `rust`; `None` for other targets.
    pub fn of(target: &str) -> Option<&'static Self> {
        match target {
            "c" => Some(&C),
            "opencl" => Some(&OPENCL),
            "cuda" => Some(&CUDA),
            "hip" => Some(&HIP),
            "rust" => Some(&RUST),
            _ => None,
        }
    }

    /// Language or library that reserves `name` for all identifiers, such as "C++": one of its words is `name`, or
    /// `name` starts with its prefix. "C" for any other name of the form `_X` or `__x`. `None` if the name is not
    /// reserved, or only for functions.
    pub fn reserved(&self, name: &str) -> Option<&'static str> {
        self.owner(Marked::new(name))
    }

    /// True if no parameter or variable of generated code has the name `name`, although a manifest may use it: it is
    /// reserved, or a macro of `windows.h`.
    pub fn is_avoided(&self, name: &str) -> bool {
        self.reserved(name).is_some() || WINDOWS_MACROS.contains(Marked::new(name))
    }

    /// Language or library because of which a generated function cannot have the name `name`: "the C library" for
    /// `exp`. These are the names of [`Self::reserved`] and those of library functions. `None` if a function may have
    /// the name.
    pub fn reserved_function(&self, name: &str) -> Option<String> {
        let name = Marked::new(name);
        let is_library = || self.functions.iter().any(|names| names.contains(name));
        let library = || is_library().then(|| format!("the {} library", self.language));
        self.owner(name).map(str::to_owned).or_else(library)
    }

    /// Words of the table: the reserved words of the language and its libraries, then the names of library functions.
    /// Prefixes are not included.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        let words = self.words.iter().map(|(_, words)| *words);
        words.chain(self.functions.iter().copied()).flat_map(Words::iter)
    }

    fn owner(&self, name: Marked<'_>) -> Option<&'static str> {
        let by_word = self.words.iter().find(|(_, words)| words.contains(name));
        let by_prefix = || self.prefixes.iter().find(|(_, start)| name.word.starts_with(start));
        by_word
            .map(|(language, _)| *language)
            .or_else(|| by_prefix().map(|(library, _)| *library))
            .or_else(|| is_implementation_name(name.word).then_some("C"))
    }
}

/// True if any built-in target reserves `name` for variables (see [`Keywords::reserved`]).
pub(crate) fn is_reserved(name: &str) -> bool {
    [&C, &OPENCL, &CUDA].iter().any(|keywords| keywords.reserved(name).is_some())
}

/// True for a name of the form `_X` or `__x`, which C and C++ reserve for the implementation.
fn is_implementation_name(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next() == Some('_')
        && letters.next().is_some_and(|c| c == '_' || c.is_ascii_uppercase())
}
