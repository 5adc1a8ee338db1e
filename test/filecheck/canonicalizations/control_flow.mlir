// RUN: xdsl-opt %s -p canonicalize | filecheck %s

// Known branches take an operation's place, and loops that never turn go.
func.func @higher_order.cond(%p: tensor<i1>, %x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %false = exir.constant false : tensor<i1>
  %0 = higher_order.cond %false : tensor<i1> inputs(%x : tensor<2x3xf32>) -> tensor<2x3xf32> {
  ^bb0(%a: tensor<2x3xf32>):
    %1 = aten.sin(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    higher_order.yield %1 : tensor<2x3xf32>
  } else {
  ^bb1(%b: tensor<2x3xf32>):
    %2 = aten.cos(%b) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    higher_order.yield %2 : tensor<2x3xf32>
  }
  %3 = higher_order.cond %p : tensor<i1> inputs(%x : tensor<2x3xf32>) -> tensor<2x3xf32> {
  ^bb2(%c: tensor<2x3xf32>):
    %4 = aten.sin(%c) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    higher_order.yield %4 : tensor<2x3xf32>
  } else {
  ^bb3(%d: tensor<2x3xf32>):
    %5 = aten.cos(%d) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    higher_order.yield %5 : tensor<2x3xf32>
  }
  func.return %0, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @higher_order.cond(
// CHECK-NEXT:    %0 = aten.cos(%x)
// CHECK-NEXT:    %1 = higher_order.cond %p
// CHECK:         func.return %0, %1

// A condition that depends on what is carried is not known, even where it is false for what goes in.
func.func @higher_order.while_loop(%i: tensor<i64>) -> (tensor<i64>, tensor<i64>) {
  %0 = higher_order.while_loop carried(%i : tensor<i64>) -> tensor<i64> {
  ^bb0(%a: tensor<i64>):
    %1 = exir.constant false : tensor<i1>
    higher_order.yield %1 : tensor<i1>
  } do {
  ^bb1(%b: tensor<i64>):
    %2 = aten.add.Tensor(%b, %b) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    higher_order.yield %2 : tensor<i64>
  }
  %3 = exir.constant 7 : tensor<i64>
  %4 = higher_order.while_loop carried(%3 : tensor<i64>) -> tensor<i64> {
  ^bb2(%c: tensor<i64>):
    %5 = aten.lt.Scalar(%c, other = 7) : (tensor<i64>) -> tensor<i1>
    higher_order.yield %5 : tensor<i1>
  } do {
  ^bb3(%d: tensor<i64>):
    %6 = aten.add.Tensor(%d, %d) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    higher_order.yield %6 : tensor<i64>
  }
  func.return %0, %4 : tensor<i64>, tensor<i64>
}
// CHECK-LABEL: func.func @higher_order.while_loop(
// CHECK-NEXT:    %0 = exir.constant 7
// CHECK-NEXT:    %1 = higher_order.while_loop carried(%0
// CHECK:         func.return %i, %1
