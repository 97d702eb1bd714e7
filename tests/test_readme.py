"""The README tells the truth: its blocks run as printed, its commands and files exist."""

import json
import re
import shlex
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location

import matplotlib as mpl
import pandas as pd
import pytest

from markdown_blocks import ROOT, anchors, blocks, links, python_blocks, run_block
from splmll.cli import main
from warm_processes import run_apart

mpl.use("Agg")

README = ROOT / "README.md"
CASES, NAMES = python_blocks([README])


@pytest.mark.parametrize(("path", "line", "code"), CASES, ids=NAMES)
def test_block_runs_as_printed(path, line, code, tmp_path, monkeypatch, capsys):
    run_block(path, line, code, tmp_path, monkeypatch)
    assert capsys.readouterr().out.strip(), "a block of the README should show something"


def test_there_is_a_ten_line_example():
    _, code = blocks(README, "python")[0]
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    assert "SPLMLL" in code


def shell(path):
    return [line for _, code in blocks(path, "shell") for line in code.splitlines()]


COMMANDS = shell(README)
SERVING = next(line for line in COMMANDS if line.startswith("splmll serve"))
ASKING = next(line for line in COMMANDS if line.startswith("curl"))
# The commands of the README but for the last, and those that the page on the command line adds.
TAGGING = [line for line in COMMANDS if line.startswith("splmll ") and line != SERVING]
TAGGING += shell(ROOT / "docs" / "command_line.md")
OTHERS = shell(ROOT / "docs" / "howto" / "compare_methods.md")


def test_the_two_commands_and_all_others_of_make_are_targets():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert {"make demo", "make test"} <= set(COMMANDS)
    for command in [*COMMANDS, *TAGGING, *OTHERS]:
        program, *arguments = shlex.split(command)
        assert program in ("make", "splmll", "curl")
        if program == "make":
            assert set(arguments) <= targets


def run(command, folder):
    _, *arguments = shlex.split(command)
    ran = run_apart(main, arguments, folder=folder)
    assert ran.returncode == 0, f"{command}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


@pytest.mark.slow
@pytest.mark.parametrize("command", OTHERS)
def test_command_runs_as_printed(command, tmp_path, request):
    if "reproduce" in command:
        request.getfixturevalue("data_home")
    assert run(command, tmp_path).strip()


@pytest.fixture(scope="module")
def own_table(tmp_path_factory):
    """A folder with the tables that a reader of the README would have."""
    folder = tmp_path_factory.mktemp("own_table")
    for name, seed in (("notes", 0), ("new", 1), ("test", 2)):
        rows = pd.read_csv(tickets().write_tickets(folder / f"{name}.csv", 300, seed))
        rows = rows.drop(columns=["id", *(["tags"] if name == "new" else [])])
        rows.to_csv(folder / f"{name}.csv", index=False)
    return folder


def tickets():
    return loaded(ROOT / "examples" / "tickets.py")


def loaded(path):
    specification = spec_from_file_location(path.stem, path)
    module = module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tagged(own_table):
    """What each command on the tagging of a table printed, run in their order in one folder."""
    printed = {}
    for command in TAGGING:
        if " recover " in command:  # somebody answers for the landmarks of two rows, but for one
            shown = json.loads(run("splmll landmarks model --json", own_table))
            names = [each["landmark"] for each in shown]
            answers = pd.DataFrame([[1] + [0] * (len(names) - 1), [None] + [0] * (len(names) - 1)])
            answers.set_axis(names, axis=1).to_csv(own_table / "landmarks.csv", index=False)
        printed[command.split()[1]] = run(command, own_table)
    return printed


@pytest.mark.slow
def test_a_table_is_tagged_as_printed(own_table, tagged):
    assert "Micro-F1" in tagged["fit"]
    assert "Micro-F1" in tagged["evaluate"]
    written = pd.read_csv(own_table / "tags.csv")
    assert len(written) == 300
    assert sum(column.startswith("score:") for column in written) > 10
    assert "landmark" in tagged["landmarks"]
    assert "+" in tagged["explain"]
    assert len(pd.read_csv(own_table / "all.csv")) == 2


@pytest.mark.slow
def test_the_tagger_is_served_as_printed(own_table, tagged):
    _, *arguments = shlex.split(SERVING)
    arguments[arguments.index("--port") + 1] = "0"  # 8000 may be taken; 0 is any that is free
    server = subprocess.Popen(
        [sys.executable, "-m", "splmll", *arguments],
        stdout=subprocess.PIPE,
        text=True,
        cwd=own_table,
    )
    try:
        address = next(
            filter(None, (re.search(r"http://[\d.:]+\d", line) for line in server.stdout))
        )
        asked = shlex.split(ASKING.replace("http://127.0.0.1:8000", address[0]))
        answer = subprocess.run(asked, capture_output=True, text=True, cwd=own_table, check=True)
    finally:
        server.terminate()
        server.wait(timeout=30)
    tags = [line for line in answer.stdout.splitlines()[1:] if line]
    predicted = pd.read_csv(own_table / "tags.csv", keep_default_na=False)["tags"]
    assert [line.strip('"') for line in tags] == list(predicted)


@pytest.mark.parametrize("target", links(README))
def test_link_leads_somewhere(target):
    place, _, anchor = target.partition("#")
    file = ROOT / place if place else README
    assert file.exists()
    if anchor:
        assert anchor in anchors(file)


def test_picture_is_small_enough_to_load_quickly():
    picture = ROOT / "docs" / "images" / "landmarks.png"
    assert picture.stat().st_size < 150_000


def test_a_table_takes_four_commands():
    tags = [line.split()[1] for line in COMMANDS if line.startswith("splmll ")]
    assert tags == ["doctor", "fit", "predict", "serve"]


def test_it_can_be_read_in_one_sitting():
    assert README.stat().st_size <= 10_000
