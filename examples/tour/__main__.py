"""`python -m examples.tour` runs the commands of the README and of seven pages, and writes their answers anew."""

import tempfile
from pathlib import Path

from examples.demo.service import running_service
from examples.tour import decisions, folder, known, signals
from examples.tour.readme import FIRST_MODEL, README, rewritten, steps_of, take


def main() -> None:
    """Raises SystemExit where an answer has another shape: what the text says about it may then be wrong too."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        for page in (README, FIRST_MODEL):
            with running_service(directory / f"{page.stem}.db", log=directory / f"{page.stem}.log") as url:
                text = page.read_text()
                page.write_text(rewritten(text, steps_of(text), take(steps_of(text), url)))
        with running_service(directory / "decisions.db", log=directory / "decisions.log") as url:
            decisions.update_page(url)
        with running_service(directory / "known.db", log=directory / "known.log") as url:
            for page in known.PAGES:
                known.update_page(page, url)
        with running_service(directory / "signals.db", log=directory / "signals.log") as url:
            signals.update_page(url)
        with running_service(directory / "folder.db", log=directory / "folder.log") as url:
            (directory / "empty").mkdir()
            folder.update_page(url, directory / "empty")


if __name__ == "__main__":
    main()
