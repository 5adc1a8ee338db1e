"""Operators that make tensors, reach edge and have no lowering, each with the reason.

What draws random numbers, and linear algebra, is the host's, with `fallback="error"` as well.
"""

DRAWS = "draws random numbers: there is one generator a process, whose numbers native code takes (C libraries draw by `draw.*`)"
LAPACK = "LAPACK's: results that PyTorch has of it, which an algorithm of ours would order, scale or pivot in another way"
LAYOUT = "of dim_order_ops: native code forgets layouts first, and with them the operator"

INTERPRETER_ONLY = dict.fromkeys(
    (
        "aten.bernoulli.p",
        "aten.log_normal",
        "aten.multinomial",
        "aten.native_dropout",
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
    ),
    DRAWS,
)
INTERPRETER_ONLY |= dict.fromkeys(
    (
        "aten._linalg_eigvals",
        "aten.linalg_eig",
        "aten.linalg_eigvals",
        "aten.linalg_ldl_factor_ex",
        "aten.linalg_ldl_solve",
    ),
    LAPACK,
)
INTERPRETER_ONLY |= dict.fromkeys(
    (
        "dim_order_ops._clone_dim_order",
        "dim_order_ops._empty_dim_order",
        "dim_order_ops._to_dim_order_copy",
    ),
    LAYOUT,
)
