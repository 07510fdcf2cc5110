"""No text of the project installs a distribution of the project's names from a package index.

`relevance` on the Python Package Index belongs to another project, and the other names are not published yet: what is
installed by name there is not this service. Documentation installs from a checkout or from `dist/`.
"""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

UNPUBLISHED = frozenset({"relevance", "relevance-bayes", "relevance-server"})

INSTALL = re.compile(
    r"\b(?:pip3? install|pipx (?:install|run)|uv add|uv tool (?:install|run)|uvx|poetry add)\b([^\n`;&|]*)"
)
REQUIREMENT = re.compile(r"(?<![\w./-])([A-Za-z][\w.-]*)(?:\[[\w, -]*\])?(?:[<>=!~@][^\s'\"]*)?(?![\w/])")
EXTRA = re.compile(
    r"(?<![\w./-])(relevance(?:[-_.](?:bayes|server))?)\[(?:grpc|onnx|[a-z]+(?:,[a-z]+)+)\]", re.IGNORECASE
)


def distributions(text: str) -> Iterator[str]:
    """The names, normalised as the index does, that commands in `text` install or that it gives with an extra."""
    for command in INSTALL.finditer(text):
        for argument in command[1].replace("'", " ").replace('"', " ").split():
            if not argument.startswith(("-", ".", "/", "$", "dist/")) and (named := REQUIREMENT.fullmatch(argument)):
                yield normalised(named[1])
    for named in EXTRA.finditer(text):
        yield normalised(named[1])


def normalised(name: str) -> str:
    """The name as package indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("`pip install 'relevance[onnx]'`", True),
        ("pip install -U Relevance==0.1", True),
        ("uvx relevance serve", True),
        ("uv pip install relevance_bayes", True),
        ("the extra relevance[grpc] installs it", True),
        ("pip install '.[onnx]'", False),
        ("pip install dist/relevance-0.1.0-py3-none-any.whl", False),
        ("pip install numpy", False),
        ("`pip install .`, then `relevance serve`", False),
    ],
)
def test_the_names_are_found_in_commands_and_with_extras(text: str, named: bool) -> None:
    assert (not UNPUBLISHED.isdisjoint(distributions(text))) is named


def test_nothing_installs_a_name_that_is_not_published() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    files = [ROOT / name for name in listed.split("\0") if name]
    assert len(files) > 100
    wrong = [
        f"{file.relative_to(ROOT)}: {name}"
        for file in files
        if file.is_file() and file != Path(__file__)
        for name in distributions(file.read_text("utf-8", errors="ignore"))
        if name in UNPUBLISHED
    ]
    assert wrong == []
