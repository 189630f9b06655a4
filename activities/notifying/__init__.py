"""Telling people and other programs of handoffs: by Apprise, on the console, by signed webhooks."""
