//! The Hilbert curve of a box: visits every cell once, by steps to neighbors, and in Hilbert's order for squares.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use layoutc_algebra::expr::curve::{CurveGrid, MAX_CELLS};

/// Cells of a box in curve order.
fn path(grid: CurveGrid) -> Vec<(i128, i128)> {
    let columns = i128::from(grid.columns());
    (0..i128::from(grid.cells()))
        .map(|distance| (grid.cell(distance) / columns, grid.cell(distance) % columns))
        .collect()
}

/// Number of diagonal steps of a path; all others must go to one of the four neighbors.
fn diagonal_steps(path: &[(i128, i128)]) -> usize {
    let mut diagonal = 0;
    for step in path.windows(2) {
        let (down, right) = ((step[1].0 - step[0].0).abs(), (step[1].1 - step[0].1).abs());
        assert!(down <= 1 && right <= 1, "{step:?}");
        diagonal += usize::from(down + right == 2);
    }
    diagonal
}

#[test]
fn every_cell_is_visited_once_with_its_distance() {
    for rows in 1..=24 {
        for columns in 1..=24 {
            let grid = CurveGrid::new(rows, columns).unwrap();
            let mut seen = vec![false; usize::try_from(grid.cells()).unwrap()];
            for (distance, (row, column)) in (0..).zip(path(grid)) {
                assert!(row < i128::from(rows) && column < i128::from(columns));
                assert_eq!(grid.distance(row, column), distance, "{grid:?}");
                let cell = row * i128::from(columns) + column;
                assert!(!std::mem::replace(&mut seen[usize::try_from(cell).unwrap()], true));
            }
        }
    }
}

#[test]
fn curve_steps_have_at_most_one_diagonal() {
    for rows in 1..=40 {
        for columns in 1..=40 {
            let path = path(CurveGrid::new(rows, columns).unwrap());
            let (longer, shorter) = (rows.max(columns), rows.min(columns));
            let is_odd = longer % 2 == 1 && shorter % 2 == 0;
            let diagonal = usize::from(is_odd && shorter > 2);
            assert_eq!(diagonal_steps(&path), diagonal, "{rows} by {columns}");
            let last = i128::from(longer) - 1 - i128::from(is_odd && shorter == 2);
            let end = if columns >= rows { (0, last) } else { (last, 0) };
            assert_eq!((path[0], path[path.len() - 1]), ((0, 0), end), "{rows} by {columns}");
        }
    }
}

/// Curve position in a square with a power of two as side, two bits per step: quadrants and their orientation.
/// Source: Hilbert, 1891; Warren, Hacker's Delight, 2nd edition, section 16.
fn square(side: i128, mut row: i128, mut column: i128) -> i128 {
    let (mut distance, mut half) = (0, side / 2);
    while half > 0 {
        let (down, right) = (row / half % 2, column / half % 2);
        distance += half * half * ((3 * right) ^ down);
        if down == 0 {
            if right == 1 {
                (row, column) = (side - 1 - row, side - 1 - column);
            }
            (row, column) = (column, row);
        }
        half /= 2;
    }
    distance
}

#[test]
fn power_of_two_squares_match_the_hilbert_curve() {
    for side in [1, 2, 4, 8, 16, 32, 64] {
        let grid = CurveGrid::new(side, side).unwrap();
        for (distance, (row, column)) in (0..).zip(path(grid)) {
            assert_eq!(square(i128::from(side), row, column), distance, "{side}: {row}, {column}");
        }
    }
    let grid = CurveGrid::new(4, 4).unwrap();
    let rows: Vec<Vec<i128>> =
        (0..4).map(|row| (0..4).map(|column| grid.distance(row, column)).collect()).collect();
    assert_eq!(rows, [[0, 1, 14, 15], [3, 2, 13, 12], [4, 7, 8, 11], [5, 6, 9, 10]]);
}

#[test]
fn large_boxes_invert_and_clamp_outside_cells() {
    for (rows, columns) in
        [(1, MAX_CELLS), (MAX_CELLS, 1), (2048, 2048), (3, 1_398_101), (1999, 2097)]
    {
        let grid = CurveGrid::new(rows, columns).unwrap();
        let cells = i128::from(grid.cells());
        for k in 0..4000 {
            let distance = k * 1_000_003 % cells;
            let cell = grid.cell(distance);
            let columns = i128::from(columns);
            assert_eq!(grid.distance(cell / columns, cell % columns), distance, "{grid:?}");
        }
    }
    let grid = CurveGrid::new(3, 5).unwrap();
    assert_eq!(grid.distance(-7, i128::MAX), grid.distance(0, 4));
    assert_eq!(grid.distance(i128::MAX, i128::MIN), grid.distance(2, 0));
    assert_eq!((grid.cell(-1), grid.cell(i128::MAX)), (grid.cell(0), grid.cell(14)));
    assert_eq!(CurveGrid::new(0, 5), None);
    assert_eq!(CurveGrid::new(2049, 2048), None);
    assert_eq!(CurveGrid::new(u32::MAX, u32::MAX), None);
}
