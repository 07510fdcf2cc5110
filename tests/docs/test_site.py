"""The documentation as a site: every page can be reached and found, and nothing is requested from another host."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.docs.notebooks import CELL, FOLDER, NOTEBOOKS, outputs

ROOT = Path(__file__).parents[2]
IN_CSS = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")
REQUESTED = {"src", "srcset", "poster", "data", "background"}


class Requests(HTMLParser):
    """The addresses that a browser requests in order to show a page, and the pages that it links to."""

    def __init__(self) -> None:
        super().__init__()
        self.requested: list[str] = []
        self.linked: list[str] = []
        self.in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.in_style = tag == "style"
        for name, value in attrs:
            if name in REQUESTED or (name == "href" and tag in {"link", "image", "use"}):
                self.requested.append(value or "")
            elif name == "href" and tag == "a":
                self.linked.append(value or "")
            elif name == "style":
                self.requested += in_css(value or "")

    def handle_data(self, data: str) -> None:
        if self.in_style:
            self.requested += in_css(data)


def in_css(text: str) -> list[str]:
    return [first or second for first, second in IN_CSS.findall(text)]


def requests_of(text: str) -> Requests:
    page = Requests()
    page.feed(text)
    return page


def is_foreign(address: str) -> bool:
    return bool(re.match(r"(?!data:)[a-z][a-z0-9+.-]*:|//", address.strip(), re.IGNORECASE))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("guide")
    done = subprocess.run(
        (sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", directory / "doctrees", "docs", directory),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return directory


def requested_by(site: Path) -> Iterator[tuple[Path, str]]:
    for file in sorted(site.rglob("*.html")):
        yield from ((file, address) for address in requests_of(file.read_text()).requested)
    for file in sorted(site.rglob("*.css")):
        yield from ((file, address) for address in in_css(file.read_text()))


@pytest.mark.thorough
def test_the_site_requests_nothing_from_another_host(site: Path) -> None:
    requested = list(requested_by(site))
    assert len(requested) > 500
    assert [f"{file.relative_to(site)}: {address}" for file, address in requested if is_foreign(address)] == []


@pytest.mark.thorough
def test_all_that_a_page_requests_is_there(site: Path) -> None:
    lost = [
        f"{file.relative_to(site)}: {address}"
        for file, address in requested_by(site)
        if not re.match("data:|#", address) and not (file.parent / re.split(r"[?#]", address)[0]).exists()
    ]
    assert lost == []


@pytest.mark.thorough
def test_every_page_is_in_the_table_of_contents_and_in_the_search(site: Path) -> None:
    pages = {page.relative_to(ROOT / "docs").with_suffix("").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    assert len(pages) > 40
    index = site / "index.html"
    linked = {link.partition("#")[0].removesuffix(".html") for link in requests_of(index.read_text()).linked}
    assert sorted(pages - linked - {"index"}) == []
    searched = (site / "searchindex.js").read_text()
    assert sorted(page for page in pages if f'"{page}"' not in searched) == []
    assert (site / "search.html").is_file()


@pytest.mark.thorough
def test_every_page_has_what_keyboards_and_screen_readers_need(site: Path) -> None:
    needed = {
        "a heading of the first level": r"^(?!.*<h1\b)",
        "a level of each heading": r'role="heading"(?! aria-level)',
        "a name of each aside": r"<aside(?![^>]*aria-label)",
        "focus of code that scrolls": r"<pre(?![^>]*tabindex)",
        "focus of tables that scroll": r'<div(?![^>]*tabindex)[^>]*class="table-wrapper',
    }
    missing = [
        f"{page.relative_to(site)}: {what}"
        for page in sorted(site.rglob("*.html"))
        for what, without in needed.items()
        if re.search(without, page.read_text("utf-8"), flags=re.DOTALL)
    ]
    assert missing == []


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://cdn.example/a.js"></script>',
        '<link rel="preconnect" href="//fonts.example">',
        '<img srcset="HTTPS://badges.example/a.svg 2x">',
        "<p style=\"background: url('http://a.example/b.png')\">",
        "<style>@import 'https://fonts.example/css';</style>",
    ],
)
def test_a_foreign_request_is_found(text: str) -> None:
    assert [is_foreign(address) for address in requests_of(text).requested] == [True]


@pytest.mark.parametrize("text", ['<a href="https://a.b">', '<img src="data:image/png;base64,AA">', "<img src=a>"])
def test_a_link_is_no_request(text: str) -> None:
    assert not any(is_foreign(address) for address in requests_of(text).requested)


@pytest.mark.thorough
@pytest.mark.parametrize("page", NOTEBOOKS)
def test_a_notebook_has_the_cells_of_its_page_with_their_outputs(site: Path, page: str) -> None:
    text = (FOLDER / page).read_text("utf-8")
    notebook = json.loads((site / "tutorial" / page).with_suffix(".ipynb").read_text("utf-8"))
    assert (notebook["nbformat"], len({cell["id"] for cell in notebook["cells"]})) == (4, len(notebook["cells"]))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [f"{cell['source']}\n" for cell in cells] == [found["code"] for found in CELL.finditer(text)]
    assert ["".join(one["text"] for one in cell["outputs"]) for cell in cells] == outputs(text)
    assert f'href="{Path(page).stem}.ipynb"' in (site / "tutorial" / page).with_suffix(".html").read_text("utf-8")
