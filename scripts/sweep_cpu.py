#!/usr/bin/env python3
"""Validates many configurations of every workload of a suite on the CPU target, by real sessions.

Writes a JSON file: for each workload how the candidates ended, how many differ in generated text
beyond the comments (which hold the configuration), and the largest error over its limit.
Exit 1: a candidate that was not refused by a constraint did not validate, or too few differ.
"""
import argparse
import hashlib
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
WHET = ROOT / "build/release/bin/whet"


def arguments_of(entry, folder):
    """The workload of a suite's entry as arguments of whet."""
    arguments = [str(folder / entry["workload"])]
    for name, size in entry.get("dims", {}).items():
        arguments += ["--dim", f"{name}={size}"]
    return arguments


def tune(entry, folder, budget, seed, scratch):
    """Runs a session; returns its candidates as (configuration, status, result)."""
    database = scratch / f"{entry['as']}.db"
    command = [str(WHET), "tune", *arguments_of(entry, folder), "--target", "cpu"]
    command += ["--strategy", "random", "--budget", str(budget), "--seed", str(seed)]
    command += ["--db", str(database), "--report-dir", str(scratch / entry["as"]), "--json"]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{entry['as']}: whet ended with {done.returncode}: {done.stderr}")
    with sqlite3.connect(database) as connection:
        rows = connection.execute(
            "SELECT knobs, status, result FROM evaluation"
            " JOIN configuration ON configuration.id = evaluation.configuration"
        ).fetchall()
    return [(json.loads(knobs), status, json.loads(result)) for knobs, status, result in rows]


def source_sha256(entry, folder, knobs):
    """Of the generated text without its comments."""
    pairs = " ".join(f"{name}={value}" for name, value in sorted(knobs.items()))
    command = [str(WHET), "show", *arguments_of(entry, folder), "--target", "cpu", "--source"]
    text = subprocess.run(
        [*command, "--set", pairs], stdout=subprocess.PIPE, check=True, text=True
    ).stdout
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("//")]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def summarise(entry, folder, candidates):
    counts = {}
    sources = {}
    worst = 0.0
    failures = []
    for knobs, status, result in candidates:
        counts[status] = counts.get(status, 0) + 1
        if status == "Ok":
            sources.setdefault(source_sha256(entry, folder, knobs), knobs)
            error = result.get("worst") or {}
            if error.get("limit"):
                worst = max(worst, error["error"] / error["limit"])
        elif status != "ConstraintViolated":
            failures.append({"configuration": knobs, "status": status, "detail": result["detail"]})
    return {
        "workload": entry["as"],
        "counts": counts,
        "different_sources": len(sources),
        "worst_error_over_limit": round(worst, 4),
        "failures": failures,
        "configurations": [
            " ".join(f"{name}={value}" for name, value in sorted(knobs.items()))
            for knobs in sources.values()
        ],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", default=str(ROOT / "workloads/seeds.json"))
    parser.add_argument("--only", action="append", help="names of entries (default: all)")
    parser.add_argument("--budget", type=int, default=24, help="candidates a workload")
    parser.add_argument("--least", type=int, default=20, help="validated sources that must differ")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", default=str(ROOT / "results/sweeps/cpu_validation.json"))
    options = parser.parse_args()

    suite = json.loads(pathlib.Path(options.suite).read_text())
    folder = pathlib.Path(options.suite).parent
    output = pathlib.Path(options.output)
    entries = {}
    if options.only and output.exists():  # the others keep their results
        known = json.loads(output.read_text())["workloads"]
        entries = {result["workload"]: result for result in known}
    with tempfile.TemporaryDirectory(prefix="whet-sweep-") as scratch:
        for entry in suite["entries"]:
            if options.only and entry["as"] not in options.only:
                continue
            candidates = tune(
                entry, folder, options.budget, options.seed, pathlib.Path(scratch)
            )
            result = summarise(entry, folder, candidates)
            entries[entry["as"]] = result
            print(
                f"{entry['as']:24} {result['counts']}, {result['different_sources']} differ,"
                f" worst error {result['worst_error_over_limit']:.2f} of its limit",
                flush=True,
            )
    document = {
        "schema": "whet.cpu_sweep/1",
        "about": "scripts/sweep_cpu.sh: sessions with strategy random on the CPU target, full size,"
        " validated against LibTorch",
        "cores": len(os.sched_getaffinity(0)),
        "budget": options.budget,
        "seed": options.seed,
        "workloads": [entries[e["as"]] for e in suite["entries"] if e["as"] in entries],
    }
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(document, indent=1) + "\n")
    bad = [
        result["workload"]
        for result in document["workloads"]
        if result["failures"] or result["different_sources"] < options.least
    ]
    if bad:
        print("not as it should be: " + ", ".join(bad), file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
