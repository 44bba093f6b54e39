#!/usr/bin/env bash
# From a fresh clone to a tuned training step on the CPU target: sets up, builds, tunes
# workloads/online.json and prints the result table, the verdict against LibTorch and the report.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/build.sh -DWHET_BUILD_TESTS=OFF
exec build/release/bin/whet tune workloads/online.json --target cpu --budget "${1:-20}"
