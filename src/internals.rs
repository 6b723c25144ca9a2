//! Access to the private modules for this repository's tests, fuzz targets and benches. It changes
//! without notice.
//!
//! Structures are passed as the bytes of a file. All work is done on the current rayon pool unless
//! another pool is given.

use crate::archive::Archive;
use crate::base::error::Result;
pub use crate::base::error::{Flaw, Unreadable};
use crate::base::leb128;
use crate::base::positions::NarrowLimits;
use crate::base::tar::{End, Member, TarWalk};
use crate::base::tasks::Executor;
use crate::base::threads::Threads;
use crate::bwt::sort_limits::{MergeLimits, ParsingLimits};
use crate::bwt::{Bwt, CpuInverse, CpuSorter, Sorter, merge, prefix_free};
use crate::coder::{Coding, SliceLimits};
use crate::engine::coded_transform::Sorted;
use crate::engine::decode;
use crate::engine::encode::{self, BlockForm, BlockPlace, FilteredBlock};
use crate::engine::raw::Spare;
use crate::filter::earlier_choices::EarlierChoices;
pub use crate::filter::fields::Tokens;
use crate::filter::fields::{self, Apart, Chosen};
use crate::filter::regions::{self, FilterRegion};
use crate::filter::sequence::{Kind, ListedRecord};
use crate::filter::{FIELDS, Filtered, MATCHES, REGIONS, SEQUENCES, match_finder, matches};
use crate::frame::{
    AnyHeader, BlockHeader, BlockKind, BwtPayload, CodedBlock, Features, Footer, FrameHeader,
    FrameReader, FrameWriter, HEADER_SIZE, MemberColumns, NEEDED, PayloadFront, PlainMembers,
    SequencesTable, check_tables, counts_again, counts_to_bytes, header_tables_again, pass_tables,
    read_records, records_to_bytes, seek_content_again, tables_to_bytes,
};
pub use crate::frame::{DRAFT, VERSION};
use crate::gpu::process_ranks::Ranks;
use crate::options::Options;
use crate::papers::{PaperAlgorithm, gpu_doors};
use crate::search::{
    self, BlockJob, ByteBlock, FileBlock, Layouts, OpenBlock, OpenIndex, SearchedBlock as _,
    Section, SharedInput, Task,
};
use rayon::ThreadPool;
use std::{
    io::Cursor,
    iter,
    sync::{Arc, Mutex},
};

/// Bytes of a BWT <-> coded slices.
pub mod coder {
    pub use crate::coder::*;
}

/// Raw block <-> the text that is sorted.
pub mod filter {
    pub use crate::filter::*;
}

/// FASTA and FASTQ <-> their residues, their other fields, and the layout of their lines.
pub mod sequence {
    pub use crate::filter::sequence::*;
}

/// Suffix sorting by several processors.
pub mod distributed {
    pub use crate::papers::distributed::*;
}

/// Sorting, restoring and searching on GPUs.
pub mod gpu {
    pub use crate::gpu::*;
}

/// A block's header and its payload.
pub type BlockBytes = ([u8; BlockHeader::SIZE], Vec<u8>);

/// Reads a frame header and writes it again.
pub fn frame_header(bytes: &[u8; HEADER_SIZE]) -> Result<[u8; HEADER_SIZE]> {
    AnyHeader::at(bytes, 0).map(|header| match header {
        AnyHeader::Data(header) => header.to_bytes(),
        AnyHeader::Private(header) if header.kind == 128 => header.to_bytes(),
        // Later versions may use its other fields.
        AnyHeader::Private(_) => *bytes,
        AnyHeader::Unknown(..) => *bytes,
    })
}

/// Reads a block header and writes it again.
pub fn block_header(bytes: &[u8; BlockHeader::SIZE]) -> Result<[u8; BlockHeader::SIZE], Flaw> {
    BlockHeader::from_bytes(bytes).map(BlockHeader::to_bytes)
}

