//! The text at the end of the help of the commands that search.

macro_rules! by_bytes {
    () => {
        "\
By bytes: a pattern is a string of bytes, and is found at all positions, those that overlap \
included. `bwz grep` is the command for lines and for regular expressions. With an index (bwz \
--index), only the parts of the file are read that the answer needs.

"
    };
}

macro_rules! by_sequence {
    () => {
        "\
By sequence: if --index compressed FASTA or FASTQ, patterns are residues, found across line ends \
and in either case. Each letter stands for itself, N too. T and U are the same letter in a pattern \
of nucleotides, unless --strict-letters is given. Other bytes of a pattern stand for themselves, \
and a warning says that headers and qualities are not searched. A pattern with blanks, line ends \
or bytes above 127 is refused. With --iupac a letter of a pattern stands for its bases, as in \
`seqkit locate -d`: N for A, C, G, T and U, but not for an N of the file. If a pattern stands for \
more than 131,072 different strings of a block, the block is decoded and its text is searched. The \
reverse complement of RNA is RNA. With --revcomp a pattern that is its own reverse complement is \
searched once, on the + strand.

"
    };
}

macro_rules! search_checks {
    () => {
        "\
Checks: a block without an index is checked as with -t. In a block with an index, only the data \
that is read is checked. If the index is used on disk, these are the checksums of the headers, of \
the index, and of each slice and table that is decoded, and each slice must hold the symbols that \
the index counts. If the block is decoded because of many patterns, its checksum is checked. The \
checksums of all blocks must match that of the file (except for extract). These checks find \
changes in storage or in transfer. They do not find an index that was made to contradict its \
block, with matching checksums: --verify finds it, and takes as long as -t. A table of records or \
residues that contradicts its blocks is found by --verify and -t (exit code 2). A search that \
finds such a table warns, and takes names and positions from the blocks."
    };
}

pub(crate) const EXTRACT_HELP: &str = concat!(
    "\
Regions are those of samtools: NAME, NAME:START-END, NAME:START-, NAME:-END. Positions count from \
1, and END is included. 1,000, 1K, 1.5M and 1e3 are numbers. If a name has colons, write \
{NAME}:START-END. A file of regions has one region per line. A line whose second and third field \
are numbers, separated by tabs, is BED; a sixth field of - gives the reverse complement. Any other \
line is a region as in --region. Empty lines, and those of comments (#) and browsers (track, \
browser), are skipped. A region that extends past the end of its record is cut, and a region that \
begins past it is empty, both with a warning. An unknown name, or a region that ends before it \
starts, is an error, reported after all regions before it are written; with --continue it is a \
warning.

On a terminal, control characters and bytes that are not UTF-8 are printed as \\xNN; in a file or \
a pipe, names are unchanged.

",
    search_checks!()
);

pub(crate) const COUNT_HELP: &str = concat!(
    by_bytes!(),
    "\
Lines: --lines searches for each pattern in turn, as `bwz grep -c -F` does: by the index if that \
costs less, and else by decoding the file. Its lines are those of the raw file, also of FASTA and \
FASTQ. A pattern with a line feed is in no line.

",
    by_sequence!(),
    search_checks!()
);

pub(crate) const LOCATE_HELP: &str = concat!(
    by_bytes!(),
    "\
Limits: --limit N, --first and --last choose by position. Blocks are in order, so that these \
occurrences are looked for in the first blocks, or in the last one, that have the pattern. In such \
a block all occurrences of the pattern are located, or the block is decoded if that costs less. \
--limit and --first end with the block in which all patterns have their occurrences, unless the \
output has counts (--json, --sam). --last counts the pattern in all blocks first: with an index \
this costs little; without one, all blocks are decoded.

",
    by_sequence!(),
    "\
Lines: file, pattern, strand (with --revcomp), offset in the raw file, position as \
RECORD:START-END from 1 (if the file is searched by sequence), and the context (with -C). In JSON, \
a name, pattern or context that is not UTF-8 has its hexadecimal digits in another field, whose \
name ends with _hex.

SAM: flag 16 is the reverse strand, 256 a hit that is not the primary one, 4 a read without a hit. \
MAPQ is 60 for a read with one hit, else -10 log10(1 - 1/n) for n hits. QNAME is the name up to \
the first blank, without /1 or /2 at its end. QUAL has the qualities of FASTQ, reversed on the \
reverse strand. A hit that is not the primary one has * for SEQ and QUAL. Two records with the \
same name are an error (but see --rename-duplicates).

Pairs (--reads1 and --reads2): the n-th reads of both files are mates and must have the same \
QNAME, and both files must have the same number of reads. A pair is proper (flag 2) if its hits \
are in one record, on opposite strands that face each other, with at most --max-insert bases from \
the first to the last base. Among the hits that --limit leaves, the closest such pair is primary; \
without such a pair, the first hit of each read is primary. TLEN is given if the primary lines are \
in one record. A read without a hit gets the position of its mate.

",
    search_checks!()
);
