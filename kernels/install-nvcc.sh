#!/usr/bin/env bash
# Installs NVIDIA's CUDA compiler, headers and static runtime from pinned wheels into target/nvcc,
# in which kernels/build.rs searches. For machines without a CUDA toolkit; it takes about 270 MB.
# The first argument can name another folder; CUDA_HOME must then be set to its nvidia/cu13.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:-target/nvcc}

wheels=(
    nvidia-cuda-nvcc==13.0.88
    nvidia-cuda-crt==13.0.88
    nvidia-nvvm==13.0.88
    nvidia-cuda-cccl==13.0.85
    nvidia-cuda-runtime==13.0.96
)
stamp=$target/installed
if [[ -x $target/nvidia/cu13/bin/nvcc && $(cat "$stamp" 2>/dev/null) == "${wheels[*]}" ]]; then
    echo "nvcc is installed in $target"
    exit
fi
rm -rf "$target"
python3 -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --target "$target" "${wheels[@]}"
chmod +x "$target"/nvidia/cu13/bin/* "$target"/nvidia/cu13/nvvm/bin/*
echo "${wheels[*]}" > "$stamp"
"$target/nvidia/cu13/bin/nvcc" --version | tail -n 2
