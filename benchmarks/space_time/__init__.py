"""Space and time: near, in holes, and ahead."""
