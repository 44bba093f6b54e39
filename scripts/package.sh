#!/usr/bin/env bash
# Packs the programs of build/release (scripts/build.sh makes them) with configs, workloads and
# scripts into dist/whet-VERSION-linux-ARCH.tar.gz. The archive runs from any folder; LibTorch is
# looked for when whet-reference starts, in .venv beside bin and then where python3 has it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ ! -x build/release/bin/whet ]]; then
  printf 'package: build/release/bin/whet is missing; run scripts/build.sh first\n' >&2
  exit 3
fi
version=$(sed -n 's/^project(whet VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
name=whet-$version-linux-$(uname -m)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
root=$stage/$name

mkdir -p "$root/bin" "$root/libexec"
cp -r configs workloads scripts LICENSE README.md CHANGELOG.md "$root"
for program in build/release/bin/whet*; do
  if [[ -f $program && -x $program ]]; then install -s "$program" "$root/bin"; fi
done

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
tar --sort=name --owner=0 --group=0 --numeric-owner -C "$stage" -czf "dist/$name.tar.gz" "$name"
printf 'package: dist/%s.tar.gz\n' "$name"
