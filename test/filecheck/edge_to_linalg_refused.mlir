// RUN: not xdsl-opt %s -p edge-to-linalg 2>&1 | filecheck %s

// All that cannot be lowered is named at once.
func.func @refused(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = edge.aten.bernoulli(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = backend.delegate "vendor" inputs(%0 : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a : tensor<4xf32>):
    backend.yield %a : tensor<4xf32>
  }
  func.return %1 : tensor<4xf32>
}
// CHECK: edge.aten.bernoulli
// CHECK: backend.delegate
