"""Help, version and completion: every command explains itself, and the shell can complete it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from splmll import __version__
from splmll.cli import main
from splmll.cli.app import app
from splmll.extras import installed_extras

GROUP = typer.main.get_command(app)
COMMANDS = sorted(GROUP.commands)
PROGRAM = Path(sys.executable).with_name("splmll")


def say(capfd, *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as end:
        main([*arguments])
    return int(end.value.code or 0), capfd.readouterr().out


def test_all_commands_are_there() -> None:
    asked = "fit predict evaluate explain landmarks recover datasets methods doctor compare"
    assert set(asked.split()) <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_words_examples_and_no_option_without_help(command, capfd, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    status, said = say(capfd, command, "--help")
    assert status == 0
    words, _, examples = said.partition("Examples")
    assert len(words.split()) > 10
    assert f"splmll {command}" in examples
    for parameter in GROUP.commands[command].params:
        assert getattr(parameter, "help", None), f"{parameter.name} is not explained"


@pytest.mark.parametrize("command", COMMANDS)
def test_options_of_the_examples_exist(command) -> None:
    """Every option that an example shows is one of the command it shows."""
    lines = re.findall(r"^splmll .+$", GROUP.commands[command].help, flags=re.MULTILINE)
    assert lines
    for line in lines:
        _, name, *words = shlex.split(line)
        options = {each for option in GROUP.commands[name].params for each in option.opts}
        assert {word for word in words if word.startswith("-")} <= options


def test_nothing_typed_shows_the_help_and_is_bad_input() -> None:
    ran = subprocess.run([sys.executable, "-m", "splmll"], capture_output=True, text=True)
    assert ran.returncode == 2
    assert "Usage" in ran.stdout + ran.stderr


def test_version(capfd) -> None:
    extras = ", ".join(installed_extras())
    assert say(capfd, "--version") == (0, f"{__version__}\nextras: {extras}\n")


def test_help_does_not_wait_for_heavy_libraries() -> None:
    code = (
        "import sys\nfrom splmll.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'torch', 'pandas', 'sklearn', 'matplotlib', 'onnx', 'fastapi', 'dask', 'yaml'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stderr.strip() == "[]"


@pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not installed")
@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="needs bash")
def test_completion() -> None:
    # Whose script to print is told by the program that started it.
    shown = subprocess.run(
        ["/bin/bash", "-c", f"{PROGRAM} --show-completion; exit $?"], capture_output=True, text=True
    )
    assert shown.returncode == 0, shown.stderr
    assert "_SPLMLL_COMPLETE=complete_bash" in shown.stdout
    for words, expected in (("splmll doc", "doctor"), ("splmll fit --save", "--save-config")):
        completed = subprocess.run(
            [PROGRAM],
            capture_output=True,
            text=True,
            env={
                **os.environ,
                "_SPLMLL_COMPLETE": "complete_bash",
                "COMP_WORDS": words,
                "COMP_CWORD": str(len(words.split()) - 1),
            },
        )
        assert completed.stdout.split() == [expected]


def test_completion_can_be_installed(capfd) -> None:
    _, said = say(capfd, "--help")
    assert "--install-completion" in said
