"""What was measured, by part of the benchmark: as Markdown to read and as JSON to keep."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from avatar_cli.evaluation.benchmark.figures import (
    Bounds,
    Detail,
    Figure,
    Measurement,
    detail_section,
    figures_table,
)
from avatar_cli.evaluation.benchmark.machine import Machine


@dataclass(frozen=True)
class Result:
    """One part, with the machine and the number of runs it was measured with."""

    measurement: Measurement
    machine: Machine
    runs: int


def brief_text(results: Mapping[str, Result]) -> str:
    """The main table, and under it the machine."""
    table = figures_table([figure for result in results.values() for figure in result.measurement.figures])
    return "\n\n".join([table, *_conditions(results)])


def _conditions(results: Mapping[str, Result]) -> list[str]:
    """A sentence a machine, with the runs that were made on it."""
    runs: dict[str, list[str]] = {}
    for name, result in results.items():
        machine = result.machine
        made = f"{name} {result.runs} on {machine.date} at load {machine.load:.1f}"
        runs.setdefault(machine.line(), []).append(made)
    return [
        f"Measured on {line}. Medians where a range is given; runs of each part: {'; '.join(made)}."
        for line, made in runs.items()
    ]


def full_text(results: Mapping[str, Result]) -> str:
    """The same with all further tables."""
    details = [detail for result in results.values() for detail in result.measurement.details]
    return "\n\n".join([brief_text(results), *(detail_section(detail) for detail in details)])


def to_json(results: Mapping[str, Result]) -> str:
    """Everything."""
    return json.dumps({name: asdict(result) for name, result in results.items()}, indent=2) + "\n"


def from_json(text: str) -> dict[str, Result]:
    """Inverse of `to_json`."""
    return {name: _result(data) for name, data in json.loads(text).items()}


def _result(data: dict[str, Any]) -> Result:
    measurement = data["measurement"]
    figures = [
        Figure(**{**figure, "bounds": Bounds(**figure["bounds"]), "values": tuple(figure["values"])})
        for figure in measurement["figures"]
    ]
    details = [
        Detail(**{**detail, "header": tuple(detail["header"]), "rows": tuple(map(tuple, detail["rows"]))})
        for detail in measurement["details"]
    ]
    return Result(Measurement(tuple(figures), tuple(details)), Machine(**data["machine"]), data["runs"])
