"""What lasts longer than a run: facts that were agreed to, and documents that are searched."""
