"""Visits of the page in Chromium: each records what must not happen."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Error, Page, Request

TIMEOUT = 30_000.0
"""Milliseconds after which something that should be seen is taken to be missing; the machine may be busy."""

Theme = Literal["light", "dark"]

AXE = Path(__file__).with_name("node_modules") / "axe-core" / "axe.min.js"
VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
"""
EXPECTED = re.compile(r"Failed to load resource: the server responded with a status of (400|401|404|409|412|422)")
"""The console's line for a problem, which the page shows in words."""

SCROLL = (
    "(() => { const place = document.querySelector('.unseen'); place?.scrollIntoView(); return place !== null; })()"
)
"""Scrolls to the first place whose content is not made yet; false where there is none."""


@dataclass
class Visit:
    """A page of the service in a context of its own, and all that went wrong in it."""

    page: Page
    context: BrowserContext
    url: str
    wrong: list[str] = field(default_factory=list)
    may_fail: bool = False
    """True if requests may find no service."""

    def watch(self) -> None:
        """Record messages, errors and dialogs, and requests to other origins."""
        self.page.on("console", self._console)
        self.page.on("pageerror", self._error)
        self.page.on("dialog", self.on_dialog)
        self.page.on("request", self._request)

    def open(self, address: str = "") -> None:
        """Open a view by its address, as a link does, and wait until it is there."""
        self.page.goto(f"{self.url}/#/{address}")
        self.settled()

    def settled(self) -> None:
        """Wait until the view has a heading and nothing is being loaded."""
        self.page.locator("main :is(h1, h2, .failure)").first.wait_for()
        self.page.locator(".loading").first.wait_for(state="detached")

    def see_all(self) -> None:
        """Scroll to all that is made only where it is seen, and wait until it is there."""
        while self.page.evaluate(SCROLL):
            self.page.wait_for_timeout(50)
        self.settled()

    def title(self) -> str:
        """The heading of the view."""
        return str(self.page.locator("h1").inner_text())

    def violations(self, *rules: str) -> list[str]:
        """The violations of accessibility that axe finds, by some rules or all, with their elements."""
        options = {"runOnly": [*rules], "resultTypes": ["violations"]} if rules else {"resultTypes": ["violations"]}
        found = self.page.evaluate("async (options) => (await axe.run(options)).violations", options)
        return [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]]

    def focus(self, name: str) -> None:
        """Press Tab until the element of this name has the focus, and check that it shows."""
        for _ in range(60):
            self.page.keyboard.press("Tab")
            found = self.page.evaluate("""(({ ariaLabel, labels, innerText }) =>
                ariaLabel ?? labels?.[0]?.innerText ?? innerText)(document.activeElement)""")
            if found.strip() == name:
                outline = self.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
                assert outline != "none", name
                return
        raise AssertionError(f"no element {name!r} can be reached")

    def overflow(self) -> int:
        """The pixels by which the document is wider than the window."""
        return int(self.page.evaluate("document.scrollingElement.scrollWidth - window.innerWidth"))

    def _console(self, message: ConsoleMessage) -> None:
        is_expected = EXPECTED.match(message.text) or (self.may_fail and "Failed to load resource" in message.text)
        if message.type in {"error", "warning"} and not is_expected:
            self.wrong.append(message.text)

    def _error(self, error: Error) -> None:
        self.wrong.append(f"error: {error}")

    def on_dialog(self, dialog: Dialog) -> None:
        """Accept a question, and record any other dialog."""
        if dialog.type == "confirm":
            dialog.accept()
        else:
            self.wrong.append(f"dialog: {dialog.message}")
            dialog.dismiss()

    def _request(self, request: Request) -> None:
        if not request.url.startswith(f"{self.url}/"):
            self.wrong.append(f"foreign request: {request.url}")


@contextmanager
def visiting(browser: Browser, url: str, *, theme: Theme = "light", width: int = 1100) -> Iterator[Visit]:
    """Yield a visit; an AssertionError where anything went wrong in it."""
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=theme)
    context.set_default_timeout(TIMEOUT)
    context.add_init_script(VIOLATIONS)
    context.add_init_script(path=AXE)
    try:
        visit = Visit(context.new_page(), context, url)
        visit.watch()
        yield visit
        assert visit.wrong == []
    finally:
        context.close()
