//! Random texts in foreign notations, each with matching axes.

use layoutc_algebra::notation::Notation;

use layoutc_testing::Random;

/// A text with its named sizes and its axes.
#[derive(Debug, Clone)]
pub(crate) struct Foreign {
    pub(crate) text: String,
    pub(crate) sizes: Vec<(String, i128)>,
    pub(crate) axes: Vec<(String, i64)>,
}

const LETTERS: [&str; 5] = ["n", "c", "h", "w", "d"];

fn axes(random: &mut Random) -> Vec<(String, i64)> {
    let rank = random.below(4) + 1;
    let most = [40, 24, 12, 7][rank - 1];
    let extent = |random: &mut Random| match random.below(6) {
        0 => 1,
        1 => *random.pick(&[2, 4, 8, 16]),
        _ => random.between(1, most),
    };
    LETTERS.iter().take(rank).map(|name| ((*name).to_owned(), extent(random))).collect()
}

fn order(random: &mut Random, rank: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rank).collect();
    if random.one_in(2) {
        random.shuffle(&mut order);
    }
    order
}

/// A random text of the notation.
pub(crate) fn text(random: &mut Random, notation: Notation) -> Foreign {
    let mut axes = axes(random);
    let order = order(random, axes.len());
    let mut sizes = Vec::new();
    let text = match notation {
        Notation::Tvm => tvm(random, &order),
        Notation::Onednn => onednn(random, &order),
        Notation::Xla => xla(random, &order),
        Notation::Glow => glow(random, &order),
        Notation::Cute => cute(random, &mut axes),
        Notation::Mlir => mlir(random, &axes, &order),
        Notation::Einops => einops(random, &mut axes, &order, &mut sizes),
        Notation::Numpy if random.one_in(4) => (*random.pick(&["C", "F"])).to_owned(),
        Notation::Numpy => {
            let strides = strides(random, &axes, &order);
            let bytes: Vec<String> = strides.iter().map(|s| (4 * s).to_string()).collect();
            format!("({},)", bytes.join(", "))
        }
        Notation::Mdspan => mdspan(random, &axes, &order),
        Notation::Triton => triton(random, &mut axes),
    };
    Foreign { text, sizes, axes }
}

/// Bits of power-of-two axes in random order, some combined with others by exclusive or.
fn triton(random: &mut Random, axes: &mut [(String, i64)]) -> String {
    let mut bits = 0;
    for (_, extent) in axes.iter_mut() {
        let own = random.below(4);
        *extent = 1 << own;
        bits += own;
    }
    let mut images: Vec<i64> = (0..bits).map(|bit| 1 << bit).collect();
    random.shuffle(&mut images);
    for _ in 0..random.below(bits + 1) {
        let (from, onto) = (random.below(bits), random.below(bits));
        if from != onto {
            images[onto] ^= images[from];
        }
    }
    let mut images = images.into_iter();
    let inputs = axes.iter().map(|(name, extent)| {
        let own = images.by_ref().take(extent.trailing_zeros() as usize);
        let own: Vec<String> = own.map(|image| format!("[{image}]")).collect();
        format!("{name}: [{}]", own.join(", "))
    });
    let inputs: Vec<String> = inputs.collect();
    format!("{{{}}} -> {{offset: {}}}", inputs.join(", "), 1 << bits)
}

fn factor(random: &mut Random) -> i64 {
    *random.pick(&[2, 2, 3, 4, 4, 8, 16])
}

fn tvm(random: &mut Random, order: &[usize]) -> String {
    let mut dims: Vec<String> = order.iter().map(|k| LETTERS[*k].to_uppercase()).collect();
    for axis in order {
        if random.one_in(2) {
            let block = format!("{}{}", factor(random), LETTERS[*axis]);
            let at = if random.one_in(3) { random.below(dims.len() + 1) } else { dims.len() };
            dims.insert(at, block);
        }
    }
    dims.concat()
}

fn onednn(random: &mut Random, order: &[usize]) -> String {
    let blocks: Vec<(usize, i64)> =
        (0..random.below(4)).map(|_| (*random.pick(order), *random.pick(&[2, 2, 4, 3]))).collect();
    let letter = |axis: usize| char::from(b'a' + u8::try_from(axis).unwrap());
    let outer = order.iter().map(|axis| {
        let is_blocked = blocks.iter().any(|(own, _)| own == axis);
        if is_blocked { letter(*axis).to_ascii_uppercase() } else { letter(*axis) }
    });
    let mut text: String = outer.collect();
    for (axis, factor) in &blocks {
        text.push_str(&format!("{factor}{}", letter(*axis)));
    }
    text
}

fn xla(random: &mut Random, order: &[usize]) -> String {
    let axes: Vec<String> = order.iter().rev().map(ToString::to_string).collect();
    let mut text = format!("{{{}", axes.join(","));
    let count = random.below(3);
    if count > 0 {
        text.push_str(":T");
        let length = random.below(order.len()) + 1;
        for k in 0..count {
            let length = if k == 0 { length } else { random.below(length) + 1 };
            let mut tile: Vec<String> =
                (0..length).map(|_| random.pick(&[1, 2, 2, 4, 8, 16]).to_string()).collect();
            if k == 0 && length > 1 && random.one_in(5) {
                "*".clone_into(&mut tile[0]);
            }
            text.push_str(&format!("({})", tile.join(",")));
        }
    }
    if random.one_in(5) {
        text.push_str(if count == 0 { ":" } else { "" });
        text.push_str(&format!("L({})", random.pick(&[8, 32, 128])));
    }
    text + "}"
}

