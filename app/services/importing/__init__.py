"""Versions that were trained elsewhere: for each kind of task what is checked, and what is recorded."""

from app.services.importing.versions import Importing

__all__ = ["Importing"]
