// RUN: xdsl-opt %s -p canonicalize-fastmath | filecheck %s
// RUN: xdsl-opt %s -p 'canonicalize-fastmath{flags=nsz}' | filecheck %s --check-prefix=NSZ
// RUN: xdsl-opt %s -p 'canonicalize-fastmath{flags=nnan,ninf}' | filecheck %s --check-prefix=FINITE
// RUN: xdsl-opt %s -p 'canonicalize-fastmath{flags=nnan,ninf,nsz}' | filecheck %s --check-prefix=ALGEBRA
// RUN: xdsl-opt %s -p 'canonicalize-fastmath{flags=arcp}' | filecheck %s --check-prefix=ARCP
// RUN: xdsl-opt %s -p 'canonicalize-fastmath{flags=reassoc}' | filecheck %s --check-prefix=REASSOC

// One function a rule of transforms/fastmath.py. It needs its flags, and without a flag nothing happens.
func.func @add_zero(%x: tensor<3xf32>, %z: tensor<3xcomplex<f32>>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xcomplex<f32>>) {
  %zero = exir.number 0.0 : f64
  %0 = aten.add.Tensor(%x, %zero) : (tensor<3xf32>, f64) -> tensor<3xf32>
  %1 = aten.add.Scalar(%x, other = 0) : (tensor<3xf32>) -> tensor<3xf32>
  %2 = aten.add.Tensor(%z, %zero) : (tensor<3xcomplex<f32>>, f64) -> tensor<3xcomplex<f32>>
  func.return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<3xcomplex<f32>>
}
// CHECK-LABEL:   func.func @add_zero(
// CHECK:           func.return %0, %1, %2
// NSZ-LABEL:     func.func @add_zero(
// NSZ:             %0 = aten.add.Tensor(%z,
// NSZ-NEXT:        func.return %x, %x, %0
// FINITE-LABEL:  func.func @add_zero(
// FINITE:          func.return %0, %1, %2

func.func @sub_zero(%x: tensor<3xf32>) -> tensor<3xf32> {
  %zero = exir.number -0.0 : f64
  %0 = aten.sub.Tensor(%x, %zero) : (tensor<3xf32>, f64) -> tensor<3xf32>
  func.return %0 : tensor<3xf32>
}
// CHECK-LABEL:   func.func @sub_zero(
// CHECK:           func.return %0
// NSZ-LABEL:     func.func @sub_zero(
// NSZ-NOT:         aten.sub
// NSZ:             func.return %x
// FINITE-LABEL:  func.func @sub_zero(
// FINITE:          func.return %0

