"""Qt item models over frozen engine results; they format and sort, and never compute."""
