"""Who can run what: our registry, ORT's tables, placement over a graph."""
