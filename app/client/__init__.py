"""A client of our own HTTP API: what the command line uses, and what a user's Python program may."""

from app.client.errors import CONNECTION_LOST, NOT_REACHABLE, ClientError, Problem
from app.client.http import DEFAULT_URL
from app.client.relevance import Relevance, connect

__all__ = ["CONNECTION_LOST", "DEFAULT_URL", "NOT_REACHABLE", "ClientError", "Problem", "Relevance", "connect"]
