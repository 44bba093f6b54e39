#!/usr/bin/env python3
"""Times a training step against batch, width and depth, the best of N candidates at each point,
beside PyTorch eager and Inductor where torch is there.

Each point is tuned by `whet tune`; then all are timed beside the peers by one run of
scripts/peers.py. The file that results holds every raw sample (docs/formats/scaling.md); what is in
it is not done again. A plot an axis lies beside it. Examples:

  scripts/scaling.py --target cpu --candidates 10 --axes batch --batches 1,16,256
  scripts/scaling.py --target cuda --limit-s 1500 --output results/h200/scaling.json

Exit codes: 0 all points are measured, 1 some are not (no time was left, or a problem that is named),
2 a flag or file to correct, 130 interrupted.
"""
import argparse
import dataclasses
import datetime
import json
import math
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile
import time

from peer_timing.loglog_plot import loglog_svg
from peer_timing.scaling_points import (
    AXES, Point, best_of, crossovers, layers_workload, points_along, series_along,
)
from peer_timing.suite import UserError, check_known, read_json

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIZES = {
    "batch": (1, 4, 16, 64, 256, 1024),
    "width": (32, 64, 128, 256, 512, 1024, 2048),
    "depth": (1, 2, 3, 4, 6, 8),
}
PEERS = {"cpu": "eager,inductor", "cuda": "eager,eager-graph,inductor"}


class OutOfTime(Exception):
    """The limit came before the point was done."""


class Failed(Exception):
    """A point cannot be measured, and why."""


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--target", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--axes", default=",".join(AXES), help="of batch,width,depth (default: all)")
    for axis, plural in (("batch", "batches"), ("width", "widths"), ("depth", "depths")):
        sizes = ",".join(str(size) for size in SIZES[axis])
        parser.add_argument(f"--{plural}", default=sizes, dest=axis, help=f"default: {sizes}")
    parser.add_argument("--base", default="64,256,2", help="BATCH,WIDTH,DEPTH where the axes meet")
    parser.add_argument("--candidates", type=int, default=40, help="evaluations a point")
    parser.add_argument("--peers", help="names that scripts/peers.py knows; empty: ours only")
    parser.add_argument("--peer", action="append", default=[], metavar='NAME="command …"')
    parser.add_argument("--rounds", type=int, default=5, help="two blocks a subject in each")
    parser.add_argument("--peer-budget", type=float, default=300, help="seconds beside the peers")
    parser.add_argument("--limit-s", type=float, help="seconds for all of it; what is left over is named")
    parser.add_argument("--device", help="GPU: of whet an ordinal or UUID, of peers the same")
    parser.add_argument("--threads", type=int, help="threads of the CPU target")
    parser.add_argument("--db", help="where winners are stored (default: a file beside the output)")
    parser.add_argument("--python", default=sys.executable, help="that has torch")
    parser.add_argument("--whet", help="the program (default: the one of this archive or build)")
    parser.add_argument("--output", help="default: results/TARGET/scaling.json")
    options = parser.parse_args()
    options.axes = [word for word in options.axes.split(",") if word]
    for axis in options.axes:
        check_known("--axes", axis, AXES)
    for flag in ("candidates", "rounds", "peer_budget"):
        if getattr(options, flag) <= 0:
            name = flag.replace("_", "-")
            raise UserError(f"--{name}: expected more than 0, found {getattr(options, flag)}")
    if options.peers is None:
        options.peers = PEERS[options.target]
    options.base = Point(*sizes_of("--base", options.base, 3))
    options.output = pathlib.Path(options.output or f"results/{options.target}/scaling.json")
    options.db = options.db or str(options.output.with_suffix(".db"))
    options.whet = options.whet or shlex.quote(str(find_whet()))
    return options


def find_whet():
    for folder in ("bin", "build/release/bin"):
        if (ROOT / folder / "whet").exists():
            return ROOT / folder / "whet"
    raise UserError(f"no whet in bin/ or build/release/bin/ of {ROOT}; build it, or say --whet")


