"""From a program to plain data (`exchange.graph`): the mirror of `importers.methods`. A method is an `ExportedGraph`.

What it gives is what PyTorch's own export would have given (`exporters/blocks.py`). Literals become `aten.full` where one number
fills them, and lifted constants else. Strides are those of the data for weights, and contiguous for all other tensors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from xdsl_exir.dialects.ancestry import calls_of, places_of
from xdsl_exir.dialects.backend import PartOp
from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.exir import ConstantOp
from xdsl_exir.dialects.expr import to_str
from xdsl_exir.dialects.signature import (
    INPUT,
    OUTPUT,
    InputAttr,
    InputKind,
    InputSpec,
    OutputAttr,
    OutputKind,
    OutputSpec,
    derived_ranges_of,
    guards_of,
    ranges_of,
)
from xdsl_exir.dialects.tensors import SymType, is_tensor_type, tensor_meta
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.exchange import graph as g
from xdsl_exir.exchange import pytree
from xdsl_exir.exchange.tensor_data import TensorData
from xdsl_exir.exporters.blocks import GraphWriter, origin_said
from xdsl_exir.exporters.contiguity import Contiguity
from xdsl_exir.exporters.guards import guard_text, symbol_places
from xdsl_exir.exporters.symbols import Symbols
from xdsl_exir.importers.strides import memory_of

if TYPE_CHECKING:
    from xdsl_exir.program import CallingConvention, Program, Slot

TORCH_VERSION = "2.13.0"
"""The PyTorch whose programs these are."""
OPSET = {"aten": 10}
"""Its operator versions."""
DIALECT = "ATEN"
"""What PyTorch calls functional programs, whichever operators they are of."""


def graph_of(program: Program, method: str | None = None) -> g.ExportedGraph:
    """A method of a program, the first by default, as plain data.

    Raises `UnsupportedError` that lists every operation that Export IR has no form for, `ExirError` for an unknown
    method.
    """
    program = exportable(program)
    return _graph(program, program.method(method))


def graphs_of(program: Program) -> dict[str, g.ExportedGraph]:
    """All methods of a program, by name, delegates as `executorch_call_delegate`. Raises what `graph_of` raises."""
    program = exportable(program, keeps_delegates=True)
    return {name: _graph(program, function) for name, function in program.methods.items()}


def exportable(program: Program, keeps_delegates: bool = False) -> Program:
    """The program without what PyTorch has other words for. Delegates it has none for: unless they are kept, their operators are put back."""
    from xdsl_exir.transforms.call_delegates import CallDelegates
    from xdsl_exir.transforms.flex_attention import ExpandFlexAttention, has_flex_attention
    from xdsl_exir.transforms.layouts import ToMemoryFormats
    from xdsl_exir.transforms.partition import InlineDelegates
    from xdsl_exir.transforms.verify import refuse_linalg

    refuse_linalg(program, "Export IR")
    program = program.inlined()
    if keeps_delegates:
        program = program.apply(CallDelegates())
    elif any(isinstance(op, PartOp) for op in program.module.walk()):
        program = program.apply(InlineDelegates())
    if has_flex_attention(program.module):  # which PyTorch itself does not save
        program = program.apply(ExpandFlexAttention())
    return program.apply(ToMemoryFormats())


def _graph(program: Program, function: FuncOp) -> g.ExportedGraph:
    return _Writer(program, function, program.conventions.get(function.sym_name.data)).program()


# Programs


def input_specs(function: FuncOp) -> list[InputSpec]:
    """What the arguments of a method are."""
    return _specs(
        function.arg_attrs, INPUT, InputAttr, len(function.body.block.args), InputSpec(InputKind.USER_INPUT)
    )


def output_specs(function: FuncOp) -> list[OutputSpec]:
    """What the results of a method are."""
    results = len(function.function_type.outputs.data)
    return _specs(function.res_attrs, OUTPUT, OutputAttr, results, OutputSpec(OutputKind.USER_OUTPUT))


def _specs(
    attrs: ArrayAttr[DictionaryAttr] | None, name: str, kind: Any, number: int, default: Any
) -> list[Any]:
    held = attrs.data if attrs is not None else (DictionaryAttr({}),) * number
    found: list[Any] = [item.data.get(name) for item in held]
    return [attr.data if isinstance(attr, kind) else default for attr in found]


_PREFIXES = {
    InputKind.PARAMETER: "p_",
    InputKind.BUFFER: "b_",
    InputKind.CONSTANT_TENSOR: "c_",
    InputKind.CUSTOM_OBJ: "obj_",
}
"""How PyTorch begins the names of inputs."""


def placeholder_name(spec: InputSpec, index: int) -> str:
    """What PyTorch calls an input of the graph."""
    if spec.kind is InputKind.USER_INPUT:
        return spec.target or f"arg_{index}"
    return _PREFIXES.get(spec.kind, "") + re.sub(r"[^a-zA-Z0-9]", "_", spec.target).lower()


_USER_OUTPUTS = (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT)


class _Writer:
    """Writes one method."""

    def __init__(self, program: Program, function: FuncOp, convention: CallingConvention | None):
        self.state = program.state
        self.function = function
        self.convention = convention
        self.ranges = ranges_of(function)
        self.symbols = Symbols.of(function, self.ranges)
        block = function.body.block
        names = [placeholder_name(spec, i) for i, spec in enumerate(input_specs(function))]
        self.graph = GraphWriter(
            block,
            self.symbols,
            self.lift,
            Contiguity(),
            names,
            modules=convention.modules if convention else {},
        )
        self.places = places_of(function)
        self.lifted: list[tuple[g.Ref, g.InputSpec]] = []
        self.data: dict[str, TensorData] = {}

    def lift(self, op: ConstantOp) -> g.Ref:
        """Makes a literal a constant of the program."""
        import numpy as np

        meta = tensor_meta(op.type)
        number = next(i for i in count(len(self.lifted)) if f"lifted_tensor_{i}" not in self.state)
        target = f"lifted_tensor_{number}"
        array = np.array(op.values, meta.dtype.numpy).reshape(op.type.get_shape())
        self.data[target] = TensorData.of(array, meta.dtype)
        ref = self.graph.define(op.result, f"c_{target}")
        self.lifted.append((ref, g.InputSpec("constant_tensor", ref.name, target)))
        return ref

    def program(self) -> g.ExportedGraph:
        inputs = self.inputs()
        results = self.graph.write()
        if self.graph.unsupported:
            raise UnsupportedError(self.graph.unsupported)
        first_user = next((i for i, (_, spec) in enumerate(inputs) if spec.kind in _USER), len(inputs))
        inputs[first_user:first_user] = self.lifted
        outputs = self.outputs(results)
        graph = g.Graph(
            tuple(value for value, _ in inputs),
            tuple(self.graph.nodes),
            tuple(spec.value for spec in outputs),
            self.graph.values,
        )
        specs = tuple(spec for _, spec in inputs)
        derived = {to_str(size): bounds for size, bounds in derived_ranges_of(self.function).items()}
        in_state = {spec.target for spec in specs if spec.kind == "parameter" or (spec.kind == "buffer" and spec.persistent)}  # fmt: skip
        in_spec, out_spec = self.tree_specs(inputs, outputs)
        trees = [in_spec, out_spec]
        for call in self.convention.calls.values() if self.convention else ():
            trees += [call.in_spec, call.out_spec] if call else []
        return g.ExportedGraph(
            graph=graph,
            inputs=specs,
            outputs=tuple(outputs),
            range_constraints=self.ranges | derived,
            guards_code=tuple(self.guards(inputs)),
            module_calls=self.module_calls(pytree.dumps(in_spec), pytree.dumps(out_spec)),
            namedtuple_fields={
                name: fields for tree in trees for name, fields in pytree.namedtuple_fields(tree).items()
            },
            state={name: data for name, data in self.data.items() if name in in_state},
            constants={name: data for name, data in self.data.items() if name not in in_state},
            dialect=DIALECT,
            torch_version=TORCH_VERSION,
            opset=OPSET,
            metadata={},
        )

    def inputs(self) -> list[tuple[g.Ref | g.Constant, g.InputSpec]]:
        """The inputs with what they are; those that export fixed stand where the calling convention has them."""
        inputs: list[tuple[g.Ref | g.Constant, g.InputSpec]] = []
        slots = iter(self.convention.inputs if self.convention else ())

        def constants() -> None:
            for slot in slots:
                if not slot.is_constant:
                    return
                name = self.graph.names.fresh(slot.name)
                inputs.append((slot.constant, g.InputSpec("constant_input", name, value=slot.constant)))

        arguments = self.function.body.block.args
        for argument, spec in zip(arguments, input_specs(self.function), strict=True):
            target: str | None = None
            data: TensorData | None = None
            if spec.kind is InputKind.USER_INPUT:
                constants()
            else:
                target = spec.target
                data = self.state.get(target)
                if data is not None:
                    self.data[target] = data
            grad = spec.kind is InputKind.PARAMETER and _may_require_grad(argument.type)
            meta = self.symbols.meta(argument.type, data, grad, spec.dim_order)
            if spec.dim_order is None and _is_row_major(argument.type, meta if data is not None else None):
                self.graph.contiguity.row_major.add(argument)
            ref = self.graph.define(argument, "", meta)
            persistent = spec.persistent if spec.kind is InputKind.BUFFER else None
            kind: Any = spec.kind.value
            inputs.append((ref, g.InputSpec(kind, ref.name, target, persistent)))
        constants()
        return inputs

    def outputs(self, results: Sequence[g.Value]) -> list[g.OutputSpec]:
        """The outputs, those included that are constants."""
        outputs: list[g.OutputSpec] = []
        slots = iter(self.convention.outputs if self.convention else ())
        # The name of a user input may have changed, that of what is mutated with it.
        inputs = zip(input_specs(self.function), self.function.body.block.args, strict=True)
        user_inputs = {
            spec.target: self.graph.env[arg] for spec, arg in inputs if spec.kind is InputKind.USER_INPUT
        }

        def constants() -> None:
            for slot in slots:
                if not slot.is_constant:
                    return
                outputs.append(g.OutputSpec("user_output", slot.constant))

        arguments = set(user_inputs.values())
        types = self.function.function_type.outputs
        for value, spec, type in zip(results, output_specs(self.function), types, strict=True):
            if spec.kind in _USER_OUTPUTS:
                constants()
            if spec.dim_order is not None and isinstance(value, g.Ref) and value not in arguments:
                self.graph.values[value.name] = self.symbols.meta(type, None, False, spec.dim_order)
            kind: Any = spec.kind.value
            target = spec.target or None
            if spec.kind is OutputKind.USER_INPUT_MUTATION:
                ref = user_inputs[spec.target]
                assert isinstance(ref, g.Ref)
                target = ref.name
            outputs.append(g.OutputSpec(kind, value, target))
        constants()
        return outputs

    def tree_specs(
        self, inputs: Sequence[tuple[Any, g.InputSpec]], outputs: Sequence[g.OutputSpec]
    ) -> tuple[pytree.TreeSpec, pytree.TreeSpec]:
        """The calling convention; without one, flat arguments and a tuple of results."""
        if self.convention is not None:
            return self.convention.in_spec, self.convention.out_spec
        users = sum(spec.kind in _USER for _, spec in inputs)
        results = sum(spec.kind in ("user_output", "loss_output") for spec in outputs)
        args = pytree.TreeSpec("builtins.tuple", None, (pytree.LEAF,) * users)
        kwargs = pytree.TreeSpec("builtins.dict", ())
        return (
            pytree.TreeSpec("builtins.tuple", None, (args, kwargs)),
            pytree.TreeSpec("builtins.tuple", None, (pytree.LEAF,) * results),
        )

    def guards(self, inputs: Sequence[tuple[g.Ref | g.Constant, g.InputSpec]]) -> Iterator[str]:
        """The conditions that inputs have to fulfil, as text."""
        conditions = guards_of(self.function)
        if not conditions:
            return
        if self.convention is None:
            raise UnsupportedError(
                [Unsupported("guard", "the inputs have no names, for nothing says how it is called")]
            )
        arguments = zip(input_specs(self.function), self.function.body.block.args, strict=True)
        types = iter(arg.type for spec, arg in arguments if spec.kind is InputKind.USER_INPUT)
        users = [spec for _, spec in inputs if spec.kind in _USER]
        leaves = [next(types) if spec.kind == "user_input" else None for spec in users]
        places = symbol_places(pytree.paths(self.convention.in_spec, self.convention.arg_names), leaves)
        for condition in conditions:
            yield guard_text(condition, places)

    def module_calls(self, in_spec: str, out_spec: str) -> tuple[g.ModuleCall, ...]:
        """The root's signature, and the modules below; if these are not known, those that operations came from. PyTorch
        names no values in the root's."""
        names = self.convention.arg_names if self.convention else None
        root = g.ModuleCall("", g.ModuleCallSignature((), (), in_spec, out_spec, names))
        if self.convention is not None and self.convention.calls:
            calls = self.convention.calls.items()
        else:
            calls = ((path, None) for op in self.function.walk() for path in origin_said(op).calls())
        ops = calls_of(self.function.body.block.ops)
        signatures = {
            path: self.module_signature(call, ops[path]) if call and path in ops else None
            for path, call in dict(calls).items()
        }
        return (root, *(g.ModuleCall(path, signature) for path, signature in signatures.items()))

    def module_signature(
        self, call: CallingConvention, ops: Sequence[Operation]
    ) -> g.ModuleCallSignature | None:
        """How a module is called; what was dropped because nothing reads it is None there. None for a module that takes
        or gives other values than it did, of which PyTorch could not make a module."""
        inputs, outputs = (tuple(map(self.at_boundary, side)) for side in (call.inputs, call.outputs))
        group, block = set(ops), self.function.body.block
        taken = (
            value
            for op in ops
            for inner in op.walk()
            for value in inner.operands
            if isinstance(value.owner, Operation) and value.owner.parent is block
            if value.owner not in group and not isinstance(value.type, SymType)
        )
        given = (
            value
            for op in ops
            for value in op.results
            if any(block.find_ancestor_op_in_block(use.operation) not in group for use in value.uses)
        )
        for values, side in ((taken, inputs), (given, outputs)):
            if not {name for value in values for name in g.references(self.graph.env[value])} <= {
                name for value in side for name in g.references(value)
            }:
                return None
        return g.ModuleCallSignature(
            inputs, outputs, pytree.dumps(call.in_spec), pytree.dumps(call.out_spec), call.arg_names
        )

    def at_boundary(self, slot: Slot) -> g.Value:
        """What a module takes or gives."""
        value = self.places.get((slot.name, slot.index))
        return slot.constant if slot.is_constant or value is None else self.graph.env[value]


_USER = ("user_input", "constant_input")


def _is_row_major(type: Attribute, data: g.ValueMeta | None) -> bool:
    """Whether an argument is row-major: one with data as these are, others as their type says."""
    if isinstance(data, g.TensorMeta):
        return memory_of(data).is_contiguous
    return is_tensor_type(type) and tensor_meta(type).dim_order is None


def _may_require_grad(type: Attribute) -> bool:
    return is_tensor_type(type) and tensor_meta(type).dtype.category >= Category.FLOAT
