"""Code blocks and links of the Markdown files, and how a block is run."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def blocks(path, *languages):
    """Return (line, code) of every fenced block in one of the languages."""
    text = path.read_text(encoding="utf-8")
    found = []
    for match in re.finditer(r"^```(\w+)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE):
        if match[1] in languages:
            line = text.count("\n", 0, match.start()) + 2
            found.append((line, match[2]))
    return found


def python_blocks(paths):
    """Return (path, line, code) of every Python block, with readable test names."""
    cases = [(path, line, code) for path in paths for line, code in blocks(path, "python")]
    return cases, [f"{path.relative_to(ROOT)}:{line}" for path, line, _ in cases]


def run_block(path, line, code, folder, monkeypatch):
    """Run a block as printed, in a fresh namespace and an empty folder."""
    monkeypatch.chdir(folder)
    # Line numbers of errors are those of the Markdown file.
    program = compile("\n" * (line - 1) + code, str(path), "exec")
    exec(program, {"__name__": "printed_block"})


def links(path):
    """Return the targets of the relative links of a file, pictures included."""
    text = re.sub(r"^```.*?^```$", "", path.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    return [target for target in targets if "://" not in target]


def anchors(path):
    """Return the anchors of a file's titles, in the manner of code hosting sites."""
    titles = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-") for title in titles}
