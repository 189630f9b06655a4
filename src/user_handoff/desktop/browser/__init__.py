"""A managed browser: its pages, what can be done to them, and what can be observed."""
