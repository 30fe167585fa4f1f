//! Items and the parts of a tensor.

use super::check;

#[test]
fn an_unknown_node_gets_the_nearest_name() {
    check(
        "tensr x\nfoo",
        &[
            ("name::unknown", "tensr", "unknown node `tensr` in a manifest"),
            ("name::unknown", "foo", "unknown node `foo` in a manifest"),
        ],
        &["did you mean `tensor`?", "use one of the nodes allowed here, or leave it out"],
    );
}

#[test]
fn an_unknown_property_gets_the_nearest_name() {
    check(
        "tensor a dtyp=f32 { shape {} }",
        &[("name::unknown", "dtyp", "`tensor` has no property `dtyp`")],
        &["did you mean `dtype`?"],
    );
}

#[test]
fn a_property_given_twice_is_refused() {
    check(
        "tensor a dtype=f32 dtype=f16 { shape {} }",
        &[("kdl::twice", "dtype", "duplicate property `dtype`")],
        &["leave one of them out"],
    );
}

#[test]
fn a_tensor_needs_an_element_type_and_a_shape() {
    check(
        "tensor a",
        &[
            ("kdl::missing", "tensor a", "`tensor` needs an element type"),
            ("kdl::missing", "tensor a", "`tensor` needs a shape"),
        ],
        &["write `dtype=f32`, or `like=` another tensor", "write `shape { n 16; c 4 }`"],
    );
}

#[test]
fn a_part_given_twice_is_refused() {
    check(
        "tensor a dtype=f32 nibbles=low-first { shape {}; shape {}; nibbles high-first }",
        &[
            ("kdl::twice", "shape", "a tensor can have only one `shape`"),
            ("kdl::twice", "nibbles", "a tensor can have only one `nibbles`"),
        ],
        &["leave one of the two out"; 2],
    );
}

#[test]
fn misplaced_nodes_get_a_hint() {
    check(
        "tensor a dtype=f32 { shape {}; map \"\"; like b; layout { shape {} } }\nshape {}",
        &[
            ("name::unknown", "map", "unknown node `map` in a tensor"),
            ("name::unknown", "like", "unknown node `like` in a tensor"),
            ("name::unknown", "shape", "unknown node `shape` in a layout"),
            ("name::unknown", "shape", "unknown node `shape` in a manifest"),
        ],
        &[
            "it is a step: write it inside `layout { map … }`",
            "write it as a property of a tensor: `tensor a dtype=f32 like=b { … }`",
            "move it into a tensor",
            "move it into a tensor",
        ],
    );
}

#[test]
fn a_mesh_is_axes_with_sizes() {
    check(
        "mesh m { }\nmesh n { x 2 4; y; x 2; x 3 }\nmesh o\nmesh p { x 2.5 }",
        &[
            ("mesh::form", "{ }", "a mesh needs at least one axis"),
            ("mesh::form", "x 2 4", "a mesh axis needs a name and a size"),
            ("mesh::form", "y", "a mesh axis needs a name and a size"),
            ("name::duplicate", "x", "two axes are called `x`"),
            ("kdl::missing", "mesh o", "`mesh` needs a block"),
            ("mesh::form", "2.5", "a size cannot be a number with a fraction or an exponent"),
        ],
        &[
            "write `mesh pod { x 2; y 4 }`",
            "write `x 4`, each axis as a separate node",
            "write `y 4`, each axis as a separate node",
            "give one of the two another name, such as `x_2`",
            "write it as `mesh pod { x 2; y 4 }`",
            "write an integer, or an expression in quotes",
        ],
    );
}

#[test]
fn a_cast_is_one_of_two_words_and_needs_another_type() {
    check(
        "tensor b dtype=f32 pack-from=f16 cast=nearest { shape {} }\nconvert a to=b cast=rond\n\
         tensor c dtype=f32 cast=round { shape {}; pack-from f16 }",
        &[
            ("name::unknown", "nearest", "unknown value `nearest` for `cast`"),
            ("name::unknown", "rond", "unknown value `rond` for `cast`"),
            ("kdl::missing", "round", "`cast` in a tensor needs `pack-from=`"),
            ("name::unknown", "pack-from", "unknown node `pack-from` in a tensor"),
        ],
        &[
            "write `round` or `saturate`",
            "did you mean `round`?",
            "add the element type that pack reads: `pack-from=f32 cast=saturate`",
            "write it as a property of a tensor: `tensor c dtype=f32 cast=round pack-from=f16 { … }`",
        ],
    );
}

