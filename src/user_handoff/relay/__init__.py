"""The relay: the desktop's gate before any other server of the Model Context Protocol."""
