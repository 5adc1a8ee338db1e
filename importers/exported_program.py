"""Reads a live `torch.export.ExportedProgram` into the form that `.pt2` files are read into.

The result equals that of reading the saved program: values have the names, arguments the names and kinds that
PyTorch's serializer gives them (`torch/_export/serde/serialize.py`), only that what it cannot save can be read here
too, such as lists that mix numbers and symbols. Tensors are not copied. This is the only module that imports torch, and does it
inside its functions.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from xdsl_exir.dialects.dtypes import BY_TORCH_NAME, DType
from xdsl_exir.dialects.spec import hint
from xdsl_exir.errors import LoadError, Unsupported, UnsupportedError, UnsupportedTensorError
from xdsl_exir.exchange.graph import (
    MAX_NESTING,
    Constant,
    CustomObj,
    CustomObjMeta,
    Device,
    ExportedGraph,
    Graph,
    InputSpec,
    Layout,
    MemoryFormat,
    ModuleCall,
    ModuleCallSignature,
    Node,
    NodeInput,
    OperatorRef,
    OutputSpec,
    Ref,
    Result,
    Subgraph,
    Symbolic,
    SymMeta,
    TensorMeta,
    Value,
    ValueMeta,
    check_program,
    normal_target,
)
from xdsl_exir.exchange.tensor_data import Storage, TensorData
from xdsl_exir.importers.delegates import CALL_DELEGATE, Owned, is_lowered, lowered_parts
from xdsl_exir.importers.exported_pytree import (
    import_untyped,
    namedtuple_fields,
    register_containers,
    treespec,
)
from xdsl_exir.importers.taken_apart import taken_apart


def read_exported_program(ep: Any, share: bool = False) -> ExportedGraph:
    """The program as plain data, with its weights as they are now or, to `share` them, as views of the tensors. Raises LoadError."""
    torch = import_untyped("torch")

    if not isinstance(ep, torch.export.ExportedProgram):
        raise LoadError(f"expected a torch.export.ExportedProgram, got a {type(ep).__name__}")
    ep = taken_apart(ep)
    register_containers(ep.module_call_graph)
    storages = _Storages(share)
    reader = _GraphReader(ep.graph_module)
    graph, owned = reader.read(), reader.owned
    program = ExportedGraph(
        graph=replace(graph, inputs=(*(Ref(each.name) for each in owned), *graph.inputs)),
        inputs=(
            *(InputSpec("constant_tensor", each.name, each.name) for each in owned),
            *(_input_spec(spec) for spec in ep.graph_signature.input_specs),
        ),
        outputs=tuple(_output_spec(spec, ep.graph_signature) for spec in ep.graph_signature.output_specs),
        range_constraints={
            str(k): (_bound(v.lower), _bound(v.upper)) for k, v in ep.range_constraints.items()
        },
        guards_code=tuple(ep._guards_code),
        module_calls=tuple(_module_call(entry) for entry in ep.module_call_graph),
        namedtuple_fields=namedtuple_fields(ep.module_call_graph),
        state={name: _tensor_data(name, tensor, storages) for name, tensor in ep.state_dict.items()},
        constants={
            name: _tensor_data(name, tensor, storages)
            for name, tensor in (*ep.constants.items(), *((each.name, each.tensor) for each in owned))
        },
        dialect=ep.verifiers[0].dialect,
        torch_version=str(torch.__version__),
        opset={"aten": torch._C._get_max_operator_version()},
        metadata={"custom": json.dumps(custom)} if (custom := ep.graph_module.meta.get("custom")) else {},
    )
    check_program(program, "ExportedProgram")
    return program


# Graphs


FLAT_APPLY = "higher_order.flat_apply"
MOD_INDEX = "torch._dynamo._trace_wrapped_higher_order_op.ModIndex"
"""How functions of `flex_attention` index tensors, a function of Python that `flat_apply` calls."""
LARGEST_LITERAL = 256
"""Elements that a tensor may have which is written down in a function of control flow."""
ENTER_AUTOCAST = "torch.amp.autocast_mode._enter_autocast"


class _GraphReader:
    """Reads one FX graph. Sub-graphs get a reader of their own: they see nothing of the graph around them."""

    def __init__(self, graph_module: Any, depth: int = 0):
        self.module = graph_module
        self.depth = depth
        """How many graphs it is in."""
        self.env: dict[Any, Value] = {}
        """What each FX node stands for where it is used."""
        self.values: dict[str, ValueMeta] = {}
        self.owned: list[Owned] = []
        """What delegates of ExecuTorch's own: state of the program's, before its other inputs."""

    def read(self) -> Graph:
        inputs: list[Ref | CustomObj | Constant] = []
        nodes: list[Node] = []
        outputs: tuple[Value, ...] = ()
        single = False
        for node in self.module.graph.nodes:
            match node.op:
                case "placeholder":
                    inputs.append(self.placeholder(node))
                case "get_attr":
                    self.env[node] = self.attribute(node, nodes)
                case "call_function":
                    if not _is_getitem(node):  # part of the node it reads
                        nodes.append(self.call(node))
                        if nodes[-1].target == ENTER_AUTOCAST:
                            self.env[node] = None  # what leaves it names it
                case "output":
                    single = not isinstance(node.args[0], tuple | list)
                    value = self.value(node.args[0])
                    outputs = value if isinstance(value, tuple) else (value,)
                case _:
                    raise LoadError(f"node {node.name}: {node.op} nodes do not occur in exported programs")
        return Graph(tuple(inputs), tuple(nodes), outputs, self.values, single)

    def placeholder(self, node: Any) -> Ref | CustomObj | Constant:
        kinds = import_untyped("torch.export.graph_signature")

        meta = node.meta["val"]
        if meta is None or isinstance(meta, bool | int | float | str):
            value = meta
        elif isinstance(meta, kinds.CustomObjArgument):
            value = CustomObj(node.name, meta.class_fqn)
            self.values[node.name] = CustomObjMeta(meta.class_fqn)
        else:
            value = self.define(node.name, meta)
        self.env[node] = value
        return value

    def attribute(self, node: Any, nodes: list[Node]) -> Value:
        torch = import_untyped("torch")

        attribute = getattr(self.module, node.target)
        if isinstance(attribute, torch.Tensor):
            nodes += self.literal(node, attribute)
            return Ref(nodes[-1].name)
        if isinstance(attribute, torch.fx.GraphModule):
            if self.depth == MAX_NESTING:
                raise LoadError(f"node {node.name}: more than {MAX_NESTING} graphs in one another")
            return Subgraph(node.target, _GraphReader(attribute, self.depth + 1).read())
        if isinstance(attribute, torch.utils._pytree.TreeSpec) or is_lowered(attribute):
            return None  # of a call of Python, whose arguments are flat, or of a delegate, which reads it
        raise LoadError(
            f"node {node.name}: attribute {node.target} is a {type(attribute).__name__}, not a graph"
        )

    def literal(self, node: Any, tensor: Any) -> list[Node]:
        """A tensor that a function of control flow writes down (`torch.tensor([1, 2])`), made of its elements: such
        graphs have no inputs that are constants. Raises `UnsupportedError` for one that is too large."""
        if tensor.numel() > LARGEST_LITERAL:
            reason = f"{tensor.numel()} elements in a function of control flow; make them a buffer"
            raise UnsupportedError([Unsupported("torch.tensor", reason)])
        tensor = tensor.detach()
        elements = tensor.flatten()

        def call(operator: str, name: str, value: Any, **arguments: Value) -> Node:
            inputs = tuple(NodeInput(key, argument, key == "dtype") for key, argument in arguments.items())
            trace = node.meta.get("stack_trace") or ""
            return Node(name, f"aten.{operator}", inputs, (self.define(name, value),), stack_trace=trace)

        def full(name: str, value: Any, element: Any) -> Node:
            sizes, dtype = tuple(value.shape), BY_TORCH_NAME[str(value.dtype).removeprefix("torch.")]
            return call("full", name, value, size=sizes, fill_value=element.item(), dtype=dtype)

        if tensor.numel() <= 1:
            element = elements[0] if tensor.numel() else tensor.new_zeros(())
            return [full(node.name, tensor, element)]
        each = [full(f"{node.name}_{i}", element, element) for i, element in enumerate(elements)]
        row = call("stack", f"{node.name}_row", elements, tensors=tuple(Ref(one.name) for one in each))
        shaped = call("view", node.name, tensor, self=Ref(row.name), size=tuple(tensor.shape))
        return [*each, row, shaped]

    def call(self, node: Any) -> Node:
        meta = node.meta
        target = _target(node.target)
        if target == FLAT_APPLY:
            target, inputs = self.python_call(node)
        elif target == CALL_DELEGATE and is_lowered(
            module := getattr(self.module, str(node.args[0].target), None)
        ):
            inputs = self.delegate(node, module)
        else:
            inputs = self.inputs(node)
        return Node(
            node.name,
            target,
            inputs,
            self.results(node),
            _returns_single_tensor(node),
            meta.get("stack_trace") or "",
            _module_stack(meta.get("nn_module_stack")),
            ";".join(meta.get("torch_fn") or ()),
        )

    def python_call(self, node: Any) -> tuple[str, tuple[NodeInput, ...]]:
        """The operator and arguments of a call of Python, `flat_apply(spec, spec, function, *leaves)`. Raises
        `UnsupportedError` for any function but one."""
        _, _, function, source, *indices = node.args
        if function != MOD_INDEX:
            raise UnsupportedError([Unsupported(FLAT_APPLY, f"unknown operator{hint(FLAT_APPLY)}")])
        inputs = {"self": self.value(source), "indices": self.value(indices)}
        return "aten.index.Tensor", tuple(NodeInput(name, value, False) for name, value in inputs.items())

    def delegate(self, node: Any, module: Any) -> tuple[NodeInput, ...]:
        """The arguments of a delegate of ExecuTorch's, `executorch_call_delegate(lowered_module, *operands)`, as exporters here write them: its graph, all
        that it needs, its backend, and what is said of it. Raises `UnsupportedError` for one in a region."""
        if self.depth:
            raise UnsupportedError([Unsupported(CALL_DELEGATE, "a delegate in a region owns no state")])
        inside = lowered_parts(module, node.args[0].target)
        graph = _GraphReader(module.original_module.graph_module, self.depth + 1).read()
        for each in inside.owned:
            self.define(each.name, each.tensor)
        self.owned += inside.owned
        operands = *map(self.value, node.args[1:]), *(Ref(each.name) for each in inside.owned)
        given = Subgraph(node.args[0].target, inside.ordered(graph, _tensor_meta))
        return tuple(NodeInput("", value, False) for value in (given, operands, inside.backend, inside.said))

    # Arguments

    def inputs(self, node: Any) -> tuple[NodeInput, ...]:
        """Arguments in the order of the operator's schema, if it has one, under its names."""
        torch = import_untyped("torch")

        operator = _operator(node.target)
        if isinstance(operator, torch._ops.OpOverload):
            names = _argument_names(operator)
        elif _is_symbolic(node):
            names = _parameter_names(node.target)
        else:
            names = ("",) * len(node.args)
        positional = [
            NodeInput(name, self.value(arg), False) for name, arg in zip(names, node.args, strict=False)
        ]
        keyword = [NodeInput(name, self.value(arg), True) for name, arg in node.kwargs.items()]
        order = {name: i for i, name in enumerate(names)}
        return (*positional, *sorted(keyword, key=lambda argument: order.get(argument.name, len(order))))

    def value(self, arg: Any) -> Value:
        torch = import_untyped("torch")

        match arg:
            case torch.fx.Node():
                return self.env[arg]
            case None | bool() | int() | float() | complex() | str():
                return arg
            case _ if _is_list(arg):
                return tuple(self.value(item) for item in arg)
            case _ if _is_dict(arg):
                return {key: self.value(item) for key, item in arg.items()}
            case torch.dtype():
                return _dtype(arg)
            case torch.device():
                return Device(str(arg))
            case torch.layout():
                return Layout(str(arg).removeprefix("torch."))
            case torch.memory_format():
                return MemoryFormat(str(arg).removeprefix("torch."))
            case torch._ops.OpOverload() | torch._ops.HigherOrderOperator():
                return OperatorRef(_target(arg))
            case _:
                raise LoadError(f"an argument of type {type(arg).__name__} is not supported: {arg!r:.200}")

    # Results

    def results(self, node: Any) -> tuple[Result, ...]:
        """The results of a node, under the names of the `getitem` nodes that read them. One that nothing reads is
        called `NODE_unused_INDEX`."""
        torch = import_untyped("torch")

        meta, operator = node.meta.get("val"), _operator(node.target)
        if isinstance(operator, torch._ops.OpOverload):
            returns = len(operator._schema.returns)
            if returns == 0:
                return ()
            if returns == 1 and _is_list(meta):
                return (self.read_by(node, node.name, meta),)
        if _is_dict(meta):
            return (self.read_by(node, node.name, meta),)
        if not _is_list(meta):
            return (self.result(node, node.name, meta),)
        items = self.getitems(node)
        return tuple(
            self.read_by(items.get(i), f"{node.name}_unused_{i}", part)
            if _is_list(part)
            else self.result(items.get(i), f"{node.name}_unused_{i}", part)
            for i, part in enumerate(meta)
        )

    def read_by(
        self, node: Any | None, name: str, parts: Sequence[Any] | Mapping[str, Any]
    ) -> tuple[Ref | None, ...]:
        """The elements of a list result, which `node` stands for, if any node does."""
        items = self.getitems(node) if node is not None else {}
        indexed = parts.items() if isinstance(parts, Mapping) else enumerate(parts)
        prefix = name if node is None else f"{node.name}_unused"
        return tuple(
            self.result(items.get(i), f"{prefix}_{i}", part) for i, part in indexed if part is not None
        )

    def result(self, node: Any | None, name: str, meta: Any) -> Ref | None:
        """One result, which `node` stands for; if there is none, it gets the name."""
        if meta is None:
            return None
        ref = self.define(name if node is None else node.name, meta)
        if node is not None:
            self.env[node] = ref
        return ref

    def getitems(self, node: Any) -> dict[Any, Any]:
        """The first `getitem` node for each index; later ones stand for the same value. Each comes before its users."""
        first: dict[Any, Any] = {}
        for user in node.users:
            if not _is_getitem(user):
                raise LoadError(f"node {user.name} uses all results of {node.name} at once")
            original = first.setdefault(user.args[1], user)
            self.env[user] = Ref(original.name)
        return first

    def define(self, name: str, meta: Any) -> Ref:
        self.values[name] = _value_meta(name, meta)
        return Ref(name)


