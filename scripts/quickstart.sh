#!/usr/bin/env bash
# From a fresh clone to a tuned training step on the CPU target: sets up, builds, tunes
# workloads/online.json and prints the result table, the verdict against LibTorch and the report.
# In an archive of scripts/package.sh, whose programs are built, it only tunes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

whet=bin/whet
if [[ ! -x $whet ]]; then
  scripts/build.sh -DWHET_BUILD_TESTS=OFF
  whet=build/release/bin/whet
fi
exec "$whet" tune workloads/online.json --target cpu --budget "${1:-20}"
