"""Where things are kept: tables, repositories, the codec of arrays, the unit of work; nothing above it knows SQL."""