fn glow(random: &mut Random, order: &[usize]) -> String {
    let mut text = String::new();
    for axis in order {
        text.push_str(&LETTERS[*axis].to_uppercase());
        if random.one_in(3) {
            text.push_str(&format!("[a={}]", random.pick(&[8, 16, 32, 64, 12])));
        }
    }
    text
}

/// Modes with random sub-modes and strides; the axes get the modes' sizes, or slightly less.
fn cute(random: &mut Random, axes: &mut [(String, i64)]) -> String {
    let mut parts: Vec<(usize, usize, i64)> = Vec::new();
    for (axis, (_, extent)) in axes.iter_mut().enumerate() {
        let count = random.below(3) + 1;
        let own: Vec<i64> = (0..count).map(|_| *random.pick(&[1, 2, 2, 3, 4, 5])).collect();
        let whole: i64 = own.iter().product();
        *extent = (whole - i64::from(random.one_in(4))).max(1);
        parts.extend(own.iter().enumerate().map(|(k, size)| (axis, k, *size)));
    }
    let mut memory: Vec<usize> = (0..parts.len()).collect();
    random.shuffle(&mut memory);
    let (mut strides, mut next) = (vec![0; parts.len()], 1);
    for at in memory {
        next += if random.one_in(6) { random.between(0, 3) } else { 0 };
        strides[at] = next;
        next *= parts[at].2;
    }
    let tuple = |value: &dyn Fn(usize) -> i64| {
        let modes: Vec<String> = (0..axes.len())
            .map(|axis| {
                let own = (0..parts.len()).filter(|k| parts[*k].0 == axis);
                let own: Vec<String> = own.map(|k| value(k).to_string()).collect();
                if own.len() == 1 { own.concat() } else { format!("({})", own.join(",")) }
            })
            .collect();
        if modes.len() == 1 { modes.concat() } else { format!("({})", modes.join(",")) }
    };
    format!("{}:{}", tuple(&|k| parts[k].2), tuple(&|k| strides[k]))
}

fn mlir(random: &mut Random, axes: &[(String, i64)], order: &[usize]) -> String {
    if random.one_in(3) {
        let strides = strides(random, axes, order);
        let strides: Vec<String> = strides.iter().map(ToString::to_string).collect();
        return format!("strided<[{}]>", strides.join(", "));
    }
    let names: Vec<String> = (0..axes.len()).map(|k| format!("d{k}")).collect();
    let mut results = Vec::new();
    for axis in order {
        match random.below(4) {
            0 => {
                let by = factor(random);
                results.push(format!("d{axis} floordiv {by}"));
                results.push(format!("d{axis} mod {by}"));
            }
            1 => results.push(format!("d{axis} + {}", random.between(0, 2))),
            2 => results.push(format!("{} - d{axis}", axes[*axis].1 - 1)),
            _ => results.push(format!("d{axis}")),
        }
    }
    random.shuffle(&mut results);
    format!("affine_map<({}) -> ({})>", names.join(", "), results.join(", "))
}

fn einops(
    random: &mut Random,
    axes: &mut [(String, i64)],
    order: &[usize],
    sizes: &mut Vec<(String, i128)>,
) -> String {
    let mut left = Vec::new();
    let mut right: Vec<String> = order.iter().map(|k| LETTERS[*k].to_owned()).collect();
    for (name, extent) in axes.iter_mut() {
        if random.one_in(2) {
            let size = factor(random);
            *extent = size * random.between(1, 5);
            let part = format!("{name}_in");
            left.push(format!("({name} {part})"));
            right.push(part.clone());
            sizes.push((part, i128::from(size)));
        } else {
            left.push(name.clone());
        }
    }
    if random.one_in(3) {
        random.shuffle(&mut right);
    }
    format!("{} -> {}", left.join(" "), right.join(" "))
}

/// Strides of an order, sometimes with padding.
fn strides(random: &mut Random, axes: &[(String, i64)], order: &[usize]) -> Vec<i64> {
    let (mut strides, mut next) = (vec![0; axes.len()], 1);
    for axis in order.iter().rev() {
        next += if random.one_in(4) { random.between(0, 5) } else { 0 };
        strides[*axis] = next;
        next *= axes[*axis].1;
    }
    strides
}

fn mdspan(random: &mut Random, axes: &[(String, i64)], order: &[usize]) -> String {
    match random.below(5) {
        0 => "layout_right".to_owned(),
        1 => "layout_left".to_owned(),
        2 => format!("layout_right_padded<{}>", factor(random)),
        3 => format!("layout_left_padded<{}>", factor(random)),
        _ => {
            let strides = strides(random, axes, order);
            let strides: Vec<String> = strides.iter().map(ToString::to_string).collect();
            format!("layout_stride<{}>", strides.join(", "))
        }
    }
}
