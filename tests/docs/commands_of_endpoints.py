"""The command that does what an endpoint does, or the reason why there is none."""

from collections.abc import Mapping

JOBS = {
    "POST /v1/training-jobs": "train",
    "POST /v1/evaluations": "evaluate",
    "POST /v1/batch-predictions": "predict-dataset",
} | {
    f"{endpoint[0]} /v1/{kind}{endpoint[1]}": command
    for kind in ("training-jobs", "evaluations", "batch-predictions", "promotions")
    for endpoint, command in {
        ("GET", ""): "jobs",
        ("GET", "/{job_id}"): "jobs",
        ("POST", "/{job_id}/retry"): "jobs --retry",
        ("POST", "/{job_id}/cancel"): "jobs --cancel",
        ("GET", "/{job_id}/events"): "jobs --follow",
    }.items()
}

VERSION = "/v1/models/{name}/versions/{version}"
ALIAS = "/v1/models/{name}/aliases/{alias}"

COMMANDS: Mapping[str, str] = {
    "POST /v1/datasets": "upload",
    "GET /v1/datasets": "datasets",
    "GET /v1/datasets/{dataset_id}": "datasets",
    "DELETE /v1/datasets/{dataset_id}": "delete dataset",
    "GET /v1/datasets/{dataset_id}/rows": "datasets --rows",
    **JOBS,
    "GET /v1/jobs": "jobs",
    "GET /v1/batch-predictions/{job_id}/result": "predict-dataset --output",
    "DELETE /v1/batch-predictions/{job_id}": "delete prediction",
    "GET /v1/models": "models",
    "GET /v1/models/{name}": "models",
    "PATCH /v1/models/{name}": "annotate",
    "DELETE /v1/models/{name}": "delete model",
    "GET /v1/models/{name}/versions": "versions",
    "POST /v1/models/{name}/versions": "import",
    f"GET {VERSION}": "models",
    f"PATCH {VERSION}": "annotate",
    f"DELETE {VERSION}": "delete version",
    "GET /v1/models/{name}/aliases": "aliases list",
    f"GET {ALIAS}": "aliases list",
    f"PUT {ALIAS}": "aliases set",
    f"DELETE {ALIAS}": "aliases remove",
    f"GET {ALIAS}/history": "aliases history",
    f"POST {ALIAS}/promotions": "promote",
    f"GET {VERSION}/baseline": "report",
    f"GET {VERSION}/diagnostics": "report",
    f"POST {VERSION}/profile": "report",
    f"GET {VERSION}/report": "report",
    f"GET {VERSION}/lineage": "lineage",
    f"GET {VERSION}/relevance-vectors": "models --relevance-vectors",
    f"GET {VERSION}/statistics": "statistics",
    f"GET {VERSION}/export": "export",
    f"GET {VERSION}/image": "decode",
    f"GET {VERSION}/evaluations": "jobs --kind",
    f"POST {VERSION}/compare": "compare",
    f"POST {VERSION}/predict": "predict",
    "POST /v1/models/{name}/predict": "predict",
    "POST /v1/models/{name}/outcomes": "outcomes send",
    "GET /v1/models/{name}/outcomes": "outcomes show",
    "GET /v1/models/{name}/alarms": "outcomes alarms",
    "POST /v1/webhooks": "webhooks add",
    "GET /v1/webhooks": "webhooks list",
    "GET /v1/webhooks/{webhook_id}": "webhooks list",
    "PATCH /v1/webhooks/{webhook_id}": "webhooks update",
    "DELETE /v1/webhooks/{webhook_id}": "webhooks remove",
    "GET /v1/webhooks/{webhook_id}/deliveries": "webhooks deliveries",
    "POST /v1/webhooks/{webhook_id}/test": "webhooks test",
    "POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver": "webhooks redeliver",
    "POST /v1/keys": "keys create",
    "GET /v1/keys": "keys list",
    "GET /v1/keys/{key_id}": "keys list",
    "POST /v1/keys/{key_id}/rotate": "keys rotate",
    "POST /v1/keys/{key_id}/revoke": "keys revoke",
    "GET /v1/members": "members list",
    "GET /v1/members/{subject}": "members list",
    "PUT /v1/members/{subject}": "members set",
    "PUT /v1/projects/{name}": "members accept",
    "DELETE /v1/projects/{name}": "members leave",
    "DELETE /v1/members/{subject}": "members remove",
    "GET /v1/projects": "projects",
    "GET /v1/limits/{owner_name}": "limits show",
    "PUT /v1/limits/{owner_name}": "limits set",
    "DELETE /v1/limits/{owner_name}": "limits reset",
    "GET /v1/audit": "audit list",
    "GET /v1/audit/export": "audit export",
}
"""Commands, each with an option where that does it, by endpoint."""

WITHOUT: Mapping[str, str] = {
    "GET /v1/session": "sessions are for pages in browsers",
    "POST /v1/session": "sessions are for pages in browsers",
    "DELETE /v1/session": "sessions are for pages in browsers",
    "GET /v1/datasets/{dataset_id}/image": "the image is the file that was uploaded",
    "GET /v1/jobs/events": "the stream is for pages; `jobs --follow` follows one job",
    "GET /v1/limits": "`limits show` has those of any owner",
    f"GET {VERSION}/expansion": "a sum of Gaussians is for programs",
}
"""The reasons why endpoints have no command; `/v2`, `/health` and `/metrics` are for other programs."""
