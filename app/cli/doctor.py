"""`relevance doctor`: the checks of a deployment."""

from collections.abc import Iterator

import typer

from app.cli.config import unknown_variables
from app.cli.database import AsJson
from app.maintenance.doctor import examine
from app.maintenance.findings import Finding, error, warning
from app.settings import SettingsError, read_settings
from relevance_bayes.cli.console import echo
from relevance_bayes.cli.rendering import print_json


def doctor(*, as_json: AsJson = False) -> None:
    """Check the settings, the database, the workers and the disks; each fault with its remedy.

    Ends with exit code 1 where there is an error.
    """
    findings = []
    for finding in _findings():
        findings.append(finding)
        if not as_json:
            remedy = "" if finding.remedy is None else f". {finding.remedy}"
            echo(f"{finding.level:<8} {finding.check}: {finding.detail}{remedy}")
    if as_json:
        print_json({"findings": findings})
    if any(finding.level == "error" for finding in findings):
        raise typer.Exit(1)


def _findings() -> Iterator[Finding]:
    for variable in unknown_variables():
        yield warning("settings", f"{variable} is set, but no setting has this name", "Correct the name, or unset it.")
    try:
        settings = read_settings()
    except SettingsError as wrong:
        for fault in wrong.faults:
            yield error("settings", fault, "docs/reference/settings.md lists the settings.")
    else:
        yield from examine(settings)
