"""Joint answers: draws, means over blocks, known errors, several targets."""
