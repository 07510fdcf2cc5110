"""The paths of the service's protocols."""

from starlette.types import Scope

OWN = "/v1"
"""The service's own API."""

LIMITS = f"{OWN}/limits"
"""The limits of owners."""

INFERENCE = "/v2"
"""The Open Inference Protocol, version 2."""

INFERENCE_HEALTH = f"{INFERENCE}/health"

HEALTH = "/health"

METRICS = "/metrics"
"""The metrics of all owners."""

TEMPLATE = "path_template"
"""The key, in the scope of a request, of the template of a path that the framework did not route."""

GUIDE = "/guide"
"""The documentation for users."""

PAGE = "/"
"""The page for browsers, and links for programs."""


def path_of(scope: Scope) -> str:
    """Return the path of a request below the path at which the application is mounted."""
    path: str = scope["path"]
    root: str = scope.get("root_path") or ""
    return path.removeprefix(root) if root and is_below(path, root) else path


def is_below(path: str, root: str) -> bool:
    """Return whether a path is `root` or under it."""
    return path == root or path.startswith(f"{root}/")


def is_protected(path: str) -> bool:
    """Return whether requests are authenticated: those for resources and metrics, not probes."""
    if is_below(path, OWN) or path == METRICS:
        return True
    return is_below(path, INFERENCE) and not is_below(path, INFERENCE_HEALTH)
