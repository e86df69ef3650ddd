"""From a prompt to a run: conversation, model, history, notices, and runs that are asked again."""
