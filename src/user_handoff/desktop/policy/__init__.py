"""What an agent may not do on this desktop: the policy file, and the check right before every effect."""
