use serde_json::Value;

use crate::sandbox::{BLOCKED, BROKEN, Sandbox};

#[test]
fn inspect_prints_one_object_with_all_valid_tensors() {
    let both = format!("{BLOCKED}{}", BROKEN.replace("tensor t", "tensor u"));
    let sandbox = Sandbox::new(&[("x/a.kdl", &both)]);
    let ran = sandbox.run(&["inspect", "x/a.kdl", "--format", "json"]);
    assert_eq!(ran.code, Some(1));
    let lines: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines[0]["version"], 1);
    let tensors = lines[0]["tensors"].as_array().expect("a list");
    assert_eq!(tensors.len(), 1);
    assert_eq!((&tensors[0]["name"], &tensors[0]["file"]), (&"t".into(), &"x/a.kdl".into()));
    assert_eq!(lines[1]["code"], "map::not_injective");
}

#[test]
fn inspect_selects_a_tensor_by_name() {
    let both = format!("{BLOCKED}{}", BLOCKED.replace("tensor t", "tensor weights"));
    let sandbox = Sandbox::new(&[("a.kdl", &both)]);
    let ran = sandbox.run(&["inspect", "a.kdl", "--tensor", "weights", "--format", "json"]);
    let object: Value = serde_json::from_str(ran.success()).expect("JSON");
    let names: Vec<&Value> =
        object["tensors"].as_array().expect("a list").iter().map(|t| &t["name"]).collect();
    assert_eq!(names, ["weights"]);
    let ran = sandbox.run(&["inspect", "a.kdl", "--tensor", "wieghts"]);
    let line = "error: unknown tensor `wieghts`; did you mean `weights`?\n";
    assert_eq!(ran.failure(), (Some(2), line));
}

#[test]
fn inspect_prints_file_paths_as_given() {
    let sandbox = Sandbox::new(&[("layouts/a.kdl", BLOCKED)]);
    for path in ["layouts/a.kdl", "./layouts/a.kdl"] {
        let ran = sandbox.run(&["inspect", path]);
        let first = format!("t (f32, {path})");
        assert_eq!(ran.success().lines().next(), Some(first.as_str()));
    }
}

#[test]
fn inspect_plan_prints_the_loops_of_a_relayout() {
    let text = "tensor a dtype=f32 { shape { n 8; c 32; w 64 } }\n\
                tensor b like=a { layout { order n w c } }\nconvert a to=b { block 16 32 }\n";
    let sandbox = Sandbox::new(&[("a.kdl", text), ("layoutc.toml", "[target.c]\nopenmp = true\n")]);
    let ran = sandbox.run(&["inspect", "a.kdl", "--tensor", "a", "--plan", "--format", "json"]);
    let object: Value = serde_json::from_str(ran.success()).expect("JSON");
    let plans = object["tensors"][0]["plans"].as_array().expect("a list");
    let names: Vec<&Value> = plans.iter().map(|plan| &plan["name"]).collect();
    assert_eq!(names, ["a_pack", "a_unpack", "a_to_b"]);
    let part = &plans[2]["parts"][0];
    let loops = part["loops"].as_array().expect("a list");
    let loops: Vec<_> = loops.iter().map(|l| (l["digit"].as_str(), l["block"].as_i64())).collect();
    assert_eq!(loops, [(Some("n"), None), (Some("c"), Some(16)), (Some("w"), Some(32))]);
    assert_eq!(part["inside"]["rows"], "c");
    assert_eq!(part["digits"][0]["from_stride"], 2048);

    // Without the flag there are no plans, and an impossible schedule is reported.
    let ran = sandbox.run(&["inspect", "a.kdl", "--tensor", "a", "--format", "json"]);
    let object: Value = serde_json::from_str(ran.success()).expect("JSON");
    assert_eq!(object["tensors"][0]["plans"], Value::Null);
    sandbox.write("a.kdl", &text.replace("block 16 32", "inside runs"));
    let ran = sandbox.run(&["inspect", "a.kdl", "--plan"]);
    assert_eq!(ran.code, Some(1));
    let told = "error[limit::choice]: there are no runs";
    assert_eq!(ran.err.matches(told).count(), 1, "{}", ran.err);
}

#[test]
fn inspect_plan_prints_the_relayout_of_a_kernel_that_copies() {
    let text = "tensor a dtype=f32 { shape { i 64; k 32 } }\n\
                tensor b dtype=f16 { shape { k 32; i 64 } }\n\
                kernel transposed { compute \"b[k, i] = f16(a[i, k])\" }\n";
    let sandbox = Sandbox::new(&[("a.kdl", text), ("layoutc.toml", "[target.c]\n")]);
    let arguments = ["inspect", "a.kdl", "--tensor", "transposed", "--plan"];
    let ran = sandbox.run(&arguments);
    let text = ran.success();
    assert!(text.contains("digits          k 32: stride 1 to 64\n"), "{text}");
    assert!(text.contains("transpose 64 rows of 32 columns"), "{text}");
    let ran = sandbox.run(&[&arguments[..], &["--format", "json"]].concat());
    let object: Value = serde_json::from_str(ran.success()).expect("JSON");
    let kernel = &object["kernels"][0];
    assert_eq!((&kernel["code"], &kernel["statements"][0]["loops"]), (&Value::Null, &Value::Null));
    assert_eq!(kernel["relayout"]["parts"][0]["inside"]["kind"], "blocks");
}

