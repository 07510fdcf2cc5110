"""The paths of the service's protocols."""

from starlette.types import Scope

OWN = "/v1"
"""The service's own API."""

INFERENCE = "/v2"
"""The Open Inference Protocol, version 2."""

INFERENCE_HEALTH = f"{INFERENCE}/health"

GUIDE = "/guide"
"""The documentation for users."""


def path_of(scope: Scope) -> str:
    """Return the path of a request below the path at which the application is mounted."""
    path: str = scope["path"]
    root: str = scope.get("root_path") or ""
    return path.removeprefix(root) if root and is_below(path, root) else path


def is_below(path: str, root: str) -> bool:
    """Return whether a path is `root` or under it."""
    return path == root or path.startswith(f"{root}/")


def has_owner(path: str) -> bool:
    """Return whether the resources at a path have an owner, so that requests are authenticated; probes have none."""
    return is_below(path, OWN) or (is_below(path, INFERENCE) and not is_below(path, INFERENCE_HEALTH))
