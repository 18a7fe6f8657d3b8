"""Models of the `transformers` library: its classifiers behind the course's protocols, and the shipped encoder."""
