"""From what a child learned to the version that is recorded, in the user's units and with the user's rows."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from app import __version__
from app.domain.datasets import Dataset
from app.domain.encoding import raw_cells, user_log_evidence, user_noise_sd, user_scores
from app.domain.jobs import Progress, TrainingJob
from app.domain.models import NewVersion, Predictor, RelevanceVector, VersionReport
from app.domain.tables import Block, Cell, block_rows
from app.sparse_bayes.basis import KernelBasis, KernelFunctions
from app.sparse_bayes.model import Model
from app.sparse_bayes.scales import FixedWidth
from app.sparse_bayes.selection import Step, Trained
from app.worker.materialise import EXTRA_COLUMNS, Materialised

BlockHolding = Callable[[int], tuple[int, Block]]
"""The block in which a dataset row stands, with the number of its first row."""

EMPTY: Block = {}


def progress(step: Step, made: Materialised) -> Progress:
    """A step in the user's units."""
    target, evidence = made.encoding.target, step.log_marginal_likelihood
    return Progress(
        phase=step.phase,
        completed=step.completed,
        total=step.total,
        unit=step.unit,
        log_marginal_likelihood=None if evidence is None else user_log_evidence(target, evidence, made.training),
        functions=step.functions,
        noise_sd=user_noise_sd(target, step.noise_sd),
    )


def new_version(
    job: TrainingJob, dataset: Dataset, trained: Trained, *, made: Materialised, seconds: float, holding: BlockHolding
) -> NewVersion:
    """All that is recorded of a successful fit that took `seconds`."""
    model, target = trained.model, made.encoding.target
    report = VersionReport(
        task=job.plan.task,
        plan=replace(job.plan, spec=trained.spec),
        widths=_widths(trained),
        standardised=job.plan.standardise,
        noise_sd=user_noise_sd(target, model.noise_sd),
        log_marginal_likelihood=user_log_evidence(target, model.log_marginal_likelihood, model.rows),
        functions=len(model.mean),
        candidates=model.candidates,
        rows=made.training,
        rows_dropped=made.dropped,
        rows_held_out=made.held_out,
        termination=str(model.termination),
        metrics={"holdout": user_scores(target, trained.scores)} if trained.scores else {},
        dataset_id=dataset.id,
        dataset_digest=dataset.digest,
        seconds=seconds,
        software_version=__version__,
    )
    return NewVersion(report, tuple(_vectors(job, dataset, model, made, holding)), Predictor(made.encoding, model))


def _widths(trained: Trained) -> tuple[float, ...]:
    """Those of the maps of the functions kept; those asked for where none was."""
    kept = [functions.input_map for functions in trained.model.functions if isinstance(functions, KernelFunctions)]
    if kept:
        return tuple(float(width) for input_map in kept for width in input_map.widths)
    return tuple(
        basis.width.value
        for basis in trained.spec.basis
        if isinstance(basis, KernelBasis) and isinstance(basis.width, FixedWidth)
    )


def _vectors(
    job: TrainingJob, dataset: Dataset, model: Model, made: Materialised, holding: BlockHolding
) -> Iterator[RelevanceVector]:
    described: list[tuple[str, int | None]] = []
    numbers = np.memmap(made.path, "<f8", "r", shape=(made.training + made.held_out, made.inputs + EXTRA_COLUMNS))[
        :, -1
    ]
    for functions in model.functions:
        if isinstance(functions, KernelFunctions):
            described += [(functions.kernel.type, int(numbers[row])) for row in functions.rows]
        else:
            described += [("bias", None)] * functions.size
    names = [column.name for column in job.plan.inputs]
    integral = [column.name for column in dataset.columns if column.integral]
    cells = _raw_rows([row for _, row in described if row is not None], names, integral, holding)
    sd = np.sqrt(model.covariance.diagonal())
    for number, (kind, row) in enumerate(described):
        yield RelevanceVector(
            number=number + 1,
            kind=kind,
            row=row,
            inputs=None if row is None else cells[row],
            weight_mean=float(model.mean[number]),
            weight_sd=float(sd[number]),
            alpha=float(model.alpha[number]),
            gamma=float(model.gamma[number]),
        )


def _raw_rows(
    rows: Sequence[int], names: Sequence[str], integral: Sequence[str], holding: BlockHolding
) -> dict[int, dict[str, Cell]]:
    """The raw cells of dataset rows, each block that has some read once."""
    found: dict[int, dict[str, Cell]] = {}
    first, block = 0, EMPTY
    for row in sorted(set(rows)):
        if row >= first + block_rows(block):
            first, block = holding(row)
        found[row] = raw_cells(block, row - first, names, integral=integral)
    return found
