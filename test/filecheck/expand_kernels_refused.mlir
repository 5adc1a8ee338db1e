// RUN: not xdsl-opt %s --split-input-file -p expand-kernels 2>&1 | filecheck %s

func.func private @linear(memref<1x4xf32>, memref<1x4x4xf32>, memref<1x5xf32>) -> () attributes {exir.kernel = {
  is = "Matmul", m = 1 : i64, n = 4 : i64, k = 4 : i64, machine = {is = "Machine", lanes = 4 : i64}}}
// CHECK: 'linear' is (memref<1x4xf32>, memref<1x4x4xf32>, memref<1x5xf32>) -> (), its kernel takes (memref<1x4xf32>, memref<1x4x4xf32>, memref<1x4xf32>)
