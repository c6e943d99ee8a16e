"""Recipes that train a small open policy on CAMRE. Not part of the wheel: run them from a checkout."""
