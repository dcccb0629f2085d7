"""Value statistics of intermediates: ranges, NaN, Inf."""
