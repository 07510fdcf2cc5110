"""Exported versions: a document with all that predictions need, in JSON or npz, and programs that compute them."""
