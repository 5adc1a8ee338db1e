"""The `backend` dialect: parts of an edge program handed to a backend, or to native code, with what they compute kept in sight.

Operators that a backend adds (`transforms/backend_ops.py`) are operations of this dialect, `backend.npu.linear_relu`, and of no
other: their schemas and syntax are as those of all operators, and what they take is explicit, as in edge.

A delegate or a dispatch holds its operators in a region that sees nothing of the program around it, so it can be verified, printed,
run by the interpreter, or put back (`inline-delegates`), whatever becomes of it. How delegates come about is
`transforms/partition.py`, dispatches `lowering/form_dispatches.py`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from operator import eq
from pathlib import Path
from types import MappingProxyType

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Dialect, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    lazy_traits_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator, Pure, is_side_effect_free
from xdsl.utils.exceptions import VerifyException

from xdsl_exir.dialects import control_flow as cf
from xdsl_exir.dialects import edge
from xdsl_exir.dialects.canonicalization import MaterializesConstants
from xdsl_exir.dialects.exir import ConstantOp, NumberOp, RefineOp
from xdsl_exir.dialects.meta import BACKEND
from xdsl_exir.dialects.operator import OperatorDialect, OperatorOp
from xdsl_exir.dialects.out_variants import out_variant
from xdsl_exir.dialects.region_types import argument_types, check_types, types_of
from xdsl_exir.dialects.registry import import_functions
from xdsl_exir.dialects.signature import InputAttr, InputSpec
from xdsl_exir.dialects.spec import find
from xdsl_exir.dialects.sym_ops import SymOp
from xdsl_exir.dialects.tensors import is_tensor_type
from xdsl_exir.errors import SpecError
from xdsl_exir.threads import once

OPERATORS = OperatorDialect(BACKEND, prefix=f"{BACKEND}.", numbers=False)
"""The operators that backends add."""
SAID = "exir.delegate"
"""The attribute of a delegate whose operands are all that it needs: JSON, of how many of them it owns and of its compile specs."""


def names_sizes(op: Operation) -> bool:
    """Whether an operation computes sizes, or gives them other names."""
    return isinstance(op, SymOp | NumberOp | RefineOp)


def is_delegable(op: Operation) -> bool:
    """Whether a delegate or a dispatch may hold an operation: edge operators, and those of backends, without effects, and literals."""
    is_edge = isinstance(op, OperatorOp) and not op.NUMBERS
    return isinstance(op, ConstantOp) or (is_edge and is_side_effect_free(op))


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends the region of a delegate or a dispatch with its results.

    ```mlir
    backend.yield %0, %1 : tensor<3xf32>, tensor<f32>
    ```
    """

    name = "backend.yield"

    values = var_operand_def()

    traits = lazy_traits_def(lambda: (IsTerminator(), Pure(), HasParent(DelegateOp, DispatchOp)))

    assembly_format = "($values^ `:` type($values))? attr-dict"

    def __init__(self, *values: SSAValue | Operation):
        super().__init__(operands=[values])


class PartOp(IRDLOperation):
    """Part of a program, held in a region that sees nothing of what is around it; its region says what it computes.

    The region's arguments are the inputs, its yield gives the outputs, of the same types. It holds edge operators without
    effects, and literals.
    """

    def may_hold(self, op: Operation) -> bool:
        """Whether the region may hold an operation."""
        return is_delegable(op)

    inputs = var_operand_def()
    body = region_def("single_block")
    outputs = var_result_def()

    traits = traits_def(IsolatedFromAbove(), Pure())

    @property
    def yielded(self) -> YieldOp:
        """The region's end. Raises `VerifyException` where there is none."""
        last = self.body.block.last_op
        if not isinstance(last, YieldOp):
            raise VerifyException(f"the region of {self.name} ends in {YieldOp.name}")
        return last

    @property
    def owned(self) -> Sequence[InputSpec]:
        """What state the last arguments of the region are."""
        return ()

    def verify_(self) -> None:
        given = argument_types(self.body)
        inside = given[: len(given) - len(self.owned)] if self.owned else given
        check_types("arguments of the body", inside, types_of(self.inputs), eq)
        check_types("yield of the body", types_of(self.yielded.values), types_of(self.outputs), eq)
        for op in self.body.block.ops:
            if op is not self.yielded and not self.may_hold(op):
                raise VerifyException(
                    f"{self.name} holds edge operators without effects and literals, not {op.name}"
                )