/// Reads a footer and writes it again.
pub fn footer(bytes: &[u8; Footer::SIZE]) -> Result<[u8; Footer::SIZE], Flaw> {
    Footer::from_bytes(bytes).map(Footer::to_bytes)
}

/// Reads the tables of a frame header, and writes those again that this version knows.
pub fn header_tables(bytes: &[u8]) -> Result<Vec<u8>, Unreadable> {
    header_tables_again(bytes)
}

/// Reads the content of the seek table of a frame with these sizes, if it is one of `blocks`
/// blocks, and writes it again.
pub fn seek_content(
    content: &[u8],
    blocks: usize,
    raw_size: u64,
    coded_size: u64,
) -> Result<Vec<u8>, Flaw> {
    seek_content_again(content, blocks, raw_size, coded_size)
}

/// Reads the counts of `rows` bytes in slices of these sizes, without their bitmap, and writes them
/// again.
pub fn counts(code: &[u8], rows: usize, sizes: &[u32]) -> Result<Vec<u8>, Flaw> {
    counts_again(code, rows, sizes)
}

/// The code of the counts of some bytes, a row for each, without their bitmap.
pub fn counts_content(rows: &[Vec<u32>]) -> Vec<u8> {
    let rows: Vec<&[u32]> = rows.iter().map(Vec::as_slice).collect();
    let mut code = Vec::new();
    counts_to_bytes(&rows, &mut code);
    code
}

/// Reads the parts of a payload and writes them again.
pub fn payload(header: &[u8; BlockHeader::SIZE], payload: &[u8]) -> Result<Vec<u8>, Unreadable> {
    let BlockHeader { kind, raw_size, .. } = BlockHeader::from_bytes(header)?;
    match kind {
        BlockKind::Bwt(shape) => {
            let parts = BwtPayload::from_bytes(payload, raw_size, shape)?;
            Ok(parts.to_bytes(shape.coding)?.0)
        }
        BlockKind::Stored => Ok(payload.to_vec()),
        BlockKind::Unknown(unknown, _) => Err(Unreadable::Unknown(unknown)),
    }
}

/// Reads the blocks of all frames, in order.
pub fn blocks(file: &[u8], options: &Options) -> impl Iterator<Item = Result<BlockBytes>> {
    let mut frames = FrameReader::new(file, options);
    let blocks = iter::from_fn(move || frames.next_block(u64::MAX));
    blocks.map(|block| block.map(|block| (block.header.to_bytes(), block.payload)))
}

/// Builds one frame from some blocks, whatever their offsets were, and tables. Each table is given
/// as a type and a content.
pub fn frame(
    blocks: impl IntoIterator<Item = BlockBytes>,
    tables: &[(u16, &[u8])],
) -> Result<Vec<u8>> {
    let blocks: Vec<_> = blocks.into_iter().collect();
    let headers = blocks
        .iter()
        .map(|(header, _)| BlockHeader::from_bytes(header));
    let headers = headers.collect::<Result<Vec<_>, _>>()?;
    let largest = headers
        .iter()
        .map(|header| header.raw_size)
        .max()
        .unwrap_or(0);
    // Everything is announced, whatever the blocks use.
    let features = Features::from_bits(u32::MAX);
    let mut writer = FrameWriter::start(Vec::new(), FrameHeader::new(largest, features), &[])?;
    let mut raw_offset = 0;
    for (header, (bytes, payload)) in headers.into_iter().zip(blocks) {
        let front_size = match header.kind {
            BlockKind::Bwt(shape) if shape.indexed => {
                PayloadFront::measure(&payload, header.raw_size, shape)
                    .map_or(0, |size| BlockHeader::SIZE + size)
            }
            _ => 0,
        };
        let raw = restore((bytes, payload.clone())).unwrap_or_default();
        let line_feeds = memchr::memchr_iter(b'\n', &raw).count() as u64;
        let header = BlockHeader {
            raw_offset,
            ..header
        };
        raw_offset += header.raw_size;
        writer.block(&CodedBlock {
            header,
            payload,
            sequences: None,
            front_size: front_size as u64,
            index_size: 0,
            line_feeds,
            needed: NEEDED,
            number: 0,
            offset: 0,
        })?;
    }
    let tables = if tables.is_empty() {
        Vec::new()
    } else {
        tables_to_bytes(tables)
    };
    writer.finish_with(&tables).map(|(file, ..)| file)
}

