"""Blocks of all subjects of a case in turn, in one run."""
import random
import time

from .conversation import Fault

# A block stops by itself after two seconds; its warm-up, the first time, after one.
BLOCK_DEADLINE_S = 30.0


def order_of_round(names, seed, round_idx):
    """A seeded random order, then its reverse: each has two blocks, and a drift that is linear in
    time adds the same to all of them (ABBA)."""
    order = list(names)
    random.Random(f"{seed}/{round_idx}").shuffle(order)
    return order + order[::-1]


def measure_block(subject, round_idx):
    """One block, or None when it failed: the subject then says why, and takes no further part."""
    try:
        answer = subject.child.ask(subject.name, BLOCK_DEADLINE_S)
        if answer.get("status") != "Ok":
            raise Fault(answer.get("status", "Crashed"), answer.get("detail", ""))
        samples = answer["samples"]
        if not samples or not all(sample[0] > 0 for sample in samples):
            raise Fault("Failed", "a block without samples, or with a time that is not positive")
    except (Fault, KeyError, TypeError, IndexError) as fault:
        subject.status = getattr(fault, "status", "Crashed")
        subject.detail = str(fault) if isinstance(fault, Fault) else f"no block: {fault!r}"
        return None
    return {
        "subject": subject.name,
        "round": round_idx,
        "num_steps": answer["num_steps"],
        "steady": answer.get("steady", True),
        "samples": samples,
    }


def alternate(subjects, num_rounds, seed, deadline):
    """The blocks of all valid subjects, in the order in which they were taken. After `deadline`
    (time.monotonic) no round begins but the first two."""
    blocks = []
    for round_idx in range(num_rounds):
        if round_idx >= 2 and time.monotonic() > deadline:
            break
        by_name = {subject.name: subject for subject in subjects if subject.status == "Ok"}
        for name in order_of_round(by_name, seed, round_idx):
            if by_name[name].status == "Ok":
                block = measure_block(by_name[name], round_idx)
                if block is not None:
                    blocks.append(block)
    return blocks
