"""Programs to run and to read; each is a client of the service like any other."""
