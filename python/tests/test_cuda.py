"""Memory of a GPU: what is refused without one, and the bytes and errors with one.

Tests that need a GPU say so when they are skipped, and fail if ``BWZ_REQUIRE_GPU=1``.
"""

from __future__ import annotations

import gc
import io
import os
from typing import Any

import numpy
import pytest

import bwz
import bwz.cuda

FILE = bwz.compress(b"she sells sea shells " * 500)


class CudaArray:
    """An array of the CUDA array interface, which only claims to be in the memory of a GPU."""

    def __init__(self, **other: Any) -> None:
        self.__cuda_array_interface__ = {
            "shape": (20_000,),
            "typestr": "|u1",
            "data": (1 << 40, False),
            "version": 3,
            **other,
        }


REFUSED = [
    (bytearray(20_000), TypeError, "neither __dlpack__ nor"),
    (None, TypeError, "neither __dlpack__ nor"),
    (numpy.empty(20_000, numpy.uint8), ValueError, "not in the memory of a CUDA GPU"),
    (CudaArray(data=(1 << 40, True)), ValueError, "read-only"),
    (CudaArray(typestr="<f4"), ValueError, "not uint8 or int8"),
    (CudaArray(typestr="<u2"), ValueError, "not uint8 or int8"),
    (CudaArray(strides=(2,)), ValueError, "not contiguous"),
    (CudaArray(shape=(100, 200), strides=(1, 100)), ValueError, "not contiguous"),
    (CudaArray(shape=(-1,)), ValueError, "makes no sense"),
    (CudaArray(shape=(1 << 62, 1 << 62)), ValueError, "makes no sense"),
    (CudaArray(mask=1), ValueError, "mask"),
    (CudaArray(stream=0), ValueError, "stream of 0"),
    (CudaArray(data=None), TypeError, "."),
]


@pytest.mark.parametrize("out, error, said", REFUSED)
def test_arrays_that_are_not_taken(out, error, said):
    with pytest.raises(error, match=said):
        bwz.cuda.decompress_into(FILE, out)
    if said != "read-only":
        with pytest.raises(error, match=said):
            bwz.cuda.compress(out)


def test_arguments_that_make_no_sense():
    with pytest.raises(ValueError, match="ambiguous"):
        bwz.cuda.decompress_into(FILE, CudaArray(), stream=0)
    with pytest.raises(TypeError):
        bwz.cuda.decompress_into(FILE, CudaArray(), decoder=1)
    with pytest.raises(TypeError):
        bwz.cuda.decompress_into(FILE, CudaArray(), range=5)
    with pytest.raises(FileNotFoundError):
        bwz.cuda.decompress_into("/no/such/file.bwz", CudaArray())
    with pytest.raises(OverflowError):
        bwz.cuda.GpuDecoder(-1)


def test_without_a_gpu_the_error_says_so():
    if gpus():
        pytest.skip("there is a GPU")
    for call in (
        lambda: bwz.cuda.GpuDecoder(),
        lambda: bwz.cuda.decompress_into(FILE, CudaArray()),
        lambda: bwz.cuda.decompress_to_device(FILE),
        lambda: bwz.cuda.compress(CudaArray()),
    ):
        with pytest.raises(bwz.DeviceError):
            call()


def gpus() -> bool:
    """True if there is a GPU that this build works on."""
    try:
        bwz.cuda.GpuDecoder(0)
    except bwz.DeviceError:
        return False
    return True


@pytest.fixture(scope="module")
def torch() -> Any:
    """torch with a GPU."""
    required = os.environ.get("BWZ_REQUIRE_GPU") == "1"
    if not gpus():
        assert not required, "BWZ_REQUIRE_GPU is set, but there is no GPU"
        pytest.skip("no CUDA device")
    if required:
        import torch
    else:
        torch = pytest.importorskip("torch")
    assert torch.cuda.is_available()
    return torch


