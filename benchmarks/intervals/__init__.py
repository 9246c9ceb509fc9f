"""Whether intervals hold, and how good they are beside those of peers."""
