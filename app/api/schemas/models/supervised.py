"""What a training learned of numbers or classes."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field

from app.api.schemas.basis import BasisOut, shown_bases
from app.api.schemas.jobs import FromDomain, IgnoredOut, InputOut
from app.api.schemas.likelihoods import AnyLikelihood, shown
from app.api.schemas.models.imported import ImportedFromOut
from app.api.schemas.models.shared import DatasetNameOut, VersionBaseOut, shared_by_versions
from app.domain.models import Compared, Contender, SupervisedReport, Version
from app.domain.requests import Missing, Split, Task, Validation
from app.domain.tables import ColumnKind, Label
from app.sparse_bayes.kernels import Kernel
from app.sparse_bayes.spec import Algorithm, Prior


class InputWidthOut(FromDomain):
    """The width of the kernels (the papers' r) in the units of one input as they see it."""

    input: str | None = Field(
        description="The input, `colour=red` for one of its categories; null where all inputs share the width."
    )
    width: float = Field(description="The greater it is, the less the input matters; in sds where standardised.")


class InputWarpOut(FromDomain):
    """How the kernels see one input bent: w(x) = (sinh q + sinh a) / (b cosh a), q = b asinh x - a, b = exp(l)."""

    input: str
    skew: float = Field(description="a: above 0, differences count less above the mean than below; 0: straight.")
    tail: float = Field(description="l: below 0, differences count less far from the mean; 0: straight.")


class InputTermOut(FromDomain):
    """An input whose effect adds to that of all others, whatever they are: a term of its own."""

    input: str
    share: float = Field(description="Of the process's variance, from 0 to 1: what is left belongs to all others.")


class HyperparametersOut(BaseModel):
    """What was found: standard deviations in the user's units, widths and warps of the inputs as kernels see them."""

    noise_sd: float | None = Field(
        description="Of the noise, in the target's units; under `log_gaussian` of the target's logarithm: .1 is about "
        "10 %. Where each row has its own, the root mean square over the rows learned from, which stands for the noise "
        "of rows to predict that bring none; where it is a function of the inputs, that over the rows learned from. "
        "Null for classes and counts."
    )
    degrees_of_freedom: float | None = Field(
        description="Of noise with heavy tails (`student_t`), learned or given: near 2, outliers are wild and many; "
        "above 30, noise is as good as Gaussian. Null under other likelihoods."
    )
    widths: Sequence[InputWidthOut]
    warps: Sequence[InputWarpOut] = Field(description="Empty where none were learned.")
    terms: Sequence[InputTermOut] = Field(
        description="The inputs that were found apart from the others (`additive`); empty where none was."
    )
    process_sd: float | None = Field(
        description="Of the Gaussian process: how wide predictions grow far from all data. Of the latent function for "
        "classes and `poisson`, of the target's logarithm under `log_gaussian`. Null under independent weights."
    )
    temperature: float | None = Field(
        description="Of the probabilities of classes, p to the power of 1/temperature and normalised: above 1 they are "
        "less certain than what was learned says. 1 unless it was given, or rows that were not learned from decided "
        "it. Null for numbers, and for versions that are older than this."
    )
    last_gain: float | None = Field(description="The nats that the last function brought that entered.")
    next_gain: float | None = Field(
        description="The nats that the best function left out would have brought: 0 to 6 say that there are enough, "
        "tens say that more would pay (`most`, `least_gain`)."
    )


class OutlierOut(FromDomain):
    """A row learned from that noise with heavy tails accounts for."""

    row: int = Field(description="The row of the dataset, from 0.")
    typicality: float = Field(description="How much it counts beside an ordinary row, for which this is about 1.")


class WarningOut(FromDomain):
    """What a training left out, or could not do as it was planned."""

    kind: Literal["outlying_input", "copies", "not_computable", "jitter"] = Field(
        description="`outlying_input`: rows left out because an input lies far from all others. `copies`: rows that "
        "repeat others in inputs and target and count once. `not_computable`: an alternative that could not be fitted. "
        "`jitter`: more than the usual was added to a kernel matrix, to be computed with."
    )
    detail: str = Field(description="A sentence that names columns, rows and numbers.")


class ContenderOut(BaseModel):
    """One of the fits that were compared."""

    prior: Prior
    likelihood: AnyLikelihood
    functions: int | None = Field(
        description="Functions kept; null for a fit that was given up when its scales were found, being behind then."
    )
    score: float = Field(
        description="The log of its evidence with the hyperparameters integrated out, in nats: 3 more make it about 20 "
        "times as probable. Foretold from some rows for a fit that was given up."
    )

    @classmethod
    def of(cls, contender: Contender, noise_column: str | None) -> Self:
        """A fit as it goes out."""
        return cls(
            prior=contender.prior,
            likelihood=shown(contender.likelihood, noise_column),
            functions=contender.functions,
            score=contender.score,
        )


class MemberOut(FromDomain):
    """One of several models that predict together.

    A Gaussian process of numbers, whose predictive density is multiplied by the others', each to the power of its
    weight; or the model of one class against all others, under `bernoulli_per_class`.
    """

    label: Label | None = Field(description="The class that it tells from all others; null for numbers.")
    kernel: Annotated[Kernel, Field(discriminator="type")] | None = Field(
        description="Null where it was learned by several kernels or by none."
    )
    weight: float | None = Field(
        description="All add to 1: chosen to predict rows best that were not learned from. Null for classes."
    )
    functions: int = Field(
        description="Functions kept. A class that has no rows keeps one, a bias: it is as probable everywhere as it is "
        "frequent."
    )
    widths: Sequence[InputWidthOut]
    warps: Sequence[InputWarpOut] = Field(description="Empty where none were learned.")
    noise_sd: float | None = Field(description="In the target's units; null for classes.")
    process_sd: float | None = Field(
        description="How wide its predictions grow far from all data; of a class's latent function. Null under "
        "independent weights, and for a class that has no rows."
    )
    log_marginal_likelihood: float = Field(
        description="Of the functions kept, in nats; of a class, that of telling it from all others."
    )
    process_log_marginal_likelihood: float | None = Field(
        description="Of the process before it was reduced to few functions, with the log hyperprior, in nats; null for "
        "classes, where nothing is reduced."
    )


class ComparedOut(BaseModel):
    """A model that was learned without each fold's rows, and predicted them."""

    basis: BasisOut
    prior: Prior
    likelihood: AnyLikelihood
    score: float | None = Field(description="The mean log density of the rows left out, in nats; null with a reason.")
    reason: str | None = Field(description="Why it could not be learned or measured.")

    @classmethod
    def of(cls, compared: Compared, inputs: Sequence[str], noise_column: str | None) -> Self:
        """What was compared as it goes out."""
        (basis,) = shown_bases([compared.basis], inputs)
        return cls(
            basis=basis,
            prior=compared.prior,
            likelihood=shown(compared.likelihood, noise_column),
            score=compared.score,
            reason=compared.reason,
        )


class ScoreOut(FromDomain):
    """How rows are predicted by what was learned without them: the figure by which models are chosen."""

    value: float | None = Field(
        description="The mean log density of those rows, in nats, the more the better; null with a reason."
    )
    standard_error: float | None = Field(description="Of the mean, over the rows; null where it is not known.")
    rows: int = Field(description="Rows that were measured.")
    folds: int = Field(description="Trainings without some rows, which were measured then.")
    reason: str | None = Field(description="Why there is no score, or why not all folds were measured.")


class ClassRowsOut(FromDomain):
    """How many of the rows learned from are of one class."""

    label: Label
    rows: int


class SupervisedVersionOut(VersionBaseOut):
    """What one training learned; it never changes. Figures are in the user's units."""

    task: Task
    target: str
    target_kind: ColumnKind
    classes: Sequence[Label] = Field(
        description="The labels of a classification: false and true, numbers from below, texts by alphabet."
    )
    class_rows: Sequence[ClassRowsOut] = Field(
        description="The rows learned from by class, in the order of `classes`: how frequent they are is what "
        "`class_priors` of a prediction change. Empty for numbers, and for versions that are older than this."
    )
    inputs: Sequence[InputOut]
    ignored: Sequence[IgnoredOut]
    likelihood: AnyLikelihood
    basis: Sequence[BasisOut]
    prior: Prior
    algorithm: Algorithm
    standardised: bool
    missing: Missing
    split: Split
    holdout: float
    validation: Validation | None
    seed: int
    hyperparameters: HyperparametersOut
    log_marginal_likelihood: float | None = Field(
        description="In nats; null where several models predict together, each of which has its own."
    )
    functions: int = Field(description="Functions kept.")
    candidates: int = Field(description="Functions that the fit taken could choose from.")
    rows: int = Field(description="Rows learned from.")
    rows_dropped: int
    rows_held_out: int
    termination: str = Field(description="Why the fit stopped.")
    metrics: Mapping[str, Mapping[str, float]] = Field(
        description="`holdout`: measured on the rows held out, where there are some. `validation`: how the "
        "training rows are predicted by trainings without their fold, unless the effort was `quick` and it was not "
        "asked for (`nll_se` is the standard error of its `nll`, `log_loss_se` of its `log_loss`), over all `rows` "
        "that were measured, each once: a fold whose other rows can't be learned from is passed over, and under "
        "`order` the first stretch is not measured. `leave_one_out`: a diagnostic, how each row learned from is "
        "predicted by all others in closed form, while functions, widths and noise were chosen with it present: it can "
        "flatter much."
    )
    contenders: Sequence[ContenderOut] = Field(
        description="The fits that were compared where prior or likelihood were left open, the one taken first. "
        "Another likelihood is taken where it is better by a tenth of a nat for each row."
    )
    members: Sequence[MemberOut] = Field(
        description="The models that predict together: processes, or one for each class in the order of `classes`; "
        "empty where one does. With members, `hyperparameters` "
        "are theirs and null or empty here."
    )
    compared: Sequence[ComparedOut] = Field(
        description="All that the folds judged: the members, and what was not taken. Another model takes their place "
        "where its score is better by more than two standard errors. Of classes: the alternatives that were not "
        "taken. Without folds, the alternatives that could not be fitted."
    )
    score: ScoreOut | None = Field(
        description="By whole trainings on other rows, all choices repeated: what to expect of new rows. Of several "
        "processes it is measured before their reduction to few functions, which costs `score_loss`. Null in versions "
        "that are older than this."
    )
    max_score_loss: float = Field(
        description="What was asked for: nats a row that a pool's reduction to few functions may cost. More is lost "
        "where a prediction by more functions would take too long."
    )
    unreduced_functions: int | None = Field(
        description="Functions of the whole before it was reduced, one for each row and process, to which `score` "
        "belongs; null where nothing was reduced."
    )
    score_loss: float | None = Field(
        description="What keeping few functions is estimated to cost, in nats a row of `metrics.validation.nll`, which "
        "is measured before; null where nothing was reduced."
    )
    outliers: Sequence[OutlierOut] = Field(
        description="Under `student_t`, the rows that count less than a quarter of an ordinary one: the least typical "
        "first, at most 100. Empty under other likelihoods."
    )
    warnings: Sequence[WarningOut] = Field(
        description="What was left out, and what could not be done as planned; empty where nothing was."
    )
    dataset: DatasetNameOut
    seconds: float
    software_version: str
    imported: ImportedFromOut | None = Field(
        description="Null for what was trained here; else all figures are those of where it was."
    )

    @classmethod
    def of(cls, version: Version, report: SupervisedReport) -> Self:
        """A version with this report as it goes out."""
        plan, spec = report.plan, report.plan.spec
        own = {
            "task": report.task,
            "target": plan.target,
            "target_kind": plan.target_kind,
            "classes": plan.classes,
            "class_rows": [ClassRowsOut.model_validate(one) for one in report.class_rows],
            "likelihood": shown(spec.likelihood, plan.noise_column),
            "basis": shown_bases(spec.basis, [column.name for column in plan.inputs]),
            "prior": spec.prior,
            "algorithm": spec.algorithm,
            "standardised": report.standardised,
            "missing": plan.missing,
            "split": plan.split,
            "holdout": plan.holdout,
            "validation": plan.validation,
            "seed": spec.seed,
            "hyperparameters": HyperparametersOut(
                noise_sd=report.noise_sd,
                degrees_of_freedom=report.degrees_of_freedom,
                widths=[InputWidthOut.model_validate(width) for width in report.widths],
                warps=[InputWarpOut.model_validate(warp) for warp in report.warps],
                terms=[InputTermOut.model_validate(term) for term in report.terms],
                process_sd=report.process_sd,
                temperature=report.temperature,
                last_gain=report.last_gain,
                next_gain=report.next_gain,
            ),
            "log_marginal_likelihood": report.log_marginal_likelihood,
            "candidates": report.candidates,
            "rows_dropped": report.rows_dropped,
            "rows_held_out": report.rows_held_out,
            "termination": report.termination,
            "metrics": report.metrics,
            "contenders": [ContenderOut.of(contender, plan.noise_column) for contender in report.contenders],
            "members": [MemberOut.model_validate(member) for member in report.members],
            "compared": [
                ComparedOut.of(one, [column.name for column in plan.inputs], plan.noise_column)
                for one in report.compared
            ],
            "score": None if report.score is None else ScoreOut.model_validate(report.score),
            "max_score_loss": plan.max_score_loss,
            "unreduced_functions": report.unreduced_functions,
            "score_loss": report.score_loss,
            "outliers": [OutlierOut.model_validate(outlier) for outlier in report.outliers],
            "warnings": [WarningOut.model_validate(warning) for warning in report.warnings],
            "imported": ImportedFromOut.of(report),
        }
        return cls.model_validate(shared_by_versions(version) | own)
