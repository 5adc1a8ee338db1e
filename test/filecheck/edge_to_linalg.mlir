// RUN: xdsl-opt %s -p edge-to-linalg | filecheck %s

func.func @relu(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = edge.aten.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
// CHECK-LABEL: func.func @relu(
// CHECK:         linalg.generic
// CHECK-NOT:     edge.

// A symbol that only a multiple of it plus a constant says.
func.func @derived(%x : tensor<?xf32, #exir.shape<[2 * s0 + 1]>>) -> tensor<?xf32, #exir.shape<[2 * s0 + 1]>> {
  %0 = edge.aten.relu(%x) : (tensor<?xf32, #exir.shape<[2 * s0 + 1]>>) -> tensor<?xf32, #exir.shape<[2 * s0 + 1]>>
  func.return %0 : tensor<?xf32, #exir.shape<[2 * s0 + 1]>>
}
// CHECK-LABEL: func.func @derived(
// CHECK:         %[[SIZE:.*]] = tensor.dim %x
// CHECK:         %[[REST:.*]] = arith.subi %[[SIZE]]
// CHECK:         %[[S0:.*]] = arith.divsi %[[REST]]
// CHECK:         arith.muli {{.*}} %[[S0]]
