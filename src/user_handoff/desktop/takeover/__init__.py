"""A person interrupts the agent: their lease, the clocks that end it, and the way back."""
