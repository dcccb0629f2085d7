"""One module per operator family: attributes, shapes, kernel choice, cost."""
