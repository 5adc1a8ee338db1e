// RUN: xdsl-opt %s --split-input-file --verify-diagnostics -p verify-edge | filecheck %s

func.func @fine(%x: tensor<2xf32>) -> tensor<2xf32> {
  %two = exir.constant 2.0 : tensor<f32>
  %0 = edge.aten.mul.Tensor(%x, %two) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
// CHECK: func.func @fine

// -----

func.func @stages(%x: tensor<2xf32>) -> tensor<2xf32> {
  %two = exir.number 2.0 : f64 loc("model.py":2:0)
  %0 = aten.mul.Tensor(%x, %two) : (tensor<2xf32>, f64) -> tensor<2xf32> loc("model.py":3:0)
  %1 = edge.aten.relu(%0) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %1 : tensor<2xf32>
}
// CHECK:      2 violations
// CHECK-NEXT:   model.py:2: exir.number: a Python number; edge has tensors in its place
// CHECK-NEXT:   model.py:3: aten.mul.Tensor: not an edge operation

// -----

func.func @inside_a_region(%p: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %y = higher_order.cond %p : tensor<i1> inputs(%x : tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a : tensor<2xf32>):
    %0 = aten.relu(%a) : (tensor<2xf32>) -> tensor<2xf32>
    higher_order.yield %0 : tensor<2xf32>
  } else {
  ^bb0(%a : tensor<2xf32>):
    higher_order.yield %a : tensor<2xf32>
  }
  func.return %y : tensor<2xf32>
}
// CHECK:      1 violation
// CHECK-NEXT:   aten.relu: not an edge operation

// -----

func.func @promotion(%x: tensor<2xf32>, %n: tensor<2xi64>) -> tensor<2xf32> {
  %0 = edge.aten.add.Tensor(%x, %n) : (tensor<2xf32>, tensor<2xi64>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
// CHECK: operands would promote (self: Float, other: Long); edge casts explicitly

// -----

func.func @number_for_tensor(%x: tensor<2xf32>) -> tensor<2xf32> {
  %two = exir.number 2.0 : f64
  %0 = edge.aten.mul.Tensor(%x, %two) : (tensor<2xf32>, f64) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
// CHECK: f64 is not a tensor

// -----

func.func @memory_format(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = edge.aten.full_like(%x, fill_value = 1, memory_format = "contiguous_format") : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}
// CHECK: a memory format; edge has dim_order_ops in its place

// -----

func.func @no_permutation(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = edge.dim_order_ops._clone_dim_order(%x, dim_order = [0, 2]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}
// CHECK: dim_order [0, 2] is no permutation of 2 dimensions

// -----

func.func @arguments(%x: tensor<2xf64>, %number: f64, %type: tensor<2xi7>, %unranked: tensor<*xf32>, %nameless: tensor<?xf32>) -> tensor<2xf64> {
  func.return %x : tensor<2xf64>
}
// CHECK:      4 violations
// CHECK-NEXT:   func.func: argument 1 is f64: a Python number; edge has tensors in its place
// CHECK-NEXT:   func.func: argument 2 is tensor<2xi7>: i7 is not the type of a PyTorch dtype
// CHECK-NEXT:   func.func: argument 3 is tensor<*xf32>: neither a tensor nor a number of Export IR
// CHECK-NEXT:   func.func: argument 4 is tensor<?xf32>: a dynamic size has no name; it needs an #exir.shape
