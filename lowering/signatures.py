"""What callers have to know of a method that is lowered: its declaration at edge, as an attribute that needs no dialect of ours."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Region

from xdsl_exir.dialects.signature import SIGNATURE
from xdsl_exir.lowering.printing import generic_text


def keep_signature(function: FuncOp, lowered: FuncOp) -> None:
    """Says of a lowered function what it was, if its types do not, or there is more to say."""
    said = any(attrs.data for attrs in (*(function.arg_attrs or ()), *(function.res_attrs or ())))
    if not said and not function.attributes and function.function_type == lowered.function_type:
        return
    declared = FuncOp(
        function.sym_name.data,
        function.function_type,
        Region(),
        function.sym_visibility,
        arg_attrs=function.arg_attrs,
        res_attrs=function.res_attrs,
    )
    declared.attributes = dict(function.attributes)
    lowered.attributes[SIGNATURE] = StringAttr(generic_text(declared))