@pytest.fixture(scope="module")
def noise() -> bytes:
    """2 MB that no filter changes, in 21 blocks."""
    return numpy.random.default_rng(5).integers(0, 50, 2_050_000, numpy.uint8).tobytes()


@pytest.fixture(scope="module")
def noise_file(noise) -> bytes:
    return bwz.compress(noise, block_size=100_000)


def empty(torch: Any, size: int) -> Any:
    """Memory whose bytes tell if they were written."""
    return torch.full((size,), 0xEE, dtype=torch.uint8, device="cuda:0")


class OnlyCudaArray:
    """A tensor by the CUDA array interface alone."""

    def __init__(self, tensor: Any, **other: Any) -> None:
        self.tensor = tensor
        self.__cuda_array_interface__ = {**tensor.__cuda_array_interface__, "version": 3, **other}


def test_the_bytes_are_those_of_the_host(torch, noise, noise_file, text, tmp_path):
    decoder = bwz.cuda.GpuDecoder(0)
    path = tmp_path / "noise.bwz"
    path.write_bytes(noise_file)
    expected = bwz.cuda.Restored(len(noise), 21, 0)
    file_object = io.BytesIO(noise_file)
    for file in (noise_file, bytearray(noise_file), str(path), path, file_object):
        out = empty(torch, len(noise) + 5)
        assert bwz.cuda.decompress_into(file, out, decoder=decoder) == expected
        assert out.cpu().numpy().tobytes() == noise + b"\xee" * 5
        for other in ({}, {"stream": 1}, {"stream": 2}):
            out.fill_(0xEE)
            torch.cuda.synchronize()
            file_object.seek(0)
            done = bwz.cuda.decompress_into(file, OnlyCudaArray(out, **other))
            assert done == expected
            assert out.cpu().numpy().tobytes() == noise + b"\xee" * 5
    for options in ({"index": True}, {"effort": "best"}, {}):
        file = bwz.compress(text, level=1, **options)
        out = empty(torch, len(text))
        done = bwz.cuda.decompress_into(file, out, decoder=decoder)
        assert done.nbytes == len(text) and done.on_gpu + done.by_host == 3
        assert options == {} or done.by_host == 3
        assert out.cpu().numpy().tobytes() == text


def test_memory_of_ours_goes_to_other_libraries(torch, noise, noise_file):
    whole = bwz.cuda.decompress_to_device(noise_file)
    assert (whole.nbytes, len(whole), whole.device) == (len(noise), len(noise), 0)
    assert whole.blocks == (21, 0)
    tensor = torch.from_dlpack(whole)
    again = torch.as_tensor(whole, device="cuda:0")
    assert tensor.dtype == torch.uint8 and tensor.data_ptr() == again.data_ptr()
    del whole
    gc.collect()
    assert tensor.cpu().numpy().tobytes() == noise
    assert again.cpu().numpy().tobytes() == noise
    part = bwz.cuda.decompress_to_device(noise_file, range=(99_999, 200_002))
    assert torch.from_dlpack(part).cpu().numpy().tobytes() == noise[99_999:200_002]
    nothing = torch.from_dlpack(bwz.cuda.decompress_to_device(noise_file, range=(5, 5)))
    assert nothing.numel() == 0
    unused = bwz.cuda.decompress_to_device(noise_file).__dlpack__()
    del unused
    with pytest.raises(BufferError):
        part.__dlpack__(copy=True)
    with pytest.raises(BufferError):
        part.__dlpack__(dl_device=(1, 0))


def test_freed_memory_is_free(torch, noise):
    file = bwz.compress(noise * 20, block_size=1 << 20)
    bwz.cuda.decompress_to_device(file)
    gc.collect()
    before, _ = torch.cuda.mem_get_info()
    for _ in range(20):
        torch.from_dlpack(bwz.cuda.decompress_to_device(file))
    decoder = bwz.cuda.GpuDecoder(0)
    bwz.cuda.decompress_to_device(file, decoder=decoder)
    during, _ = torch.cuda.mem_get_info()
    assert during < before - (16 << 20)
    del decoder
    gc.collect()
    after, _ = torch.cuda.mem_get_info()
    assert after > before - (64 << 20)


