"""The tasks that models can be trained for: each a package with one `Task`, all of them in `app.tasks.union`."""
