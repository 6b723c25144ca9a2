//! Fields: lines of logs and tables taken apart into columns. FORMAT.md section 12.9.
//!
//! raw block -> [`take_apart`] -> text, parameters -> [`put_together`] -> raw block. Each line is
//! a *template*, which many lines have in common, and the *values* of its slots; of reads (FASTQ)
//! each record of four lines. The text is
//!
//! | part | bytes |
//! |---|---|
//! | the templates, in the order of their first lines | a line each, `01` for a slot and `02` for a line end within a record |
//! | the template of each line or record | its number, in 1 or 2 bytes |
//! | the columns, in the order of their first lines | the values, in the form of the column |
//!
//! and the parameters hold how many templates and uses there are, and the values of columns that
//! are packed ([`packed_words`]).
//!
//! | file | job |
//! |---|---|
//! | `choose_tokens`, `tokens` | is a block one of fields, and what are its slots? |
//! | `line_parts`, `parsed_lines` | raw block -> text and parameters, in parts side by side |
//! | `templates` | the templates, and the columns of their slots |
//! | `merged_templates`, `alike_templates` | words of templates that become slots |
//! | `column_values`, `write_columns` | the values of a column, and how they are written |
//! | `column_form` | the forms of columns |
//! | `choose_forms`, `choose_lists`, `choose_packed` | which one a column has |
//! | `numbers`, `lists`, `predictions` | forms: differences, items, what another value tells |
//! | `packed_columns`, `packed_words` | columns beside the text, as digits of large numbers |
//! | `packed_layout`, `packed_shape` | what such values look like |
//! | `coded_size`, `value_cost`, `symbol_cost` | what a choice costs, by samples |
//! | `difference_bits`, `key_hashes` | which ways to predict are worth that |
//! | `rejoin`, `block_writer`, `short_moves` | text and parameters -> raw block |
//! | `side_memory` | what that takes besides both is counted |
//! | `kept_hashes` | the hash of a value that many columns are predicted by |
//!
//! Slots that stand behind the same bytes and slots share a column, whatever comes after them: a
//! time in front of all lines of a log is one column. What the slots are is the encoder's choice,
//! which [`tokens`] makes from samples, and [`merged_templates`] from all lines; a decoder does not
//! know it. Both ways are one pass over the block. The idea is CLP's (Rodrigues et al. 2021), and
//! columns by number and by prefix are those of Denum (Yu et al. 2024) and of Drain (He et al.
//! 2017).

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

pub use choose_tokens::{candidates, choose, sample};
pub use coded_size::coded_size;
pub use line_parts::{Apart, take_apart};
pub use rejoin::{put_together, put_together_in};
pub use side_memory::SideMemory;
pub use tokens::Tokens;
