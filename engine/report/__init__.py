"""Bug reports: a picture with its data inside, Markdown."""
