// RUN: env XDSL_EXIR_OPT_LIMIT=decompose-aten=1 xdsl-opt %s -p decompose-aten | filecheck %s
// RUN: env XDSL_EXIR_OPT_LIMIT=aten-to-edge=1 xdsl-opt %s -p decompose-aten,aten-to-edge | filecheck %s --check-prefix=EDGE

// A pass stops after so many applications of patterns, where `xdsl-opt` applies it as well.

func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: aten.sigmoid(%x)
  // CHECK-NEXT: aten.mul.Tensor
  // CHECK-NEXT: aten.silu
  // CHECK-NEXT: func.return
  // EDGE: edge.aten.sigmoid(%x)
  // EDGE-NEXT: aten.mul.Tensor
  // EDGE-NEXT: aten.sigmoid
  %0 = aten.silu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = aten.silu(%0) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
