"""Models: names under which trainings leave numbered versions."""

from app.domain.models.versions import (
    Learned,
    Model,
    NewApproximationVersion,
    NewComponentsVersion,
    NewImageVersion,
    NewSupervisedVersion,
    NewVersion,
    Version,
)

__all__ = [
    "Learned",
    "Model",
    "NewApproximationVersion",
    "NewComponentsVersion",
    "NewImageVersion",
    "NewSupervisedVersion",
    "NewVersion",
    "Version",
]
