"""Functions of attention: none. All of it decomposes into matrix products and softmax."""
