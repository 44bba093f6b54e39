#!/usr/bin/env bash
# Compiles a stratified sample of the space of the seeds workloads with NVRTC for sm_80, sm_90a and
# sm_100a, with no GPU: sweep_nvrtc.sh [POINTS [OUTPUT]], 200 points a device by default.
# Exit 1: a point did not compile, or exceeds its device.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cmake --preset release >/dev/null
cmake --build build/release --target nvrtc_sweep >/dev/null
build/release/tests/nvrtc_sweep "${1:-200}" "${2:-results/sweeps/nvrtc.json}"
