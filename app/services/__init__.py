"""The use cases of the service: one file each, over the ports of the domain."""
