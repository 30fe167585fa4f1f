//! Rejected texts: message, span and help.

use layoutc_algebra::sharding::xla::parse;

/// A text, the message of its fault, the text at the span, and the help.
type Row = (&'static str, &'static str, &'static str, &'static str);

/// Texts that XLA's parser accepts.
pub(super) const STRICTER: &[Row] = &[
    ("{maximal device=-3}", "-3 is below 0", "-3", "write 0 or more"),
    ("{replicated manual}", "`manual` conflicts with `replicated`", "manual", "write one of them"),
    (
        "{replicated shard_as 1 shard_like 2}",
        "`shard_like` is repeated",
        "shard_like",
        "write one of them",
    ),
    (
        "{replicated shard_like 2 shard_as 1}",
        "`shard_as` is repeated",
        "shard_as",
        "write one of them",
    ),
    ("{replicated shard_as -1}", "-1 is below 0", "-1", "write 0 or more"),
    ("{devices=[2,2]0,1,2}", "3 devices for 4 tiles", "0,1,2", "write 4 devices, one for each"),
    (
        "{devices=[2,2]0,1,2,3,4}",
        "5 devices for 4 tiles",
        "0,1,2,3,4",
        "write 4 devices, one for each",
    ),
    ("{devices=[2,2]0,0,0,0}", "device 0 occurs twice", "0", "write each of 0 to 3 once"),
    ("{devices=[4]<=[5]}", "5 devices for 4 tiles", "[5]", "write sizes whose product is 4"),
    (
        "{devices=[2,2]<=[2,2]T(1,1)}",
        "1 occurs twice",
        "1",
        "write each of 0 to 1 once, the major one first",
    ),
    ("{devices=[2,2]0,1,2,9}", "device 9 is none of the 4", "9", "write each of 0 to 3 once"),
    ("{devices=[2]4,5}", "device 4 is none of the 2", "4", "write each of 0 to 1 once"),
    ("{devices=[2]-1,0}", "-1 is below 0", "-1", "write 0 or more"),
    ("{devices=[0]<=[0]}", "0 tiles hold nothing", "0", "write 1 or more"),
    ("{devices=[0,2]0,1}", "0 tiles hold nothing", "0", "write 1 or more"),
    (
        "{devices=[2,2]<=[4] last_tile_dims={maximal, replicated}}",
        "`maximal` is not a kind of subgroup",
        "maximal",
        "expected `manual`, `unreduced` or `replicated`",
    ),
    (
        "{devices=[4294967296,4294967296]<=[4294967296,4294967296]T(1,0)}",
        "these are more devices than 64 bits can count",
        "[4294967296,4294967296]",
        "write smaller numbers",
    ),
    (
        "{devices=[9223372036854775808]<=[9223372036854775808]}",
        "`9223372036854775808` does not fit 64 bits",
        "9223372036854775808",
        "write a smaller number",
    ),
    ("{replicated replicated}", "`replicated` is repeated", "replicated", "write one of them"),
    ("{mesh['a'=0,'b'=4], [{'b'}]}", "0 devices hold nothing", "0", "write 1 or more"),
    ("{mesh['a'=-1,'b'=4], [{'b'}]}", "-1 is below 0", "-1", "write 0 or more"),
    (
        "{mesh['a'=2,'b'=2], device_ids=([5]), [{'a'}, {'b'}]}",
        "5 devices for 4 places of the mesh",
        "[5]",
        "write sizes whose product is 4",
    ),
    (
        "{mesh['a'=2,'b'=2], device_ids=([2,2]T(1,1)), [{'a'}, {'b'}]}",
        "1 occurs twice",
        "1",
        "write each of 0 to 1 once, the major one first",
    ),
    ("{mesh['a=2'=2,''=2], [{'a=2'}, {''}]}", "an axis without a name", "''", "write one: `'x'`"),
    (
        "{mesh['a\\'b'=2], [{}]}",
        "this character is not allowed in a name",
        "\\",
        "write letters, digits and `_`",
    ),
    (
        "{mesh['a'=2,'b'=2], [{'0'}]}",
        "`0` is not an axis of the mesh; its axes are `a`, `b`",
        "'0'",
        "axes have names: write `'a'`",
    ),
    ("{maximal_mesh[device_id=-5]}", "-5 is below 0", "-5", "write 0 or more"),
];

