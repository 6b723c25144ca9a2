"""The second checks of a frame (section 5.3 of FORMAT.md), in plain Python: XXH3-64 and BLAKE3.

Each class takes a raw stream in any pieces with `update`, and `digest` is called once at the end.
XXH3 is specified in github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md, BLAKE3 in the paper
"BLAKE3: one function, fast everywhere". The names are theirs.
"""

import struct

LOW_32, LOW_64 = (1 << 32) - 1, (1 << 64) - 1

# XXH3-64

PRIME32_1, PRIME32_2, PRIME32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
PRIME64_1, PRIME64_2, PRIME64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
PRIME64_4, PRIME64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
SECRET = bytes.fromhex("""
    b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221
    b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8
    a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb
    170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e
""")
STRIPE, STRIPES_PER_BLOCK = 64, 16
BLOCK = STRIPE * STRIPES_PER_BLOCK


def read_64(data, at):
    """The 8 bytes at `at`."""
    return int.from_bytes(data[at:at + 8], "little")


def secret_xor(at):
    """The 8 bytes of the secret at `at`, xor the next 8."""
    return read_64(SECRET, at) ^ read_64(SECRET, at + 8)


def fold(a, b):
    """The low half xor the high half of a product of 128 bits."""
    product = a * b
    return product & LOW_64 ^ product >> 64


def avalanche(h):
    """The last mixing of XXH3."""
    h = (h ^ h >> 37) * 0x165667919E3779F9 & LOW_64
    return h ^ h >> 32


def avalanche_of_xxh64(h):
    """The last mixing of XXH64, for at most 3 bytes."""
    h = (h ^ h >> 33) * PRIME64_2 & LOW_64
    h = (h ^ h >> 29) * PRIME64_3 & LOW_64
    return h ^ h >> 32


def rotate_left(x, bits):
    """A rotation of 64 bits."""
    return (x << bits | x >> 64 - bits) & LOW_64


def mix_16(data, at, secret_at):
    """Mixes 16 bytes of the input with 16 of the secret."""
    low = read_64(data, at) ^ read_64(SECRET, secret_at)
    return fold(low, read_64(data, at + 8) ^ read_64(SECRET, secret_at + 8))


