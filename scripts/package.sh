#!/usr/bin/env bash
# Makes dist/whet.tar.gz from build/release: programs, configs, workloads, scripts and, if built, the
# GPU tests, to be unpacked anywhere. What it needs there is a driver for the CUDA target, NVRTC or a
# host compiler, and LibTorch, looked for when whet-reference starts: in .venv beside bin, then where
# python3 has it.
set -euo pipefail
shopt -s nullglob
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ ! -x build/release/bin/whet ]]; then
  printf 'package: build/release/bin/whet is missing; run scripts/build.sh first\n' >&2
  exit 3
fi
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
root=$stage/whet

mkdir -p "$root/bin" "$root/libexec"
cp -r configs workloads scripts LICENSE README.md CHANGELOG.md "$root"
find "$root/scripts" -name __pycache__ -prune -exec rm -r {} +
for program in build/release/bin/whet*; do
  if [[ -f $program && -x $program ]]; then install -s "$program" "$root/bin"; fi
done

for program in cuda_executor_test gpu_step_test; do
  if [[ -x build/release/tests/$program ]]; then
    install -D -s "build/release/tests/$program" "$root/tests/$program"
  fi
done
mkdir "$root/lib"
for program in "$root"/bin/* "$root"/tests/*; do
  ldd "$program" | awk '$1 ~ /^lib(fmt|sqlite3|boost_)/ { print $3 }'
done | sort -u | xargs -r cp -L -t "$root/lib"

if [[ -e $root/bin/whet-reference ]]; then
  mv "$root/bin/whet-reference" "$root/libexec"
  cat >"$root/bin/whet-reference" <<'WRAPPER'
#!/bin/sh
# The program's own search path names the machine that built it.
here=$(dirname "$(readlink -f "$0")")
find_torch='import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0])'
for python in "$here/../.venv/bin/python3" python3; do
  if folder=$("$python" -c "$find_torch" 2>/dev/null); then
    LD_LIBRARY_PATH=$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
    break
  fi
done
exec "$here/../libexec/whet-reference" "$@"
WRAPPER
  chmod +x "$root/bin/whet-reference"
fi

mkdir -p dist
tar --sort=name --owner=0 --group=0 --numeric-owner -C "$stage" -czf dist/whet.tar.gz whet
printf 'dist/whet.tar.gz\n'
