"""The audit: who changed what, when and from where, in one chain of hashes for each owner."""
