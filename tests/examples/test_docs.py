"""What the documents say is true of the code."""

import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from user_handoff.contract.errors import ErrorCode, error_class
from user_handoff.contract.handoff import Result

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
REFERENCE = (ROOT / "docs" / "reference.md").read_text()
_BLOCK = re.compile(r"```(\w*)\n(.*?)```", re.DOTALL)
_LINK = re.compile(r"\]\((?!https?://)([^)#\s]*)(?:#([^)\s]+))?\)")


def blocks(document: Path, language: str) -> list[str]:
    return [text for found, text in _BLOCK.findall(document.read_text()) if found == language]


def headings(document: Path) -> set[str]:
    found = re.findall(r"^#+ (.+)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in found}


def rows(section: str) -> Iterator[list[str]]:
    text = REFERENCE.split(f"\n## {section}\n")[1].split("\n## ")[0]
    for line in re.findall(r"^\| (.+) \|$", text, re.MULTILINE)[1:]:
        yield [cell.strip() for cell in line.split(" | ")]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_local_link_leads_somewhere(document: Path) -> None:
    for path, anchor in _LINK.findall(document.read_text()):
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), path
        assert not anchor or anchor in headings(target), anchor


def test_every_error_code_is_documented_with_its_class() -> None:
    documented = {code.strip("`"): name.strip("`") for code, name, _ in rows("Errors")}
    assert documented == {str(code): error_class(code).__name__ for code in ErrorCode}


def test_every_result_is_documented() -> None:
    documented = re.findall(r"`(\w+)`", " ".join(row[0] for row in rows("Results of a handoff")))
    assert sorted(documented) == sorted(map(str, Result))


def test_every_environment_variable_of_ours_is_documented() -> None:
    sources = [*ROOT.glob("src/**/*.py"), *ROOT.glob("worker/**/*.py"), ROOT / "run"]
    used = {name for path in sources for name in re.findall(r"\bHANDOFF_[A-Z]+(?:_[A-Z]+)*\b", path.read_text())}
    documented = set(re.findall(r"`(HANDOFF_[A-Z_]+)`", " ".join(row[0] for row in rows("Settings"))))
    assert documented == used - set(ErrorCode.__members__)


def test_every_command_is_documented() -> None:
    from typer.main import get_command

    from user_handoff.cli.main import app

    commands = set(getattr(get_command(app), "commands", {}))
    documented = {re.findall(r"handoff ([\w-]+)", row[0])[0] for row in rows("The `handoff` command")}
    assert documented == commands


def test_the_agent_of_the_readme_is_the_one_that_the_demo_runs() -> None:
    (snippet,) = blocks(ROOT / "README.md", "python")
    code = [line.strip() for line in (ROOT / "examples" / "agent.py").read_text().splitlines()]
    start = code.index(snippet.splitlines()[0].strip())
    for line in (line.strip() for line in snippet.splitlines()):
        assert line in code[start:], line


def test_the_examples_are_type_checked(tmp_path: Path) -> None:
    examples = [tmp_path / f"{name}_example.py" for name in ("guide", "testing-your-agent", "access", "people")]
    for example in examples:
        document = ROOT / "docs" / example.name.replace("_example.py", ".md")
        example.write_text("\n\n".join(blocks(document, "python")))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), *map(str, examples)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("picture", sorted((ROOT / "docs").glob("*.svg")), ids=lambda path: path.name)
def test_every_picture_is_well_formed_and_described(picture: Path) -> None:
    root = ElementTree.parse(picture).getroot()
    assert root.get("aria-label")
    assert any(picture.name in document.read_text() for document in DOCUMENTS)


def test_the_agent_of_the_guide_is_one_file_that_the_workflow_sandbox_can_import(tmp_path: Path) -> None:
    """temporalio imports the worker's own file again, under another name: nothing may run then."""
    agent = tmp_path / "agent.py"
    agent.write_text("\n\n".join(blocks(ROOT / "docs" / "guide.md", "python")[:2]))
    names = runpy.run_path(str(agent), run_name="__temporal_main__")
    assert {"ReadBalance", "main"} <= names.keys()
