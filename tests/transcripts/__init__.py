"""Each door's client does the whole job on one real stack. `python -m tests.transcripts` writes the page."""
