"""Trainings, the jobs that add versions to models."""

from pydantic import TypeAdapter

from app.database.json_documents import Document
from app.jobs.forms import JobForm
from relevance_bayes.plans.requests import TrainingPlan, TrainingRequest

TRAINING: JobForm[TrainingRequest, TrainingPlan] = JobForm(
    "training", Document(TypeAdapter(TrainingRequest)), Document(TypeAdapter(TrainingPlan))
)
