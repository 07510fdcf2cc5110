"""Daily tables: mixed types, gaps, dates, many categories, skewed targets and outliers, from CSV to a figure."""
