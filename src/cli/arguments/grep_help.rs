//! The text at the end of the help of `grep`.

pub(crate) const GREP_HELP: &str = "\
Files: .bwz, gzip, bzip2, xz and zstd are known by their first bytes, and their content is \
searched. All others are searched as they are. The answers about a file are in the order of its \
lines, and files are in the order of the arguments, though small ones are searched side by side. \
With -r all files of a directory are searched, hidden ones too.

Tar archives: each file in a .bwz file that holds a tar archive is searched as a text of its own, \
and named as in x.tar.bwz:dir/file. --no-members searches the archive as one text, and so does a \
search of standard input.

Index: in a .bwz file with an index of bytes, bwz looks for literals that the expression requires, \
and reads the lines around them alone. Expressions without such literals, -v, and literals that \
are frequent make it decode and scan the file; it does what is estimated to cost less. With -n the \
blocks with such literals are decoded as a whole, since only the number of lines of each block is \
known. -q, -l and -L for plain strings only count, and so do --count-matches for most and -c for \
strings at an end of a line: ^abc, abc$ and -x abc. --verbose tells what was done. Lines of FASTA \
and FASTQ are searched as they are; bwz count and locate search sequences across lines. In a block \
with an index, only the data that is read is checked, as bwz count checks it; --verify checks all.

Expressions are those of the Rust crate regex and of ripgrep: extended ones with \\d, \\w, \\b, \
\\p{Greek}, lazy repetition (.*?) and flags as in (?i), without backreferences and look-around. \
The first alternative that matches counts, as in Perl (GNU grep takes the longest). Letters are \
those of Unicode; classes in brackets such as [[:upper:]] are of ASCII.

Colours are those of GREP_COLORS, as in GNU grep: ms=, mc=, mt=, sl=, cx=, fn=, ln=, bn=, se=, rv \
and ne, separated by colons. GREP_COLOR, which GNU grep calls obsolete, is not read.

Output is as that of GNU grep. Differences: -o and colours follow the rule for alternatives above; \
only a zero byte makes a file binary, not bytes that are not UTF-8; the message that a binary file \
matches begins with bwz:. --json, --count-matches, -S and -g are as in ripgrep, without its rules \
for hidden and ignored files.

Exit codes are those of GNU grep: 0 a line was selected, 1 none, 2 any trouble (0 if -q found a \
line nevertheless), 3 a bug. Other commands have the codes of bzip2.";
