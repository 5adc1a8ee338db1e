// RUN: xdsl-opt %s -p canonicalize | filecheck %s

// One function an operator: what its rule makes simpler, then what it leaves.

// Twice is once, for the same limits.
func.func @aten.relu(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.relu(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = aten.neg(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = aten.relu(%2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.relu(
// CHECK-NEXT:    %0 = aten.relu(%x)
// CHECK-NEXT:    %1 = aten.neg(%y)
// CHECK-NEXT:    %2 = aten.relu(%1)
// CHECK-NEXT:    func.return %0, %2

func.func @aten.relu6(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.relu6(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.relu6(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = aten.neg(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = aten.relu6(%2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.relu6(
// CHECK-NEXT:    %0 = aten.relu6(%x)
// CHECK-NEXT:    %1 = aten.neg(%y)
// CHECK-NEXT:    %2 = aten.relu6(%1)
// CHECK-NEXT:    func.return %0, %2

func.func @aten.hardtanh(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.hardtanh(%x, max_val = 2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.hardtanh(%0, max_val = 2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = aten.hardtanh(%y, max_val = 3) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = aten.hardtanh(%2, max_val = 2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.hardtanh(
// CHECK-NEXT:    %0 = aten.hardtanh(%x, max_val = 2)
// CHECK-NEXT:    %1 = aten.hardtanh(%y, max_val = 3)
// CHECK-NEXT:    %2 = aten.hardtanh(%1, max_val = 2)
// CHECK-NEXT:    func.return %0, %2