/// Texts on which XLA's parser aborts.
pub(super) const ENDING: &[Row] = &[
    (
        "{mesh['a'=2,'b'=2], [{'a'}, {'b'}], replicated={'a'}}",
        "`a` is already used, or overlaps a sub-axis used before",
        "'a'",
        "use each mesh axis, or each of its sub-axes, once",
    ),
    (
        "{devices=[2,2]<=[4] last_tile_dim_replicate last_tile_dims={manual}}",
        "`last_tile_dims` is repeated",
        "last_tile_dims",
        "write one of them",
    ),
    (
        "{devices=[2,2]<=[4] last_tile_dims={manual} last_tile_dim_replicate}",
        "`last_tile_dim_replicate` is repeated",
        "last_tile_dim_replicate",
        "write one of them",
    ),
    (
        "{mesh['a'=2,'b'=2,'c'=2,'d'=2], [{'a'}, {}], replicated={'c', 'b'}}",
        "`b` precedes `c` in the mesh",
        "'b'",
        "write the axes of `replicated=` in the order of the mesh",
    ),
    (
        "{mesh['a'=2,'b'=4], [{'a'}, {'b':(1)2, 'b':(2)2}]}",
        "adjacent sub-axes must be written as one",
        "'b':(1)2, 'b':(2)2",
        "write `'b'`",
    ),
    (
        "{mesh['a'=2,'b'=4], [{'a'}, {'b':(1)4}]}",
        "`(1)4` is not a part of the 4 devices of `b`",
        "'b':(1)4",
        "all of it is `'b'`",
    ),
    (
        "{mesh['a'=2,'b'=4], [{'a'}, {'b':(3)2}]}",
        "`(3)2` is not a part of the 4 devices of `b`",
        "'b':(3)2",
        "`(before)size` has a size from 2, and a product that divides 4",
    ),
    (
        "{mesh['a'=2,'b'=4], [{'a'}, {'b':(2)1}]}",
        "`(2)1` is not a part of the 4 devices of `b`",
        "'b':(2)1",
        "`(before)size` has a size from 2, and a product that divides 4",
    ),
    ("{mesh['a'=2,'b'=4], [{'a'}, {'b':(0)2}]}", "0 devices hold nothing", "0", "write 1 or more"),
    (
        "{mesh['a'=2,'b'=4], [{'c'}]}",
        "`c` is not an axis of the mesh; its axes are `a`, `b`",
        "'c'",
        "write one of its axes, or add it to the mesh",
    ),
    (
        "{mesh['a'=2,'a'=4], [{'a'}]}",
        "two axes of the mesh are called `a`",
        "'a'",
        "give one of them another name",
    ),
    (
        "{mesh['a'=2,'b'=2], device_ids=(0,1,2,3), [{'a'}, {'b'}]}",
        "the devices are in their own order",
        "device_ids=(0,1,2,3)",
        "leave `device_ids` out",
    ),
    (
        "{mesh['a'=2,'b'=2], device_ids=(0,1,2), [{'a'}, {'b'}]}",
        "3 devices for 4 places of the mesh",
        "0,1,2",
        "write 4 devices, one for each",
    ),
    (
        "{mesh['a'=2,'b'=2], device_ids=(0,1,2,2), [{'a'}, {'b'}]}",
        "device 2 occurs twice",
        "2",
        "write each of 0 to 3 once",
    ),
    (
        "{mesh['a'=2,'b'=2], device_ids=(0,1,2,4), [{'a'}, {'b'}]}",
        "device 4 is none of the 4",
        "4",
        "write each of 0 to 3 once",
    ),
    (
        "{mesh['a'=2,'b'=2], [{'a'}, {'a'}]}",
        "`a` is already used, or overlaps a sub-axis used before",
        "'a'",
        "use each mesh axis, or each of its sub-axes, once",
    ),
    (
        "{mesh['a'=2,'b'=2], [{'a', 'a'}]}",
        "`a` is already used, or overlaps a sub-axis used before",
        "'a'",
        "use each mesh axis, or each of its sub-axes, once",
    ),
    (
        "{mesh[], manual}",
        "`manual` needs a mesh with axes",
        "manual",
        "write its axes: `mesh['a'=2]`",
    ),
    (
        "{mesh[], unreduced}",
        "`unreduced` needs a mesh with axes",
        "unreduced",
        "write its axes: `mesh['a'=2]`",
    ),
    (
        "{mesh['a'=2,'b'=2], [{'a'}], replicated={'b'}, replicated={'b'}}",
        "`replicated` is repeated",
        "replicated",
        "write all its axes in one list",
    ),
    (
        "{mesh['a'=12], [{'a':(1)2}, {'a':(3)2}]}",
        "`a` is already used, or overlaps a sub-axis used before",
        "'a':(3)2",
        "use each mesh axis, or each of its sub-axes, once",
    ),
    (
        "{mesh['a'=12], [{'a':(1)2}, {'a':(1)3}]}",
        "`a` is already used, or overlaps a sub-axis used before",
        "'a':(1)3",
        "use each mesh axis, or each of its sub-axes, once",
    ),
    (
        "{mesh['a'=12], [{'a':(2)2}, {'a':(6)2}]}",
        "`a` is already used, or overlaps a sub-axis used before",
        "'a':(6)2",
        "use each mesh axis, or each of its sub-axes, once",
    ),
];

