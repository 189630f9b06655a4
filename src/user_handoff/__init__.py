"""Durable, fenced handoff of a live browser from an AI agent to a person."""
