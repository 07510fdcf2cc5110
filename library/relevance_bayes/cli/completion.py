"""Parsers and completion of names of the core's unions, which are imported where an option is given."""

from typing import get_args

import typer


def kernel(name: str) -> str:
    """The name of a kernel; raises typer.BadParameter."""
    return _one_of(name, kernels(""))


def covariance(name: str) -> str:
    """The name of a kernel that is a covariance; raises typer.BadParameter."""
    return _one_of(name, covariances(""))


def likelihood(name: str) -> str:
    """The name of a target's likelihood; raises typer.BadParameter."""
    return _one_of(name, likelihoods(""))


def kernels(beginning: str) -> list[str]:
    """The kernels whose names begin so."""
    from relevance_bayes.core.kernels import Kernel

    return [member().type for member in get_args(Kernel) if member().type.startswith(beginning)]


def covariances(beginning: str) -> list[str]:
    """The kernels that are covariances, of names that begin so."""
    from relevance_bayes.core.kernels import Covariance

    return [member().type for member in get_args(Covariance) if member().type.startswith(beginning)]


def likelihoods(beginning: str) -> list[str]:
    """The likelihoods of targets, of names that begin so."""
    from relevance_bayes.plans.likelihoods import LIKELIHOODS

    of_targets = [member().type for members in LIKELIHOODS.values() for member in members]
    return [name for name in of_targets if name.startswith(beginning)]


def _one_of(name: str, names: list[str]) -> str:
    if name not in names:
        raise typer.BadParameter(f"{name} is none of {', '.join(names)}")
    return name
