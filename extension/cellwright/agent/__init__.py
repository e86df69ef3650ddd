"""The loop: what the model said, whether it may be done, and who is told."""
