"""`python -m examples.tour` takes the README's tour and the examples of six pages, and writes their answers anew."""

import tempfile
from pathlib import Path

from examples.demo.service import running_service
from examples.tour import decisions, folder, known, signals
from examples.tour.readme import README, rewritten, take, tour


def main() -> None:
    """Raises SystemExit where an answer has another shape: what the text says about it may then be wrong too."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        with running_service(directory / "tour.db", log=directory / "service.log") as url:
            text = README.read_text()
            README.write_text(rewritten(text, tour(text), take(tour(text), url)))
        with running_service(directory / "decisions.db", log=directory / "decisions.log") as url:
            decisions.renew(url)
        with running_service(directory / "known.db", log=directory / "known.log") as url:
            for page in known.PAGES:
                known.renew(page, url)
        with running_service(directory / "signals.db", log=directory / "signals.log") as url:
            signals.renew(url)
        with running_service(directory / "folder.db", log=directory / "folder.log") as url:
            (directory / "empty").mkdir()
            folder.renew(url, directory / "empty")


if __name__ == "__main__":
    main()
