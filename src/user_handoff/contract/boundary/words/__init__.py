"""What controls are called that are a person's to use, in many languages. See `phrases` for how it is written."""
