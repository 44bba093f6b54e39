#!/usr/bin/env bash
# Sets up, configures and builds build/release; programs land in build/release/bin. Arguments go to
# cmake's configuration, as in -DWHET_BUILD_TESTS=OFF.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/setup.sh
cmake --preset release -DWHET_TORCH="${WHET_TORCH:-pip}" "$@"
cmake --build --preset release
