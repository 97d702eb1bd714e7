"""Finds problems before they do harm: in rows with labels, and in a tagger.

:func:`examine` returns :class:`Finding` objects; the command ``splmll doctor`` prints them.
"""

from splmll.doctor.examination import examine, examine_model_file
from splmll.doctor.finding import Finding

__all__ = ["Finding", "examine", "examine_model_file"]
