// DEFINE: %{opt} = env XDSL_EXIR_TARGETS=%S/Inputs/npu.py xdsl-opt
// RUN: %{opt} %s -p fuse-operators,verify-backend | filecheck %s
// RUN: %{opt} %s -p fuse-operators | %{opt} | filecheck %s
// RUN: %{opt} %s -p fuse-operators --print-op-generic | %{opt} | filecheck %s
// RUN: %{opt} %s -p fuse-operators,decompose-backend,verify-edge | filecheck %s --check-prefix=BACK
// RUN: %{opt} %s -p 'fuse-operators{ops="npu.sin_cos","npu.b*"},decompose-backend{keep="npu.best"}' | filecheck %s --check-prefix=SOME
// RUN: %{opt} %s -t 'exir-run{inputs=arange delegates=region}' > %t.edge
// RUN: %{opt} %s -p fuse-operators -t 'exir-run{inputs=arange delegates=region}' > %t.fused
// RUN: diff %t.edge %t.fused
// RUN: not %{opt} %s -p fuse-operators,verify-edge 2>&1 | filecheck %s --check-prefix=EDGE
// RUN: not %{opt} %s -p fuse-operators,verify-aten 2>&1 | filecheck %s --check-prefix=EDGE
// RUN: not %{opt} %s -p 'fuse-operators{ops="npu.nonesuch"}' 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not xdsl-opt %s -p 'fuse-operators{ops="npu.best"}' 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not env XDSL_EXIR_TARGETS=nonesuch.py xdsl-opt %s -p fuse-operators 2>&1 | filecheck %s --check-prefix=FILE