def sizes_of(flag, text, count=None):
    words = text.split(",")
    if not all(word.isdigit() and int(word) > 0 for word in words) or len(words) != (
        count or len(words)
    ):
        form = f"{count} sizes" if count else "sizes"
        raise UserError(f"{flag}: expected {form} from 1 on between commas, found '{text}'")
    return [int(word) for word in words]


def wanted_points(options):
    """Without repetition: the axes meet in the base."""
    points = {}
    for axis in options.axes:
        sizes = sizes_of("--" + {"batch": "batches"}.get(axis, axis + "s"), getattr(options, axis))
        for point in points_along(options.base, axis, sizes):
            points[point.name] = point
    return list(points.values())


def load_or_begin(options):
    """The document of the output file, if there is one to go on with."""
    same = {"target": options.target, "candidates": options.candidates, "peers": options.peers}
    if not options.output.exists():
        return {
            "schema": "whet.scaling/1",
            **same,
            "started": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "arguments": sys.argv[1:],
            "points": [],
        }
    document = read_json(options.output, "whet.scaling/1")
    for key, value in same.items():
        if document.get(key) != value:
            raise UserError(
                f"{options.output}: $.{key}: expected {json.dumps(value)} to go on with it, found"
                f" {json.dumps(document.get(key))}; say the same --{key}, or another --output"
            )
    return document


def write(path, text):
    """Whole or not at all: the run may be cut off."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(path.name + ".part")
    scratch.write_text(text)
    scratch.replace(path)


def run_child(command, deadline):
    """(exit code, standard output, standard error). Ends the command's processes at the deadline."""
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        left = None if deadline is None else max(deadline - time.monotonic(), 0.1)
        output, words = child.communicate(timeout=left)
        return child.returncode, output, words
    except subprocess.TimeoutExpired as error:
        raise OutOfTime from error
    finally:
        if child.poll() is None:
            # Whet saves what is finished and ends its children, and so does peers.py.
            os.killpg(child.pid, signal.SIGINT)
            try:
                child.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.communicate()


def tune(options, file, scratch, deadline):
    """The session's whet.result/1."""
    command = [*shlex.split(options.whet), "tune", str(file), "--target", options.target]
    command += ["--budget", str(options.candidates), "--db", options.db, "--json"]
    command += ["--report-dir", str(scratch / "report")]
    command += ["--device", options.device] if options.device else []
    command += ["--threads", str(options.threads)] if options.threads else []
    code, output, words = run_child(command, deadline)
    if code != 0:
        raise Failed(f"whet tune ended with {code}: {words.strip()[-1000:]}")
    return json.loads(output)


def beside_peers(options, names, scratch, deadline):
    """{name: its case of a whet.peers/1} for the workload files in `scratch`, and the environment."""
    suite, result = scratch / "suite.json", scratch / "peers.json"
    entries = [{"workload": f"{name}.json", "as": name} for name in names]
    suite.write_text(json.dumps({"schema": "whet.suite/1", "name": "points", "entries": entries}))
    left_s = math.inf if deadline is None else deadline - time.monotonic()
    command = [sys.executable, str(ROOT / "scripts/peers.py"), "--suite", str(suite)]
    command += ["--target", options.target, "--db", options.db, "--whet", options.whet]
    command += [f"--peers={options.peers}", "--against=", "--python", options.python]
    command += ["--rounds", str(options.rounds)]
    command += ["--budget", str(max(min(options.peer_budget, left_s), 1.0))]
    command += ["--output", str(result)]
    command += [word for peer in options.peer for word in ("--peer", peer)]
    command += ["--device", options.device] if options.device else []
    command += ["--threads", str(options.threads)] if options.threads else []
    code, _, words = run_child(command, None)  # which keeps to its budget itself
    if code not in (0, 1) or not result.exists():
        raise Failed(f"peers.py ended with {code}: {words.strip()[-1000:]}")
    document = json.loads(result.read_text())
    return {case["case"]: case for case in document["cases"]}, document["environment"]


def describe(measured):
    cells = []
    for side in ("ours", "peer"):
        best = best_of(measured, side)
        cells.append("no peer" if best is None else f"{best[0]} {best[1] / 1e3:.2f} us")
    return f"{measured['name']}: {', '.join(cells)}"


