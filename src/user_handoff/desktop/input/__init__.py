"""Native mouse, keyboard and clipboard."""
