#!/usr/bin/env python3
"""A reference decoder of the bwz format, written from FORMAT.md alone.

    python3 decoder.py FILE > RAW         or         ... | python3 decoder.py > RAW

It is meant to be read beside FORMAT.md and follows its order and its words. Numbers such as 14.3
are sections of that page, and R01 to R30 are the numbers of chapter 17. It reads in order, as from
a pipe (section 7.1), and gives out the bytes of a block once its Raw_Checksum held. It favours
clarity: expect about 100 KB per second, and some 10 bytes of memory per byte of a block.

Exit status: 0 decoded; 1 the file could not be read, or the output not written; 2 the file is not
a sound bwz file.
"""

import array
import bisect
import collections
import math
import os
import struct
import sys
import zlib

try:
    from compression import zstd  # in the standard library from Python 3.14
except ImportError:
    zstd = None


# 1. Conventions


class Reject(Exception):
    """Chapter 1: the file must be rejected."""


def require(held, number, what):
    """Chapter 1: where a rule does not hold, the file is rejected by this number of chapter 17."""
    if not held:
        raise Reject("%s (%s)" % (what, number))


def crc_holds(data):
    """Chapter 1: whether the last four bytes are the CRC-32 of those before them."""
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


class Reader:
    """The file as a pipe: bytes in order, and how many there were."""

    def __init__(self, file):
        self.file, self.offset = file, 0

    def up_to(self, size):
        """The next `size` bytes, or fewer where the file ends.

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


# 2. Overview

MAGIC = bytes.fromhex("F762777A")
SYNC_MARKER = bytes.fromhex("B5E17A962CD40F83")
SEEK_MARKER = bytes.fromhex("B5E17A96D32BF07C")
FOOTER_MAGIC = bytes.fromhex("7A7762F7")


def decode_file(reader, give_out):
    """Chapter 2, section 7.1: one or more frames, one directly after the other."""
    header = reader.up_to(16)
    require(header, "R01", "a file of 0 bytes is not a bwz file")
    require(MAGIC.startswith(header[:4]), "R01", "not a bwz file")
    while header:
        decode_frame(reader, header, give_out)
        header = reader.up_to(16)
        is_magic = MAGIC.startswith(header[:4])
        require(is_magic, "R24", "bytes after the last Footer that are not a frame")


def decode_frame(reader, header, give_out):
    """Chapter 2: Frame_Header (which was read already), blocks, Seek_Table and Tables, Footer."""
    frame_start = reader.offset - len(header)
    block_size = read_frame_header(header)
    entries = []  # of each block: Raw_Offset, Frame_Offset
    raw_offset, stream_checksum = 0, 0
    while True:
        frame_offset = reader.offset - frame_start
        marker = reader.exactly(8, "a frame, where a block or the Seek_Table must stand")
        if marker == SEEK_MARKER:
            break
        what = "neither a block nor the Seek_Table at %d" % (reader.offset - 8)
        require(marker == SYNC_MARKER, "R06", what)
        require(block_size > 0, "R05", "Block_Size is 0 in a frame with blocks")
        raw = decode_block(reader, block_size, raw_offset)
        give_out(raw)
        entries.append((raw_offset, frame_offset))
        raw_offset += len(raw)
        stream_checksum = zlib.crc32(raw, stream_checksum)
    require(entries or block_size == 0, "R05", "Block_Size is not 0 in a frame without blocks")
    seek_table_size = read_seek_table(reader, entries)
    frame_size = reader.offset - frame_start + 32
    read_footer(reader, (raw_offset, frame_size, seek_table_size, stream_checksum))


# 3. Frame_Header


def read_frame_header(header):
    """Chapter 3: gives Block_Size. Another version may change all but Magic and Version."""
    if len(header) > 4:
        what = "this is of %s of the format, and only draft 9 is known" % version_name(header[4])
        require(header[4] == 128 + 9, "R02", what)
    require(len(header) == 16, "R23", "the file ends within a Frame_Header")
    require(crc_holds(header), "R03", "wrong Header_Checksum of a Frame_Header")
    require(header[5] == 0 and header[6] == 0, "R04", "a Reserved bit of a Frame_Header is set")
    return field(header, 7, 5)


def version_name(version):
    """Chapter 3, Version."""
    if version == 1:
        return "draft 8 or an earlier one"
    return "draft %d" % (version - 128) if version >= 128 else "version %d" % version


# 4. Block

FILTERS, INDEXED, HAS_TABLES = 7, 8, 16  # bits of Flags
BlockHeader = collections.namedtuple("BlockHeader", (
    "block_kind", "flags", "sample_rate_log", "segment_size_log", "raw_size", "coded_size",
    "raw_checksum", "raw_offset", "payload_checksum"))


def decode_block(reader, block_size, raw_offset):
    """Section 4.2: a block after its Sync_Marker, which is due at this offset; gives raw bytes."""
    header = read_block_header(reader, block_size)
    what = "a Raw_Offset of %d instead of %d" % (header.raw_offset, raw_offset)
    require(header.raw_offset == raw_offset, "R12", what)
    where = "of the block at raw byte %d" % raw_offset
    payload = reader.exactly(header.coded_size, "the payload " + where)
    payload_holds = zlib.crc32(payload) == header.payload_checksum
    require(payload_holds, "R13", "wrong Payload_Checksum " + where)
    raw = payload if header.block_kind == 0 else decode_payload(payload, header)
    require(zlib.crc32(raw) == header.raw_checksum, "R18", "wrong Raw_Checksum " + where)
    return raw


def read_block_header(reader, block_size):
    """Chapter 4: a Block_Header after its Sync_Marker."""
    data = SYNC_MARKER + reader.exactly(34, "a Block_Header")
    what = "wrong Header_Checksum of a Block_Header at %d" % (reader.offset - 42)
    require(crc_holds(data), "R07", what)
    sizes = (field(data, 12, 5), field(data, 17, 5))
    header = BlockHeader(*data[8:12], *sizes, *struct.unpack_from("<IQI", data, 22))
    known_flags = FILTERS | INDEXED | HAS_TABLES if header.block_kind == 1 else 0
    require(header.flags & ~known_flags == 0, "R04", "a Reserved bit of a Block_Header is set")
    require(header.block_kind <= 1, "R08", "a block of Block_Kind %d" % header.block_kind)
    what = "a Raw_Size of %d, where Block_Size is %d" % (header.raw_size, block_size)
    require(1 <= header.raw_size <= block_size, "R10", what)
    if header.block_kind == 0:
        logs_are_0 = header.sample_rate_log == 0 and header.segment_size_log == 0
        require(logs_are_0, "R04", "a Reserved field of a stored block is set")
        is_raw_size = header.coded_size == header.raw_size
        require(is_raw_size, "R11", "a Coded_Size that is not Raw_Size in a stored block")
        return header
    hidden = header.flags & FILTERS > 1 and header.flags & INDEXED
    require(not hidden, "R04", "a block that is Indexed and has bit 1 or 2 of Filters")
    in_range = 3 <= header.sample_rate_log <= largest_sample_rate_log(header.raw_size)
    require(in_range, "R09", "a Sample_Rate_Log of %d" % header.sample_rate_log)
    in_range = 16 <= header.segment_size_log <= 30
    require(in_range, "R09", "a Segment_Size_Log of %d" % header.segment_size_log)
    is_smaller = 0 < header.coded_size < header.raw_size
    require(is_smaller, "R11", "a Coded_Size of 0 or not less than Raw_Size")
    return header


def largest_sample_rate_log(text_size):
    """Chapter 4, Sample_Rate_Log."""
    return max(16, (text_size - 1).bit_length() - 7)


def decode_payload(payload, header):
    """Section 4.1: the payload of a block of Block_Kind bwt; gives raw bytes."""
    filters = header.flags & FILTERS
    tables_end = check_tables(payload, 0, len(payload)) if header.flags & HAS_TABLES else 0
    text_size, side, start = read_side(payload, tables_end, filters, header)
    sample_rate, segment_size = 1 << header.sample_rate_log, 1 << header.segment_size_log
    samples, sizes_start = read_packed_array(payload, start, -(-text_size // sample_rate))
    in_range = min(samples) >= 1 and max(samples) <= text_size
    require(in_range, "R16", "a sample of 0 or above Text_Size")
    segment_sizes, at = read_packed_array(payload, sizes_start, -(-text_size // segment_size))
    index = None
    if header.flags & INDEXED:
        edge = min(text_size, 128)
        where = (start, sizes_start, at)
        index, at = read_index(payload, where, len(segment_sizes), edge)
        is_first = index["primary"] == samples[0]
        require(is_first, "R27", "a Primary_Index that is not Samples[0]")
    require(min(segment_sizes) >= 1, "R15", "a segment of 0 coded bytes")
    adds_up = sum(segment_sizes) == len(payload) - at
    require(adds_up, "R15", "Segment_Sizes that do not add up to the rest of the payload")
    bwt = bytearray()
    for k, coded_size in enumerate(segment_sizes):
        coded = payload[at:at + coded_size]
        segment = decode_segment(coded, min(segment_size, text_size - len(bwt)))
        if index:
            check_segment(index, k, coded, segment)
        bwt += segment
        at += coded_size
    text = invert(bwt, samples, sample_rate)
    if index:
        edges_hold = text.startswith(index["head"]) and text.endswith(index["tail"])
        require(edges_hold, "R27", "a Head or Tail that is not the text's")
    return undo_filters(text, filters, side, header.raw_size)


def read_side(payload, at, filters, header):
    """Section 4.1: Text_Size, Side, and where Samples start."""
    if filters == 0:
        return header.raw_size, b"", at
    side = at + 10
    require(len(payload) >= side, "R28", "a Side that ends after the payload")
    text_size, side_size = field(payload, at, 5), field(payload, at + 5, 5)
    in_range = 1 <= text_size <= header.raw_size
    in_range = in_range and header.sample_rate_log <= largest_sample_rate_log(text_size)
    require(in_range, "R28", "a Text_Size of %d" % text_size)
    require(side + side_size <= len(payload), "R28", "a Side that ends after the payload")
    return text_size, payload[side:side + side_size], side + side_size


# 5. Seek_Table


def read_seek_table(reader, entries):
    """Chapter 5: a Seek_Table after its Seek_Marker, which must hold these entries.

    Gives Seek_Table_Size. Without zstd the checksum must do for Form zstd: it shows that Entries
    are undamaged, and nothing that this decoder gives out rests on them.
    """
    header = SEEK_MARKER + reader.exactly(20, "a Seek_Table")
    require(crc_holds(header), "R19", "wrong Header_Checksum of a Seek_Table")
    form, flags = header[8:10]
    block_count, entries_size = field(header, 10, 5), field(header, 15, 5)
    require(flags <= 1, "R04", "a Reserved bit of a Seek_Table is set")
    require(form <= 1, "R20", "a Seek_Table of Form %d" % form)
    what = "a Block_Count of %d after %d blocks" % (block_count, len(entries))
    require(block_count == len(entries), "R20", what)
    plain = b"".join(struct.pack("<QQ", *entry) for entry in entries)
    size_fits = entries_size == len(plain) if form == 0 else entries_size < len(plain)
    what = "an Entries_Size of %d for %d blocks" % (entries_size, block_count)
    require(size_fits, "R20", what)
    coded = reader.exactly(entries_size, "a Seek_Table")
    entries_hold = zlib.crc32(coded) == field(header, 20, 4)
    require(entries_hold, "R19", "wrong Entries_Checksum of a Seek_Table")
    if form == 1 and zstd:
        coded = unzstd(coded, len(plain))
    if form == 0 or zstd:
        require(coded == plain, "R20", "Entries of a Seek_Table that do not match the blocks")
    return 28 + entries_size + (read_tables(reader) if flags & 1 else 0)


def unzstd(coded, size):
    """The content of one zstd frame that holds at most `size` bytes, or None."""
    decompressor = zstd.ZstdDecompressor()
    try:
        plain = decompressor.decompress(coded, max_length=size + 1)
    except zstd.ZstdError:
        return None
    return plain if decompressor.eof and not decompressor.unused_data else None


# 6. Footer


def read_footer(reader, due):
    """Chapter 6: a Footer, whose first four fields must be these."""
    footer = reader.exactly(32, "a Footer")
    require(footer[28:] == FOOTER_MAGIC, "R21", "wrong Footer_Magic")
    require(crc_holds(footer[:28]), "R21", "wrong Footer_Checksum")
    names = ("Total_Raw_Size", "Frame_Size", "Seek_Table_Size", "Stream_Checksum")
    fields = (field(footer, 0, 8), field(footer, 8, 7), field(footer, 15, 5))
    for name, says, is_due in zip(names, fields + (field(footer, 20, 4),), due):
        require(says == is_due, "R22", "a %s of %d that should be %d" % (name, says, is_due))


# 8. Packed_Array and Tables


def read_packed_array(payload, at, count):
    """Section 8.1: gives the values, at least one, and where the array ends."""
    require(at < len(payload), "R15", "a Packed_Array that ends after the payload")
    width = payload[at]
    require(1 <= width <= 40, "R14", "a Packed_Array of Width %d" % width)
    end = at + 1 + (count * width + 7) // 8
    require(end <= len(payload), "R15", "a Packed_Array that ends after the payload")
    values = []
    bits, bit_count = 0, 0  # bits of Values that are not in a value yet, and how many they are
    for byte in payload[at + 1:end]:
        bits |= byte << bit_count
        bit_count += 8
        while bit_count >= width and len(values) < count:
            values.append(bits & ((1 << width) - 1))
            bits >>= width
            bit_count -= width
    require(bits == 0, "R14", "a bit after the last value of a Packed_Array is set")
    return values, end


def read_tables(reader):
    """Section 8.2: the Tables of a frame; gives their size, that of Tables_Size included."""
    data = reader.exactly(5, "Tables")
    data += reader.exactly(field(data, 0, 5), "Tables")
    return check_tables(data, 0, len(data))


def check_tables(data, at, end):
    """Section 8.2: Tables at `at`, which must end before `end` does; gives where they end."""
    tables_end = at + 5 + field(data, at, 5)
    require(at + 5 <= end and tables_end <= end, "R29", "Tables that end after the payload")
    at += 5
    require(at < tables_end, "R29", "Tables without a table")
    while at < tables_end:
        require(at + 10 <= tables_end, "R29", "a table that ends after Tables_Size")
        content, content_end = at + 10, at + 10 + field(data, at + 1, 5)
        require(content_end <= tables_end, "R29", "a table that ends after Tables_Size")
        checksum = zlib.crc32(data[content:content_end], zlib.crc32(data[at:at + 6]))
        require(checksum == field(data, at + 6, 4), "R29", "a wrong Checksum of a table")
        what = "a table of Type %d, which a later version knows" % data[at]
        require(data[at] < 128, "R30", what)
        at = content_end
    return tables_end


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
    lf = array.array("I", [0]) * (n + 2)
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


def read_index(payload, where, segments, edge):
    """Section 10.1: Index; gives its fields, and where it ends. `where` has the offsets of Samples,
    Segment_Sizes and Index in the payload.

    Without zstd, Counts of Form zstd are None: nothing that this decoder gives out rests on them.
    """
    samples_start, sizes_start, start = where
    require(start + 20 <= len(payload), "R26", "an Index that ends after the payload")
    form, reserved = payload[start:start + 2]
    counts_size, primary = field(payload, start + 2, 5), field(payload, start + 7, 5)
    samples_checksum, index_checksum = struct.unpack_from("<II", payload, start + 12)
    require(reserved == 0, "R04", "a Reserved bit of an Index is set")
    require(form <= 1, "R26", "an Index of Form %d" % form)
    head = start + 20 + 4 * segments
    counts, end = head + 2 * edge, head + 2 * edge + counts_size
    require(end <= len(payload), "R26", "an Index that ends after the payload")
    samples_hold = zlib.crc32(payload[samples_start:sizes_start]) == samples_checksum
    require(samples_hold, "R25", "a wrong Samples_Checksum")
    checked = payload[sizes_start:start + 16] + payload[start + 20:end]
    require(zlib.crc32(checked) == index_checksum, "R25", "a wrong Index_Checksum")
    plain = payload[counts:end]
    if form == 1:
        plain = unzstd(plain, 32 + 4 * 256 * segments) if zstd else None
        require(plain is not None or not zstd, "R26", "Counts that are not one zstd frame")
    if plain is not None:
        n = sum(bin(byte).count("1") for byte in plain[:32])
        size_fits = n > 0 and len(plain) == 32 + 4 * n * segments
        require(size_fits, "R26", "Counts of %d bytes" % len(plain))
    index = {
        "primary": primary,
        "checksums": struct.unpack_from("<%dI" % segments, payload, start + 20),
        "head": payload[head:head + edge],
        "tail": payload[head + edge:counts],
        "counts": plain,
    }
    return index, end


def check_segment(index, k, coded, segment):
    """Section 10.1: what Index says of segment `k`."""
    require(zlib.crc32(coded) == index["checksums"][k], "R27", "a wrong Segment_Checksum")
    plain, segments = index["counts"], len(index["checksums"])
    if plain is None:
        return
    present = [c for c in range(256) if plain[c // 8] >> (c % 8) & 1]
    plane = len(present) * segments
    for m, c in enumerate(present):
        count = sum(plain[32 + p * plane + m * segments + k] << (8 * p) for p in range(4))
        require(count == segment.count(c), "R27", "a count that is not that of its segment")
    require(set(segment) <= set(present), "R27", "a byte of a segment that Counts does not know")


# 11. Binary coder


class BinaryDecoder:
    """Chapter 11: `rejected` is the number of what is wrong with the coded bytes."""

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


# 12. Filters


class Side:
    """Chapter 12: what the filters need."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        """The next `size` bytes."""
        require(self.at + size <= len(self.data), "R28", "a filter's field that ends after Side")
        self.at += size
        return self.data[self.at - size:self.at]

    def byte(self):
        """A field of 1 byte."""
        return self.take(1)[0]

    def varint(self):
        """Section 12.1."""
        value = 0
        for shift in range(0, 42, 7):
            byte = self.byte()
            value |= (byte & 127) << shift
            if byte < 128:
                break
        require(byte < 128 and value < 1 << 40, "R28", "a varint that is too large")
        return value


def undo_filters(text, filters, side_bytes, raw_size):
    """Chapter 12: the filters in the order in which they are undone; gives raw bytes."""
    side = Side(side_bytes)
    if filters & 4:
        text = undo_matches(text, side, raw_size)
    if filters & 2:
        text = undo_regions(text, side)
    if filters & 1:
        text = undo_unwrap(text, side)
    require(side.at == len(side_bytes), "R28", "bytes of Side left over")
    require(len(text) == raw_size, "R28", "filters that give another number of bytes than Raw_Size")
    return text


def new_bit_model():
    """Section 12.2: a Bit_Model is a list of Prob and Seen."""
    return [32768, 0]


def read_bit(decoder, bit_model):
    """Section 12.2."""
    prob, seen = bit_model
    shift = 2 if seen < 4 else 3 if seen < 12 else 4 if seen < 30 else 5
    bit = decoder.read(prob)
    bit_model[:] = prob + ((65535 - prob) >> shift) if bit else prob - (prob >> shift), seen + 1
    return bit


class Tree:
    """Section 12.2."""

    def __init__(self, bits):
        self.bits, self.models = bits, [new_bit_model() for _ in range(1 << bits)]

    def read(self, decoder):
        """A value."""
        node = 1
        for _ in range(self.bits):
            node = 2 * node + read_bit(decoder, self.models[node])
        return node - (1 << self.bits)


class Number:
    """Section 12.2."""

    def __init__(self):
        self.tree = Tree(5)
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


def undo_matches(text, side, raw_size):
    """Section 12.3."""
    output_size, match_count, matches_size = side.varint(), side.varint(), side.varint()
    decoder = BinaryDecoder(side.take(matches_size), 0, "R28")
    require(output_size <= raw_size, "R28", "an Output_Size above Raw_Size")
    literals_number, length_number = [Number() for _ in range(6)], [Number() for _ in range(6)]
    code_tree, near_tree, distance_number = [Tree(3) for _ in range(6)], Tree(7), Number()
    last, repeat = 5, [0, 0, 0, 0]
    output, at = bytearray(), 0
    for _ in range(match_count):
        literals = literals_number[last].read(decoder)
        code = code_tree[last].read(decoder)
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


def undo_regions(text, side):
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


def undo_unwrap(text, side):
    """Section 12.8."""
    line_width, exception_count = side.varint(), side.varint()
    require(line_width >= 1, "R28", "a Line_Width of 0")
    pairs = [(side.varint(), side.varint()) for _ in range(exception_count)]
    lines, n = text.split(b"\n"), 0
    exceptions = set()
    for step, times in pairs:
        is_new = step > 0 or times == 0 or n == 0 and not exceptions and times == 1
        is_line = n + step * times < len(lines)
        require(is_new and is_line, "R28", "a line that is not there, or is listed twice")
        exceptions.update(n + step * (k + 1) for k in range(times))
        n += step * times
    wrapped = []
    for n, line in enumerate(lines):
        if n in exceptions or not line:
            wrapped.append(line)
        else:
            wrapped += [line[at:at + line_width] for at in range(0, len(line), line_width)]
    return b"\n".join(wrapped)


# 13. Segments

BYTES = [bytes([c]) for c in range(256)]


def decode_segment(coded, segment_size):
    """Chapter 13: one segment, which has Segment_Size bytes when decoded."""
    segment_kind = coded[0]
    require(segment_kind <= 3, "R17", "a segment of Segment_Kind %d" % segment_kind)
    if segment_kind == 0:
        require(len(coded) == 1 + segment_size, "R17", "a stored segment of the wrong size")
        return coded[1:]
    if segment_kind == 2:
        return decode_mixing(coded, segment_size)
    require(len(coded) >= 2, "R17", "a segment that ends before Last_Symbol")
    last_symbol = coded[1]
    symbols = coded[2:2 + last_symbol + 1]
    require(len(symbols) == last_symbol + 1, "R17", "a segment that ends within Symbols")
    require(len(set(symbols)) == last_symbol + 1, "R17", "a byte that is in Symbols twice")
    rans = Rans(coded, 2 + last_symbol + 1)
    if segment_kind == 3:
        return decode_runs(symbols, rans, StaticModel(rans), segment_size, None)
    return decode_runs(symbols, rans, AdaptiveModel(rans), segment_size, BATCH_RUNS)


# 14. Context mixing


def decode_mixing(coded, segment_size):
    """Section 14.5."""
    tree, at = read_tree(coded)
    decoder = BinaryDecoder(coded, at, "R17")
    model = MixingModel(decoder)
    out = bytearray()
    while len(out) < segment_size:
        s = model.read_byte(tree)
        length = model.read_number(s) + 1
        fits = length <= segment_size - len(out)
        require(fits, "R17", "a run that reaches beyond its segment")
        out += BYTES[s] * length
        model.add(s, length)
    decoder.require_end()
    return out


def read_tree(coded):
    """Section 14.1: gives the tree of Present and Leaf_Weights, and where Runs start.

    A tree is a byte, or the list [number, Group, Heap_Index, Split, left, right] of a node, left
    and right being trees.
    """
    require(len(coded) >= 33, "R17", "a segment that ends within Present")
    present = [c for c in range(256) if coded[1 + c // 8] >> c % 8 & 1]
    require(present, "R17", "a segment without bytes")
    end = 33 + (len(present) + 1) // 2
    require(len(coded) >= end, "R17", "a segment that ends within Leaf_Weights")
    weights = [1 << (1 + (coded[33 + k // 2] >> k % 2 * 4 & 15)) for k in range(len(present))]
    # The leaves of each side, what the side is, and the node that it is a side of.
    root = [None]
    sides = [(list(zip(present, weights)), root, 0)]
    nodes, groups = [], 0
    for leaves, parent, slot in sides:
        if len(leaves) == 1:
            parent[slot] = leaves[0][0]
            continue
        m = division([weight for _, weight in leaves])
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
    """The low 32 bits of a number, as a signed one (14.3)."""
    return (number + (1 << 31) & 0xFFFFFFFF) - (1 << 31)


def division(weights):
    """Section 14.1: how many leaves go to the left."""
    total, left, best = sum(weights), 0, None
    for m in range(1, len(weights)):
        left += weights[m - 1]
        if best is None or abs(total - 2 * left) < best[0]:
            best = abs(total - 2 * left), m
    return best[1]


LOGISTIC = [32768, 36843, 40793, 44511, 47911, 50941, 53581, 55834, 57724, 59287, 60565,
            61598, 62428, 63090, 63615, 64030, 64357, 64614, 64816, 64974, 65097, 65194,
            65269, 65328, 65374, 65410, 65438, 65459, 65476, 65489, 65500, 65508, 65514]


def squash(x):
    """Section 14.2."""
    if x < 0:
        return 65536 - squash(-x)
    k = x >> 6
    return LOGISTIC[k] + ((LOGISTIC[k + 1] - LOGISTIC[k]) * (x % 64) >> 6)


def log(y):
    """Section 14.2."""
    return (lg(y) - 1 << 23) + (y << 23 - lg(y))


STRETCH = [log(2 * p + 1) - log(8191 - 2 * p) >> 15 for p in range(4096)]
RATES = [160, 98, 71, 55, 46, 39, 34, 30, 27, 24, 21, 18, 16, 14, 12, 10]


class Mixer:
    """Section 14.3. What it keeps is made when it is first used."""

    def __init__(self, decoder, bits, limits):
        self.decoder, self.bits, self.limits = decoder, bits, limits
        new_set = lambda: [(2048, 0)] * 8
        self.probabilities = [collections.defaultdict(new_set) for _ in limits]  # P and N
        self.weights = [collections.defaultdict(lambda: [42000] * 8) for _ in range(2)]
        self.common_weights = [42000] * 8
        start = [squash(clamp(128 * k - 2048, -2047, 2047)) for k in range(33)]
        self.apms = collections.defaultdict(start.copy)

    def read(self, sets, which, weight_sets, apm):
        """A binary symbol in this context: a set of each input, which of the 8, and so on."""
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
    """Section 14.4: `hash`."""
    return (x + 1) * 0x9E3779B1 % (1 << 32)


def quantise(average):
    """Section 14.4."""
    return min(lg(average + 1), 7)


class MixingModel:
    """Section 14.4: the state between runs, and the mixers."""

    def __init__(self, decoder):
        self.symbol_mixer = Mixer(decoder, 15, (2, 14, 10, 15, 15, 15, 15))
        self.length_mixer = Mixer(decoder, 13, (15,) * 5)
        self.c1 = self.c2 = self.c3 = 0
        self.recent, self.after = [0] * 256, collections.defaultdict(int)
        self.own_length, self.own_history = [0] * 256, [0] * 256
        self.own_average, self.own_last = [0] * 256, [0] * 256
        self.all_history = self.all_average = self.run_count = 0

    def read_byte(self, tree):
        """Section 14.6: the byte of a run."""
        c1, c2 = self.c1, self.c2
        two = hash_of(256 * c2 + c1)
        three = hash_of(two ^ self.c3)
        may_be_same = self.run_count > 0
        while not isinstance(tree, int):
            n, g, h, split, *children = tree
            side = int(c1 >= split)
            if may_be_same and children[side] == c1:
                may_be_same, tree = False, children[1 - side]
                continue
            case = 3 * n + (1 + side if may_be_same else 0)
            recent, after = self.recent[n], self.after[c1, n]
            sets = (g, g, 128 * c1 ^ g, two >> 17 ^ g, 128 * c2 ^ g, 128 * after ^ g,
                    three >> 17 ^ g)
            weight_sets = 4 * case + recent % 4, 256 * (self.all_history % 16) + c1
            d = self.symbol_mixer.read(sets, h, weight_sets, 2 * case + recent % 2)
            self.recent[n] = (2 * recent + d) % 256
            self.after[c1, n] = (2 * after + d) % 256
            may_be_same, tree = may_be_same and d == side, children[d]
        return tree

    def read_number(self, s):
        """Section 14.7: the length of a run of s, less 1."""
        a = quantise(self.own_average[s])
        both = 8 * a + quantise(self.all_average)
        gap = min(lg(max(self.run_count - self.own_last[s], 1)), 15)
        length = min(self.own_length[s], 15)
        sets = (s, 16 * both + length, 16 * both + gap, 16 * self.own_history[s] + gap,
                8 * self.all_history + a)

        def symbol_at(k):
            m = min(k, 15)
            at_k = [number ^ (k >> 3) * 0x1357 for number in sets]
            return self.length_mixer.read(at_k, k % 8, (16 * m + length, s), 16 * s + m)

        for k in range(8):
            if symbol_at(k):
                return k
        extra_bits = 0
        while extra_bits < 30 and not symbol_at(8 + extra_bits):
            extra_bits += 1
        value = 1
        for j in range(extra_bits):
            value = 2 * value + symbol_at(64 + 32 * extra_bits + (value if j < 5 else 0))
        return value + 7

    def add(self, s, length):
        """Section 14.8: after a run."""
        bucket, sixteenths = min(lg(length), 3), 16 * min(length - 1, 40)
        self.c1, self.c2, self.c3 = s, self.c1, self.c2
        self.all_history = (4 * self.all_history + bucket) % 256
        self.own_history[s] = (4 * self.own_history[s] + bucket) % 256
        self.all_average = (7 * self.all_average + sixteenths) >> 3
        self.own_average[s] = (3 * self.own_average[s] + sixteenths) >> 2
        self.own_length[s] = min(length, 255)
        self.own_last[s] = self.run_count
        self.run_count += 1


# 15. Adaptive rANS

BATCH_RUNS = 32768


def decode_runs(symbols, rans, model, segment_size, batch_runs):
    """Section 15.1: the model goes on from batch to batch. None is one batch of all runs."""
    front = list(symbols)  # List
    out = bytearray()
    runs = 0
    while True:
        if runs == 0 or batch_runs and runs % batch_runs == 0:
            rans.begin_batch()
        s = front[0]
        run_length = model.read_run_length(s)
        fits = run_length <= segment_size - len(out)
        require(fits, "R17", "a run that reaches beyond its segment")
        out += BYTES[s] * run_length
        if len(out) == segment_size:
            break
        mtf_rank = model.read_mtf_rank(s, run_length)
        require(mtf_rank < len(front), "R17", "an MTF_Rank above Last_Symbol")
        del front[0]
        front.insert(mtf_rank, s)
        runs += 1
        model.add(s, run_length - 1, mtf_rank - 1)
        if batch_runs and runs % batch_runs == 0:
            rans.end_batch()
    rans.end_batch()
    require(rans.at == len(rans.coded), "R17", "coded bytes left over at the end of a segment")
    return out


class Rans:
    """Section 15.2: the states and the words that they take."""

    def __init__(self, coded, at):
        self.coded, self.at = coded, at

    def begin_batch(self):
        """State_0 and State_1."""
        states_end = self.at + 8
        require(states_end <= len(self.coded), "R17", "a segment that ends within its states")
        self.state = list(struct.unpack_from("<II", self.coded, self.at))
        self.at = states_end
        require(min(self.state) >= 1 << 16, "R17", "a state that begins below 2^16")

    def end_batch(self):
        """After the last symbol of a batch."""
        require(self.state == [1 << 16, 1 << 16], "R17", "a state that does not end at 2^16")

    def take(self, k, start, freq):
        """Takes the symbol that owns `freq` slots from `start` on, one of them State_k's."""
        x = self.state[k]
        x = freq * (x >> 15) + (x & 32767) - start
        if x < 1 << 16:
            word = self.coded[self.at:self.at + 2]
            require(len(word) == 2, "R17", "a segment that ends where a word is needed")
            self.at += 2
            x = x << 16 | word[0] | word[1] << 8
        self.state[k] = x

    def read_value(self, k, bits):
        """Section 15.5: a symbol of 0 to 2^bits - 1 that all own the same number of slots."""
        value = (self.state[k] & 32767) >> (15 - bits)
        self.take(k, value << (15 - bits), 1 << (15 - bits))
        return value


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


