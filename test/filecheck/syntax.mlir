// RUN: xdsl-opt %s | filecheck %s
// RUN: xdsl-opt %s | xdsl-opt | filecheck %s
// RUN: xdsl-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: xdsl-opt %s --print-op-generic | xdsl-opt | filecheck %s

// Operators print as calls: arguments in the schema's order, tensors by position, the rest by name, defaults left out.
// What is written otherwise is read all the same.

!s = !exir.symint<s0>

func.func @arguments(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %i: tensor<4xi64>, %n: !s, %c: tensor<1x2x5xf32>, %k: tensor<4x2x3xf32>) {
  // CHECK-LABEL: func.func @arguments

  // Tensors, a default.
  %0 = aten.add.Tensor(%x, %y, alpha = 1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: aten.add.Tensor(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // GENERIC: "aten.add.Tensor"(%x, %y) <{alpha = 1 : i64}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>

  // Tensors by name, in another order.
  %1 = aten.add.Tensor(other = %y, alpha = 2, self = %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: aten.add.Tensor(%x, %y, alpha = 2) :

  // A number of each kind keeps its kind.
  %2 = aten.add.Tensor(%x, %y, alpha = 1.0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: aten.add.Tensor(%x, %y, alpha = 1.0) :
  %3 = aten.add.Scalar(%x, other = 1.0e-05) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: aten.add.Scalar(%x, other = 1.0e-05) :
  %4 = aten.full(size = [2], fill_value = true) : () -> tensor<2xi1>
  // CHECK-NEXT: aten.full(size = [2], fill_value = true) : () -> tensor<2xi1>
  %5 = aten.full(size = [2], fill_value = (0.0, -inf)) : () -> tensor<2xcomplex<f32>>
  // CHECK-NEXT: aten.full(size = [2], fill_value = (0.0, -inf)) :
  // GENERIC: "aten.full"() <{size = array<i64: 2>, fill_value = [0.000000e+00 : f64, 0xfff0000000000000 : f64], operandSegmentSizes = array<i32: 0, 0>}>

  // Lists, strings, dtypes, devices.
  %6 = aten.div.Tensor_mode(%x, %y, rounding_mode = "floor") : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: aten.div.Tensor_mode(%x, %y, rounding_mode = "floor") :
  %7 = aten._to_copy(%x, dtype = bf16, device = "cpu") : (tensor<2x3xf32>) -> tensor<2x3xbf16>
  // CHECK-NEXT: aten._to_copy(%x, dtype = bf16, device = "cpu") :
  // GENERIC: "aten._to_copy"(%x) <{dtype = bf16, device = "cpu", non_blocking = false}>
  %8 = aten.sum.dim_IntList(%x, dim = [], keepdim = true) : (tensor<2x3xf32>) -> tensor<1x1xf32>
  // CHECK-NEXT: aten.sum.dim_IntList(%x, dim = [], keepdim = true) :

  // None, where the schema has no default for it, and in a list.
  %9 = aten.sum.dim_IntList(%x, dim = none) : (tensor<2x3xf32>) -> tensor<f32>
  // CHECK-NEXT: aten.sum.dim_IntList(%x, dim = none) :
  %10 = aten.index.Tensor(%x, [none, %i]) : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<2x4xf32>
  // CHECK-NEXT: aten.index.Tensor(%x, [none, %i]) : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<2x4xf32>
  // GENERIC: "aten.index.Tensor"(%x, %i) <{indices_mask = array<i1: false, true>}>

  // Lists of tensors, list results.
  %11 = aten.cat([%x, %y], dim = 1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  // CHECK-NEXT: aten.cat([%x, %y], dim = 1) :
  %12, %13 = aten.split.Tensor(%11, split_size = 3, dim = 1) : (tensor<2x6xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  // CHECK-NEXT: %12, %13 = aten.split.Tensor(%11, split_size = 3, dim = 1) : (tensor<2x6xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)

  // Several results, none.
  %14, %15 = aten.max.dim(%x, dim = 1) : (tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xi64>)
  // CHECK-NEXT: %14, %15 = aten.max.dim(%x, dim = 1) :
  aten._assert_scalar(self = %n, assert_msg = "a \"b\"") : (!s) -> ()
  // CHECK-NEXT: aten._assert_scalar(self = %n, assert_msg = "a \22b\22") : (!exir.symint<s0>) -> ()

  // Sizes that the program computes stand where constants would.
  %16 = aten.full(size = [%n, 3], fill_value = 0.5) : (!s) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  // CHECK-NEXT: aten.full(size = [%n, 3], fill_value = 0.5) : (!exir.symint<s0>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  // GENERIC: "aten.full"(%n) <{size = array<i64: -9223372036854775808, 3>, fill_value = 5.000000e-01 : f64, operandSegmentSizes = array<i32: 1, 0>}>

  // An optional tensor that is not given, by name.
  %17 = aten.convolution(%c, %k, bias = none, stride = [1], padding = [0], dilation = [1], transposed = false, output_padding = [0], groups = 1) : (tensor<1x2x5xf32>, tensor<4x2x3xf32>) -> tensor<1x4x3xf32>
  // CHECK-NEXT: aten.convolution(%c, %k, bias = none, stride = [1], padding = [0], dilation = [1], transposed = false, output_padding = [0], groups = 1) :
  func.return
}