def tune_all(options, points, document, scratch, deadline):
    """Adds to the document the points that it lacks, tuned; (names that no time was left for,
    sentences on failures)."""
    known = {entry["name"] for entry in document["points"]}
    missing = [point for point in points if point.name not in known]
    longest_s, problems = 0.0, []
    for i, point in enumerate(missing):
        begin = time.monotonic()
        late = deadline is not None and begin + longest_s >= deadline
        try:
            if late:
                raise OutOfTime
            tuned = tune(options, scratch / f"{point.name}.json", scratch, deadline)
        except OutOfTime:
            return [left.name for left in missing[i:]], problems
        except Failed as failure:
            problems.append(f"{point.name}: {failure}")
            continue
        took_s = time.monotonic() - begin
        longest_s = max(longest_s, took_s)
        document["points"].append(
            {"name": point.name, **dataclasses.asdict(point), "took_s": round(took_s, 1), "tune": tuned}
        )
        write(options.output, json.dumps(document) + "\n")
        print(f"{point.name}: tuned in {took_s:.0f} s", flush=True)
    return [], problems


def time_all(options, points, document, scratch, deadline):
    """Times the document's tuned points beside the peers, all in one run. Returns problems."""
    wanted = {point.name for point in points}
    rest = [entry for entry in document["points"] if "case" not in entry and entry["name"] in wanted]
    if not rest:
        return []
    try:
        cases, environment = beside_peers(
            options, [entry["name"] for entry in rest], scratch, deadline
        )
    except Failed as failure:
        return [str(failure)]
    problems = []
    for entry in rest:
        case = cases.get(entry["name"], {"problem": "peers.py came to no end of it"})
        if "problem" in case:
            problems.append(f"{entry['name']}: {case['problem']}")
            continue
        entry.update(case=case, environment=environment)
        print(describe(entry), flush=True)
    write(options.output, json.dumps(document) + "\n")
    return problems


def measure_all(options, points, document):
    """Measures what the document lacks. (names that no time was left for, sentences on failures)."""
    begin = time.monotonic()
    limit_s = options.limit_s
    deadline = None if limit_s is None else begin + limit_s
    tuned_by = None if limit_s is None else begin + max(limit_s - options.peer_budget, limit_s / 2)
    with tempfile.TemporaryDirectory(prefix="whet-scaling-") as folder:
        scratch = pathlib.Path(folder)
        for point in points:
            (scratch / f"{point.name}.json").write_text(json.dumps(layers_workload(point)))
        left, problems = tune_all(options, points, document, scratch, tuned_by)
        problems += time_all(options, points, document, scratch, deadline)
    return left, problems


def plot(options, document):
    """An SVG an axis of which at least two points are measured; prints where peers overtake."""
    measured = {
        Point(entry["batch"], entry["width"], entry["depth"]): entry
        for entry in document["points"]
        if "case" in entry
    }
    for axis in options.axes:
        series = series_along(axis, options.base, measured)
        if len(series.get("ours", [])) < 2:
            continue
        marks = [(size, f"Delegate from {size:.3g}") for size in crossovers(series)]
        rest = ", ".join(f"{a} {getattr(options.base, a)}" for a in AXES if a != axis)
        in_us = {name: [(x, y / 1e3) for x, y in line] for name, line in series.items()}
        file = options.output.with_name(f"{options.output.stem}_{axis}.svg")
        title = f"A training step against {axis} ({rest}, {options.target})"
        write(file, loglog_svg(title, axis, "us a step", in_us, marks))
        where = ", ".join(label for _, label in marks) or "no peer overtakes"
        print(f"{axis}: {where}; {file}")


def main():
    options = parse_arguments()
    points = wanted_points(options)
    document = load_or_begin(options)
    left, problems = measure_all(options, points, document)
    plot(options, document)
    for problem in problems:
        print(f"scaling: {problem}", file=sys.stderr)
    if left:
        print(
            f"scaling: no time was left for {len(left)} of {len(points)} points, from {left[0]} on;"
            " the same command goes on from there",
            file=sys.stderr,
        )
    return 1 if left or problems else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        print(f"scaling: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)  # what was finished is in the output file
