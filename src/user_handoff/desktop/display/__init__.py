"""The display a desktop lives on: a real one, or a private virtual one."""
