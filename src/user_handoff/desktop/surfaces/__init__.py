"""Finding the exact native window of a browser."""
