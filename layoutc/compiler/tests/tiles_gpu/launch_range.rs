//! Launch ranges of tiled relayouts.

use std::process::Command;

use super::{built, kernel, run};
use crate::common::cc::folder;

#[test]
fn grid_stride_launch_covers_every_tile() {
    // `run` chooses the number of work-groups; each moves several tiles.
    let manifest = "symbol count min=1
tensor ribbon dtype=i8x3 { shape { n count } }
";
    let outputs = run("ribbon", manifest, &[&[43_000]]);
    let body = kernel(&outputs["opencl/m.cl"], "ribbon_pack");
    assert!(body.contains("tile += (int)get_num_groups(0)"), "{body}");
    // The number of work-groups is limited.
    let (_, outputs) = built("tensor ribbon dtype=f64 { shape { n 600000001 } }\n", true);
    assert!(outputs["opencl/m.h"].contains("RIBBON_PACK_GLOBAL_SIZE_0 268435456\n"));
    assert!(outputs["cuda/m.cu"].contains("ribbon_pack_kernel<<<1048576, 256, 0, stream>>>"));
}

#[test]
fn host_gets_the_launch_range_of_every_size() {
    let manifest = "symbol batch min=0
tensor a dtype=u8 { shape { n batch; c 48 }; layout { order c n } }
tensor b dtype=u8 {
    shape { n batch }
    layout {
        pad n multiple=100
    }
}
";
    let (_, outputs) = built(manifest, true);
    let folder = folder("tiles_ranges");
    std::fs::write(folder.join("m.h"), &outputs["opencl/m.h"]).unwrap();
    let program = "#include \"m.h\"
#include <stdio.h>
int main(void) {
    const int64_t sizes[] = {0, 1, 64, 65, 1000, 1000000, 1000000000};
    for (int k = 0; k < 7; ++k) {
        printf(\"%lld %lld\\n\", (long long)a_pack_global_size_0(sizes[k]), (long long)b_pack_global_size_0(sizes[k]));
    }
    return 0;
}
";
    std::fs::write(folder.join("main.c"), program).unwrap();
    let strict =
        ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "main.c", "-o", "ranges"];
    let compiled = Command::new("cc").args(strict).current_dir(&folder).output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(folder.join("ranges")).output().unwrap();
    let message = String::from_utf8(ran.stdout).unwrap();
    let all = (1 << 20) * 256;
    let wanted = [
        (0, 0),
        (256, 256),
        (256, 256),
        (256, 256),
        (4 * 256, 256),
        (3907 * 256, 245 * 256),
        (all, 244_141 * 256),
    ];
    let wanted = wanted.map(|(a, b)| format!("{a} {b}\n")).concat();
    assert_eq!(message, wanted);
}