/// Texts that XLA's parser rejects too.
pub(super) const REFUSED: &[Row] = &[
    (
        "{devices=[1,1]0}",
        "one device is not a list of tiles",
        "[1,1]",
        "write `{replicated}`, or `{maximal device=0}`",
    ),
    ("{maximal}", "`maximal` lacks its device", "maximal", "write it: `{maximal device=0}`"),
    (
        "{replicated device=0}",
        "`replicated` applies to the whole tensor and takes no devices",
        "0",
        "write `{replicated}`",
    ),
    (
        "{{}}",
        "the sharding lists no devices",
        "{}",
        "it begins with `devices=`, `replicated`, `maximal`, `manual`, `unknown`, `unreduced`, `mesh`",
    ),
    (
        "{{{replicated}}}",
        "expected a word or `}`, found `{`",
        "{",
        "it is written as in `{devices=[2,4]<=[8]}`",
    ),
    ("replicated", "expected `{`, found `r`", "r", "it is written as in `{devices=[2,4]<=[8]}`"),
    ("{mesh[a=2,b=2], [{a}, {b}]}", "expected a name in quotes, found `a`", "a", "write `'x'`"),
    (
        "{devices=[2,2]<=[2,2]T(0)}",
        "1 of 2 positions are in the order",
        "T(0)",
        "write each of 0 to 1 once, the major one first",
    ),
    (
        "{devices=[2,2]<=[2,2]T(0,2)}",
        "position 2 is out of range for 2 sizes",
        "2",
        "write each of 0 to 1 once, the major one first",
    ),
    ("{devices=[2,2]<=[2,2]T(0,-1)}", "-1 is below 0", "-1", "write 0 or more"),
    (
        "{devices=[2,2]<=[2,2]}",
        "expected `T(`, found `}`",
        "}",
        "write their order, `T(1,0)`, or one size, their product, where nothing is transposed",
    ),
    ("{devices=[2,2]<=[4]T(0)}", "one size has no order", "T", "leave the `T(…)` out"),
    ("{devices=[-2]0,1}", "-2 is below 0", "-2", "write 0 or more"),
    (
        "{devices=[]0}",
        "expected a number, found `]`",
        "]",
        "it is written as in `{devices=[2,4]<=[8]}`",
    ),
    (
        "{devices=[2,2]}",
        "expected `<=` or a device, found `}`",
        "}",
        "it is written as in `{devices=[2,4]<=[8]}`",
    ),
    (
        "{devices=[4]<=[]}",
        "expected a number, found `]`",
        "]",
        "it is written as in `{devices=[2,4]<=[8]}`",
    ),
    (
        "{ devices = [ 2 , 2 ] 0 , 1 , 2 , 3 }",
        "unknown word `devices` in a sharding",
        "devices",
        "it begins with `devices=`, `replicated`, `maximal`, `manual`, `unknown`, `unreduced`, `mesh`",
    ),
    (
        "{devices=[2,2]0,1,2,3} x",
        "expected the end of the text, found `x`",
        "x",
        "it is written as in `{devices=[2,4]<=[8]}`",
    ),
    (
        "{devices=[2,2]<=[4] last_tile_dims={foo}}",
        "`foo` is not a kind of subgroup",
        "foo",
        "expected `manual`, `unreduced` or `replicated`",
    ),
    (
        "{devices=[2,2]<=[4] last_tile_dims={manual,manual,manual}}",
        "3 subgroups, and 2 numbers of tiles",
        "last_tile_dims={manual,manual,manual}",
        "write the size of each subgroup after the tiles of the axes",
    ),
    (
        "{devices=[2,2]<=[4] devices=[2,2]<=[4]}",
        "`devices` is repeated",
        "devices",
        "write one of them",
    ),
    (
        "{devices=[2,2]<=[+4]}",
        "expected a number, found `+`",
        "+",
        "it is written as in `{devices=[2,4]<=[8]}`",
    ),
    (
        "{devices=[2,2]0,1,2,3,}",
        "expected a device, found `}`",
        "}",
        "it is written as in `{devices=[2,4]<=[8]}`",
    ),
    (
        "{foo}",
        "unknown word `foo` in a sharding",
        "foo",
        "it begins with `devices=`, `replicated`, `maximal`, `manual`, `unknown`, `unreduced`, `mesh`",
    ),
    (
        "{mesh['a'=2,'b'=2], maximal}",
        "`maximal` does not follow a mesh",
        "maximal",
        "write the mesh axes of each tensor axis: `[{'a'}, {}]`",
    ),
    (
        "{maximal_mesh[device_ids=5]}",
        "expected `device_id=`, found `d`",
        "d",
        "it is written as in `{mesh['a'=2,'b'=4], [{'a'}, {'b'}]}`",
    ),
    (
        "{mesh['a'=2,'b'=2]}",
        "expected `[`, `replicated`, `unreduced` or `manual`, found `}`",
        "}",
        "it is written as in `{mesh['a'=2,'b'=4], [{'a'}, {'b'}]}`",
    ),
    (
        "{mesh['a'=2,'b'=2],}",
        "expected `[`, `replicated`, `unreduced` or `manual`, found `}`",
        "}",
        "it is written as in `{mesh['a'=2,'b'=4], [{'a'}, {'b'}]}`",
    ),
    (
        "{mesh['a'=2,'b'=2], [{'a'}, {'b'}] shard_as 1}",
        "expected `}`, found `s`",
        "s",
        "it is written as in `{mesh['a'=2,'b'=4], [{'a'}, {'b'}]}`",
    ),
    (
        "{mesh['a'=2,'b'=2], [{'a'}, {'b'}], shard_as 1}",
        "`shard_as` is not allowed here",
        "shard_as",
        "after the axis shardings, `replicated=`, `unreduced=` or `manual=` may follow",
    ),
    (
        "{mesh['a'=2,'b'=2], [{'a'},{'b'},],}",
        "expected `{`, found `]`",
        "]",
        "it is written as in `{mesh['a'=2,'b'=4], [{'a'}, {'b'}]}`",
    ),
    (
        "{@mesh, [{'a'}]}",
        "expected a word or `}`, found `@`",
        "@",
        "it is written as in `{mesh['a'=2,'b'=4], [{'a'}, {'b'}]}`",
    ),
    (
        "{mesh['a'=2], [{'a', ?}], replicated}",
        "expected `=`, found `}`",
        "}",
        "it is written as in `{mesh['a'=2,'b'=4], [{'a'}, {'b'}]}`",
    ),
    (
        "{mesh['a'=2,'b'=2], replicated, [{'a'}]}",
        "expected a word, found `[`",
        "[",
        "it is written as in `{mesh['a'=2,'b'=4], [{'a'}, {'b'}]}`",
    ),
    (
        "{mesh['a'=2,'b'=2], [{?, 'a'}]}",
        "expected `}`, found `,`",
        ",",
        "it is written as in `{mesh['a'=2,'b'=4], [{'a'}, {'b'}]}`",
    ),
    (
        "{mesh['a'=2,'b'=2], [{'a' ?}]}",
        "expected `,` or `}`, found `?`",
        "?",
        "it is written as in `{mesh['a'=2,'b'=4], [{'a'}, {'b'}]}`",
    ),
    (
        "{mesh['a'=2,'b'=2], [{'a'} {'b'}]}",
        "expected `,` or `]`, found `{`",
        "{",
        "it is written as in `{mesh['a'=2,'b'=4], [{'a'}, {'b'}]}`",
    ),
    ("{mesh['a'=2,'b'=2], [{'a',}]}", "expected a name in quotes, found `}`", "}", "write `'x'`"),
    (
        "{mesh['a'=2 'b'=2], [{'a'}]}",
        "expected `,` or `]`, found `'`",
        "'",
        "it is written as in `{mesh['a'=2,'b'=4], [{'a'}, {'b'}]}`",
    ),
    (
        "{mesh['a'=2,'b'=2], [{'a'}] replicated={'b'}}",
        "expected `}`, found `r`",
        "r",
        "it is written as in `{mesh['a'=2,'b'=4], [{'a'}, {'b'}]}`",
    ),
    (
        "{mesh['a'=2,'b'=2], [{'a'}], replicated={'b', ?}}",
        "expected a name in quotes, found `?`",
        "?",
        "write `'x'`",
    ),
    (
        "{devices=[6,4]<=[4,6] last_tile_dim_replicate}",
        "expected `T(`, found `l`",
        "l",
        "write their order, `T(1,0)`, or one size, their product, where nothing is transposed",
    ),
    (
        "{mesh['a'=2], replicated={'a'}}",
        "expected `}`, found `=`",
        "=",
        "it is written as in `{mesh['a'=2,'b'=4], [{'a'}, {'b'}]}`",
    ),
    (
        "{mesh['a'=2], [{'a'}],}",
        "expected a word, found `}`",
        "}",
        "it is written as in `{mesh['a'=2,'b'=4], [{'a'}, {'b'}]}`",
    ),
];

