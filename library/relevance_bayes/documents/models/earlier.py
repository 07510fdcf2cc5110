"""Reports and evidence of format version 1, without `members` and `evidence`, converted to format 2.

JSON to JSON, and frozen: this makes format 2, whatever later formats are. The log marginal likelihood was reduced by
the price of selection, and included the Gamma hyperpriors; format 2 has each separately.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, exp, inf, lgamma, log
from typing import TypeAlias

from relevance_bayes.core.evidence import EvidenceKind, LogEvidence

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Members: TypeAlias = dict[str, Json]

OF_THE_MODEL = ("noise_sd", "degrees_of_freedom", "widths", "warps", "terms", "process_sd", "last_gain", "next_gain")
"""Members of the report that moved to the hyperparameters."""

PRICE_OF_ONE = 1.0
"""The minimum price of a function, in nats."""


@dataclass(frozen=True)
class EarlierModel:
    """A model of format version 1: its `log_marginal_likelihood`, of N rows of t and `functions`.

    `log_alphas` and `alphas` are the sums over the functions, `unit` is that of the latent in the user's: 1 for
    logarithms and classes; `log_units` is N times the log of the target's.
    """

    log_marginal_likelihood: float
    functions: int
    candidates: int
    log_alphas: float
    alphas: float
    noise_sd: float | None
    unit: float
    log_units: float
    last_gain: float | None = None
    next_gain: float | None = None


def earlier_evidence(model: EarlierModel, prior: Mapping[str, Json], likelihood: Mapping[str, Json]) -> LogEvidence:
    """Return the evidence of an earlier model, in the units of t."""
    value, kind = model.log_marginal_likelihood, _kind(prior, likelihood)
    if prior.get("type") == "gaussian_process":
        return LogEvidence(value, kind, None)
    price = _paid(model.candidates, model.functions) if prior.get("price") else 0.0
    a, b, c, d = (_number(prior.get(name)) for name in "abcd")
    density = a * model.log_alphas - b * model.alphas
    if model.noise_sd and (c or d):
        density += -2.0 * c * log(model.noise_sd) - d / model.noise_sd / model.noise_sd
    normalisers = model.functions * _log_normaliser(a, b) + _log_normaliser(c, d)
    return LogEvidence(value + price - density, kind, density + normalisers, price)


def _kind(prior: Mapping[str, Json], likelihood: Mapping[str, Json]) -> EvidenceKind:
    if prior.get("type") == "gaussian_process":
        return "exact" if prior.get("rho") == 1.0 else "lower_bound"
    match likelihood.get("type"):
        case "gaussian" | "log_gaussian" | "one_against_rest":
            return "exact"
        case "bernoulli" | "poisson":
            return "laplace"
        case _:
            return "lower_bound"


def _paid(candidates: int, chosen: int) -> float:
    few = min(chosen, max(ceil((candidates - exp(PRICE_OF_ONE)) / (1.0 + exp(PRICE_OF_ONE))), 0))
    choices = lgamma(candidates + 1.0) - lgamma(few + 1.0) - lgamma(candidates - few + 1.0)
    return choices + PRICE_OF_ONE * (chosen - few)


def _log_normaliser(shape: float, rate: float) -> float:
    return shape * log(rate) - lgamma(shape) if shape > 0.0 and rate > 0.0 else 0.0


def upgraded_report(report: Members, models: Sequence[EarlierModel], functions: int) -> Members:
    """Return a report in format 2; `models` are those of the version in their order, with `functions` in total."""
    plan = _object(report.get("plan"))
    spec = _object(plan.get("spec"))
    prior, likelihood = _object(spec.get("prior")), _object(spec.get("likelihood"))
    gone = {*OF_THE_MODEL, "log_marginal_likelihood", "contenders", "compared", "members"}
    compared = [_object(one) for one in _list(report.get("compared"))]
    members = list(_members(report, models, spec, functions, compared))
    kept = {name: value for name, value in report.items() if name not in gone}
    unit = models[0].unit
    if prior.get("type") == "independent" and (_number(prior.get("b")) or _number(prior.get("d"))):
        rates = {name: _number(prior.get(name)) * unit * unit for name in "bd"}
        kept["plan"] = {**plan, "spec": {**spec, "prior": {**prior, **rates}}}
    for member, model in zip(members, models, strict=False):
        found = earlier_evidence(model, prior, likelihood)
        member["evidence"] = {**vars(found), "value": found.value - model.log_units}
    contenders = [_object(one) for one in _list(report.get("contenders"))]
    others: list[Json] = [
        {"basis": None, **one, "kind": "integrated_evidence", "reason": None} for one in contenders[1:]
    ]
    others += [{**one, "functions": None, "kind": "fold_log_density"} for one in compared]
    evidence = contenders[0].get("score") if contenders else None
    return {**kept, "members": list[Json](members), "integrated_evidence": evidence, "alternatives": others}


def _members(
    report: Members, models: Sequence[EarlierModel], spec: Members, functions: int, compared: list[Members]
) -> Iterator[Members]:
    """Yield each member without its evidence; removes the members from `compared`."""
    before = [_object(one) for one in _list(report.get("members"))][: len(models)]
    if not before:
        kernels = [
            _object(one).get("kernel") for one in _list(spec.get("basis")) if _object(one).get("type") == "kernel"
        ]
        bases = _list(spec.get("basis"))
        own = next((one for one in compared if bases and one.get("basis") == bases[0]), None)
        yield {
            "kernel": kernels[0] if len(kernels) == 1 else None,
            "weight": 1.0,
            "functions": functions,
            "hyperparameters": {name: report.get(name, _nothing(name)) for name in OF_THE_MODEL},
            "evidence_unreduced": None,
            "score": _taken(compared, own),
        }
    for one, model in zip(before, models, strict=False):
        reported = {name: one.get(name, _nothing(name)) for name in OF_THE_MODEL}
        own = next((other for other in compared if _is_of(one, _object(other.get("basis")))), None)
        yield {
            "kernel": one.get("kernel"),
            "weight": one.get("weight"),
            "functions": one.get("functions"),
            "hyperparameters": {**reported, "last_gain": model.last_gain, "next_gain": model.next_gain},
            "evidence_unreduced": None,
            "score": _taken(compared, own),
            "label": one.get("label"),
        }


def _taken(compared: list[Members], own: Members | None) -> Json:
    if own is None:
        return None
    compared.remove(own)
    return own.get("score")


def _is_of(member: Members, basis: Members) -> bool:
    """Return whether a member's kernel, warp and number of widths are those of a compared dictionary."""
    widths = [_object(one) for one in _list(member.get("widths"))]
    shared = len(widths) == 1 and widths[0].get("input") is None
    one_width = _object(basis.get("width")).get("type") == "evidence"
    bent = basis.get("warp") == "evidence"
    return (basis.get("kernel"), one_width, bent) == (member.get("kernel"), shared, bool(member.get("warps")))


def _nothing(name: str) -> Json:
    return [] if name in {"widths", "warps", "terms"} else None


def _object(value: Json) -> Members:
    return value if isinstance(value, dict) else {}


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _number(value: Json) -> float:
    return float(value) if isinstance(value, int | float) and -inf < value < inf else 0.0
