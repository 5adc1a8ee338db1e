// RUN: xdsl-opt %s -p edge-to-linalg | filecheck %s

func.func @relu(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = edge.aten.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
// CHECK-LABEL: func.func @relu(
// CHECK:         linalg.generic
// CHECK-NOT:     edge.
