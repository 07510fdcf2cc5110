"""The API's schemas of evaluations, promotions and comparisons."""
