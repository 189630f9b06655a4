"""REST: what a caller with a key or a grant can ask for, told by one table."""
