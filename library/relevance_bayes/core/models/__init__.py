"""Models: their fits, predictions and effects, alone, pooled, per class, with varying noise, and by neighbours."""
