"""The cases of a suite (docs/formats/workload.md), and which of them are wanted."""
import dataclasses
import difflib
import json
import pathlib


class UserError(Exception):
    """A flag or file to correct."""


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    file: pathlib.Path
    dims: dict
    workload: dict  # the document, with the case's dimensions

    @property
    def dtype(self):
        """What the step computes in: the type of its first input."""
        return self.workload["inputs"][0]["dtype"]

    def arguments(self):
        """The workload as arguments of whet."""
        pairs = [f"{name}={size}" for name, size in self.dims.items()]
        return [str(self.file), *(word for pair in pairs for word in ("--dim", pair))]


def read_json(path, schema):
    """The object in a file that says it is a `schema`."""
    try:
        document = json.loads(pathlib.Path(path).read_text())
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise UserError(f"{path}: expected JSON: {error}") from error
    found = document.get("schema") if isinstance(document, dict) else None
    if found != schema:
        raise UserError(f'{path}: $.schema: expected "{schema}", found {json.dumps(found)}')
    return document


def load_suite(name, shipped):
    """Name and cases of a suite file, or of the one in folder `shipped` that has this name."""
    path = pathlib.Path(name)
    if not path.exists() and "/" not in name:
        path = shipped / (name if name.endswith(".json") else name + ".json")
    document = read_json(path, "whet.suite/1")
    cases = []
    for entry in document["entries"]:
        file = path.parent / entry["workload"]
        workload = read_json(file, "whet.workload/1")
        dims = entry.get("dims", {})
        workload["dims"] = {**workload.get("dims", {}), **dims}
        cases.append(Case(entry.get("as", file.stem), file, dims, workload))
    return document["name"], cases


def check_known(flag, name, known):
    """Refuses a name that there is not, with the nearest that there is."""
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        hint = f'; did you mean "{near[0]}"?' if near else ""
        raise UserError(f"{flag}: expected one of {', '.join(known)}; found '{name}'{hint}")


def choose_cases(cases, names, dtypes):
    """Those with one of the names and of the dtypes; None means all."""
    for name in names or []:
        check_known("--cases", name, [case.name for case in cases])
    for dtype in dtypes or []:
        check_known("--dtypes", dtype, sorted({case.dtype for case in cases}))
    chosen = [
        case
        for case in cases
        if (not names or case.name in names) and (not dtypes or case.dtype in dtypes)
    ]
    if not chosen:
        raise UserError("--cases, --dtypes: no case of the suite has both; drop one of the flags")
    return chosen