def _is_list(value: Any) -> bool:
    return isinstance(value, tuple | list)


def _is_dict(value: Any) -> bool:
    return isinstance(value, dict)


def _module_stack(stack: Any) -> str:
    return ";".join(f"{key},{path},{cls}" for key, (path, cls) in stack.items()) if stack else ""


def _is_getitem(node: Any) -> bool:
    import operator

    return node.op == "call_function" and node.target is operator.getitem


def _is_symbolic(node: Any) -> bool:
    """Whether the node calls a Python function on symbolic numbers."""
    torch = import_untyped("torch")

    if isinstance(node.target, torch._ops.HigherOrderOperator):
        return False
    numbers = bool | int | float | torch.SymInt | torch.SymFloat | torch.SymBool
    return isinstance(node.meta.get("val"), numbers) or node.target.__module__ in ("_operator", "math")


def _returns_single_tensor(node: Any) -> bool | None:
    torch = import_untyped("torch")

    if not isinstance(node.target, torch._ops.HigherOrderOperator):
        return None
    return isinstance(node.meta.get("val"), torch.Tensor)


def _operator(target: Any) -> Any:
    """What a node calls. Operators of ExecuTorch's edge programs stand for those of PyTorch that they hold."""
    overload = import_untyped("torch")._ops.OpOverload
    held = getattr(target, "_op", None)
    return held if isinstance(held, overload) and not isinstance(target, overload) else target