/// Gives a block more tables. It must not be stored.
pub fn with_tables(block: BlockBytes, tables: &[(u16, &[u8])]) -> Result<BlockBytes> {
    let (header, payload) = block;
    let mut header = BlockHeader::from_bytes(&header)?;
    let BlockKind::Bwt(shape) = &mut header.kind else {
        return Err(Flaw("a stored block").into());
    };
    let front = PayloadFront::read(&payload, header.raw_size, *shape)
        .map_err(|_| Flaw("the front of the payload"))?;
    let (before, rest) = payload.split_at(front.before_tables);
    let (mut old, behind) = rest.split_at(front.size - front.models.len() - before.len());
    let new = tables_to_bytes(tables);
    let mut new = &new[..];
    leb128::read(&mut new)?;
    if shape.tables {
        leb128::read(&mut old)?;
    }
    shape.tables = true;
    let mut size = Vec::new();
    leb128::write(old.len() + new.len(), &mut size);
    let payload = [before, &size, old, new, behind].concat();
    header.coded_size = payload.len() as u64;
    header.payload_checksum = crc32fast::hash(&payload);
    Ok((header.to_bytes(), payload))
}

/// Records_Before, Continued and Residues of each of `blocks` blocks, read from the table
/// Sequences.
pub fn sequences_table(content: &[u8], blocks: usize) -> Result<Vec<[u64; 3]>, Flaw> {
    let blocks = SequencesTable::from_bytes(content, blocks)?
        .blocks
        .into_iter();
    Ok(blocks
        .map(|block| [block.records_before, block.continued, block.residues])
        .collect())
}

/// Reads the table Sequences of `blocks` blocks and writes it again.
pub fn sequences(content: &[u8], blocks: usize) -> Result<Vec<u8>, Flaw> {
    SequencesTable::from_bytes(content, blocks).map(|table| table.to_bytes())
}

/// Reads the table Records of a frame of FASTA or FASTQ.
pub fn records_table(content: &[u8], kind: Kind) -> Result<Vec<ListedRecord>, Flaw> {
    read_records(content, kind)
}

/// Reads the table Members of a frame of `raw_size` raw bytes.
pub fn members_table(content: &[u8], raw_size: u64) -> Result<Vec<Member>, Flaw> {
    PlainMembers::from_content(content, u64::MAX)?.members(raw_size)
}

/// Builds the table Members, if a table can hold these members.
pub fn members_content(members: &[Member]) -> Option<Vec<u8>> {
    let mut columns = MemberColumns::default();
    members
        .iter()
        .try_for_each(|member| columns.add(member))?;
    columns.table(u64::MAX)
}

/// Reads the table Members and writes it again. A table that nothing writes is accepted if it
/// cannot be written.
pub fn members(content: &[u8], raw_size: u64) -> Result<Vec<u8>, Flaw> {
    let members = members_table(content, raw_size)?;
    Ok(members_content(&members).unwrap_or_else(|| content.to_vec()))
}

/// The members that a walk over a tar archive finds, and whether it is whole.
pub fn walk_tar(raw: &[u8]) -> (Vec<Member>, bool) {
    let mut walk = TarWalk::default();
    let mut members = Vec::new();
    let size = raw.len() as u64;
    walk.feed(
        0..size,
        |at, out| out.copy_from_slice(&raw[at..at + out.len()]),
        |found| {
            members.push(found.member);
            true
        },
    );
    (members, walk.finish(size) == End::Whole)
}

/// Builds the table Records of a frame of FASTA or FASTQ.
pub fn records_content(records: &[ListedRecord], kind: Kind) -> Option<Vec<u8>> {
    records_to_bytes(records, kind)
}

