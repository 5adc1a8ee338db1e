// RUN: xdsl-opt %s -p expand-flex-attention,dce | filecheck %s

// The functions of scores and masks, over all scores at once.
func.func @forward(%q: tensor<1x2x8x4xf32>, %k: tensor<1x2x8x4xf32>, %v: tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32> {
  %y, %lse, %max = higher_order.flex_attention %q, %k, %v : tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>
      scale = 5.000000e-01 : f64 -> tensor<1x2x8x4xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32> {
  ^bb0(%score : tensor<f32>, %b : tensor<i32>, %h : tensor<i32>, %i : tensor<i32>, %j : tensor<i32>):
    higher_order.yield %score : tensor<f32>
  } mask {
  ^bb1(%b : tensor<i32>, %h : tensor<i32>, %i : tensor<i32>, %j : tensor<i32>):
    %counts = aten.ge.Tensor(%i, %j) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    higher_order.yield %counts : tensor<i1>
  }
  func.return %y : tensor<1x2x8x4xf32>
}
// CHECK-LABEL: func.func @forward(
// CHECK:         %3 = aten.matmul(%q, %2)
// CHECK-NEXT:    %4 = aten.mul.Scalar(%3, other = 0.5)
// CHECK:         %9 = aten.ge.Tensor(%6, %8) : (tensor<1x1x8x1xi32>, tensor<1x1x1x8xi32>) -> tensor<1x1x8x8xi1>
// CHECK:         %11 = aten.where.self(%9, %4, %10)
// CHECK:         %13 = aten._safe_softmax(%12, dim = -1)
// CHECK-NEXT:    %y = aten.matmul(%13, %1)
// CHECK-NEXT:    func.return %y

// Left alone: attention without functions.
func.func @plain(%q: tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32> {
  %0 = aten.scaled_dot_product_attention(%q, %q, %q) : (tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32>
  func.return %0 : tensor<1x2x8x4xf32>
}
// CHECK-LABEL: func.func @plain(
// CHECK-NEXT:    %0 = aten.scaled_dot_product_attention(%q, %q, %q)
