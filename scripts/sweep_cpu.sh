#!/usr/bin/env bash
# Validates at least 20 different kernels of every seeds workload at full size on the CPU target and
# writes results/sweeps/cpu_validation.json. Arguments go to scripts/sweep_cpu.py (--help lists
# them). Takes half an hour and more on 2 cores.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cmake --preset release >/dev/null
cmake --build build/release --target whet whet-compile whet-worker whet-reference >/dev/null
exec python3 scripts/sweep_cpu.py "$@"
