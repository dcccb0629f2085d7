"""Rules that judge a model: one module per rule, each finding with its remedy."""
