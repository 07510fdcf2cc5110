"""Public tables and generators for tuning the default models, half of them sealed."""
