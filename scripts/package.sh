#!/usr/bin/env bash
# Makes dist/whet.tar.gz from build/release: programs, configs and workloads, to be unpacked anywhere.
# What it needs there is a driver for the CUDA target, NVRTC or a host compiler, and LibTorch, whose
# folder whet-reference finds through LD_LIBRARY_PATH if it is not where it was at build time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

[[ -x build/release/bin/whet ]] || {
  echo "package: build/release/bin/whet is missing; run scripts/quickstart.sh first" >&2
  exit 2
}
staging=$(mktemp -d)
trap 'rm -rf "$staging"' EXIT
mkdir -p "$staging/whet/bin" dist
cp build/release/bin/whet* "$staging/whet/bin/"
strip "$staging"/whet/bin/*
cp -r configs workloads LICENSE README.md "$staging/whet/"
tar -C "$staging" -czf dist/whet.tar.gz whet
echo "dist/whet.tar.gz"
