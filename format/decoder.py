#!/usr/bin/env python3
"""A reference decoder of the bwz format, written from FORMAT.md alone.

    python3 decoder.py FILE > RAW         or         ... | python3 decoder.py > RAW

It is meant to be read beside FORMAT.md and follows its order; numbers such as 7.3 are sections of that page, and R01 to R28
are the numbers of section 11. It reads in order, as from a pipe (section 10), and gives out the bytes of a block once its
Raw_Checksum held. It favours clarity: expect about 100 KB per second, and some 10 bytes of memory per byte of a block.

Exit status: 0 decoded; 1 the file could not be read, or the output not written; 2 the file is not a sound bwz file.
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

MAGIC = bytes.fromhex("F762777A")
SYNC_MARKER = bytes.fromhex("B5E17A962CD40F83")
SEEK_MARKER = bytes.fromhex("B5E17A96D32BF07C")
FOOTER_MAGIC = bytes.fromhex("7A7762F7")


class Reject(Exception):
    """Section 11: the file must be rejected."""


def require(held, number, what):
    """Section 11: where something does not hold, the file must be rejected for the reason of this number."""
    if not held:
        raise Reject("%s (%s)" % (what, number))


class Reader:
    """The file as a pipe: bytes in order, and how many there were."""

    def __init__(self, file):
        self.file, self.offset = file, 0

    def up_to(self, size):
        """The next `size` bytes, or fewer where the file ends. In steps, so that a damaged size asks for no memory."""
        data = bytearray()
        while len(data) < size:
            part = self.file.read(min(size - len(data), 1 << 20))
            if not part:
                break
            data += part
        self.offset += len(data)
        return bytes(data)

    def exactly(self, size, what):
        data = self.up_to(size)
        require(len(data) == size, "R23", "the file ends within %s" % what)
        return data


def crc_holds(data):
    """Whether the last four bytes are the CRC-32 (section 1) of those before them."""
    return zlib.crc32(data[:-4]) == int.from_bytes(data[-4:], "little")


def decode_file(reader, give_out):
    """Sections 2 and 10: one or more frames, one directly after the other."""
    header = reader.up_to(16)
    require(header, "R01", "a file of 0 bytes is not a bwz file")
    require(MAGIC.startswith(header[:4]), "R01", "not a bwz file")
    while header:
        decode_frame(reader, header, give_out)
        header = reader.up_to(16)
        require(MAGIC.startswith(header[:4]), "R24", "bytes after the last Footer that are not a frame")


def decode_frame(reader, header, give_out):
    """Section 2: Frame_Header (which was read already), Blocks, Seek_Table, Footer."""
    frame_start = reader.offset - len(header)
    block_size = read_frame_header(header)
    entries = []  # of each block: Raw_Offset, Frame_Offset
    raw_offset, stream_checksum = 0, 0
    while True:
        frame_offset = reader.offset - frame_start
        marker = reader.exactly(8, "a frame, where a block or the Seek_Table must stand")
        if marker == SEEK_MARKER:
            break
        require(marker == SYNC_MARKER, "R06", "neither a block nor the Seek_Table at %d" % (reader.offset - 8))
        require(block_size > 0, "R05", "Block_Size is 0 in a frame with blocks")
        require(raw_offset == len(entries) * block_size, "R10", "a short block that is not the last")
        raw = read_block(reader, block_size, raw_offset)
        give_out(raw)
        entries.append((raw_offset, frame_offset))
        raw_offset += len(raw)
        stream_checksum = zlib.crc32(raw, stream_checksum)
    require(entries or block_size == 0, "R05", "Block_Size is not 0 in a frame without blocks")
    seek_table_size = read_seek_table(reader, entries)
    frame_size = reader.offset - frame_start + 32
    read_footer(reader, (raw_offset, frame_size, seek_table_size, stream_checksum))


def read_frame_header(header):
    """Section 3: gives Block_Size. Version comes first: all but Magic may be different in a later version."""
    if len(header) > 4:
        require(header[4] == 1, "R02", "this is version %d of the format, and only version 1 is known" % header[4])
    require(len(header) == 16, "R23", "the file ends within a Frame_Header")
    require(crc_holds(header), "R03", "wrong Header_Checksum of a Frame_Header")
    flags, reserved, block_size = struct.unpack_from("<BHI", header, 5)
    require(flags == 0 and reserved == 0, "R04", "a Reserved bit of a Frame_Header is set")
    require(block_size < 1 << 31, "R05", "a Block_Size of %d" % block_size)
    return block_size


def read_block(reader, block_size, raw_offset_due):
    """Section 4: a block after its Sync_Marker; gives its raw bytes."""
    header = SYNC_MARKER + reader.exactly(32, "a Block_Header")
    require(crc_holds(header), "R07", "wrong Header_Checksum of a Block_Header at %d" % (reader.offset - 40))
    (kind, flags, sample_rate_log, segment_size_log, raw_size, coded_size,
     raw_checksum, raw_offset, payload_checksum) = struct.unpack_from("<BBBBIIIQI", header, 8)
    require(flags & (240 if kind == 1 else 255) == 0, "R04", "a Reserved bit of a Block_Header is set")
    require(kind <= 1, "R08", "a block of Kind %d" % kind)
    require(1 <= raw_size <= block_size, "R10", "a Raw_Size of %d, where Block_Size is %d" % (raw_size, block_size))
    if kind == 0:
        require(flags == 0 and sample_rate_log == 0 and segment_size_log == 0, "R04", "a Reserved field of a stored block is set")
        require(coded_size == raw_size, "R11", "a Coded_Size that is not Raw_Size in a stored block")
    else:
        sample_rate_log_most = max(16, (raw_size - 1).bit_length() - 7)
        require(flags <= 8, "R04", "a block with both Filters and Indexed")
        require(3 <= sample_rate_log <= sample_rate_log_most, "R09", "a Sample_Rate_Log of %d" % sample_rate_log)
        require(16 <= segment_size_log <= 30, "R09", "a Segment_Size_Log of %d" % segment_size_log)
        require(0 < coded_size < raw_size, "R11", "a Coded_Size of 0 or not less than Raw_Size")
    require(raw_offset == raw_offset_due, "R12", "a Raw_Offset of %d instead of %d" % (raw_offset, raw_offset_due))
    payload = reader.exactly(coded_size, "the payload of a block")
    require(zlib.crc32(payload) == payload_checksum, "R13", "wrong Payload_Checksum of the block at raw byte %d" % raw_offset)
    raw = payload
    if kind == 1:
        filters, indexed = flags & 7, flags & 8 != 0
        text_size, side, at = read_side(payload, filters, raw_size, sample_rate_log)
        text = decode_bwt_payload(payload[at:], text_size, sample_rate_log, segment_size_log, indexed)
        raw = undo_filters(text, filters, side, raw_size)
    require(zlib.crc32(raw) == raw_checksum, "R18", "wrong Raw_Checksum of the block at raw byte %d" % raw_offset)
    return raw


def read_side(payload, filters, raw_size, sample_rate_log):
    """Section 4, Kind bwt: Text_Size, Side, and where Samples start."""
    if filters == 0:
        return raw_size, b"", 0
    require(len(payload) >= 8, "R28", "a Side that ends after the payload")
    text_size, side_size = struct.unpack_from("<II", payload)
    require(1 <= text_size <= raw_size, "R28", "a Text_Size of %d" % text_size)
    require(sample_rate_log <= max(16, (text_size - 1).bit_length() - 7), "R28", "a Text_Size of %d" % text_size)
    require(8 + side_size <= len(payload), "R28", "a Side that ends after the payload")
    return text_size, payload[8:8 + side_size], 8 + side_size


def decode_bwt_payload(payload, text_size, sample_rate_log, segment_size_log, indexed):
    """Section 4, Kind bwt: Samples, Segment_Sizes, Index, Segments; gives the text."""
    sample_rate, segment_size = 1 << sample_rate_log, 1 << segment_size_log
    samples, sizes_start = read_packed_array(payload, 0, -(-text_size // sample_rate))
    require(min(samples) >= 1 and max(samples) <= text_size, "R16", "a sample of 0 or above Text_Size")
    segment_sizes, at = read_packed_array(payload, sizes_start, -(-text_size // segment_size))
    index = None
    if indexed:
        index, at = read_index(payload, sizes_start, at, len(segment_sizes), min(text_size, 128))
        require(index["primary"] == samples[0], "R27", "a Primary_Index that is not Samples[0]")
    require(min(segment_sizes) >= 1, "R15", "a segment of 0 coded bytes")
    require(sum(segment_sizes) == len(payload) - at, "R15", "Segment_Sizes do not add up to the rest of the payload")
    bwt_bytes = bytearray()
    for k, coded_size in enumerate(segment_sizes):
        size = min(segment_size, text_size - len(bwt_bytes))
        segment = decode_segment(payload[at:at + coded_size], size)
        if index:
            require(zlib.crc32(payload[at:at + coded_size]) == index["checksums"][k], "R27", "a wrong Segment_Checksum")
            check_counts(index["counts"], len(segment_sizes), k, segment)
        bwt_bytes += segment
        at += coded_size
    text = invert(bwt_bytes, samples, sample_rate)
    if index:
        require(text.startswith(index["head"]) and text.endswith(index["tail"]), "R27", "a Head or Tail that is not the block's")
    return text


def read_index(payload, sizes_start, start, segments, edge):
    """Section 4.1: Index at `start`, behind Segment_Sizes; gives what it says, and where it ends."""
    require(start + 20 <= len(payload), "R26", "an Index that ends after the payload")
    form, reserved, counts_size, primary, samples_sum, index_sum = struct.unpack_from("<B3sIIII", payload, start)
    require(reserved == bytes(3), "R04", "a Reserved bit of an Index is set")
    require(form <= 1, "R26", "an Index of Form %d" % form)
    head = start + 20 + 4 * segments
    counts, end = head + 2 * edge, head + 2 * edge + counts_size
    require(end <= len(payload), "R26", "an Index that ends after the payload")
    require(zlib.crc32(payload[:sizes_start]) == samples_sum, "R25", "a wrong Samples_Checksum")
    checked = payload[sizes_start:start + 16] + payload[start + 20:end]
    require(zlib.crc32(checked) == index_sum, "R25", "a wrong Index_Checksum")
    plain = payload[counts:end]
    if form == 1:
        # Without zstd the checksum must do: nothing that this decoder gives out rests on the counts.
        plain = unzstd(plain, 32 + 4 * 256 * segments) if zstd else None
        require(plain is not None or not zstd, "R26", "Counts that are not one zstd frame")
    if plain is not None:
        used = sum(bin(byte).count("1") for byte in plain[:32])
        require(used > 0 and len(plain) == 32 + 4 * used * segments, "R26", "Counts of %d bytes" % len(plain))
    index = {
        "primary": primary,
        "checksums": struct.unpack_from("<%dI" % segments, payload, start + 20),
        "head": payload[head:head + edge],
        "tail": payload[head + edge:counts],
        "counts": plain,
    }
    return index, end


def check_counts(plain, segments, k, segment):
    """Section 4.1, Counts: whether they tell how often each byte occurs in segment `k`."""
    if plain is None:
        return
    used = [c for c in range(256) if plain[c // 8] >> (c % 8) & 1]
    plane = len(used) * segments
    for m, c in enumerate(used):
        count = sum(plain[32 + p * plane + m * segments + k] << (8 * p) for p in range(4))
        require(count == segment.count(c), "R27", "a count that is not that of its segment")
    require(set(segment) <= set(used), "R27", "a byte of a segment that Counts does not know")


def read_packed_array(payload, at, count):
    """Section 5: gives the values, at least one, and where the array ends."""
    require(at < len(payload), "R15", "a Packed_Array that ends after the payload")
    width = payload[at]
    require(1 <= width <= 32, "R14", "a Packed_Array of Width %d" % width)
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


def invert(bwt_bytes, samples, sample_rate):
    """Section 6.4: the inverse of the transform, by one walk from row 0, which must meet every sample on its way.

    Section 11 has no number for a walk that does not: it is reported as R18, since the block's raw bytes are not to be had.
    """
    n, primary = len(bwt_bytes), samples[0]
    symbols = bwt_bytes[:primary] + b"\0" + bwt_bytes[primary:] + b"\0"  # L, with any byte at the primary index and row n + 1
    next_row = [1]  # of each byte: LF of the next row where L is that byte. At first it is the C of 6.4
    for c in range(255):
        next_row.append(next_row[c] + bwt_bytes.count(c))
    lf = array.array("I", [0]) * (n + 2)
    for row, c in enumerate(symbols):
        lf[row] = next_row[c]
        if row != primary:
            next_row[c] += 1
    lf[primary] = lf[n + 1] = n + 1  # a walk that comes to the sentinel too early stays at row n + 1, which no sample is
    text = bytearray(n)
    row, end = 0, n
    for k in range(len(samples) - 1, -1, -1):
        start = k * sample_rate
        for pos in range(end - 1, start - 1, -1):
            text[pos] = symbols[row]
            row = lf[row]
        require(row == samples[k], "R18", "the inverse transform does not meet sample %d" % k)
        end = start
    return text


BATCH_RUNS = 32768
BYTES = [bytes([c]) for c in range(256)]


def decode_segment(coded, segment_size):
    """Section 7: one segment, which has Segment_Size bytes when decoded. All that is wrong with it (7.8) is R17."""
    if coded[0] == 0:
        require(len(coded) == 1 + segment_size, "R17", "a segment of kind 0 and of the wrong size")
        return coded[1:]
    if coded[0] == 2:
        return decode_mixed(coded, segment_size)
    require(coded[0] in (1, 3), "R17", "a segment of Segment_Kind %d" % coded[0])
    require(len(coded) >= 2, "R17", "a segment that ends before Last_Symbol")
    last_symbol = coded[1]
    symbols = coded[2:2 + last_symbol + 1]
    require(len(symbols) == last_symbol + 1, "R17", "a segment that ends within Symbols")
    require(len(set(symbols)) == last_symbol + 1, "R17", "a byte that is in Symbols twice")
    coder = Coder(coded, 2 + last_symbol + 1)
    if coded[0] == 3:
        return decode_runs(symbols, coder, Counted(coder), segment_size, None)
    return decode_runs(symbols, coder, Model(coder), segment_size, BATCH_RUNS)


def decode_runs(symbols, coder, model, segment_size, batch_runs):
    """Section 7.1. The model goes on from batch to batch; only the states are new. None is one batch."""
    front = list(symbols)  # `List` of 7.1
    out = bytearray()
    runs = 0
    while True:
        if runs == 0 or batch_runs and runs % batch_runs == 0:
            coder.begin_batch()
        symbol = front[0]
        run_length = model.read_run_length(symbol)
        require(run_length <= segment_size - len(out), "R17", "a run that reaches beyond its segment")
        out += BYTES[symbol] * run_length
        if len(out) == segment_size:
            break
        place = model.read_place(symbol, run_length)
        require(place < len(front), "R17", "a Place above Last_Symbol")
        del front[0]
        front.insert(place, symbol)
        runs += 1
        model.add(symbol, run_length - 1, place - 1)
        if batch_runs and runs % batch_runs == 0:
            coder.end_batch()
    coder.end_batch()
    require(coder.at == len(coder.coded), "R17", "coded bytes left over at the end of a segment")
    return out


class Coder:
    """Section 7.2: the states and the words that they take."""

    def __init__(self, coded, at):
        self.coded, self.at = coded, at

    def begin_batch(self):
        require(self.at + 8 <= len(self.coded), "R17", "a segment that ends within the states of a batch")
        self.state = list(struct.unpack_from("<II", self.coded, self.at))
        self.at += 8
        require(min(self.state) >= 1 << 16, "R17", "a state that begins below 2^16")

    def end_batch(self):
        require(self.state == [1 << 16, 1 << 16], "R17", "a state that does not end at 2^16")

    def take(self, k, start, freq):
        """Takes the symbol that owns `freq` slots from `start` on, one of them State_k's, out of State_k."""
        x = self.state[k]
        x = freq * (x >> 15) + (x & 32767) - start
        if x < 1 << 16:
            word = self.coded[self.at:self.at + 2]
            require(len(word) == 2, "R17", "a segment that ends where a word is needed")
            self.at += 2
            x = x << 16 | word[0] | word[1] << 8
        self.state[k] = x

    def read_bits(self, k, count):
        """Section 7.5: a symbol of 0 to 2^count - 1 that all own the same number of slots."""
        value = (self.state[k] & 32767) >> (15 - count)
        self.take(k, value << (15 - count), 1 << (15 - count))
        return value


