"""The collections of a service: aliases, evaluations, jobs and others, each with calls of its own."""

from dataclasses import dataclass

from relevance_bayes.client.aliases import Aliases
from relevance_bayes.client.batch_predictions import BatchPredictions
from relevance_bayes.client.calls import Calls, M
from relevance_bayes.client.evaluations import Evaluations, Promotions
from relevance_bayes.client.files import Files
from relevance_bayes.client.jobs import Jobs
from relevance_bayes.client.members import Members
from relevance_bayes.client.models import Models
from relevance_bayes.client.outcomes import Outcomes
from relevance_bayes.client.registry import Registry
from relevance_bayes.client.tables import Tables
from relevance_bayes.client.trainings import Trainings
from relevance_bayes.client.webhooks import Webhooks


@dataclass(frozen=True)
class Collections(Calls[M]):
    """The collections of a service, as properties."""

    @property
    def aliases(self) -> Aliases[M]:
        """Aliases of versions."""
        return Aliases(self.http)

    @property
    def batch_predictions(self) -> BatchPredictions[M]:
        """Batch predictions."""
        return BatchPredictions(self.http)

    @property
    def evaluations(self) -> Evaluations[M]:
        """Evaluations of versions."""
        return Evaluations(self.http)

    @property
    def files(self) -> Files[M]:
        """Predictions for files."""
        return Files(self.http)

    @property
    def jobs(self) -> Jobs[M]:
        """Jobs of all kinds."""
        return Jobs(self.http)

    @property
    def members(self) -> Members[M]:
        """Members of the project."""
        return Members(self.http)

    @property
    def models(self) -> Models[M]:
        """Models: `models()` lists them, `models["name"]` is one."""
        return Models(self.http)

    @property
    def outcomes(self) -> Outcomes[M]:
        """Outcomes of predictions, and alarms."""
        return Outcomes(self.http)

    @property
    def promotions(self) -> Promotions[M]:
        """Promotions of versions."""
        return Promotions(self.http)

    @property
    def registry(self) -> Registry[M]:
        """Models and versions: descriptions, tags, lineage, comparison."""
        return Registry(self.http)

    @property
    def tables(self) -> Tables[M]:
        """Tables and arrays of other libraries."""
        return Tables(self.http)

    @property
    def trainings(self) -> Trainings[M]:
        """The jobs that train versions."""
        return Trainings(self.http)

    @property
    def webhooks(self) -> Webhooks[M]:
        """Webhooks for the ends of jobs and for alarms."""
        return Webhooks(self.http)
