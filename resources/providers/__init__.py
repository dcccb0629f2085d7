"""ORT's kernel tables, one file per provider and version."""
