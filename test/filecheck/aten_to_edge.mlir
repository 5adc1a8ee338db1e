// RUN: xdsl-opt %s -p aten-to-edge,verify-edge | filecheck %s
// RUN: xdsl-opt %s -p aten-to-edge,aten-to-edge,verify-edge | filecheck %s

// Operands that promote are cast to the computation dtype, and only those.
func.func @promotion(%x: tensor<2x3xf32>, %n: tensor<3xi64>, %d: tensor<f64>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xi1>) {
  %0 = aten.add.Tensor(%x, %n, alpha = 2) : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<2x3xf32>
  %1 = aten.mul.Tensor(%x, %d) : (tensor<2x3xf32>, tensor<f64>) -> tensor<2x3xf32>
  %2 = aten.lt.Tensor(%x, %n) : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<2x3xi1>
  func.return %0, %1, %2 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xi1>
}

// CHECK-LABEL: func.func @promotion
// CHECK-NEXT:    %0 = edge.aten._to_copy(%n, dtype = f32) : (tensor<3xi64>) -> tensor<3xf32>
// CHECK-NEXT:    %1 = edge.aten.add.Tensor(%x, %0, alpha = 2) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %2 = edge.aten._to_copy(%d, dtype = f32) : (tensor<f64>) -> tensor<f32>
// CHECK-NEXT:    %3 = edge.aten.mul.Tensor(%x, %2) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %4 = edge.aten._to_copy(%n, dtype = f32)
// CHECK-NEXT:    %5 = edge.aten.lt.Tensor(%x, %4) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>

