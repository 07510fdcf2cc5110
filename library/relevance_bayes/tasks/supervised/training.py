"""Training of a supervised task: the file of its rows, and the version of the result."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from relevance_bayes import __version__
from relevance_bayes.core.basis import Group, KernelBasis, KernelFunctions
from relevance_bayes.core.folds import drawn_rows
from relevance_bayes.core.kernels import Kernel
from relevance_bayes.core.kernels.hyperparameters import FixedWidth, InputMap
from relevance_bayes.core.likelihoods import ClassLikelihood, LogGaussian, TargetLikelihood
from relevance_bayes.core.likelihoods.bernoulli import temperature_of
from relevance_bayes.core.models.classes import PerClass
from relevance_bayes.core.models.hurdle import HurdleModel
from relevance_bayes.core.models.local.model import LocalModel
from relevance_bayes.core.models.model import Model, Prior, Spec
from relevance_bayes.core.models.pool import LearnedModel, Pool, likelihood_of, n_functions, representative
from relevance_bayes.core.selection import DerivedColumns, LocalComparison, PoolMember, Selection, Step, Trained
from relevance_bayes.core.types import Indices
from relevance_bayes.records.functions import RelevanceVector
from relevance_bayes.records.jobs import Progress
from relevance_bayes.records.reports import (
    CalendarInputs,
    DerivedInput,
    InputCells,
    InputWidth,
    LocalReport,
    LogarithmicInputs,
    Score,
    TextInputs,
)
from relevance_bayes.records.values import IgnoredColumn, Text
from relevance_bayes.tables.columns import MAX_CATEGORIES_LISTED, Block, IdentifiedTable
from relevance_bayes.tables.encoding import (
    EncodedNumber,
    EncodedTarget,
    Encoding,
    InputEncoding,
    encode_inputs,
    encode_target,
    in_columns,
    in_order_of,
    in_target_units,
    raw_cells,
    user_evidence,
    user_log_evidence,
    user_noise_sd,
    user_scores,
)
from relevance_bayes.tasks.listing import (
    BlockHolding,
    FunctionLocation,
    Learned,
    baseline_of,
    expected,
    listed,
    monitored_of,
    named_widths,
    places,
    raw_rows,
)
from relevance_bayes.tasks.planning import has_effects
from relevance_bayes.tasks.prediction import ROWS_OF_AVERAGE
from relevance_bayes.tasks.rows import Read
from relevance_bayes.tasks.supervised.cost import bounds_of, fitted_spec, folds_of
from relevance_bayes.tasks.supervised.diagnostics import diagnostics_of, outliers, warnings
from relevance_bayes.tasks.supervised.fit import SupervisedFit
from relevance_bayes.tasks.supervised.materialise import Materialised, class_rows, materialise
from relevance_bayes.tasks.supervised.prediction import SupervisedModel
from relevance_bayes.tasks.supervised.report import (
    Alternative,
    Member,
    SupervisedPredictor,
    SupervisedReport,
    derived_members,
)
from relevance_bayes.tasks.supervised.request import GroupSplit, OrderSplit, RandomSplit, Split, SupervisedPlan

NewSupervisedVersion: TypeAlias = Learned[SupervisedReport, SupervisedPredictor]


@dataclass(frozen=True)
class SupervisedTraining:
    """A plan, and the file of its rows."""

    plan: SupervisedPlan
    dataset: IdentifiedTable
    made: Materialised

    @classmethod
    def prepare(
        cls, plan: SupervisedPlan, dataset: IdentifiedTable, read: Read, directory: Path, *, max_cells: int
    ) -> "SupervisedTraining":
        """Write the rows into `directory`; raises TrainingFailedError."""
        return cls(plan, dataset, materialise(plan, read, directory, max_cells=max_cells))

    @property
    def fit(self) -> SupervisedFit:
        """Return the order to the child process."""
        plan, made = self.plan, self.made
        target, encoded = made.encoding.target, {one.name for one in made.encoding.inputs}
        names = [column.name for column in plan.inputs if column.name in encoded]

        def fitted(spec: Spec) -> Spec:
            return in_target_units(fitted_spec(spec, plan.effort, made.training), target)

        return SupervisedFit(
            made.path,
            made.training,
            made.held_out,
            made.inputs,
            Selection(
                fitted(in_columns(plan.spec, made.encoding, names)),
                compared_models=tuple(map(fitted, plan.compared_models)),
                pool=tuple(map(fitted, plan.pool)),
                alternatives=tuple(map(fitted, plan.alternatives)),
                local=None if plan.local is None else plan.local.choice,
                folds=folds_of(plan),
                bounds=bounds_of(plan),
                max_score_loss=plan.max_score_loss,
            ),
            _folding(plan.split),
            derived=made.encoding.derived,
            replaced=made.replaced,
            texts=tuple(at for start, one in made.encoding.layout.effects for at in range(start, start + one.width)),
        )

    def progress(self, step: Step) -> Progress:
        """Return the progress of a step in the user's units."""
        return progress(step, self.made)

    def version(self, result: object, *, seconds: float, holding: BlockHolding) -> NewSupervisedVersion:
        """Return the version to record."""
        return new_version(
            self.plan, self.dataset, expected(result, Trained), made=self.made, seconds=seconds, holding=holding
        )


