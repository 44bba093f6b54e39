"""A sequence of training steps and how it is timed: as `whet-worker` times ours."""
import statistics
import time

import torch

WINDOW = 5  # samples that warm-up compares with as many before them
TOLERANCE = 0.02
MIN_WARM_UP_NS = 2e6
MAX_WARM_UP_NS = 1e9
MAX_BLOCK_NS = 2e9


class HostSequence:
    """Steps started one by one from Python, timed by the host's clock."""

    def __init__(self, run, is_gpu):
        self._run = run
        self._is_gpu = is_gpu

    def time_ns(self, count):
        self._wait()
        begin = time.perf_counter_ns()
        for _ in range(count):
            self._run()
        self._wait()
        return float(time.perf_counter_ns() - begin)

    def _wait(self):
        if self._is_gpu:
            torch.cuda.synchronize()


class GraphSequence:
    """Steps in a CUDA graph, timed by events."""

    def __init__(self, run):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            run()
            stream.synchronize()
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph, stream=stream):
                run()
        torch.cuda.synchronize()
        self._begin = torch.cuda.Event(enable_timing=True)
        self._end = torch.cuda.Event(enable_timing=True)

    def time_ns(self, count):
        self._begin.record()
        for _ in range(count):
            self._graph.replay()
        self._end.record()
        self._end.synchronize()
        return self._begin.elapsed_time(self._end) * 1e6


def repetitions(repetition_ns, min_sample_ns):
    return max(1, -(-int(min_sample_ns) // max(int(repetition_ns), 10)))


def warm_up(sequence, plan):
    """Until two windows of samples agree. Says whether they did."""
    first_ns = sequence.time_ns(1)
    count = repetitions(first_ns, plan["min_sample_ns"])
    times = []
    total_ns = first_ns
    while total_ns < MAX_WARM_UP_NS:
        times.append(sequence.time_ns(count))
        total_ns += times[-1]
        if total_ns >= MIN_WARM_UP_NS and len(times) >= 2 * WINDOW:
            earlier = statistics.median(times[-2 * WINDOW : -WINDOW])
            if abs(statistics.median(times[-WINDOW:]) - earlier) <= TOLERANCE * earlier:
                return True
    return False


def measure_block(sequence, plan, conditions):
    """(repetitions a sample, samples in ns a step with the conditions after the block). The first
    repetition is dropped."""
    count = repetitions(sequence.time_ns(1), plan["min_sample_ns"])
    times = []
    total_ns = 0.0
    for _ in range(plan["num_samples"]):
        times.append(sequence.time_ns(count))
        total_ns += times[-1]
        if total_ns > MAX_BLOCK_NS and len(times) >= 3:
            break
    now = conditions()
    num_steps = plan["num_steps"] * count
    return num_steps, [[time_ns / num_steps, *now] for time_ns in times]
