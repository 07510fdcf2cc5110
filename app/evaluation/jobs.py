"""Evaluations and promotions as jobs: their forms and results."""

from pydantic import TypeAdapter

from app.database.json_documents import Document
from app.evaluation.requests import EvaluationPlan, EvaluationRequest, PromotionOptions, PromotionPlan, PromotionRequest
from app.evaluation.results import Evaluation, Promotion
from app.jobs.forms import JobForm

EVALUATION = JobForm(
    "evaluation",
    Document(TypeAdapter(EvaluationRequest)),
    Document(TypeAdapter(EvaluationPlan)),
    lambda plan: (plan.version,),
)
PROMOTION_OPTIONS: TypeAdapter[PromotionOptions] = TypeAdapter(PromotionOptions)
EVALUATION_RESULT = Document(TypeAdapter(Evaluation))

PROMOTION = JobForm(
    "promotion",
    Document(TypeAdapter(PromotionRequest)),
    Document(TypeAdapter(PromotionPlan)),
    lambda plan: (plan.version,) if plan.champion is None else (plan.version, plan.champion),
)
PROMOTION_RESULT = Document(TypeAdapter(Promotion))
