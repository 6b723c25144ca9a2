//! The text at the end of the help of the commands that search.

macro_rules! by_sequence {
    () => {
        "\
By sequence: in a file that --index made of FASTA or FASTQ, patterns are residues, found across line ends and in either case; each \
letter stands for itself, N too, but T and U are one letter in a pattern of nucleotides, unless --strict-letters is given. Other \
bytes stand for themselves in a sequence, and a warning says that headers and qualities are not searched; a pattern with blanks, line ends \
or bytes above 127 is refused. With --iupac a letter stands for its bases, as in `seqkit locate -d`: N for A, C, G, T and U, not for an \
N of the file. Where a pattern stands for more than 131,072 different strings of a block, the block is decoded and its text is searched. \
The reverse complement of RNA is RNA. With --revcomp a pattern that is its own reverse \
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
was made to contradict its block, with checksums to match: --verify does, and takes as long as -t. A table of records or residues that \
contradicts its blocks is found by --verify and -t (exit code 2); a search that comes upon it warns and takes names and places from \
the blocks."
    };
}

pub const EXTRACT_HELP: &str = concat!(
    "\
Regions are those of samtools: NAME, NAME:START-END, NAME:START-, NAME:-END, from 1 and with the end; 1,000, 1K, 1.5M and 1e3 are \
numbers; {NAME}:START-END where a name has colons. A file of regions has one a line: of BED if its second and third field are \
numbers, parted by tabs, of which a sixth field of - is the reverse complement; else as for --region. Empty lines, and those of \
comments (#) and browsers (track, browser), are passed over. A region that ends behind its record is cut, and one that begins there \
is empty, with a warning. An unknown name, or a region that ends before it starts, is an error once all regions in front of it are \
written; with --continue it is a warning.

A terminal is shown control characters and bytes that are not UTF-8 as \\xNN; a file or a pipe gets names as they are.

",
    search_checks!()
);

pub const COUNT_HELP: &str = concat!(by_sequence!(), search_checks!());

pub const LOCATE_HELP: &str = concat!(
    by_sequence!(),
    "\
Lines: file, pattern, strand (with --revcomp), offset in the raw file, in a file that is searched by sequence the place as \
RECORD:START-END from 1, and the context (with -C). In JSON a name, pattern or context that is not UTF-8 has its hexadecimal digits \
beside it, in a field whose name ends with _hex.

SAM: flag 16 is the reverse strand, 256 a hit that is not the primary one, 4 a read without a hit; MAPQ is 60 where a read has one \
hit, else -10 log10(1 - 1/n) of n hits. QNAME is the name up to the first blank, without /1 or /2 at its end; QUAL has the \
qualities of FASTQ, reversed on the reverse strand. A hit that is not the primary one has * for SEQ and QUAL. Two records of one \
name are an error (but see --rename-duplicates).

Pairs (--reads1 and --reads2): the n-th reads of both files are mates and have one QNAME, else it is an error, as it is where one \
file has more reads. A pair is proper (flag 2) if its hits are in one record, on opposite strands that face each other, with at most \
--max-insert bases from the first to the last one. Of several such pairs the closest one is primary, among the hits that --limit \
leaves; without any, the first hit of each read is. TLEN is of primary lines in one record. A read without a hit stands where its mate \
does.

",
    search_checks!()
);
