"""Reports that need nothing but a browser: one file, no request to anywhere."""

from splmll.experiments.report.comparison import write_report
from splmll.experiments.report.landmarks import FittedModel
from splmll.experiments.report.page import (
    Figure,
    Folded,
    Heading,
    Section,
    Table,
    Text,
    Written,
    build_page,
    write_page,
)

__all__ = [
    "Figure",
    "FittedModel",
    "Folded",
    "Heading",
    "Section",
    "Table",
    "Text",
    "Written",
    "build_page",
    "write_page",
    "write_report",
]
