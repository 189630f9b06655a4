"""Measurements and fault injection: `./run bench` and `./run chaos`."""
