"""One peer in a process of its own: eager, Inductor or trainkernel on one workload.

The first line of standard input says what to prepare; it is answered by a line that says how that
went. Each further line, the peer's name, is answered by a block of samples (docs/formats/blocks.md).
"""
import contextlib
import fcntl
import importlib.metadata
import importlib.util
import json
import os
import platform
import sys
import time
import traceback

# What fuses may round differently from eager; what does another step is further off than this.
MAX_CHANGE_ERROR = 0.1

INDUCTOR = {  # name: (mode of torch.compile, whether the update is inside)
    "inductor": (None, False),
    "inductor-in-place": (None, True),
    "inductor-max-autotune": ("max-autotune-no-cudagraphs", False),
    "inductor-max-autotune-in-place": ("max-autotune-no-cudagraphs", True),
}
# Each takes a minute to compile, so few: those that won on the seeds' cases.
TRAINKERNEL = {
    "trainkernel-1": {"max_blocks": 1, "threads_per_block": 256, "split_k_gemv": True},
    "trainkernel-2": {"max_blocks": 2, "shared_skew": 16},
    "trainkernel-3": {"max_blocks": 8, "shared_skew": 16},
    "trainkernel-4": {"max_blocks": 132, "shared_skew": 16},
}
NAMES = ["eager", "eager-graph", *INDUCTOR, *TRAINKERNEL]


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


class Absent(Exception):
    """The peer is not installed, or has no meaning on this target."""


class Peer:
    def __init__(self, request):
        package = "trainkernel" if request["peer"] in TRAINKERNEL else "torch"
        if importlib.util.find_spec(package) is None:
            raise Absent(f"{sys.executable} has no {package}")
        import torch

        from . import nvml, torch_sequence, torch_step

        self._torch = torch
        self._sequences = torch_sequence
        self.name = request["peer"]
        self.plan = request["plan"]
        self._lock = request["gpu_lock"]
        self._is_gpu = request["target"] == "cuda"
        torch.backends.cuda.matmul.allow_tf32 = False
        if request["threads"]:
            torch.set_num_threads(request["threads"])
        if self._is_gpu and not torch.cuda.is_available():
            raise Absent(f"torch {torch.__version__} of {sys.executable} finds no GPU")
        self.device = torch.device("cuda" if self._is_gpu else "cpu")
        uuid = str(torch.cuda.get_device_properties(0).uuid) if self._is_gpu else ""
        self._nvml = nvml.Nvml("GPU-" + uuid.removeprefix("GPU-"))
        workload = request["workload"]
        self._forward = torch_step.forward_function(workload)
        self._rate = torch_step.learning_rate(workload)
        bundle = torch_step.Bundle(request["bundle"], self.device)
        self._initial = bundle.tensors("initial.{}")
        self.state = [tensor.clone() for tensor in self._initial]
        self._batches = bundle.batches(workload.get("batches", 4))
        self._scalars = bundle.tensors("scalar.{}")
        replay_steps = workload.get("validation", {}).get("replay_steps", 20)
        self._expected = None
        if replay_steps == self.plan["num_steps"]:
            self._expected = bundle.tensors(f"reference.{replay_steps}.state.{{}}")
        self._change_error = torch_step.change_error
        self.compile_s = 0.0

    def prepare(self):
        """Compiles, captures, and checks that the steps are the workload's. Returns the error."""
        begin = time.monotonic()
        steps = self._make_steps()
        steps()
        self.compile_s = time.monotonic() - begin
        # Eager and its graph are two peers; all others stand in a graph where there is one.
        if self._is_gpu and self.name != "eager":
            self.sequence = self._sequences.GraphSequence(steps)
        elif not self._is_gpu and self.name == "eager-graph":
            raise Absent("a CPU has no CUDA graphs")
        else:
            self.sequence = self._sequences.HostSequence(steps, self._is_gpu)
        if self._expected is None:
            return None
        self.restore()
        self.sequence.time_ns(1)
        error = self._change_error(self._initial, self.state, self._expected)
        if not error <= MAX_CHANGE_ERROR:
            raise RuntimeError(
                f"WrongResult: after {self.plan['num_steps']} steps the change of the state is"
                f" {error:.3g} of its size off the reference (allowed: {MAX_CHANGE_ERROR})"
            )
        return error

    def restore(self):
        with self._torch.no_grad():
            for tensor, initial in zip(self.state, self._initial):
                tensor.copy_(initial)

    def block(self, is_first):
        steady = not is_first or self._sequences.warm_up(self.sequence, self.plan)
        self.restore()
        num_steps, samples = self._sequences.measure_block(
            self.sequence, self.plan, self._nvml.conditions
        )
        return {"num_steps": num_steps, "steady": steady, "samples": samples}

    def environment(self):
        torch = self._torch
        found = {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "triton": version("triton"),
            "cuda": torch.version.cuda if self._is_gpu else "",
            "driver": self._nvml.driver_version(),
            "trainkernel": version("trainkernel"),
        }
        return {name: text for name, text in found.items() if text}

    def _batch(self, step):
        return self._batches[step % len(self._batches)]

    def _make_steps(self):
        """A function that does the plan's steps from the state and leaves them in it."""
        if self.name in ("eager", "eager-graph"):
            return self._eager_steps()
        if self.name in TRAINKERNEL:
            return self._trainkernel_steps(TRAINKERNEL[self.name])
        return self._inductor_steps(*INDUCTOR[self.name])

    def _eager_steps(self):
        torch = self._torch
        for tensor in self.state:
            tensor.requires_grad_()

        def steps():
            for step in range(self.plan["num_steps"]):
                loss = self._forward(self.state, self._batch(step), self._scalars)
                gradients = torch.autograd.grad(loss, self.state)
                with torch.no_grad():
                    torch._foreach_add_(self.state, gradients, alpha=-self._rate)

        return steps

    def _functional_step(self):
        torch = self._torch
        forward, rate, scalars = self._forward, self._rate, self._scalars

        def step(state, inputs):
            gradients, loss = torch.func.grad_and_value(
                lambda state: forward(state, inputs, scalars)
            )(state)
            return loss, gradients, [p - rate * g for p, g in zip(state, gradients)]

        return step

    def _inductor_steps(self, mode, in_place):
        torch = self._torch
        functional = self._functional_step()
        share_gpu_in_turn(self._lock if self._is_gpu else None)

        def update(state, inputs):
            loss, _, new = functional(state, inputs)
            for tensor, value in zip(state, new):
                tensor.copy_(value)
            return loss

        def advance(state, inputs):
            loss, _, new = functional(state, inputs)
            return loss, new

        compiled = torch.compile(update if in_place else advance, fullgraph=True, mode=mode)

        def steps_in_place():
            for step in range(self.plan["num_steps"]):
                compiled(self.state, self._batch(step))

        def steps():
            # Each step's new state goes straight into the next; only the last is copied back.
            state = self.state
            for step in range(self.plan["num_steps"]):
                _, state = compiled(state, self._batch(step))
            torch._foreach_copy_(self.state, state)

        return steps_in_place if in_place else steps

    def _trainkernel_steps(self, configuration):
        if not self._is_gpu:
            raise Absent("trainkernel needs a GPU")
        import trainkernel

        functional = self._functional_step()

        def step(state, *inputs):
            loss, gradients, new = functional(state, inputs)
            return loss, gradients, tuple(new)

        state = tuple(self.state)
        compiled = trainkernel.compile_training(step, (state, *self._batch(0)), **configuration)

        def steps():
            for index in range(self.plan["num_steps"]):
                compiled(state, *self._batch(index))

        return steps


