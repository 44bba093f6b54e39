#!/usr/bin/env bash
# Sets up, configures and builds everything into build/release; programs land in build/release/bin.
# Further arguments go to cmake's configure step.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/setup.sh
cmake --preset release -DWHET_TORCH="${WHET_TORCH:-pip}" "$@" >build-configure.log 2>&1 || {
  cat build-configure.log >&2
  exit 3
}
rm -f build-configure.log
cmake --build --preset release
