"""The nouns that go over the wire; nothing here imports numpy."""
