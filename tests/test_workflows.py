"""The workflows of the hosting site: they can be read, and run what the project promises."""

import re
import tomllib

import yaml

from markdown_blocks import ROOT

WORKFLOWS = ROOT / ".github" / "workflows"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def read(name):
    return yaml.safe_load((WORKFLOWS / name).read_text("utf-8"))


def commands(workflow):
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    return "\n".join(step.get("run", "") for step in steps)


def test_every_promised_python_is_tested_on_every_system():
    matrix = read("tests.yml")["jobs"]["test"]["strategy"]["matrix"]
    promised = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert matrix["python"] == promised
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}


def test_commands_of_make_and_extras_exist():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))
    for file in WORKFLOWS.glob("*.yml"):
        run = commands(read(file.name))
        assert set(re.findall(r"\bmake ([a-z-]+)", run)) <= targets
        for extras in re.findall(r'"\.\[([\w,]+)\]"', run):
            assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])


def test_the_project_says_where_it_lives():
    assert {"Homepage", "Documentation", "Source", "Issues"} <= set(PROJECT["urls"])
