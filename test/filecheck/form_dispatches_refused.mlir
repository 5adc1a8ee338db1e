// RUN: not xdsl-opt %s -p to-destinations 2>&1 | filecheck %s
// RUN: not xdsl-opt %s -p form-dispatches 2>&1 | filecheck %s

// A dispatch says which kernel is written for it; one that takes nothing of it is an error, not another kernel.
func.func @forward(%x : tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = backend.dispatch kernel "Matmul" inputs(%x : tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%a : tensor<4x8xf32>):
    %1 = edge.aten.cumsum(%a, dim = 0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    backend.yield %1 : tensor<4x8xf32>
  }
  func.return %0 : tensor<4x8xf32>
}
// CHECK: backend.dispatch: no kernel of kind 'Matmul' takes it
