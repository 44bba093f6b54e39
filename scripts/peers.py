#!/usr/bin/env python3
"""Times stored winners beside PyTorch eager, four Inductor variants and trainkernel on a whole suite.

Blocks of all of them alternate in one run, from the same data; the file that results holds every
raw sample (docs/formats/peers.md). Examples:

  scripts/peers.py --target cpu --db records.db --cases online
  scripts/peers.py --target cuda --db records.db --dtypes bf16 --output results/h200/peers.json

Exit codes: 0 all was timed, 1 something was not or is above its limit, 2 a flag or file to correct,
130 interrupted. A peer that is not installed is reported as absent and changes none of them.
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import platform
import shlex
import sys
import tempfile
import threading
import time

from peer_timing import summary
from peer_timing.alternation import alternate
from peer_timing.conversation import Child, Fault
from peer_timing.suite import UserError, check_known, choose_cases, load_suite, read_json
from peer_timing.torch_peer import NAMES

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The share of the budget that may go before the first block is timed.
PREPARING_SHARE = 0.75


class Subject:
    """What is timed: one of ours or a peer. `child` answers to `name` while `status` is Ok."""

    def __init__(self, side, name, child=None, status="Ok", detail="", facts=None):
        self.side, self.name, self.child = side, name, child
        self.status, self.detail, self.facts = status, detail, facts or {}

    def entry(self, blocks):
        found = {"name": self.name, "side": self.side, **self.facts}
        found.update(status=self.status, detail=self.detail)
        stats = summary.summarise(blocks, self.name)
        return {**found, "summary": stats} if stats else found


class Preparation:
    """Starts ours and the peers of each case, some at once, until a common deadline."""

    def __init__(self, options, peers, configurations, deadline, lock):
        self._options, self._peers, self._configurations = options, peers, configurations
        self._deadline, self._lock = deadline, lock
        self._places = threading.Semaphore(options.jobs)
        self._children = []
        self._is_closed = False

    def case(self, case):
        """(ready line of ours, subjects, environment). Raises Fault when ours has nothing to time."""
        ready, ours = self._ours(case)
        subjects = [
            Subject(
                "ours",
                facts["name"],
                ours,
                facts["status"],
                facts.get("detail", ""),
                {k: v for k, v in facts.items() if k not in ("name", "status", "detail")},
            )
            for facts in ready["subjects"]
        ]
        if not subjects:
            raise Fault("NoWinner", ready.get("reason") or "no winner is stored")
        environment = dict(ready["environment"])
        with concurrent.futures.ThreadPoolExecutor(len(self._peers) or 1) as pool:
            # Eager has nothing to compile; of the others the last take longest, so they begin first.
            order = sorted(reversed(self._peers), key=lambda name: not name.startswith("eager"))
            begun = {name: pool.submit(self._peer, case, ready, name) for name in order}
            for name in self._peers:
                subject, found = begun[name].result()
                subjects.append(subject)
                environment.update(found)
        return ready, subjects, environment

    def close(self):
        self._is_closed = True
        for child in self._children:
            child.close()

    def _start(self, command, environment=None):
        if self._is_closed:
            raise Fault("TimedOut", "the run was ended")
        visible = self._options.device
        child = Child(
            command,
            {**(environment or {}), **({"CUDA_VISIBLE_DEVICES": visible} if visible else {})},
        )
        self._children.append(child)
        return child

    def _ready(self, child, request):
        """The child's ready line."""
        try:
            return child.ask(request, max(self._deadline - time.monotonic(), 0.0))
        except Fault as fault:
            if fault.status != "TimedOut":
                raise
            spent_s = PREPARING_SHARE * self._options.budget
            raise Fault(
                "TimedOut",
                f"not ready {spent_s:.0f} s after the run began, {PREPARING_SHARE:.0%} of --budget;"
                " give more, or fewer --cases or --peers",
            ) from fault

    def _ours(self, case):
        options = self._options
        command = [*shlex.split(options.whet), "retime", *case.arguments()]
        command += ["--target", options.target]
        command += ["--threads", str(options.threads)] if options.threads else []
        for configuration in self._configurations.get(case.name, []):
            command += ["--configuration", configuration]
        command += ["--db", options.db] if options.db else []
        with self._places:
            child = self._start(command)
            return self._ready(child, None), child

    def _peer(self, case, ready, name):
        request = {
            "schema": "whet.peer_request/1",
            "peer": name,
            "workload": case.workload,
            "bundle": ready["bundle"],
            "target": self._options.target,
            "threads": ready["threads"],
            "plan": ready["plan"],
            "gpu_lock": self._lock,
        }
        with self._places:
            try:
                child = self._start(self._peers[name], self._peer_environment())
                answer = self._ready(child, json.dumps(request))
                facts = answer["subjects"][0]
            except (Fault, KeyError, IndexError, TypeError) as fault:
                status = getattr(fault, "status", "Crashed")
                return Subject("peer", name, None, status, str(fault)), {}
            if facts["status"] != "Ok":
                child.close()
        rest = {k: v for k, v in facts.items() if k not in ("name", "status", "detail")}
        subject = Subject("peer", name, child, facts["status"], facts.get("detail", ""), rest)
        return subject, answer.get("environment", {})

    def _peer_environment(self):
        # Inductor would start a compiler for each core in each process; a few share the cores.
        compilers = max(1, (os.cpu_count() or 1) // 4)
        path = str(ROOT / "scripts") + os.pathsep + os.environ.get("PYTHONPATH", "")
        return {"PYTHONPATH": path, "TORCHINDUCTOR_COMPILE_THREADS": str(compilers)}


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--suite", default="seeds", help="a suite file, or a shipped one")
    parser.add_argument("--cases", help="names of entries of the suite, by commas (default: all)")
    parser.add_argument("--dtypes", help="bf16,f32: entries that compute in these (default: all)")
    parser.add_argument("--target", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--device", help="GPU, as CUDA_VISIBLE_DEVICES names it")
    parser.add_argument("--threads", type=int, help="threads of the CPU target")
    parser.add_argument("--db", help="records of `whet tune` (default: whet's own)")
    parser.add_argument(
        "--configuration", action="append", default=[], metavar='CASE="knob=value …"',
        help="times this one of ours too; may be repeated. Without --db, instead of what is stored",
    )
    parser.add_argument("--configurations", help="a file of such (docs/formats/peers.md)")
    parser.add_argument("--peers", help="names of peers, by commas (default: all)")
    parser.add_argument(
        "--peer", action="append", default=[], metavar='NAME="command …"',
        help="one more peer: a program that speaks docs/formats/blocks.md",
    )
    parser.add_argument("--against", default="inductor", help="ratios are to the best peer so named")
    parser.add_argument("--limits", help="a file of times that ours must not exceed")
    parser.add_argument("--rounds", type=int, default=10, help="two blocks a subject in each")
    parser.add_argument("--seed", type=int, default=0, help="of the order of blocks")
    parser.add_argument("--budget", type=float, default=240, help="seconds for the whole run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="prepared at once")
    parser.add_argument("--python", default=sys.executable, help="that has torch")
    parser.add_argument("--whet", help="the program (default: the one of this archive or build)")
    parser.add_argument("--output", help="default: results/TARGET/peers.json")
    options = parser.parse_args()
    for flag in ("rounds", "budget", "jobs"):
        if getattr(options, flag) <= 0:
            raise UserError(f"--{flag}: expected more than 0, found {getattr(options, flag)}")
    options.output = options.output or f"results/{options.target}/peers.json"
    options.whet = options.whet or find_whet()
    return options


def find_whet():
    for folder in ("bin", "build/release/bin"):
        if (ROOT / folder / "whet").exists():
            return shlex.quote(str(ROOT / folder / "whet"))
    raise UserError(f"no whet in bin/ or build/release/bin/ of {ROOT}; build it, or say --whet")


def split_list(text):
    """The words between commas; None for a flag that was not given."""
    return None if text is None else [word for word in text.split(",") if word]


def split_pairs(flag, texts, form):
    """("NAME", "value") of NAME=value."""
    pairs = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise UserError(f"{flag}: expected {form}, found '{text}'")
        pairs.append((name, value))
    return pairs


def read_configurations(options, cases):
    """{case: ["knob=value …"]} of the flags and the file."""
    names = [case.name for case in cases]
    found = {}
    if options.configurations:
        document = read_json(options.configurations, "whet.configurations/1")
        for name, texts in document.get("configurations", {}).items():
            check_known(f"{options.configurations}: $.configurations", name, names)
            found[name] = list(texts)
    form = 'CASE="knob=value …"'
    for name, text in split_pairs("--configuration", options.configuration, form):
        check_known("--configuration", name, names)
        found.setdefault(name, []).append(text)
    return found


def choose_peers(options):
    """{name: command} of the peers that take part."""
    known = {name: [options.python, "-m", "peer_timing.torch_peer"] for name in NAMES}
    extra = split_pairs("--peer", options.peer, 'NAME="command …"')
    known.update({name: shlex.split(command) for name, command in extra})
    wanted = split_list(options.peers)
    if wanted is None:
        return known
    for name in wanted:
        check_known("--peers", name, list(known))
    return {name: known[name] for name in [*wanted, *dict(extra)]}


def read_limits(options, suite_cases):
    if not options.limits:
        return {}
    limits = read_json(options.limits, "whet.limits/1")["us_a_step"]
    for name, roles in limits.items():
        check_known(f"{options.limits}: $.us_a_step", name, [case.name for case in suite_cases])
        for role in roles:
            check_known(f"{options.limits}: $.us_a_step.{name}", role, ["one_launch", "any"])
    return limits


def case_document(case):
    return {
        "case": case.name,
        "workload": case.file.name,
        "dims": case.dims,
        "dtype": case.dtype,
        "subjects": [],
        "ratios": [],
        "blocks": [],
    }


def measure(case, prepared, options, deadline):
    """The case's part of the document. A problem with ours is said there, and costs this case only."""
    document = case_document(case)
    try:
        ready, subjects, environment = prepared.result()
    except (Fault, KeyError) as fault:
        document["problem"] = f"{getattr(fault, 'status', 'Crashed')}: {fault}"
        return document, {}
    blocks = alternate(subjects, options.rounds, options.seed, deadline)
    document.update(key=ready["key"], device=ready["device"], plan=ready["plan"])
    document.update({k: ready[k] for k in ("match", "reason") if k in ready})
    document["subjects"] = [subject.entry(blocks) for subject in subjects]
    document["blocks"] = blocks
    document["ratios"] = summary.ratios(document, options.against)
    for child in {subject.child for subject in subjects if subject.child}:
        child.close()
    return document, environment


def write(path, document):
    """Whole or not at all: the run may be cut off."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(path.name + ".part")
    scratch.write_text(json.dumps(document) + "\n")
    scratch.replace(path)


def failures(document):
    """A sentence for each thing that was to be timed and was not. What is not installed is none."""
    for case in document["cases"]:
        if "problem" in case:
            yield f"{case['case']}: {case['problem']}"
        for entry in case["subjects"]:
            if entry["status"] not in ("Ok", "Absent"):
                yield f"{case['case']}: {entry['name']}: {entry['status']}: {entry['detail']}"


def run(options):
    begin = time.monotonic()
    suite_name, suite_cases = load_suite(options.suite, ROOT / "workloads")
    cases = choose_cases(suite_cases, split_list(options.cases), split_list(options.dtypes))
    configurations = read_configurations(options, cases)
    limits = read_limits(options, suite_cases)
    document = {
        "schema": "whet.peers/1",
        "suite": suite_name,
        "target": options.target,
        "started": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "arguments": sys.argv[1:],
        "seed": options.seed,
        "rounds": options.rounds,
        "against": options.against,
        "limits_us": limits,
        "environment": {"python": platform.python_version()},
        "cases": [],
    }
    peers = choose_peers(options)
    with tempfile.TemporaryDirectory(prefix="whet-peers-") as scratch:
        deadline = begin + PREPARING_SHARE * options.budget
        preparation = Preparation(options, peers, configurations, deadline, f"{scratch}/gpu_lock")
        try:
            with concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:
                prepared = [pool.submit(preparation.case, case) for case in cases]
                # A compiler beside a measurement would disturb it: all is ready before the first.
                try:
                    concurrent.futures.wait(prepared)
                except KeyboardInterrupt:
                    preparation.close()  # else the pool waits for its threads, and they for these
                    raise
            document["preparing_s"] = round(time.monotonic() - begin, 1)
            for i, case in enumerate(cases):
                now = time.monotonic()
                share = (begin + options.budget - now) / (len(cases) - i)
                entry, environment = measure(case, prepared[i], options, now + share)
                document["environment"].update(environment)
                document["cases"].append(entry)
                write(pathlib.Path(options.output), document)
        finally:
            preparation.close()
    return document, limits


def main():
    options = parse_arguments()
    document, limits = run(options)
    print(summary.table(document["cases"], limits, options.against))
    problems = list(failures(document))
    for case in document["cases"]:
        problems += summary.missed_limits(case, limits, options.against)
    for problem in problems:
        print(f"peers: {problem}", file=sys.stderr)
    print(f"us a step, medians; every sample is in {options.output}")
    return 1 if problems else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        print(f"peers: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)  # what was finished is in the output file
