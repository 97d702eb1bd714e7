"""Reports that need nothing but a browser: one file, no request to anywhere."""

from splmll.experiments.report.page import Figure, Section, Table, Text, build_page, write_page

__all__ = ["Figure", "Section", "Table", "Text", "build_page", "write_page"]
