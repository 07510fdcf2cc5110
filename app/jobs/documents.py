"""Progress and problems of jobs as JSON; kinds and states of jobs as the database stores them."""

from pydantic import TypeAdapter

from app.database.json_documents import Document
from app.jobs.records import Problem
from relevance_bayes.types.jobs import JobKind, JobState, Progress

PROGRESS = Document(TypeAdapter(Progress))
PROBLEM = Document(TypeAdapter(Problem))
KIND: TypeAdapter[JobKind] = TypeAdapter(JobKind)
STATE: TypeAdapter[JobState] = TypeAdapter(JobState)