def starts_of(frequencies):
    """Section 15.3: C[0] to C[16] of an adaptive CDF, where the first and the last are the ends."""
    return [(32752 * sum(frequencies[:j]) >> 10) + j for j in range(17)]


# The C of new adaptive CDFs. Learning makes new lists, so that all new ones can share these.
FLAT = [[(32752 * min(j, 1 << bits) >> bits) + j for j in range(17)] for bits in range(5)]
RUN_STARTS = [starts_of(frequencies) for frequencies in RUN_FREQUENCIES]
RANK_STARTS = [starts_of(frequencies) for frequencies in RANK_FREQUENCIES]
OWN_RUN_STARTS = [RUN_STARTS[context] for context in (0, 2, 5, 9)]
OWN_RANK_STARTS = [RANK_STARTS[context] for context in (1, 2, 6, 14)]

# Rate at first and Least, of A and of B.
RUN_RATES, RANK_RATES = ((5461, 410), (1680, 262)), ((5461, 819), (1680, 410))
OTHER_RATES = ((8738, 512), (4096, 512))


class AdaptiveCdf:
    """Section 15.3."""

    def __init__(self, c, rate, least):
        self.c, self.rate, self.least = c, rate, least

    def learn(self, s):
        """C[0] and C[16] learn with the others, which leaves them at 0 and 32768."""
        r = max(self.rate, self.least)
        targets = enumerate(self.c)
        self.c = [x + ((j + (32752 if j > s else 0) - x) * r >> 16) for j, x in targets]
        self.rate += -self.rate * r >> 16


