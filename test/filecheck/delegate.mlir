// RUN: xdsl-opt %s --split-input-file --verify-diagnostics -p verify-backend | filecheck %s

func.func @empty(%x : tensor<2xf32>) -> tensor<2xf32> {
  backend.delegate "native" {
    backend.yield
  }
  %0 = backend.delegate "vendor" inputs(%x : tensor<2xf32>) -> tensor<2xf32> attributes {"level" = 3 : i64} {
  ^bb0(%a : tensor<2xf32>):
    backend.yield %a : tensor<2xf32>
  }
  func.return %0 : tensor<2xf32>
}
// CHECK-LABEL: func.func @empty
// CHECK-NEXT:    backend.delegate "native" {
// CHECK-NEXT:      backend.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    %0 = backend.delegate "vendor" inputs(%x : tensor<2xf32>) -> tensor<2xf32> attributes {level = 3 : i64} {

func.func @whole(%x : tensor<2xf32>) -> tensor<2xf32> {
  %0 = backend.delegate "vendor" constants [#exir.input<parameter, "w">] specs {speed = "high"} ranges {s0 = #exir.range<1, 8>} processed "vendor.processed_0" inputs(%x : tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a : tensor<2xf32>, %w : tensor<2xf32>):
    %1 = edge.aten.add.Tensor(%a, %w) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    backend.yield %1 : tensor<2xf32>
  }
  %2 = backend.alloc : tensor<2xf32>
  %3 = backend.out_variant "aten.relu.out" of "aten.relu" ins(%0 : tensor<2xf32>) outs(%2 : tensor<2xf32>) -> tensor<2xf32>
  func.return %3 : tensor<2xf32>
}
// CHECK-LABEL: func.func @whole
// CHECK-NEXT:    %0 = backend.delegate "vendor" constants [#exir.input<parameter, "w">] specs {speed = "high"} ranges {s0 = #exir.range<1, 8>} processed "vendor.processed_0" inputs(%x : tensor<2xf32>) -> tensor<2xf32> {
// CHECK:         %[[A:.*]] = backend.alloc : tensor<2xf32>
// CHECK-NEXT:    backend.out_variant "aten.relu.out" of "aten.relu" ins(%0 : tensor<2xf32>) outs(%[[A]] : tensor<2xf32>) -> tensor<2xf32>

// -----

func.func @name(%x : tensor<2xf32>) -> tensor<2xf32> {
  %0 = backend.alloc : tensor<2xf32>
  %1 = backend.out_variant "aten.relu.outs" of "aten.relu" ins(%x : tensor<2xf32>) outs(%0 : tensor<2xf32>) -> tensor<2xf32>
  func.return %1 : tensor<2xf32>
}
// CHECK: the out-variant of aten.relu is aten.relu.out

// -----

func.func @owner(%p : tensor<i1>, %x : tensor<2xf32>) -> tensor<2xf32> {
  %0 = higher_order.cond %p : tensor<i1> inputs(%x : tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a : tensor<2xf32>):
    %1 = backend.delegate "vendor" constants [#exir.input<parameter, "w">] inputs(%a : tensor<2xf32>) -> tensor<2xf32> {
    ^bb0(%b : tensor<2xf32>, %w : tensor<2xf32>):
      backend.yield %w : tensor<2xf32>
    }
    higher_order.yield %1 : tensor<2xf32>
  } else {
  ^bb0(%a : tensor<2xf32>):
    higher_order.yield %a : tensor<2xf32>
  }
  func.return %0 : tensor<2xf32>
}
// CHECK: a delegate in a region owns no state

// -----

func.func @argument(%x : tensor<2xf32>) -> tensor<2xf32> {
  %0 = backend.delegate "native" inputs(%x : tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a : tensor<3xf32>):
    %1 = exir.constant 1.0 : tensor<2xf32>
    backend.yield %1 : tensor<2xf32>
  }
  func.return %0 : tensor<2xf32>
}
// CHECK: arguments of the body: value 0 is tensor<3xf32>, expected tensor<2xf32>

// -----

func.func @result(%x : tensor<2xf32>) -> tensor<3xf32> {
  %0 = backend.delegate "native" inputs(%x : tensor<2xf32>) -> tensor<3xf32> {
  ^bb0(%a : tensor<2xf32>):
    backend.yield %a : tensor<2xf32>
  }
  func.return %0 : tensor<3xf32>
}
// CHECK: yield of the body: value 0 is tensor<2xf32>, expected tensor<3xf32>

// -----

func.func @aten(%x : tensor<2xf32>) -> tensor<2xf32> {
  %0 = backend.delegate "native" inputs(%x : tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a : tensor<2xf32>):
    %1 = aten.relu(%a) : (tensor<2xf32>) -> tensor<2xf32>
    backend.yield %1 : tensor<2xf32>
  }
  func.return %0 : tensor<2xf32>
}
// CHECK: backend.delegate holds edge operators without effects and literals, not aten.relu

// -----

func.func @effect(%x : tensor<2xf32>) -> tensor<2xf32> {
  %0 = backend.delegate "native" inputs(%x : tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a : tensor<2xf32>):
    %1 = edge.aten.rand_like(%a) : (tensor<2xf32>) -> tensor<2xf32>
    backend.yield %1 : tensor<2xf32>
  }
  func.return %0 : tensor<2xf32>
}
// CHECK: backend.delegate holds edge operators without effects and literals, not edge.aten.rand_like

// -----

func.func @dispatch(%x : tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = backend.dispatch inputs(%x : tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%a : tensor<4x4xf32>):
    backend.yield %a : tensor<4x4xf32>
  }
  func.return %0 : tensor<4x8xf32>
}
// CHECK: arguments of the body
