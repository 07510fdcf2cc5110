"""Routes, thin: parse, one service call, answer."""
