"""The picture of components: where two moons have their density, and what few rows miss of the images of fresh ones."""

from pathlib import Path

import numpy as np

from benchmarks.accuracy.canvas import BLUE, INK, MUTED, ORANGE, canvas
from benchmarks.components.cases import moons
from benchmarks.components.full import FullComponents, sparse
from benchmarks.components.tables import needed

SHARE = 0.9
SHARES = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98)
USUAL = 0.05


def draw_components() -> Path:
    """Two moons, learned without other rows."""
    rows = moons(0)
    found = sparse(rows, SHARE)
    title = f"novelty: log density of two moons from {len(found.rows)} of {len(rows.learned)} rows"
    drawing = canvas((13.0, 5.4), "Sparse kernel principal components", (title, "reconstruction error"), shared=False)
    plane, line = drawing.panels
    across, up = np.meshgrid(np.linspace(-1.75, 2.75, 181), np.linspace(-1.25, 1.75, 121))
    density = found.log_density(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
    plane.contourf(across, up, density, levels=14, cmap="Blues", alpha=0.55)
    minimum = float(np.quantile(found.log_density(rows.learned), USUAL))
    plane.contour(across, up, density, levels=[minimum], colors=[BLUE])
    plane.plot(*rows.usual.T, ".", color=MUTED, ms=3, label="new rows of the moons")
    plane.plot(*rows.new.T, "x", color=ORANGE, ms=4, label="novel rows")
    plane.plot(*found.centres.T, "o", mfc="none", color=INK, ms=9, label="kept rows")
    plane.set(xticks=[], yticks=[])
    kept, ours, every = [], [], []
    for share in SHARES:
        few, number = sparse(rows, share), needed(rows, share)
        kept.append(len(few.rows))
        ours.append(float(few.missed(rows.usual, number).mean()))
        every.append(float(FullComponents.of(rows, number).missed(rows.usual).mean()))
    line.plot(kept, ours, "o-", color=BLUE, label="kept rows, components that explain 50 to 98 %")
    line.plot(kept, every, "s--", color=INK, label=f"all {len(rows.learned)} rows, as many components")
    line.set(yscale="log", xlabel="number of kept rows", ylabel="share of new rows' variance not explained")
    return drawing.save("components")
