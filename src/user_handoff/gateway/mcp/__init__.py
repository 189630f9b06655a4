"""The tools for agents that speak the Model Context Protocol, by HTTP and by standard input and output."""
