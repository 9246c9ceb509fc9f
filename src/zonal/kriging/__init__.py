"""The local part of models."""
