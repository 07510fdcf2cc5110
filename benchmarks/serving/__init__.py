"""The cost of a response over HTTP beside the model's arithmetic: ours, and a bare application on the same server."""
