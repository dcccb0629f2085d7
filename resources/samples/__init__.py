"""The sample models of the start page, and the sources that make them."""
