"""From a table with texts, numbers and tags to a tagger that tags new rows.

:class:`Tagger` does everything in Python; the commands ``splmll fit``, ``predict``, ``evaluate``,
``explain``, ``landmarks`` and ``recover`` call it.
"""

from splmll.tagging.files import read_examples
from splmll.tagging.measured import Measured
from splmll.tagging.tagger import Tagged, Tagger
from splmll.tagging.words import Words

__all__ = ["Measured", "Tagged", "Tagger", "Words", "read_examples"]
