"""Trainings, the jobs that add versions to models."""

from pydantic import TypeAdapter

from app.database.base import Document
from app.jobs.forms import JobForm
from relevance_bayes.tasks.union import TrainingPlan, TrainingRequest

TRAINING: JobForm[TrainingRequest, TrainingPlan] = JobForm(
    "training", Document(TypeAdapter(TrainingRequest)), Document(TypeAdapter(TrainingPlan))
)
