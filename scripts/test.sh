#!/usr/bin/env bash
# Sets up, builds and runs all tests. Tests that need a GPU skip with the reason where there is none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/build.sh -DWHET_BUILD_TESTS=ON
ctest --test-dir build/release --output-on-failure --no-tests=error -j "$(nproc)"