# The C of a new cell, C[0..16], where the first and the last are the ends. Learning makes new lists, so that all new cells can share these.
FLAT = [[(32752 * min(j, 1 << bits) >> bits) + j for j in range(17)] for bits in range(5)]
RUN_SHARES = [
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
PLACE_SHARES = [
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
RUN_STARTS, PLACE_STARTS = ([[(32752 * sum(row[:j]) >> 10) + j for j in range(17)] for row in shares] for shares in (RUN_SHARES, PLACE_SHARES))
OWN_RUN_STARTS = [RUN_STARTS[level] for level in (0, 2, 5, 9)]
OWN_PLACE_STARTS = [PLACE_STARTS[level] for level in (1, 2, 6, 14)]

# Rate at first and Least, of first and of second cells.
RUN_PACES, PLACE_PACES, OTHER_PACES = ((5461, 410), (1680, 262)), ((5461, 819), (1680, 410)), ((8738, 512), (4096, 512))


class Cell:
    """Section 7.3: `Rate`, and C, where the slots of the symbols start."""

    def __init__(self, c, pace):
        self.c = c
        self.rate, self.least = pace

    def learn(self, s):
        """C[0] and C[16] learn with the others, which leaves them at 0 and 32768."""
        r = max(self.rate, self.least)
        self.c = [x + ((j + (32752 if j > s else 0) - x) * r >> 16) for j, x in enumerate(self.c)]
        self.rate += -self.rate * r >> 16


class Blend:
    """Section 7.3. Cells are made when they are first used: with the C that `first_c` and `second_c` give of their index."""

    def __init__(self, first_c, second_c, paces=OTHER_PACES):
        self.first_c, self.second_c, self.paces = first_c, second_c, paces
        self.first, self.second = {}, {}

    def read(self, coder, k, first, second):
        """A symbol from State_k, with the cells of these indices."""
        if first not in self.first:
            self.first[first] = Cell(self.first_c(first), self.paces[0])
        if second not in self.second:
            self.second[second] = Cell(self.second_c(second), self.paces[1])
        cells = [self.first[first], self.second[second]]
        slot = coder.state[k] & 32767
        s, start = 0, 0             # Start[s] <= Slot
        above, end = 16, 32768      # Slot < Start[above]
        while above - s > 1:        # Start rises, so that halving finds the symbol
            j = (s + above) >> 1
            start_j = (cells[0].c[j] + cells[1].c[j] + 1) >> 1
            if start_j <= slot:
                s, start = j, start_j
            else:
                above, end = j, start_j
        coder.take(k, start, end - start)
        for cell in cells:
            cell.learn(s)
        return s


def lg(x):
    """Section 7: the largest k with 2^k <= x."""
    return x.bit_length() - 1


def add(average, number):
    """Section 7.4."""
    return (3 * average + math.isqrt(1600 * (min(number, 255) + 1)) - 40 + 2) >> 2


def level(average):
    """Section 7.7."""
    return min(lg(average + 1), 7)


def levels_of(*limits):
    """Section 7.4: what gives the level of an average."""
    return lambda average: bisect.bisect_right(limits, average)


run_level = levels_of(2, 4, 7, 15, 23, 34, 52, 80, 160, 280)
place_level = levels_of(1, 3, 8, 14, 20, 26, 34, 44, 56, 68, 84, 105, 140, 190, 290)
own_run_level = levels_of(2, 10, 58)
own_place_level = levels_of(4, 15, 60)
beside_level = levels_of(1, 4, 12, 21, 42, 80, 270)
all_run_level = levels_of(2, 4, 7, 15, 30, 68, 280)
all_place_level = levels_of(2, 3, 9, 20, 40, 80, 260)


class Model:
    """Sections 7.4 and 7.5: `Memory` and the blends of one segment, and the numbers that are read with them."""

    def __init__(self, coder):
        self.coder = coder
        self.run_average, self.place_average, self.own_width = [0] * 256, [0] * 256, [0] * 256
        self.all_run_average = self.all_place_average = self.last_width = 0
        self.last_run = self.last_place = self.place_before = 0
        self.run = Blend(lambda at: OWN_RUN_STARTS[at % 4], lambda at: RUN_STARTS[at % 16], RUN_PACES)
        self.place = Blend(lambda at: OWN_PLACE_STARTS[at % 4], lambda at: PLACE_STARTS[at // 4 % 16], PLACE_PACES)
        self.width = Blend(lambda at: FLAT[4], lambda at: FLAT[4])
        self.top = [Blend(lambda at: FLAT[min(at // 256, 4)], lambda v: FLAT[min(v, 4)]) for _ in range(2)]
        self.next = [Blend(lambda at: FLAT[min(at // 16 - 4, 4)], lambda v: FLAT[min(v - 4, 4)]) for _ in range(2)]

    def read_run_length(self, c):
        """Section 7.4: Run_Length of a run of byte c."""
        own, beside = self.run_average[c], self.place_average[c]
        second = 1024 * self.place_before + 128 * all_run_level(self.all_run_average) + 16 * beside_level(beside) + run_level(own)
        symbol = self.run.read(self.coder, 0, 4 * c + own_run_level(own), second)
        return self.read_number(0, symbol, c) + 1

    def read_place(self, c, run_length):
        """Section 7.4: Place of byte c after a run of Run_Length."""
        own = self.place_average[c]
        second = 256 * all_place_level(self.all_place_average) + 64 * self.place_before + 4 * place_level(own) + min(lg(run_length), 3)
        symbol = self.place.read(self.coder, 1, 4 * c + own_place_level(own), second)
        return self.read_number(1, symbol, c) + 1

    def add(self, c, run, place):
        """Section 7.4: after a run of byte c and its place, both less one."""
        self.run_average[c] = add(self.run_average[c], run)
        self.place_average[c] = add(self.place_average[c], place)
        self.all_run_average = add(self.all_run_average, self.last_run)
        self.all_place_average = add(self.all_place_average, self.last_place)
        self.place_before = min(self.last_place, 3)
        self.last_run, self.last_place = run, place

    def read_number(self, k, class_, c):
        """Section 7.5: the number that begins with the symbol Class."""
        if class_ < 10:
            return class_
        width = class_ - 8
        if k == 0 and class_ == 15:
            width = self.read_width(c)
        v = min(width, 15)
        top = self.top[k].read(self.coder, k, 256 * v + c, v)
        extra = top % (1 << min(width, 4))
        left = max(width - 4, 0)
        if left > 0:
            bits = min(left, 4)
            left -= bits
            value = self.next[k].read(self.coder, k, 16 * v + top, v)
            extra = (extra << bits) + value % (1 << bits)
        while left > 0:
            bits = min(left, 8)
            left -= bits
            extra = (extra << bits) + self.coder.read_bits(k, bits)
        return (1 << width) + extra + 6

    def read_width(self, c):
        """Section 7.5: Width of a long run."""
        excess = self.width.read(self.coder, 0, self.own_width[c], self.last_width)
        if excess == 15:
            excess += self.width.read(self.coder, 0, 32 + self.own_width[c], 32 + self.last_width)
        width = 7 + excess
        require(width <= 30, "R17", "a Width of %d" % width)
        self.own_width[c] = self.last_width = width
        return width


class Counted:
    """Section 7.9: the tables of a segment of kind 3, and the numbers that are read with them."""

    def __init__(self, coder):
        self.coder = coder
        self.tables = [self.read_table() for _ in range(39)]
        self.run_average, self.place_average = [0] * 256, [0] * 256

    def read_table(self):
        """Start[0..16]."""
        coder = self.coder
        require(coder.at < len(coder.coded), "R17", "a segment that ends before a Table")
        count = coder.coded[coder.at]
        codes = coder.coded[coder.at + 1:coder.at + 1 + count]
        require(count <= 16, "R17", "a Table of %d symbols" % count)
        require(len(codes) == count, "R17", "a segment that ends within a Table")
        coder.at += 1 + count
        weights = [code if code < 16 else (8 + code % 8) << (code // 8 - 1) for code in codes] + [0] * (16 - count)
        return [sum(weights[:j]) * 32752 // max(sum(weights), 1) + j for j in range(16)] + [32768]

    def read(self, k, table):
        """A symbol from State_k."""
        start, slot = self.tables[table], self.coder.state[k] & 32767
        s = max(j for j in range(16) if start[j] <= slot)
        self.coder.take(k, start[s], start[s + 1] - start[s])
        return s

    def read_run_length(self, c):
        return self.read_number(0, self.read(0, run_level(self.run_average[c]))) + 1

    def read_place(self, c, run_length):
        return self.read_number(1, self.read(1, 11 + place_level(self.place_average[c]))) + 1

    def add(self, c, run, place):
        self.run_average[c] = add(self.run_average[c], run)
        self.place_average[c] = add(self.place_average[c], place)

    def read_number(self, k, class_):
        if class_ < 10:
            return class_
        width = class_ - 8
        if k == 0 and class_ == 15:
            width = 7 + self.coder.read_bits(0, 5)
            require(width <= 30, "R17", "a Width of %d" % width)
        top = self.read(k, 27 + 6 * k + min(width, 7) - 2)
        extra = top % (1 << min(width, 4))
        left = max(width - 4, 0)
        while left > 0:
            bits = min(left, 8)
            left -= bits
            extra = (extra << bits) + self.coder.read_bits(k, bits)
        return (1 << width) + extra + 6


class Side:
    """Section 14: what filters need. All that is wrong with it (14.5) is R28."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        require(self.at + size <= len(self.data), "R28", "a filter's field that ends after Side")
        self.at += size
        return self.data[self.at - size:self.at]

    def byte(self):
        return self.take(1)[0]

    def varint(self):
        """Section 14.1."""
        number = 0
        for shift in range(0, 35, 7):
            byte = self.byte()
            number |= (byte & 127) << shift
            if byte < 128:
                break
        require(byte < 128 and number < 1 << 31, "R28", "a varint that is too large")
        return number


def undo_filters(text, filters, side_bytes, raw_size):
    """Section 14: the filters in the order in which they are undone."""
    side = Side(side_bytes)
    if filters & 4:
        text = undo_matches(text, side, raw_size)
    if filters & 2:
        text = undo_regions(text, side)
    if filters & 1:
        text = undo_lines(text, side, raw_size)
    require(side.at == len(side_bytes), "R28", "bytes of Side left over")
    require(len(text) == raw_size, "R28", "filters that give another number of bytes than Raw_Size")
    return text


def read_bit(decisions, model):
    """Section 14.2: a Bit is a list of One and Seen."""
    one, seen = model
    rate = 2 if seen < 4 else 3 if seen < 12 else 4 if seen < 30 else 5
    bit = decisions.read(one)
    model[:] = one + ((65535 - one) >> rate) if bit else one - (one >> rate), seen + 1
    return bit


class Tree:
    """Section 14.2."""

    def __init__(self, bits):
        self.bits, self.models = bits, [[32768, 0] for _ in range(1 << bits)]

    def decode(self, coder):
        node = 1
        for _ in range(self.bits):
            node = 2 * node + read_bit(coder, self.models[node])
        return node - (1 << self.bits)


class Number:
    """Section 14.2."""

    def __init__(self):
        self.tree, self.models = Tree(5), [[[32768, 0] for _ in range(8)] for _ in range(32)]

    def decode(self, coder):
        value = node = 1
        number_class = self.tree.decode(coder)
        for _ in range(number_class):
            if node < 8:
                bit = read_bit(coder, self.models[number_class][node])
                node = 2 * node + bit
            else:
                bit = coder.read(32768)
            value = 2 * value + bit
        return value - 1


def undo_matches(text, side, raw_size):
    """Section 14.2."""
    output_size, count, coded_size = side.varint(), side.varint(), side.varint()
    coder = Decisions(side.take(coded_size), 0, "R28")
    require(output_size <= raw_size, "R28", "an Output_Size above Raw_Size")
    literals_number, length_number = [Number() for _ in range(6)], [Number() for _ in range(6)]
    form_tree, near, distance_number = [Tree(3) for _ in range(6)], Tree(7), Number()
    last, distances = 5, [0, 0, 0, 0]
    output, at = bytearray(), 0
    for _ in range(count):
        literals = literals_number[last].decode(coder)
        form = form_tree[last].decode(coder)
        require(form <= 5, "R28", "a match of form %d" % form)
        if form < 4:
            distance = distances[form]
        elif form == 4:
            distance = distances[0] - 64 + near.decode(coder)
        else:
            distance = distance_number.decode(coder)
        length = length_number[form].decode(coder) + (32 if form == 5 else 12)
        if distance in distances:
            distances.remove(distance)
        distances = ([distance] + distances)[:4]
        last = form
        require(at + literals <= len(text), "R28", "more literals than there are")
        output += text[at:at + literals]
        at += literals
        require(1 <= distance <= len(output), "R28", "a match at a distance of %d" % distance)
        require(length <= output_size - len(output), "R28", "a match that reaches beyond Output_Size")
        start = len(output) - distance
        while length > 0:
            piece = output[start:start + length]
            output += piece
            length -= len(piece)
    require(coder.is_at_end(), "R28", "Matches of another size than Matches_Size")
    output += text[at:]
    require(len(output) == output_size, "R28", "matches and literals that are not Output_Size bytes")
    return bytes(output)


def undo_regions(text, side):
    """Section 14.3."""
    text, pos = bytearray(text), 0
    while pos < len(text):
        size, kind = side.varint(), side.byte()
        require(1 <= size <= len(text) - pos, "R28", "a region of %d bytes" % size)
        require(kind <= 3, "R28", "a region of Kind %d" % kind)
        region = text[pos:pos + size]
        if kind == 1:
            undo_records(region, side)
        elif kind == 2:
            undo_x86(region, pos)
        elif kind == 3:
            undo_arm64(region, pos)
        text[pos:pos + size] = region
        pos += size
    return bytes(text)


def undo_records(region, side):
    """Section 14.3, Kind 1."""
    stride, form, row = side.byte(), side.byte(), side.varint()
    width = form & 127
    require(stride >= 1 and width <= min(8, stride), "R28", "elements of %d bytes in records of %d" % (width, stride))
    require(row == 0 or row > stride, "R28", "a Row of %d" % row)
    if form & 128:
        count = len(region) // stride
        columns = bytes(region)
        for k in range(stride):
            region[k:count * stride:stride] = columns[k * count:(k + 1) * count]
    if width == 0:
        return
    value = lambda at: int.from_bytes(region[at:at + width], "little")
    for at in range(-(-stride // width) * width, len(region) - width + 1, width):
        prediction = value(at - stride)
        if row > 0 and at >= row:
            prediction = (prediction + value(at - row)) // 2
        region[at:at + width] = ((value(at) + prediction) % 256 ** width).to_bytes(width, "little")


def undo_x86(region, pos):
    """Section 14.3, Kind 2."""
    at = 0
    while at + 5 <= len(region):
        if region[at] not in (0xE8, 0xE9):
            at += 1
            continue
        at += 5
        if region[at - 1] in (0x00, 0xFF):
            value = int.from_bytes(region[at - 4:at], "little")
            value = (value - pos - at) % (1 << 25)
            if value >> 24:
                value |= 0xFE000000
            region[at - 4:at] = value.to_bytes(4, "little")


def undo_arm64(region, pos):
    """Section 14.3, Kind 3."""
    for at in range(0, len(region) - 3, 4):
        word = int.from_bytes(region[at:at + 4], "little")
        if word >> 26 == 37:
            word = word & 0xFC000000 | (word - (pos + at) // 4) % (1 << 26)
        elif word & 0x9F000000 == 0x90000000:
            page = (word >> 5 & 0x7FFFF) << 2 | word >> 29 & 3
            page = (page - (pos + at) // 4096) % (1 << 21)
            word = word & 0x9F00001F | page >> 2 << 5 | (page & 3) << 29
        region[at:at + 4] = word.to_bytes(4, "little")


def undo_lines(text, side, raw_size):
    """Section 14.4."""
    width, run_count = side.varint(), side.varint()
    require(width >= 1, "R28", "a Line_Width of 0")
    runs = [(side.varint(), side.varint()) for _ in range(run_count)]
    lines, number = text.split(b"\n"), 0
    stay = set()
    for step, times in runs:
        fresh = step > 0 or times == 0 or number == 0 and not stay and times == 1
        require(fresh and number + step * times < len(lines), "R28", "a line that is not there, or is listed twice")
        stay.update(number + step * (n + 1) for n in range(times))
        number += step * times
    broken = []
    for number, line in enumerate(lines):
        if number in stay or not line:
            broken.append(line)
        else:
            broken += [line[at:at + width] for at in range(0, len(line), width)]
    return b"\n".join(broken)


class Decisions:
    """Section 7.6: the decisions of a segment of kind 2, or of matches; `rejected` is the number of what is wrong with them."""

    def __init__(self, coded, at, rejected):
        self.coded, self.at, self.rejected = coded, at, rejected
        self.range = (1 << 64) - 1
        self.offset = self.next_word() << 32 | self.next_word()

    def next_word(self):
        word = self.coded[self.at:self.at + 4]
        require(len(word) == 4, self.rejected, "coded bytes that end where decisions are needed")
        self.at += 4
        return int.from_bytes(word, "big")

    def read(self, yes):
        bound = (self.range >> 16) * yes
        decision = self.offset < bound
        if decision:
            self.range = bound
        else:
            self.range -= bound
            self.offset -= bound
        if self.range < 1 << 32:
            self.range <<= 32
            self.offset = self.offset << 32 | self.next_word()
        return int(decision)

    def is_at_end(self):
        return self.offset == 0 and self.at == len(self.coded)


LOGISTIC = [32768, 36843, 40793, 44511, 47911, 50941, 53581, 55834, 57724, 59287, 60565,
            61598, 62428, 63090, 63615, 64030, 64357, 64614, 64816, 64974, 65097, 65194,
            65269, 65328, 65374, 65410, 65438, 65459, 65476, 65489, 65500, 65508, 65514]


def within(x, most):
    """Section 7.6: x brought within -most and most."""
    return max(-most, min(x, most))


def squash(x):
    """Section 7.6."""
    if x < 0:
        return 65536 - squash(-x)
    k = x >> 6
    return LOGISTIC[k] + ((LOGISTIC[k + 1] - LOGISTIC[k]) * (x % 64) >> 6)


def line(y):
    """Section 7.6."""
    width = y.bit_length() - 1
    return (width - 1 << 23) + (y << 23 - width)


STRETCH = [line(2 * p + 1) - line(8191 - 2 * p) >> 15 for p in range(4096)]
RATES = [160, 98, 71, 55, 46, 39, 34, 30, 27, 24, 21, 18, 16, 14, 12, 10]


class Mixer:
    """Section 7.6. Groups, sets and refinements are made when they are first used."""

    def __init__(self, decisions, bits, limits):
        self.decisions, self.bits, self.limits = decisions, bits, limits
        self.groups = [collections.defaultdict(lambda: [(2048, 0)] * 8) for _ in limits]  # P and N
        self.sets = [collections.defaultdict(lambda: [42000] * 8) for _ in range(2)]
        self.common = [42000] * 8
        start = [squash(within(128 * k - 2048, 2047)) for k in range(33)]
        self.refinements = collections.defaultdict(start.copy)

    def decide(self, numbers, cell, sets, refinement):
        """A decision with this cell of these groups, these weight sets and this refinement."""
        groups = [groups[number % (1 << self.bits)] for groups, number in zip(self.groups, numbers)]
        x = [STRETCH[group[cell][0]] for group in groups]
        x += [192] * (8 - len(x))
        families = [family[index] for family, index in zip(self.sets, sets)] + [self.common]
        mixed = 0
        for i in range(8):
            weight = sum(weights[i] for weights in families) >> 6
            mixed += x[i] * max(-32768, min(weight, 32767))
        mixed = within(mixed >> 14, 2047)
        p = squash(mixed)
        k, part = (mixed + 2048) >> 7, (mixed + 2048) % 128
        r = self.refinements[refinement]
        d = self.decisions.read(p + (r[k] * (128 - part) + r[k + 1] * part >> 7) >> 1)
        error = 32768 * d - (p >> 1)
        for i in range(8):
            step = x[i] * error >> 14
            for weights in families:
                weights[i] += step
        nearest = k + (part >= 64)
        r[nearest] += (65535 - r[nearest]) >> 7 if d else -(r[nearest] >> 7)
        for group, limit in zip(groups, self.limits):
            probability, count = group[cell]
            other = 4095 - probability if d else probability
            other -= other * RATES[count] >> 8
            group[cell] = (4095 - other if d else other, min(count + 1, limit))
        return d


def read_tree(coded):
    """Section 7.7: `Present` and `Weights`; gives the tree and where the decisions begin.

    A tree is a byte, or (number, Group, Place, Split, left, right) of a node, left and right being trees.
    """
    require(len(coded) >= 33, "R17", "a segment that ends within Present")
    present = [c for c in range(256) if coded[1 + c // 8] >> c % 8 & 1]
    require(present, "R17", "a segment without bytes")
    end = 33 + (len(present) + 1) // 2
    require(len(coded) >= end, "R17", "a segment that ends within Weights")
    leaves = [(c, 1 << (1 + (coded[33 + k // 2] >> k % 2 * 4 & 15))) for k, c in enumerate(present)]
    nodes = [[leaves, None]]  # leaves of each node, and what it is when divided
    for node in nodes:
        if len(node[0]) == 1:
            node[1] = node[0][0][0]
            continue
        total, left, best = sum(weight for _, weight in node[0]), 0, None
        for m in range(1, len(node[0])):
            left += node[0][m - 1][1]
            if best is None or abs(total - 2 * left) < best[0]:
                best = abs(total - 2 * left), m
        sides = [node[0][:best[1]], None], [node[0][best[1]:], None]
        nodes.extend(sides)
        node[1] = [None, None, None, sides[1][0][0][0], *sides]
    inner = [node[1] for node in nodes if len(node[0]) > 1]
    groups = 0
    for number, node in enumerate(inner):
        node[0] = number
        node[4:] = [side[1] for side in node[4:]]
        if node[2] is None:
            node[1:3] = groups, 1
            groups += 1
        for side, child in enumerate(node[4:]):
            if node[2] < 4 and not isinstance(child, int):
                child[1:3] = node[1], 2 * node[2] + side
    return nodes[0][1], end


def hash_of(x):
    """Section 7.7."""
    return (x + 1) * 0x9E3779B1 % (1 << 32)


def decode_mixed(coded, segment_size):
    """Section 7.7: a segment of kind 2."""
    tree, at = read_tree(coded)
    model = MixedModel(Decisions(coded, at, "R17"))
    out = bytearray()
    while len(out) < segment_size:
        symbol = model.read_symbol(tree)
        length = model.read_number(symbol) + 1
        require(length <= segment_size - len(out), "R17", "a run that reaches beyond its segment")
        out += BYTES[symbol] * length
        model.add(symbol, length)
    require(model.decisions.offset == 0, "R17", "an Offset that does not end at 0")
    require(model.decisions.at == len(coded), "R17", "coded bytes left over at the end of a segment")
    return out


class MixedModel:
    """Section 7.7: what is kept of the runs before, and the mixers."""

    def __init__(self, decisions):
        self.decisions = decisions
        self.symbol = Mixer(decisions, 15, (2, 14, 10, 15, 15, 15, 15))
        self.length = Mixer(decisions, 13, (15,) * 5)
        self.before = (0, 0, 0)
        self.recent, self.after = [0] * 256, collections.defaultdict(int)
        self.own_length, self.own_classes, self.own_average, self.own_last = ([0] * 256 for _ in range(4))
        self.all_classes = self.all_average = self.count = 0

    def read_symbol(self, tree):
        c1, c2, c3 = self.before
        two = hash_of(256 * c2 + c1)
        three = hash_of(two ^ c3)
        met = self.count > 0
        while not isinstance(tree, int):
            n, g, place, split, *children = tree
            side = int(c1 >= split)
            if met and children[side] == c1:
                met, tree = False, children[1 - side]
                continue
            recent, after, case = self.recent[n], self.after[c1, n], 3 * n + (1 + side if met else 0)
            d = self.symbol.decide(
                (g, g, 128 * c1 ^ g, two >> 17 ^ g, 128 * c2 ^ g, 128 * after ^ g, three >> 17 ^ g), place,
                (4 * case + recent % 4, 256 * (self.all_classes % 16) + c1),
                2 * case + recent % 2)
            self.recent[n] = (2 * recent + d) % 256
            self.after[c1, n] = (2 * after + d) % 256
            met, tree = met and d == side, children[d]
        return tree

    def read_number(self, s):
        a = level(self.own_average[s])
        both = 8 * a + level(self.all_average)
        gap = min(lg(max(self.count - self.own_last[s], 1)), 15)
        length = min(self.own_length[s], 15)
        groups = (s, 16 * both + length, 16 * both + gap, 16 * self.own_classes[s] + gap, 8 * self.all_classes + a)

        def decide(k):
            m = min(k, 15)
            return self.length.decide([group ^ (k >> 3) * 0x1357 for group in groups], k % 8,
                                      (16 * m + length, s), 16 * s + m)

        for k in range(8):
            if decide(k):
                return k
        width = 0
        while width < 30 and not decide(8 + width):
            width += 1
        value = 1
        for k in range(width):
            value = 2 * value + decide(64 + 32 * width + (value if k < 5 else 0))
        return value + 7

    def add(self, s, length):
        c1, c2, _ = self.before
        class_, most = min(lg(length), 3), 16 * min(length - 1, 40)
        self.before = (s, c1, c2)
        self.all_classes = (4 * self.all_classes + class_) % 256
        self.own_classes[s] = (4 * self.own_classes[s] + class_) % 256
        self.all_average = (7 * self.all_average + most) >> 3
        self.own_average[s] = (3 * self.own_average[s] + most) >> 2
        self.own_length[s] = min(length, 255)
        self.own_last[s] = self.count
        self.count += 1


def read_seek_table(reader, entries):
    """Section 8: a Seek_Table after its Seek_Marker; it must say of the blocks what was found on the way. Gives Seek_Table_Size."""
    header = SEEK_MARKER + reader.exactly(20, "a Seek_Table")
    require(crc_holds(header), "R19", "wrong Header_Checksum of a Seek_Table")
    form, reserved, block_count, entries_size, entries_checksum = struct.unpack_from("<B3sIII", header, 8)
    require(reserved == bytes(3), "R04", "a Reserved bit of a Seek_Table is set")
    require(form <= 1, "R20", "a Seek_Table of Form %d" % form)
    require(block_count == len(entries), "R20", "a Block_Count of %d after %d blocks" % (block_count, len(entries)))
    plain = b"".join(struct.pack("<QQ", *entry) for entry in entries)
    size_fits = entries_size == len(plain) if form == 0 else entries_size < len(plain)
    require(size_fits, "R20", "an Entries_Size of %d for %d blocks" % (entries_size, block_count))
    coded = reader.exactly(entries_size, "a Seek_Table")
    require(zlib.crc32(coded) == entries_checksum, "R19", "wrong Entries_Checksum of a Seek_Table")
    if form == 0:
        require(coded == plain, "R20", "an entry of a Seek_Table that does not match its block")
    elif zstd:
        require(unzstd(coded, len(plain)) == plain, "R20", "Entries of a Seek_Table that do not match the blocks")
    # Without zstd the checksum must do. For a decoder in order it is enough: it shows that Entries are undamaged, and nothing
    # that this decoder gives out rests on them, for every block was found, checked and decoded without them.
    return 28 + entries_size


def unzstd(coded, size):
    """The content of one zstd frame that holds at most `size` bytes, or None where `coded` is not that."""
    decompressor = zstd.ZstdDecompressor()
    try:
        plain = decompressor.decompress(coded, max_length=size + 1)
    except zstd.ZstdError:
        return None
    return plain if decompressor.eof and not decompressor.unused_data else None


def read_footer(reader, due):
    """Section 9: the Footer must say of the frame what was found on the way."""
    footer = reader.exactly(32, "a Footer")
    require(footer[28:] == FOOTER_MAGIC, "R21", "wrong Footer_Magic")
    require(crc_holds(footer[:28]), "R21", "wrong Footer_Checksum")
    names = ("Total_Raw_Size", "Frame_Size", "Seek_Table_Size", "Stream_Checksum")
    for name, says, is_due in zip(names, struct.unpack_from("<QQII", footer), due):
        require(says == is_due, "R22", "a %s of %d that should be %d" % (name, says, is_due))


def give_out(raw):
    """Section 10: writes to the standard output, past the buffers of Python, so that nothing is left to fail at exit."""
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