def _folding(split: Split) -> Literal["random", "groups", "order"]:
    match split:
        case RandomSplit():
            return "random"
        case GroupSplit():
            return "groups"
        case OrderSplit():
            return "order"


NO_EFFECT = (
    f"it has more than {MAX_CATEGORIES_LISTED} distinct texts, whose effects on the target do not predict better"
)
FEW_ROWS = f"it has more than {MAX_CATEGORIES_LISTED} distinct texts, with few rows of each"
"""Why a column of texts is no input of a version."""

MOVED = 1e-9
"""The least distance of an optimised centre from its row, relative to the number or its unit, to count as moved."""

MAX_KEPT_CELLS = 32_768
"""The most values of the ROWS_OF_AVERAGE training rows that a version keeps: fewer where they have more, ..."""

MIN_KEPT_ROWS = 16
"""... but at least so many."""


def vectors(
    plan: SupervisedPlan, dataset: IdentifiedTable, model: LearnedModel, made: Materialised, holding: BlockHolding
) -> Iterator[RelevanceVector]:
    """Yield the functions that a version keeps, in the user's units."""
    rows = made.rows()

    def locate(functions: KernelFunctions, columns: Indices) -> Iterator[FunctionLocation]:
        stood = rows[functions.rows]
        # A centre that was only warped and unwarped differs by rounding.
        stays = np.isclose(functions.centres, stood[:, columns], rtol=MOVED, atol=MOVED)
        moved = ~np.logical_and.reduce(stays, axis=1)
        for number, has_moved in zip(stood[:, -1].tolist(), moved.tolist(), strict=True):
            yield FunctionLocation(functions.kernel.type, row=int(number), moved=has_moved)

    found = list(places(model, made.encoding, locate))
    names = [column.name for column in plan.inputs]
    integral = [column.name for column in dataset.columns if column.integral]
    cells = raw_rows([place.row for place in found if place.row is not None], names, integral, holding)
    seen = [place if place.row is None else replace(place, cells=cells[place.row]) for place in found]
    yield from listed(model, made.encoding.target.classes, seen)


