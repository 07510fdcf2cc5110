"""Model metadata of the Open Inference Protocol, for HTTP and gRPC."""

from dataclasses import dataclass

from app.http.dependencies import Services
from app.inference.signature import Kind, inputs_of, outputs_of
from app.prediction.served_versions import ServedVersions
from app.registry.catalogue import Catalogue
from relevance_bayes.records.references import Reference

EXTENSIONS = ("binary_tensor_data", "model_repository", "statistics", "parameters")
PLATFORM = "relevance_sparse_bayes"
SERVER = "relevance"


@dataclass(frozen=True)
class InferenceMetadata:
    """A model's name and versions, including aliases, and the tensors of the requested version."""

    name: str
    versions: tuple[str, ...]
    inputs: tuple[Kind, ...]
    outputs: tuple[Kind, ...]


def described(services: Services, owner: str, reference: Reference) -> InferenceMetadata:
    """Return the metadata of a model; raises NotFoundError."""
    served = services[ServedVersions].version(owner, *reference)
    names = services[Catalogue].names(owner, reference.model)
    return InferenceMetadata(
        reference.model, tuple(str(one.version) for one in names), inputs_of(served), outputs_of(served)
    )
