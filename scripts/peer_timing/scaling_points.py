"""The points of scripts/scaling.py: their workloads, their times, and where the peer overtakes."""
import dataclasses
import math

from .summary import fastest

AXES = ("batch", "width", "depth")


@dataclasses.dataclass(frozen=True)
class Point:
    """`depth` linear layers, all `width` wide, on `batch` rows."""

    batch: int
    width: int
    depth: int

    @property
    def name(self):
        return f"layers-b{self.batch}-w{self.width}-d{self.depth}"


def points_along(base, axis, sizes):
    return [dataclasses.replace(base, **{axis: size}) for size in sorted(set(sizes))]


def layers_workload(point):
    """The whet.workload/1 document of a point: linear layers with relu between them in bf16 with f32
    masters, mean-squared error, SGD; the same as workloads/mlp.json at any depth."""
    bf16 = {"dtype": "bf16", "fill": {"kind": "normal"}, "stable": True}
    rows = ["batch", "width"]
    state, forward, value = [], [], "x"
    for i in range(1, point.depth + 1):
        scale = {"kind": "normal", "scale": {"rsqrt": "width"}}
        state += [
            {"name": f"w{i}", "shape": ["width", "width"], "dtype": "f32", "fill": scale},
            {"name": f"b{i}", "shape": ["width"], "dtype": "f32", "fill": {"kind": "zeros"}},
        ]
        forward += [
            {"op": "cast", "in": [f"w{i}"], "dtype": "bf16", "out": f"w{i}_low"},
            {"op": "mm", "in": [value, f"w{i}_low"], "out": f"p{i}"},
            {"op": "cast", "in": [f"b{i}"], "dtype": "bf16", "out": f"b{i}_low"},
            {"op": "add", "in": [f"p{i}", f"b{i}_low"], "out": f"z{i}"},
        ]
        value = f"z{i}"
        if i < point.depth:
            forward.append({"op": "relu", "in": [value], "out": f"h{i}"})
            value = f"h{i}"
    forward += [
        {"op": "cast", "in": [value], "dtype": "f32", "out": "y_f32"},
        {"op": "cast", "in": ["target"], "dtype": "f32", "out": "target_f32"},
        {"op": "mse_loss", "in": ["y_f32", "target_f32"], "out": "loss"},
    ]
    return {
        "schema": "whet.workload/1",
        "name": point.name,
        "about": f"{point.depth} linear layers in bf16 with f32 masters",
        "dims": {"batch": point.batch, "width": point.width},
        "inputs": [{"name": "x", "shape": rows, **bf16}, {"name": "target", "shape": rows, **bf16}],
        "scalars": [{"name": "lr", "dtype": "f32", "value": 0.01}],
        "state": state,
        "forward": forward,
        "loss": "loss",
        "optimizer": {"kind": "sgd", "lr": "lr"},
        "outputs": ["loss"],
        "batches": 4,
        "validation": {"steps": 100, "replay_steps": 20, "seeds": [101, 211, 307]},
    }


def best_of(measured, side):
    """(name, median in ns) of the fastest of a side at a measured point; None if none was timed."""
    subjects = measured["case"]["subjects"]
    entry = fastest(subjects, lambda subject: subject["side"] == side)
    return None if entry is None else (entry["name"], entry["summary"]["median_ns"])


def series_along(axis, base, measured):
    """{"ours": [(size, ns)], "peers": [(size, ns)]} of the points that differ from `base` in `axis`
    only; of each side the fastest."""
    found = {"ours": [], "peers": []}
    for point, document in measured.items():
        if dataclasses.replace(base, **{axis: getattr(point, axis)}) != point:
            continue
        for name, side in (("ours", "ours"), ("peers", "peer")):
            best = best_of(document, side)
            if best is not None:
                found[name].append((getattr(point, axis), best[1]))
    return {name: sorted(line) for name, line in found.items() if line}


def crossovers(series):
    """Sizes at which a peer becomes faster than ours, on straight lines of the log-log plot: from
    there on a session would decide Delegate. The first size itself if a peer leads from there."""
    peers = dict(series.get("peers", []))
    gaps = [
        (size, math.log(ours_ns / peers[size]))
        for size, ours_ns in series.get("ours", [])
        if size in peers
    ]
    found = [gaps[0][0]] if gaps and gaps[0][1] > 0 else []
    for (size, gap), (next_size, next_gap) in zip(gaps, gaps[1:]):
        if gap <= 0 < next_gap:
            share = -gap / (next_gap - gap)
            found.append(size * (next_size / size) ** share)
    return found