def progress(step: Step, made: Materialised) -> Progress:
    """Return the progress of a step in the user's units."""
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
    plan: SupervisedPlan,
    dataset: IdentifiedTable,
    trained: Trained,
    *,
    made: Materialised,
    seconds: float,
    holding: BlockHolding,
) -> NewSupervisedVersion:
    """Return the version to record of a successful fit that took `seconds`."""
    calendar, logarithms = _calendar(trained, made.encoding), _logarithms(trained, made)
    texts = None if trained.texts is None else _texts(trained.texts, made)
    made = made.learned_from(trained)
    learned, encoding = trained.learned, _settled(made.encoding, trained)
    if len(encoding.inputs) < len(plan.inputs):
        plan = _of_inputs(plan, encoding, compared=() if texts is None else texts.columns)
    target, inputs = encoding.target, tuple(column.name for column in plan.inputs)
    units = _Units.of(plan, made.encoding, inputs)
    model, likelihood = representative(learned), likelihood_of(learned)
    report = SupervisedReport(
        task=plan.task,
        plan=replace(plan, spec=units.spec(_recorded(trained.spec, plan.spec))),
        members=_members(trained, encoding, inputs),
        score=_score(trained, target),
        integrated_evidence=_integrated_evidence(trained, target, model.rows),
        alternatives=tuple(_alternatives(trained, target, units, model.rows)),
        outliers=outliers(learned, made),
        warnings=warnings(trained, made),
        score_loss=trained.score_loss,
        temperature=temperature_of(likelihood.temperature) if isinstance(likelihood, ClassLikelihood) else None,
        unreduced_functions=trained.unreduced,
        local=None if trained.local is None else local_report(trained.local, learned, target),
        calendar=calendar,
        logarithms=logarithms,
        texts=texts,
        class_rows=class_rows(made),
        standardised=plan.standardise,
        functions=n_functions(learned),
        candidates=model.candidates,
        rows=made.training,
        rows_dropped=made.dropped,
        rows_held_out=made.held_out,
        termination=str(model.termination),
        metrics={
            name: user_scores(target, scores)
            for name, scores in (
                ("holdout", trained.scores),
                ("validation", trained.validation),
                ("leave_one_out", trained.leave_one_out),
            )
            if scores
        },
        dataset_id=dataset.id,
        dataset_digest=dataset.digest,
        seconds=seconds,
        software_version=__version__,
    )
    if plan.keep_rows and made.sample:
        report = replace(report, input_rows=kept_rows(made.sample, encoding, seed=plan.spec.seed))
    predictor = SupervisedPredictor(encoding, learned)
    monitored = monitored_of(made.sample, SupervisedModel.of(predictor, report))
    baseline = baseline_of(made.sample, plan.inputs, plan.target, monitored, target.classes)
    diagnostics = diagnostics_of(trained, made, encoding, inputs, None if monitored is None else monitored[1])
    listed = tuple(vectors(plan, dataset, learned, made, holding))
    return Learned(replace(report, baseline=baseline, diagnostics=diagnostics), listed, predictor)


