"""`make deployment`: docs/how-to/deployment.md, command by command, on real containers with everything on.

They are started, used through TLS, replaced under load, scaled, observed, ended one by one, backed up, and restored
into an empty volume. Prints what it measured; ends with 1 where something is wrong.
"""

import sys

from tests.deploy.operator.checks import alone, certified, check, observed, scaled, started, without_failures
from tests.deploy.operator.deployment import deployed
from tests.deploy.operator.page import section
from tests.deploy.operator.recovery import recovered, restored
from tests.faults.chaos.containers import engine_is_there

PAGE, IMAGE = "With containers", "The image"


def main() -> None:
    """Follow the page."""
    if not engine_is_there():
        sys.exit("There is no container engine here: this needs `docker`, running, and `docker compose`.")
    page, image = section(PAGE), section(IMAGE)
    with deployed() as deployment:
        started(deployment, page)
        deployment.run("echo RELEVANCE_WEBHOOK_ALLOWED_HOSTS=collector >> .env")
        without_failures(deployment, page, "Settings")
        without_failures(deployment, page, "Metrics and traces")
        observed(deployment)
        scaled(deployment, page)
        without_failures(deployment, page, "Restart without a failed request")
        certified(deployment, page)
        recovered(deployment)
        restored(deployment, page)
        deployment.run("docker compose down --volumes --timeout 1 2>&1")
        alone(deployment, image)
    left = page.left | image.left
    check(not left, f"commands that were not run: {left}")
    print("Everything was as the page has it.")


if __name__ == "__main__":
    main()