#[test]
fn a_shard_names_axes_or_a_mesh() {
    check(
        "tensor a dtype=f32 { shape {}; shard }\ntensor b dtype=f32 { shape {}; shard n=2; shard m }",
        &[
            ("kdl::missing", "shard", "`shard` needs tensor axes with their mesh axes, or a mesh"),
            ("kdl::value", "2", "an axis of a mesh cannot be an integer"),
            ("kdl::twice", "shard", "a tensor can have only one `shard`"),
        ],
        &[
            "write `shard n=x c=y`, or only the mesh, as `shard pod`, to replicate the tensor",
            "write a word or a quoted string",
            "leave one of the two out",
        ],
    );
}

#[test]
fn a_const_needs_a_name_and_a_value() {
    check(
        "const A\nconst B 1 2\nconst C 1.5\nconst 4 4",
        &[
            ("kdl::missing", "const A", "`const` needs two arguments"),
            ("kdl::surplus", "2", "`const` takes two arguments"),
            ("kdl::value", "1.5", "a const cannot be a number with a fraction or an exponent"),
            ("kdl::value", "4", "a const's name cannot be an integer"),
        ],
        &[
            "write it as `const LANES 4`",
            "write it as `const LANES 4`",
            "write an integer, or an expression in quotes",
            "write a word or a quoted string",
        ],
    );
}

#[test]
fn a_symbols_facts_are_numbers_or_names() {
    check(
        "symbol s min=1.5 max=#true foo=1\nsymbol 3",
        &[
            ("kdl::value", "1.5", "`min` cannot be a number with a fraction or an exponent"),
            ("kdl::value", "#true", "`max` cannot be a boolean"),
            ("name::unknown", "foo", "`symbol` has no property `foo`"),
            ("kdl::value", "3", "a symbol's name cannot be an integer"),
        ],
        &[
            "write an integer, or an expression in quotes",
            "write an integer, or an expression in quotes",
            "leave it out",
            "write a word or a quoted string",
        ],
    );
}

#[test]
fn a_transforms_defaults_are_integers() {
    check(
        "transform t x=1.5 { map \"n\" }\ntransform u",
        &[
            ("kdl::value", "1.5", "the default of `x` must be an integer"),
            ("kdl::missing", "transform u", "`transform` needs a block"),
        ],
        &["write an integer: `x=16`", "write it as `transform blocked block=16 { … }`"],
    );
}

#[test]
fn a_layout_has_a_name_or_a_block() {
    check(
        "tensor a dtype=f32 { shape {}; layout t { fill 0 } }\ntensor b dtype=f32 { shape {}; layout }",
        &[
            ("step::form", "layout t", "a layout can have either a name or a block"),
            ("kdl::missing", "layout", "`layout` needs one argument"),
        ],
        &["write `layout { apply t; … }`", "write it as `layout nchw4c` or `layout { … }`"],
    );
}

#[test]
fn an_unknown_word_about_an_image_gets_the_nearest() {
    check(
        "tensor a dtype=f32 { shape {}; memory tex-tur }\ntensor b dtype=f32 { shape {}; memory image2d format=rgb access=rea }\ntensor c dtype=f32 { shape {}; memory global access=read }",
        &[
            ("name::invalid", "tex-tur", "unknown memory `tex-tur`"),
            ("name::unknown", "rgb", "unknown value `rgb` for `format`"),
            ("name::unknown", "rea", "unknown value `rea` for `access`"),
            ("step::form", "access", "`access` applies only to images"),
        ],
        &[
            "did you mean `texture`?",
            "did you mean `rgba`?",
            "did you mean `read`?",
            "leave it out, or write `memory image2d`",
        ],
    );
}

#[test]
fn unknown_nibbles_are_refused() {
    check(
        "tensor a dtype=i4 nibbles=high { shape {} }",
        &[("name::unknown", "high", "unknown value `high` for `nibbles`")],
        &["write `high-first` or `low-first`"],
    );
}

#[test]
fn a_conversion_needs_both_tensors() {
    check(
        "convert a\nconvert to=b\nconvert a to=4",
        &[
            ("kdl::missing", "convert a", "`convert` needs `to=`"),
            ("kdl::missing", "convert to=b", "`convert` needs one argument"),
            ("kdl::value", "4", "a tensor cannot be an integer"),
        ],
        &[
            "write it as `convert input to=texture`",
            "write it as `convert input to=texture`",
            "write a word or a quoted string",
        ],
    );
}

#[test]
fn a_use_needs_a_path() {
    check(
        "use\nuse 4\nuse \"\"\nuse \"a\" { b }",
        &[
            ("kdl::missing", "use", "`use` needs one argument"),
            ("kdl::value", "4", "a path cannot be an integer"),
            ("kdl::value", "use \"\"", "the path is empty"),
            ("kdl::surplus", "{ b }", "`use` takes no block"),
        ],
        &[
            "write it as `use \"common.kdl\"`",
            "write a word or a quoted string",
            "write it as `use \"common.kdl\"`",
            "write it as `use \"common.kdl\"`",
        ],
    );
}
