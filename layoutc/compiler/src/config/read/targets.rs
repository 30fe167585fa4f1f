//! Reads the tables `[target.…]` of layoutc.toml into a [`TargetsConfig`].

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::super::{
    CStandard, CudaIndex, EmitKind, IndexType, OpenClIndex, OpenClVersion, RuntimeMode, TargetC,
    TargetCuda, TargetCustom, TargetHip, TargetOpenCl, TargetRust, TargetsConfig,
};
use super::{ConfigReader, find, integer};
use crate::base::codes::Code;
use crate::base::nearest::nearest;

const STANDARDS: &[(&str, CStandard)] =
    &[("c99", CStandard::C99), ("c11", CStandard::C11), ("c17", CStandard::C17)];
const INDEX_TYPES: &[(&str, IndexType)] =
    &[("int64_t", IndexType::Int64), ("int32_t", IndexType::Int32)];
const RUNTIMES: &[(&str, RuntimeMode)] =
    &[("shared", RuntimeMode::Shared), ("inline", RuntimeMode::Inline)];
const EMITS: &[(&str, EmitKind)] = &[
    ("constants", EmitKind::Constants),
    ("index", EmitKind::Index),
    ("pack", EmitKind::Pack),
    ("test", EmitKind::Test),
    ("bench", EmitKind::Bench),
];

/// Names of the built-in targets.
const BUILT_IN: [&str; 5] = ["c", "opencl", "cuda", "hip", "rust"];

/// Names of the architectures of a target.
struct Architectures {
    is_valid: fn(&str) -> bool,
    example: &'static str,
    note: &'static str,
    help: &'static str,
}

const CUDA_ARCHITECTURES: Architectures = Architectures {
    is_valid: |word| {
        let number = word.strip_prefix("sm_").or_else(|| word.strip_prefix("compute_"));
        number.is_some_and(|number| {
            let plain = number.strip_suffix(['a', 'f']).unwrap_or(number);
            (2..=3).contains(&plain.len()) && plain.bytes().all(|b| b.is_ascii_digit())
        })
    },
    example: "sm_80",
    note: "architectures are written as for nvcc's `-arch`: `sm_80`",
    help: "write `sm_` or `compute_` and the number of an architecture",
};

const HIP_ARCHITECTURES: Architectures = Architectures {
    is_valid: |word| {
        word.strip_prefix("gfx").is_some_and(|number| {
            (3..=4).contains(&number.len())
                && number.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        })
    },
    example: "gfx90a",
    note: "architectures are written as for hipcc's `--offload-arch`: `gfx90a`",
    help: "write `gfx` and the number of an architecture",
};

