"""A version as one document: members with names of their own, arrays, and a format version."""
