"""The live view's door at the gateway: it passes a picture on and a person's input back, and keeps nothing."""
