#!/usr/bin/env bash
# For a machine with a GPU: runs the GPU tests, then one configuration of each partition under
# compute-sanitizer. Usage: check_gpu.sh [folder for the logs]. Works in an archive of
# scripts/package.sh as well.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tests=tests
if [[ ! -x tests/gpu_step_test ]]; then tests=build/release/tests; fi
logs=${1:-build/check_gpu}
mkdir -p "$logs"

for program in cuda_executor_test gpu_step_test; do
  "$tests/$program" >"$logs/$program.txt" 2>&1 || { cat "$logs/$program.txt"; exit 1; }
  tail -n 3 "$logs/$program.txt"
done
for tool in memcheck racecheck; do
  compute-sanitizer --tool "$tool" --error-exitcode 1 \
    "$tests/gpu_step_test" --gtest_filter='GpuPartitions.*' >"$logs/$tool.txt" 2>&1 ||
    { cat "$logs/$tool.txt"; exit 1; }
  printf '%s: %s\n' "$tool" "$(tail -n 1 "$logs/$tool.txt")"
done
