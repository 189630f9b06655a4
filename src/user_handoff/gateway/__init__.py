"""HTTP: the page of the person who answers, and webhooks."""
