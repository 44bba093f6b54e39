#!/usr/bin/env python3
"""Tunes one workload twice, calmly and under faults, and compares what came of it.

    scripts/chaos.py [--workload tiny_online] [--candidates 500] [--seed 1] [--output FILE]

Faults: workers are killed, hang, print garbage, tear a frame or run out of address space; compilers
are killed; `whet` itself is killed, interrupted, or finds that its database can grow no further (a
file size limit stands for a full disk, lifted before the next start). After each end of `whet` it is
started again with --resume. Times are made up from each artifact's name in both runs, since real
ones never repeat: what is compared is bookkeeping, not speed.

Exit code 0 when all holds: both runs finish; every evaluation that `whet` had announced is in the
database, none twice; no process is left; winner and tie set are those of the calm run.
"""

import argparse
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = ROOT / "build/release/bin"
# Shares of the requests to a worker or compiler.
WORKER_FAULTS = {"kill": 0.004, "garbage": 0.002, "torn": 0.001, "hang": 0.001, "memory": 0.001}
COMPILER_KILL = 0.01
MAX_STARTS = 60
STATES = ("killed", "interrupted", "disk full")


# --- the proxy that stands for whet-worker and whet-compile ---


def read_frame(stream):
    head = stream.read(4)
    if len(head) < 4:
        return None
    return head + stream.read(int.from_bytes(head, "little"))


def frame(message):
    payload = json.dumps(message).encode()
    return len(payload).to_bytes(4, "little") + payload


def made_up_ns(artifact):
    """Steps of 2 %, so that several candidates are exactly as fast as the fastest."""
    digest = hashlib.sha256(pathlib.Path(artifact).name.encode()).digest()
    return 1000.0 * 1.02 ** (digest[0] % 40)


def commit(fault, real, log):
    with open(log, "a") as file:
        file.write(fault + "\n")
    out = sys.stdout.buffer
    if fault == "hang":
        while True:
            signal.pause()
    if fault == "memory":
        resource.prlimit(real.pid, resource.RLIMIT_AS, (1 << 20, 1 << 20))
        return
    if fault == "garbage":
        out.write(b"Segmentation fault? No: a library that prints where it should not.\n" * 3)
    if fault == "torn":
        out.write(frame({"protocol": 1, "kind": "validated", "body": {}})[:20])
    out.flush()
    real.kill()
    os.kill(os.getpid(), signal.SIGKILL)


def draw_fault(rng, rates):
    value = rng.random()
    for fault, rate in rates.items():
        if value < rate:
            return fault
        value -= rate
    return None


