"""Sphinx builds docs/ as a site that requests nothing from another host: `make docs`."""

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


def setup(app: Sphinx) -> None:
    """Connect what is done to each page after it is written."""
    app.connect("build-finished", _make_accessible)


def _make_accessible(app: Sphinx, failed: Exception | None) -> None:
    """Replace the markup in ACCESSIBLE on every page."""
    for page in Path(app.outdir).rglob("*.html") if failed is None else ():
        html = page.read_text("utf-8")
        for written, accessible in ACCESSIBLE:
            html = html.replace(written, accessible)
        page.write_text(html, "utf-8")
