// RUN: xdsl-opt %s --split-input-file --verify-diagnostics -p verify-aten | filecheck %s

func.func @fine(%x: tensor<2xf32> {exir.input = #exir.input<buffer, "b">}, %n: tensor<2xi64> {exir.input = #exir.input<user_input, "n">}) -> (tensor<2xf32> {exir.output = #exir.output<buffer_mutation, "b">}) {
  %two = exir.number 2.0 : f64
  %0 = aten.add.Tensor(%x, %n) : (tensor<2xf32>, tensor<2xi64>) -> tensor<2xf32>
  %1 = aten.mul.Tensor(%0, %two) : (tensor<2xf32>, f64) -> tensor<2xf32>
  func.return %1 : tensor<2xf32>
}
// CHECK: func.func @fine

// -----

func.func @all_are_reported(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = edge.aten.relu(%x) : (tensor<2xf32>) -> tensor<2xf32> loc("model.py":3:0)
  %1 = arith.constant 1 : i32 loc("model.py":4:0)
  %2 = edge.aten.exp(%0) : (tensor<2xf32>) -> tensor<2xf32> loc("layer.py":5:0)
  func.return %2 : tensor<2xf32>
}
// CHECK:      3 violations
// CHECK-NEXT:   model.py:3: edge.aten.relu: not an aten operation
// CHECK-NEXT:   model.py:4: arith.constant: not an operation of the aten stage
// CHECK-NEXT:   layer.py:5: edge.aten.exp: not an aten operation

// -----

func.func @unknown_target(%x: tensor<2xf32> {exir.input = #exir.input<buffer, "a">}) -> (tensor<2xf32> {exir.output = #exir.output<buffer_mutation, "b">}) {
  func.return %x : tensor<2xf32>
}
// CHECK:      1 violation
// CHECK-NEXT:   func.func: result 0 writes to buffer 'b', which is no argument

// -----

func.func @other_type(%x: tensor<2xf32> {exir.input = #exir.input<buffer, "a">}) -> (tensor<1xf32> {exir.output = #exir.output<buffer_mutation, "a">}) {
  %0 = aten.slice.Tensor(%x, end = 1) : (tensor<2xf32>) -> tensor<1xf32>
  func.return %0 : tensor<1xf32>
}
// CHECK:      1 violation
// CHECK-NEXT:   func.func: result 0 is tensor<1xf32>, written to 'a' of tensor<2xf32>

// -----

func.func @wrong_result(%x: tensor<2xf32>) -> tensor<3xf32> {
  %0 = aten.relu(%x) : (tensor<2xf32>) -> tensor<3xf32>
  func.return %0 : tensor<3xf32>
}
// CHECK: Operation does not verify: result 0 is tensor<2xf32>, not tensor<3xf32>

// -----

func.func @wrong_dtype(%x: tensor<2xcomplex<f32>>, %y: tensor<2xf32>) -> tensor<2xcomplex<f32>> {
  %0 = aten.maximum(%x, %y) : (tensor<2xcomplex<f32>>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
  func.return %0 : tensor<2xcomplex<f32>>
}
// CHECK: dtype ComplexFloat is not allowed

// -----

func.func @wrong_shapes(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = aten.mm(%x, %y) : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return %0 : tensor<2x4xf32>
}
// CHECK: Operation does not verify: aten.mm:
