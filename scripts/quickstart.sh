#!/usr/bin/env bash
# From a fresh checkout (or an unpacked archive of scripts/package.sh) to a tuned step: sets up,
# builds, tunes workloads/online.json on the CPU, prints what was found.
#
#   scripts/quickstart.sh [BUDGET]   time or number of candidates, default 2m
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

whet=bin/whet
if [[ ! -x $whet ]]; then
  scripts/build.sh -DWHET_BUILD_TESTS=OFF
  whet=build/release/bin/whet
fi
"$whet" tune workloads/online.json --target cpu --budget "${1:-2m}"
"$whet" report workloads/online.json
