"""Record the documentation's examples anew: `python -m tests.end_to_end.record URL`.

The service at the URL is empty, and its worker runs one job at a time (RELEVANCE_WORKER_SLOTS=1), so that lists have
models in the order of the requests.
"""

import sys

import httpx2

from app.http.openapi import recorded
from tests.end_to_end.exchanges import record

if __name__ == "__main__":
    with httpx2.Client(base_url=sys.argv[1], timeout=120) as client:
        record(client, recorded())
