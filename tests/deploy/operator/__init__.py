"""An operator's deployment in containers: run by `make deployment`, not by pytest."""
