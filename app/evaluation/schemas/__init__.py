"""The API's form of evaluations, promotions and comparisons."""
