"""The README tells the truth: its blocks run as printed, its commands and files exist."""

import re
import shlex
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location

import matplotlib as mpl
import pytest

from markdown_blocks import ROOT, anchors, blocks, links, python_blocks, run_block

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


COMMANDS = [line for _, code in blocks(README, "shell") for line in code.splitlines()]


def test_the_two_commands_and_all_others_of_make_are_targets():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert {"make demo", "make test"} <= set(COMMANDS)
    for command in COMMANDS:
        program, *arguments = shlex.split(command)
        assert program in ("make", "splmll")
        if program == "make":
            assert set(arguments) <= targets


@pytest.mark.slow
@pytest.mark.parametrize("command", [line for line in COMMANDS if line.startswith("splmll ")])
def test_command_runs_as_printed(command, tmp_path, request):
    if "reproduce" in command:
        request.getfixturevalue("data_home")
    _, *arguments = shlex.split(command)
    ran = subprocess.run(
        [sys.executable, "-m", "splmll", *arguments], capture_output=True, text=True, cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip()


@pytest.mark.parametrize("target", links(README))
def test_link_leads_somewhere(target):
    place, _, anchor = target.partition("#")
    file = ROOT / place if place else README
    assert file.exists()
    if anchor:
        assert anchor in anchors(file)


def test_house_plan_is_true_to_the_tree():
    plan = README.read_text("utf-8").split("## The house", 1)[1].split("\n## ", 1)[0]
    folders: dict[int, str] = {}
    found = 0
    for line in plan.splitlines():
        match = re.match(r"^( {4,})([\w/]+(?:\.py|/))(?:\s{2,}|$)", line)
        if not match:
            continue
        indent, name = len(match[1]), match[2]
        parents = [folders[depth] for depth in sorted(folders) if depth < indent]
        folders = {depth: folder for depth, folder in folders.items() if depth < indent}
        folders[indent] = name
        place = ROOT / "".join(parents) / name
        assert place.exists(), place
        found += 1
    assert found > 20


def test_picture_is_small_enough_to_load_quickly():
    picture = ROOT / "docs" / "images" / "landmarks.png"
    assert picture.stat().st_size < 150_000


def test_place_for_the_results_is_marked_once():
    text = README.read_text("utf-8")
    assert text.count("<!-- results:start -->") == text.count("<!-- results:end -->") == 1


def test_the_table_of_methods_is_that_of_the_catalogue():
    specification = spec_from_file_location("make_tables", ROOT / "docs" / "make_tables.py")
    module = module_from_spec(specification)
    specification.loader.exec_module(module)
    text = README.read_text("utf-8")
    table = text.split("<!-- methods:start -->\n", 1)[1].split("\n<!-- methods:end -->", 1)[0]
    assert table == module.methods_table()
