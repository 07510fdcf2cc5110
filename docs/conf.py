"""Sphinx builds docs/ as a site that requests nothing from another host: `make docs`."""

import json
import re
from pathlib import Path

from sphinx.application import Sphinx

project = "Relevance"
project_copyright = "The Relevance authors"
extensions = ["myst_parser"]
root_doc = "index"
myst_heading_anchors = 4
nitpicky = True
highlight_language = "none"
# P'P is a product, not a quotation.
smartquotes = False
# Pages write "..." for members that they leave out, which is no JSON.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = "Relevance"
html_favicon = "_static/icon.svg"
html_static_path = ["_static"]
html_css_files = ["guide.css"]
html_copy_source = False


ACCESSIBLE = (
    ('</noscript>\n\n<div id="search-results">', '</noscript>\n<h1>Search</h1>\n<div id="search-results">'),
    ('role="heading">', 'role="heading" aria-level="2">'),
    ('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="Pages">'),
    ('<aside class="toc-drawer', '<aside aria-label="On this page" class="toc-drawer'),
    ("<pre>", '<pre tabindex="0">'),
    ('<div class="table-wrapper ', '<div tabindex="0" role="group" aria-label="Table" class="table-wrapper '),
)
"""Markup of Sphinx and the theme, and the same with the names and the keyboard focus that WCAG 2.2 asks of it."""


NOTEBOOKS = ("tutorial/dataframe", "tutorial/promoted")
"""The pages that are written as notebooks too."""

CELL = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
"""A cell of a notebook, and its output."""


def setup(app: Sphinx) -> None:
    """Connect what is done after the pages are written."""
    app.connect("build-finished", _make_accessible)
    app.connect("build-finished", _write_notebooks)


def _write_notebooks(app: Sphinx, failed: Exception | None) -> None:
    """Write the pages in NOTEBOOKS as notebooks beside their HTML, with the outputs that they show."""
    for name in NOTEBOOKS if failed is None else ():
        text = (Path(app.srcdir) / f"{name}.md").read_text("utf-8")
        (Path(app.outdir) / f"{name}.ipynb").write_text(json.dumps(_notebook(text), indent=1), "utf-8")


def _notebook(text: str) -> dict[str, object]:
    """Return a page as a notebook of format 4.5."""
    cells: list[dict[str, object]] = []
    texts = CELL.split(text)
    for prose, code, output in zip(texts[::3], [*texts[1::3], None], [*texts[2::3], None], strict=True):
        if prose.strip():
            cells.append({"cell_type": "markdown", "metadata": {}, "source": prose.strip()})
        if code is not None:
            shown = [{"output_type": "stream", "name": "stdout", "text": output}] if output else []
            source = code.rstrip("\n")
            cells.append(
                {"cell_type": "code", "metadata": {}, "execution_count": None, "source": source, "outputs": shown}
            )
    numbered = [{"id": f"cell-{number}", **cell} for number, cell in enumerate(cells, 1)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": numbered}


def _make_accessible(app: Sphinx, failed: Exception | None) -> None:
    """Replace the markup in ACCESSIBLE on every page."""
    for page in Path(app.outdir).rglob("*.html") if failed is None else ():
        html = page.read_text("utf-8")
        for written, accessible in ACCESSIBLE:
            html = html.replace(written, accessible)
        page.write_text(html, "utf-8")
