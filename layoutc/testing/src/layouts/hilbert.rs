//! Hilbert curve through the cells of a box.

/// Position of `cell`, a pair of row and column, on the Hilbert curve through a box of `rows` by `columns` cells. The
/// curve starts at the cell (0, 0) with position 0. Found by a walk along the whole curve.
pub(super) fn place(rows: i64, columns: i64, cell: (i64, i64)) -> i64 {
    let mut path = Vec::new();
    if columns >= rows {
        walk(&mut path, (0, 0), (0, 1, columns), (1, 0, rows));
    } else {
        walk(&mut path, (0, 0), (1, 0, rows), (0, 1, columns));
    }
    i64::try_from(path.iter().position(|visited| *visited == cell).unwrap()).unwrap()
}

/// Appends the cells of a box, whose first corner is `at`, to `path` in the order of the curve. `way` and `aside` are
/// the directions along and across the box, each as the triple of row step, column step, and length in cells.
fn walk(path: &mut Vec<(i64, i64)>, at: (i64, i64), way: (i64, i64, i64), aside: (i64, i64, i64)) {
    let go = |from: (i64, i64), to: (i64, i64, i64), n: i64| (from.0 + to.0 * n, from.1 + to.1 * n);
    let turned = |to: (i64, i64, i64), n: i64| (-to.0, -to.1, n);
    let long = |to: (i64, i64, i64), n: i64| (to.0, to.1, n);
    if aside.2 == 1 {
        path.extend((0..way.2).map(|n| go(at, way, n)));
    } else if way.2 == 1 {
        path.extend((0..aside.2).map(|n| go(at, aside, n)));
    } else if way.2 * 2 > aside.2 * 3 {
        let first = way.2 / 2 + way.2 / 2 % 2;
        walk(path, at, long(way, first), aside);
        walk(path, go(at, way, first), long(way, way.2 - first), aside);
    } else {
        let first = way.2 / 2;
        let there = if aside.2 == 2 { 1 } else { aside.2 / 2 + aside.2 / 2 % 2 };
        walk(path, at, long(aside, there), long(way, first));
        walk(path, go(at, aside, there), way, long(aside, aside.2 - there));
        let corner = go(go(at, way, way.2 - 1), aside, there - 1);
        walk(path, corner, turned(aside, there), turned(way, way.2 - first));
    }
}
