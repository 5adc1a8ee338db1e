"""The schemas of all operators that PyTorch registers, by name, in the order in which TorchScript tries the overloads.

The list is generated (`python -m xdsl_exir.tools.spec.torchscript`); a schema is parsed when it is first asked for.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from xdsl.ir import Attribute

from xdsl_exir import libraries
from xdsl_exir.dialects import spec
from xdsl_exir.dialects.schema import FunctionSchema, Type
from xdsl_exir.dialects.torchscript import types as ts

FILE = "schemas.txt.gz"


@cache
def texts() -> Mapping[str, tuple[str, ...]]:
    """Schemas as text, by the operator's name without overload: `aten::add`."""
    found: dict[str, list[str]] = {}
    data = files("xdsl_exir.dialects.torchscript").joinpath(FILE).read_bytes()
    for line in gzip.decompress(data).decode().splitlines():
        name = line.partition("(")[0].partition(".")[0]
        found.setdefault(name, []).append(line)
    return {name: tuple(lines) for name, lines in found.items()}


VISION = """\
torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor
torchvision::box_iou_rotated(Tensor boxes1, Tensor boxes2) -> Tensor
torchvision::roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio, bool aligned) -> Tensor
torchvision::roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width) -> (Tensor, Tensor)
torchvision::ps_roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio) -> (Tensor, Tensor)
torchvision::ps_roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width) -> (Tensor, Tensor)
torchvision::deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask) -> Tensor
"""
"""What torchvision registers, which archives of its models call."""


@cache
def _listed(name: str) -> tuple[FunctionSchema, ...]:
    vision = [line for line in VISION.splitlines() if line.startswith(f"{name}(")]
    return tuple(map(FunctionSchema.parse, texts().get(name, vision)))


def overloads(name: str) -> tuple[FunctionSchema, ...]:
    """The overloads of an operator (`aten::add`), in order; of the user's own, those of the libraries; none of an unknown one."""
    known = _listed(name)
    if known or name.partition("::")[0] in libraries.SCHEMA_NAMESPACES:
        return known
    schemas = (entry.schema for entry in spec.specs().values())
    return tuple(each for each in schemas if f"{each.namespace}::{each.name}" == name)


@cache
def _schema_listed(qualified_name: str) -> FunctionSchema | None:
    namespace, _, rest = qualified_name.partition(".")
    candidates = _listed(f"{namespace}::{rest.partition('.')[0]}")
    return next((schema for schema in candidates if schema.qualified_name == qualified_name), None)


def schema_of(qualified_name: str) -> FunctionSchema | None:
    """The schema of `aten.add.Tensor`; None where there is none."""
    known = _schema_listed(qualified_name)
    if known is None and qualified_name in spec.specs():
        return spec.find(qualified_name).schema
    return known


@cache
def qualified_names() -> tuple[str, ...]:
    """`aten.add.Tensor` and all others, in their order."""
    lines = (line for lines in texts().values() for line in lines)
    return tuple(dict.fromkeys(line.partition("(")[0].replace("::", ".", 1) for line in lines))


INTEGERS = frozenset(["SymInt", "ScalarType", "MemoryFormat", "Layout", "QScheme", "DeviceIndex"])
"""What TorchScript has as `int`."""
RENAMED = {
    **dict.fromkeys(INTEGERS, "int"), "SymBool": "bool", "NoneType": "None", "Dimname": "str", "number": "Scalar",
    "DeviceObjType": "Device", "AnyEnumType": "AnyEnumType",
}  # fmt: skip


@cache
def type_of(type: Type) -> Attribute:
    """The type of the dialect that a schema's is."""
    base = RENAMED.get(type.base, type.base)
    items = [type_of(item) for item in type.arguments]
    match base:
        case "Tuple":
            made: Attribute = ts.tuple_of(items)
        case "List":
            made = items[0]
        case "Dict":
            made = ts.DictType(*items)
        case "Future" | "RRef" | "Await":
            made = ts.FutureType(*items) if items else ts.FutureType(ts.ANY)
        case _ if base in ts.PLAIN:
            made = ts.PLAIN[base]
        case _ if base.startswith("__torch__."):
            made = ts.class_of(base)
        case _:
            from xdsl.dialects.builtin import StringAttr

            made = ts.VariableType(StringAttr(base))
    if not type.is_list:
        return ts.optional(made) if type.optional else made
    made = ts.list_of(ts.optional(made) if type.item_optional else made)
    return ts.optional(made) if type.optional else made
