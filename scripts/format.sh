#!/usr/bin/env bash
# Formats every tracked C++ file with clang-format; with --check only names those that are not.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case "${1:-}" in
  '') mode=(-i) ;;
  --check) mode=(--dry-run --Werror) ;;
  *)
    printf 'format: unknown argument %s (there is --check)\n' "$1" >&2
    exit 2
    ;;
esac
command -v clang-format >/dev/null || {
  printf 'format: clang-format is missing; scripts/setup.sh installs it\n' >&2
  exit 3
}
git ls-files -z --cached -- '*.cpp' '*.hpp' | xargs -0 -r clang-format "${mode[@]}"
