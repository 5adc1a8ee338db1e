"""`grad{wrt="fc.weight","x" of=0}`: a method becomes its forward and its backward pass, on aten.

What has no gradient rule of its own (`gradients/`) is decomposed until it has; then gradients are carried back from an
output (`reverse`) to parameters and inputs, whose gradients are further results. The signature is that of PyTorch's joint
graphs: the output is the loss, gradients are of kinds of their own, which `Executable.gradients` and exporters know.

What the backward pass uses of the forward one is what rules ask for, and nothing else is kept. `recompute` names
operators, or families of them, whose results are computed again where the backward pass needs them: those operations bear
`exir.recomputed`, by which passes that merge what is equal leave them alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import is_side_effect_free
from xdsl.transforms.dead_code_elimination import region_dce

from xdsl_exir.dialects import aten
from xdsl_exir.dialects.builder import Builder, Namespace, meta, sizes
from xdsl_exir.dialects.control_flow import FlexAttentionOp
from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.meta import numel, same_size
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.signature import (
    INPUT,
    MUTATIONS,
    OUTPUT,
    RECOMPUTED,
    InputAttr,
    InputKind,
    InputSpec,
    OutputAttr,
    OutputKind,
    OutputSpec,
)
from xdsl_exir.dialects.spec import FAMILIES, find, specs
from xdsl_exir.errors import ExirError
from xdsl_exir.program import methods_of
from xdsl_exir.transforms.decompose_aten import Decomposer
from xdsl_exir.transforms.decompositions.backward import zeros
from xdsl_exir.transforms.flex_attention import FlexAttention
from xdsl_exir.transforms.gradients.control_flow import is_differentiable
from xdsl_exir.transforms.patterns import apply_once
from xdsl_exir.transforms.reverse import has_rule, pull_back

USER_OUTPUTS = (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT)
GRADIENT_OF = {
    InputKind.PARAMETER: OutputKind.GRADIENT_TO_PARAMETER,
    InputKind.USER_INPUT: OutputKind.GRADIENT_TO_USER_INPUT,
}
STATE = (InputKind.BUFFER, InputKind.CONSTANT_TENSOR)
"""What counts as constant, but where it is named: then it becomes a parameter."""

S = TypeVar("S", InputSpec, OutputSpec)


@dataclass(frozen=True)
class Grad(ModulePass):
    """Gives a method the gradients of its loss.

    Raises `UnsupportedError` listing the operations that no gradient passes, `ExirError` for names of nothing, for what is not
    differentiable, and for an output that is no loss.
    """

    name = "grad"

    wrt: tuple[str, ...] = ()
    """Names of parameters, buffers and inputs; all parameters where none is named."""
    of: int | str | None = None
    """The output that is the loss: which one, counted from 0, or of a program with gradients the name of what it is one of."""
    method: str | None = None
    """The first where none is named."""
    cotangents: bool = False
    """Whether what outputs get of a gradient is given, by further inputs `cotangent_0`...; else the output is one number."""
    recompute: tuple[str, ...] = ()
    """Operators (`aten.relu`), patterns of them, or families, that are computed again in place of being kept. What one of them
    needs of another is computed again with it, and then kept: sums that lead through a whole model are better left out."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        methods = methods_of(op)
        if not methods or (self.method is not None and self.method not in methods):
            raise ExirError(
                f"grad: no method '{self.method or ''}'; there are {', '.join(methods) or 'none'}"
            )
        function = methods[self.method] if self.method is not None else next(iter(methods.values()))
        again = recomputing(self.recompute)
        recompute(Joint(function, self).build(), again)
        region_dce(function.body)


