// RUN: xdsl-opt %s | filecheck %s
// RUN: xdsl-opt %s | xdsl-opt | filecheck %s
// RUN: xdsl-opt %s --print-op-generic | xdsl-opt | filecheck %s
// RUN: %if mlir-opt %{ xdsl-opt %s --print-op-generic | mlir-opt-22 --allow-unregistered-dialect --mlir-print-op-generic | xdsl-opt | filecheck %s --check-prefix=MLIR %}
// RUN: xdsl-opt %s -p verify-aten,decompose-aten,aten-to-edge,verify-edge | filecheck %s --check-prefix=EDGE
// RUN: xdsl-opt %s -p canonicalize,cse,dce | filecheck %s --check-prefix=CLEAN

func.func @cond(%p : tensor<i1>, %x : tensor<4x3xf32>, %w : tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>) {
  %y, %s = higher_order.cond %p : tensor<i1> inputs(%x, %w : tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>, tensor<3xf32> {
  ^bb0(%a : tensor<4x3xf32>, %b : tensor<3xf32>):
    %0 = aten.add.Tensor(%a, %b) : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
    higher_order.yield %0, %b : tensor<4x3xf32>, tensor<3xf32>
  } else {
  ^bb0(%a : tensor<4x3xf32>, %b : tensor<3xf32>):
    %dead = aten.sin(%a) : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %two = exir.number 2.0 : f64
    %0 = aten.mul.Tensor(%a, %two) : (tensor<4x3xf32>, f64) -> tensor<4x3xf32>
    higher_order.yield %0, %b : tensor<4x3xf32>, tensor<3xf32>
  }
  %unused = higher_order.cond %p : tensor<i1> -> tensor<i64> {
    %0 = exir.constant 1 : tensor<i64>
    higher_order.yield %0 : tensor<i64>
  } else {
    %0 = exir.constant 2 : tensor<i64>
    higher_order.yield %0 : tensor<i64>
  }
  func.return %y, %s : tensor<4x3xf32>, tensor<3xf32>
}

// CHECK-LABEL: func.func @cond
// CHECK:         %y, %s = higher_order.cond %p : tensor<i1> inputs(%x, %w : tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>, tensor<3xf32> {
// CHECK-NEXT:    ^bb0(%a: tensor<4x3xf32>, %b: tensor<3xf32>):
// CHECK-NEXT:      %0 = aten.add.Tensor(%a, %b)
// CHECK-NEXT:      higher_order.yield %0, %b : tensor<4x3xf32>, tensor<3xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:    ^bb0(%a_1: tensor<4x3xf32>, %b_1: tensor<3xf32>):
// CHECK:         %unused = higher_order.cond %p : tensor<i1> -> tensor<i64> {

// Names of values are not MLIR's; all else comes back.
// MLIR-LABEL: func.func @cond
// MLIR:         %{{.*}}, %{{.*}} = higher_order.cond %{{.*}} : tensor<i1> inputs(%{{.*}}, %{{.*}} : tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>, tensor<3xf32> {
// MLIR:         } else {
// MLIR-LABEL: func.func @stacks
// MLIR:         higher_order.scan init(%{{.*}} : tensor<3xf32>) xs(%{{.*}} : tensor<4x3xf32>) -> tensor<3xf32>, tensor<4x3xf32> {

// EDGE-LABEL: func.func @cond
// EDGE:         %y, %s = higher_order.cond %p
// EDGE:           edge.aten.add.Tensor(%a, %b)
// EDGE:         } else {
// EDGE:           [[TWO:%.+]] = exir.constant 2.0 : tensor<f32>
// EDGE-NEXT:      edge.aten.mul.Tensor(%a_1, [[TWO]]) : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>

// What is in the regions is cleaned up, and what is pure and unused goes, regions and all.
// CLEAN-LABEL: func.func @cond
// CLEAN:         %y, %s = higher_order.cond %p
// CLEAN-NOT:     %dead
// CLEAN-NOT:     %unused
// CLEAN:         func.return %y, %s

func.func @random_is_kept(%p : tensor<i1>, %x : tensor<3xf32>) {
  %y = higher_order.cond %p : tensor<i1> inputs(%x : tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a : tensor<3xf32>):
    %0 = aten.rand_like(%a) : (tensor<3xf32>) -> tensor<3xf32>
    higher_order.yield %0 : tensor<3xf32>
  } else {
  ^bb0(%a : tensor<3xf32>):
    higher_order.yield %a : tensor<3xf32>
  }
  func.return
}

// CLEAN-LABEL: func.func @random_is_kept
// CLEAN:         higher_order.cond
// CLEAN:         aten.rand_like

