"""Operators that make tensors, reach edge and have no lowering yet: native code leaves them to the interpreter, or refuses them.
What draws random numbers, and linear algebra, is the host's, which is no fallback.
Those of `dim_order_ops` need none, since native code forgets layouts first.
"""

INTERPRETER_ONLY = frozenset(
    {
        "aten._linalg_eigvals",
        "aten.bernoulli.p",
        "aten.linalg_eig",
        "aten.linalg_eigvals",
        "aten.linalg_ldl_factor_ex",
        "aten.linalg_ldl_solve",
        "aten.multinomial",
        "aten.native_dropout",
        "aten.log_normal",
        "aten.rand",
        "aten.rand_like",
        "aten.randint",
        "aten.randint.low",
        "aten.randint_like",
        "aten.randint_like.low_dtype",
        "aten.randn",
        "aten.randn_like",
        "aten.random",
        "aten.random.from",
        "aten.random.to",
        "aten.randperm",
        "aten.rrelu_with_noise_functional",
        "aten.uniform",
        "dim_order_ops._clone_dim_order",
        "dim_order_ops._empty_dim_order",
        "dim_order_ops._to_dim_order_copy",
    }
)
