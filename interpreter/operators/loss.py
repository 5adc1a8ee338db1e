"""Functions of losses: none. All of them decompose."""
