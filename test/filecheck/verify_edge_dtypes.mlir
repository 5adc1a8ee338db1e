// RUN: xdsl-opt %s --split-input-file --verify-diagnostics -p 'verify-edge{dtypes="%S/Inputs/edge.yaml"}' | filecheck %s

func.func @listed(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = edge.aten.sigmoid(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = edge.aten.relu(%0) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %1 : tensor<2xf32>
}
// CHECK: func.func @listed

// -----

func.func @not_listed(%x: tensor<2xf16>) -> tensor<2xf16> {
  %0 = edge.aten.sigmoid(%x) : (tensor<2xf16>) -> tensor<2xf16> loc("model.py":2:0)
  func.return %0 : tensor<2xf16>
}
// CHECK:      1 violation
// CHECK-NEXT:   model.py:2: edge.aten.sigmoid: {{.*}}edge.yaml:1 lists no (Half)
