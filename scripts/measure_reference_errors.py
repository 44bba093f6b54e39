#!/usr/bin/env python3
"""Measures what configs/tolerances.json is made from: how far LibTorch eager and two other summation orders
are from the reference, for each entry of a suite and each seed. One JSON line a bundle.

    scripts/measure_reference_errors.py build/release/bin/whet-reference workloads/seeds.json > results/reference_errors.jsonl
"""
import json
import pathlib
import subprocess
import sys
import tempfile


def run(command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main(program, suite_file):
    suite_file = pathlib.Path(suite_file)
    suite = json.loads(suite_file.read_text())
    with tempfile.TemporaryDirectory() as folder:
        bundle = str(pathlib.Path(folder) / "bundle.safetensors")
        for entry in suite["entries"]:
            file = suite_file.parent / entry["workload"]
            workload = ["--workload", str(file)]
            for name, size in entry.get("dims", {}).items():
                workload += ["--dim", f"{name}={size}"]
            for seed in json.loads(file.read_text()).get("validation", {}).get("seeds", [101, 211, 307]):
                run([program, "bundle", *workload, "--seed", str(seed), "--out", bundle])
                line = run([program, "errors", *workload, "--bundle", bundle])
                print(json.dumps({"entry": entry.get("as", entry["workload"]), **line}), flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
