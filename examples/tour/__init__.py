"""The README's tour: its data, and how they were made."""
