"""What is made of an edge program before anything below it sees it, whoever asks: named pipelines."""

from __future__ import annotations

from xdsl.passes import PassPipeline

from xdsl_exir.lowering.bodies import BodiesInPlace
from xdsl_exir.transforms.count_sizes import CountSizes
from xdsl_exir.transforms.layouts import ForgetLayouts
from xdsl_exir.transforms.numbers_to_tensors import NumbersToTensors
from xdsl_exir.transforms.simplify_sizes import SimplifySizes

PLAIN = PassPipeline((BodiesInPlace(), ForgetLayouts(), SimplifySizes()))
"""No bodies of their own, no wishes for layouts, and sizes that are known are numbers."""
COUNTED = PassPipeline((CountSizes(), NumbersToTensors()))
"""Every size that depends on data is a number that is read, and numbers are tensors where code takes them so."""
