//! Memory spaces in the model and in the generated header.
#![allow(clippy::unwrap_used, reason = "a test")]

use layoutc_compiler::config::Config;
use layoutc_compiler::emit::Templates;
use layoutc_compiler::query::inspect::tensor_json;
use layoutc_compiler::{Compiler, MemorySources};

#[test]
fn memory_space_has_size_alignment_and_xla_number() {
    let manifest = "use \"spaces.kdl\"\n\
        tensor a dtype=f32 { shape { n 1024 }; memory vmem; require fits }\n\
        tensor b xla=\"f32[8,128]{1,0:T(8,128)S(1)}\"\n\
        tensor c dtype=f32 { shape { n 4 }; layout { align 1024 }; memory vmem }\n";
    let spaces =
        "const PAGE 512\nmemory-space vmem bytes=\"4 KiB\" align=PAGE xla=1\nmemory-space smem\n";
    let files = [("a.kdl", manifest), ("spaces.kdl", spaces)];
    let config = Config::default();
    let sources = files.iter().copied().collect::<MemorySources>();
    let compiler = Compiler::new(&sources, &config);
    let checked = compiler.check(&["a.kdl".to_owned()]);
    assert_eq!(checked.diagnostics, []);
    let tensors = &checked.manifests[0].tensors;
    let json: Vec<_> = tensors.iter().map(|tensor| tensor_json(tensor, "a.kdl")).collect();
    assert_eq!(json.iter().map(|j| j["memory"].as_str().unwrap()).collect::<Vec<_>>(), ["vmem"; 3]);
    let alignments: Vec<_> = json.iter().map(|j| j["alignment"].as_i64().unwrap()).collect();
    assert_eq!(alignments, [512, 512, 1024]);
    let outputs = compiler.emit(&checked, &Templates::default()).unwrap();
    let header = &outputs.iter().find(|output| output.path.ends_with("a.h")).unwrap().text;
    assert!(header.contains("\n//   memory space: vmem, of 4096 bytes\n"), "{}", &header[..1500]);
    let mut lines = header.lines().filter(|line| line.starts_with("#define A_ALIGNMENT"));
    assert!(lines.next().unwrap().ends_with(" 512"), "{header}");
}