class CdfPair:
    """Section 15.3: tables A and B of adaptive CDFs, which are made when they are first used.

    `first_a` and `first_b` give the C of a new one by its index.
    """

    def __init__(self, first_a, first_b, rates=OTHER_RATES):
        self.first_a, self.first_b, self.rates = first_a, first_b, rates
        self.a, self.b = {}, {}

    def read(self, rans, k, a, b):
        """A symbol from State_k, with the adaptive CDFs of these indices."""
        if a not in self.a:
            self.a[a] = AdaptiveCdf(self.first_a(a), *self.rates[0])
        if b not in self.b:
            self.b[b] = AdaptiveCdf(self.first_b(b), *self.rates[1])
        a, b = self.a[a], self.b[b]
        slot = rans.state[k] & 32767
        s, start = 0, 0             # Start[s] <= Slot
        above, end = 16, 32768      # Slot < Start[above]
        while above - s > 1:        # Start rises, so that halving finds the symbol
            j = (s + above) >> 1
            start_j = (a.c[j] + b.c[j] + 1) >> 1
            if start_j <= slot:
                s, start = j, start_j
            else:
                above, end = j, start_j
        rans.take(k, start, end - start)
        a.learn(s)
        b.learn(s)
        return s


def add(average, number):
    """Section 15.4."""
    return (3 * average + math.isqrt(1600 * (min(number, 255) + 1)) - 40 + 2) >> 2


