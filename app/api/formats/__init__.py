"""Tables as they come over the wire: JSON, CSV, Parquet; the one place where text becomes typed columns."""
