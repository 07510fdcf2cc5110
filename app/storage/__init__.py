"""Where things are kept: tables, repositories, the codec of arrays, the transaction; nothing above it knows SQL."""
