"""Real parts inside: tokens, retrieval, semantic cache, compressors; and the simulated models."""