/// Reads the table Records and writes it again.
pub fn records(content: &[u8], kind: Kind) -> Result<Vec<u8>, Flaw> {
    let records = read_records(content, kind)?;
    records_to_bytes(&records, kind).ok_or(Flaw("a table that was read cannot be written"))
}

/// The size of the tables at the front of `bytes`, found by reading them and by skipping them.
pub fn tables(bytes: &[u8]) -> [Option<u64>; 2] {
    let ways = [
        check_tables(&mut &*bytes),
        pass_tables(&mut Cursor::new(bytes)),
    ];
    ways.map(|size| size.ok().and_then(Result::ok))
}

/// Codes a block in slices of up to `bytes` bytes, with an index or without.
pub fn sliced_block(raw: &[u8], coding: Coding, bytes: usize, indexed: bool) -> Result<BlockBytes> {
    let limits = SliceLimits {
        runs: usize::MAX,
        bytes,
    };
    let form = BlockForm {
        coding,
        limits,
        indexed,
        spares_samples: false,
    };
    let filtered = Filtered::unchanged(raw.to_vec());
    let bwt = Sorter::Cpu.sort(raw, 8)?;
    let raw_size = raw.len();
    let checksum = crc32fast::hash(raw);
    let place = BlockPlace {
        number: 0,
        offset: 0,
        alone: true,
    };
    let block = FilteredBlock {
        filtered,
        sequences: None,
        place,
        raw_size,
        checksum,
        line_feeds: 0,
    };
    let block = encode::code(
        block,
        Sorted::Bwt(bwt),
        form,
        Executor::CALLING,
        &Spare::default(),
    )?;
    Ok((block.header.to_bytes(), block.payload))
}

/// Restores a block's raw bytes.
pub fn restore(block: BlockBytes) -> Result<Vec<u8>> {
    let (header, payload) = block;
    let header = BlockHeader::from_bytes(&header)?;
    let plan = Options::new()
        .memory(u64::MAX)
        .plan_to_decode(header.raw_size)?;
    decode::restore(
        CodedBlock {
            header,
            payload,
            sequences: None,
            front_size: 0,
            index_size: 0,
            line_feeds: 0,
            needed: NEEDED,
            number: 0,
            offset: 0,
        },
        &plan,
    )
}

/// A job for which an indexed block stays on disk.
const STAYS_ON_DISK: BlockJob = BlockJob {
    task: Task::LookUp,
    room: 0,
    listener: None,
};

/// Locates `pattern` in a block that stays on disk, even if it has few slices. `None` if the block
/// has no index.
pub fn locate_on_disk(
    Archive {
        input,
        options,
        contents,
        ..
    }: &mut Archive<Cursor<&[u8]>>,
    number: usize,
    pattern: &[u8],
    limit: usize,
) -> Result<Option<Vec<u64>>> {
    let file = Mutex::new(input);
    let input = SharedInput::new(&file);
    let file = FileBlock::new(&input, &contents.blocks[number], number as u64, options);
    let block = ByteBlock { file };
    let opened = OpenBlock::open(&block, STAYS_ON_DISK)?;
    let OpenBlock::Indexed(OpenIndex::OnDisk(block)) = opened else {
        return Ok(None);
    };
    let rows: Vec<u64> = block
        .intervals(&[pattern])?
        .remove(0)
        .take(limit)
        .collect();
    block.positions(&rows).map(Some)
}

