"""The index of the papers names files that are there, and every equation that the code cites."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INDEX = (ROOT / "docs" / "explanation" / "papers.md").read_text("utf-8")
LIBRARY = ROOT / "library" / "relevance_bayes"
CORE, TASKS = LIBRARY / "core", LIBRARY / "tasks"
CITED = re.compile(r"\[((?:TIPPING1999|TIPPING2001|FAUL2002), eqs?\.? [^\];]+)")
KEY = re.compile(r"\[((?:TIPPING|FAUL|RASMUSSEN)\d{4}b?|BURNAEV)\b")
PAPER = re.compile(r"\b[A-Z]{3,}(?:19|20)\d{2}b?\b")
THEORY = re.compile(r"THEORY (\d+)(?: and (\d+))?")
SECTION = re.compile(r"^## (\d+)\. ", re.MULTILINE)
FILE = re.compile(r"`([a-z_/0-9]+(?:\.py|/))`")


def test_every_file_that_is_named_is_there() -> None:
    named = FILE.findall(re.sub("`(library/relevance_bayes/(core/)?|tasks/)`", "", INDEX))
    assert len(named) > 15
    assert [name for name in named if not any((folder / name).exists() for folder in (CORE, LIBRARY, ROOT))] == []


def test_every_equation_that_the_code_cites_is_listed() -> None:
    files = [file for folder in (CORE, TASKS) for file in folder.rglob("*.py")]
    cited = {found for file in files for found in CITED.findall(file.read_text("utf-8"))}
    assert len(cited) > 5
    assert sorted(one for one in cited if f"[{one}]" not in INDEX) == []


def test_the_theory_has_every_section_that_the_code_cites_and_lists_each() -> None:
    pages = {page.name: page.read_text("utf-8") for page in (ROOT / "docs" / "explanation" / "theory").glob("*.md")}
    index = pages.pop("index.md")
    sections = [int(number) for page in pages.values() for number in SECTION.findall(page)]
    code = [file.read_text("utf-8") for folder in (CORE, TASKS, ROOT / "tests") for file in folder.rglob("*.py")]
    cited = {int(number) for text in code for found in THEORY.findall(text) for number in found if number}
    assert sorted(sections) == list(range(1, len(sections) + 1))
    assert len(cited) > 10
    assert cited <= set(sections)
    assert [name for name in pages if f"({name})" not in index] == []
    assert [number for number in sections if not re.search(rf"\b{number} [A-Za-z]", index)] == []


def test_every_paper_that_the_code_cites_is_listed() -> None:
    code = [file for package in ("app", "library/relevance_bayes") for file in (ROOT / package).rglob("*.py")]
    cited = {key for file in code for key in PAPER.findall(file.read_text("utf-8"))}
    assert len(cited) > 25
    assert sorted(key for key in cited if f"| [{key}] |" not in INDEX) == []


def test_every_paper_that_the_theory_cites_is_listed() -> None:
    pages = "".join(page.read_text("utf-8") for page in (ROOT / "docs" / "explanation" / "theory").glob("*.md"))
    cited = {key for key in re.findall(r"\[([A-Z]+(?:\d{4}b?)?)[\],]", pages) if key != "THEORY"}
    assert len(cited) >= 8
    assert sorted(key for key in cited if f"| [{key}] |" not in INDEX) == []


def test_every_file_that_is_named_beside_an_equation_cites_its_paper() -> None:
    rows = [line.strip("| ").split(" | ") for line in INDEX.split("## Equations")[1].split("## ")[0].splitlines()]
    listed = [(set(KEY.findall(row[0])), FILE.findall(row[2])) for row in rows if len(row) == 3 and KEY.search(row[0])]
    assert len(listed) > 15
    silent = [
        (sorted(keys), name)
        for keys, names in listed
        for name in names
        if not any(keys & set(KEY.findall(file.read_text("utf-8"))) for file in files_of(name))
    ]
    assert silent == []


def files_of(name: str) -> list[Path]:
    """A file, or all of a folder."""
    named = LIBRARY / name if name.startswith("tasks/") else CORE / name
    return sorted(named.rglob("*.py")) if named.is_dir() else [named]


def test_every_benchmark_that_is_named_runs_by_that_name() -> None:
    readme = (ROOT / "benchmarks" / "README.md").read_text("utf-8")
    rows = [line for line in INDEX.split("## Figures and tables")[1].splitlines() if line.startswith("|")]
    named = {name for row in rows for name in re.findall(r"`([a-z][a-z-]*)`", row.rsplit("|", 2)[1])}
    assert len(named) >= 5
    assert sorted(name for name in named if f"<!-- {name} -->" not in readme) == []