def proxy(name, log, seed):
    """Between whet and a child program: passes frames on, makes up times, commits faults."""
    real = subprocess.Popen([BIN / name, *sys.argv[4:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    rng = random.Random(f"{seed} {os.getpid()} {time.time_ns()}")
    rates = {} if seed == "calm" else WORKER_FAULTS if name == "whet-worker" else {"kill": COMPILER_KILL}
    artifacts = {}
    while (request := read_frame(sys.stdin.buffer)) is not None:
        message = json.loads(request[4:])
        fault = draw_fault(rng, rates) if message["kind"] != "open" else None
        if fault:
            commit(fault, real, log)
        if message["kind"] == "load":
            artifacts[message["body"]["id"]] = message["body"]["artifact"]
        real.stdin.write(request)
        real.stdin.flush()
        answer = read_frame(real.stdout)
        if answer is None:
            break
        message = json.loads(answer[4:])
        if message["kind"] == "measured":
            for block in message["body"]["blocks"]:
                for sample in block["samples"]:
                    sample["time_ns"] = made_up_ns(artifacts[block["id"]])
            answer = frame(message)
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
    real.stdin.close()
    sys.exit(real.wait() and 3)


# --- the runs ---


class Installation:
    """Programs as `whet` expects them beside itself, with proxies for two of them."""

    def __init__(self, folder, seed):
        self.folder = folder
        self.log = folder / "faults.txt"
        self.database = folder / "records.db"
        programs = folder / "bin"
        programs.mkdir(parents=True)
        shutil.copy(BIN / "whet", programs / "whet")
        (programs / "whet-reference").symlink_to(BIN / "whet-reference")
        for shared in ("configs", "workloads"):
            (folder / shared).symlink_to(ROOT / shared)
        for name in ("whet-worker", "whet-compile"):
            script = programs / name
            script.write_text(
                f'#!/bin/sh\nexec {sys.executable} "{__file__}" --proxy {name} "{self.log}" {seed} "$@"\n'
            )
            script.chmod(0o755)

    def start(self, arguments):
        environment = dict(
            os.environ, HOME=str(self.folder), WHET_DB=str(self.database), XDG_CACHE_HOME=str(self.folder)
        )
        return subprocess.Popen(
            [self.folder / "bin/whet", *arguments],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
            restore_signals=False,
        )

    def num_evaluations(self):
        """Rows that another program finds, which undoes what was cut short."""
        if not self.database.exists():
            return 0
        whet = self.start(["db", "check", "--json"])
        return json.loads(whet.communicate()[0])["evaluations"]

    def num_configurations(self):
        with sqlite3.connect(self.database) as connection:
            return connection.execute("SELECT count(DISTINCT configuration) FROM evaluation").fetchone()[0]

    def processes(self):
        """Command lines that name this folder, but for ours."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if str(self.folder) in line and entry.name != str(os.getpid()):
                found.append(line)
        return found


def disturb(state, whet, database):
    if state == "killed":
        whet.kill()
    elif state == "interrupted":
        whet.send_signal(signal.SIGINT)
    else:
        limit = (database.stat().st_size if database.exists() else 0) + 8192
        resource.prlimit(whet.pid, resource.RLIMIT_FSIZE, (limit, limit))


def announced(text):
    """How many evaluations a run had said to be finished."""
    return max((int(n) for n in re.findall(r"\] (\d+) ", text)), default=0)


def run_chaos(installation, arguments, seed, num_disturbances):
    rng = random.Random(seed)
    problems, ends = [], []
    while True:
        whet = installation.start(arguments + (["--resume"] if ends else []))
        state = STATES[len(ends) % len(STATES)] if len(ends) < num_disturbances else None
        output = ["", ""]
        if state:
            try:
                output = list(whet.communicate(timeout=rng.uniform(3, 25)))
                state = None  # it was done before
            except subprocess.TimeoutExpired:
                disturb(state, whet, installation.database)
        if whet.poll() is None or state:
            output = list(whet.communicate())
        ends.append({"state": state, "exit": whet.returncode, "last": output[1].strip().splitlines()[-1:]})
        said = announced(output[1])
        rows = installation.num_evaluations()
        if rows < said:
            problems.append(f"{said} evaluations were announced, {rows} are stored")
        # 3: the environment was to blame, so whoever runs it goes on later.
        if state is None and (whet.returncode != 3 or len(ends) > MAX_STARTS):
            if whet.returncode != 0:
                problems.append(f"ended with {whet.returncode}: {output[1][-500:]}")
            return output[0], ends, problems


def decision_of(text):
    """Winner and tie set of a `whet.report/1` with its samples."""
    entries = json.loads(text)["entries"] if text else []
    if not entries:
        return {"winner": None, "tie_set": [], "counts": {}}
    entry = entries[0]
    tied = sorted(json.dumps(c, sort_keys=True) for c in entry["tie_set"])
    return {"winner": entry["winner"]["configuration"], "tie_set": tied, "counts": entry["counts"]}


def report(installation):
    whet = installation.start(["report", "--format", "json"])
    return decision_of(whet.communicate()[0])


def count_lines(path):
    counts = {}
    for line in path.read_text().split("\n") if path.exists() else []:
        if line:
            counts[line] = counts.get(line, 0) + 1
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workload", default="tiny_online")
    parser.add_argument("--candidates", type=int, default=500)
    parser.add_argument("--disturbances", type=int, default=12, help="ends of whet before its time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=pathlib.Path, help="what happened, as JSON")
    options = parser.parse_args()
    arguments = [
        "tune", options.workload, "--target", "cpu", "--budget", str(options.candidates),
        "--seed", str(options.seed), "--strategy", "random",
    ]
    with tempfile.TemporaryDirectory(prefix="whet-chaos-") as folder:
        calm = Installation(pathlib.Path(folder) / "calm", "calm")
        begin = time.monotonic()
        _, _, problems = run_chaos(calm, arguments, options.seed, 0)
        calm_s = time.monotonic() - begin
        wild = Installation(pathlib.Path(folder) / "wild", str(options.seed))
        begin = time.monotonic()
        _, ends, wild_problems = run_chaos(wild, arguments, options.seed, options.disturbances)
        wild_s = time.monotonic() - begin
        problems += wild_problems
        time.sleep(2)
        problems += [f"left over: {line}" for line in calm.processes() + wild.processes()]
        expected, found = report(calm), report(wild)
        for key in ("winner", "tie_set"):
            if expected[key] != found[key]:
                problems.append(f"{key}: calm {expected[key]}, under faults {found[key]}")
        rows, distinct = wild.num_evaluations(), wild.num_configurations()
        if rows != distinct:
            problems.append(f"{rows} evaluations of {distinct} configurations")
        for installation in (calm, wild):
            for command in (["db", "check"], ["replay"]):
                whet = installation.start(command)
                output = "".join(whet.communicate())
                if whet.returncode != 0:
                    problems.append(f"whet {command[0]}: {output}")
        result = {
            "workload": options.workload, "candidates": options.candidates, "seed": options.seed,
            "calm_s": round(calm_s, 1), "under_faults_s": round(wild_s, 1),
            "faults": count_lines(wild.log), "ends_of_whet": ends,
            "evaluations": rows,
            "counts": {"calm": expected["counts"], "under_faults": found["counts"]},
            "size_of_tie_set": len(found["tie_set"]), "problems": problems,
        }
    text = json.dumps(result, indent=1)
    if options.output:
        options.output.write_text(text + "\n")
    print(text)
    return 1 if problems else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--proxy"]:
        proxy(sys.argv[2], sys.argv[3], sys.argv[4])
    sys.exit(main())
