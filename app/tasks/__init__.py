"""The tasks of training: a package with one `Task` each, all of them listed in `app.tasks.union`."""