func.func @while_loop(%i : tensor<i64>, %x : tensor<3xf32>, %w : tensor<3xf32>) -> tensor<3xf32> {
  %j, %y = higher_order.while_loop carried(%i, %x : tensor<i64>, tensor<3xf32>) additional(%w : tensor<3xf32>) -> tensor<i64>, tensor<3xf32> {
  ^bb0(%k : tensor<i64>, %a : tensor<3xf32>, %b : tensor<3xf32>):
    %c = aten.lt.Scalar(%k, other = 5) : (tensor<i64>) -> tensor<i1>
    higher_order.yield %c : tensor<i1>
  } do {
  ^bb0(%k : tensor<i64>, %a : tensor<3xf32>, %b : tensor<3xf32>):
    %c = aten.mul.Tensor(%a, %b) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %one = exir.number 1 : i64
    %l = aten.add.Tensor(%k, %one) : (tensor<i64>, i64) -> tensor<i64>
    higher_order.yield %l, %c : tensor<i64>, tensor<3xf32>
  }
  func.return %y : tensor<3xf32>
}

// CHECK-LABEL: func.func @while_loop
// CHECK:         %j, %y = higher_order.while_loop carried(%i, %x : tensor<i64>, tensor<3xf32>) additional(%w : tensor<3xf32>) -> tensor<i64>, tensor<3xf32> {
// CHECK:         } do {
// EDGE-LABEL: func.func @while_loop
// EDGE:         edge.aten.lt.Tensor

func.func @counter(%n : !exir.symint<s0>) -> !exir.symint<u1> {
  %zero = exir.number 0 : !exir.symint<0>
  %r = higher_order.while_loop carried(%zero : !exir.symint<0>) additional(%n : !exir.symint<s0>) -> !exir.symint<u1> {
  ^bb0(%i : !exir.symint<u0>, %m : !exir.symint<s0>):
    %c = exir.sym_lt %i, %m : (!exir.symint<u0>, !exir.symint<s0>) -> !exir.symbool<lt(u0, s0)>
    higher_order.yield %c : !exir.symbool<lt(u0, s0)>
  } do {
  ^bb0(%i : !exir.symint<u0>, %m : !exir.symint<s0>):
    %one = exir.number 1 : !exir.symint<1>
    %j = exir.sym_add %i, %one : (!exir.symint<u0>, !exir.symint<1>) -> !exir.symint<u0 + 1>
    higher_order.yield %j : !exir.symint<u0 + 1>
  }
  func.return %r : !exir.symint<u1>
}

// CHECK-LABEL: func.func @counter
// CHECK:         higher_order.while_loop carried(%zero : !exir.symint<0>) additional(%n : !exir.symint<s0>) -> !exir.symint<u1> {

func.func @stacks(%i : tensor<3xf32>, %x : tensor<4x3xf32>) -> (tensor<3xf32>, tensor<4x3xf32>, tensor<?x3xf32, #exir.shape<[u0, 3]>>) {
  %last, %m = higher_order.scan init(%i : tensor<3xf32>) xs(%x : tensor<4x3xf32>) -> tensor<3xf32>, tensor<4x3xf32> {
  ^bb0(%carry : tensor<3xf32>, %a : tensor<3xf32>):
    %b = aten.add.Tensor(%carry, %a) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    higher_order.yield %b, %b : tensor<3xf32>, tensor<3xf32>
  }
  %n = higher_order.map xs(%m : tensor<4x3xf32>) args(%last : tensor<3xf32>) -> tensor<4x3xf32> {
  ^bb0(%a : tensor<3xf32>, %b : tensor<3xf32>):
    %c = aten.add.Tensor(%a, %b) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    higher_order.yield %c : tensor<3xf32>
  }
  %o = higher_order.associative_scan xs(%n : tensor<4x3xf32>) -> tensor<4x3xf32> {
  ^bb0(%a : tensor<3xf32>, %b : tensor<3xf32>):
    %c = aten.add.Tensor(%a, %b) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    higher_order.yield %c : tensor<3xf32>
  }
  %q = higher_order.while_loop_stack_output carried(%i : tensor<3xf32>) -> tensor<?x3xf32, #exir.shape<[u0, 3]>> {
  ^bb0(%a : tensor<3xf32>):
    %s = aten.sum(%a) : (tensor<3xf32>) -> tensor<f32>
    %c = aten.lt.Scalar(%s, other = 100) : (tensor<f32>) -> tensor<i1>
    higher_order.yield %c : tensor<i1>
  } do {
  ^bb0(%a : tensor<3xf32>):
    %c = aten.add.Tensor(%a, %a) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    higher_order.yield %c : tensor<3xf32>
  }
  func.return %last, %o, %q : tensor<3xf32>, tensor<4x3xf32>, tensor<?x3xf32, #exir.shape<[u0, 3]>>
}

// CHECK-LABEL: func.func @stacks
// CHECK:         %last, %m = higher_order.scan init(%i : tensor<3xf32>) xs(%x : tensor<4x3xf32>) -> tensor<3xf32>, tensor<4x3xf32> {
// CHECK:         %n = higher_order.map xs(%m : tensor<4x3xf32>) args(%last : tensor<3xf32>) -> tensor<4x3xf32> {
// CHECK:         %o = higher_order.associative_scan xs(%n : tensor<4x3xf32>) -> tensor<4x3xf32> {
// CHECK:         %q = higher_order.while_loop_stack_output carried(%i : tensor<3xf32>) -> tensor<?x3xf32, #exir.shape<[u0, 3]>> {
// CHECK:         } do {
