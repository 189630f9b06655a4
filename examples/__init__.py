"""The fixture portal, a scripted person, the smallest agent and the demo."""
