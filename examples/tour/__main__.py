"""`python -m examples.tour` takes the README's tour on a new database, and writes the answers into the README."""

import tempfile
from pathlib import Path

from examples.demo.service import running_service
from examples.tour.readme import README, differences, renewed, take, tour


def main() -> None:
    """Raises SystemExit where an answer has another shape: what the README says about it may then be wrong too."""
    text = README.read_text()
    steps = tour(text)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        with running_service(directory / "tour.db", log=directory / "service.log") as url:
            taken = take(steps, url)
    for step, answer in zip(steps, taken.answers, strict=True):
        if different := differences(step.answer, answer):
            raise SystemExit("\n".join([step.command, *different]))
        text = text.replace(step.shown, renewed(step.shown, answer))
    for old, new in taken.ids.items():
        text = text.replace(old, new)
    README.write_text(text)


if __name__ == "__main__":
    main()
