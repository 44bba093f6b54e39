#!/usr/bin/env bash
# Sets up, builds and runs all tests. Tests that need a GPU or a browser skip with the reason where there is none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/setup.sh --browser
scripts/build.sh -DWHET_BUILD_TESTS=ON
ctest --test-dir build/release --output-on-failure --no-tests=error -j "$(nproc)"

if [[ -d src/python/tests ]]; then
  python=python3
  if [[ -x .venv/bin/python3 ]]; then python=.venv/bin/python3; fi
  PYTHONPATH=src/python "$python" -m unittest discover --verbose \
    --start-directory src/python/tests --pattern '*test*.py'
fi
