"""Limits of what an owner uses: rates of requests and rows, and quotas of what is stored."""
