// RUN: xdsl-opt %s -p canonicalize | filecheck %s

// One function an operator: what its rule makes simpler, then what it leaves.

// Of the same diagonal.
func.func @aten.tril(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.tril(%x, diagonal = 1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.tril(%0, diagonal = 1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = aten.tril(%y, diagonal = 1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = aten.tril(%2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.tril(
// CHECK-NEXT:    %0 = aten.tril(%x, diagonal = 1)
// CHECK-NEXT:    %1 = aten.tril(%y, diagonal = 1)
// CHECK-NEXT:    %2 = aten.tril(%1)
// CHECK-NEXT:    func.return %0, %2

func.func @aten.triu(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.triu(%x, diagonal = 1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.triu(%0, diagonal = 1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = aten.triu(%y, diagonal = 1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = aten.triu(%2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.triu(
// CHECK-NEXT:    %0 = aten.triu(%x, diagonal = 1)
// CHECK-NEXT:    %1 = aten.triu(%y, diagonal = 1)
// CHECK-NEXT:    %2 = aten.triu(%1)
// CHECK-NEXT:    func.return %0, %2