// As linear is decomposed for three dimensions, with a bias, and for two, without.
func.func @decomposed(%x : tensor<2x3x5xf32>, %y : tensor<2x5xf32>, %w : tensor<4x5xf32>, %b : tensor<4xf32>) -> (tensor<2x3x4xf32>, tensor<2x4xf32>) {
  %0 = edge.aten.view(%x, size = [6, 5]) : (tensor<2x3x5xf32>) -> tensor<6x5xf32>
  %1 = edge.aten.permute(%w, dims = [1, 0]) : (tensor<4x5xf32>) -> tensor<5x4xf32>
  %2 = edge.aten.addmm(%b, %0, %1) : (tensor<4xf32>, tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
  %3 = edge.aten.view(%2, size = [2, 3, 4]) : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  %4 = edge.aten.relu(%3) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %5 = edge.aten.permute(%w, dims = [1, 0]) : (tensor<4x5xf32>) -> tensor<5x4xf32>
  %6 = edge.aten.mm(%y, %5) : (tensor<2x5xf32>, tensor<5x4xf32>) -> tensor<2x4xf32>
  %7 = edge.aten.relu(%6) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return %4, %7 : tensor<2x3x4xf32>, tensor<2x4xf32>
}
// CHECK-LABEL: func.func @decomposed
// CHECK-NEXT:    %0 = backend.npu.linear_relu(%x, %w, %b) : (tensor<2x3x5xf32>, tensor<4x5xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    %1 = backend.npu.linear_relu(%y, %w) : (tensor<2x5xf32>, tensor<4x5xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    func.return %0, %1

// BACK-LABEL:  func.func @decomposed
// BACK-NEXT:     edge.aten.view(%x, size = [6, 5])
// BACK-NEXT:     edge.aten.permute
// BACK-NEXT:     edge.aten.addmm
// BACK-NEXT:     edge.aten.view
// BACK-NEXT:     edge.aten.relu
// BACK-NEXT:     edge.aten.permute
// BACK-NEXT:     edge.aten.mm
// BACK-NEXT:     edge.aten.relu
// BACK-NEXT:     func.return

// As it is written; what is used besides stays.
func.func @written(%x : tensor<2x5xf32>, %w : tensor<4x5xf32>, %b : tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = edge.aten.linear(%x, %w, %b) : (tensor<2x5xf32>, tensor<4x5xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %1 = edge.aten.relu(%0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = edge.aten.linear(%x, %w) : (tensor<2x5xf32>, tensor<4x5xf32>) -> tensor<2x4xf32>
  %3 = edge.aten.relu(%2) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return %1, %2, %3 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}
// CHECK-LABEL: func.func @written
// CHECK-NEXT:    %0 = backend.npu.linear_relu(%x, %w, %b)
// CHECK-NEXT:    %1 = edge.aten.linear(%x, %w)
// CHECK-NEXT:    %2 = edge.aten.relu(%1)
// CHECK-NEXT:    func.return %0, %1, %2

// Numbers and flags become attributes, products match in either order; what has another type than the number stays.
func.func @numbers(%x : tensor<2xf32>, %y : tensor<2xf32>, %z : tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %half = exir.constant 0.5 : tensor<f32>
  %0 = edge.aten.add.Tensor(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = edge.aten.mul.Tensor(%half, %0) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = edge.aten.neg(%1) : (tensor<2xf32>) -> tensor<2xf32>
  %one = exir.constant 1.0 : tensor<f32>
  %3 = edge.aten.add.Tensor(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %4 = edge.aten.mul.Tensor(%3, %one) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %5 = edge.aten.add.Tensor(%x, %y, alpha = 2) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %6 = edge.aten.mul.Tensor(%5, %half) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %7 = edge.aten.add.Tensor(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %8 = edge.aten.mul.Tensor(%7, %z) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  func.return %2, %4, %6, %8 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
// CHECK-LABEL: func.func @numbers
// CHECK:         backend.npu.scaled.Tensor(%x, %y, scale = 0.5, negated = true) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK:         backend.npu.scaled.Tensor(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    edge.aten.add.Tensor(%x, %y, alpha = 2)
// CHECK-NEXT:    edge.aten.mul.Tensor
// CHECK-NEXT:    edge.aten.add.Tensor
// CHECK-NEXT:    edge.aten.mul.Tensor(%{{.*}}, %z)

// Several results: of one operation, and of two; what uses the first before the second is made keeps both.
func.func @results(%x : tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xi64>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = edge.aten.tanh(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %v, %i = edge.aten.max.dim(%0, dim = 1) : (tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xi64>)
  %1 = edge.aten.mul.Tensor(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = edge.aten.cos(%1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = edge.aten.sin(%1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = edge.aten.mul.Tensor(%3, %3) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = edge.aten.sin(%4) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = edge.aten.relu(%5) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = edge.aten.cos(%4) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %v, %i, %2, %3, %6, %7 : tensor<2xf32>, tensor<2xi64>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @results
// CHECK-NEXT:    %v, %i = backend.npu.best(%x, dim = 1) : (tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xi64>)
// CHECK-NEXT:    %[[S:.*]], %[[C:.*]] = backend.npu.sin_cos(%x) : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
// CHECK-NEXT:    edge.aten.mul.Tensor
// CHECK-NEXT:    edge.aten.sin
// CHECK-NEXT:    edge.aten.relu
// CHECK-NEXT:    edge.aten.cos
// CHECK-NEXT:    func.return %v, %i, %[[C]], %[[S]]

// SOME-LABEL:  func.func @decomposed
// SOME:          edge.aten.relu
// SOME-LABEL:  func.func @results
// SOME:          backend.npu.best
// SOME:          edge.aten.sin
// SOME:          edge.aten.cos

// A branch has operators of its own, a delegate those of its backend.
func.func @regions(%p : tensor<i1>, %x : tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %r, %s = higher_order.cond %p : tensor<i1> inputs(%x : tensor<2xf32>) -> tensor<2xf32>, tensor<2xf32> {
  ^bb0(%a : tensor<2xf32>):
    %0 = edge.aten.mul.Tensor(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %1 = edge.aten.sin(%0) : (tensor<2xf32>) -> tensor<2xf32>
    %2 = edge.aten.cos(%0) : (tensor<2xf32>) -> tensor<2xf32>
    higher_order.yield %1, %2 : tensor<2xf32>, tensor<2xf32>
  } else {
  ^bb0(%a : tensor<2xf32>):
    %0, %1 = backend.delegate "other" inputs(%a : tensor<2xf32>) -> tensor<2xf32>, tensor<2xf32> {
    ^bb0(%b : tensor<2xf32>):
      %2 = edge.aten.mul.Tensor(%b, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %3 = edge.aten.sin(%2) : (tensor<2xf32>) -> tensor<2xf32>
      %4 = edge.aten.cos(%2) : (tensor<2xf32>) -> tensor<2xf32>
      backend.yield %3, %4 : tensor<2xf32>, tensor<2xf32>
    }
    higher_order.yield %0, %1 : tensor<2xf32>, tensor<2xf32>
  }
  func.return %r, %s : tensor<2xf32>, tensor<2xf32>
}
// CHECK-LABEL: func.func @regions
// CHECK:         backend.npu.sin_cos
// CHECK:         backend.delegate
// CHECK:           edge.aten.cos

// EDGE: backend.npu.linear_relu: an operator that only backend has; decompose-backend puts its body in its place
// UNKNOWN: no operator of a backend matches 'npu.nonesuch'
// NONE: no operator of a backend matches 'npu.best'
// FILE: XDSL_EXIR_TARGETS: no file nonesuch.py
