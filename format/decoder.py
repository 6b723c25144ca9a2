#!/usr/bin/env python3
"""A reference decoder of the bwz format, written from FORMAT.md alone.

    python3 decoder.py FILE > RAW         or         ... | python3 decoder.py > RAW

It is meant to be read beside FORMAT.md and follows its order and its words. Numbers such as 14.3
are sections of that page, and R01 to R32 and U01 to U06 are the numbers of chapter 16. It reads in
order, as from a pipe (section 7.1), and gives out the bytes of a block once its Raw_Checksum was
checked. It checks everything but the tables Sequences and Records, which no restored bytes depend
on. It favours clarity: expect about 100 KB per second, and some 10 bytes of memory per byte of a
block. `checks.py` beside it has the two digests of section 5.3.

Exit status: 0 decoded; 1 the file uses something unsupported (U01 to U06), or is of another version
(R02); 2 the file is damaged (the other numbers); 3 the file could not be read, or the output not
written. Raw bytes before what is unsupported or damaged are written.
"""

import array
import bisect
import collections
import math
import os
import struct
import sys
import zlib

from checks import Blake3, Xxh3


# 1. Conventions


class Problem(Exception):
    """Chapter 1: why a file is not decoded to its end, with a number of chapter 16."""

    def __init__(self, number, what):
        super().__init__("%s (%s)" % (what, number))
        self.number = number


class Damaged(Problem):
    """Chapter 1: the file breaks a rule and must be rejected."""


class Unsupported(Problem):
    """Section 1.2: an id is unknown that must be known; or, with R02, so is the Version."""


def require(held, number, what):
    """Chapter 1: if a rule is broken, rejects the file with this number of chapter 16."""
    if not held:
        raise Damaged(number, what)


def crc_holds(data):
    """Chapter 1: true if the last four bytes are the CRC-32 of those before them."""
    return zlib.crc32(data[:-4]) == int.from_bytes(data[-4:], "little")


def field(data, at, size):
    """Chapter 1: the field of `size` bytes at `at`."""
    return int.from_bytes(data[at:at + size], "little")


def lg(x):
    """Chapter 1: the largest k with 2^k <= x."""
    return x.bit_length() - 1


def clamp(x, low, high):
    """Chapter 1: x, or the nearer limit."""
    return max(low, min(x, high))


