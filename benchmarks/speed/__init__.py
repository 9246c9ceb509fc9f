"""Speed: the library beside its peers and beside what the hardware allows, in one run."""
