"""Import each module of the service: the build of the image fails where one needs something that the image lacks."""

import importlib
import pkgutil
import sys

import app
import relevance_bayes

LEFT_OUT = ("relevance_bayes.estimators", "app.migrations")
"""Estimators need scikit-learn, which is the extra of a client; migrations are run by Alembic."""

for package in (app, relevance_bayes):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not module.name.startswith(LEFT_OUT) and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
assert "pyarrow.parquet" in sys.modules, "the formats were not imported"
