"""Record the documentation's examples anew from a running, empty service: `python -m tests.end_to_end.record URL`."""

import sys

import httpx2

from app.http.openapi import recorded
from tests.end_to_end.exchanges import record

if __name__ == "__main__":
    with httpx2.Client(base_url=sys.argv[1], timeout=120) as client:
        record(client, recorded())