/// Locates `pattern` in the indexed blocks of sequences, which stay on disk, and reads the header
/// lines of some records. Returns raw offsets.
pub fn find_sequences(
    Archive {
        input,
        options,
        contents,
        layouts,
        ..
    }: &mut Archive<Cursor<&[u8]>>,
    pattern: &[u8],
    limit: usize,
) -> Result<Vec<u64>> {
    let file = Mutex::new(input);
    let input = SharedInput::new(&file);
    let mut all = Vec::new();
    let sections = search::sections(&input, contents, options, &Layouts::default())?;
    for section in sections.iter().filter_map(Section::sequences) {
        let mut found = Vec::new();
        for block in &section.blocks {
            let opened = OpenBlock::open(block, STAYS_ON_DISK)?;
            let OpenBlock::Indexed(OpenIndex::OnDisk(index)) = &opened else {
                continue;
            };
            let rows: Vec<u64> = index
                .intervals(&[pattern])?
                .remove(0)
                .take(limit)
                .collect();
            let positions = index.positions(&rows)?.into_iter();
            found.extend(positions.map(|at| block.section_range().start + at));
            let layout = block.layout()?;
            for record in (0..limit).map_while(|number| layout.record(number)) {
                search::text_range(&opened, record.header)?;
            }
        }
        let mut found = [found];
        section.raw_offsets(&mut found, layouts)?;
        all.extend(found.into_iter().flatten());
    }
    Ok(all)
}

/// Options by which blocks of any size are done like blocks whose positions do not fit in 32 bits.
pub fn wide(mut options: Options) -> Options {
    options.run.narrow = NarrowLimits::LOWEST;
    options
}

/// Restores the block of a transform of any size with rows of 40 bits.
pub fn invert_wide(bwt: Bwt) -> Result<Vec<u8>> {
    CpuInverse::new(NarrowLimits::LOWEST).invert(bwt)
}

/// Sorts a block of any size like one whose positions do not fit in 32 bits: in parts that are
/// sorted by libsais64 and merged.
pub fn sort_wide(block: &[u8], sample_rate: u32, lane_len: usize) -> Result<Bwt> {
    let narrow = NarrowLimits::LOWEST;
    let limits = MergeLimits {
        lane_len,
        narrow,
        ..MergeLimits::LOWEST
    };
    let part = |part: &[u8], rate| CpuSorter::with(narrow).sort_on_one_thread(part, rate);
    merge::sort(block, sample_rate, 1, limits, part)
}

/// Sorts a text of any size on the GPUs of all ranks.
pub fn sort_by_ranks(ranks: &Ranks, text: &[u8], sample_rate: u32) -> Result<gpu::SortedText> {
    ranks.sort(text, sample_rate)
}

/// Sorts a block by libsais alone.
pub fn sort_by_libsais(block: &[u8], sample_rate: u32) -> Result<Bwt> {
    CpuSorter::new().sort_on_one_thread(block, sample_rate)
}

/// Sorts a text by accelerated sampling on all GPUs of `sorter`.
pub fn sort_by_sampling(
    sorter: &mut gpu::JointSorter,
    text: &[u8],
    sample_rate: u32,
) -> Result<gpu::SortedText> {
    gpu_doors::sort_by_sampling(sorter, text, sample_rate)
}

/// Creates a sorter for LCP arrays on GPU `number`, which sorts by a published algorithm. `bsp` is
/// refused.
pub fn open_for_lcp(algorithm: PaperAlgorithm, number: u32) -> Result<gpu::GpuLcpSorter> {
    gpu_doors::open_for_lcp(algorithm, number)
}

/// Sorts a block of any size by prefix-free parsing. `None` if it has no phrases.
pub fn sort_phrases(block: &[u8], sample_rate: u32, spacing: u32) -> Result<Option<Bwt>> {
    prefix_free::sort(block, sample_rate, spacing, ParsingLimits::LOWEST)
}

/// Sorts a block of any size in parts that are merged, for `threads` threads.
pub fn sort_merged(block: &[u8], sample_rate: u32, threads: usize, lane_len: usize) -> Result<Bwt> {
    let limits = MergeLimits {
        lane_len,
        ..MergeLimits::LOWEST
    };
    let part = |part: &[u8], rate| CpuSorter::new().sort_on_one_thread(part, rate);
    merge::sort(block, sample_rate, threads, limits, part)
}

