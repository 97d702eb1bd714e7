"""Experiments: what is run, what came out, and pages that show it."""