impl ConfigReader<'_> {
    pub(super) fn targets(&mut self, table: &DeTable<'_>) -> TargetsConfig {
        if table.is_empty() {
            return TargetsConfig::of_c(TargetC::default());
        }
        let mut targets = TargetsConfig { c: None, ..TargetsConfig::default() };
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let DeValue::Table(fields) = value.get_ref() else {
                if BUILT_IN.contains(&name) {
                    self.wrong_type(name, "a table", value.get_ref(), value.span());
                    if let Some(fault) = self.found.last_mut() {
                        fault.help = vec![format!("write `[target.{name}]` on a line of its own")];
                    }
                } else {
                    self.unknown(name, key.span(), "[target]", &BUILT_IN);
                }
                continue;
            };
            match name {
                "c" => targets.c = Some(self.target_c(fields)),
                "opencl" => targets.opencl = Some(self.target_opencl(fields)),
                "cuda" => targets.cuda = Some(self.target_cuda(fields)),
                "hip" => targets.hip = Some(self.target_hip(fields)),
                "rust" => {
                    self.known(fields, "[target.rust]", &[]);
                    targets.rust = Some(TargetRust {});
                }
                _ => {
                    if let Some(own) = self.target_own(name, key.span(), fields) {
                        targets.own.insert(name.to_owned(), own);
                    }
                }
            }
        }
        targets
    }

    fn target_opencl(&mut self, table: &DeTable<'_>) -> TargetOpenCl {
        self.known(
            table,
            "[target.opencl]",
            &["version", "image-max", "index-type", "unaligned-buffers"],
        );
        let default = TargetOpenCl::default();
        let version = self.choice(table, "version", &[("1.2", OpenClVersion::V1_2)]);
        let index = self.choice(
            table,
            "index-type",
            &[("int", OpenClIndex::Int), ("long", OpenClIndex::Long)],
        );
        TargetOpenCl {
            version: version.unwrap_or(default.version),
            image_max: self.image_max(table).unwrap_or(default.image_max),
            index_type: index.unwrap_or(default.index_type),
            unaligned_buffers: self.unaligned_buffers(table),
        }
    }

    fn image_max(&mut self, table: &DeTable<'_>) -> Option<[u64; 2]> {
        let (value, span) = find(table, "image-max")?;
        let sizes: Option<Vec<i64>> = match value {
            DeValue::Array(items) => items.iter().map(|item| integer(item.get_ref())).collect(),
            DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Table(_) => None,
        };
        match sizes.as_deref().map(|sizes| sizes.iter().map(|size| u64::try_from(*size)).collect())
        {
            Some(Ok::<Vec<u64>, _>(sizes)) if sizes.iter().all(|size| *size > 0) => {
                if let [width, height] = sizes[..] {
                    return Some([width, height]);
                }
            }
            _ => {}
        }
        let message =
            "`image-max` must be two positive sizes, width and height in texels: `[16384, 16384]`";
        self.error(Code::ConfigValue, message, span)
            .add_help("write the limits of the device: `image-max = [16384, 16384]`");
        None
    }

    fn target_cuda(&mut self, table: &DeTable<'_>) -> TargetCuda {
        self.known(table, "[target.cuda]", &["arch", "index-type", "unaligned-buffers"]);
        let default = TargetCuda::default();
        TargetCuda {
            arch: self.arch(table, &CUDA_ARCHITECTURES).unwrap_or(default.arch),
            index_type: self.gpu_index(table).unwrap_or(default.index_type),
            unaligned_buffers: self.unaligned_buffers(table),
        }
    }

    fn target_hip(&mut self, table: &DeTable<'_>) -> TargetHip {
        self.known(table, "[target.hip]", &["arch", "index-type", "unaligned-buffers"]);
        let default = TargetHip::default();
        TargetHip {
            arch: self.arch(table, &HIP_ARCHITECTURES).unwrap_or(default.arch),
            index_type: self.gpu_index(table).unwrap_or(default.index_type),
            unaligned_buffers: self.unaligned_buffers(table),
        }
    }

    fn unaligned_buffers(&mut self, table: &DeTable<'_>) -> bool {
        self.boolean(table, "unaligned-buffers").unwrap_or(false)
    }

    fn gpu_index(&mut self, table: &DeTable<'_>) -> Option<CudaIndex> {
        let words = [("int", CudaIndex::Int), ("int64_t", CudaIndex::Int64)];
        self.choice(table, "index-type", &words)
    }

    fn arch(&mut self, table: &DeTable<'_>, known: &Architectures) -> Option<Vec<String>> {
        let (words, span) = self.strings(table, "arch")?;
        if words.is_empty() {
            let help = format!("write one or more: `arch = [\"{}\"]`", known.example);
            self.error(Code::ConfigValue, "`arch` is empty", span).add_help(help);
        }
        for (word, span) in &words {
            if !(known.is_valid)(word) {
                let message = format!("`{}` is not an architecture", word.escape_debug());
                let fault = self.error(Code::ConfigValue, &message, span.clone());
                fault.add_note(known.note);
                fault.add_help(known.help);
            }
        }
        Some(words.into_iter().map(|(word, _)| word).collect())
    }

    fn target_own(
        &mut self,
        name: &str,
        span: Range<usize>,
        table: &DeTable<'_>,
    ) -> Option<TargetCustom> {
        let place = format!("[target.{}]", name.escape_debug());
        self.known(table, &place, &["template", "extension"]);
        let word = |text: &str| {
            !text.is_empty()
                && text.len() <= 64
                && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
        };
        if !word(name) || crate::config::path::fault(name).is_some() {
            let message = format!("`{}` cannot be the name of a target", name.escape_debug());
            let fault = self.error(Code::ConfigValue, &message, span.clone());
            fault.add_note("it names a folder: at most 64 ASCII letters, digits, `_` and `-`");
            fault.add_help("give it another name: `[target.numpy]`");
            return None;
        }
        let Some(template) = self.path(table, "template") else {
            if find(table, "template").is_none() {
                let near = nearest(name, BUILT_IN);
                let message = format!("the target `{name}` has no `template`");
                let fault = self.error(Code::ConfigValue, &message, span);
                fault.add_help(match near {
                    Some(near) => format!("did you mean `[target.{near}]`?"),
                    None => format!("name one below the templates folder: `template = \"{name}/index.{name}.j2\"`"),
                });
            }
            return None;
        };
        let named = template.rsplit('/').next().unwrap_or_default();
        let named = named.strip_suffix(".j2").unwrap_or(named);
        let implied = named.rsplit_once('.').map(|(_, extension)| extension.to_owned());
        let given = self.string(table, "extension");
        let at = given.as_ref().map_or(span.clone(), |(_, span)| span.clone());
        let extension = given.map(|(extension, _)| extension).or(implied).unwrap_or_default();
        let parts_ok = extension.split('.').all(word);
        if !parts_ok {
            let message = format!("`{}` is not an extension", extension.escape_debug());
            let fault = self.error(Code::ConfigValue, &message, at);
            fault
                .add_note("an extension has letters, digits, `_`, `-` and inner dots, without the leading dot: `py`");
            fault.add_help("write for example `extension = \"py\"`");
            return None;
        }
        let span = find(table, "template").map_or(span, |(_, span)| span);
        Some(TargetCustom { template, extension, span })
    }

    fn target_c(&mut self, table: &DeTable<'_>) -> TargetC {
        let keys =
            ["standard", "emit", "macros", "openmp", "index-type", "runtime", "umbrella-header"];
        self.known(table, "[target.c]", &keys);
        let default = TargetC::default();
        TargetC {
            standard: self.choice(table, "standard", STANDARDS).unwrap_or(default.standard),
            emit: self.emit(table).unwrap_or(default.emit),
            macros: self.boolean(table, "macros").unwrap_or(default.macros),
            openmp: self.boolean(table, "openmp").unwrap_or(default.openmp),
            index_type: self.choice(table, "index-type", INDEX_TYPES).unwrap_or(default.index_type),
            runtime: self.choice(table, "runtime", RUNTIMES).unwrap_or(default.runtime),
            umbrella_header: self.umbrella_header(table),
            umbrella_span: find(table, "umbrella-header").map_or(0..0, |(_, span)| span),
        }
    }

    fn umbrella_header(&mut self, table: &DeTable<'_>) -> Option<String> {
        let (path, span) = self.string(table, "umbrella-header")?;
        self.check_project_path(&path, span.clone());
        let name = path.rsplit('/').next().unwrap_or_default();
        let stem = name.strip_suffix(".h").or_else(|| name.strip_suffix(".hpp"));
        if !path.is_empty() && stem.is_none_or(str::is_empty) {
            let message = "`umbrella-header` does not name a header";
            let fault = self.error(Code::ConfigValue, message, span);
            fault.add_note("a header ends in `.h` or `.hpp`: `all.h`");
            fault.add_help("write for example `umbrella-header = \"all.h\"`");
        }
        Some(path)
    }

    fn emit(&mut self, table: &DeTable<'_>) -> Option<Vec<EmitKind>> {
        let (words, _) = self.strings(table, "emit")?;
        let mut emit = Vec::new();
        for (word, span) in words {
            match self.one_of("emit", &word, span.clone(), EMITS) {
                Some(part) if emit.contains(&part) => {
                    let message = format!("duplicate value `{word}`");
                    self.error(Code::ConfigValue, &message, span)
                        .add_help("leave one of the two out");
                }
                part => emit.extend(part),
            }
        }
        Some(emit)
    }
}