def xxh3_short(data):
    """XXH3-64 of at most 240 bytes."""
    size = len(data)
    if size == 0:
        return avalanche_of_xxh64(secret_xor(56))
    if size <= 3:
        combined = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        flip = read_64(SECRET, 0)
        return avalanche_of_xxh64(combined ^ flip & LOW_32 ^ flip >> 32)
    if size <= 8:
        first, last = struct.unpack("<I", data[:4])[0], struct.unpack("<I", data[-4:])[0]
        h = (last | first << 32) ^ secret_xor(8)
        h ^= rotate_left(h, 49) ^ rotate_left(h, 24)
        h = h * 0x9FB21C651E98DF25 & LOW_64
        h = (h ^ (h >> 35) + size) * 0x9FB21C651E98DF25 & LOW_64
        return h ^ h >> 28
    if size <= 16:
        low, high = read_64(data, 0) ^ secret_xor(24), read_64(data, size - 8) ^ secret_xor(40)
        swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
        return avalanche(size + swapped + high + fold(low, high) & LOW_64)
    h = size * PRIME64_1
    if size <= 128:
        for i in range((size - 1) // 32, -1, -1):
            h += mix_16(data, 16 * i, 32 * i) + mix_16(data, size - 16 * (i + 1), 32 * i + 16)
        return avalanche(h & LOW_64)
    for i in range(8):
        h += mix_16(data, 16 * i, 16 * i)
    h = avalanche(h & LOW_64)
    for i in range(8, size // 16):
        h += mix_16(data, 16 * i, 16 * (i - 8) + 3)
    return avalanche(h + mix_16(data, size - 16, 136 - 17) & LOW_64)


class Xxh3:
    """XXH3-64 with seed 0."""

    def __init__(self):
        self.lanes = [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3,
                      PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1]
        self.size, self.rest, self.last_block = 0, b"", b""

    def accumulate(self, stripe, secret_at):
        """Adds a stripe to the lanes."""
        keys = struct.unpack_from("<8Q", SECRET, secret_at)
        for i, (word, key) in enumerate(zip(struct.unpack("<8Q", stripe), keys)):
            key ^= word
            self.lanes[i ^ 1] += word
            self.lanes[i] += (key & LOW_32) * (key >> 32)

    def accumulate_stripes(self, data, count):
        """Adds the first stripes of a block."""
        for n in range(count):
            self.accumulate(data[n * STRIPE:(n + 1) * STRIPE], 8 * n)
        self.lanes = [lane & LOW_64 for lane in self.lanes]

    def update(self, data):
        """Takes the next bytes. A block is added once more bytes follow it."""
        self.size += len(data)
        self.rest += bytes(data)
        at = 0
        while len(self.rest) - at > BLOCK:
            self.last_block = self.rest[at:at + BLOCK]
            self.accumulate_stripes(self.last_block, STRIPES_PER_BLOCK)
            keys = struct.unpack_from("<8Q", SECRET, len(SECRET) - STRIPE)
            self.lanes = [(lane ^ lane >> 47 ^ key) * PRIME32_1 & LOW_64
                          for lane, key in zip(self.lanes, keys)]
            at += BLOCK
        self.rest = self.rest[at:]

    def digest(self):
        """The digest, the most significant byte first."""
        if self.size <= 240:
            return xxh3_short(self.rest).to_bytes(8, "big")
        self.accumulate_stripes(self.rest, (len(self.rest) - 1) // STRIPE)
        self.accumulate((self.last_block + self.rest)[-STRIPE:], len(SECRET) - STRIPE - 7)
        h = self.size * PRIME64_1
        for i in range(4):
            a, b = (lane & LOW_64 for lane in self.lanes[2 * i:2 * i + 2])
            h += fold(a ^ read_64(SECRET, 11 + 16 * i), b ^ read_64(SECRET, 19 + 16 * i))
        return avalanche(h & LOW_64).to_bytes(8, "big")


# BLAKE3

IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
      0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
# The words of the state that each of the 8 steps of a round mixes.
STEPS = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
         (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))
CHUNK_START, CHUNK_END, PARENT, ROOT = 1, 2, 4, 8
CHUNK_SIZE = 1024


def compress(chaining, block, counter, flags):
    """The compression function: the new chaining value of 8 words. A block has up to 64 bytes."""
    words = struct.unpack("<16I", block.ljust(64, b"\0"))
    state = [*chaining, *IV[:4], counter & LOW_32, counter >> 32, len(block), flags]
    for _ in range(7):
        for step, (a, b, c, d) in enumerate(STEPS):
            for word, right_d, right_b in ((words[2 * step], 16, 12), (words[2 * step + 1], 8, 7)):
                state[a] = state[a] + state[b] + word & LOW_32
                x = state[d] ^ state[a]
                state[d] = (x >> right_d | x << 32 - right_d) & LOW_32
                state[c] = state[c] + state[d] & LOW_32
                x = state[b] ^ state[c]
                state[b] = (x >> right_b | x << 32 - right_b) & LOW_32
        words = [words[i] for i in PERMUTATION]
    return tuple(state[i] ^ state[i + 8] for i in range(8))


def chunk_value(chunk, counter, last_flags):
    """The chaining value of a chunk of up to 1024 bytes."""
    chaining, starts = IV, range(0, max(len(chunk), 1), 64)
    for start in starts:
        flags = CHUNK_START if start == 0 else 0
        if start == starts[-1]:
            flags |= CHUNK_END | last_flags
        chaining = compress(chaining, chunk[start:start + 64], counter, flags)
    return chaining


def parent_value(left, right, last_flags):
    """The chaining value of a parent of two nodes."""
    return compress(IV, struct.pack("<16I", *left, *right), 0, PARENT | last_flags)


class Blake3:
    """BLAKE3 without a key."""

    def __init__(self):
        self.stack, self.chunks, self.rest = [], 0, b""

    def update(self, data):
        """Takes the next bytes. A chunk is added once more bytes follow it."""
        self.rest += bytes(data)
        at = 0
        while len(self.rest) - at > CHUNK_SIZE:
            value = chunk_value(self.rest[at:at + CHUNK_SIZE], self.chunks, 0)
            at += CHUNK_SIZE
            self.chunks += 1
            # The nodes on the stack are complete trees, of as many chunks as the bits of the count.
            count = self.chunks
            while count % 2 == 0:
                value = parent_value(self.stack.pop(), value, 0)
                count //= 2
            self.stack.append(value)
        self.rest = self.rest[at:]

    def digest(self):
        """The digest of 32 bytes."""
        value = chunk_value(self.rest, self.chunks, 0 if self.stack else ROOT)
        while self.stack:
            left = self.stack.pop()
            value = parent_value(left, value, 0 if self.stack else ROOT)
        return struct.pack("<8I", *value)
