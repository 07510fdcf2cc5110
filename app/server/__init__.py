"""The HTTP server: uvicorn with connections, transports and a shutdown of its own."""