class Fields:
    """Fields one after the other. What ends after the data is rejected with this number."""

    def __init__(self, data, number="R28"):
        self.data, self.at, self.number = data, 0, number

    def take(self, size):
        """The next `size` bytes."""
        require(self.at + size <= len(self.data), self.number, "a field that ends after its part")
        self.at += size
        return self.data[self.at - size:self.at]

    def byte(self):
        """A field of 1 byte."""
        return self.take(1)[0]

    def line(self, end_byte=b"\n"):
        """The bytes before the next `0A`, or another byte, which is skipped."""
        end = self.data.find(end_byte, self.at)
        require(end >= 0, self.number, "a line of the filter fields without its end")
        start, self.at = self.at, end + 1
        return self.data[start:end]

    def varint(self):
        """Section 1.1."""
        return read_varint(self.byte, self.number)

    def column(self, count):
        """Section 8.3."""
        least, width = self.varint(), self.byte()
        require(width <= 40, "R14", "a Column of Width %d" % width)
        values = unpack(self.take((count * width + 7) // 8), width, count)
        require(least + max(values) < 1 << 40, "R14", "an integer of 2^40 or more in a Column")
        return [least + value for value in values]

    def is_done(self):
        """True if nothing is left."""
        return self.at == len(self.data)


def read_varint(next_byte, number):
    """Section 1.1: a varint."""
    value = 0
    for shift in range(0, 42, 7):
        byte = next_byte()
        value |= (byte & 127) << shift
        if byte < 128:
            break
    require(byte < 128 and value < 1 << 40, number, "a varint that is too large")
    return value


class Reader:
    """The file as a pipe: its bytes in order, and the number of bytes read."""

    def __init__(self, file):
        self.file, self.offset = file, 0

    def up_to(self, size):
        """The next `size` bytes, or fewer at the end of the file.

        They are read in steps, so that a damaged size asks for no memory.
        """
        data = bytearray()
        while len(data) < size:
            part = self.file.read(min(size - len(data), 1 << 20))
            if not part:
                break
            data += part
        self.offset += len(data)
        return bytes(data)

    def exactly(self, size, what):
        """The next `size` bytes."""
        data = self.up_to(size)
        require(len(data) == size, "R23", "the file ends within %s" % what)
        return data

    def varint(self, number, what):
        """A varint and its bytes as stored."""
        stored = bytearray()

        def next_byte():
            stored.extend(self.exactly(1, what))
            return stored[-1]

        value = read_varint(next_byte, number)
        return value, bytes(stored)


# 2. Overview

MAGIC = bytes.fromhex("F762777A")
SYNC_MARKER = bytes.fromhex("B5E17A962CD40F83")
SEEK_MARKER = bytes.fromhex("B5E17A96D32BF07C")
FOOTER_MAGIC = bytes.fromhex("7A7762F7")


def decode_file(reader, give_out):
    """Chapter 2, section 7.1: one or more frames, one directly after the other."""
    header = reader.up_to(23)
    require(header, "R01", "a file of 0 bytes is not a bwz file")
    require(MAGIC.startswith(header[:4]), "R01", "not a bwz file")
    while header:
        decode_frame(reader, header, give_out)
        header = reader.up_to(23)
        if header[:1] == b"\0":
            pass_padding(reader, header)
            return
        is_magic = MAGIC.startswith(header[:4])
        require(is_magic, "R24", "bytes after the last Footer that are not a frame")


def pass_padding(reader, part):
    """Section 7.1: skips zeros up to the end of the file, which begin with `part`."""
    while part:
        require(not any(part), "R24", "padding with bytes that are not zero")
        part = reader.up_to(1 << 16)


def decode_frame(reader, data, give_out):
    """Chapter 2: Frame_Header (which was read already), blocks, Seek_Table and Tables, Footer."""
    frame_start = reader.offset - len(data)
    header = read_frame_header(data)
    if header.frame_kind != 0:
        pass_frame(reader, header)
        return
    announced = read_header_tables(reader) if header.has_tables else None
    blocks = []
    raw_size, stream_checksum, check = 0, 0, CHECKS.get(header.check_type, NoCheck)()
    while True:
        marker = reader.exactly(8, "a frame, where a block or the Seek_Table must stand")
        if marker == SEEK_MARKER:
            break
        what = "neither a block nor the Seek_Table at %d" % (reader.offset - 8)
        require(marker == SYNC_MARKER, "R06", what)
        require(header.block_size > 0, "R05", "Block_Size is 0 in a frame with blocks")
        raw, block = decode_block(reader, header, raw_size)
        give_out(raw)
        blocks.append(block)
        raw_size += len(raw)
        stream_checksum = zlib.crc32(raw, stream_checksum)
        check.update(raw)
    is_0 = header.block_size == 0
    require(blocks or is_0, "R05", "Block_Size is not 0 in a frame without blocks")
    seek_table_start = reader.offset - 8
    has_tables = read_seek_table(reader, blocks)
    tables = read_tables(reader) if has_tables else {}
    check_stream_check(header.check_type, check, tables.get(STREAM_CHECK))
    seek_table_size = reader.offset - seek_table_start
    frame_size = reader.offset - frame_start + 36
    features = 0
    for block in blocks:
        features |= block.features
    read_footer(reader, (raw_size, seek_table_size, features, stream_checksum, frame_size), header)
    what = "a Total_Raw_Size of %s in Frame_Header, and of %d in Footer" % (announced, raw_size)
    require(announced in (None, raw_size), "R22", what)


# 3. Frame_Header

VERSION = 128 + 18
FrameHeader = collections.namedtuple("FrameHeader", (
    "frame_kind", "has_tables", "check_type", "features", "block_size"))

# Bits of Features.
STATIC_RANS, CONTEXT_MIXING, WIDE, INDEX = 1 << 0, 1 << 1, 1 << 6, 1 << 16
FILTER_FEATURES = {1: 1 << 2, 2: 1 << 3, 3: 1 << 4, 4: 1 << 5}  # of each Filter_Id
OTHER = 1 << 15  # of ids that have no bit of their own, which all known ids have
KNOWN_FEATURES = sum(FILTER_FEATURES.values(), STATIC_RANS | CONTEXT_MIXING | WIDE | OTHER | INDEX)

# Types of tables (section 8.2).
TOTAL_RAW_SIZE, METADATA, INDEX_TABLE, STREAM_CHECK = 0x8010, 0x8011, 0x8020, 0x8003


def read_frame_header(header):
    """Chapter 3: the fields. Another version may change all but Magic and Version."""
    if len(header) > 4 and header[4] != VERSION:
        what = "this is of %s of the format, and only draft 18 is known" % version_name(header[4])
        raise Unsupported("R02", what)
    require(len(header) == 23, "R23", "the file ends within a Frame_Header")
    require(crc_holds(header), "R03", "wrong Header_Checksum of a Frame_Header")
    frame_kind, flags, check_type = header[5:8]
    if frame_kind == 0:
        require(flags <= 1, "R04", "a Reserved bit of a Frame_Header is set")
    elif frame_kind == 128:
        require(not any(header[6:10]), "R04", "a Reserved field of a private frame is not 0")
    elif frame_kind < 128:
        raise Unsupported("U01", "a frame of Frame_Kind %d%s" % (frame_kind, needed(header)))
    if frame_kind == 0 and 1 <= check_type <= 127:
        raise Unsupported("U06", "a frame of Check_Type %d%s" % (check_type, needed(header)))
    features, block_size = field(header, 10, 4), field(header, 14, 5)
    return FrameHeader(frame_kind, flags & 1, check_type, features, block_size)


def version_name(version):
    """Chapter 3, Version."""
    if version == 1:
        return "draft 8 or an earlier one"
    return "draft %d" % (version - 128) if version >= 128 else "version %d" % version


def needed(header):
    """Chapter 3, Needed_Release, for a message."""
    minor, major = header[8:10]
    return ", which needs bwz %d.%d" % (major, minor) if minor or major else ""


def read_header_tables(reader):
    """Chapter 3: the Tables of a Frame_Header. Returns Total_Raw_Size, or None."""
    tables = read_tables(reader)
    if METADATA in tables and not is_metadata(tables[METADATA]):
        print("decoder.py: warning: Metadata that are malformed are passed over", file=sys.stderr)
    if TOTAL_RAW_SIZE not in tables:
        return None
    content = tables[TOTAL_RAW_SIZE]
    require(len(content) == 7, "R22", "a table Total_Raw_Size of %d bytes" % len(content))
    return field(content, 0, 7)


def is_metadata(content):
    """Chapter 3: true if this is pairs of keys and values. No raw byte depends on them."""
    fields = Fields(content)
    if not content or len(content) > 1 << 16:
        return False
    try:
        while not fields.is_done():
            key = fields.take(fields.varint()).decode()
            fields.take(fields.varint()).decode()
            is_key = 1 <= len(key.encode()) <= 255 and "=" not in key
            if not is_key or any(ord(c) < 32 or 127 <= ord(c) < 160 for c in key):
                return False
    except (Damaged, UnicodeDecodeError):
        return False
    return True


def pass_frame(reader, header):
    """Section 3.1: passes over a frame without raw bytes."""
    left, checksum = header.block_size, 0  # which is Content_Size here
    while left > 0:
        content = reader.exactly(min(left, 1 << 20), "the Content of a frame")
        checksum = zlib.crc32(content, checksum)
        left -= len(content)
    read_footer(reader, (0, 0, 0, checksum, 23 + header.block_size + 36), header)


# 4. Block

HAS_FILTERS, HAS_TABLES, INDEXED = 1, 2, 4  # bits of Flags
BlockHeader = collections.namedtuple("BlockHeader", (
    "block_kind", "coding", "flags", "sample_rate_log", "raw_size", "coded_size",
    "raw_checksum", "raw_offset", "payload_checksum"))

# What the Seek_Table and the Footer say of a block (chapters 5 and 6).
Block = collections.namedtuple("Block", (
    "shape", "raw_size", "size", "front_size", "line_feeds", "features"))


def decode_block(reader, frame_header, raw_offset):
    """Section 4.2: returns the raw bytes of a block, and its Block. Its Sync_Marker was read."""
    header, head = read_block_header(reader, frame_header.block_size)
    what = "a Raw_Offset of %d instead of %d" % (header.raw_offset, raw_offset)
    require(header.raw_offset == raw_offset, "R12", what)
    where = "of the block at raw byte %d" % raw_offset
    payload = reader.exactly(header.coded_size, "the payload " + where)
    payload_holds = zlib.crc32(payload) == header.payload_checksum
    require(payload_holds, "R13", "wrong Payload_Checksum " + where)
    if header.block_kind > 1:
        raise Unsupported("U02", "a Block_Kind of %d %s" % (header.block_kind, where))
    if header.coding > 1:
        raise Unsupported("U03", "a Coding of %d %s" % (header.coding, where))
    filters, filters_end = [], 0
    if header.flags & HAS_FILTERS:
        filters, filters_end = read_filter_list(Fields(payload), header.raw_size)
    features = features_of(header, filters)
    lacks = features & ~frame_header.features
    require(lacks == 0, "R31", "Features of a Frame_Header that lack %x %s" % (lacks, where))
    raw, front_size = payload, 0
    if header.block_kind == 1:
        raw, front_size = decode_payload(payload, header, filters, filters_end)
    require(zlib.crc32(raw) == header.raw_checksum, "R18", "wrong Raw_Checksum " + where)
    shape = head[8:12]
    if filters:
        shape += bytes([len(filters)] + [entry.filter_id for entry in filters])
    size = 41 + header.coded_size
    front_size = 41 + front_size if header.flags & INDEXED else 0
    return raw, Block(shape, len(raw), size, front_size, raw.count(b"\n"), features)


def read_block_header(reader, block_size):
    """Chapter 4: a Block_Header after its Sync_Marker. Returns it and its bytes."""
    data = SYNC_MARKER + reader.exactly(33, "a Block_Header")
    what = "wrong Header_Checksum of a Block_Header at %d" % (reader.offset - 41)
    require(crc_holds(data), "R07", what)
    numbers = [field(data, at, size) for at, size in ((12, 5), (17, 5), (22, 4), (26, 7), (33, 4))]
    header = BlockHeader(*data[8:12], *numbers)
    require(header.block_kind < 128, "R08", "a block of Block_Kind %d" % header.block_kind)
    what = "a Raw_Size of %d, where Block_Size is %d" % (header.raw_size, block_size)
    require(1 <= header.raw_size <= block_size, "R10", what)
    require(header.coded_size > 0, "R11", "a Coded_Size of 0")
    if header.block_kind == 0:
        require(not any(data[9:12]), "R04", "a Reserved field of a stored block is set")
        is_raw_size = header.coded_size == header.raw_size
        require(is_raw_size, "R11", "a Coded_Size that is not Raw_Size in a stored block")
    if header.block_kind == 1:
        require(header.coding < 128, "R09", "a Coding of %d" % header.coding)
        if header.coding <= 1:
            check_bwt_header(header)
    return header, data


def check_bwt_header(header):
    """Chapter 4: the fields of a bwt block of a known Coding."""
    is_known = header.flags <= HAS_FILTERS | HAS_TABLES | INDEXED
    require(is_known, "R04", "a Reserved bit of a Block_Header is set")
    has_both = not header.flags & INDEXED or header.flags & HAS_TABLES
    require(has_both, "R04", "an Indexed block without Tables")
    in_range = 3 <= header.sample_rate_log <= largest_sample_rate_log(header.raw_size)
    require(in_range, "R09", "a Sample_Rate_Log of %d" % header.sample_rate_log)
    require(header.coded_size < header.raw_size, "R11", "a Coded_Size not less than Raw_Size")


def largest_sample_rate_log(text_size):
    """Chapter 4, Sample_Rate_Log."""
    return max(16, (text_size - 1).bit_length() - 7)


def features_of(header, filters):
    """Chapter 3: the bits of Features that a block uses."""
    features = WIDE if header.raw_size > 1 << 28 else 0
    if header.block_kind == 1:
        features |= CONTEXT_MIXING if header.coding == 1 else STATIC_RANS
        features |= INDEX if header.flags & INDEXED else 0
    for entry in filters:
        features |= FILTER_FEATURES[entry.filter_id]
    return features


def decode_payload(payload, header, filters, at):
    """Section 4.1: the raw bytes of a payload of Block_Kind bwt, and the end of its front. The
    fields after Filter_List are at `at`."""
    ids = [entry.filter_id for entry in filters]
    fits = not header.flags & INDEXED or ids in ([], [1])
    require(fits, "R04", "an Indexed block with filters other than sequences alone")
    text_size = filters[-1].filtered_size if filters else header.raw_size
    fits = header.sample_rate_log <= largest_sample_rate_log(text_size)
    require(fits, "R28", "a Text_Size of %d" % text_size)
    sizes, tables_start = read_sizes(payload, at, text_size, header.coding)
    tables, models_start = {}, tables_start
    if header.flags & HAS_TABLES:
        tables, models_start = check_tables(payload, tables_start, len(payload))
    models_end = models_start + sizes.models
    require(models_end <= len(payload), "R15", "Models that end after the payload")
    sample_rate = 1 << header.sample_rate_log
    samples, samples_end = read_packed_array(payload, models_end, -(-text_size // sample_rate))
    in_range = min(samples) >= 1 and max(samples) <= text_size
    require(in_range, "R16", "a sample of 0 or above Text_Size")
    slices_start = samples_end + sum(entry.side_size for entry in filters)
    require(slices_start <= len(payload), "R28", "a Side that ends after the payload")
    side = payload[samples_end:slices_start]
    sizes.coded.append(len(payload) - slices_start - sum(sizes.coded))
    require(sizes.coded[-1] >= 1, "R15", "Coded_Sizes that do not add up")
    fit = all(coded <= raw for coded, raw in zip(sizes.coded, sizes.raw))
    require(fit, "R15", "a slice of more coded bytes than bytes")
    models = payload[models_start:models_end]
    has_table = INDEX_TABLE in tables
    require(has_table == bool(header.flags & INDEXED), "R26", "an Index and a Flag that differ")
    index = None
    if has_table:
        parts = (payload[:tables_start] + models, payload[models_end:samples_end])
        index = read_index(tables[INDEX_TABLE], parts, sizes.raw, text_size)
        require(index.primary == samples[0], "R27", "a Primary_Index that is not Samples[0]")
    bwt = decode_slices(payload[slices_start:], models, sizes, header.coding, index)
    text = invert(bwt, samples, sample_rate)
    if index:
        check_searched(index, text, side if filters else None)
    return undo_filters(text, filters, side, header.raw_size), models_end


SliceSizes = collections.namedtuple("SliceSizes", ("raw", "models", "coded"))


def read_sizes(payload, at, text_size, coding):
    """Section 4.1: returns Raw_Sizes, Models_Size and Coded_Sizes, and the end of these fields.

    The raw size of the last slice is added here, its coded size by the caller.
    """
    (slice_count,), at = read_packed_array(payload, at, 1)
    in_range = 1 <= slice_count <= -(-text_size // 4096)
    require(in_range, "R15", "a Slice_Count of %d" % slice_count)
    raw, models, coded = [], 0, []
    if slice_count > 1:
        raw, at = read_packed_array(payload, at, slice_count - 1)
    raw.append(text_size - sum(raw))
    if coding == 0:
        (models,), at = read_packed_array(payload, at, 1)
        require(models >= 1, "R15", "a Models_Size of 0")
    if slice_count > 1:
        coded, at = read_packed_array(payload, at, slice_count - 1)
    fit = min(raw) >= 1 and min(coded, default=1) >= 1
    require(fit, "R15", "sizes of slices that are 0 or do not add up")
    require(max(raw) < 1 << 31, "R15", "a slice of more than 2^31 - 1 bytes")
    return SliceSizes(raw, models, coded), at


# 5. Seek_Table

SeekTable = collections.namedtuple("SeekTable", (
    "has_tables", "shapes", "shape_numbers", "raw_sizes", "stored_sizes", "front_sizes",
    "line_feeds"))


def read_seek_table(reader, blocks):
    """Chapter 5: a Seek_Table after its Seek_Marker, which must match these blocks.

    Returns whether Tables follow.
    """
    size, stored_size = reader.varint("R20", "a Seek_Table")
    fits = size <= 64 + 64 * len(blocks)
    require(fits, "R20", "a Content_Size of %d for %d blocks" % (size, len(blocks)))
    checksum = field(reader.exactly(4, "a Seek_Table"), 0, 4)
    content = reader.exactly(size, "a Seek_Table")
    holds = zlib.crc32(stored_size + content) == checksum
    require(holds, "R19", "wrong Checksum of a Seek_Table")
    table = read_seek_content(content, len(blocks))
    number_of = {}  # the number of each shape, in the order of first use
    numbers = [number_of.setdefault(block.shape, len(number_of)) for block in blocks]
    is_same = table.shapes == list(number_of) and table.shape_numbers == numbers
    require(is_same, "R20", "Shapes that are not those of the blocks")
    others = blocks[:-1]
    is_same = table.raw_sizes == [block.raw_size for block in others]
    require(is_same, "R20", "Raw_Sizes that are not those of the blocks")
    is_same = table.stored_sizes == [block.size for block in others]
    require(is_same, "R20", "Stored_Sizes that are not those of the blocks")
    is_same = table.front_sizes == [block.front_size for block in blocks]
    require(is_same, "R20", "Front_Sizes that are not those of the blocks")
    is_same = table.line_feeds in (None, [block.line_feeds for block in blocks])
    require(is_same, "R20", "Line_Feeds that are not those of the blocks")
    return table.has_tables


def read_seek_content(content, block_count):
    """Chapter 5: Content of a Seek_Table after so many blocks."""
    fields = Fields(content, "R20")
    count, flags = fields.varint(), fields.byte()
    what = "a Block_Count of %d after %d blocks" % (count, block_count)
    require(count == block_count, "R20", what)
    require(flags <= 3, "R04", "a Reserved bit of a Seek_Table is set")
    has_line_feeds, has_tables = flags & 1, flags >> 1
    if count == 0:
        require(not has_line_feeds, "R20", "Line_Feeds without blocks")
        require(fields.is_done(), "R20", "bytes after the last field of a Seek_Table")
        return SeekTable(has_tables, [], [], [], [], [], None)
    shape_count = fields.varint()
    require(1 <= shape_count <= count, "R20", "a Shape_Count of %d" % shape_count)
    shapes = [read_shape(fields) for _ in range(shape_count)]
    numbers = fields.column(count) if shape_count > 1 else [0] * count
    raw_sizes = fields.column(count - 1) if count > 1 else []
    stored_sizes = fields.column(count - 1) if count > 1 else []
    front_sizes = fields.column(count) if any(map(is_indexed, shapes)) else [0] * count
    line_feeds = fields.column(count) if has_line_feeds else None
    require(fields.is_done(), "R20", "bytes after the last field of a Seek_Table")
    return SeekTable(has_tables, shapes, numbers, raw_sizes, stored_sizes, front_sizes, line_feeds)


def read_shape(fields):
    """Chapter 5: a shape."""
    shape = fields.take(4)
    block_kind, coding, flags, _ = shape
    if block_kind == 1 and coding <= 1 and flags & HAS_FILTERS:
        count = fields.take(1)
        shape += count + fields.take(count[0])
    return shape


def is_indexed(shape):
    """Chapter 5: true if the blocks of a shape are Indexed."""
    return shape[0] == 1 and shape[1] <= 1 and shape[2] & INDEXED != 0


def read_records_table(content, fastq):
    """Section 5.2: the table Records of a frame, as the lines of a .fai file; None if Form is zstd.

    Raises Damaged or ValueError if it is malformed. No restored bytes depend on it.
    """
    if content[0] == 1:
        return None
    fields = Fields(content[1:])
    count = fields.varint()
    if not 1 <= count <= 65536:
        raise ValueError("a table of records with a Record_Count of %d" % count)
    names = [fields.line() for _ in range(count)]
    columns = [[fields.varint() for _ in range(count)] for _ in range(6 if fastq else 5)]
    if not fields.is_done():
        raise ValueError("a table of records that goes on behind its columns")
    records, end = [], 0
    for name, (length, bases, line_end, gap, *qualities, irregular) in zip(names, zip(*columns)):
        if bases > length or irregular > 1:
            raise ValueError("a record of %d residues in lines of %d" % (length, bases))
        lines = length + (line_end * -(-length // bases) if bases else 0)
        offset = end + unfold(gap)
        record = [name, length, offset, bases, bases + line_end]
        end = offset + lines
        if fastq:
            record.append(end + 1 + line_end + unfold(qualities[0]))
            end = record[-1] + lines
        records.append(tuple(record))
    return records


def read_members_table(content, raw_size):
    """Section 5.4: the table Members of a frame, as the rows of a table; None if Form is zstd.

    A row is name, link, user, group, kind, mode, size, offset, begin and end of the content, time.
    Raises Damaged or ValueError if it is malformed. No restored bytes depend on it.
    """
    if not content or content[0] > 1:
        raise ValueError("a table of members of an unknown Form")
    if content[0] == 1:
        return None
    fields = Fields(content[1:])
    count = fields.varint()
    if not 1 <= count <= 1 << 20:
        raise ValueError("a table of members with a Member_Count of %d" % count)
    strings = [[fields.line(b"\0") for _ in range(count)] for _ in range(4)]
    numbers = [[fields.varint() for _ in range(count)] for _ in range(7)]
    if not fields.is_done():
        raise ValueError("a table of members that goes on behind its columns")
    members, end, time = [], 0, 0
    for row in zip(*strings, *numbers):
        *names, kind, mode, size, stored, headers, gap, modified = row
        offset = end + 512 * gap
        begin = offset + 512 * (headers + 1)
        content_end = begin + size + unfold(stored)
        time = (time + unfold(modified) + 2**63) % 2**64 - 2**63
        if kind > 255 or content_end < begin or content_end > raw_size:
            raise ValueError("a member of kind %d that ends at %d" % (kind, content_end))
        members.append((*names, kind, mode, size, offset, begin, content_end, time))
        end = -(-content_end // 512) * 512
    return members


def unfold(number):
    """A difference that was folded (5.2)."""
    return number >> 1 if number % 2 == 0 else -(number + 1) // 2


class NoCheck:
    """Section 5.3: no second check of the raw stream, or one that is unknown."""

    def update(self, raw):
        """Does nothing."""


CHECKS = {128: Xxh3, 129: Blake3}  # of each Check_Type


def check_stream_check(check_type, check, content):
    """Section 5.3: the table Stream_Check of a frame, or None if it is not there."""
    if check_type == 0:
        require(content is None, "R32", "a table Stream_Check in a frame of Check_Type 0")
    elif check_type in CHECKS:
        require(content is not None, "R32", "a frame without its table Stream_Check")
        require(content == check.digest(), "R32", "a wrong digest in the table Stream_Check")


# 6. Footer


def read_footer(reader, due, header):
    """Chapter 6: a Footer, whose first five fields must be these."""
    footer = reader.exactly(36, "a Footer")
    require(footer[32:] == FOOTER_MAGIC, "R21", "wrong Footer_Magic")
    require(crc_holds(footer[:32]), "R21", "wrong Footer_Checksum")
    require(footer[27] == VERSION, "R22", "a Version of %d in a Footer" % footer[27])
    names = ("Total_Raw_Size", "Seek_Table_Size", "Features", "Stream_Checksum", "Frame_Size")
    sizes = (7, 5, 4, 4, 7)
    at = 0
    for name, size, is_due in zip(names, sizes, due):
        says, at = field(footer, at, size), at + size
        if name == "Features" and header.frame_kind == 0:
            is_right = says & KNOWN_FEATURES == is_due and says & ~header.features == 0
            require(is_right, "R31", "Features of %x that should be %x" % (says, is_due))
        else:
            require(says == is_due, "R22", "a %s of %d that should be %d" % (name, says, is_due))


# 8. Packed_Array, Tables and Column


def read_packed_array(payload, at, count):
    """Section 8.1: returns the values, at least one, and the end of the array."""
    require(at < len(payload), "R15", "a Packed_Array that ends after the payload")
    width = payload[at]
    require(1 <= width <= 40, "R14", "a Packed_Array of Width %d" % width)
    end = at + 1 + (count * width + 7) // 8
    require(end <= len(payload), "R15", "a Packed_Array that ends after the payload")
    return unpack(payload[at + 1:end], width, count), end


def unpack(data, width, count):
    """Section 8.1: Values of this Width, which is 0 for a Column whose integers are all equal."""
    if width == 0:
        return [0] * count
    values = []
    bits, bit_count = 0, 0  # bits of Values that are not in a value yet, and their number
    for byte in data:
        bits |= byte << bit_count
        bit_count += 8
        while bit_count >= width and len(values) < count:
            values.append(bits & ((1 << width) - 1))
            bits >>= width
            bit_count -= width
    require(bits == 0, "R14", "a bit after the last value of a Packed_Array or Column is set")
    return values


def read_tables(reader):
    """Section 8.2: reads the Tables of a frame. Returns Content of each, by Type."""
    size, stored_size = reader.varint("R29", "Tables")
    data = stored_size + reader.exactly(size, "Tables")
    return check_tables(data, 0, len(data))[0]


def check_tables(data, at, end):
    """Section 8.2: the Tables at `at`, which must fit before `end`. Returns Content of each, by
    Type, and their end."""
    fields = Fields(data[:end], "R29")
    fields.at = at
    size = fields.varint()
    tables_end = fields.at + size
    require(tables_end <= end, "R29", "Tables that end after the payload")
    require(size > 0, "R29", "Tables without a table")
    fields.data = data[:tables_end]
    tables = {}
    while not fields.is_done():
        start = fields.at
        type_ = field(fields.take(2), 0, 2)
        content_size = fields.varint()
        head = data[start:fields.at]
        checksum = field(fields.take(4), 0, 4)
        content = fields.take(content_size)
        holds = zlib.crc32(content, zlib.crc32(head)) == checksum
        require(holds, "R29", "a wrong Checksum of a table")
        require(type_ not in tables, "R29", "two tables of Type %04X" % type_)
        require(len(tables) < 256, "R29", "more than 256 tables")
        tables[type_] = content
    for type_ in tables:
        if type_ < 0x8000:
            raise Unsupported("U05", "a table of Type %04X, which must be known" % type_)
    return tables, tables_end


# 9. The BWT


def invert(bwt, samples, sample_rate):
    """Section 9.3: the text, by one walk from row 0, which must meet every sample on its way."""
    n, primary = len(bwt), samples[0]
    # L, with any byte at the primary index and at a row n + 1. A walk that comes to the sentinel
    # too early stays at row n + 1, which no sample is.
    symbols = bwt[:primary] + b"\0" + bwt[primary:] + b"\0"
    next_row = [1]  # of each byte: LF of the next row where L is that byte; at first C
    for c in range(255):
        next_row.append(next_row[c] + bwt.count(c))
    lf = array.array("I" if n + 1 < 1 << 32 else "Q", [0]) * (n + 2)
    for row, c in enumerate(symbols):
        lf[row] = next_row[c]
        if row != primary:
            next_row[c] += 1
    lf[primary] = lf[n + 1] = n + 1
    text = bytearray(n)
    row, end = 0, n
    for k in range(len(samples) - 1, -1, -1):
        start = k * sample_rate
        for position in range(end - 1, start - 1, -1):
            text[position] = symbols[row]
            row = lf[row]
        require(row == samples[k], "R18", "a walk that does not meet sample %d" % k)
        end = start
    return text


# 10. Index

Index = collections.namedtuple("Index", (
    "primary", "searched", "slice_checksums", "head", "tail", "counts"))


def read_index(content, parts, raw_sizes, text_size):
    """Section 10.1: Index. `parts` are what Front_Checksum and Samples_Checksum cover."""
    fields = Fields(content, "R26")
    for name, part in zip(("Front_Checksum", "Samples_Checksum"), parts):
        require(zlib.crc32(part) == field(fields.take(4), 0, 4), "R25", "a wrong " + name)
    primary, searched = (field(fields.take(5), 0, 5) for _ in range(2))
    require(searched <= text_size, "R28", "a Searched of %d" % searched)
    checksums = struct.unpack("<%dI" % len(raw_sizes), fields.take(4 * len(raw_sizes)))
    head, tail = (fields.take(min(searched, 128)) for _ in range(2))
    counts = read_counts(content[fields.at:], raw_sizes)
    return Index(primary, searched, checksums, head, tail, counts)


def read_counts(data, raw_sizes):
    """Section 10.2: Counts, which are for each byte that occurs its count in each slice."""
    fields = Fields(data, "R26")
    bitmap, omitted = fields.take(32), fields.byte()
    present = [c for c in range(256) if bitmap[c // 8] >> (c % 8) & 1]
    require(present, "R26", "Counts without a byte")
    require(omitted < len(present), "R26", "a row %d that is omitted" % omitted)
    omitted_byte = present[omitted]
    bits = CountBits(data[fields.at:])
    counts, left = {}, list(raw_sizes)
    for c in present:
        if c != omitted_byte:
            counts[c] = read_row(bits, raw_sizes)
            left = [size - count for size, count in zip(left, counts[c])]
            require(min(left) >= 0, "R27", "counts of more bytes than a slice has")
    counts[omitted_byte] = left
    bits.require_end()
    return counts


def read_row(bits, raw_sizes):
    """Section 10.2: the counts of one byte in all slices."""
    row, average, least = [], 16, 0
    while len(row) < len(raw_sizes):
        count = bits.number(lg(max(3 * average // 4, 1))) + least
        require(count <= raw_sizes[len(row)], "R27", "a count above the size of its slice")
        row.append(count)
        average, least = (average + count) // 2, 0
        if count == 0 and len(row) < len(raw_sizes):
            zeros = bits.number(0)
            require(zeros <= len(raw_sizes) - len(row), "R26", "zeros beyond the end of a row")
            row += [0] * zeros
            least = 1
    return row


class CountBits:
    """Section 10.2: the numbers of Counts. After the last byte all bits are 0."""

    def __init__(self, data):
        self.data, self.at = data, 0  # bits that were read

    def next_bits(self):
        """At least the next 61 bits, which are the most that a number has after its zeros."""
        return field(self.data, self.at // 8, 9) >> self.at % 8

    def number(self, order):
        """A number of this order."""
        next_bits = self.next_bits()
        zeros = lg(next_bits & -next_bits) if next_bits else 32
        require(zeros <= 31, "R26", "a number of Counts of more than 31 zeros")
        self.at += zeros + 1
        size = zeros + order
        low_bits = self.next_bits() % (1 << size)
        self.at += size
        return (1 << size) + low_bits - (1 << order)

    def require_end(self):
        """After the last number."""
        is_size = (self.at + 7) // 8 == len(self.data)
        require(is_size, "R26", "Counts with more or fewer bytes than their numbers")
        require(self.next_bits() == 0, "R26", "a bit after the last number of Counts is set")


def check_slice(index, k, coded, piece):
    """Section 10.1: checks slice `k` against Index."""
    require(zlib.crc32(coded) == index.slice_checksums[k], "R27", "a wrong Slice_Checksum")
    for c, counts in index.counts.items():
        require(counts[k] == piece.count(c), "R27", "a count that is not that of its slice")


def check_searched(index, text, side):
    """Section 10.1: checks the fields about the text. `side` is that of sequences, or None."""
    is_same = set(index.counts) == set(text)
    require(is_same, "R27", "a bit of Counts that is not that of the text")
    is_same = index.searched == (len(text) if side is None else Fields(side).varint())
    require(is_same, "R27", "a Searched that is not that of the block")
    searched_text = text[:index.searched]
    edges_hold = searched_text.startswith(index.head) and searched_text.endswith(index.tail)
    require(edges_hold, "R27", "a Head or Tail that is not the text's")


# 11. Binary coder


class BinaryDecoder:
    """Section 11.1: `rejected` is the number with which bad coded bytes are rejected."""

    def __init__(self, coded, at, rejected):
        self.coded, self.at, self.rejected = coded, at, rejected
        self.range = (1 << 64) - 1
        self.code = self.next_word() << 32 | self.next_word()

    def next_word(self):
        """The next 4 coded bytes."""
        word = self.coded[self.at:self.at + 4]
        require(len(word) == 4, self.rejected, "coded bytes that end where more are needed")
        self.at += 4
        return int.from_bytes(word, "big")

    def read(self, prob):
        """A binary symbol that is 1 with the probability `prob`."""
        bound = (self.range >> 16) * prob
        symbol = self.code < bound
        if symbol:
            self.range = bound
        else:
            self.range -= bound
            self.code -= bound
        if self.range < 1 << 32:
            self.range <<= 32
            self.code = (self.code << 32 | self.next_word()) & (1 << 64) - 1
        return int(symbol)

    def require_end(self):
        """After the last symbol."""
        require(self.code == 0, self.rejected, "a Code that is not 0 after the last binary symbol")
        require(self.at == len(self.coded), self.rejected, "coded bytes left over")


def new_bit_model():
    """Section 11.2: a Bit_Model is a list of Prob and Seen."""
    return [32768, 0]


def read_bit(decoder, bit_model):
    """Section 11.2."""
    prob, seen = bit_model
    shift = 2 if seen < 4 else 3 if seen < 12 else 4 if seen < 30 else 5
    bit = decoder.read(prob)
    bit_model[:] = prob + ((65535 - prob) >> shift) if bit else prob - (prob >> shift), seen + 1
    return bit


class BitTree:
    """Section 11.2."""

    def __init__(self, bits):
        self.bits, self.models = bits, [new_bit_model() for _ in range(1 << bits)]

    def read(self, decoder):
        """A value."""
        node = 1
        for _ in range(self.bits):
            node = 2 * node + read_bit(decoder, self.models[node])
        return node - (1 << self.bits)


class NumberModel:
    """Section 11.2."""

    def __init__(self):
        self.tree = BitTree(5)
        self.models = [[new_bit_model() for _ in range(8)] for _ in range(32)]

    def read(self, decoder):
        """A number."""
        x = node = 1
        bucket = self.tree.read(decoder)
        for _ in range(bucket):
            model = self.models[bucket][node] if node < 8 else new_bit_model()
            bit = read_bit(decoder, model)
            if node < 8:
                node = 2 * node + bit
            x = 2 * x + bit
        return x - 1


# 12. Filters


Filter = collections.namedtuple("Filter", ("filter_id", "filtered_size", "side_size"))


def read_filter_list(fields, raw_size):
    """Section 12.1: Filter_List, and its size."""
    count = fields.byte()
    require(1 <= count <= 8, "R28", "a Filter_Count of %d" % count)
    filters, output_size = [], raw_size
    for _ in range(count):
        entry = Filter(fields.byte(), fields.varint(), fields.varint())
        is_id = 1 <= entry.filter_id <= 127
        require(is_id, "R28", "a Filter_Id of %d" % entry.filter_id)
        is_new = all(entry.filter_id != other.filter_id for other in filters)
        require(is_new, "R28", "a Filter_Id of %d that occurs twice" % entry.filter_id)
        in_range = 1 <= entry.filtered_size <= output_size
        require(in_range, "R28", "a Filtered_Size of %d" % entry.filtered_size)
        filters.append(entry)
        output_size = entry.filtered_size
    for entry in filters:
        if entry.filter_id not in UNDO:
            raise Unsupported("U04", "a Filter_Id of %d" % entry.filter_id)
    return filters, fields.at


def undo_filters(text, filters, side, raw_size):
    """Chapter 12: undoes the filters, the last one first. Returns raw bytes."""
    side_end = sum(entry.side_size for entry in filters)
    for k in range(len(filters) - 1, -1, -1):
        output_size = filters[k - 1].filtered_size if k > 0 else raw_size
        side_start = side_end - filters[k].side_size
        own_side = Fields(side[side_start:side_end])
        side_end = side_start
        text = UNDO[filters[k].filter_id](text, own_side, output_size)
        require(own_side.is_done(), "R28", "bytes of a filter's Side left over")
        what = "a filter that gives another number of bytes than Output_Size"
        require(len(text) == output_size, "R28", what)
    return text


def undo_matches(text, side, output_size):
    """Section 12.3."""
    match_count, matches_size = side.varint(), side.varint()
    decoder = BinaryDecoder(side.take(matches_size), 0, "R28")
    literals_number, length_number = ([NumberModel() for _ in range(6)] for _ in range(2))
    distance_code_tree, near_tree = [BitTree(3) for _ in range(6)], BitTree(7)
    distance_number = NumberModel()
    last, repeat = 5, [0, 0, 0, 0]
    output, at = bytearray(), 0
    for _ in range(match_count):
        literals = literals_number[last].read(decoder)
        code = distance_code_tree[last].read(decoder)
        require(code <= 5, "R28", "a match of Distance_Code %d" % code)
        if code < 4:
            distance = repeat[code]
        elif code == 4:
            distance = repeat[0] - 64 + near_tree.read(decoder)
        else:
            distance = distance_number.read(decoder)
        length = length_number[code].read(decoder) + (32 if code == 5 else 12)
        if distance in repeat:
            repeat.remove(distance)
        repeat = ([distance] + repeat)[:4]
        last = code
        require(at + literals <= len(text), "R28", "more literals than there are")
        output += text[at:at + literals]
        at += literals
        require(1 <= distance <= len(output), "R28", "a match at a Distance of %d" % distance)
        fits = length <= output_size - len(output)
        require(fits, "R28", "a match that reaches beyond Output_Size")
        start = len(output) - distance
        while length > 0:
            piece = output[start:start + length]
            output += piece
            length -= len(piece)
    decoder.require_end()
    output += text[at:]
    is_size = len(output) == output_size
    require(is_size, "R28", "matches and literals that are not Output_Size bytes")
    return bytes(output)


def undo_regions(text, side, _):
    """Section 12.4."""
    text, start = bytearray(text), 0
    while start < len(text):
        size, kind = side.varint(), side.byte()
        require(1 <= size <= len(text) - start, "R28", "a region of %d bytes" % size)
        require(kind <= 3, "R28", "a region of Region_Kind %d" % kind)
        region = text[start:start + size]
        if kind == 1:
            undo_delta(region, side)
        elif kind == 2:
            undo_x86(region, start)
        elif kind == 3:
            undo_arm64(region, start)
        text[start:start + size] = region
        start += size
    return bytes(text)


def undo_delta(region, side):
    """Section 12.5."""
    stride, element, pitch = side.byte(), side.byte(), side.varint()
    element_size = element & 127
    fits = stride >= 1 and element_size <= min(8, stride)
    require(fits, "R28", "elements of %d bytes in records of %d" % (element_size, stride))
    require(pitch == 0 or pitch > stride, "R28", "a Pitch of %d" % pitch)
    if element & 128:
        count = len(region) // stride
        columns = bytes(region)
        for k in range(stride):
            region[k:count * stride:stride] = columns[k * count:(k + 1) * count]
    if element_size == 0:
        return

    def number_at(p):
        return int.from_bytes(region[p:p + element_size], "little")

    first = -(-stride // element_size) * element_size
    for p in range(first, len(region) - element_size + 1, element_size):
        prediction = number_at(p - stride)
        if pitch > 0 and p >= pitch:
            prediction = (prediction + number_at(p - pitch)) // 2
        number = (number_at(p) + prediction) % 256 ** element_size
        region[p:p + element_size] = number.to_bytes(element_size, "little")


def undo_x86(region, start):
    """Section 12.6: a region that begins at this offset."""
    at = 0
    while at + 5 <= len(region):
        if region[at] not in (0xE8, 0xE9):
            at += 1
            continue
        at += 5
        if region[at - 1] in (0x00, 0xFF):
            value = int.from_bytes(region[at - 4:at], "little")
            value = (value - start - at) % (1 << 25)
            if value >> 24:
                value |= 0xFE000000
            region[at - 4:at] = value.to_bytes(4, "little")


def undo_arm64(region, start):
    """Section 12.7: a region that begins at this offset."""
    for at in range(0, len(region) - 3, 4):
        word = int.from_bytes(region[at:at + 4], "little")
        if word >> 26 == 37:
            word = word & 0xFC000000 | (word - (start + at) // 4) % (1 << 26)
        elif word & 0x9F000000 == 0x90000000:
            page = (word >> 5 & 0x7FFFF) << 2 | word >> 29 & 3
            page = (page - (start + at) // 4096) % (1 << 21)
            word = word & 0x9F00001F | page >> 2 << 5 | (page & 3) << 29
        region[at:at + 4] = word.to_bytes(4, "little")


Unit = collections.namedtuple("Unit", ("lead", "lead_size", "line_bytes", "width", "times"))


class LengthModel:
    """Section 12.8: a number that is often one of the last four different ones."""

    def __init__(self):
        self.recent, self.which, self.number = [0, 0, 0, 0], BitTree(3), NumberModel()

    def read(self, decoder):
        """A length."""
        which = self.which.read(decoder)
        require(which <= 4, "R28", "a length of number %d" % which)
        length = self.recent[which] if which < 4 else self.number.read(decoder)
        if length in self.recent:
            self.recent.remove(length)
        self.recent = ([length] + self.recent)[:4]
        return length


def undo_fields(text, side, output_size):
    """Section 12.9."""
    template_count, use_code = side.varint(), side.varint()
    use_count = use_code // 2
    fits = template_count <= 16319 and use_count <= output_size < 1 << 32
    require(fits, "R28", "%d templates used %d times" % (template_count, use_count))
    parts = Fields(bytes(text))
    templates, depths = read_templates(parts, template_count, output_size)
    order = [read_template_number(parts, template_count) for _ in range(use_count)]
    uses, counts = [0] * len(templates), [0] * len(depths)
    for number in order:
        uses[number] += 1
    for (_, columns), used in zip(templates, uses):
        for column in columns:
            counts[column] += used
    require(sum(counts) <= output_size // 4 + 1024, "R28", "%d values" % sum(counts))
    packed = read_packed(side, counts, output_size)
    columns = [PackedColumn(packed[number]) if number in packed else Column(parts, count, depth)
               for number, (count, depth) in enumerate(zip(counts, depths))]
    entries = sum(1 << column.bits for column in columns if column.form in (2, 3, 6))
    require(entries <= 1 << 22, "R28", "arrays of %d entries" % entries)
    require(parts.at == len(text), "R28", "bytes behind the last column")
    block = bytearray()
    for number in order:
        block += join_lines(templates[number], columns, output_size - len(block)) + b"\n"
        require(len(block) <= output_size + 1, "R28", "lines that are more than Output_Size bytes")
    if use_code % 2 == 1:
        del block[-1:]
    require(all(column.is_done() for column in columns), "R28", "joined values left over")
    return bytes(block)


def read_templates(parts, count, output_size):
    """Section 12.9: returns the bytes around the slots and the columns of each template, and the
    number of slots before each column."""
    templates, depths, places = [([b"", b""], [0])], [0], {}
    for _ in range(count):
        around, columns, before = parts.line().split(b"\1"), [], None
        for between in around[:-1]:
            if (before, between) not in places:
                places[before, between] = len(depths)
                depths.append(len(columns))
            before = places[before, between]
            columns.append(before)
        templates.append(([part.replace(b"\2", b"\n") for part in around], columns))
    slots = sum(len(columns) for _, columns in templates[1:])
    require(slots <= min(1 << 18, output_size // 4 + 1024), "R28", "templates of %d slots" % slots)
    require(len(depths) <= output_size // 128 + 1024, "R28", "%d columns" % len(depths))
    return templates, depths


def read_template_number(parts, template_count):
    """Section 12.9: the number of a line's template."""
    number = parts.take(1)[0]
    require(number < 255, "R28", "the number of a template that begins with 255")
    if number >= 192:
        number = 192 + (number - 192) * 256 + parts.take(1)[0]
    require(number <= template_count, "R28", "a template %d" % number)
    return number


def join_lines(template, columns, most):
    """Section 12.9: one line or several of at most `most` bytes, without the end of the last."""
    around, slots = template
    line, values = bytearray(around[0]), []
    for column, behind in zip(slots, around[1:]):
        values.append(columns[column].next(values, most - len(line)))
        line += values[-1] + behind
        require(len(line) <= most, "R28", "lines that are more than Output_Size bytes")
    return line


def read_packed(side, counts, output_size):
    """Section 12.9: the values of the packed columns, by column number."""
    packed, column, layout, layouts = {}, -1, None, []
    for _ in range(side.varint()):
        step = side.varint()
        column += 1 + step // 2
        if step % 2 == 0:
            number = side.byte()
            if number == 0:
                layouts.append(read_layout(side))
            require(number <= len(layouts), "R28", "a layout %d of packed values" % number)
            layout = layouts[number - 1]
        is_there = layout is not None and column < len(counts)
        require(is_there, "R28", "a packed column %d" % column)
        radices, value_of = layout
        size = counts[column] * max(len(radices), 1)
        require(size <= output_size, "R28", "packed values of %d bytes" % size)
        digits = read_words(radices * counts[column], side)
        packed[column] = [value_of(digits[at:at + len(radices)])
                          for at in range(0, len(digits), len(radices))]
    return packed


def read_layout(side):
    """Section 12.9: the radices of the digits of a value, and a function from digits to value."""
    run_count = side.take(1)[0]
    if run_count == 0:
        sizes = side.take(1)[0]
        require(max(sizes % 16, sizes // 16) <= 8, "R28", "integers of sizes %d" % sizes)
        least, more = (int.from_bytes(side.take(size), "big") for size in (sizes % 16, sizes // 16))
        require(least + more < 1 << 63, "R28", "integers up to %d" % (least + more))
        return [more + 1], lambda digits: b"%d" % (least + digits[0])
    places = []
    for _ in range(run_count):
        length, symbols, first = side.take(3)
        all_of = [first + digit for digit in range(symbols % 128)]
        gap = (65 if symbols >= 128 else 97) - 58 if first <= 57 else 0
        all_of = [symbol + gap if symbol > 57 else symbol for symbol in all_of]
        is_run = length > 0 and all_of and all_of[-1] <= 255
        require(is_run, "R28", "a run of %d places of symbols from %d on" % (length, first))
        places += [all_of] * length
    require(len(places) <= 255, "R28", "packed values of %d places" % len(places))
    radices = [len(place) for place in places]
    return radices, lambda digits: bytes(place[digit] for place, digit in zip(places, digits))


def read_words(radices, side):
    """Section 12.9: digits of these radices."""
    words, product = [], 0
    for at, radix in enumerate(radices):
        if radix > 1:
            if product == 0 or product * radix > 1 << 60:
                words.append([])
                product = 1
            words[-1].append(at)
            product *= radix
    sizes = [(math.prod(radices[at] for at in word) - 1).bit_length() for word in words]
    data, bit, digits = side.take((sum(sizes) + 7) // 8), 0, [0] * len(radices)
    for word, size in zip(words, sizes):
        number = int.from_bytes(data[bit // 8:(bit + size + 7) // 8], "little") >> bit % 8
        number, bit = number & ((1 << size) - 1), bit + size
        for at in word:
            number, digits[at] = divmod(number, radices[at])
        require(number == 0, "R28", "a word of packed values that is too large")
    return digits


class PackedColumn:
    """Section 12.9: the values of a slot that is packed."""

    form = None

    def __init__(self, values):
        self.values = iter(values)

    def is_done(self):
        """Nothing can be left."""
        return True

    def next(self, *_):
        """The next value."""
        return next(self.values)


class Column:
    """Section 12.9: the stored values of a column, and the state that the last ones left."""

    def __init__(self, parts, count, depth):
        self.form, self.pattern = 0, b""
        if count >= 16:
            self.form = parts.take(1)[0]
            require(self.form <= 9, "R28", "a column of form %d" % self.form)
        self.distances = parts.take((0, 0, 1, 1, 2, 0, 1, 1, 1, 1)[self.form])
        for at, distance in enumerate(self.distances):
            # Minus may be 0, and so may Distance in the forms 7 to 9.
            least = 1 if at == 0 and self.form < 7 else 0
            require(least <= distance <= depth, "R28", "a Distance of %d" % distance)
        if self.form in (1, 3, 4):
            self.pattern = parts.line()
            require_pattern(self.pattern)
        if self.form == 9:
            self.separator = parts.line()
            fits = len(self.separator) <= 4 and all(byte >= 32 for byte in self.separator)
            require(fits, "R28", "a Separator that is none")
        self.at, self.number, self.last, self.joined = 0, 0, {}, Fields(b"")
        if self.form in (7, 8):
            self.read_joined(parts, count)
        else:
            read = read_difference if self.form in (1, 3, 4) else Fields.line
            self.stored = [read(parts) for _ in range(count)]
        self.bits = min(max(count - 1, 0).bit_length(), 16)

    def read_joined(self, parts, count):
        """The lengths, if they are not those of another slot, and the values."""
        self.stored, length = [], 0
        for _ in range(count if self.distances[0] == 0 else 0):
            difference = read_difference(parts)
            require(isinstance(difference, int), "R28", "a length that is none")
            length += difference
            require(0 <= length < 1 << 63, "R28", "a length of %d" % length)
            self.stored.append(length)
        size = parts.varint() if self.distances[0] > 0 else sum(self.stored)
        self.joined = Fields(parts.take(size))

    def is_done(self):
        """True if nothing is left of joined values."""
        return self.joined.at == len(self.joined.data)

    def next_joined(self, values):
        """The next of joined values."""
        distance = self.distances[0]
        value = self.joined.take(len(values[-distance]) if distance > 0 else self.stored[self.at])
        self.at += 1
        return raised(value) if self.form == 8 else value

    def next(self, values, most):
        """The next value, where `values` are those before it on its line, and `most` bytes fit."""
        if self.form in (7, 8):
            return self.next_joined(values)
        stored = self.stored[self.at]
        self.at += 1
        if self.form in (1, 3, 4):
            return self.next_number(stored, values)
        if self.form == 5:
            return raised(stored)
        if self.form == 0:
            return stored
        if self.form == 9:
            return self.next_list(stored, values, most)
        key = values[-self.distances[0]]
        if stored == b"":
            value = self.last.get(self.entry(key), key)
        else:
            value = b"" if stored == b"\1" else raised(stored) if self.form == 6 else stored
        self.last[self.entry(key)] = value
        return value

    def next_list(self, stored, values, most):
        """The next value of a column of lists, of at most `most` bytes."""
        key = values[-self.distances[0]] if self.distances[0] > 0 else b""
        if key[:1] in (b"\"", b"'"):
            key = key[1:-1]
        quote = stored[:1] if stored[:1] in (b"\"", b"'") else b""
        items, at, before = [], len(quote), key
        while at < len(stored):
            if stored[at] == 0:
                items.append(key)
                before, at = key, at + 1
                continue
            other = before
            if stored[at] == 31:
                other, at = key, at + 1
                require(at < len(stored), "R28", "a list that ends where an item begins")
            begin, at = stored[at], at + 1
            require(1 <= begin <= 15 and begin != 10, "R28", "an item that begins with %d" % begin)
            begin -= 1 if begin < 10 else 2
            start = at
            while at < len(stored) and stored[at] >= 32:
                at += 1
            middle, end = stored[start:at], 0
            if at < len(stored) and 16 <= stored[at] <= 30:
                end, at = stored[at] - 14, at + 1
            require(max(begin, end) <= len(other), "R28", "an item that goes beyond another")
            before = other[:begin] + middle + other[len(other) - end:]
            items.append(before)
        size = sum(len(item) + len(self.separator) for item in items) - len(self.separator)
        require(size <= most, "R28", "a list that is more than Output_Size bytes")
        return quote + self.separator.join(items) + quote

    def entry(self, key):
        """The entry of a key in the table."""
        return hash_of_key(key) >> (32 - self.bits)

    def next_number(self, stored, values):
        """The next value of a column of numbers."""
        if self.form == 3:
            entry = self.entry(values[-self.distances[0]])
            self.number = self.last.get(entry, self.number)
        if self.form == 4:
            plus, minus = (number_of_slot(values[-at]) if at else 0 for at in self.distances)
            self.number = plus - minus
        if isinstance(stored, int):
            self.number += stored
        if self.form == 3:
            self.last[entry] = self.number
        return self.digits() if isinstance(stored, int) else stored

    def digits(self):
        """The number in decimal."""
        require(abs(self.number) < 10 ** 18, "R28", "a Number of %d" % self.number)
        if self.pattern == b"":
            return b"%d" % self.number
        value, rest = bytearray(self.pattern), self.number
        for at in reversed(range(len(value))):
            if value[at] == 48:
                rest, digit = divmod(rest, radix(self.pattern, at))
                value[at] += digit
        require(rest == 0, "R28", "a Number that Pattern has no room for")
        return bytes(value)


def raised(value):
    """Section 12.9: a raised value, or the value of a raised one."""
    return bytes(byte if byte & 127 == 10 else byte ^ 128 for byte in value)


def number_of_slot(value):
    """Section 12.9: the number of a slot."""
    digits = value[1:] if value[:1] == b"-" else value
    if not 1 <= len(digits) <= 18 or any(not 48 <= byte <= 57 for byte in digits):
        return 0
    return int(value)


def require_pattern(pattern):
    """Section 12.9: checks a Pattern."""
    is_one = len(pattern) <= 32 and 1 <= pattern.count(b"0") <= 18
    is_one = is_one and not any(digit in pattern for digit in b"123456789")
    require(pattern == b"" or is_one, "R28", "a Pattern that is none")


def radix(pattern, at):
    """Section 12.9: the radix of the digit at a place of Pattern."""
    in_front, behind = pattern[at - 1:at], pattern[at + 1:at + 3]
    return 6 if in_front == b":" and behind != b"00" and behind[:1] == b"0" else 10


def read_difference(parts):
    """Section 12.9: a difference, or a value that is stored after a 0."""
    first = parts.take(1)[0]
    if first == 0:
        return parts.line()
    known = first <= 8 or 16 <= first <= 251
    require(known, "R28", "a number that begins with %d" % first)
    if first <= 8:
        mapped = 11456 + int.from_bytes(parts.take(first), "big")
    elif first < 208:
        mapped = first - 16
    else:
        mapped = 192 + (first - 208) * 256 + parts.take(1)[0]
    require(mapped < 1 << 64, "R28", "a Z of %d" % mapped)
    return mapped // 2 if mapped % 2 == 0 else -(mapped // 2) - 1


def hash_of_key(key):
    """Section 12.9."""
    value = 0
    for byte in key:
        value = (value + 1 + byte) * 0x9E3779B1 & 0xFFFFFFFF
    return value


def undo_sequences(text, side, output_size):
    """Section 12.8."""
    start = side.at
    sequence_size, layout_size = side.varint(), side.varint()
    layout = side.take(layout_size)
    layout_holds = zlib.crc32(side.data[start:side.at]) == field(side.take(4), 0, 4)
    require(layout_holds, "R28", "a wrong Layout_Checksum")
    decoder = BinaryDecoder(layout, 0, "R28")
    last_line_ends = BitTree(1).read(decoder) == 1
    is_extended = BitTree(1).read(decoder) == 1
    units, entries = read_units(decoder, is_extended, output_size)
    lines = sum(line_count(unit) * unit.times for unit in units)
    records = sum(unit.times for unit in units if unit.lead in (2, 3))
    line_bytes = sum(unit.line_bytes * unit.times for unit in units if unit.lead < 4)
    heads = sum((unit.lead_size + (unit.lead == 3) * unit.width) * unit.times for unit in units)
    qualities = sum(unit.line_bytes * unit.times for unit in units if unit.lead >= 3)
    crlf, entries = read_stretches(decoder, lines, entries)
    blanks = []
    if is_extended:
        blanks, entries = read_stretches(decoder, line_bytes, entries)
    blank_count = sum(end - first for first, end in blanks)
    residues = line_bytes - blank_count
    small, entries = read_stretches(decoder, residues + records, entries)
    other_count = heads + qualities + blank_count
    escaped, entries = read_stretches(decoder, other_count, entries)
    decoder.require_end()
    fits = sequence_size == residues + records and sequence_size <= len(text)
    require(fits, "R28", "a Sequence_Size of %d" % sequence_size)
    sequence = bytearray(text[:sequence_size])
    for first, end in small:
        sequence[first:end] = sequence[first:end].lower()
    others = undo_escapes(text[sequence_size:], escaped, other_count)
    blank_bytes = others[heads + qualities:]
    others = others[:heads + qualities]
    parts = LineParts(bytes(sequence), others[:heads], others[heads:], blanks, blank_bytes)
    ends = [b"\n"] * lines
    for first, end in crlf:
        ends[first:end] = [b"\r\n"] * (end - first)
    if not last_line_ends:
        require(ends and ends[-1] == b"\n", "R28", "a last line by CRLF that has no end")
        ends[-1] = b""
    raw_lines = (line for unit in units for _ in range(unit.times) for line in parts.lines(unit))
    return b"".join(line + end for line, end in zip(raw_lines, ends))


def read_units(decoder, is_extended, output_size):
    """Section 12.8: the units, and the number of stretches that are still allowed."""
    unit_count, entries = NumberModel().read(decoder), output_size // 4 + 16
    require(unit_count <= entries, "R28", "a layout of %d units" % unit_count)
    lead_tree, times_number = BitTree(3 if is_extended else 2), NumberModel()
    models = [[LengthModel() for _ in range(3)] for _ in range(5)]
    units, left = [], output_size + 1
    for _ in range(unit_count):
        lead = lead_tree.read(decoder)
        require(lead <= 4, "R28", "a unit of lead %d" % lead)
        lead_size = models[lead][0].read(decoder) if lead in (1, 2, 3) else 0
        line_bytes = models[lead][1].read(decoder)
        width = models[lead][2].read(decoder) if line_bytes > 0 or lead == 3 else 0
        if width == 0 and lead != 3:
            width = line_bytes
        unit = Unit(lead, lead_size, line_bytes, width, times_number.read(decoder) + 1)
        fits = lead == 3 or (width <= line_bytes if line_bytes > 0 else lead in (1, 2))
        require(fits, "R28", "lines of width %d in a unit of %d bytes" % (width, line_bytes))
        size = lead_size + line_bytes + (width + line_bytes if lead == 3 else 0)
        left -= (size + line_count(unit)) * unit.times
        require(left >= 0, "R28", "lines that are more than the block")
        units.append(unit)
    return units, entries - unit_count


def line_count(unit):
    """Section 12.8: the lines of a unit, once."""
    if unit.lead == 3:
        return 4
    lines = -(-unit.line_bytes // unit.width) if unit.line_bytes > 0 else 0
    return (unit.lead in (1, 2)) + lines


def read_stretches(decoder, limit, entries):
    """Section 12.8: a list of stretches, as (first, end), and the number that is still allowed."""
    count = NumberModel().read(decoder)
    entries -= count
    require(entries >= 0, "R28", "a layout of %d stretches" % count)
    gap, length, stretches, end = NumberModel(), NumberModel(), [], 0
    for _ in range(count):
        first = end + gap.read(decoder)
        end = first + length.read(decoder) + 1
        require(end <= limit, "R28", "a stretch that ends too late")
        stretches.append((first, end))
    return stretches, entries


def undo_escapes(mapped, escaped, size):
    """Section 12.8: the `size` bytes of the mapped parts."""
    others, at = bytearray(), 0
    for first, end in escaped + [(size, size)]:
        plain = mapped[at:at + first - len(others)]
        is_plain = len(plain) == first - len(others) and min(plain, default=255) > 129
        require(is_plain, "R28", "an other byte that is below 130")
        others += bytes(byte - 128 for byte in plain)
        at += len(plain)
        for _ in range(first, end):
            pair = mapped[at:at + 2]
            is_pair = len(pair) == 2 and pair[1] > 127
            is_pair = is_pair and (pair[0] == 128 or pair[0] == 129 and pair[1] < 130)
            require(is_pair, "R28", "an escaped byte that is none")
            others.append(pair[1] if pair[0] == 128 else pair[1] - 128)
            at += 2
    require(at == len(mapped), "R28", "a text that is longer than its layout says")
    return bytes(others)


class LineParts:
    """Section 12.8: the parts that the lines of a block are taken from."""

    def __init__(self, sequence, heads, qualities, blanks, blank_bytes):
        self.sequence, self.heads, self.qualities = sequence, heads, qualities
        self.at, self.heads_at, self.qualities_at = 0, 0, 0
        self.blanks, self.blank_bytes, self.line_at = blanks[::-1], list(blank_bytes[::-1]), 0

    def residues(self, size):
        """The next residues."""
        self.at += size
        return self.sequence[self.at - size:self.at]

    def sequence_line(self, size):
        """The next bytes of a line of a sequence, blanks included."""
        if not self.blanks:
            return self.residues(size)
        line = bytearray()
        for _ in range(size):
            first, end = self.blanks[-1] if self.blanks else (self.line_at + 1, 0)
            if self.line_at < first:
                line += self.residues(1)
            else:
                line.append(self.blank_bytes.pop())
            self.line_at += 1
            if self.line_at == end:
                self.blanks.pop()
        return bytes(line)

    def quality_line(self, size):
        """The next qualities."""
        self.qualities_at += size
        return self.qualities[self.qualities_at - size:self.qualities_at]

    def head(self, size):
        """The next bytes of the other lines."""
        self.heads_at += size
        return self.heads[self.heads_at - size:self.heads_at]

    def lines(self, unit):
        """The lines of a unit, once, without their ends."""
        if unit.lead in (1, 2, 3):
            yield self.head(unit.lead_size)
        if unit.lead in (2, 3):
            require(self.residues(1) == b"\n", "R28", "a record that does not begin with 0A")
        if unit.lead == 3:
            yield self.sequence_line(unit.line_bytes)
            yield self.head(unit.width)
            yield self.quality_line(unit.line_bytes)
            return
        line = self.quality_line if unit.lead == 4 else self.sequence_line
        for at in range(0, unit.line_bytes, unit.width or 1):
            yield line(min(unit.width, unit.line_bytes - at))


UNDO = {1: undo_sequences, 2: undo_regions, 3: undo_matches, 4: undo_fields}  # of each Filter_Id


# 13. Slices

BYTES = [bytes([c]) for c in range(256)]


def decode_slices(slices, coded_models, sizes, coding, index):
    """Chapter 13: decodes Models and Slices. Returns the BWT."""
    models = Models(coded_models) if coding == 0 else None
    bwt, at = bytearray(), 0
    for k, coded_size in enumerate(sizes.coded):
        coded = slices[at:at + coded_size]
        piece = decode_slice(coded, sizes.raw[k], models)
        if index:
            check_slice(index, k, coded, piece)
        bwt += piece
        at += coded_size
    return bwt


def decode_slice(coded, slice_size, models):
    """Chapter 13: a slice of Slice_Size bytes, by these Models, which are None if Coding is 1."""
    if len(coded) == slice_size:
        return coded
    if models is None:
        return decode_mixing(coded, slice_size)
    return decode_static(coded, slice_size, models)


# 14. Static rANS


class Rans:
    """Section 14.1: the states of a slice, and the words that they take."""

    def __init__(self, coded):
        require(len(coded) >= 8, "R17", "a slice that ends within its states")
        self.coded, self.at = coded, 8
        self.state = list(struct.unpack_from("<II", coded))
        require(min(self.state) >= 1 << 16, "R17", "a state that begins below 2^16")

    def take(self, k, start, end):
        """Takes the symbol of State_k that owns the slots `start` to `end` - 1."""
        x = self.state[k]
        x = (end - start) * (x >> 15) + (x & 32767) - start
        if x < 1 << 16:
            word = self.coded[self.at:self.at + 2]
            require(len(word) == 2, "R17", "a slice that ends where a word is needed")
            self.at += 2
            x = x << 16 | word[0] | word[1] << 8
        self.state[k] = x

    def read(self, k, table):
        """A symbol of a frequency table, which is Start[0] to Start[16]."""
        symbol = bisect.bisect_right(table, self.state[k] & 32767) - 1
        self.take(k, table[symbol], table[symbol + 1])
        return symbol

    def read_uniform(self, k, n):
        """A value uniform over n."""
        slot = self.state[k] & 32767
        value = max(v for v in range(n) if (v << 15) // n <= slot)
        self.take(k, (value << 15) // n, (value + 1 << 15) // n)
        return value

    def require_end(self):
        """After the last symbol."""
        require(self.state == [1 << 16, 1 << 16], "R17", "a state that does not end at 2^16")
        require(self.at == len(self.coded), "R17", "coded bytes left over at the end of a slice")


def starts_of(weight_codes):
    """Section 14.2: Start[0] to Start[16] of a frequency table."""
    weights = [w if w < 16 else (8 + w % 8) << (w // 8 - 1) for w in weight_codes]
    total = max(sum(weights), 1)
    return [sum(weights[:j]) * 32752 // total + j for j in range(16)] + [32768]


def weight_code(weight):
    """Section 14.2: the Weight_Code of a weight of 16 or more."""
    e = lg(weight) - 3
    return 8 * e + (weight + (1 << (e - 1)) >> e)


def add(average, number):
    """Section 14.3."""
    return (3 * average + math.isqrt(1600 * (min(number, 255) + 1)) - 40 + 2) >> 2


LIMITS = {
    "r": (2, 4, 7, 15, 23, 34, 52, 80, 160, 280),
    "q": (1, 3, 8, 14, 20, 26, 34, 44, 56, 68, 84, 105, 140, 190, 290),
    "l": (1, 2, 3, 4, 8, 16, 32),
    "u": (2, 3, 9, 20, 40, 80, 260),
}


class ModelState:
    """Section 14.3."""

    def __init__(self):
        self.run_average, self.rank_average, self.own_rank = ([0] * 256 for _ in range(3))
        self.all_rank_average = self.last_rank = 0

    def context(self, c):
        """The features of a run of byte c."""
        numbers = (self.run_average[c], self.rank_average[c], self.own_rank[c],
                   self.all_rank_average)
        pairs = zip(LIMITS.items(), numbers)
        return {feature: bisect.bisect_right(limits, x) for (feature, limits), x in pairs}

    def update(self, c, run_length, mtf_rank):
        """After a run of byte c."""
        self.run_average[c] = add(self.run_average[c], run_length - 1)
        self.rank_average[c] = add(self.rank_average[c], mtf_rank - 1)
        self.own_rank[c] = mtf_rank - 1
        self.all_rank_average = add(self.all_rank_average, self.last_rank)
        self.last_rank = mtf_rank - 1


RUN_TREE = """
    r4 q7 r3 q5 r2 r1 . q4 q2 . . . q4 q3 . . . r2 . q6 . . q4 q3 . . q5 . q6 . . q10 r3 q8 r2 . .
    r2 q9 . . . l1 . q8 . . r2 q15 q12 q11 . . l3 . q13 . . . r3 l2 . q13 . . l2 . q13 . . r7 q4 r6
    r5 q3 . . q3 . . q3 q2 . . . r5 l4 l1 . q5 . . q12 q8 . . . l3 l1 r6 . . . q8 . . r8 l2 q3 . .
    q6 . . l1 r9 q3 . . r10 . . q6 . q12 . .
"""
RANK_TREE = """
    q7 q3 q2 r1 u5 u2 . . u7 . . r7 u2 u1 . . u3 . u4 . . u2 . u3 . u4 . . r5 r1 . u4 u3 u2 . . . u5
    . . r7 u4 u3 . . . u4 . . q5 q4 r4 r3 r1 . l1 u4 u3 u2 . . . . u4 u3 . . . u4 u3 u2 . . . u5 . .
    r6 u4 u2 . . u5 . . u4 . . r3 l1 u4 u3 . . u5 . . r1 . r2 u4 u3 . . u5 . u6 . . u4 u3 . . u5 . .
    r4 l1 u4 . u5 . . u4 u3 . . u5 . . r6 u4 . u5 . . . q6 r3 l1 u4 . u5 . . l5 u5 u4 u3 . . . u6 .
    . . r4 l1 u4 . . u5 u4 . . u6 . . l1 u4 . . u5 . . r3 l2 l1 u4 . u5 . . u5 u4 . . u6 . . r1 u5 .
    . u5 u4 . . u6 . . l1 r4 u4 . . u4 . . l5 u5 u4 . . u6 . . . q11 q9 q8 l6 r3 l2 u5 u4 . . u6 . .
    l5 u5 u4 . . u6 . . . l1 r4 . . l5 u5 u4 . . u6 . . . . l6 l2 r3 u5 u4 . . u6 . u7 . . r4 u4 . .
    . r2 r1 u5 . . u5 u4 . . u6 . u7 . . r4 u6 u5 . . . u6 . . r1 . . q10 l6 l3 r3 u6 u5 u4 . . . u7
    . . u5 . . r3 r1 u6 . . u6 u5 . . u7 . . u6 . u7 . . r1 . . r3 r1 l6 u6 . . u7 . . l4 u6 u4 . .
    . l6 u6 u5 . . u7 . . . l2 . l6 u7 u6 . . . . q15 q13 q12 l7 l3 r3 u5 . u6 . . . l6 r3 l5 u6 u5
    . . u7 . . u6 u5 . . u7 . . u7 u6 . . . r1 . u6 . u7 . . r1 u7 . . . r1 l7 u6 . u7 . . u7 . . l4
    r3 u6 u5 . . u7 . . . l7 r3 l6 u6 . u7 . . u7 u6 . . . u7 . . u7 . . q14 r1 l7 u7 u6 . . . u7 .
    . l4 u6 . u7 . . l7 u7 u6 . . . u7 . . r1 u7 u5 . . . l5 u7 u6 . . . u7 u6 . . . r1 u7 u6 . . .
    l7 u7 u6 . . . u7 u6 . . .
"""


class Node:
    """Section 14.4: a node of a context tree, and all nodes below it.

    `values` are those of `own_feature` that contexts which come to the node can have (14.8).
    """

    def __init__(self, words, own_feature, values, depth=0):
        word = next(words)
        self.values, self.depth, self.children = values, depth, ()
        if word == ".":
            return
        self.feature, self.limit = word[0], int(word[1:])
        left = right = values
        if self.feature == own_feature:
            left, right = range(values.start, self.limit), range(self.limit, values.stop)
        self.children = [Node(words, own_feature, side, depth + 1) for side in (left, right)]

    def middle(self):
        """Section 14.8: m."""
        return (self.values.start + self.values.stop - 1) // 2


class ContextTree:
    """A context tree of 14.4, with the frequency tables that a block gives its classes (14.5)."""

    def __init__(self, text, own_feature, frequencies):
        self.root = Node(iter(text.split()), own_feature, range(len(frequencies)))
        self.frequencies = frequencies
        self.tables = {}  # of each class, which is a node

    def read_classes(self, decoder):
        """Section 14.5: `classes`."""
        deeper, kind = [new_bit_model() for _ in range(8)], TableReader(decoder)
        nodes = [self.root]
        while nodes:
            node = nodes.pop()
            if node.children and read_bit(decoder, deeper[min(node.depth, 7)]):
                nodes += reversed(node.children)
            else:
                weights = (32 * f for f in self.frequencies[node.middle()])
                self.tables[node] = kind.read([weight_code(weight) for weight in weights])

    def table(self, context):
        """The frequency table of the class that a context leads to."""
        node = self.root
        while node not in self.tables:
            node = node.children[context[node.feature] >= node.limit]
        return self.tables[node]


class TableReader:
    """Section 14.5: the frequency tables of one kind."""

    def __init__(self, decoder):
        self.decoder = decoder
        self.is_sent, self.difference = new_bit_model(), [NumberModel() for _ in range(3)]
        self.last_sent = None

    def read(self, default):
        """Start[0] to Start[16] of the next one, whose default has these Weight_Codes."""
        weight_codes = default
        if read_bit(self.decoder, self.is_sent):
            weight_codes, z = [], 0
            for base in self.last_sent or default:
                z = self.difference[min(z, 2)].read(self.decoder)
                weight_codes.append(base + (-(z + 1) // 2 if z % 2 else z // 2))
                in_range = 0 <= weight_codes[-1] <= 255
                require(in_range, "R17", "a Weight_Code of %d" % weight_codes[-1])
            self.last_sent = weight_codes
        return starts_of(weight_codes)


class Models:
    """Section 14.5."""

    def __init__(self, coded):
        decoder = BinaryDecoder(coded, 0, "R17")
        occurs, last, self.alphabet = [new_bit_model(), new_bit_model()], 0, []
        for c in range(256):
            last = read_bit(decoder, occurs[last])
            if last:
                self.alphabet.append(c)
        require(self.alphabet, "R17", "an Alphabet without bytes")
        self.runs = ContextTree(RUN_TREE, "r", RUN_FREQUENCIES)
        self.ranks = ContextTree(RANK_TREE, "q", RANK_FREQUENCIES)
        self.runs.read_classes(decoder)
        self.ranks.read_classes(decoder)
        kind = TableReader(decoder)
        self.extra = [kind.read(EXTRA_DEFAULTS[min(j % 6, 2)]) for j in range(12)]
        decoder.require_end()


def decode_static(coded, slice_size, models):
    """Section 14.6: a slice of static rANS."""
    rans, state = Rans(coded), ModelState()
    left = list(models.alphabet)
    count = 1 + rans.read_uniform(1, len(left))
    front = [left.pop(rans.read_uniform(1, len(left))) for _ in range(count)]  # List
    out = bytearray()
    while True:
        c = front[0]
        context = state.context(c)
        bucket_0 = rans.read(0, models.runs.table(context))
        bucket_1 = rans.read(1, models.ranks.table(context))
        run_length = 1 + read_number(rans, models, 0, bucket_0)
        mtf_rank = 1 + read_number(rans, models, 1, bucket_1)
        fits = run_length <= slice_size - len(out)
        require(fits, "R17", "a run that reaches beyond its slice")
        out += BYTES[c] * run_length
        if len(out) == slice_size:
            break
        require(mtf_rank < count, "R17", "an MTF_Rank of Count or more")
        del front[0]
        front.insert(mtf_rank, c)
        state.update(c, run_length, mtf_rank)
    require(mtf_rank == 1, "R17", "an MTF_Rank that is not 1 after the last run")
    rans.require_end()
    return out


def read_number(rans, models, k, bucket):
    """Section 14.7: the number that begins with Bucket."""
    if bucket < 10:
        return bucket
    extra_bits = bucket - 8
    if k == 0 and bucket == 15:
        extra_bits = 7 + rans.read_uniform(0, 32)
        require(extra_bits <= 30, "R17", "Extra_Bits of %d" % extra_bits)
    top = rans.read(k, models.extra[6 * k + min(extra_bits, 7) - 2])
    x = top % (1 << min(extra_bits, 4))
    left = max(extra_bits - 4, 0)
    while left > 0:
        bits = min(left, 8)
        left -= bits
        x = (x << bits) + rans.read_uniform(k, 1 << bits)
    return (1 << extra_bits) + x + 6


# Section 14.8, for 2, 3 and more Extra_Bits.
EXTRA_DEFAULTS = [[88] * 4 + [0] * 12, [80] * 8 + [0] * 8, [72] * 16]
RUN_FREQUENCIES = [
    [972, 29, 7, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2],
    [886, 97, 21, 6, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
    [807, 144, 39, 14, 6, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1],
    [704, 184, 66, 28, 14, 8, 5, 3, 2, 1, 3, 2, 1, 1, 1, 1],
    [561, 218, 96, 53, 29, 18, 11, 8, 5, 4, 9, 6, 3, 1, 1, 1],
    [468, 204, 111, 67, 41, 31, 21, 15, 11, 9, 18, 15, 7, 3, 1, 2],
    [366, 176, 110, 78, 52, 44, 31, 24, 20, 17, 39, 33, 19, 8, 3, 4],
    [285, 142, 95, 72, 55, 48, 35, 32, 27, 22, 66, 66, 42, 21, 8, 8],
    [213, 109, 69, 57, 45, 38, 32, 32, 27, 24, 80, 98, 89, 57, 30, 24],
    [151, 83, 50, 38, 31, 27, 26, 20, 19, 19, 68, 96, 109, 98, 90, 99],
    [101, 43, 26, 23, 14, 16, 12, 12, 7, 11, 36, 62, 89, 98, 124, 350],
]
RANK_FREQUENCIES = [
    [125, 33, 23, 13, 17, 19, 16, 15, 18, 10, 54, 72, 99, 157, 126, 227],
    [918, 73, 17, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
    [674, 223, 84, 17, 7, 4, 3, 2, 1, 1, 2, 2, 1, 1, 1, 1],
    [514, 279, 150, 32, 16, 9, 6, 4, 3, 2, 3, 2, 1, 1, 1, 1],
    [402, 282, 198, 51, 30, 18, 12, 8, 6, 3, 7, 3, 1, 1, 1, 1],
    [324, 245, 207, 74, 51, 35, 25, 18, 13, 7, 14, 6, 2, 1, 1, 1],
    [252, 189, 168, 103, 79, 60, 47, 36, 28, 16, 27, 12, 4, 1, 1, 1],
    [193, 150, 126, 111, 95, 78, 66, 55, 47, 26, 49, 20, 5, 1, 1, 1],
    [149, 122, 109, 101, 93, 84, 77, 68, 60, 36, 78, 34, 9, 2, 1, 1],
    [118, 98, 90, 85, 82, 79, 76, 72, 69, 49, 122, 62, 16, 4, 1, 1],
    [91, 74, 69, 66, 65, 64, 64, 66, 86, 54, 165, 114, 35, 8, 2, 1],
    [74, 57, 51, 49, 48, 48, 48, 49, 49, 48, 186, 206, 86, 20, 4, 1],
    [54, 40, 35, 34, 32, 31, 31, 31, 32, 32, 136, 268, 193, 60, 12, 3],
    [44, 29, 26, 23, 21, 21, 20, 19, 20, 19, 75, 170, 290, 183, 55, 9],
    [29, 19, 16, 15, 13, 12, 12, 11, 11, 11, 43, 87, 180, 317, 208, 40],
    [14, 9, 8, 7, 6, 6, 6, 5, 5, 5, 20, 39, 73, 149, 297, 375],
]


# 15. Context mixing


def decode_mixing(coded, slice_size):
    """Section 15.5."""
    tree, at = read_tree(coded)
    decoder = BinaryDecoder(coded, at, "R17")
    model = MixingModel(decoder)
    out = bytearray()
    while len(out) < slice_size:
        s = model.read_byte(tree)
        length = model.read_number(s) + 1
        fits = length <= slice_size - len(out)
        require(fits, "R17", "a run that reaches beyond its slice")
        out += BYTES[s] * length
        model.add(s, length)
    decoder.require_end()
    return out


def read_tree(coded):
    """Section 15.1: returns the tree of Present and Leaf_Frequencies, and the start of Runs.

    A tree is a byte, or the list [number, Group, Heap_Index, Split, left, right] of a node, left
    and right being trees.
    """
    require(len(coded) >= 32, "R17", "a slice that ends within Present")
    present = [c for c in range(256) if coded[c // 8] >> c % 8 & 1]
    require(present, "R17", "a slice without bytes")
    end = 32 + (len(present) + 1) // 2
    require(len(coded) >= end, "R17", "a slice that ends within Leaf_Frequencies")
    frequencies = [1 << (1 + (coded[32 + j // 2] >> j % 2 * 4 & 15)) for j in range(len(present))]
    # The leaves of each side, what the side is, and the node that it is a side of.
    root = [None]
    sides = [(list(zip(present, frequencies)), root, 0)]
    nodes, groups = [], 0
    for leaves, parent, slot in sides:
        if len(leaves) == 1:
            parent[slot] = leaves[0][0]
            continue
        m = division([frequency for _, frequency in leaves])
        if parent is not root and parent[2] < 4:
            group, heap_index = parent[1], 2 * parent[2] + slot - 4
        else:
            group, heap_index, groups = groups, 1, groups + 1
        node = [len(nodes), group, heap_index, leaves[m][0], None, None]
        nodes.append(node)
        parent[slot] = node
        sides += [(leaves[:m], node, 4), (leaves[m:], node, 5)]
    return root[0], end


def signed_32(number):
    """The low 32 bits of a number, as a signed one (15.3)."""
    return (number + (1 << 31) & 0xFFFFFFFF) - (1 << 31)


def division(frequencies):
    """Section 15.1: m, the number of leaves that go to the left."""
    total, left, best = sum(frequencies), 0, None
    for m in range(1, len(frequencies)):
        left += frequencies[m - 1]
        if best is None or abs(total - 2 * left) < best[0]:
            best = abs(total - 2 * left), m
    return best[1]


LOGISTIC = [32768, 36843, 40793, 44511, 47911, 50941, 53581, 55834, 57724, 59287, 60565,
            61598, 62428, 63090, 63615, 64030, 64357, 64614, 64816, 64974, 65097, 65194,
            65269, 65328, 65374, 65410, 65438, 65459, 65476, 65489, 65500, 65508, 65514]


def squash(x):
    """Section 15.2."""
    if x < 0:
        return 65536 - squash(-x)
    k = x >> 6
    return LOGISTIC[k] + ((LOGISTIC[k + 1] - LOGISTIC[k]) * (x % 64) >> 6)


def log(y):
    """Section 15.2."""
    return (lg(y) - 1 << 23) + (y << 23 - lg(y))


STRETCH = [log(2 * p + 1) - log(8191 - 2 * p) >> 15 for p in range(4096)]
RATES = [160, 98, 71, 55, 46, 39, 34, 30, 27, 24, 21, 18, 16, 14, 12, 10]


class Mixer:
    """Section 15.3. Its sets are made when they are first used."""

    def __init__(self, decoder, bits, limits):
        self.decoder, self.bits, self.limits = decoder, bits, limits
        new_set = lambda: [(2048, 0)] * 8
        self.probabilities = [collections.defaultdict(new_set) for _ in limits]  # P and N
        self.weights = [collections.defaultdict(lambda: [42000] * 8) for _ in range(2)]
        self.common_weights = [42000] * 8
        start = [squash(clamp(128 * k - 2048, -2047, 2047)) for k in range(33)]
        self.apms = collections.defaultdict(start.copy)

    def read(self, sets, which, weight_sets, apm):
        """A binary symbol in this context: a set of each input, the number of the 8, and so on."""
        low_bits = (1 << self.bits) - 1
        sets = [table[number & low_bits] for table, number in zip(self.probabilities, sets)]
        x = [STRETCH[probabilities[which][0]] for probabilities in sets]
        x += [192] * (8 - len(x))
        families = [family[number] for family, number in zip(self.weights, weight_sets)]
        families.append(self.common_weights)
        mixed = 0
        for i in range(8):
            weight = signed_32(sum(weights[i] for weights in families)) >> 6
            mixed += x[i] * max(-32768, min(weight, 32767))
        mixed = clamp(mixed >> 14, -2047, 2047)
        p = squash(mixed)
        k, part = (mixed + 2048) >> 7, (mixed + 2048) % 128
        r = self.apms[apm]
        q = r[k] * (128 - part) + r[k + 1] * part >> 7
        d = self.decoder.read(p + q >> 1)
        error = 32768 * d - (p >> 1)
        for i in range(8):
            step = x[i] * error >> 14
            for weights in families:
                weights[i] = signed_32(weights[i] + step)
        nearest = k + (part >= 64)
        r[nearest] += (65535 - r[nearest]) >> 7 if d else -(r[nearest] >> 7)
        for probabilities, limit in zip(sets, self.limits):
            probability, count = probabilities[which]
            other = 4095 - probability if d else probability
            other -= other * RATES[count] >> 8
            probabilities[which] = (4095 - other if d else other, min(count + 1, limit))
        return d


def hash_of(x):
    """Section 15.4: `hash`."""
    return (x + 1) * 0x9E3779B1 % (1 << 32)


def quantise(average):
    """Section 15.4."""
    return min(lg(average + 1), 7)


class MixingModel:
    """Section 15.4: the state between runs, and the mixers."""

    def __init__(self, decoder):
        self.byte_mixer = Mixer(decoder, 15, (2, 14, 10, 15, 15, 15, 15))
        self.length_mixer = Mixer(decoder, 13, (15,) * 5)
        self.c1 = self.c2 = self.c3 = 0
        self.recent, self.after = [0] * 256, collections.defaultdict(int)
        self.own_length, self.own_history = [0] * 256, [0] * 256
        self.own_average, self.own_last = [0] * 256, [0] * 256
        self.all_history = self.all_average = self.run_count = 0

    def read_byte(self, tree):
        """Section 15.6: the byte of a run."""
        c1, c2 = self.c1, self.c2
        two = hash_of(256 * c2 + c1)
        three = hash_of(two ^ self.c3)
        may_be_same = self.run_count > 0
        while not isinstance(tree, int):
            n, g, h, split, *children = tree
            direction = int(c1 >= split)
            if may_be_same and children[direction] == c1:
                may_be_same, tree = False, children[1 - direction]
                continue
            case = 3 * n + (1 + direction if may_be_same else 0)
            recent, after = self.recent[n], self.after[c1, n]
            sets = (g, g, 128 * c1 ^ g, two >> 17 ^ g, 128 * c2 ^ g, 128 * after ^ g,
                    three >> 17 ^ g)
            weight_sets = 4 * case + recent % 4, 256 * (self.all_history % 16) + c1
            d = self.byte_mixer.read(sets, h, weight_sets, 2 * case + recent % 2)
            self.recent[n] = (2 * recent + d) % 256
            self.after[c1, n] = (2 * after + d) % 256
            may_be_same, tree = may_be_same and d == direction, children[d]
        return tree

    def read_number(self, s):
        """Section 15.7: the length of a run of s, less 1."""
        a = quantise(self.own_average[s])
        both = 8 * a + quantise(self.all_average)
        gap = min(lg(max(self.run_count - self.own_last[s], 1)), 15)
        length = min(self.own_length[s], 15)
        sets = (s, 16 * both + length, 16 * both + gap, 16 * self.own_history[s] + gap,
                8 * self.all_history + a)

        def symbol_at(index):
            m = min(index, 15)
            at_index = [number ^ (index >> 3) * 0x1357 for number in sets]
            return self.length_mixer.read(at_index, index % 8, (16 * m + length, s), 16 * s + m)

        for j in range(8):
            if symbol_at(j):
                return j
        extra_bits = 0
        while extra_bits < 30 and not symbol_at(8 + extra_bits):
            extra_bits += 1
        value = 1
        for j in range(extra_bits):
            value = 2 * value + symbol_at(64 + 32 * extra_bits + (value if j < 5 else 0))
        return value + 7

    def add(self, s, length):
        """Section 15.8: after a run."""
        quantised, sixteenths = min(lg(length), 3), 16 * min(length - 1, 40)
        self.c1, self.c2, self.c3 = s, self.c1, self.c2
        self.all_history = (4 * self.all_history + quantised) % 256
        self.own_history[s] = (4 * self.own_history[s] + quantised) % 256
        self.all_average = (7 * self.all_average + sixteenths) >> 3
        self.own_average[s] = (3 * self.own_average[s] + sixteenths) >> 2
        self.own_length[s] = min(length, 255)
        self.own_last[s] = self.run_count
        self.run_count += 1


# The command


def give_out(raw):
    """Writes to standard output without Python's buffers, so that no write can fail at exit."""
    view = memoryview(raw)
    while len(view) > 0:
        view = view[os.write(1, view):]


def main(arguments):
    """The command. Returns the exit status."""
    if len(arguments) > 1 or arguments[:1] in (["-h"], ["--help"]):
        print("usage: decoder.py [FILE]\n", file=sys.stderr)
        print(__doc__[__doc__.index("Exit status"):], end="", file=sys.stderr)
        return 3 if len(arguments) > 1 else 0
    name = arguments[0] if arguments else "-"
    try:
        with open(0 if name == "-" else name, "rb") as file:
            decode_file(Reader(file), give_out)
        return 0
    except Unsupported as problem:
        status, what = 1, problem
    except Damaged as problem:
        status, what = 2, problem
    except BrokenPipeError:
        return 3  # the reader of the output has closed it
    except OSError as problem:
        status, what = 3, problem
    except MemoryError:
        status, what = 3, "not enough memory for a block of this file"
    print("decoder.py: %s" % what, file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
