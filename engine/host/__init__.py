"""The CPU provider: computes what our GPU does not run, and folds constants exactly."""
