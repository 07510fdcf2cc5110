"""Jobs through real processes, on both databases: what they cost beside their fits, and what is lost by a death."""