def _target(target: Any) -> str:
    target = _operator(target)
    return normal_target(f"{target.__module__.replace('torch._ops', 'torch.ops')}.{target.__name__}")


@lru_cache(maxsize=4096)
def _argument_names(overload: Any) -> tuple[str, ...]:
    return tuple(argument.name for argument in overload._schema.arguments)


@lru_cache(maxsize=256)
def _parameter_names(function: Callable[..., object]) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


# Values


def _value_meta(name: str, meta: Any) -> ValueMeta:
    torch = import_untyped("torch")
    symbolic_shapes = import_untyped("torch.fx.experimental.symbolic_shapes")

    match meta:
        case torch.Tensor():
            return _tensor_meta(name, meta)
        case bool() | torch.SymBool():
            return SymMeta("bool", bool(meta) if symbolic_shapes.is_concrete_bool(meta) else _symbolic(meta))
        case int() | torch.SymInt():
            return SymMeta("int", _int(meta))
        case float() | torch.SymFloat():
            return SymMeta(
                "float", float(meta) if symbolic_shapes.is_concrete_float(meta) else _symbolic(meta)
            )
        case _:
            raise LoadError(f"value {name} is a {type(meta).__name__}, which is not supported")


def _tensor_meta(name: str, tensor: Any) -> TensorMeta:
    layout = Layout(str(tensor.layout).removeprefix("torch."))
    is_strided = layout.name == "strided"
    return TensorMeta(
        dtype=_dtype(tensor.dtype, f"value {name}"),
        sizes=tuple(map(_int, tensor.shape)),
        requires_grad=tensor.requires_grad,
        device=Device(str(tensor.device)),
        strides=tuple(map(_int, tensor.stride() if is_strided else [0] * tensor.ndim)),
        storage_offset=_int(tensor.storage_offset()) if is_strided else 0,
        layout=layout,
    )