def contexts(*limits):
    """Section 15.4: the function that quantises an average by these limits."""
    return lambda average: bisect.bisect_right(limits, average)


run_context = contexts(2, 4, 7, 15, 23, 34, 52, 80, 160, 280)
rank_context = contexts(1, 3, 8, 14, 20, 26, 34, 44, 56, 68, 84, 105, 140, 190, 290)
own_run_context = contexts(2, 10, 58)
own_rank_context = contexts(4, 15, 60)
beside_context = contexts(1, 4, 12, 21, 42, 80, 270)
all_run_context = contexts(2, 4, 7, 15, 30, 68, 280)
all_rank_context = contexts(2, 3, 9, 20, 40, 80, 260)


class AdaptiveModel:
    """Sections 15.4 and 15.5: the model state, the models, and the numbers read with them."""

    def __init__(self, rans):
        self.rans = rans
        self.run_average, self.rank_average, self.own_extra = ([0] * 256 for _ in range(3))
        self.all_run_average = self.all_rank_average = self.last_extra = 0
        self.last_run = self.last_rank = self.rank_before = 0
        self.run = CdfPair(lambda a: OWN_RUN_STARTS[a % 4], lambda b: RUN_STARTS[b % 16], RUN_RATES)
        self.rank = CdfPair(
            lambda a: OWN_RANK_STARTS[a % 4], lambda b: RANK_STARTS[b // 4 % 16], RANK_RATES)
        self.extra = CdfPair(lambda a: FLAT[4], lambda b: FLAT[4])
        self.top = [
            CdfPair(lambda a: FLAT[min(a // 256, 4)], lambda v: FLAT[min(v, 4)])
            for _ in range(2)]
        self.next = [
            CdfPair(lambda a: FLAT[min(a // 16 - 4, 4)], lambda v: FLAT[min(v - 4, 4)])
            for _ in range(2)]

    def read_run_length(self, c):
        """Section 15.5: Run_Length of a run of byte c."""
        average = self.run_average[c]
        b = 1024 * self.rank_before + 128 * all_run_context(self.all_run_average)
        b += 16 * beside_context(self.rank_average[c]) + run_context(average)
        bucket = self.run.read(self.rans, 0, 4 * c + own_run_context(average), b)
        return self.read_number(0, bucket, c) + 1

    def read_mtf_rank(self, c, run_length):
        """Section 15.5: MTF_Rank of byte c after a run of Run_Length."""
        average = self.rank_average[c]
        b = 256 * all_rank_context(self.all_rank_average) + 64 * self.rank_before
        b += 4 * rank_context(average) + min(lg(run_length), 3)
        bucket = self.rank.read(self.rans, 1, 4 * c + own_rank_context(average), b)
        return self.read_number(1, bucket, c) + 1

    def add(self, c, run, rank):
        """Section 15.4: after a run of byte c and its MTF rank, both less 1."""
        self.run_average[c] = add(self.run_average[c], run)
        self.rank_average[c] = add(self.rank_average[c], rank)
        self.all_run_average = add(self.all_run_average, self.last_run)
        self.all_rank_average = add(self.all_rank_average, self.last_rank)
        self.rank_before = min(self.last_rank, 3)
        self.last_run, self.last_rank = run, rank

    def read_number(self, k, bucket, c):
        """Section 15.5: the number that begins with Bucket."""
        if bucket < 10:
            return bucket
        extra_bits = bucket - 8
        if k == 0 and bucket == 15:
            extra_bits = self.read_extra_bits(c)
        v = min(extra_bits, 15)
        top = self.top[k].read(self.rans, k, 256 * v + c, v)
        extra = top % (1 << min(extra_bits, 4))
        left = max(extra_bits - 4, 0)
        if left > 0:
            bits = min(left, 4)
            left -= bits
            value = self.next[k].read(self.rans, k, 16 * v + top, v)
            extra = (extra << bits) + value % (1 << bits)
        while left > 0:
            bits = min(left, 8)
            left -= bits
            extra = (extra << bits) + self.rans.read_value(k, bits)
        return (1 << extra_bits) + extra + 6

    def read_extra_bits(self, c):
        """Section 15.5: Extra_Bits of a long run."""
        excess = self.extra.read(self.rans, 0, self.own_extra[c], self.last_extra)
        if excess == 15:
            excess += self.extra.read(self.rans, 0, 32 + self.own_extra[c], 32 + self.last_extra)
        extra_bits = 7 + excess
        require(extra_bits <= 30, "R17", "an Extra_Bits of %d" % extra_bits)
        self.own_extra[c] = self.last_extra = extra_bits
        return extra_bits


# 16. Static rANS


class StaticModel:
    """Chapter 16: the tables of a segment, and the numbers that are read with them."""

    def __init__(self, rans):
        self.rans = rans
        self.tables = [self.read_table() for _ in range(39)]
        self.run_average, self.rank_average = [0] * 256, [0] * 256

    def read_table(self):
        """Start[0] to Start[16]."""
        rans = self.rans
        require(rans.at < len(rans.coded), "R17", "a segment that ends before a table")
        count = rans.coded[rans.at]
        codes = rans.coded[rans.at + 1:rans.at + 1 + count]
        require(count <= 16, "R17", "a table of %d symbols" % count)
        require(len(codes) == count, "R17", "a segment that ends within a table")
        rans.at += 1 + count
        weights = [code if code < 16 else (8 + code % 8) << (code // 8 - 1) for code in codes]
        total = max(sum(weights), 1)
        return [sum(weights[:j]) * 32752 // total + j for j in range(16)] + [32768]

    def read(self, k, table):
        """A symbol from State_k."""
        start, slot = self.tables[table], self.rans.state[k] & 32767
        s = max(j for j in range(16) if start[j] <= slot)
        self.rans.take(k, start[s], start[s + 1] - start[s])
        return s

    def read_run_length(self, c):
        """Run_Length of a run of byte c."""
        return self.read_number(0, self.read(0, run_context(self.run_average[c]))) + 1

    def read_mtf_rank(self, c, run_length):
        """MTF_Rank of byte c."""
        return self.read_number(1, self.read(1, 11 + rank_context(self.rank_average[c]))) + 1

    def add(self, c, run, rank):
        """After a run of byte c and its MTF rank, both less 1."""
        self.run_average[c] = add(self.run_average[c], run)
        self.rank_average[c] = add(self.rank_average[c], rank)

    def read_number(self, k, bucket):
        """The number that begins with Bucket."""
        if bucket < 10:
            return bucket
        extra_bits = bucket - 8
        if k == 0 and bucket == 15:
            extra_bits = 7 + self.rans.read_value(0, 5)
            require(extra_bits <= 30, "R17", "an Extra_Bits of %d" % extra_bits)
        top = self.read(k, 27 + 6 * k + min(extra_bits, 7) - 2)
        extra = top % (1 << min(extra_bits, 4))
        left = max(extra_bits - 4, 0)
        while left > 0:
            bits = min(left, 8)
            left -= bits
            extra = (extra << bits) + self.rans.read_value(k, bits)
        return (1 << extra_bits) + extra + 6


# The command


def give_out(raw):
    """Writes to standard output, past Python's buffers, so that nothing is left to fail at exit."""
    view = memoryview(raw)
    while len(view) > 0:
        view = view[os.write(1, view):]


def main(arguments):
    """The command: gives the exit status."""
    if len(arguments) > 1:
        print("usage: decoder.py [FILE]", file=sys.stderr)
        return 1
    name = arguments[0] if arguments else "-"
    try:
        with open(0 if name == "-" else name, "rb") as file:
            decode_file(Reader(file), give_out)
        return 0
    except Reject as problem:
        status, what = 2, problem
    except BrokenPipeError:
        return 1  # whoever reads the output wants no more
    except OSError as problem:
        status, what = 1, problem
    except MemoryError:
        status, what = 1, "not enough memory for a block of this file"
    print("decoder.py: %s" % what, file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
