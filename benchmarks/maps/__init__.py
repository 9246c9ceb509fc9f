"""Maps beside the peers: verde, PyKrige and GPBoost, on random places and on blocks."""
