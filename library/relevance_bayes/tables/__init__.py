"""Tables of typed columns: their kinds, statistics, and encoding to a matrix and back."""
