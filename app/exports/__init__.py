"""Versions as files: a document that says all that predictions need, in JSON or npz, and programs that compute them."""