/// Applies the filters that suit `block`, on the threads of a pool to which the caller does not
/// belong.
pub fn filter_on(pool: Arc<ThreadPool>, block: Vec<u8>) -> Result<Filtered, Flaw> {
    let pool = Threads::Pool(pool);
    let filtered = crate::filter::filter_but_last(block, EarlierChoices::default(), &pool)?;
    crate::filter::deduplicate(filtered, &pool)
}

/// The slots of `block`, if it consists of lines of fields. Uses the threads of a pool to which the
/// caller does not belong.
pub fn choose_fields(pool: Arc<ThreadPool>, block: &[u8]) -> Result<Option<Tokens>, Flaw> {
    Ok(fields::choose(block, &Threads::Pool(pool))?.and_then(Chosen::slots))
}

/// Takes `block` apart by these slots, if that makes it smaller. Uses the threads of a pool to
/// which the caller does not belong.
pub fn take_fields_apart_on(
    pool: Arc<ThreadPool>,
    block: &[u8],
    tokens: Tokens,
) -> Result<Option<Filtered>, Flaw> {
    let apart = fields::take_apart(block, tokens, &Threads::Pool(pool))?;
    Ok(apart.map(|Apart { text, side, .. }| Filtered::by(FIELDS, text, side)))
}

/// Undoes the filters on the threads of a pool to which the caller does not belong.
pub fn undo_on(pool: Arc<ThreadPool>, filtered: Filtered, size: usize) -> Result<Vec<u8>, Flaw> {
    crate::filter::undo_on(filtered, size, &Threads::Pool(pool), |_| Ok(u64::MAX))
}

/// Takes `block` apart as FASTA or FASTQ, whatever its content. The text may be larger than the
/// block. Refuses a layout with more entries than a block may have.
pub fn separate_sequences(block: &[u8], is_fastq: bool) -> Result<Filtered, Flaw> {
    let kind = if is_fastq {
        sequence::Kind::Fastq
    } else {
        sequence::Kind::Fasta
    };
    let start = sequence::LineState::guess(block, kind);
    let (text, layout) = sequence::split(block, kind, start)?;
    if !layout.is_small() {
        return Err(Flaw("the layout of the block's sequences is too large"));
    }
    let mut side = Vec::new();
    layout.write(&mut side);
    Ok(Filtered::by(SEQUENCES, text, side))
}

/// Takes `block` apart as lines of fields, whatever its content, if that makes it smaller.
/// `delimiter` 0 means by words that hold a digit; `+` by these words and by merged templates; `@`
/// by the records of FASTQ; any other byte is the delimiter itself.
pub fn take_fields_apart(block: &[u8], delimiter: u8) -> Result<Option<Filtered>, Flaw> {
    let tokens = match delimiter {
        0 => Tokens::Words,
        b'+' => Tokens::MergedWords,
        b'@' => Tokens::Reads,
        _ => Tokens::Fields(delimiter),
    };
    let apart = fields::take_apart(block, tokens, &Threads::Calling)?;
    Ok(apart.map(|Apart { text, side, .. }| Filtered::by(FIELDS, text, side)))
}

/// Changes `text` as a region of the kind that `kind` holds in stored form.
pub fn change_region(mut text: Vec<u8>, mut kind: &[u8]) -> Result<Filtered, Flaw> {
    let region = FilterRegion {
        size: text.len(),
        kind: regions::RegionKind::read(&mut kind)?,
    };
    let mut side = Vec::new();
    regions::encode(&mut text, &[region], &mut side, &Threads::Calling)?;
    Ok(Filtered::by(REGIONS, text, side))
}

/// Takes repeats out of `text`, if any are worth it.
pub fn take_out_repeats(mut text: Vec<u8>) -> Result<Option<Filtered>, Flaw> {
    let found = match_finder::find(&text, &Threads::Calling)?;
    let mut side = Vec::new();
    let Some(found) = found else { return Ok(None) };
    matches::encode(&mut text, &found, &mut side);
    Ok(Some(Filtered::by(MATCHES, text, side)))
}