/// Faults that need many devices, or a mesh with unusual names.
const OTHERS: &[Row] = &[
    (
        "{devices=[2,4]<=[8] last_tile_dims={manual, }}",
        "expected a kind of subgroup, found `}`",
        "}",
        "it is written as in `{devices=[2,4]<=[8]}`",
    ),
    (
        "{mesh['x'=2, 'y\u{7}'=2], replicated}",
        "this character is not allowed in a name",
        "\u{7}",
        "write letters, digits and `_`",
    ),
    (
        "{mesh['x'=2], [{'y'}]}",
        "`y` is not an axis of the mesh; its axes are `x`",
        "'y'",
        "write one of its axes, or add it to the mesh",
    ),
    (
        "{mesh[], [{'y'}]}",
        "`y` is not an axis: the mesh has none",
        "'y'",
        "write one of its axes, or add it to the mesh",
    ),
    ("{device=3}", "one device is for `maximal`", "3", "write `{maximal device=3}`"),
    (
        "{manual devices=[2]<=[2]}",
        "`manual` applies to the whole tensor and takes no devices",
        "[2]<=[2]",
        "write `{manual}`",
    ),
    (
        "{mesh['a'=8], [{'a':(2)2, 'a':(4)2}]}",
        "adjacent sub-axes must be written as one",
        "'a':(2)2, 'a':(4)2",
        "write `'a':(2)4`",
    ),
];

#[test]
fn sharding_faults_have_message_span_and_help() {
    for rows in [STRICTER, ENDING, REFUSED, OTHERS] {
        for (text, message, place, help) in rows {
            let fault = parse(text).expect_err(text);
            let found = (fault.message.as_str(), &text[fault.span], fault.help.as_deref());
            assert_eq!(found, (*message, *place, Some(*help)), "{text}");
        }
    }
}
