//! Checking of valid kernels: the statements, tensors and types of the model, against expected ones.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test")]

use layoutc_algebra::expr::{Expr, Var};
use layoutc_compiler::base::dtype::Scalar;
use layoutc_compiler::config::Config;
use layoutc_compiler::model::TensorRef;
use layoutc_compiler::model::compute::{
    Arithmetic, BufferRef, ElementRead, KernelInstance, LoopStep, MathFunction, Reduction,
    Statement, TypedExpr, TypedExprKind,
};
use layoutc_compiler::{Compiler, MemorySources};

#[track_caller]
fn all(files: &[(&str, &str)]) -> Vec<KernelInstance> {
    let checked =
        Compiler::new(&files.iter().copied().collect::<MemorySources>(), &Config::default())
            .check(&["a.kdl".to_owned()]);
    assert_eq!(checked.diagnostics, [], "{files:?}");
    checked.manifests.into_iter().next().unwrap().computes
}

#[track_caller]
fn computes(text: &str) -> Vec<KernelInstance> {
    all(&[("a.kdl", text)])
}

#[track_caller]
fn one(text: &str) -> KernelInstance {
    let mut computes = computes(text);
    assert_eq!(computes.len(), 1, "{text}");
    computes.remove(0)
}

fn axis(k: u32) -> Expr {
    Expr::var(Var::Axis(k))
}

fn extents(statement: &Statement) -> Vec<(&str, i128)> {
    let one = |axis: &'_ layoutc_algebra::symbol::Axis| axis.extent.as_const().unwrap();
    statement.axes.iter().map(|axis| (axis.name.as_str(), one(axis))).collect()
}

fn read(value: &TypedExpr) -> &ElementRead {
    match &value.kind {
        TypedExprKind::Read(read) => read,
        TypedExprKind::Convert(inner) => read(inner),
        other => panic!("{other:?}"),
    }
}

/// Operands of a binary operator; panics if `value` is not `wanted`.
fn sides(value: &TypedExpr, wanted: Arithmetic) -> [&TypedExpr; 2] {
    match &value.kind {
        TypedExprKind::Binary(op, a, b) if *op == wanted => [a, b],
        other => panic!("{other:?}"),
    }
}