class Joint:
    """A method on its way to forward and backward."""

    def __init__(self, function: FuncOp, asked: Grad):
        self.function = function
        self.asked = asked
        block = function.body.block
        end = block.last_op
        if not isinstance(end, ReturnOp):
            raise ExirError(f"grad: {function.sym_name.data} does not end in func.return")
        self.end = end
        self.inputs = _specs(function.arg_attrs, INPUT, len(block.args), _INPUT)
        self.outputs = _specs(function.res_attrs, OUTPUT, len(end.arguments), _OUTPUT)

    def build(self) -> list[Operation]:
        """Adds the gradients to what the method gives; gives the operations of the backward pass."""
        self.refuse_other_stages()
        wrt, ends = self.wrt(), self.ends()
        self.decompose()
        seeds = self.seeds(ends)
        builder = Builder(aten.OPERATORS, self.end)
        body = [op for op in self.function.body.block.ops if op is not self.end]
        found = pull_back(builder, body, seeds, wrt)
        namespace = Namespace(builder)
        grads = [
            zeros(namespace, sizes(namespace, value), meta(value).dtype) if grad is None else grad
            for value, grad in zip(wrt, found, strict=True)
        ]
        self.sign(ends, wrt, grads)
        return builder.made

    def refuse_other_stages(self) -> None:
        for op in self.function.walk():
            if isinstance(op, OperatorOp) and not op.NUMBERS:
                raise ExirError(f"grad: {op.name}: gradients are taken in aten, before to_edge")

    def decompose(self) -> None:
        apply_once(self.function, FlexAttention(), FlexAttentionOp)
        apply_once(self.function, Decomposer(lambda name: has_rule(find(name))))

    # --- what is asked for

    def name_of(self, place: int) -> str:
        """How an argument is called: as its state or input is, or as its value is in text."""
        spec, arg = self.inputs[place], self.function.body.block.args[place]
        return spec.target or arg.name_hint or f"arg{place}"

    def wrt(self) -> list[BlockArgument]:
        """The arguments whose gradients are asked for."""
        args = list(self.function.body.block.args)
        names = [self.name_of(place) for place in range(len(args))]
        if not self.asked.wrt:
            is_parameter = (spec.kind is InputKind.PARAMETER for spec in self.inputs)
            found = [
                arg for arg, it_is in zip(args, is_parameter, strict=True) if it_is and is_differentiable(arg)
            ]
            if not found:
                raise ExirError(f"grad: no parameters; wrt names some of {', '.join(names) or 'nothing'}")
            return found
        for name in self.asked.wrt:
            if name not in names:
                raise ExirError(f"grad: wrt: no '{name}'; there is {', '.join(names) or 'nothing'}")
            if not is_differentiable(args[names.index(name)]):
                raise ExirError(
                    f"grad: wrt: '{name}' is {args[names.index(name)].type}: only floats have gradients"
                )
        return [args[names.index(name)] for name in dict.fromkeys(self.asked.wrt)]

    def ends(self) -> list[int]:
        """The results to differentiate."""
        users = [place for place, spec in enumerate(self.outputs) if spec.kind in USER_OUTPUTS]
        match self.asked.of:
            case None if self.asked.cotangents:
                return [place for place in users if is_differentiable(self.end.arguments[place])]
            case None if len(users) == 1:
                return [self.checked(users[0])]
            case None:
                raise ExirError(f"grad: {len(users)} outputs: `of` says which is the loss")
            case bool() as of:
                raise ExirError(f"grad: of: {of} is no output")
            case int() as of if 0 <= of < len(users):
                return [self.checked(users[of])]
            case int() as of:
                raise ExirError(f"grad: of: no output {of}; there are {len(users)}")
            case of:
                named = [place for place, spec in enumerate(self.outputs) if spec.target == of]
                gradients = [place for place in named if self.outputs[place].kind in GRADIENT_OF.values()]
                if not gradients:
                    raise ExirError(f"grad: of: no gradient of '{of}' among the outputs, which are numbered")
                return [self.checked(gradients[0])]

    def checked(self, place: int) -> int:
        """An output that may be differentiated."""
        value = self.end.arguments[place]
        if not is_differentiable(value):
            raise ExirError(f"grad: the output is {value.type}: only floats have gradients")
        if not self.asked.cotangents:
            is_one = same_size(numel(meta(value).shape), 1)
            if not is_one or meta(value).dtype.category is Category.COMPLEX:
                raise ExirError(
                    f"grad: the output is {value.type}, and a loss is one real number: name another, or give cotangents"
                )
        return place

    def seeds(self, ends: Sequence[int]) -> list[tuple[SSAValue, SSAValue | None]]:
        """The results with the gradients that they have: 1, or what is given."""
        values = [self.end.arguments[place] for place in ends]
        if self.asked.cotangents:
            return [(value, self.cotangent(number, value)) for number, value in enumerate(values)]
        namespace = Namespace(Builder(aten.OPERATORS, self.end))
        return [
            (value, namespace.full(sizes(namespace, value), 1, dtype=meta(value).dtype)) for value in values
        ]

    def cotangent(self, number: int, value: SSAValue) -> SSAValue:
        """A further input, with the gradient of an output."""
        taken = sum(spec.target.startswith("cotangent_") for spec in self.inputs) - number
        name = f"cotangent_{number + taken}"
        arg = self.function.body.block.insert_arg(value.type, len(self.inputs))
        arg.name_hint = name
        self.inputs.append(InputSpec(InputKind.USER_INPUT, name))
        return arg

    # --- the signature

    def sign(self, ends: Sequence[int], wrt: Sequence[BlockArgument], grads: Sequence[SSAValue]) -> None:
        """Says what arguments and results are."""
        for arg in wrt:
            spec = self.inputs[arg.index]
            if spec.kind in STATE:
                self.inputs[arg.index] = InputSpec(InputKind.PARAMETER, spec.target)
        outputs = [
            replace(spec, kind=OutputKind.PARAMETER_MUTATION) if self.is_now_a_parameter(spec) else spec
            for spec in map(plain, self.outputs)
        ]
        if not self.asked.cotangents:
            outputs[ends[0]] = replace(outputs[ends[0]], kind=OutputKind.LOSS_OUTPUT)
        for arg in wrt:
            spec = self.inputs[arg.index]
            if spec.kind not in GRADIENT_OF:
                raise ExirError(f"grad: wrt: '{self.name_of(arg.index)}' is a {spec.kind.value}")
            outputs.append(OutputSpec(GRADIENT_OF[spec.kind], self.name_of(arg.index)))
        self.end.operands = [*self.end.arguments, *grads]
        self.function.arg_attrs = _attrs(
            self.function.arg_attrs, INPUT, [InputAttr(spec) for spec in self.named()]
        )
        self.function.res_attrs = _attrs(
            self.function.res_attrs, OUTPUT, [OutputAttr(spec) for spec in outputs]
        )
        self.function.update_function_type()

    def is_now_a_parameter(self, spec: OutputSpec) -> bool:
        parameters = {given.target for given in self.inputs if given.kind is InputKind.PARAMETER}
        return MUTATIONS.get(spec.kind) is InputKind.BUFFER and spec.target in parameters

    def named(self) -> list[InputSpec]:
        """The inputs, all with names: gradients are of inputs by name."""
        return [
            spec if spec.target else replace(spec, target=self.name_of(place))
            for place, spec in enumerate(self.inputs)
        ]