#[test]
fn inspect_plan_prints_the_loops_of_a_kernel() {
    let text = "tensor a dtype=f32 { shape { i 64; k 32 } }\n\
                tensor b dtype=f32 { shape { k 32; j 48 } }\n\
                tensor c dtype=f32 { shape { i 64; j 48 } }\n\
                kernel matmul { operands A B C; compute \"C[i, j] += A[i, k] * B[k, j]\" }\n\
                instance product of=matmul A=a B=b C=c { tile i j by=\"8 16\"; split k by=8; cache A at=k_outer; parallel i_outer }\n";
    let sandbox = Sandbox::new(&[("a.kdl", text), ("layoutc.toml", "[target.c]\n")]);
    let ran =
        sandbox.run(&["inspect", "a.kdl", "--tensor", "product", "--plan", "--format", "json"]);
    let object: Value = serde_json::from_str(ran.success()).expect("JSON");
    assert_eq!(object["tensors"].as_array().map(Vec::len), Some(0));
    let kernel = &object["kernels"][0];
    assert_eq!((&kernel["kind"], &kernel["of"]), (&"kernel".into(), &"matmul".into()));
    let written = kernel["operands"].as_array().expect("a list");
    let written: Vec<_> = written.iter().map(|o| (o["tensor"].as_str(), &o["written"])).collect();
    assert_eq!(written[2], (Some("c"), &true.into()));
    let loops = kernel["statements"][0]["loops"].as_array().expect("a list");
    let names: Vec<_> = loops.iter().filter_map(|l| l["name"].as_str()).collect();
    assert_eq!(names, ["i_outer", "j_outer", "k_outer", "k_inner", "i_inner", "j_inner"]);
    assert_eq!((&loops[0]["parallel"], &loops[2]["reduced"]), (&true.into(), &true.into()));
    assert_eq!(loops[2]["blocks"][0]["extents"], serde_json::json!([8, 8]));
    assert_eq!(loops[5]["at_once"], true);

    let ran = sandbox.run(&["inspect", "a.kdl", "--tensor", "product", "--plan"]);
    let text = ran.success();
    assert!(text.starts_with("product (instance of matmul, a.kdl)\n"), "{text}");
    assert!(text.contains("block           A_block 8 by 8 in k_outer\n"), "{text}");
    assert!(text.contains("for k_outer in 0..4:"), "{text}");
    // Without the flag: the definition, and no loops.
    let ran = sandbox.run(&["inspect", "a.kdl", "--tensor", "product"]);
    assert!(!ran.success().contains("loops"), "{}", ran.out);
}

#[test]
fn inspect_plan_prints_the_schedules_of_gpu_kernels() {
    let text = "tensor a dtype=f32 { shape { i 512; k 256 } }\n\
                tensor b dtype=f32 { shape { k 256; j 512 } }\n\
                tensor t dtype=f32 { shape { k 256; i 512 } }\n\
                tensor c dtype=f32 { shape { i 512; j 512 } }\n\
                kernel transposed { compute \"t[k, i] = a[i, k]\" }\n\
                kernel product { compute \"c[i, j] += a[i, k] * b[k, j]\"; tile i j by=\"64 64\"; split k by=16; \
                loops i_outer j_outer k_outer k_inner; cache a at=k_outer; cache b at=k_outer }\n";
    let lines = |target: &str| {
        let config = format!("[target.c]\n{target}");
        let sandbox = Sandbox::new(&[("a.kdl", text), ("layoutc.toml", &config)]);
        let ran = sandbox.run(&["inspect", "a.kdl", "--plan", "--format", "json"]);
        let object: Value = serde_json::from_str(ran.success()).expect("JSON");
        let list = |value: &Value| -> Vec<String> {
            let lines = value.as_array().into_iter().flatten();
            lines.filter_map(|line| line.as_str().map(str::to_owned)).collect()
        };
        let kernels = object["kernels"].as_array().expect("a list");
        kernels
            .iter()
            .flat_map(|k| [list(&k["gpu"]), list(&k["relayout"]["gpu"])].concat())
            .collect()
    };
    let none: Vec<String> = lines("");
    assert_eq!(none, [""; 0]);
    for target in ["opencl", "cuda", "hip"] {
        let lines = lines(&format!("[target.{target}]\n"));
        let has = |part: &str| lines.iter().any(|line| line.contains(part));
        assert!(
            has("tiles of ") && has("shared memory: ") && has("thread transposes"),
            "{lines:?}"
        );
        assert!(has("thread blocks of 256 threads share i_outer, j_outer"), "{lines:?}");
        assert!(
            has("threads share i_inner 64 by 16 threads, j_inner 64 by 16 threads"),
            "{lines:?}"
        );
        assert!(has("shared memory: a 64 by 16 in k_outer"), "{lines:?}");
    }
}
