"""What ``features="auto"`` chooses, beside what it could have chosen."""
