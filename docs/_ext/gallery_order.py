"""The order of the gallery: what most people come for first."""

from __future__ import annotations

FIRST = (
    "tag_installed_packages",
    "tag_a_text_table",
    "why_these_landmarks",
    "landmark_budget",
    "digit_scenes",
    "your_own_encoder",
    "fewest_questions",
    "recover_from_landmarks",
    "labels_that_look_wrong",
    "choose_a_threshold",
    "calibrated_probabilities",
    "imbalanced_labels",
    "unknown_labels",
    "compare_methods",
    "pipeline_grid_search",
)


class Order:
    """A key for sphinx-gallery: the names above in their order, then all others by name."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, file: str) -> tuple[int, str]:
        """Return the place of a file."""
        name = file.removesuffix(".py")
        return (FIRST.index(name) if name in FIRST else len(FIRST), name)
