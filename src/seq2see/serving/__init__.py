"""Over HTTP: the explorer's page and what it asks for. Knows nothing of training."""
