"""Sphinx builds docs/ as a site that requests nothing from another host: `make docs`."""

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


def setup(app: Sphinx) -> None:
    """Connect what is done to each page before it is parsed."""
    app.connect("source-read", _link_to_benchmarks)


def _link_to_benchmarks(_app: Sphinx, _page: str, source: list[str]) -> None:
    """Point links to the README of the benchmarks, which is outside of docs/, to the page that includes it."""
    for outside in ("](../../benchmarks/README.md", "](../benchmarks/README.md"):
        source[0] = source[0].replace(outside, "](/explanation/benchmarks.md")
