"""The report of a training on standard output."""

from rich.console import Console

from relevance_bayes.cli.versions import fit_name, functions_text, member_text, seen_widths
from relevance_bayes.client import Client, ClientError, Problem
from relevance_bayes.client.responses import SupervisedVersion


def trained_version(client: Client, job_id: str) -> SupervisedVersion:
    """Return the version that a job created; raises ClientError if it created none."""
    job = client.trainings.get(job_id)
    if job.version is None:
        raise ClientError(Problem.of_job(job))
    return client.version(job.version.model, job.version.version)


def print_version(console: Console, version: SupervisedVersion, *, truth: str = "") -> None:
    """Print prior, compared models, functions, evidence, noise, widths, seconds."""
    facts = [
        ("model", f"{version.model}, version {version.version}"),
        ("prior", str(version.prior["type"]).replace("_", " ")),
        *(
            ("compared with", f"{fit_name(other)}: {version.integrated_evidence - other.score:.1f} nats less")
            for other in version.alternatives
            if version.integrated_evidence is not None and other.score is not None
        ),
        ("functions", functions_text(version)),
    ]
    if version.evidence is not None:
        facts.append(("log evidence", f"{version.evidence.value:.1f} nats"))
    found = version.hyperparameters
    if found.noise_sd is not None:
        facts.append(("noise sd", f"{found.noise_sd:.4f} {truth}"))
    if len(version.members) > 1:
        facts += [(f"member {place}", member_text(one, version)) for place, one in enumerate(version.members, 1)]
    else:
        facts.append(("width", seen_widths(version)))
    facts.append(("time", f"{version.seconds:.1f} s"))
    for name, value in facts:
        console.print(f"  {name:15} {value}", highlight=False)
    console.print()
