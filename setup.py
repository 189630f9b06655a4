"""Lists the packages, so that a new subpackage is never missing from the wheel."""

from setuptools import find_packages, setup

ROOTS = ("activities", "worker", "workflows")
mapped = [f"user_handoff.{name}" for root in ROOTS for name in (root, *(f"{root}.{p}" for p in find_packages(root)))]
setup(packages=find_packages("src") + mapped)