// Integers of several dtypes become floats each by itself; those of one stay, and the operator makes floats of them.
func.func @integers_divide_as_floats(%n: tensor<3xi64>, %m: tensor<3xi32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = aten.div.Tensor(%n, %m) : (tensor<3xi64>, tensor<3xi32>) -> tensor<3xf32>
  %1 = aten.sigmoid(%n) : (tensor<3xi64>) -> tensor<3xf32>
  func.return %0, %1 : tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: func.func @integers_divide_as_floats
// CHECK-NEXT:    %0 = edge.aten._to_copy(%n, dtype = f32) : (tensor<3xi64>) -> tensor<3xf32>
// CHECK-NEXT:    %1 = edge.aten._to_copy(%m, dtype = f32) : (tensor<3xi32>) -> tensor<3xf32>
// CHECK-NEXT:    %2 = edge.aten.div.Tensor(%0, %1) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT:    %3 = edge.aten.sigmoid(%n) : (tensor<3xi64>) -> tensor<3xf32>

// A Python number becomes a literal of the dtype it is computed in; the number itself goes.
func.func @numbers(%x: tensor<2xf16>, %n: tensor<2xi64>) -> (tensor<2xf16>, tensor<2xf32>, tensor<2xi64>) {
  %two = exir.number 2 : i64
  %half = exir.number 0.5 : f64
  %0 = aten.mul.Tensor(%x, %two) : (tensor<2xf16>, i64) -> tensor<2xf16>
  %1 = aten.add.Tensor(%n, %half) : (tensor<2xi64>, f64) -> tensor<2xf32>
  %2 = aten.sub.Tensor(%n, %two) : (tensor<2xi64>, i64) -> tensor<2xi64>
  func.return %0, %1, %2 : tensor<2xf16>, tensor<2xf32>, tensor<2xi64>
}

// CHECK-LABEL: func.func @numbers
// CHECK-NEXT:    %0 = exir.constant 2.0 : tensor<f16>
// CHECK-NEXT:    %1 = edge.aten.mul.Tensor(%x, %0) : (tensor<2xf16>, tensor<f16>) -> tensor<2xf16>
// CHECK-NEXT:    %2 = edge.aten._to_copy(%n, dtype = f32)
// CHECK-NEXT:    %3 = exir.constant 0.5 : tensor<f32>
// CHECK-NEXT:    %4 = edge.aten.add.Tensor(%2, %3) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT:    %5 = exir.constant 2 : tensor<i64>
// CHECK-NEXT:    %6 = edge.aten.sub.Tensor(%n, %5)
// CHECK-NEXT:    func.return %1, %4, %6

// Overloads that take a number become the overload that takes a tensor.
func.func @twins(%x: tensor<2xf32>, %n: tensor<2xi64>, %c: tensor<2xi1>) -> (tensor<2xf32>, tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) {
  %0 = aten.add.Scalar(%n, other = 1.5) : (tensor<2xi64>) -> tensor<2xf32>
  %1 = aten.ge.Scalar(%x, other = 0) : (tensor<2xf32>) -> tensor<2xi1>
  %2 = aten.where.ScalarOther(%c, %x, other = -inf) : (tensor<2xi1>, tensor<2xf32>) -> tensor<2xf32>
  %3 = aten.pow.Scalar(self = 2, exponent = %x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0, %1, %2, %3 : tensor<2xf32>, tensor<2xi1>, tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @twins
// CHECK-NEXT:    %0 = edge.aten._to_copy(%n, dtype = f32)
// CHECK-NEXT:    %1 = exir.constant 1.5 : tensor<f32>
// CHECK-NEXT:    %2 = edge.aten.add.Tensor(%0, %1)
// CHECK-NEXT:    %3 = exir.constant 0.0 : tensor<f32>
// CHECK-NEXT:    %4 = edge.aten.ge.Tensor(%x, %3) : (tensor<2xf32>, tensor<f32>) -> tensor<2xi1>
// CHECK-NEXT:    %5 = exir.constant -inf : tensor<f32>
// CHECK-NEXT:    %6 = edge.aten.where.self(%c, %x, %5)
// CHECK-NEXT:    %7 = exir.constant 2.0 : tensor<f32>
// CHECK-NEXT:    %8 = edge.aten.pow.Tensor_Tensor(%7, %x)

// Constant arguments stay arguments.
func.func @constants_stay(%x: tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2x3xf32>) {
  %0 = aten.sum.dim_IntList(%x, dim = [1]) : (tensor<2x3xf32>) -> tensor<2xf32>
  %1 = aten.clamp(%x, min = 0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0, %1 : tensor<2xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @constants_stay
// CHECK-NEXT:    %0 = edge.aten.sum.dim_IntList(%x, dim = [1])
// CHECK-NEXT:    %1 = edge.aten.clamp(%x, min = 0)

// What does nothing goes.
func.func @no_ops(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = aten.alias(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.detach(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = aten.lift_fresh_copy(%1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = aten.clone(%2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = aten.relu(%3) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %4 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @no_ops
// CHECK-NEXT:    %0 = edge.aten.relu(%x)
// CHECK-NEXT:    func.return %0

// A computed number becomes a tensor by an operator.
func.func @computed_numbers(%x: tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>> {
  %n = aten.sym_size.int(%x, dim = 0) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> !exir.symint<s0>
  %0 = aten.mul.Tensor(%x, %n) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>, !exir.symint<s0>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  func.return %0 : tensor<?x3xf32, #exir.shape<[s0, 3]>>
}

// CHECK-LABEL: func.func @computed_numbers
// CHECK-NEXT:    %n = edge.aten.sym_size.int(%x, dim = 0)
// CHECK-NEXT:    %0 = edge.aten.scalar_tensor(s = %n, dtype = f32) : (!exir.symint<s0>) -> tensor<f32>
// CHECK-NEXT:    %1 = edge.aten.mul.Tensor(%x, %0)

// Regions are rewritten too.
func.func @inside_regions(%p: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %y = higher_order.cond %p : tensor<i1> inputs(%x : tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a : tensor<2xf32>):
    %0 = aten.mul.Scalar(%a, other = 2) : (tensor<2xf32>) -> tensor<2xf32>
    higher_order.yield %0 : tensor<2xf32>
  } else {
  ^bb0(%a : tensor<2xf32>):
    higher_order.yield %a : tensor<2xf32>
  }
  func.return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func @inside_regions
// CHECK:           exir.constant 2.0 : tensor<f32>
// CHECK-NEXT:      edge.aten.mul.Tensor(

// A memory format is an order of dimensions, of a copy that says nothing else; one that is kept says nothing.
func.func @memory_formats(%x: tensor<2x3x4x5xf32>, %v: tensor<1x2x3x4x5xf32>) -> (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>, tensor<2x3x4x5xf16>, tensor<1x2x3x4x5xf32>, tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>, tensor<2x3x4x5xf16>) {
  %0 = aten.clone(%x, memory_format = "channels_last") : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %1 = aten.contiguous(%0) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %2 = aten._to_copy(%x, dtype = f16, memory_format = "channels_last") : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf16>
  %3 = aten.full_like(%v, fill_value = 1, memory_format = "channels_last_3d") : (tensor<1x2x3x4x5xf32>) -> tensor<1x2x3x4x5xf32>
  %4 = aten.empty.memory_format(size = [2, 3, 4, 5], memory_format = "channels_last") : () -> tensor<2x3x4x5xf32>
  %5 = aten.clone(%x, memory_format = "preserve_format") : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %6 = aten._to_copy(%x, dtype = f16) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf16>
  func.return %0, %1, %2, %3, %4, %5, %6 : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>, tensor<2x3x4x5xf16>, tensor<1x2x3x4x5xf32>, tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>, tensor<2x3x4x5xf16>
}

// CHECK-LABEL: func.func @memory_formats
// CHECK-NEXT:    %0 = edge.dim_order_ops._clone_dim_order(%x, dim_order = [0, 2, 3, 1])
// CHECK-NEXT:    %1 = edge.dim_order_ops._clone_dim_order(%0, dim_order = [0, 1, 2, 3])
// CHECK-NEXT:    %2 = edge.dim_order_ops._to_dim_order_copy(%x, dtype = f16, dim_order = [0, 2, 3, 1])
// CHECK-NEXT:    %3 = edge.aten.full_like(%v, fill_value = 1)
// CHECK-NEXT:    %4 = edge.dim_order_ops._clone_dim_order(%3, dim_order = [0, 2, 3, 4, 1])
// CHECK-NEXT:    %5 = edge.dim_order_ops._empty_dim_order(size = [2, 3, 4, 5], dim_order = [0, 2, 3, 1])
// CHECK-NEXT:    %6 = edge.aten._to_copy(%x, dtype = f16)
// CHECK-NEXT:    func.return %0, %1, %2, %4, %5, %x, %6

// Sizes that are computed: ExecuTorch's operator takes none.
func.func @computed_sizes(%n: !exir.symint<s0>) -> tensor<1x?x2x2xf32, #exir.shape<[1, s0, 2, 2]>> {
  %0 = aten.empty.memory_format(size = [1, %n, 2, 2], memory_format = "channels_last") : (!exir.symint<s0>) -> tensor<1x?x2x2xf32, #exir.shape<[1, s0, 2, 2]>>
  func.return %0 : tensor<1x?x2x2xf32, #exir.shape<[1, s0, 2, 2]>>
}

// CHECK-LABEL: func.func @computed_sizes
// CHECK-NEXT:    %0 = edge.aten.empty.memory_format(size = [1, %n, 2, 2])
// CHECK-NEXT:    %1 = edge.dim_order_ops._clone_dim_order(%0, dim_order = [0, 2, 3, 1])