def share_gpu_in_turn(path):
    """Inductor times its choices on the GPU: of processes that compile side by side, one at a time."""
    if path is None:
        return
    from torch._inductor.runtime import benchmarking

    kind = type(benchmarking.benchmarker)
    alone = kind.benchmark_gpu
    depth = 0

    def in_turn(*arguments, **options):
        nonlocal depth
        if depth:
            return alone(*arguments, **options)
        with open(path, "a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            depth += 1
            try:
                return alone(*arguments, **options)
            finally:
                depth -= 1

    kind.benchmark_gpu = in_turn


def prepare(request):
    """(the peer or None, the line that says how preparing it went)"""
    subject = {"name": request["peer"]}
    try:
        peer = Peer(request)
        error = peer.prepare()
        subject.update(status="Ok", compile_s=round(peer.compile_s, 3), change_error=error)
        if peer.name in TRAINKERNEL:
            subject["configuration"] = TRAINKERNEL[peer.name]
        return peer, {"environment": peer.environment(), "subjects": [subject]}
    except Absent as absent:
        subject.update(status="Absent", detail=str(absent))
    except Exception as error:
        traceback.print_exc()
        subject.update(status="Failed", detail=f"{type(error).__name__}: {error}"[:2000])
    return None, {"environment": {}, "subjects": [subject]}


def main():
    # What libraries print must not stand between our lines.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(line):
        print(json.dumps(line), file=answers, flush=True)

    with contextlib.suppress(KeyboardInterrupt):
        peer, ready = prepare(json.loads(sys.stdin.readline()))
        answer({"schema": "whet.blocks/1", **ready})
        is_first = True
        for line in sys.stdin:
            if peer is None or line.strip() != peer.name:
                raise SystemExit(f"torch_peer: there is no '{line.strip()}' here")
            try:
                answer({"subject": peer.name, "status": "Ok", **peer.block(is_first)})
            except Exception as error:
                answer({"subject": peer.name, "status": "Failed", "detail": str(error)[:2000]})
            is_first = False


if __name__ == "__main__":
    main()
