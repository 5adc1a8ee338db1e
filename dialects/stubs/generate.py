"""Type stubs of the schema dialects, so that editors and type checkers know the operations made from the spec.

What an operator has in every dialect stands once, in `signatures.pyi`, which has no module beside it; the dialects' own stubs name the
classes that they have of it.

python -m xdsl_exir.dialects.stubs.generate            # rewrites signatures.pyi and a stub for each dialect
python -m xdsl_exir.dialects.stubs.generate --check    # exits 1 where they differ
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from xdsl_exir.dialects import aten, dim_order_ops, edge, quantized_decomposed, torch_nn, transformers
from xdsl_exir.dialects.arguments import ArgumentSlots, Slot, field_name, python_name
from xdsl_exir.dialects.operator import OperatorDialect, class_name, result_names
from xdsl_exir.dialects.spec import OperatorSpec, find

MODULES: dict[str, OperatorDialect] = {
    "aten": aten.OPERATORS,
    "edge": edge.OPERATORS,
    "dim_order_ops": dim_order_ops.OPERATORS,
    "quantized_decomposed": quantized_decomposed.OPERATORS,
    "torch_nn": torch_nn.OPERATORS,
    "transformers": transformers.OPERATORS,
}

HEADER = "# Made from the operator spec by `python -m xdsl_exir.dialects.stubs.generate`. Do not edit.\n"

SIGNATURES = """\
from collections.abc import Mapping, Sequence

from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.operator import OperatorOp

Value = SSAValue | Operation
"""

DIALECT = """\
# Names of PyTorch's private operators begin with an underscore.
# pyright: reportPrivateUsage=false, reportMissingModuleSource=false
from xdsl_exir.dialects.stubs import signatures

"""

PYTHON_TYPES = {
    "Tensor": "Value",
    "SymInt": "int | Value",
    "SymBool": "bool | Value",
    "SymFloat": "float | Value",
    "Scalar": "complex | Value",
    "int": "int",
    "bool": "bool",
    "float": "float",
    "ScalarType": "DType",
    "str": "str",
    "Device": "str",
    "Layout": "str",
    "MemoryFormat": "str",
}
"""What a constructor takes for a schema type."""


def parameter_type(slot: Slot) -> str:
    """The annotation of a constructor's parameter."""
    kind = slot.argument.type
    text = PYTHON_TYPES[kind.base]
    if kind.is_list:
        item = f"{text} | None" if kind.item_optional else text
        text = f"Sequence[{item}]" + (f" | {text}" if kind.size is not None else "")
    return f"{text} | None" if kind.optional else text


def accessors(spec: OperatorSpec) -> Iterator[tuple[str, str]]:
    """Names and types of an operation's operands, properties and results."""
    for slot in ArgumentSlots.of(spec).slots:
        kind = slot.argument.type
        if slot.operand is not None:
            optional = kind.optional or not slot.is_tensor
            yield (
                slot.operand_name,
                "Sequence[SSAValue]" if kind.is_list else "SSAValue | None" if optional else "SSAValue",
            )
        if slot.property_name is not None:
            required = not kind.optional and not slot.is_tensor and slot.operand is None
            yield field_name(slot.property_name), "Attribute" if required else "Attribute | None"
    for name, ret in zip(result_names(spec), spec.schema.returns, strict=True):
        yield name, "Sequence[OpResult]" if ret.type.is_list else "OpResult"


def class_stub(spec: OperatorSpec) -> str:
    """The stub of one operation's class."""
    parameters, keyword_only = ["_op"], False
    for slot in ArgumentSlots.of(spec).slots:
        if slot.argument.keyword_only and not keyword_only:
            parameters.append("*")
            keyword_only = True
        default = "" if slot.argument.required else " = ..."
        parameters.append(f"{python_name(slot.name)}: {parameter_type(slot)}{default}")
    if not keyword_only:
        parameters.append("*")
    parameters.append("result_types: Sequence[Attribute] | None = ...")
    parameters.append("attributes: Mapping[str, Attribute] | None = ...")
    lines = [f"class {class_name(spec)}(OperatorOp):", f'    """{spec.schema_text}"""', ""]
    lines += [f"    {name}: {type}" for name, type in accessors(spec)]
    lines.append(f"    def __init__({', '.join(parameters)}) -> None: ...")
    return "\n".join(lines) + "\n"


def members(dialect: OperatorDialect) -> list[str]:
    """The operators that a dialect's module lists; the edge module lists those of the aten namespace."""
    return [name for name in dialect.operators() if not dialect.prefix or name.startswith("aten.")]


def dialect_stub(dialect: OperatorDialect) -> str:
    """The stub of a dialect's module."""
    names = [class_name(find(name)) for name in members(dialect)]
    exported = "".join(f'    "{name}",\n' for name in names)
    classes = "".join(f"class {name}(signatures.{name}): ...\n" for name in names)
    return f"{HEADER}{DIALECT}__all__ = [\n{exported}]\n\n{classes}"


def stubs() -> dict[str, str]:
    """The stubs, by module."""
    names = dict.fromkeys(name for dialect in MODULES.values() for name in members(dialect))
    signatures = HEADER + SIGNATURES + "\n" + "\n".join(class_stub(find(name)) for name in names)
    return {"signatures": signatures, **{name: dialect_stub(dialect) for name, dialect in MODULES.items()}}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--check", action="store_true", help="change nothing, exit 1 where a stub is out of date"
    )
    check = parser.parse_args().check
    stale = 0
    for name, text in stubs().items():
        path = Path(__file__).with_name(f"{name}.pyi")
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale += 1
        print(f"{path.name}: {'out of date' if check else 'updated'}")
        if not check:
            path.write_text(text, encoding="utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
