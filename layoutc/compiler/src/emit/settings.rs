//! Settings of a target: language, dialect, requested parts and device limits.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::dialect::{C, C_INT32, CUDA, CUDA_INT64, Dialect, HIP, HIP_INT64, OPENCL, OPENCL_INT64};
use super::language::{C_FILES, CUDA_FILES, HIP_FILES, Language, OPENCL_FILES, RUST_FILES};
use super::model;
use super::runtime::RuntimePlace;
use crate::base::diagnostic::FileSpan;
use crate::config::{
    Config, CudaIndex, EmitKind, IndexType, OpenClIndex, RuntimeMode, TargetCustom,
};
use crate::loops::heuristics::parallelize::Cores;
use crate::loops::relayout::plan::{Primitives, RelayoutOptions};

/// Settings of one target of the configuration.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Name of the target and of its output folder: name of a language or of a custom target.
    pub target: String,
    /// Language of the template model.
    pub language: &'static Language,
    /// Dialect of the language with the configured index type.
    pub dialect: &'static Dialect,
    /// Prefix of every generated identifier; macro names have the prefix in upper case.
    pub prefix: String,
    /// Language version in the comment at the top of each file: `c99`, `1.2`, the edition of Rust, or the
    /// architectures of a CUDA or HIP target.
    pub standard: String,
    /// Parts requested by the configuration, without those that other parts need.
    pub emit: BTreeSet<Part>,
    /// Number of CPU threads of pack, unpack, convert and kernel functions: one or all.
    pub cores: Cores,
    /// Where the C runtime is defined.
    pub runtime: RuntimePlace,
    /// Greatest sizes `[width, height, images]`, inclusive, in texels and images: of a single image, and of an array of
    /// images.
    pub image_max: [[u64; 3]; 2],
    /// True if kernels with vector accesses are accompanied by kernels for buffers of any alignment.
    pub unaligned_buffers: bool,
    /// Template and file extension of a custom target; `None` for a language's own files.
    pub own: Option<OwnFile>,
}

/// File that a custom target generates for each manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnFile {
    /// Path of the template, relative to the templates folder.
    pub template: String,
    /// File extension, without the dot.
    pub extension: String,
    /// Span of the target's table in `layoutc.toml`.
    pub place: FileSpan,
}

impl Settings {
    /// Settings of a language without a configuration: constants, index functions, pack and a test program, for one
    /// thread, with the default index type and without a prefix.
    pub fn of(language: &'static Language) -> Self {
        let parts = [Part::Constants, Part::Index, Part::Pack, Part::Test];
        Self {
            target: language.name.to_owned(),
            language,
            dialect: language.dialect,
            prefix: String::new(),
            standard: String::new(),
            emit: parts.into_iter().collect(),
            cores: Cores::One,
            runtime: RuntimePlace::Inline,
            image_max: language.limits.image_max,
            unaligned_buffers: false,
            own: None,
        }
    }

    /// Requested parts together with the parts that these need.
    pub(super) fn parts(&self) -> model::EmitOptions {
        let is_requested = |part| self.emit.contains(&part);
        let (test, bench) = (is_requested(Part::Test), is_requested(Part::Bench));
        let moves = is_requested(Part::Pack) || test || bench;
        model::EmitOptions {
            constants: is_requested(Part::Constants) || test,
            index: is_requested(Part::Index) || moves,
            pack: moves,
            test,
            bench,
            macros: is_requested(Part::Macros),
            openmp: self.cores == Cores::All,
        }
    }

    /// Planner options: threads, and relayout primitives, which only the built-in C target has.
    pub(super) fn options(&self) -> RelayoutOptions {
        let blocks = self.own.is_none() && self.language.name == C_FILES.name;
        let primitives = if blocks { Primitives::Runtime } else { Primitives::None };
        RelayoutOptions { cores: self.cores, primitives }
    }

