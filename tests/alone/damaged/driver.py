"""Keeps decoder.py at hand: takes files from standard input and says of each what decoder.py says.

A file is its size (8 bytes) and its bytes; an answer is a byte (0 decoded, 1 rejected, 2 decoder.py failed, 3 it took too long, 4 unsupported),
the size of a message (8), the message, the size of the output (8) and the output. The arguments are the folder of decoder.py
and the seconds it may take.
"""
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


def too_long(*_):
    raise TooLong()


def verdict(file, out):
    signal.setitimer(signal.ITIMER_REAL, float(sys.argv[2]))
    try:
        decoder.decode_file(decoder.Reader(io.BytesIO(file)), out.extend)
        return 0, ""
    except decoder.Damaged as problem:
        return 1, str(problem)
    except decoder.Unsupported as problem:
        return 4, str(problem)
    except (TooLong, MemoryError):
        return 3, "too long, or too large"
    except Exception:
        return 2, traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main():
    signal.signal(signal.SIGALRM, too_long)
    files, answers = sys.stdin.buffer, sys.stdout.buffer
    while size := files.read(8):
        out = bytearray()
        status, message = verdict(files.read(*struct.unpack("<Q", size)), out)
        message = message.encode()
        answers.write(struct.pack("<BQ", status, len(message)) + message)
        answers.write(struct.pack("<Q", len(out)) + out)
        answers.flush()


main()