@irdl_op_definition
class DelegateOp(PartOp):
    """A part of the program that a backend runs.

    State may be its own: `constants` says which, and the region takes it after the inputs. `specs` is what its backend is told
    besides, `ranges` what the symbols in it may be. Once its backend has preprocessed it, `processed` names the bytes in the
    program's state that the backend made; the region still says what they compute. It may hold control flow.

    ```mlir
    %y = backend.delegate "native" inputs(%x, %w : tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> {
    ^bb0(%a : tensor<2x3xf32>, %b : tensor<3x4xf32>):
      %0 = edge.aten.mm(%a, %b) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
      %1 = edge.aten.relu(%0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
      backend.yield %1 : tensor<2x4xf32>
    }
    ```
    """

    name = "backend.delegate"

    backend = prop_def(StringAttr)
    constants = opt_prop_def(ArrayAttr[InputAttr])
    specs = opt_prop_def(DictionaryAttr)
    ranges = opt_prop_def(DictionaryAttr)
    processed = opt_prop_def(StringAttr)

    assembly_format = "$backend (`constants` $constants^)? (`specs` $specs^)? (`ranges` $ranges^)? (`processed` $processed^)? (`inputs` `(` $inputs^ `:` type($inputs) `)`)? (`->` type($outputs)^)? attr-dict-with-keyword $body"

    def __init__(
        self,
        backend: str,
        inputs: Sequence[SSAValue],
        body: Region,
        result_types: Sequence[Attribute],
        constants: Sequence[InputAttr] = (),
        specs: Mapping[str, Attribute] = MappingProxyType({}),
        ranges: Mapping[str, Attribute] = MappingProxyType({}),
        processed: str | None = None,
    ):
        super().__init__(
            operands=[inputs],
            properties={
                "backend": StringAttr(backend),
                "constants": ArrayAttr(constants) if constants else None,
                "specs": DictionaryAttr(dict(specs)) if specs else None,
                "ranges": DictionaryAttr(dict(ranges)) if ranges else None,
                "processed": None if processed is None else StringAttr(processed),
            },
            regions=[body],
            result_types=[result_types],
        )

    @property
    def owned(self) -> Sequence[InputSpec]:
        return [attr.data for attr in self.constants] if self.constants is not None else ()

    def may_hold(self, op: Operation) -> bool:
        if isinstance(op, cf.OPERATIONS):
            return all(self.may_hold(inner) or isinstance(inner, cf.YieldOp) for inner in inside(op))
        return is_delegable(op) or names_sizes(op)

    def verify_(self) -> None:
        super().verify_()
        if self.owned and not isinstance(self.parent_op(), FuncOp):
            raise VerifyException("a delegate in a region owns no state")


def delegates_of(module: ModuleOp) -> list[DelegateOp]:
    """All delegates of a module."""
    return [op for op in module.walk() if isinstance(op, DelegateOp)]


def inside(op: Operation) -> Iterator[Operation]:
    """What is in the regions of an operation, and not in theirs."""
    return (inner for region in op.regions for block in region.blocks for inner in block.ops)


@irdl_op_definition
class DispatchOp(PartOp):
    """A part of the program that becomes one function of native code. It may also hold what computes sizes between its operators.

    `kernel` is the kind of kernel that is written for it; without one MLIR lowers it.

    ```mlir
    %y = backend.dispatch kernel "Matmul" inputs(%x, %w : tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> {
    ^bb0(%a : tensor<2x3xf32>, %b : tensor<3x4xf32>):
      %0 = edge.aten.mm(%a, %b) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
      %1 = edge.aten.relu(%0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
      backend.yield %1 : tensor<2x4xf32>
    }
    ```
    """

    name = "backend.dispatch"

    kernel = opt_prop_def(StringAttr)

    def may_hold(self, op: Operation) -> bool:
        return is_delegable(op) or names_sizes(op)

    assembly_format = "(`kernel` $kernel^)? (`inputs` `(` $inputs^ `:` type($inputs) `)`)? (`->` type($outputs)^)? attr-dict-with-keyword $body"

    def __init__(
        self,
        kernel: str | None,
        inputs: Sequence[SSAValue],
        body: Region,
        result_types: Sequence[Attribute],
    ):
        super().__init__(
            operands=[inputs],
            properties={"kernel": None if kernel is None else StringAttr(kernel)},
            regions=[body],
            result_types=[result_types],
        )


