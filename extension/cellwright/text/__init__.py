"""Text in, text out: cleaning, redaction, truncation, Markdown."""
