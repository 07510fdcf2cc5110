"""Every set that the papers print figures of: theirs, and ours by their machine and by defaults."""
