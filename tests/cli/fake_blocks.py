"""Stands in for `whet retime` and `whet tune` and for a peer of scripts/peers.py: answers with
made-up blocks.

fake_blocks.py ours [--no-winner CASE_DIM | --dies | --slow-tuning] retime|tune FILE …
fake_blocks.py peer TIME_NS [FAULT | per-batch]
"""
import json
import sys
import time

PLAN = {"num_steps": 20, "num_samples": 3, "min_sample_ns": 0}


def answer(line):
    print(json.dumps(line), flush=True)


def block(name, time_ns):
    samples = [[time_ns * factor, 1980.0, 40.0, False] for factor in (0.99, 1.0, 1.01)]
    return {"subject": name, "status": "Ok", "num_steps": 20, "steady": True, "samples": samples}


def ours(arguments):
    times = {"winner": 1000.0, "one-launch": 2000.0}
    subjects = [
        {"name": "winner", "steps_per_launch": 4, "status": "Ok", "detail": ""},
        {"name": "one-launch", "steps_per_launch": 1, "status": "Ok", "detail": ""},
    ]
    if arguments[0] == "--no-winner" and arguments[1] in arguments[2:]:
        subjects = []
    answer(
        {
            "schema": "whet.blocks/1", "key": "k", "device": "a device", "threads": 1,
            "environment": {"whet": "0"}, "bundle": "", "plan": PLAN, "match": "Exact",
            "reason": "" if subjects else "nothing was tuned yet", "subjects": subjects,
        }
    )
    # With the same time at any size.
    for count, line in enumerate(sys.stdin):
        if arguments[0] == "--dies" and count == 3:
            sys.exit("out of luck")
        answer(block(line.strip(), times[line.strip()]))


def tune(arguments):
    if arguments[0] == "--slow-tuning":
        time.sleep(1000)
    answer({"schema": "whet.result/1", "verdict": "Use"})


def peer(time_ns, fault):
    request = json.loads(sys.stdin.readline())
    name = request["peer"]
    if fault == "per-batch":
        time_ns /= request["workload"]["dims"]["batch"]
    if fault == "hangs":
        time.sleep(1000)
    subject = {"name": name, "status": "Absent" if fault == "absent" else "Ok", "detail": fault}
    answer({"environment": {"torch": "0"}, "subjects": [subject]})
    for count, line in enumerate(sys.stdin):
        if fault == "dies" and count == 3:
            sys.exit("out of luck")
        if fault == "babbles" and count == 3:
            print("warning: something", flush=True)
        answer(block(line.strip(), time_ns))


if __name__ == "__main__":
    if sys.argv[1] == "ours":
        tune(sys.argv[2:]) if "tune" in sys.argv[2:4] else ours(sys.argv[2:])
    else:
        peer(float(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "")
