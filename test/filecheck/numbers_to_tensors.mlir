// RUN: xdsl-opt %s -p numbers-to-tensors | filecheck %s

// Inside a region a number that is computed from data is a tensor of one element.
func.func @branch(%p: tensor<i1>, %x: tensor<4xf32>, %i: tensor<i64>) -> tensor<4xf32> {
  %0 = higher_order.cond %p : tensor<i1> inputs(%x, %i : tensor<4xf32>, tensor<i64>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %j: tensor<i64>):
    %n = edge.aten._local_scalar_dense(%j) : (tensor<i64>) -> !exir.symint<u0>
    %k = exir.number 2 : !exir.symint<2>
    %m = exir.sym_mul %n, %k : (!exir.symint<u0>, !exir.symint<2>) -> !exir.symint<2 * u0>
    %t = edge.aten.scalar_tensor(%m, dtype = i64) : (!exir.symint<2 * u0>) -> tensor<i64>
    %c = edge.aten._to_copy(%t, dtype = f32) : (tensor<i64>) -> tensor<f32>
    %y = edge.aten.add.Tensor(%a, %c) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    higher_order.yield %y : tensor<4xf32>
  } else {
  ^bb0(%a: tensor<4xf32>, %j: tensor<i64>):
    higher_order.yield %a : tensor<4xf32>
  }
  func.return %0 : tensor<4xf32>
}
// CHECK-LABEL: func.func @branch(
// CHECK:           %1 = edge.aten.view(%j, size = [])
// CHECK-NEXT:      %2 = exir.constant 2
// CHECK-NEXT:      %t = edge.aten.mul.Tensor(%1, %2)
// CHECK-NEXT:      %c = edge.aten._to_copy(%t, dtype = f32)

// Left alone: outside, where the caller can be given a number.
func.func @outside(%i: tensor<i64>) -> !exir.symint<2 * u0> {
  %n = edge.aten._local_scalar_dense(%i) : (tensor<i64>) -> !exir.symint<u0>
  %k = exir.number 2 : !exir.symint<2>
  %m = exir.sym_mul %n, %k : (!exir.symint<u0>, !exir.symint<2>) -> !exir.symint<2 * u0>
  func.return %m : !exir.symint<2 * u0>
}
// CHECK-LABEL: func.func @outside(
// CHECK-NEXT:    %n = edge.aten._local_scalar_dense(%i)
// CHECK-NEXT:    %k = exir.number 2
// CHECK-NEXT:    %m = exir.sym_mul %n, %k

// A fraction of a size stays a number: code computes it of the size.
func.func @fill(%x: tensor<?xf32, #exir.shape<[s0]>>) -> tensor<3xf32> {
  %n = edge.aten.sym_size.int(%x, dim = 0) : (tensor<?xf32, #exir.shape<[s0]>>) -> !exir.symint<s0>
  %k = exir.number 2 : !exir.symint<2>
  %m = exir.sym_truediv %n, %k : (!exir.symint<s0>, !exir.symint<2>) -> !exir.symfloat<truediv(s0, 2)>
  %y = edge.aten.full(size = [3], fill_value = %m, dtype = f32) : (!exir.symfloat<truediv(s0, 2)>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}
// CHECK-LABEL: func.func @fill(
// CHECK:         %y = edge.aten.full(size = [3], fill_value = %m, dtype = f32)

// A fraction that bounds, scales, and goes into a region: native code has such numbers as tensors only.
func.func @fractions(%p: tensor<i1>, %x: tensor<4xf32>, %t: tensor<f32>) -> tensor<4xf32> {
  %n = edge.aten._local_scalar_dense(%t) : (tensor<f32>) -> !exir.symfloat<zuf0>
  %c = edge.aten.clamp(%x, max = %n) : (tensor<4xf32>, !exir.symfloat<zuf0>) -> tensor<4xf32>
  %a = edge.aten.add.Tensor(%x, %c, alpha = %n) : (tensor<4xf32>, tensor<4xf32>, !exir.symfloat<zuf0>) -> tensor<4xf32>
  %y = higher_order.cond %p : tensor<i1> inputs(%a, %n : tensor<4xf32>, !exir.symfloat<zuf0>) -> tensor<4xf32> {
  ^bb0(%b: tensor<4xf32>, %m: !exir.symfloat<zuf0>):
    %f = edge.aten.full(size = [4], fill_value = %m, dtype = f32) : (!exir.symfloat<zuf0>) -> tensor<4xf32>
    higher_order.yield %f : tensor<4xf32>
  } else {
  ^bb0(%b: tensor<4xf32>, %m: !exir.symfloat<zuf0>):
    higher_order.yield %b : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}
// CHECK-LABEL: func.func @fractions(
// CHECK-NOT:     !exir.symfloat
// CHECK:         edge.aten.clamp.Tensor(%x, max =
// CHECK:         edge.aten.mul.Tensor(%c,
// CHECK:         higher_order.cond %p : tensor<i1> inputs(%a, {{.*}} : tensor<4xf32>, tensor<f64>)
// CHECK-NOT:     !exir.symfloat
