"""Jobs of every kind: state machine, queue, worker, events."""