def plain(spec: OutputSpec) -> OutputSpec:
    """What was the loss, or a gradient, is an output like others."""
    was = (OutputKind.LOSS_OUTPUT, *GRADIENT_OF.values())
    return OutputSpec(OutputKind.USER_OUTPUT, dim_order=spec.dim_order) if spec.kind in was else spec


def former_gradients(function: FuncOp) -> list[str]:
    """What the gradients are for that a method gives."""
    outputs = _specs(function.res_attrs, OUTPUT, len(function.function_type.outputs), _OUTPUT)
    return [spec.target for spec in outputs if spec.kind in GRADIENT_OF.values()]


def added_inputs(before: FuncOp, after: FuncOp) -> list[str]:
    """The inputs that a method takes besides those that it took."""
    held = [_specs(each.arg_attrs, INPUT, len(each.args), _INPUT) for each in (before, after)]
    return [spec.target for spec in held[1][len(held[0]) :]]


_INPUT, _OUTPUT = InputSpec(InputKind.USER_INPUT), OutputSpec(OutputKind.USER_OUTPUT)


def _specs(attrs: ArrayAttr[DictionaryAttr] | None, name: str, count: int, default: S) -> list[S]:
    held = list(attrs or ())
    found = [item.data.get(name) for item in held] + [None] * (count - len(held))
    return [attr.data if isinstance(attr, InputAttr | OutputAttr) else default for attr in found]  # pyright: ignore


def _attrs(
    attrs: ArrayAttr[DictionaryAttr] | None, name: str, specs: Sequence[Attribute]
) -> ArrayAttr[DictionaryAttr]:
    held = [dict(item.data) for item in attrs or ()] + [{}] * len(specs)
    return ArrayAttr(DictionaryAttr({**item, name: spec}) for item, spec in zip(held, specs, strict=False))


# --- recomputation -------------------------------------------------------------------------------------------


def recomputing(names: Iterable[str]) -> frozenset[str]:
    """The operators that names, patterns and families say. Raises `ExirError` for those that say none."""
    found = set[str]()
    for name in names:
        said = {
            known
            for known, spec in specs().items()
            if fnmatchcase(known, name) or (name in FAMILIES and spec.family == name)
        }
        if not said:
            raise ExirError(f"grad: recompute: '{name}' is no operator, no pattern of some, and no family")
        found |= said
    return frozenset(found)


def recompute(backward: Sequence[Operation], names: frozenset[str]) -> None:
    """What a backward pass uses of the forward one, and these operators gave, is computed again where it is first used."""
    later, again = set(backward), dict[SSAValue, SSAValue]()

    def anew(value: SSAValue, before: Operation) -> SSAValue:
        op = value.owner
        if value in again or not isinstance(op, OperatorOp) or op in later:
            return again.get(value, value)
        if op.SPEC.qualified_name not in names or not is_side_effect_free(op):
            return value
        copy = op.clone(value_mapper={operand: anew(operand, before) for operand in op.operands})
        copy.attributes[RECOMPUTED] = UnitAttr()
        block = before.parent
        assert block is not None
        block.insert_op_before(copy, before)
        again.update(zip(op.results, copy.results, strict=True))
        return again[value]

    if names:
        for op in backward:
            if op.parent is not None:
                op.operands = [anew(operand, op) for operand in op.operands]
