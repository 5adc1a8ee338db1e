// RUN: xdsl-opt %s -p canonicalize | filecheck %s

// One function an operator: what its rule makes simpler, then what it leaves.

func.func @aten.dropout(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.dropout(%x, p = 0.5, train = false) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.dropout(%x, p = 0.5, train = true) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.dropout(
// CHECK-NEXT:    %0 = aten.dropout(%x, p = 0.5, train = true)
// CHECK-NEXT:    func.return %x, %0
