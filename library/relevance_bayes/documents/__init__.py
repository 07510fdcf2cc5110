"""A version as one document: its members by names of their own, its arrays, and the version that they say."""
