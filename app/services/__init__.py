"""What the service does: one file a use case, over the ports of the domain."""