func.func @mul_zero(%x: tensor<3xf32>, %s: tensor<?xf32, #exir.shape<[s0]>>) -> (tensor<3xf32>, tensor<?xf32, #exir.shape<[s0]>>) {
  %zero = exir.number 0 : i64
  %0 = aten.mul.Tensor(%x, %zero) : (tensor<3xf32>, i64) -> tensor<3xf32>
  %1 = aten.mul.Tensor(%s, %zero) : (tensor<?xf32, #exir.shape<[s0]>>, i64) -> tensor<?xf32, #exir.shape<[s0]>>
  func.return %0, %1 : tensor<3xf32>, tensor<?xf32, #exir.shape<[s0]>>
}
// CHECK-LABEL:   func.func @mul_zero(
// CHECK:           %0 = aten.mul.Tensor(%x, %zero)
// NSZ-LABEL:     func.func @mul_zero(
// NSZ:             %0 = aten.mul.Tensor(%x, %zero)
// FINITE-LABEL:  func.func @mul_zero(
// FINITE:          %0 = aten.mul.Tensor(%x, %zero)
// ALGEBRA-LABEL: func.func @mul_zero(
// ALGEBRA:         %0 = exir.constant 0.0 : tensor<3xf32>
// ALGEBRA-NEXT:    %1 = aten.mul.Tensor(%s, %zero)
// ALGEBRA-NEXT:    func.return %0, %1

func.func @sub_itself(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = aten.sub.Tensor(%x, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = aten.sub.Tensor(%x, %x, alpha = 2) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %0, %1 : tensor<3xf32>, tensor<3xf32>
}
// CHECK-LABEL:   func.func @sub_itself(
// CHECK-NEXT:      %0 = aten.sub.Tensor(%x, %x)
// NSZ-LABEL:     func.func @sub_itself(
// NSZ-NEXT:        %0 = aten.sub.Tensor(%x, %x)
// FINITE-LABEL:  func.func @sub_itself(
// FINITE-NEXT:     %0 = exir.constant 0.0 : tensor<3xf32>
// FINITE-NEXT:     %1 = aten.sub.Tensor(%x, %x, alpha = 2)

// 1e-40 has no reciprocal in float32; the quotient of integers is left alone.
func.func @div_known(%x: tensor<3xf32>, %n: tensor<3xi32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %four = exir.number 4.0 : f64
  %tiny = exir.number 1.0e-40 : f64
  %0 = aten.div.Tensor(%x, %four) : (tensor<3xf32>, f64) -> tensor<3xf32>
  %1 = aten.div.Tensor(%x, %tiny) : (tensor<3xf32>, f64) -> tensor<3xf32>
  %2 = aten.div.Tensor(%n, %four) : (tensor<3xi32>, f64) -> tensor<3xf32>
  func.return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}
// CHECK-LABEL:   func.func @div_known(
// CHECK:           %0 = aten.div.Tensor(%x, %four)
// ARCP-LABEL:    func.func @div_known(
// ARCP:            %0 = exir.constant 0.25 : tensor<f32>
// ARCP-NEXT:       %1 = aten.mul.Tensor(%x, %0)
// ARCP-NEXT:       %2 = aten.div.Tensor(%x, %tiny)
// ARCP-NEXT:       %3 = aten.div.Tensor(%n, %four)
// REASSOC-LABEL: func.func @div_known(
// REASSOC:         %0 = aten.div.Tensor(%x, %four)

// Where the sum overflows, two stay two.
func.func @add_twice(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %two = exir.number 2.0 : f64
  %much = exir.number 3.0e+38 : f64
  %0 = aten.add.Tensor(%x, %two) : (tensor<3xf32>, f64) -> tensor<3xf32>
  %1 = aten.add.Tensor(%0, %two, alpha = 3) : (tensor<3xf32>, f64) -> tensor<3xf32>
  %2 = aten.add.Tensor(%x, %much) : (tensor<3xf32>, f64) -> tensor<3xf32>
  %3 = aten.add.Tensor(%2, %much) : (tensor<3xf32>, f64) -> tensor<3xf32>
  func.return %1, %3 : tensor<3xf32>, tensor<3xf32>
}
// CHECK-LABEL:   func.func @add_twice(
// CHECK:           %1 = aten.add.Tensor(%0, %two, alpha = 3)
// ARCP-LABEL:    func.func @add_twice(
// ARCP:            %1 = aten.add.Tensor(%0, %two, alpha = 3)
// REASSOC-LABEL: func.func @add_twice(
// REASSOC:         %0 = exir.constant 8.0 : tensor<f32>
// REASSOC-NEXT:    %1 = aten.add.Tensor(%x, %0)
// REASSOC-NEXT:    %2 = aten.add.Tensor(%x, %much)
// REASSOC-NEXT:    %3 = aten.add.Tensor(%2, %much)

func.func @mul_twice(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %two = exir.number 2.0 : f64
  %0 = aten.mul.Tensor(%x, %two) : (tensor<3xf32>, f64) -> tensor<3xf32>
  %1 = aten.mul.Tensor(%0, %two) : (tensor<3xf32>, f64) -> tensor<3xf32>
  %2 = aten.mul.Tensor(%x, %y) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %3 = aten.mul.Tensor(%2, %two) : (tensor<3xf32>, f64) -> tensor<3xf32>
  func.return %1, %3 : tensor<3xf32>, tensor<3xf32>
}
// CHECK-LABEL:   func.func @mul_twice(
// CHECK:           %1 = aten.mul.Tensor(%0, %two)
// ARCP-LABEL:    func.func @mul_twice(
// ARCP:            %1 = aten.mul.Tensor(%0, %two)
// REASSOC-LABEL: func.func @mul_twice(
// REASSOC:         %0 = exir.constant 4.0 : tensor<f32>
// REASSOC-NEXT:    %1 = aten.mul.Tensor(%x, %0)
// REASSOC-NEXT:    %2 = aten.mul.Tensor(%x, %y)
// REASSOC-NEXT:    %3 = aten.mul.Tensor(%2, %two)
