#!/usr/bin/env bash
# Installs what building and running whet needs and is not there yet. Does nothing, and touches no
# network, when all is present.
#
#   scripts/setup.sh            packages, LibTorch for C++, NVRTC
#   scripts/setup.sh --python   also a torch that Python can import (capture, peers)
#   scripts/setup.sh --browser  also Chromium, in which a test opens the HTML report (else it skips)
#
# WHET_TORCH=pip|system|off says where LibTorch comes from (default pip: the pinned wheel in .venv,
# unless python3 already has torch). Exit code 3: the environment lacks something; the message says what.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly kTorchVersion=2.11.0
readonly kCudaSeries='13.0.*'
readonly kVenv=.venv

# name|other: any of them will do, the first is what gets installed.
packages=(
  cmake ninja-build g++ git clang-format
  nlohmann-json3-dev libcli11-dev libfmt-dev libgtest-dev libbenchmark-dev libsqlite3-dev
  'libboost1.81-dev|libboost-dev' 'libboost-context1.81-dev|libboost-context-dev'
  libseccomp-dev python3 python3-venv python3-pip
)

say() { printf 'setup: %s\n' "$*"; }
refuse() {
  printf 'setup: %s\n' "$*" >&2
  exit 3
}

is_installed() {
  local status
  status=$(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null) || return 1
  [[ $status == ii* ]]
}

install_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "packages: not a Debian or Ubuntu system, so not checked; wanted: ${packages[*]}"
    return
  fi
  local missing=() entry name found
  for entry in "${packages[@]}"; do
    found=
    for name in ${entry//|/ }; do
      if is_installed "$name"; then found=yes; fi
    done
    if [[ -z $found ]]; then missing+=("${entry%%|*}"); fi
  done
  if ((${#missing[@]} == 0)); then
    say "packages: all present"
    return
  fi
  if ((EUID != 0)); then
    refuse "missing packages, and only root may install them. Run:
  sudo apt-get install --no-install-recommends ${missing[*]}"
  fi
  say "packages: installing ${missing[*]}"
  apt-get -qq update || refuse "packages: apt-get update failed (is there a network?)"
  DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${missing[@]}" \
    >/dev/null || refuse "packages: apt-get could not install ${missing[*]}"
}

install_browser() {
  if command -v chromium >/dev/null; then
    say "browser: $(command -v chromium)"
    return
  fi
  if ! command -v apt-get >/dev/null || ((EUID != 0)); then
    say "browser: no Chromium, and only root on Debian or Ubuntu gets it here; its test will skip"
    return
  fi
  say "browser: installing chromium"
  { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y \
    --no-install-recommends chromium >/dev/null; } ||
    say "browser: apt-get could not install chromium; its test will skip"
}

# The version of torch that interpreter $1 would import, found without importing it.
torch_version_of() {
  [[ -n $(command -v "$1") ]] || return 1
  "$1" - <<'PY' 2>/dev/null
import importlib.metadata, importlib.util, sys
if importlib.util.find_spec("torch") is None:
    sys.exit(1)
print(importlib.metadata.version("torch"))
PY
}

has_cuda_runtime() {
  "$kVenv/bin/python3" - <<'PY' 2>/dev/null
import importlib.metadata
for name in ("nvidia-cuda-cupti", "nvidia-cuda-runtime"):
    importlib.metadata.version(name)
PY
}

make_venv() {
  if [[ -x $kVenv/bin/python3 ]] && "$kVenv/bin/python3" -m pip --version >/dev/null 2>&1; then
    return
  fi
  say "venv: making $kVenv"
  python3 -m venv --clear "$kVenv" || refuse "venv: python3 -m venv failed (is python3-venv there?)"
}

pip_install() {
  "$kVenv/bin/python3" -m pip install --quiet --disable-pip-version-check "$@" ||
    refuse "pip could not install $* (is there a network? WHET_TORCH=off builds without LibTorch)"
}

install_torch_for_cpp() {
  local version
  if version=$(torch_version_of "$kVenv/bin/python3") && has_cuda_runtime; then
    say "torch: $version present in $kVenv"
  elif version=$(torch_version_of python3); then
    say "torch: $version of $(command -v python3)"
  else
    make_venv
    say "torch: installing $kTorchVersion into $kVenv (about 1 GB)"
    # Without its dependencies: C++ needs none of them but these two, and they are another 2 GB.
    pip_install --no-deps "torch==$kTorchVersion" \
      "nvidia-cuda-cupti==$kCudaSeries" "nvidia-cuda-runtime==$kCudaSeries"
  fi
}

install_torch_for_python() {
  local python
  for python in "$kVenv/bin/python3" python3; do
    if [[ -n $(command -v "$python") ]] && "$python" -c 'import torch' 2>/dev/null; then
      say "python: $python imports torch"
      return
    fi
  done
  make_venv
  say "python: installing torch $kTorchVersion with its dependencies into $kVenv (about 3 GB)"
  pip_install "torch==$kTorchVersion" numpy
}

find_nvrtc() {
  local folder file
  for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda /usr/local/cuda-13*; do
    for file in "$folder"/lib64/libnvrtc.so.13 "$folder"/targets/*/lib/libnvrtc.so.13; do
      if [[ -n $folder && -e $file ]]; then
        printf '%s\n' "$file"
        return 0
      fi
    done
  done
  for file in "$kVenv"/lib/python3*/site-packages/nvidia/cu13/lib/libnvrtc.so.13 \
    /usr/lib/*/libnvrtc.so.13; do
    if [[ -e $file ]]; then
      printf '%s\n' "$file"
      return 0
    fi
  done
  return 1
}

install_nvrtc() {
  local file
  if file=$(find_nvrtc); then
    say "nvrtc: $file"
    return
  fi
  make_venv
  say "nvrtc: no CUDA 13 toolkit found, installing nvidia-cuda-nvrtc $kCudaSeries into $kVenv"
  pip_install --no-deps "nvidia-cuda-nvrtc==$kCudaSeries"
}

main() {
  local with_python='' with_browser='' torch=${WHET_TORCH:-pip} argument
  for argument in "$@"; do
    case $argument in
      --python) with_python=yes ;;
      --browser) with_browser=yes ;;
      -h | --help)
        sed -n '2,11s/^# \{0,1\}//p' scripts/setup.sh
        return
        ;;
      *)
        printf 'setup: unknown argument %s (there are --python and --browser)\n' "$argument" >&2
        exit 2
        ;;
    esac
  done
  case $torch in
    pip | off) ;;
    system) packages+=(libtorch-dev libopenblas0-pthread) ;;
    *)
      printf "setup: WHET_TORCH: expected pip, system or off, found '%s'\n" "$torch" >&2
      exit 2
      ;;
  esac
  install_packages
  case $torch in
    pip) install_torch_for_cpp ;;
    system) say "torch: the system's libtorch-dev" ;;
    off) say "torch: off" ;;
  esac
  if [[ -n $with_python ]]; then install_torch_for_python; fi
  if [[ -n $with_browser ]]; then install_browser; fi
  install_nvrtc
}

main "$@"