@irdl_op_definition
class AllocOp(IRDLOperation):
    """Memory for a tensor, nothing in it yet.

    ```mlir
    %0 = backend.alloc : tensor<2x3xf32>
    ```
    """

    name = "backend.alloc"

    result = result_def()

    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type: Attribute):
        super().__init__(result_types=[type])

    def verify_(self) -> None:
        if not is_tensor_type(self.result.type):
            raise VerifyException(f"{self.result.type} is no tensor")


@irdl_op_definition
class OutVariantOp(IRDLOperation):
    """An operator that writes its results to memory that it is given, and gives that back: `target` is its name, `functional` the
    operator that it is, `arguments` what that has besides operands.

    ```mlir
    %1 = backend.out_variant "aten.add.out" of "aten.add.Tensor" ins(%x, %y : tensor<2xf32>, tensor<2xf32>) outs(%0 : tensor<2xf32>) with {alpha = 2 : i64} -> tensor<2xf32>
    ```
    """

    name = "backend.out_variant"

    target = prop_def(StringAttr)
    functional = prop_def(StringAttr)
    arguments = opt_prop_def(DictionaryAttr)
    inputs = var_operand_def()
    outs = var_operand_def()
    outputs = var_result_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    assembly_format = "$target `of` $functional (`ins` `(` $inputs^ `:` type($inputs) `)`)? `outs` `(` $outs `:` type($outs) `)` (`with` $arguments^)? `->` type($outputs) attr-dict"

    def __init__(self, target: str, op: OperatorOp, outs: Sequence[SSAValue]):
        super().__init__(
            operands=[list(op.operands), list(outs)],
            properties={
                "target": StringAttr(target),
                "functional": StringAttr(op.SPEC.qualified_name),
                "arguments": DictionaryAttr(op.properties) if op.properties else None,
            },
            result_types=[list(op.result_types)],
        )

    def functional_op(self) -> OperatorOp:
        """The operation of the operator that it is, in no block. Raises `SpecError` for an operator that is not known."""
        name = self.functional.data
        cls = (OPERATORS if BACKEND in find(name).tags else edge.OPERATORS)[name]
        properties: Mapping[str, Attribute] = self.arguments.data if self.arguments is not None else {}
        return cls.create(
            operands=list(self.inputs), result_types=self.outputs.types, properties=properties, regions=[]
        )

    def verify_(self) -> None:
        check_types("outs", types_of(self.outs), types_of(self.outputs), eq)
        try:
            op = self.functional_op()
        except SpecError as error:
            raise VerifyException(str(error)) from None
        try:
            op.verify_()
            if out_variant(op.SPEC) != self.target.data:
                raise VerifyException(
                    f"the out-variant of {op.SPEC.qualified_name} is {out_variant(op.SPEC)}"
                )
        finally:
            op.erase()


VARIABLE, GROUP = "XDSL_EXIR_TARGETS", "xdsl_exir.targets"
"""Who says which Python describes targets and their operators: paths of `.py` files or names of modules, separated as in `PATH`; and
entry points of packages."""


@once
def load_targets() -> None:
    """Imports the Python of the targets that the environment and packages name, once. Raises `SpecError` for one that is not there."""
    for home in filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)):
        if home.endswith(".py") and not Path(home).is_file():
            raise SpecError(f"{VARIABLE}: no file {home}")
        import_functions(str(Path(home).resolve()) if home.endswith(".py") else home)
    for entry in entry_points(group=GROUP):
        import_functions(entry.module)


def dialect() -> Dialect:
    """The xDSL dialect."""
    load_targets()
    return Dialect(
        BACKEND,
        [
            YieldOp,
            DelegateOp,
            DispatchOp,
            AllocOp,
            OutVariantOp,
            *(OPERATORS[name] for name in OPERATORS.operators()),
        ],
        [],
        [MaterializesConstants()],
    )
