"""Models with a local part beside what a user would pick instead, on random rows and on gaps."""
