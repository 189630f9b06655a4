"""What an agent sees of a page: redacted text with bound element ids."""