const CONV: &str = "\
tensor input dtype=f32 { shape { n 2; h 10; w 12; c 8 } }
tensor filters dtype=f32 { shape { k 16; r 3; s 3; c 8 } }
tensor output dtype=f32 { shape { n 2; h 10; w 12; k 16 }; layout tvm=\"NHWK4k\" }
kernel conv {
    operands A W B
    compute \"B[n, h, w, k] += (A[n, h + r - 1, w + s - 1, c] ?? 0) * W[k, r, s, c]\"
    unroll r s
}
";

#[test]
fn convolution_has_reduction_axes_and_boundary_guards() {
    let instance =
        "instance conv_a of=conv B=output W=filters A=input { parallel n; vectorize k_inner }\n";
    let compute = one(&format!("{CONV}{instance}"));
    assert_eq!((compute.name.as_str(), compute.kernel.as_str()), ("conv_a", "conv"));
    let operands: Vec<_> =
        compute.operands.iter().map(|o| (o.name.as_str(), o.tensor, o.is_written)).collect();
    assert_eq!(
        operands,
        [
            ("A", TensorRef::Tensor(0), false),
            ("W", TensorRef::Tensor(1), false),
            ("B", TensorRef::Tensor(2), true)
        ]
    );
    let [statement] = compute.statements.as_slice() else { panic!("one statement") };
    assert_eq!(statement.target, BufferRef::Operand(2));
    assert_eq!(statement.written_axes, 4);
    assert_eq!(
        extents(statement),
        [("n", 2), ("h", 10), ("w", 12), ("k", 16), ("r", 3), ("s", 3), ("c", 8)]
    );
    assert_eq!((statement.op, statement.accumulate), (Reduction::Sum, false));
    assert_eq!(statement.accumulator, Scalar::F32);
    let [a, w] = sides(&statement.value, Arithmetic::Multiply).map(read);
    let outside = a.outside.as_ref().unwrap();
    assert_eq!(
        (outside.below.as_slice(), outside.beyond.as_slice()),
        ([1, 2].as_slice(), [1, 2].as_slice())
    );
    assert_eq!(outside.value, TypedExpr { ty: Scalar::F32, kind: TypedExprKind::Float(0.0) });
    assert_eq!(w.index, [axis(3), axis(4), axis(5), axis(6)]);
    assert_eq!(w.outside, None);
    let schedule = &compute.schedule;
    assert_eq!(schedule.parallel[0].value, "n");
    assert_eq!(schedule.vectorize.as_ref().unwrap().value, "k_inner");
    let unroll: Vec<_> = schedule.unroll.iter().map(|l| l.value.as_str()).collect();
    assert_eq!(unroll, ["r", "s"]);
}

#[test]
fn a_kernel_without_instances_computes_nothing() {
    assert!(computes(CONV).is_empty());
}

#[test]
fn the_example_of_the_rfc_names_its_tensors() {
    let compute = one("\
        tensor A dtype=f32 { shape { i 16; j 64; k 128 }; layout { map \"(i, j, k) -> (i*64 + j, k//4, k%4)\" } }
        tensor B dtype=f32 { shape { i 16; j 64; k 128 }; layout { map \"(i, j, k) -> (i_outer = i//4, jk_merged = 128*j + k, i_inner = i%4)\" } }
        kernel twice { compute \"B[i,j,k] = 2*A[i,j,k]\"; loops i_outer i_inner jk_merged }");
    assert_eq!(compute.name, "twice");
    let loops: Vec<_> = compute.schedule.loops.iter().map(|l| l.value.as_str()).collect();
    assert_eq!(loops, ["i_outer", "i_inner", "jk_merged"]);
    let [two, a] = sides(&compute.statements[0].value, Arithmetic::Multiply);
    assert_eq!(*two, TypedExpr { ty: Scalar::F32, kind: TypedExprKind::Float(2.0) });
    assert_eq!(read(a).index, [axis(0), axis(1), axis(2)]);
    assert_eq!(compute.statements[0].text, "B[i,j,k] = 2*A[i,j,k]");
}

#[test]
fn matmul_extents_can_be_symbols() {
    let compute = one("\
        symbol m max=1024\nsymbol n max=1024\nsymbol k max=1024
        tensor a dtype=bf16 { shape { i m; x k } }
        tensor b dtype=bf16 { shape { x k; j n } }
        tensor c dtype=f32 { shape { i m; j n } }
        kernel gemm { operands A B C; compute \"C[i, j] += A[i, x] * B[x, j]\"; accumulate #true
            tile i j by=\"8 8\"; split x by=4 }
        instance gemm_abc of=gemm A=a B=b C=c { loops i_outer j_outer x_outer i_inner j_inner x_inner; parallel i_outer }");
    let names: Vec<_> = compute.symbols.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["m", "k", "n"]);
    let [statement] = compute.statements.as_slice() else { panic!("one statement") };
    assert!(statement.accumulate);
    assert_eq!(statement.axes[2].extent, Expr::var(Var::Symbol(1)));
    let split = |step: &LoopStep| match step {
        LoopStep::Split(split) => (split.axis.value.clone(), split.by, split.is_tile),
        LoopStep::Fuse(_) => panic!("no fusion"),
    };
    let splits: Vec<_> = compute.schedule.steps.iter().map(split).collect();
    assert_eq!(splits, [("i".into(), 8, true), ("j".into(), 8, true), ("x".into(), 4, false)]);
}

#[test]
fn softmax_stores_its_sums_and_inlines_exponentials() {
    let compute = one("\
        tensor x dtype=f16 { shape { i 8; j 100 } }
        tensor y like=x { layout { order j i } }
        kernel softmax {
            compute \"m[i] max= x[i, j]\"
            compute \"e[i, j] = exp(x[i, j] - m[i])\"
            compute \"s[i] += e[i, j]\"
            compute \"y[i, j] = e[i, j] / s[i]\"
            local m dtype=f32
            local s dtype=f32 { layout { split i by=4 } }
        }");
    let targets: Vec<_> = compute.statements.iter().map(|s| s.target).collect();
    assert_eq!(targets, [BufferRef::Local(0), BufferRef::Local(1), BufferRef::Operand(1)]);
    let locals: Vec<_> = compute.locals.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(locals, ["m", "s"]);
    assert_eq!(compute.locals[1].layout.storage().len(), 2);
    let sum = &compute.statements[1];
    assert_eq!(extents(sum), [("i", 8), ("j", 100)]);
    let TypedExprKind::Call(MathFunction::Exp, arguments) = &sum.value.kind else { panic!("exp") };
    let [x, m] = sides(&arguments[0], Arithmetic::Subtract).map(read);
    assert_eq!((x.buffer, m.buffer), (BufferRef::Operand(0), BufferRef::Local(0)));
}

#[test]
fn layer_norm_pooling_and_others_are_accepted() {
    for text in [
        // layer norm
        "tensor x dtype=f32 { shape { i 8; j 64 } }\ntensor g dtype=f32 { shape { j 64 } }\ntensor y like=x\n\
         kernel norm { operands X G Y\n\
         compute \"m[i] += X[i, j] / 64\"\ncompute \"v[i] += (X[i, j] - m[i]) * (X[i, j] - m[i]) / 64\"\n\
         compute \"Y[i, j] = (X[i, j] - m[i]) * rsqrt(v[i] + 1e-5) * G[j]\"\n\
         local m dtype=f32\nlocal v dtype=f32 }\ninstance norm_a of=norm X=x G=g Y=y",
        // depthwise, with stride 2
        "tensor a dtype=f32 { shape { h 17; w 17; c 8 } }\ntensor f dtype=f32 { shape { r 3; s 3; c 8 } }\n\
         tensor b dtype=f32 { shape { h 8; w 8; c 8 } }\n\
         kernel depthwise { compute \"b[h, w, c] += a[2*h + r, 2*w + s, c] * f[r, s, c]\" }",
        // pooling
        "tensor a dtype=f32 { shape { h 16; w 16 } }\ntensor b dtype=f32 { shape { h 8; w 8 } }\n\
         kernel pool { compute \"b[h, w] max= a[2*h + r - 1, 2*w + s - 1] ?? -inf\"; range r 3; range s 3 }",
        // transpose and add
        "tensor a dtype=i8 { shape { i 8; j 5 } }\ntensor b dtype=i8 { shape { j 5; i 8 } }\ntensor c like=b\n\
         kernel sum { compute \"c[j, i] = a[i, j] + b[j, i]\" }",
        // stencil
        "symbol n min=3\ntensor a dtype=f64 { shape { i n } }\ntensor b like=a\n\
         kernel stencil { compute \"b[i] = 0.25 * (a[i - 1] ?? 0) + 0.5 * a[i] + 0.25 * (a[i + 1] ?? 0)\" }",
        // indices, truth values and casts
        "const HALF 4\ntensor a dtype=f32 { shape { i 8 } }\ntensor m dtype=bool { shape { i 8 } }\n\
         kernel mask { compute \"m[i] = i < HALF and not (a[i] > 0.5) or a[i] == inf\" }\n\
         kernel ramp { compute \"a[i] = select(i % 2 == 0, f32(i), -1) + f16(0.1)\" }",
        // rank 0
        "tensor a dtype=u32 { shape { i 8 } }\ntensor s dtype=u32 { shape {} }\n\
         kernel total { compute \"s[] += a[i]\" }",
    ] {
        computes(text);
    }
}

#[test]
fn used_kernels_resolve_names_in_their_manifest() {
    let used = "const TAPS 3\ntransform rev { order ... }\nkernel blur { operands A B; range r TAPS\n\
                compute \"B[i] += (A[i + r - 1] ?? 0) / TAPS\" }\n";
    let own = "use \"b.kdl\"\ntensor x dtype=f32 { shape { i 9 } }\ntensor y like=x\n\
               instance blur_x of=blur A=x B=y\n";
    let found = all(&[("a.kdl", own), ("b.kdl", used)]);
    assert_eq!(found.len(), 1);
    assert_eq!(&*found[0].place.file, "a.kdl");
    assert_eq!(&*found[0].statements[0].place.file, "b.kdl");
    assert_eq!(extents(&found[0].statements[0]), [("i", 9), ("r", 3)]);
}
