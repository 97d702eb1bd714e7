"""One possible problem: how bad it is, what and where it is, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

ERROR, WARNING, NOTE = "error", "warning", "note"
SEVERITIES = (ERROR, WARNING, NOTE)  # worst first


@dataclass(frozen=True)
class Finding:
    """A problem that was found.

    Attributes
    ----------
    severity : {"error", "warning", "note"}
        An error: it cannot work, or the results mean nothing. A warning: it works worse than it
        could, or looks better than it is. A note: good to know.
    check : str
        Name of the check, such as ``"rare-labels"``.
    what : str
        What is wrong, in a sentence.
    remedy : str
        What to do, in a sentence.
    where : list of str
        Names of all labels, columns or rows concerned.

    Examples
    --------
    >>> from splmll.doctor import Finding
    >>> print(Finding("warning", "constant-labels", "Every row has 'jazz'.", "Leave it out."))
    warning: constant-labels: Every row has 'jazz'. Leave it out.
    """

    severity: str
    check: str
    what: str
    remedy: str
    where: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return it in a form that JSON can represent."""
        return {
            "severity": self.severity,
            "check": self.check,
            "what": self.what,
            "where": list(self.where),
            "remedy": self.remedy,
        }

    def __str__(self) -> str:
        return f"{self.severity}: {self.check}: {self.what} {self.remedy}"


def worst_first(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings with errors first and notes last, else in their order.

    Examples
    --------
    >>> from splmll.doctor.finding import Finding, worst_first
    >>> note, error = (Finding(severity, "", "", "") for severity in ("note", "error"))
    >>> [each.severity for each in worst_first([note, error])]
    ['error', 'note']
    """
    return sorted(findings, key=lambda each: SEVERITIES.index(each.severity))
