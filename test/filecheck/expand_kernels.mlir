// RUN: xdsl-opt %s -p expand-kernels | filecheck %s
// RUN: %if mlir-opt %{ xdsl-opt %s -p expand-kernels,expand-math --print-op-generic | mlir-opt-22 > /dev/null %}
// RUN: xdsl-opt %s | xdsl-opt -p expand-kernels | filecheck %s

// A product of a row of 4 numbers with a matrix of 4 columns, packed, and what is added to it; for vectors of 4.
func.func private @linear(memref<1x4xf32>, memref<1x4x4xf32>, memref<1x4xf32>, memref<1x4xf32>) -> () attributes {exir.kernel = {
  is = "Matmul", m = 1 : i64, n = 4 : i64, k = 4 : i64,
  epilogue = {is = "Epilogue", inputs = [{is = "Input", shape = [1 : i64, 4 : i64]}],
              steps = [{is = "Step", element = {is = "Elementwise", operator = "aten.add.Tensor"}, operands = [0 : i64, 1 : i64]}]},
  machine = {is = "Machine", lanes = 4 : i64}}}
// CHECK:       func.func private @linear(%[[LHS:.*]]: memref<1x4xf32>, %[[RHS:.*]]: memref<1x4x4xf32>, %[[BIAS:.*]]: memref<1x4xf32>, %[[OUT:.*]]: memref<1x4xf32>)
// CHECK:         scf.for
// CHECK:           vector.fma
// CHECK:         vector.load %[[BIAS]]
// CHECK:         vector.store %{{.*}}, %[[OUT]]

// A size that is a symbol comes before the buffers.
func.func private @relu(index, memref<?xf32>, memref<?xf32>) -> () attributes {exir.kernel = {
  is = "Rows", leading = [], inputs = [{is = "Input", shape = [{size = "s0"}]}],
  program = [{is = "Load", length = {size = "s0"}}, {is = "Map", length = {size = "s0"}, operands = [0 : i64], element = {is = "Elementwise", operator = "aten.relu"}}],
  outputs = [1 : i64], machine = {is = "Machine"}}}
// CHECK:       func.func private @relu(%{{.*}}: index, %{{.*}}: memref<?xf32>, %{{.*}}: memref<?xf32>)
// CHECK:         "arith.select"
