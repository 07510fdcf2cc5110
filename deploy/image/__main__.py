"""`python -m deploy.image sizes IMAGE` and `python -m deploy.image compare IMAGE IMAGE`."""

import argparse
import sys

from deploy.image.contents import differences, entries, exported
from deploy.image.sizes import PACKAGES, excesses, report, sizes

MAX_SHOWN = 40


def main() -> None:
    """Print the report; end with 1 where a limit is exceeded, or two images differ."""
    parser = argparse.ArgumentParser(prog="python -m deploy.image", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("sizes").add_argument("image")
    commands.add_parser("compare").add_argument("image", nargs=2)
    given = parser.parse_args()
    wrong = _sizes(given.image) if given.command == "sizes" else _compare(*given.image)
    if wrong:
        sys.exit("\n".join(wrong[:MAX_SHOWN]))


def _sizes(image: str) -> list[str]:
    with exported(image) as archive:
        parts, packages = sizes(archive)
    print(*report(parts, packages), sep="\n")
    return excesses(parts[PACKAGES])


def _compare(one: str, other: str) -> list[str]:
    found = []
    for image in (one, other):
        with exported(image) as archive:
            found.append(entries(archive))
    print(f"{len(found[0])} and {len(found[1])} files, folders and links")
    return differences(*found)


if __name__ == "__main__":
    main()
