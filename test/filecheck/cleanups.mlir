// RUN: xdsl-opt %s -p canonicalize,cse,dce | filecheck %s
// RUN: xdsl-opt %s -p canonicalize,cse,dce,decompose-aten,canonicalize,cse,dce,aten-to-edge,canonicalize,cse,dce,verify-edge | filecheck %s --check-prefix=EDGE

// Values have no side effects, so the stock clean-ups are safe; what is random or asserts stays, once for each time.
func.func @f(%x: tensor<2x3xf32>, %n: !exir.symint<u0>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %dead = aten.exp(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = aten.relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = aten.add.Tensor(%0, %1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %r0 = aten.rand_like(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r1 = aten.rand_like(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %unused = aten.bernoulli(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = aten.sub.Tensor(%r0, %r1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  aten._assert_scalar(self = %n, assert_msg = "positive") : (!exir.symint<u0>) -> ()
  %two = exir.number 2 : i64
  %double = exir.sym_add %n, %n : (!exir.symint<u0>, !exir.symint<u0>) -> !exir.symint<2 * u0>
  func.return %2, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK:      func.func @f
// CHECK-NEXT:   %0 = aten.relu(%x)
// CHECK-NEXT:   %1 = aten.add.Tensor(%0, %0)
// CHECK-NEXT:   %r0 = aten.rand_like(%x)
// CHECK-NEXT:   %r1 = aten.rand_like(%x)
// CHECK-NEXT:   %unused = aten.bernoulli(%x)
// CHECK-NEXT:   %2 = aten.sub.Tensor(%r0, %r1)
// CHECK-NEXT:   aten._assert_scalar(self = %n, assert_msg = "positive")
// CHECK-NEXT:   func.return %1, %2

// EDGE:      edge.aten.relu(%x)
// EDGE-NEXT: edge.aten.add.Tensor(
// EDGE:      edge.aten.sub.Tensor(
// EDGE-NEXT: edge.aten._assert_scalar(self = %n, assert_msg = "positive")