def test_work_of_a_stream_is_waited_for(torch, noise, noise_file):
    stream = torch.cuda.Stream()
    for given in (stream.cuda_stream, None):
        for _ in range(5):
            out = empty(torch, len(noise))
            torch.cuda.synchronize()
            with torch.cuda.stream(stream):
                torch.cuda._sleep(50_000_000)
                out.fill_(0)
                bwz.cuda.decompress_into(noise_file, out, stream=given)
            torch.cuda.synchronize()
            assert out.cpu().numpy().tobytes() == noise


def test_what_is_too_small_or_elsewhere(torch, noise, noise_file):
    out = empty(torch, len(noise) - 1)
    with pytest.raises(bwz.UsageError, match="are needed"):
        bwz.cuda.decompress_into(noise_file, out)
    with pytest.raises(bwz.UsageError):
        bwz.cuda.decompress_into(noise_file, out, range=(0, len(noise) + 1))
    with pytest.raises(bwz.UsageError):
        bwz.cuda.decompress_to_device(noise_file, range=(7, 5))
    with pytest.raises(bwz.OutputLimitError):
        bwz.cuda.decompress_into(noise_file, out, range=(0, 5000), limit_output=100)
    with pytest.raises(ValueError, match="not contiguous"):
        bwz.cuda.decompress_into(noise_file, out[::2])
    with pytest.raises(ValueError, match="not uint8"):
        bwz.cuda.decompress_into(noise_file, out[:1000].view(torch.int16))
    with pytest.raises(ValueError, match="CUDA GPU"):
        bwz.cuda.decompress_into(noise_file, torch.empty(len(noise), dtype=torch.uint8))
    on_host = numpy.empty(len(noise), numpy.uint8)
    claimed = CudaArray(shape=on_host.shape, data=(on_host.ctypes.data, False))
    with pytest.raises(bwz.UsageError, match="not in the memory of a GPU"):
        bwz.cuda.decompress_into(noise_file, claimed)
    with pytest.raises(bwz.DeviceError):
        bwz.cuda.GpuDecoder(100)
    assert (out == 0xEE).all()


def test_damage_is_an_error(torch, noise, noise_file):
    block = bwz.Archive(io.BytesIO(noise_file)).blocks()[5]
    damaged = bytearray(noise_file)
    damaged[block.coded_end - 1000] ^= 1
    out = empty(torch, len(noise))
    with pytest.raises(bwz.FormatError) as caught:
        bwz.cuda.decompress_into(damaged, out)
    assert caught.value.block == 5
    with pytest.raises(bwz.FormatError):
        bwz.cuda.decompress_to_device(damaged)
    with pytest.raises(bwz.FormatError):
        bwz.cuda.decompress_to_device(b"no bwz file at all, but long enough to be one" * 10)
    bwz.cuda.decompress_into(damaged, out, range=(0, 500_000))
    assert out[:500_000].cpu().numpy().tobytes() == noise[:500_000]


def test_compressed_from_a_gpu_it_is_the_same_file(torch, noise, text):
    for data in (noise, text, b"x", b""):
        tensor = torch.frombuffer(bytearray(data), dtype=torch.uint8) if data else torch.empty(0)
        tensor = tensor.to(device="cuda:0", dtype=torch.uint8)
        expected = bwz.compress(data, block_size=1_000_000)
        assert bwz.cuda.compress(tensor, block_size=1_000_000) == expected
        if data:
            read_only = OnlyCudaArray(tensor, data=(tensor.data_ptr(), True))
            assert bwz.cuda.compress(read_only, block_size=1_000_000) == expected
