"""The reservation ledger: who holds the desktop, and which effects are in flight."""
