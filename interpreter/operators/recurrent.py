"""Functions of recurrent layers: none. All of them decompose into cells, unrolled over time."""
