"""A client of our own HTTP API: what the command line uses, and what a user's Python program may."""

from relevance_bayes.client.connection import AsyncClient, Client, connect, connect_async
from relevance_bayes.client.errors import CONNECTION_LOST, NOT_REACHABLE, ClientError, Problem
from relevance_bayes.client.http import DEFAULT_URL

__all__ = [
    "CONNECTION_LOST",
    "DEFAULT_URL",
    "NOT_REACHABLE",
    "AsyncClient",
    "Client",
    "ClientError",
    "Problem",
    "connect",
    "connect_async",
]
