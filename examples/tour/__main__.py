"""`python -m examples.tour` runs the commands of the README and of seven pages, and updates their outputs."""

import tempfile
from pathlib import Path

from examples.demo.service import running_service
from examples.tour import folder
from examples.tour.readme import (
    APPROXIMATION,
    COMPONENTS,
    DECISIONS,
    FIRST_MODEL,
    IMAGES,
    README,
    SIGNALS,
    rewritten,
    steps_of,
    take,
)
from examples.tour.terminal import with_current_output


def main() -> None:
    """Update the pages; raises SystemExit where an output has another shape, so that the text may be wrong too."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        for page in (README, FIRST_MODEL, APPROXIMATION, IMAGES, COMPONENTS, DECISIONS, SIGNALS):
            with running_service(directory / f"{page.stem}.db", log=directory / f"{page.stem}.log") as url:
                text = page.read_text()
                if page in {DECISIONS, SIGNALS}:  # whose first command trains the model
                    text = with_current_output(text, url)
                text = rewritten(text, steps_of(text), take(steps_of(text), url))
                if page in {APPROXIMATION, IMAGES, COMPONENTS}:
                    text = with_current_output(text, url)
                page.write_text(text)
        with running_service(directory / "folder.db", log=directory / "folder.log") as url:
            (directory / "empty").mkdir()
            folder.update_page(url, directory / "empty")


if __name__ == "__main__":
    main()
