//! Fields: lines of logs and tables taken apart into columns. FORMAT.md section 12.9.
//!
//! raw block -> [`take_apart`] -> text, parameters -> [`put_together`] -> raw block. Each line is a
//! *template*, which many lines have in common, and the *values* of its slots. A record of a FASTQ
//! file is four lines with one template. The text is
//!
//! | part | bytes |
//! |---|---|
//! | the templates | a line each, `01` for a slot and `02` for a line end within a record |
//! | the template of each line or record | its number, in 1 or 2 bytes |
//! | the columns | the values, in the form of the column |
//!
//! Templates and columns are in the order of their first lines.
//!
//! The parameters hold the number of templates, the number of their uses, and the values of packed
//! columns ([`packed_words`]).
//!
//! Slots behind the same bytes and slots share a column, whatever comes after them: a time at the
//! start of all lines of a log is one column. The encoder is free to choose the slots: [`tokens`]
//! finds them in each line, and [`merged_templates`] adds slots by comparing all lines. A decoder
//! needs no rule for this. The idea is CLP's (Rodrigues et al. 2021). Columns by number are an idea
//! of Denum (Yu et al. 2024), and columns by prefix one of Drain (He et al. 2017).
//!
//! | file | job |
//! |---|---|
//! | `choose_tokens`, `tokens` | is a block one of fields, and what are its slots? |
//! | `line_parts`, `parsed_lines` | raw block -> text and parameters, in parallel parts |
//! | `templates` | the templates, and the columns of their slots |
//! | `merged_templates`, `alike_templates` | words of templates that become slots |
//! | `column_values`, `write_columns` | the values of a column, and how they are written |
//! | `column_form` | the forms of columns |
//! | `choose_forms`, `choose_lists`, `choose_packed` | the choice of a column's form |
//! | `known_forms` | the forms of an earlier block, which are tried first |
//! | `numbers`, `lists`, `predictions` | forms: differences, items, values predicted by others |
//! | `packed_columns`, `packed_words` | columns beside the text, as digits of large numbers |
//! | `packed_layout`, `packed_shape` | the layout that such values have in common |
//! | `coded_size`, `value_cost`, `symbol_cost` | the cost of a choice, by samples |
//! | `difference_bits`, `key_hashes` | the few ways to predict that get a closer look |
//! | `rejoin`, `block_writer`, `short_moves` | text and parameters -> raw block |
//! | `side_memory` | the memory of this besides the text and the block |
//! | `kept_hashes` | the hash of a value that predicts many columns |
//!
//! Both directions are one pass over the block. Taking apart needs at most about 6 bytes of memory
//! per byte of the block, as the sort does (see `line_parts`).
//!
//! # To add a form
//!
//! A new form of columns is a new draft of the format ("Places of the draft" in `CONTRIBUTING.md`),
//! but no new filter:
//!
//! 1. `format/FORMAT.md` section 12.9: the bytes of the form, and how a value is restored.
//! 2. `format/decoder.py`: the largest number of a form, how many distances it has, and its values.
//! 3. `column_form`: the variant of `Form`, `read` and `write`, `has_table` and `is_written_whole`,
//!    and the row in the table of that page.
//! 4. `write_columns` writes the values, and `rejoin` restores them. A form whose values are more
//!    than a few lines has a file for both, as `numbers` and `lists` have.
//! 5. `value_cost` or `choose_forms`: the choice, by the cost of a sample. `Sample::known_form`
//!    has its cost too, for blocks that take the form over.
//! 6. `tests` here: lines for which it is chosen. Data of its kind in `cases::filtered`
//!    (`tests/common/cases.rs`), if none there has it, with a name in `tests/conformance/valid.rs`.
//! 7. `tests/conformance/invalid/fields.rs`: what a decoder rejects of it. The form that is unknown
//!    there becomes the next one.
//! 8. A seed in `fuzz/seeds/filters`, `just bless`, and a note in `benches/results`.

mod alike_templates;
mod block_writer;
mod choose_forms;
mod choose_lists;
mod choose_packed;
mod choose_tokens;
mod coded_size;
mod column_form;
mod column_values;
mod difference_bits;
mod kept_hashes;
mod key_hashes;
mod known_forms;
mod line_parts;
mod lists;
mod merged_templates;
mod numbers;
mod packed_columns;
mod packed_layout;
mod packed_shape;
mod packed_words;
mod parsed_lines;
mod predictions;
mod rejoin;
mod short_moves;
mod side_memory;
mod symbol_cost;
mod templates;
#[cfg(test)]
mod tests;
mod tokens;
mod value_cost;
mod write_columns;

pub(crate) use choose_tokens::{Chosen, candidates, choose, sample, size_apart};
pub(crate) use coded_size::coded_size;
pub(crate) use known_forms::KnownForms;
pub(crate) use line_parts::{Apart, take_apart, take_apart_like};
pub(crate) use rejoin::{put_together, put_together_in};
pub(crate) use side_memory::SideMemory;
pub use tokens::Tokens;
