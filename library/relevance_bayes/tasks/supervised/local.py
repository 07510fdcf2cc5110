"""Nearest-neighbour processes in the report of a version, in the user's units."""

from collections.abc import Sequence

from relevance_bayes.core.local_model import LocalModel
from relevance_bayes.core.pool import LearnedModel, n_functions
from relevance_bayes.core.selection import LocalComparison
from relevance_bayes.documents.functions import map_warps, named_widths
from relevance_bayes.documents.models import Hyperparameters, Member
from relevance_bayes.records.reports import LocalCandidate, LocalReport
from relevance_bayes.tables.encoding import (
    EncodedTarget,
    Encoding,
    user_log_evidence,
    user_noise_sd,
    user_process_sd,
)


def local_member(model: LocalModel, encoding: Encoding, inputs: Sequence[str]) -> Member:
    """Return the member of the process, by `inputs` in their order; its functions are those of the trend."""
    target, process = encoding.target, model.process
    h = process.hyperparameters
    return Member(
        kernel=process.kernel,
        weight=1.0,
        functions=n_functions(model),
        hyperparameters=Hyperparameters(
            noise_sd=user_noise_sd(target, process.noise_sd),
            widths=tuple(named_widths(h.input_map, encoding, inputs)),
            warps=map_warps(h.input_map, encoding, inputs),
            signal_sd=user_process_sd(target, h.signal_variance),
        ),
        evidence=None,
    )


def local_report(found: LocalComparison, learned: LearnedModel, target: EncodedTarget) -> LocalReport:
    """Return the report of the comparison and, where a process was selected, of what the version stores."""
    process = learned.process if isinstance(learned, LocalModel) else None

    def score(value: float | None) -> float | None:
        return None if value is None else user_log_evidence(target, value, 1)

    return LocalReport(
        on=found.taken,
        neighbours=None if process is None else process.neighbours,
        rows=0 if process is None else len(process.rows.t),
        bytes=0 if process is None else process.rows.X.nbytes + process.rows.t.nbytes,
        rows_apart=found.rows,
        sparse_score=score(found.sparse),
        linear_score=score(found.linear),
        noise_score=score(found.noise),
        candidates=tuple(
            LocalCandidate(
                one.on,
                None if one.kernel is None else one.kernel.type,
                score(one.score),
                one.variance_factor,
                one.reason,
            )
            for one in found.candidates
        ),
    )
