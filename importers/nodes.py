"""What the nodes of a graph say of themselves: which operator they call, of which types their values are, and the line that they are from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from xdsl.dialects.builtin import (
    FileLineColLoc,
    IntAttr,
    LocationAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute

from xdsl_exir.dialects import aten, spec
from xdsl_exir.dialects.exir import symbolic_type
from xdsl_exir.dialects.operator import OperatorDialect, OperatorOp
from xdsl_exir.dialects.promotion import DtypeError
from xdsl_exir.dialects.sym_ops import SYM_OPS
from xdsl_exir.dialects.tensors import (
    SymBoolType,
    SymFloatType,
    SymIntType,
    is_tensor_type,
    is_value,
    tensor_type,
)
from xdsl_exir.errors import ExirError, LoadError, Unsupported, UnsupportedError, UnsupportedTensorError
from xdsl_exir.exchange import graph as g
from xdsl_exir.importers.built_apart import IMPLICIT_WRITES
from xdsl_exir.importers.functionalize import mutation_of
from xdsl_exir.importers.strides import (
    REPORTS,
    read_expr,
    size_of,
)
from xdsl_exir.importers.synonyms import is_synonym
from xdsl_exir.locations import text_of
from xdsl_exir.narrowing import is_sequence

DIALECTS: dict[str, OperatorDialect] = {"aten": aten.OPERATORS}
"""Schema dialects by namespace, made when first asked for."""


def dialect_of(target: str) -> OperatorDialect:
    """The dialect of an operator's namespace."""
    namespace = target.partition(".")[0]
    if namespace not in DIALECTS:
        DIALECTS[namespace] = OperatorDialect(namespace)
    return DIALECTS[namespace]


def value_type(meta: g.ValueMeta, at: str) -> Attribute:
    """The type of a graph value. Raises `LoadError` for tensors the IR does not have."""
    match meta:
        case g.TensorMeta():
            if meta.layout.name != "strided":
                raise UnsupportedTensorError(f"layout {meta.layout.name}", at)
            return tensor_type(tuple(map(size_of, meta.sizes)), meta.dtype, None, meta.device.name)
        case g.SymMeta():
            known = meta.expr
            if isinstance(known, g.Symbolic):
                return SYM_TYPES[meta.kind](read_expr(known.srepr))
            type = symbolic_type(known)
            assert type is not None
            return type
        case g.CustomObjMeta():
            raise LoadError(f"{at}: a custom object of class {meta.class_fqn}")


SYM_TYPES = {"int": SymIntType, "float": SymFloatType, "bool": SymBoolType}


@lru_cache(maxsize=4096)
def location_of(stack_trace: str) -> LocationAttr:
    """The innermost line of a stack trace that is the user's: not generated, nor of PyTorch's own modules."""
    frames = [frame for frame in g.parse_stack_trace(stack_trace) if not frame.file.startswith("<")]
    if not frames:
        return UnknownLoc()
    own = [frame for frame in frames if "/site-packages/torch/" not in frame.file]
    frame = (own or frames)[-1]
    return FileLineColLoc(StringAttr(frame.file), IntAttr(frame.line), IntAttr(0))


def all_nodes(graph: g.Graph) -> Iterator[g.Node]:
    """The nodes of a graph and of the sub-graphs that it passes to its operators."""
    for node in graph.nodes:
        yield node
        for item in node.inputs:
            if isinstance(item.value, g.Subgraph):
                yield from all_nodes(item.value.graph)


ASKS = frozenset(
    f"aten.{name}"
    for name in (
        "can_cast", "is_same_size", "is_set_to", "is_complex", "is_floating_point", "is_signed", "is_conj", "is_neg",
        "is_inference", "_has_same_storage_numel", "is_contiguous", "is_contiguous.memory_format", "promote_types",
        *(f"result_type.{of}" for of in ("Tensor", "Scalar", "Scalar_Tensor", "Scalar_Scalar")),
    )
)  # fmt: skip
"""Operators that tell Python of dtypes and layouts: exporters leave the calls, and put in what they said."""


def check_arguments(cls: type[OperatorOp], bound: Mapping[str, Any]) -> None:
    """Raises `LoadError` where a tensor is missing, or stands for a number: shape rules rely on it."""
    for slot in cls.SLOTS.slots:
        kind, value = slot.argument.type, bound[slot.name]
        if value is None and not kind.optional:
            raise LoadError(f"argument '{slot.name}' is None")
        for item in value if is_sequence(value) else [value]:
            if item is None and slot.is_tensor and not (kind.item_optional or kind.optional):
                raise LoadError(f"an item of argument '{slot.name}' is None")
            if is_value(item) and not slot.is_tensor and is_tensor_type(item.type):
                raise LoadError(f"argument '{slot.name}' is a tensor")


AUTOCAST = ("higher_order.wrap_with_autocast", "torch.amp.autocast_mode._enter_autocast")
"""How regions of autocast begin."""
HIGHER_ORDER_TARGETS = ("higher_order.", "torch.amp.", "torch._C._set_grad_enabled")
"""How targets begin that `importers.control_flow` may know: operators that take functions, and contexts around calls."""


def mutates(target: str) -> bool:
    if target in SYM_OPS or target.startswith(HIGHER_ORDER_TARGETS):
        return False
    return mutation_of(target) is not None


def may_write(target: str) -> bool:
    return target in IMPLICIT_WRITES or mutates(target)


def is_known(target: str) -> bool:
    if any(target in table for table in (spec.specs(), SYM_OPS, REPORTS, ASKS)):
        return True
    if is_synonym(target):
        return True
    if target.startswith(HIGHER_ORDER_TARGETS):
        from xdsl_exir.importers.control_flow import HIGHER_ORDER

        return target in HIGHER_ORDER
    try:
        return mutation_of(target) is not None
    except ExirError:
        return False


def frame_text(node: g.Node) -> str:
    return text_of(location_of(node.stack_trace))


def at_node(error: Exception, source: str, node: g.Node) -> ExirError:
    if isinstance(error, UnsupportedError):
        return UnsupportedError(
            [Unsupported(i.operator, i.reason, i.location or frame_text(node)) for i in error.items]
        )
    at = frame_text(node)
    if isinstance(error, DtypeError):
        return UnsupportedError([Unsupported(node.target, str(error), at)])
    return LoadError(f"{source}: node {node.name} ({node.target}{f', {at}' if at else ''}): {error}")