def _dtype(dtype: Any, at: str = "") -> DType:
    name = str(dtype).removeprefix("torch.")
    if name not in BY_TORCH_NAME:
        raise UnsupportedTensorError(f"dtype {name}", at)
    return BY_TORCH_NAME[name]


def _int(number: Any) -> int | Symbolic:
    symbolic_shapes = import_untyped("torch.fx.experimental.symbolic_shapes")

    if type(number) is int or symbolic_shapes.is_concrete_int(number):
        return int(number)
    return _symbolic(number)


def _symbolic(number: Any) -> Symbolic:
    return Symbolic(_srepr(number.node.expr), number.node.hint)


@lru_cache(maxsize=4096)
def _srepr(expr: Any) -> str:
    sympy = import_untyped("sympy")

    return sympy.srepr(expr)


def _bound(value: Any) -> int | None:
    """An end of a range; None if it is infinite."""
    sympy = import_untyped("sympy")
    int_oo = import_untyped("torch.utils._sympy.numbers").int_oo

    if value in (sympy.oo, int_oo, -sympy.oo, -int_oo):
        return None
    if not isinstance(value, sympy.Integer):
        raise LoadError(f"range constraint {value} is no integer")
    return int(value)


# The signature


def _argument_spec(spec: Any) -> Value:
    """What an ArgumentSpec names: a constant, or a value of the graph."""
    kinds = import_untyped("torch.export.graph_signature")

    if isinstance(spec, kinds.ConstantArgument):
        return spec.value
    if isinstance(spec, kinds.CustomObjArgument):
        return CustomObj(spec.name, spec.class_fqn)
    return Ref(spec.name)


