"""A workload as PyTorch would write it: a Python function of its forward part, and its data."""
import json
import math
import struct

import torch
import torch.nn.functional as F

DTYPES = {
    "f32": torch.float32,
    "bf16": torch.bfloat16,
    "f16": torch.float16,
    "i64": torch.int64,
    "i32": torch.int32,
    "bool": torch.bool,
}
STORED_DTYPES = {name.upper(): name for name in DTYPES}  # as safetensors spells them


class Unsupported(Exception):
    """A workload that this file cannot write in PyTorch."""


def _other(op, operands):
    return operands if len(operands) == 2 else [operands[0], repr(float(op["other"]))]


def _reduction(op, operands):
    dim = f", dim={op['dim']}" if "dim" in op else ""
    keepdim = f", keepdim={op.get('keepdim', False)}" if "dim" in op else ""
    return f"torch.{op['op']}({operands[0]}{dim}{keepdim})"


def _expression(op, operands, dims):
    """The op as Python."""
    kind = op["op"]
    first = operands[0] if operands else ""
    if kind == "mm":
        return f"torch.mm({', '.join(operands)})"
    if kind == "addmm":
        factors = f"alpha={op.get('alpha', 1)}, beta={op.get('beta', 1)}"
        return f"torch.addmm({', '.join(operands)}, {factors})"
    if kind in ("add", "sub"):
        a, b = _other(op, operands)
        return f"torch.{kind}({a}, {b}, alpha={op.get('alpha', 1)})"
    if kind in ("mul", "div"):
        return f"torch.{kind}({', '.join(_other(op, operands))})"
    if kind in ("neg", "relu"):
        return f"torch.{kind}({first})"
    if kind == "pow":
        return f"torch.pow({first}, {op['exponent']})"
    if kind == "cast":
        return f"{first}.to({DTYPES[op['dtype']]})"
    if kind in ("sum", "mean"):
        return _reduction(op, operands)
    if kind == "mse_loss":
        return f"F.mse_loss({', '.join(operands)})"
    if kind == "transpose":
        return f"{first}.transpose({op['dims'][0]}, {op['dims'][1]})"
    if kind == "permute":
        return f"{first}.permute({op['dims']})"
    if kind in ("reshape", "expand"):
        return f"{first}.{kind}({[dims.get(size, size) for size in op['shape']]})"
    raise Unsupported(f"the peers do not know the op '{kind}'")


def forward_function(workload):
    """forward(state, inputs, scalars) -> loss, without a trace of the workload's dictionaries, which
    torch.compile would have to guard in each call."""
    for key in ("forward", "loss", "optimizer"):
        if key not in workload:
            raise Unsupported(f"the peers need a workload with '{key}'")
    if workload["optimizer"]["kind"] != "sgd":
        raise Unsupported(f"the peers do not know the optimizer '{workload['optimizer']['kind']}'")
    names = {}
    lines = ["def forward(state, inputs, scalars):"]
    for group, key in (("state", "state"), ("inputs", "inputs"), ("scalars", "scalars")):
        for i, tensor in enumerate(workload.get(key, [])):
            names[tensor["name"]] = f"{group}[{i}]"
    for i, op in enumerate(workload["forward"]):
        operands = [names[name] for name in op.get("in", [])]
        lines.append(f"    v{i} = {_expression(op, operands, workload.get('dims', {}))}")
        out = op["out"]
        names[out if isinstance(out, str) else out[0]] = f"v{i}"
    lines.append(f"    return {names[workload['loss']]}")
    scope = {"torch": torch, "F": F}
    exec("\n".join(lines), scope)
    return scope["forward"]


def learning_rate(workload):
    name = workload["optimizer"]["lr"]
    return next(scalar["value"] for scalar in workload["scalars"] if scalar["name"] == name)


class Bundle:
    """Inputs and states of a reference bundle (docs/formats/bundle.md): ours starts from the same."""

    def __init__(self, path, device):
        self._device = device
        with open(path, "rb") as file:
            (size,) = struct.unpack("<Q", file.read(8))
            self._header = json.loads(file.read(size))
            self._data = bytearray(file.read())

    def tensor(self, name):
        entry = self._header[name]
        begin, end = entry["data_offsets"]
        dtype = DTYPES[STORED_DTYPES[entry["dtype"]]]
        if begin == end:
            return torch.empty(entry["shape"], dtype=dtype, device=self._device)
        values = torch.frombuffer(memoryview(self._data)[begin:end], dtype=dtype)
        return values.reshape(entry["shape"]).to(self._device, copy=True)

    def tensors(self, pattern):
        """pattern.format(0), pattern.format(1) … as long as there are such."""
        found = []
        while pattern.format(len(found)) in self._header:
            found.append(self.tensor(pattern.format(len(found))))
        return found

    def batches(self, num_batches):
        return [self.tensors(f"input.{batch}.{{}}") for batch in range(num_batches)]


def change_error(before, after, expected):
    """The largest |change - right change| / |right change| of the state tensors."""
    worst = 0.0
    for start, got, right in zip(before, after, expected):
        right_change = (right.double() - start.double()).norm().item()
        error = (got.double() - right.double()).norm().item()
        if right_change > 0.0:
            worst = max(worst, error / right_change)
        elif error > 0.0:
            worst = math.inf
    return worst
