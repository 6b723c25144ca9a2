//! What the help of the commands that search says at its end.

macro_rules! by_sequence {
    () => {
        "\
By sequence: in a file that --index made of FASTA or FASTQ, patterns are residues, found across line ends and in either case; each \
letter stands for itself, N too, but T and U are one letter in a pattern of nucleotides, unless --strict-letters is given. A pattern \
with anything else is refused. With --iupac a letter stands for its bases, as in `seqkit locate -d`: N for A, C, G, T and U, not for an \
N of the file. A pattern that comes to more than 131,072 different strings in a block is looked for in its text, which is decoded for \
it. The reverse complement of RNA is RNA. With --revcomp a pattern that is its own reverse \
complement is searched once, on the + strand.

"
    };
}

macro_rules! search_checks {
    () => {
        "\
Checks: a block without an index is checked as -t checks it. Where an index is used, only what is read is checked: in its place on \
disk the checksums of the headers, of the index and of each slice and table that is decoded, and that each slice holds the symbols \
that the index counts; where the block is decoded because there is much to look for, its checksum; and (but for extract) that the \
checksums of all blocks make up that of the file. This finds what storage or a wire has changed. It does not find an index that \
was made to contradict its block, with checksums to match: --verify does, and takes as long as -t."
    };
}

pub const SEARCH_CHECKS: &str = search_checks!();

pub const COUNT_HELP: &str = concat!(by_sequence!(), search_checks!());

pub const LOCATE_HELP: &str = concat!(
    by_sequence!(),
    "\
Lines: file, pattern, strand (with --revcomp), offset in the raw file, in a file that is searched by sequence the place as \
RECORD:START-END from 1, and the context (with -C). SAM: flag 16 is the reverse strand, 256 a hit that is not a read's first, \
4 a read without one; MAPQ is 60 where a read has one hit, else -10 log10(1 - 1/n) of n hits.

",
    search_checks!()
);