def _input_spec(spec: Any) -> InputSpec:
    kinds = import_untyped("torch.export.graph_signature")

    if isinstance(spec.arg, kinds.ConstantArgument):
        return InputSpec("constant_input", spec.arg.name, value=spec.arg.value)
    return InputSpec(spec.kind.name.lower(), spec.arg.name, spec.target, spec.persistent)


_AOT_INPUT = re.compile(r"arg(\d+)_1")
"""How AOTAutograd names the inputs of a joint graph, by their place."""


def _output_spec(spec: Any, signature: Any) -> OutputSpec:
    kind, target = spec.kind.name.lower(), spec.target
    if kind == "gradient_to_user_input" and target not in signature.user_inputs:
        # PyTorch 2.13 renames the inputs of a joint graph afterwards, but not in this spec.
        place = _AOT_INPUT.fullmatch(target)
        if place is not None and int(place[1]) < len(signature.input_specs):
            target = signature.input_specs[int(place[1])].arg.name
    return OutputSpec(kind, _argument_spec(spec.arg), target)


def _module_call(entry: Any) -> ModuleCall:
    if (signature := entry.signature) is None:
        return ModuleCall(entry.fqn)
    return ModuleCall(
        entry.fqn,
        ModuleCallSignature(
            inputs=tuple(map(_argument_spec, signature.inputs)),
            outputs=tuple(map(_argument_spec, signature.outputs)),
            in_spec=treespec(signature.in_spec),
            out_spec=treespec(signature.out_spec),
            forward_arg_names=tuple(signature.forward_arg_names) if signature.forward_arg_names else None,
        ),
    )


