"""Options of ``splmll fit`` in a YAML file: read before the command runs, written after it.

The keys are the names of the options without dashes; options on the command line win.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping

SETTINGS = "settings"  # the key of the method's own settings
_LISTS = ("labels", "text", "ignore")  # options that may be given again
_NOT_IN_A_FILE = ("config", "save_config", "help")
_SUFFIXES = (".yaml", ".yml")


def use_config(context: typer.Context, path: Path | None) -> Path | None:
    """Make the options of a YAML file the defaults of the command; a callback of the option.

    Settings of the method are left in ``context.meta`` for :func:`settings_of`.
    """
    if path is None or context.resilient_parsing:
        return path
    found = _read(path)
    names = [each.name for each in context.command.params if each.name]
    _check_keys(found, [name for name in names if name not in _NOT_IN_A_FILE], path)
    context.meta[SETTINGS] = _settings(found.pop(SETTINGS, None), path)
    context.default_map = {name: _option(name, value, path) for name, value in found.items()}
    return path


def settings_of(context: typer.Context, typed: list[str]) -> dict[str, Any]:
    """Return the settings of the method: those of the file, overridden by those typed."""
    from splmll.tagging.settings import read_setting

    return {**context.meta.get(SETTINGS, {}), **dict(map(read_setting, typed))}


def check_config_place(path: Path) -> None:
    """Refuse a path where no YAML file can be written."""
    from splmll.tagging.output import check_suffix, check_writable

    check_suffix(path, _SUFFIXES, "options are")
    check_writable(path)


def write_config(path: Path, options: Mapping[str, Any]) -> None:
    """Write options to a YAML file; those that are not set are left out."""
    import yaml

    from splmll.atomic import atomic_write

    kept = {name: value for name, value in options.items() if value not in (None, [], {})}
    with atomic_write(path) as part:
        part.write_text(yaml.safe_dump(kept, sort_keys=False, allow_unicode=True), "utf-8")


# Pieces -----------------------------------------------------------------------------------------


def _read(path: Path) -> dict[str, Any]:
    import yaml

    from splmll.datasets.checks import decode, read_bytes
    from splmll.exceptions import DatasetError

    try:
        found = yaml.safe_load(decode(read_bytes(path), "utf-8", path))
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "it cannot be read"
        raise DatasetError(
            f"this is not YAML ({problem}); write one option per line, such as `labels: tags`",
            path=path,
            line=None if mark is None else mark.line + 1,
        ) from error
    if not isinstance(found, dict):
        raise DatasetError(
            "it contains no options; write one per line, such as `labels: tags`", path=path
        )
    return {str(name).replace("-", "_"): value for name, value in found.items()}


def _check_keys(found: dict[str, Any], known: list[str], path: Path) -> None:
    from splmll.exceptions import DatasetError
    from splmll.names import listed, suggestion

    for name in found:
        if name not in known:
            raise DatasetError(
                f"there is no option {name!r}.{suggestion(name, known)} The options are "
                f"{listed(known)}.",
                path=path,
            )


def _settings(value: Any, path: Path) -> dict[str, Any]:
    from splmll.exceptions import DatasetError
    from splmll.tagging.settings import read_value

    if value is None:
        return {}
    if not isinstance(value, dict):
        raise DatasetError(
            "write one setting per line, indented, below `settings:`, such as `cv: 3`",
            path=path,
        )
    # YAML takes 1e-3 for a word.
    return {
        str(name): read_value(each) if isinstance(each, str) else each
        for name, each in value.items()
    }


def _option(name: str, value: Any, path: Path) -> Any:
    """Return a value as it would have been typed, so that it is checked in the same way."""
    from splmll.exceptions import DatasetError

    if value is None:
        return None
    several = value if isinstance(value, list) else [value]
    if name in _LISTS:
        return [str(each) for each in several]
    if isinstance(value, list | dict):
        raise DatasetError(f"the option {name!r} takes one value, not several", path=path)
    return str(value)
