"""Lowerings of operators, a file a family. What they are made of is beside this folder."""