# Tensors


def _tensor_data(name: str, tensor: Any, storages: _Storages) -> TensorData:
    """A view of a tensor's memory, which lives as long as the view."""
    torch = import_untyped("torch")
    fake_tensor = import_untyped("torch._subclasses.fake_tensor")

    if not isinstance(tensor, torch.Tensor):
        raise LoadError(f"{name}: a custom object of type {type(tensor).__name__} is not supported")
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        raise LoadError(f"{name}: a tensor of a function transform, which has left it")
    if isinstance(tensor, fake_tensor.FakeTensor) or tensor.is_meta:
        raise LoadError(f"{name}: a tensor without data (fake or meta)")
    if type(tensor.data) is not torch.Tensor:
        raise LoadError(f"{name}: tensor subclass {type(tensor).__name__} is not supported")
    if tensor.is_quantized or tensor.layout != torch.strided:
        raise LoadError(f"{name}: quantized, sparse and other tensors without strides are not supported")
    live: Any = tensor.detach().resolve_conj().resolve_neg()
    return TensorData(
        _dtype(live.dtype), tuple(live.shape), live.stride(), live.storage_offset(), storages.under(live)
    )


class _Storages:
    """The memory under tensors, one object for all tensors that share it: copied, or the tensors' own."""

    def __init__(self, share: bool):
        self.share = share
        self._found: dict[int, tuple[Any, Storage]] = {}
        """With the tensors' storages: another one may have the address of one that is gone."""

    def under(self, tensor: Any) -> Storage:
        torch = import_untyped("torch")

        storage = tensor.untyped_storage()
        key: int = storage._cdata
        if key not in self._found:
            copied = storage.clone() if storage.device.type == "cpu" and not self.share else storage.cpu()
            data: Any = torch.empty(0, dtype=torch.uint8).set_(copied)
            self._found[key] = storage, Storage(memoryview(data.numpy()).toreadonly())
        return self._found[key][1]
