"""The report of a run, for notebooks and terminals."""

from __future__ import annotations

from typing import Any, Dict, List, Sequence

from . import show
from .life import report_data

_HEAD = ("loop", "calls", "seconds", "share", "GB/s", "of triad", "variant")


class Report:
    """The loops of a run. ``data`` has all that the library says of them."""

    def __init__(self, data: Dict[str, Any]) -> None:
        self.data = data

    def _rows(self) -> List[Sequence[Any]]:
        loops = sorted(self.data.get("loops", []), key=lambda row: -float(row["seconds"]))
        whole = sum(row["seconds"] for row in loops) or 1
        return [
            (
                row["name"],
                row["calls"],
                float(row["seconds"]),
                f"{100 * row['seconds'] / whole:.0f} %",
                float(row["gb_per_second"]) if row.get("gb_per_second") else "",  # what was not measured is left out
                f"{100 * row['triad_share']:.0f} %" if row.get("triad_share") else "",
                row["variant"],
            )
            for row in loops
        ]

    def _caption(self) -> str:
        if not self.data:
            return "no run yet"
        facts = self.data
        where = facts.get("device") or f"{facts['threads']} threads"
        return f"backend {facts['backend']}, {where}, {facts['ranks']} ranks"

    def __repr__(self) -> str:
        return show.lines(_HEAD, self._rows(), self._caption())

    def _repr_html_(self) -> str:
        return show.grid(_HEAD, self._rows(), self._caption())


def report() -> Report:
    """The loops of the run so far, or of the last one after exit: calls, seconds, GB/s, variant. Collective."""
    return Report(report_data())
