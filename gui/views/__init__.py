"""One module per panel of the window; each shows a document and shares one selection."""
