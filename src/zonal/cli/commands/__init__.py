"""The commands, one file each: they parse, call the library and print."""