def kept_rows(sample: Block, encoding: Encoding, *, seed: int) -> tuple[InputCells, ...]:
    """Return the inputs of the rows that a version keeps, of a sample of training rows.

    One row of each of as many equal parts, by the target, is drawn by content: a mixture over all of them has quantiles
    close to those of the target itself.
    """
    inputs, _ = encode_inputs(encoding, sample)
    size = max(MIN_KEPT_ROWS, min(ROWS_OF_AVERAGE, MAX_KEPT_CELLS // max(1, len(encoding.inputs))))
    t = encode_target(encoding.target, sample)
    drawn = drawn_rows(np.column_stack([inputs, t]), len(t), seed)
    parts = np.array_split(np.argsort(t[drawn], kind="stable"), min(size, len(t)))
    rows = drawn[sorted(int(part.min()) for part in parts)]
    names = [one.name for one in encoding.inputs]
    cells = [raw_cells(sample, row, names) for row in rows.tolist()]
    return tuple(InputCells(name=name, cells=tuple(one[name] for one in cells)) for name in names)


def _calendar(trained: Trained, planned: Encoding) -> CalendarInputs | None:
    """Return the inputs derived from timestamps, and whether they were selected; None without any."""
    if trained.derived is None:
        return None
    numbers = (column for column in planned.inputs if isinstance(column, EncodedNumber))
    derived = tuple(DerivedInput(column.name, column.periods) for column in numbers if column.periods)
    return CalendarInputs(derived, trained.derived.kept, trained.derived.gain)


def _logarithms(trained: Trained, made: Materialised) -> LogarithmicInputs | None:
    """Return the inputs with heavy tails, and whether their logarithms were selected; None without any."""
    if trained.logarithms is None:
        return None
    columns = tuple(one.name for one in made.logarithms)
    return LogarithmicInputs(columns, trained.logarithms.kept, trained.logarithms.gain)


def _texts(found: DerivedColumns, made: Materialised) -> TextInputs:
    """Return the texts that were compared by their effects, and whether they were selected."""
    return TextInputs(tuple(one.name for _, one in made.encoding.layout.effects), found.kept, found.gain)


def _of_inputs(plan: SupervisedPlan, encoding: InputEncoding, *, compared: Collection[str]) -> SupervisedPlan:
    """Return a plan whose inputs are those of the encoding; the others are left out, some `compared` by folds."""
    names = {one.name for one in encoding.inputs}
    others = [one.name for one in plan.inputs if one.name not in names]
    ignored = tuple(IgnoredColumn(name, NO_EFFECT if name in compared else FEW_ROWS) for name in others)
    inputs = tuple(one for one in plan.inputs if one.name in names)
    text: Text = plan.text if any(map(has_effects, inputs)) else "leave_out"
    return replace(plan, inputs=inputs, ignored=(*plan.ignored, *ignored), text=text)


@dataclass(frozen=True)
class _Units:
    """Likelihoods and priors as requested, by their form in the units of t; `inputs` are the user's."""

    likelihoods: Mapping[TargetLikelihood, TargetLikelihood]
    priors: Mapping[Prior, Prior]
    encoding: Encoding
    inputs: tuple[str, ...]

    @classmethod
    def of(cls, plan: SupervisedPlan, encoding: Encoding, inputs: tuple[str, ...]) -> "_Units":
        requested = (plan.spec, *plan.compared_models, *plan.pool)
        run = [in_target_units(spec, encoding.target) for spec in requested]
        return cls(
            {there.likelihood: here.likelihood for there, here in zip(run, requested, strict=True)},
            {there.prior: here.prior for there, here in zip(run, requested, strict=True)},
            encoding,
            inputs,
        )

    def likelihood(self, likelihood: TargetLikelihood) -> TargetLikelihood:
        """Return a likelihood with its known noise in the user's units."""
        return self.likelihoods.get(likelihood, likelihood)

    def prior(self, prior: Prior) -> Prior:
        """Return a prior with the rates of its hyperpriors in the user's units."""
        return self.priors.get(prior, prior)

    def spec(self, spec: Spec) -> Spec:
        """Return a spec with both in the user's units, and widths in the order of the user's inputs."""
        spec = in_order_of(self.inputs, spec, self.encoding)
        return replace(spec, likelihood=self.likelihood(spec.likelihood), prior=self.prior(spec.prior))


def _members(trained: Trained, encoding: Encoding, inputs: Sequence[str]) -> tuple[Member, ...]:
    """Return the processes of a pool, the models of classes or of a hurdle, or the only model."""
    derived = derived_members(trained.learned, encoding, inputs)
    match trained.learned:
        case LocalModel():
            return derived
        case Pool() | Model() if trained.members:
            pairs = zip(trained.members, derived, strict=False)
            return tuple(_pooled(one, member, trained, encoding, inputs) for one, member in pairs)
        case PerClass() | HurdleModel():
            specs = trained.class_specs
        case _:
            specs = (trained.spec,)
    pairs_of_specs = zip(derived, specs, strict=True)
    return tuple(_requested(member, spec, encoding, inputs) for member, spec in pairs_of_specs)


def _pooled(one: PoolMember, member: Member, trained: Trained, encoding: Encoding, inputs: Sequence[str]) -> Member:
    """Return a process of a pool, which was reduced, with its own score over the folds."""
    scores = (other.score for other in trained.compared if other.spec == one.spec)
    score = next((score for score in scores if score is not None), None)
    return replace(
        _requested(member, one.spec, encoding, inputs),
        weight=one.weight,
        evidence_unreduced=user_evidence(encoding.target, one.evidence, representative(trained.learned).rows),
        score=None if score is None else user_log_evidence(encoding.target, score, 1),
    )


def _requested(member: Member, spec: Spec, encoding: Encoding, inputs: Sequence[str]) -> Member:
    """Return a member with the kernel of its request, and the requested widths where no function was kept."""
    found = member.hyperparameters
    widths = found.widths or _requested_widths(spec, encoding, inputs)
    return replace(member, kernel=_kernel_of(spec), hyperparameters=replace(found, widths=widths))


def _kernel_of(spec: Spec) -> Kernel | None:
    """Return the only kernel, None without one or with several."""
    kernels = [basis.kernel for basis in spec.basis if isinstance(basis, KernelBasis)]
    return kernels[0] if len(kernels) == 1 else None


def _score(trained: Trained, target: EncodedTarget) -> Score:
    """Return the score in nats of the target in the user's units."""
    found = trained.score
    return found if found.value is None else replace(found, value=user_log_evidence(target, found.value, 1))


def _integrated_evidence(trained: Trained, target: EncodedTarget, rows: int) -> float | None:
    """Return the integrated evidence of the selected fit, where fits were compared by it."""
    if not trained.ranked_models:
        return None
    return user_log_evidence(target, trained.ranked_models[0].score, rows)


def _alternatives(trained: Trained, target: EncodedTarget, units: _Units, rows: int) -> Iterator[Alternative]:
    """Yield the alternatives that were not selected: by evidence, in nats of all rows, or by folds, in nats a row."""
    for outscored in trained.ranked_models[1:]:
        score = user_log_evidence(target, outscored.score, rows)
        spec = units.spec(outscored.spec)
        yield Alternative(spec.basis[0], spec.prior, spec.likelihood, outscored.functions, "integrated_evidence", score)
    taken = [trained.spec, *(member.spec for member in trained.members)]
    for one in trained.compared:
        if one.spec not in taken or one.reason is not None:
            score_of_row = None if one.score is None else user_log_evidence(target, one.score, 1)
            spec = units.spec(one.spec)
            yield Alternative(
                spec.basis[0], spec.prior, spec.likelihood, None, "fold_log_density", score_of_row, one.reason
            )


def _settled(encoding: Encoding, trained: Trained) -> Encoding:
    """Return the encoding of the chosen likelihood: whether the latent is the target's logarithm."""
    logarithmic = isinstance(likelihood_of(trained.learned), LogGaussian)
    return replace(encoding, target=replace(encoding.target, logarithmic=logarithmic))


def _recorded(spec: Spec, planned: Spec) -> Spec:
    """Return the selected fit, with groups that index the inputs of the plan and not the encoded columns."""
    if len(spec.basis) != len(planned.basis):
        return spec
    pairs = zip(spec.basis, planned.basis, strict=True)
    return replace(spec, basis=tuple(other if isinstance(other, Group) else basis for basis, other in pairs))


def _requested_widths(spec: Spec, encoding: Encoding, inputs: Sequence[str]) -> tuple[InputWidth, ...]:
    return tuple(
        width
        for basis in spec.basis
        if isinstance(basis, KernelBasis) and isinstance(basis.width, FixedWidth)
        for width in named_widths(InputMap(np.array(basis.width.each)), encoding, inputs)
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
        candidates=tuple(replace(one, score=score(one.score)) for one in found.candidates),
    )
