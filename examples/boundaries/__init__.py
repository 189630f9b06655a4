"""A labelled set of controls and pages, for measuring the built-in stop list."""
