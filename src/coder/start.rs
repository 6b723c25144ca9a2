//! What a model expects of a context that it has not met: the start of its cells.
//!
//! A context of a run or a place holds the level of an average (see `context`), and how numbers are spread given
//! that level hardly depends on the data: text, markup, tables and code agree within a few percent. So cells begin as
//! what was counted there, by level, and as if they had seen some symbols already. Segments are short, and this saves a fifth
//! of what it costs that each starts anew.

use super::model::Cell;

/// Of 256 numbers how many are of each class, by the level of the average. Rows sum to 256.
type Shares = [[u8; 16]; LEVELS];
const LEVELS: usize = 8;

#[rustfmt::skip]
const OF_RUNS: Shares = [
    [244, 9, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [228, 22, 4, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [207, 35, 9, 3, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [180, 45, 16, 7, 3, 2, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0],
    [145, 53, 23, 12, 7, 5, 3, 2, 1, 1, 2, 1, 1, 0, 0, 0],
    [110, 48, 27, 18, 12, 9, 6, 5, 3, 3, 7, 5, 2, 1, 0, 0],
    [87, 39, 25, 18, 13, 11, 8, 7, 6, 5, 13, 12, 7, 3, 1, 1],
    [55, 25, 17, 14, 11, 10, 8, 7, 6, 6, 19, 23, 22, 16, 9, 8],
];

#[rustfmt::skip]
const OF_PLACES: Shares = [
    [171, 5, 3, 3, 2, 2, 2, 2, 1, 1, 5, 8, 13, 17, 12, 9],
    [236, 16, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [178, 55, 17, 4, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [136, 70, 33, 9, 4, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0],
    [92, 66, 48, 20, 11, 7, 4, 3, 2, 1, 1, 1, 0, 0, 0, 0],
    [54, 42, 37, 31, 25, 19, 15, 11, 9, 4, 6, 2, 1, 0, 0, 0],
    [33, 26, 24, 23, 23, 22, 21, 19, 18, 10, 24, 10, 2, 1, 0, 0],
    [16, 12, 10, 10, 10, 10, 10, 10, 10, 10, 37, 43, 29, 21, 9, 9],
];

/// The starts of the cells for runs and for places, by level.
pub static RUNS: [Cell; LEVELS] = cells(&OF_RUNS);
pub static PLACES: [Cell; LEVELS] = cells(&OF_PLACES);

const fn cells(shares: &Shares) -> [Cell; LEVELS] {
    let mut cells = [Cell::flat(4); LEVELS];
    let mut level = 0;
    while level < LEVELS {
        cells[level] = Cell::of_shares(&shares[level]);
        level += 1;
    }
    cells
}
