"""From raw blocks to medians, ratios and the printed table."""
import math
import random
import statistics

NUM_DRAWS = 2000  # of the bootstrap; its seed is fixed, so a summary can be made again


def _interval(values, statistic):
    """The 95 % percentile bootstrap interval of a statistic."""
    draw = random.Random(0)
    drawn = sorted(statistic(draw.choices(values, k=len(values))) for _ in range(NUM_DRAWS))
    return drawn[int(0.025 * NUM_DRAWS)], drawn[int(0.975 * NUM_DRAWS) - 1]


def block_medians(blocks, name):
    """(round, median in ns a step) of each block of a subject."""
    return [
        (block["round"], statistics.median(sample[0] for sample in block["samples"]))
        for block in blocks
        if block["subject"] == name
    ]


def summarise(blocks, name):
    """Median of all samples with the interval that resampling whole blocks gives; None without."""
    samples = [s for block in blocks if block["subject"] == name for s in block["samples"]]
    if not samples:
        return None
    low, high = _interval([median for _, median in block_medians(blocks, name)], statistics.median)
    summary = {
        "median_ns": statistics.median(sample[0] for sample in samples),
        "low_ns": low,
        "high_ns": high,
        "num_samples": len(samples),
    }
    clocks = [sample[1] for sample in samples if sample[1] > 0]
    if clocks:
        summary["clock_mhz"] = [min(clocks), max(clocks)]
    return summary


def ratio(blocks, name, to):
    """Time of one subject over that of another: the median over rounds of the quotient of their
    blocks' geometric means, with its interval."""
    by_round = {}
    for subject in (name, to):
        for round_idx, median in block_medians(blocks, subject):
            by_round.setdefault(round_idx, {}).setdefault(subject, []).append(math.log(median))
    logs = [
        statistics.mean(found[name]) - statistics.mean(found[to])
        for found in by_round.values()
        if name in found and to in found
    ]
    low, high = _interval(logs, statistics.median)
    middle = statistics.median(logs)
    return {
        "ours": name,
        "to": to,
        "median": math.exp(middle),
        "low": math.exp(low),
        "high": math.exp(high),
    }


def fastest(entries, admit=lambda entry: True):
    """The entry of least median among those that were timed and that `admit` takes, or None."""
    timed = [entry for entry in entries if entry["status"] == "Ok" and admit(entry)]
    return min(timed, key=lambda entry: entry["summary"]["median_ns"], default=None)


def roles(case, against):
    """What the table compares: ours with one launch a step, ours with any number of steps a launch,
    and the fastest peer whose name begins with `against`."""
    ours = [entry for entry in case["subjects"] if entry["side"] == "ours"]
    peers = [entry for entry in case["subjects"] if entry["side"] == "peer"]
    return {
        "one_launch": fastest(ours, lambda entry: entry.get("steps_per_launch") == 1),
        "any": fastest(ours),
        "peer": fastest(peers, lambda entry: entry["name"].startswith(against)),
    }


def ratios(case, against):
    """Of both roles of ours to the best peer."""
    chosen = roles(case, against)
    if chosen["peer"] is None:
        return []
    ours = {chosen[r]["name"] for r in ("one_launch", "any") if chosen[r] is not None}
    return [ratio(case["blocks"], name, chosen["peer"]["name"]) for name in sorted(ours)]


def missed_limits(case, limits, against):
    """Sentences about ours that is above the limits (µs a step by role), or was not timed."""
    chosen = roles(case, against)
    missed = []
    for role, limit_us in limits.get(case["case"], {}).items():
        entry = chosen[role]
        if entry is None:
            missed.append(f"{case['case']}: {role}: nothing of ours was timed")
        elif entry["summary"]["median_ns"] > 1e3 * limit_us:
            time_us = entry["summary"]["median_ns"] / 1e3
            missed.append(f"{case['case']}: {role}: {time_us:.3g} us, must be at most {limit_us}")
    return missed


def _microseconds(entry):
    return "-" if entry is None else f"{entry['summary']['median_ns'] / 1e3:.2f}"


def _family(entry):
    """trainkernel's configurations share a column."""
    return "trainkernel" if entry["name"].startswith("trainkernel-") else entry["name"]


def _peer_cell(case, family):
    entries = [e for e in case["subjects"] if e["side"] == "peer" and _family(e) == family]
    best = fastest(entries)
    return entries[0]["status"] if entries and best is None else _microseconds(best)


def _ratio_cell(case, entry):
    for found in case["ratios"]:
        if entry is not None and found["ours"] == entry["name"]:
            return f"{found['median']:.3f} [{found['low']:.3f}, {found['high']:.3f}]"
    return "-"


def table(cases, limits, against):
    """Medians in us a step; ratios below 1 say that ours is faster."""
    peers = [e for case in cases for e in case["subjects"] if e["side"] == "peer"]
    families = list(dict.fromkeys(_family(entry) for entry in peers))
    rows = [["case", "one launch", "must", "any", "steps", "must", *families]]
    rows[0] += [f"one / best {against}", f"any / best {against}"]
    for case in cases:
        chosen = roles(case, against)
        one, best, limit = chosen["one_launch"], chosen["any"], limits.get(case["case"], {})
        row = [case["case"], _microseconds(one), str(limit.get("one_launch", "-"))]
        row += [_microseconds(best), str(best["steps_per_launch"]) if best else "-"]
        row += [str(limit.get("any", "-")), *(_peer_cell(case, family) for family in families)]
        rows.append([*row, _ratio_cell(case, one), _ratio_cell(case, best)])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows
    )
