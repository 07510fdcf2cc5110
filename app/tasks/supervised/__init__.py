"""Numbers, counts and classes, learned from rows with a target."""
