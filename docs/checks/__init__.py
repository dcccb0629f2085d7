"""The page of each code: read here, and by `opscope explain` as package data."""
