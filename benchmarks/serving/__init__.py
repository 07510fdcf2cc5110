"""What an answer over HTTP costs beside the model's arithmetic: ours, and a bare application on the same server."""
