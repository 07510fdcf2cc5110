"""Models of documents of format version 1, whose one number combined evidence, hyperpriors and price."""

from collections.abc import Sequence
from dataclasses import replace
from math import log

import numpy as np

from relevance_bayes.core.model import Model
from relevance_bayes.core.pool import LearnedModel, Pool, members_of
from relevance_bayes.documents.models.earlier import EarlierModel, Json, Members, earlier_evidence
from relevance_bayes.tables.encoding import EncodedTarget


def earlier_models(learned: LearnedModel, target: EncodedTarget) -> tuple[EarlierModel, ...]:
    """Return the parts of each model from which its evidence follows."""
    return tuple(
        EarlierModel(
            log_marginal_likelihood=model.evidence.value,
            functions=len(model.mean),
            candidates=model.candidates,
            log_alphas=float(np.log(model.alpha).sum()),
            alphas=float(model.alpha.sum()),
            noise_sd=model.noise_sd,
            unit=target.latent_unit,
            log_units=model.rows * log(target.scale),
            last_gain=model.last_gain,
            next_gain=model.next_gain,
        )
        for model in members_of(learned)
    )


def with_evidence(learned: LearnedModel, earlier: Sequence[EarlierModel], report: Members) -> LearnedModel:
    """Return the model with its evidence separated, by the prior and the likelihood in the plan of the report."""
    plan = report.get("plan")
    spec = plan.get("spec") if isinstance(plan, dict) else None
    prior, likelihood = (spec.get(name) if isinstance(spec, dict) else None for name in ("prior", "likelihood"))
    models = tuple(
        _with_evidence(model, one, prior, likelihood) for model, one in zip(members_of(learned), earlier, strict=True)
    )
    return Pool(models, learned.weights) if isinstance(learned, Pool) else models[0]


def _with_evidence(model: Model, earlier: EarlierModel, prior: Json, likelihood: Json) -> Model:
    if not isinstance(prior, dict) or not isinstance(likelihood, dict):
        return model  # without a report, which validation refuses later
    return replace(model, evidence=earlier_evidence(earlier, prior, likelihood))
