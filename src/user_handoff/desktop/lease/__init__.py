"""The lease of a desktop's pointer and keyboard: one person has it at a time, and only while they are there."""