    /// Settings of all targets of the configuration, in the order of
    /// [`TargetsConfig::names`](crate::config::TargetsConfig::names).
    pub(super) fn of_config(config: &Config) -> Vec<Self> {
        let prefix = &config.project.prefix;
        let target = &config.target;
        let mut all = Vec::new();
        if let Some(c) = &target.c {
            let dialect = match c.index_type {
                IndexType::Int64 => &C,
                IndexType::Int32 => &C_INT32,
            };
            let macros = c.macros.then_some(Part::Macros);
            let emit = c.emit.iter().copied().map(output_kind).chain(macros).collect();
            let standard = c.standard.name().to_owned();
            let cores = if c.openmp { Cores::All } else { Cores::One };
            let runtime = match c.runtime {
                RuntimeMode::Shared => RuntimePlace::Shared,
                RuntimeMode::Inline => RuntimePlace::Inline,
            };
            all.push(Self { dialect, standard, emit, cores, runtime, ..Self::of(&C_FILES) });
        }
        if let Some(opencl) = &target.opencl {
            let dialect = match opencl.index_type {
                OpenClIndex::Int => &OPENCL,
                OpenClIndex::Long => &OPENCL_INT64,
            };
            let [width, height] = opencl.image_max;
            let image_max =
                OPENCL_FILES.limits.image_max.map(|[_, _, images]| [width, height, images]);
            let standard = "1.2".to_owned();
            let unaligned_buffers = opencl.unaligned_buffers;
            let own = Self::of(&OPENCL_FILES);
            all.push(Self { dialect, standard, image_max, unaligned_buffers, ..own });
        }
        if let Some(cuda) = &target.cuda {
            let dialect = match cuda.index_type {
                CudaIndex::Int => &CUDA,
                CudaIndex::Int64 => &CUDA_INT64,
            };
            let standard = cuda.arch.join(", ");
            let unaligned_buffers = cuda.unaligned_buffers;
            all.push(Self { dialect, standard, unaligned_buffers, ..Self::of(&CUDA_FILES) });
        }
        if let Some(hip) = &target.hip {
            let dialect = match hip.index_type {
                CudaIndex::Int => &HIP,
                CudaIndex::Int64 => &HIP_INT64,
            };
            let standard = hip.arch.join(", ");
            let unaligned_buffers = hip.unaligned_buffers;
            all.push(Self { dialect, standard, unaligned_buffers, ..Self::of(&HIP_FILES) });
        }
        if target.rust.is_some() {
            let emit = [Part::Constants, Part::Index, Part::Pack].into_iter().collect();
            let standard = "2021".to_owned();
            all.push(Self { standard, emit, ..Self::of(&RUST_FILES) });
        }
        all.extend(target.own.iter().map(|(name, own)| Self::of_template(name, own)));
        for settings in &mut all {
            prefix.clone_into(&mut settings.prefix);
        }
        all
    }

    /// Settings of a custom target, which has the template model of the C target.
    fn of_template(name: &str, own: &TargetCustom) -> Self {
        let place = FileSpan::new(&Arc::from("layoutc.toml"), own.span.clone());
        let (template, extension) = (own.template.clone(), own.extension.clone());
        Self {
            target: name.to_owned(),
            own: Some(OwnFile { template, extension, place }),
            ..Self::c()
        }
    }

    /// Settings of a C99 target without a configuration.
    pub fn c() -> Self {
        Self { standard: "c99".to_owned(), ..Self::of(&C_FILES) }
    }
}

/// Part of the generated code that a configuration can request, or that comes with such a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Constants and size functions of the tensors.
    Constants,
    /// Index functions: offset, physical indices, and their inverse.
    Index,
    /// Functions `pack`, `unpack` and conversions; needs the index functions.
    Pack,
    /// Test program; needs [`Part::Constants`], [`Part::Index`] and [`Part::Pack`].
    Test,
    /// Benchmark; needs [`Part::Pack`].
    Bench,
    /// Offset and physical indices as preprocessor macros too, except those that need a loop.
    Macros,
    /// MPI conversions between devices; emitted with [`Part::Pack`] if the manifest has any.
    Reshard,
    /// Test program of the MPI conversions; emitted with [`Part::Test`] if the manifest has any.
    ReshardTest,
}

fn output_kind(emit: EmitKind) -> Part {
    match emit {
        EmitKind::Constants => Part::Constants,
        EmitKind::Index => Part::Index,
        EmitKind::Pack => Part::Pack,
        EmitKind::Test => Part::Test,
        EmitKind::Bench => Part::Bench,
    }
}
