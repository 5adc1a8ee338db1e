"""Where `transforms.numbers_to_tensors` was, until all who import it have changed."""

from xdsl_exir.transforms.numbers_to_tensors import NumbersToTensors as NumbersToTensors
