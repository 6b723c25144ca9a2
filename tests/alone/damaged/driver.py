"""Keeps decoder.py at hand: takes files from standard input and says of each what decoder.py says.

A file is its size (8 bytes) and its bytes; an answer is a byte (0 decoded, 1 rejected, 2 decoder.py failed, 3 it took too long),
the size of a message (8), the message, the size of the output (8) and the output. The arguments are the folder of decoder.py
and the seconds it may take.
"""
import ctypes.util
import io
import signal
import struct
import sys
import traceback

sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import decoder


class TooLong(Exception):
    pass


class Zstd:
    """The part of Python 3.14's compression.zstd that decoder.py uses, by the C library."""

    class ZstdError(Exception):
        pass

    class ZstdDecompressor:
        eof, unused_data = True, b""

        def decompress(self, coded, max_length):
            size = library.ZSTD_findFrameCompressedSize(coded, len(coded))
            out = ctypes.create_string_buffer(max_length)
            if size == len(coded):
                size = library.ZSTD_decompress(out, max_length, coded, len(coded))
                if not library.ZSTD_isError(size):
                    return out.raw[:size]
            raise Zstd.ZstdError()


if decoder.zstd is None and ctypes.util.find_library("zstd"):
    library = ctypes.CDLL(ctypes.util.find_library("zstd"))
    for name in ("ZSTD_findFrameCompressedSize", "ZSTD_decompress"):
        getattr(library, name).restype = ctypes.c_size_t
    library.ZSTD_findFrameCompressedSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t] * 2
    library.ZSTD_isError.argtypes = [ctypes.c_size_t]
    decoder.zstd = Zstd


def too_long(*_):
    raise TooLong()


def verdict(file, out):
    signal.setitimer(signal.ITIMER_REAL, float(sys.argv[2]))
    try:
        decoder.decode_file(decoder.Reader(io.BytesIO(file)), out.extend)
        return 0, ""
    except decoder.Reject as problem:
        return 1, str(problem)
    except (TooLong, MemoryError):
        return 3, "too long, or too large"
    except Exception:
        return 2, traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main():
    signal.signal(signal.SIGALRM, too_long)
    files, answers = sys.stdin.buffer, sys.stdout.buffer
    # First of all: whether compressed tables are looked into.
    answers.write(bytes([decoder.zstd is not None]))
    answers.flush()
    while size := files.read(8):
        out = bytearray()
        status, message = verdict(files.read(*struct.unpack("<Q", size)), out)
        message = message.encode()
        answers.write(struct.pack("<BQ", status, len(message)) + message)
        answers.write(struct.pack("<Q", len(out)) + out)
        answers.flush()


main()
