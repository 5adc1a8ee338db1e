// RUN: xdsl-opt %s -p canonicalize | filecheck %s

// One function an operator: what its rule makes simpler, then what it leaves.

// Of two wishes the last counts; a wish is never dropped.
func.func @dim_order_ops._clone_dim_order(%x: tensor<2x3xf32>, %w: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3xf32>) {
  %0 = dim_order_ops._clone_dim_order(%w, dim_order = [0, 2, 1]) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %1 = dim_order_ops._clone_dim_order(%0, dim_order = [0, 1, 2]) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %2 = dim_order_ops._clone_dim_order(%x, dim_order = [0, 1]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1, %2 : tensor<2x3x4xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @dim_order_ops._clone_dim_order(
// CHECK-NEXT:    %0 = dim_order_ops._clone_dim_order(%w, dim_order = [0, 1, 2])
// CHECK-NEXT:    %1 = dim_order_ops._clone_dim_order(%x, dim_order = [0, 1])
// CHECK-NEXT:    func.return %0, %1
