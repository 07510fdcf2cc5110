"""The data of the README and of pages, and how they were made."""
