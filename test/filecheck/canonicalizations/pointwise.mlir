// RUN: xdsl-opt %s -p canonicalize | filecheck %s

// One function an operator: what its rule makes simpler, then what it leaves, as the rule would change bits.

// Times 1 is the same, of complex numbers not: an infinity times 1 + 0i has a NaN. Times 0 and two factors are for integers alone.
func.func @aten.mul.Tensor(%x: tensor<2x3xf32>, %n: tensor<2x3xi32>, %z: tensor<2x3xcomplex<f32>>) -> (tensor<2x3xf32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xcomplex<f32>>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = exir.number 1 : i64
  %1 = aten.mul.Tensor(%x, %0) : (tensor<2x3xf32>, i64) -> tensor<2x3xf32>
  %2 = exir.constant 1 : tensor<i32>
  %3 = aten.mul.Tensor(%2, %n) : (tensor<i32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %4 = exir.number 0 : i64
  %5 = aten.mul.Tensor(%n, %4) : (tensor<2x3xi32>, i64) -> tensor<2x3xi32>
  %6 = exir.number 100000 : i64
  %7 = aten.mul.Tensor(%n, %6) : (tensor<2x3xi32>, i64) -> tensor<2x3xi32>
  %8 = exir.number 50000 : i64
  %9 = aten.mul.Tensor(%7, %8) : (tensor<2x3xi32>, i64) -> tensor<2x3xi32>
  %10 = exir.number 1 : i64
  %11 = aten.mul.Tensor(%z, %10) : (tensor<2x3xcomplex<f32>>, i64) -> tensor<2x3xcomplex<f32>>
  %12 = exir.number 0 : i64
  %13 = aten.mul.Tensor(%x, %12) : (tensor<2x3xf32>, i64) -> tensor<2x3xf32>
  %14 = exir.number 3.0 : f64
  %15 = aten.mul.Tensor(%x, %14) : (tensor<2x3xf32>, f64) -> tensor<2x3xf32>
  %16 = exir.number 5.0 : f64
  %17 = aten.mul.Tensor(%15, %16) : (tensor<2x3xf32>, f64) -> tensor<2x3xf32>
  %18 = exir.number 1.0 : f64
  %19 = aten.mul.Tensor(%n, %18) : (tensor<2x3xi32>, f64) -> tensor<2x3xf32>
  func.return %1, %3, %5, %9, %11, %13, %17, %19 : tensor<2x3xf32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xcomplex<f32>>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.mul.Tensor(
// CHECK-NEXT:    %0 = exir.constant 0 : tensor<2x3xi32>
// CHECK-NEXT:    %1 = exir.constant 705032704 : tensor<i32>
// CHECK-NEXT:    %2 = aten.mul.Tensor(%n, %1)
// CHECK-NEXT:    %3 = exir.number 1 : i64
// CHECK-NEXT:    %4 = aten.mul.Tensor(%z, %3)
// CHECK-NEXT:    %5 = exir.number 0 : i64
// CHECK-NEXT:    %6 = aten.mul.Tensor(%x, %5)
// CHECK-NEXT:    %7 = exir.number 3.0 : f64
// CHECK-NEXT:    %8 = aten.mul.Tensor(%x, %7)
// CHECK-NEXT:    %9 = exir.number 5.0 : f64
// CHECK-NEXT:    %10 = aten.mul.Tensor(%8, %9)
// CHECK-NEXT:    %11 = exir.number 1.0 : f64
// CHECK-NEXT:    %12 = aten.mul.Tensor(%n, %11)
// CHECK-NEXT:    func.return %x, %n, %0, %2, %4, %6, %10, %12

func.func @aten.mul.Scalar(%s: tensor<?x3xf32, #exir.shape<[s0, 3]>>, %x: tensor<2x3xf32>) -> (tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<2x3xf32>) {
  %0 = aten.mul.Scalar(%s, other = 1) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  %1 = aten.mul.Scalar(%x, other = -1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0, %1 : tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.mul.Scalar(
// CHECK-NEXT:    %0 = aten.mul.Scalar(%x, other = -1)
// CHECK-NEXT:    func.return %s, %0

// Of floats -0.0 is what changes nothing: -0.0 + 0.0 is 0.0.
func.func @aten.add.Tensor(%x: tensor<2x3xf32>, %n: tensor<2x3xi32>, %z: tensor<2x3xcomplex<f32>>) -> (tensor<2x3xi32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xi32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xcomplex<f32>>) {
  %0 = exir.number 0 : i64
  %1 = aten.add.Tensor(%n, %0) : (tensor<2x3xi32>, i64) -> tensor<2x3xi32>
  %2 = exir.number -0.0 : f64
  %3 = aten.add.Tensor(%x, %2) : (tensor<2x3xf32>, f64) -> tensor<2x3xf32>
  %4 = exir.constant -0.0 : tensor<f32>
  %5 = aten.add.Tensor(%4, %x) : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = exir.number 0 : i64
  %7 = aten.add.Tensor(%x, %6, alpha = -1) : (tensor<2x3xf32>, i64) -> tensor<2x3xf32>
  %8 = exir.number 100 : i64
  %9 = aten.add.Tensor(%n, %8, alpha = 2) : (tensor<2x3xi32>, i64) -> tensor<2x3xi32>
  %10 = exir.number 77 : i64
  %11 = aten.add.Tensor(%9, %10) : (tensor<2x3xi32>, i64) -> tensor<2x3xi32>
  %12 = exir.number 0.0 : f64
  %13 = aten.add.Tensor(%x, %12) : (tensor<2x3xf32>, f64) -> tensor<2x3xf32>
  %14 = exir.number 1.0 : f64
  %15 = aten.add.Tensor(%x, %14) : (tensor<2x3xf32>, f64) -> tensor<2x3xf32>
  %16 = exir.number 2.0 : f64
  %17 = aten.add.Tensor(%15, %16) : (tensor<2x3xf32>, f64) -> tensor<2x3xf32>
  %18 = exir.number 0 : i64
  %19 = aten.add.Tensor(%z, %18) : (tensor<2x3xcomplex<f32>>, i64) -> tensor<2x3xcomplex<f32>>
  func.return %1, %3, %5, %7, %11, %13, %17, %19 : tensor<2x3xi32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xi32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xcomplex<f32>>
}
// CHECK-LABEL: func.func @aten.add.Tensor(
// CHECK-NEXT:    %0 = exir.constant 277 : tensor<i32>
// CHECK-NEXT:    %1 = aten.add.Tensor(%n, %0)
// CHECK-NEXT:    %2 = exir.number 0.0 : f64
// CHECK-NEXT:    %3 = aten.add.Tensor(%x, %2)
// CHECK-NEXT:    %4 = exir.number 1.0 : f64
// CHECK-NEXT:    %5 = aten.add.Tensor(%x, %4)
// CHECK-NEXT:    %6 = exir.number 2.0 : f64
// CHECK-NEXT:    %7 = aten.add.Tensor(%5, %6)
// CHECK-NEXT:    %8 = exir.number 0 : i64
// CHECK-NEXT:    %9 = aten.add.Tensor(%z, %8)
// CHECK-NEXT:    func.return %n, %x, %x, %x, %1, %3, %7, %9

func.func @aten.add.Scalar(%n: tensor<2x3xi32>, %x: tensor<2x3xf32>) -> (tensor<2x3xi32>, tensor<2x3xf32>) {
  %0 = aten.add.Scalar(%n, other = 0) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %1 = aten.add.Scalar(%x, other = 0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0, %1 : tensor<2x3xi32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.add.Scalar(
// CHECK-NEXT:    %0 = aten.add.Scalar(%x, other = 0)
// CHECK-NEXT:    func.return %n, %0

// Of floats 0.0 is. Infinity minus itself is NaN.
func.func @aten.sub.Tensor(%x: tensor<2x3xf32>, %n: tensor<2x3xi32>) -> (tensor<2x3xf32>, tensor<2x3xi32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xi32>) {
  %0 = exir.number 0.0 : f64
  %1 = aten.sub.Tensor(%x, %0) : (tensor<2x3xf32>, f64) -> tensor<2x3xf32>
  %2 = aten.sub.Tensor(%n, %n) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %3 = exir.number -0.0 : f64
  %4 = aten.sub.Tensor(%x, %3) : (tensor<2x3xf32>, f64) -> tensor<2x3xf32>
  %5 = aten.sub.Tensor(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = aten.sub.Tensor(%n, %n, alpha = 2) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return %1, %2, %4, %5, %6 : tensor<2x3xf32>, tensor<2x3xi32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xi32>
}
// CHECK-LABEL: func.func @aten.sub.Tensor(
// CHECK-NEXT:    %0 = exir.constant 0 : tensor<2x3xi32>
// CHECK-NEXT:    %1 = exir.number -0.0 : f64
// CHECK-NEXT:    %2 = aten.sub.Tensor(%x, %1)
// CHECK-NEXT:    %3 = aten.sub.Tensor(%x, %x)
// CHECK-NEXT:    %4 = aten.sub.Tensor(%n, %n, alpha = 2)
// CHECK-NEXT:    func.return %x, %0, %2, %3, %4

func.func @aten.sub.Scalar(%n: tensor<2x3xi32>, %x: tensor<2x3xf32>) -> (tensor<2x3xi32>, tensor<2x3xf32>) {
  %0 = aten.sub.Scalar(%n, other = 0) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %1 = aten.sub.Scalar(%x, other = 0, alpha = -1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0, %1 : tensor<2x3xi32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.sub.Scalar(
// CHECK-NEXT:    %0 = aten.sub.Scalar(%x, other = 0, alpha = -1)
// CHECK-NEXT:    func.return %n, %0

// The quotient of integers is a float.
func.func @aten.div.Tensor(%x: tensor<2x3xf32>, %n: tensor<2x3xi32>, %z: tensor<2x3xcomplex<f32>>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xcomplex<f32>>, tensor<2x3xf32>) {
  %0 = exir.number 1 : i64
  %1 = aten.div.Tensor(%x, %0) : (tensor<2x3xf32>, i64) -> tensor<2x3xf32>
  %2 = exir.number 1 : i64
  %3 = aten.div.Tensor(%n, %2) : (tensor<2x3xi32>, i64) -> tensor<2x3xf32>
  %4 = exir.number 1 : i64
  %5 = aten.div.Tensor(%z, %4) : (tensor<2x3xcomplex<f32>>, i64) -> tensor<2x3xcomplex<f32>>
  %6 = exir.number 2 : i64
  %7 = aten.div.Tensor(%x, %6) : (tensor<2x3xf32>, i64) -> tensor<2x3xf32>
  func.return %1, %3, %5, %7 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xcomplex<f32>>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.div.Tensor(
// CHECK-NEXT:    %0 = exir.number 1 : i64
// CHECK-NEXT:    %1 = aten.div.Tensor(%n, %0)
// CHECK-NEXT:    %2 = exir.number 1 : i64
// CHECK-NEXT:    %3 = aten.div.Tensor(%z, %2)
// CHECK-NEXT:    %4 = exir.number 2 : i64
// CHECK-NEXT:    %5 = aten.div.Tensor(%x, %4)
// CHECK-NEXT:    func.return %x, %1, %3, %5

func.func @aten.div.Scalar(%x: tensor<2x3xf32>, %n: tensor<2x3xi32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.div.Scalar(%x, other = 1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.div.Scalar(%n, other = 1) : (tensor<2x3xi32>) -> tensor<2x3xf32>
  func.return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.div.Scalar(
// CHECK-NEXT:    %0 = aten.div.Scalar(%n, other = 1)
// CHECK-NEXT:    func.return %x, %0

// A float is rounded.
func.func @aten.div.Tensor_mode(%n: tensor<2x3xi32>, %x: tensor<2x3xf32>) -> (tensor<2x3xi32>, tensor<2x3xf32>) {
  %0 = exir.number 1 : i64
  %1 = aten.div.Tensor_mode(%n, %0, rounding_mode = "floor") : (tensor<2x3xi32>, i64) -> tensor<2x3xi32>
  %2 = exir.number 1 : i64
  %3 = aten.div.Tensor_mode(%x, %2, rounding_mode = "floor") : (tensor<2x3xf32>, i64) -> tensor<2x3xf32>
  func.return %1, %3 : tensor<2x3xi32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.div.Tensor_mode(
// CHECK-NEXT:    %0 = exir.number 1 : i64
// CHECK-NEXT:    %1 = aten.div.Tensor_mode(%x, %0, rounding_mode = "floor")
// CHECK-NEXT:    func.return %n, %1

func.func @aten.div.Scalar_mode(%n: tensor<2x3xi32>, %x: tensor<2x3xf32>) -> (tensor<2x3xi32>, tensor<2x3xf32>) {
  %0 = aten.div.Scalar_mode(%n, other = 1, rounding_mode = "trunc") : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %1 = aten.div.Scalar_mode(%x, other = 1, rounding_mode = "trunc") : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0, %1 : tensor<2x3xi32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.div.Scalar_mode(
// CHECK-NEXT:    %0 = aten.div.Scalar_mode(%x, other = 1, rounding_mode = "trunc")
// CHECK-NEXT:    func.return %n, %0

func.func @aten.floor_divide(%n: tensor<2x3xi32>, %x: tensor<2x3xf32>) -> (tensor<2x3xi32>, tensor<2x3xf32>) {
  %0 = exir.number 1 : i64
  %1 = aten.floor_divide(%n, %0) : (tensor<2x3xi32>, i64) -> tensor<2x3xi32>
  %2 = exir.number 1 : i64
  %3 = aten.floor_divide(%x, %2) : (tensor<2x3xf32>, i64) -> tensor<2x3xf32>
  func.return %1, %3 : tensor<2x3xi32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.floor_divide(
// CHECK-NEXT:    %0 = exir.number 1 : i64
// CHECK-NEXT:    %1 = aten.floor_divide(%x, %0)
// CHECK-NEXT:    func.return %n, %1

func.func @aten.pow.Tensor_Scalar(%x: tensor<2x3xf32>, %n: tensor<2x3xi32>, %z: tensor<2x3xcomplex<f32>>, %s: tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> (tensor<2x3xf32>, tensor<2x3xi32>, tensor<2x3xcomplex<f32>>, tensor<2x3xf32>, tensor<?x3xf32, #exir.shape<[s0, 3]>>) {
  %0 = aten.pow.Tensor_Scalar(%x, exponent = 1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.pow.Tensor_Scalar(%n, exponent = 0) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %2 = aten.pow.Tensor_Scalar(%z, exponent = 1) : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
  %3 = aten.pow.Tensor_Scalar(%x, exponent = 2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = aten.pow.Tensor_Scalar(%s, exponent = 0) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  func.return %0, %1, %2, %3, %4 : tensor<2x3xf32>, tensor<2x3xi32>, tensor<2x3xcomplex<f32>>, tensor<2x3xf32>, tensor<?x3xf32, #exir.shape<[s0, 3]>>
}
// CHECK-LABEL: func.func @aten.pow.Tensor_Scalar(
// CHECK-NEXT:    %0 = exir.constant 1 : tensor<2x3xi32>
// CHECK-NEXT:    %1 = aten.pow.Tensor_Scalar(%z, exponent = 1)
// CHECK-NEXT:    %2 = aten.pow.Tensor_Scalar(%x, exponent = 2)
// CHECK-NEXT:    %3 = aten.pow.Tensor_Scalar(%s, exponent = 0)
// CHECK-NEXT:    func.return %x, %0, %1, %2, %3

func.func @aten.pow.Tensor_Tensor(%x: tensor<2x3xf32>, %n: tensor<2x3xi32>) -> (tensor<2x3xi32>, tensor<2x3xf32>) {
  %0 = exir.constant 1 : tensor<i32>
  %1 = aten.pow.Tensor_Tensor(%n, %0) : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  %2 = exir.constant 2.0 : tensor<f32>
  %3 = aten.pow.Tensor_Tensor(%x, %2) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1, %3 : tensor<2x3xi32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.pow.Tensor_Tensor(
// CHECK-NEXT:    %0 = exir.constant 2.0 : tensor<f32>
// CHECK-NEXT:    %1 = aten.pow.Tensor_Tensor(%x, %0)
// CHECK-NEXT:    func.return %n, %1

// Twice is not at all, once is once.
func.func @aten.neg(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.neg(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.neg(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = aten.neg(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1, %2 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.neg(
// CHECK-NEXT:    %0 = aten.neg(%x)
// CHECK-NEXT:    func.return %x, %0

func.func @aten.bitwise_not(%n: tensor<2x3xi32>) -> (tensor<2x3xi32>, tensor<2x3xi32>) {
  %0 = aten.bitwise_not(%n) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %1 = aten.bitwise_not(%0) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %2 = aten.bitwise_not(%n) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return %1, %2 : tensor<2x3xi32>, tensor<2x3xi32>
}
// CHECK-LABEL: func.func @aten.bitwise_not(
// CHECK-NEXT:    %0 = aten.bitwise_not(%n)
// CHECK-NEXT:    func.return %n, %0

// Of numbers it says whether they are 0.
func.func @aten.logical_not(%b: tensor<2x3xi1>, %x: tensor<2x3xf32>) -> (tensor<2x3xi1>, tensor<2x3xi1>) {
  %0 = aten.logical_not(%b) : (tensor<2x3xi1>) -> tensor<2x3xi1>
  %1 = aten.logical_not(%0) : (tensor<2x3xi1>) -> tensor<2x3xi1>
  %2 = aten.logical_not(%x) : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %3 = aten.logical_not(%2) : (tensor<2x3xi1>) -> tensor<2x3xi1>
  func.return %1, %3 : tensor<2x3xi1>, tensor<2x3xi1>
}
// CHECK-LABEL: func.func @aten.logical_not(
// CHECK-NEXT:    %0 = aten.logical_not(%x)
// CHECK-NEXT:    %1 = aten.logical_not(%0)
// CHECK-NEXT:    func.return %b, %1

func.func @aten._conj(%z: tensor<2x3xcomplex<f32>>) -> (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) {
  %0 = aten._conj(%z) : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
  %1 = aten._conj(%0) : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
  %2 = aten._conj(%z) : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
  func.return %1, %2 : tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>
}
// CHECK-LABEL: func.func @aten._conj(
// CHECK-NEXT:    %0 = aten._conj(%z)
// CHECK-NEXT:    func.return %z, %0

func.func @aten.conj_physical(%z: tensor<2x3xcomplex<f32>>) -> (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) {
  %0 = aten.conj_physical(%z) : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
  %1 = aten.conj_physical(%0) : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
  %2 = aten.conj_physical(%z) : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
  func.return %1, %2 : tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>
}
// CHECK-LABEL: func.func @aten.conj_physical(
// CHECK-NEXT:    %0 = aten.conj_physical(%z)
// CHECK-NEXT:    func.return %z, %0

func.func @aten.clamp(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.clamp(%x, min = -1, max = 2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.clamp(%0, min = -1, max = 2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = aten.clamp(%y, min = -1, max = 3) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = aten.clamp(%2, min = -1, max = 2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.clamp(
// CHECK-NEXT:    %0 = aten.clamp(%x, min = -1, max = 2)
// CHECK-NEXT:    %1 = aten.clamp(%y, min = -1, max = 3)
// CHECK-NEXT:    %2 = aten.clamp(%1, min = -1, max = 2)
// CHECK-NEXT:    func.return %0, %2

// Zeros of either sign are not the same limit.
func.func @aten.clamp_min(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.clamp_min(%x, min = 0.0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.clamp_min(%0, min = 0.0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = aten.clamp_min(%y, min = -0.0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = aten.clamp_min(%2, min = 0.0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.clamp_min(
// CHECK-NEXT:    %0 = aten.clamp_min(%x, min = 0.0)
// CHECK-NEXT:    %1 = aten.clamp_min(%y, min = -0.0)
// CHECK-NEXT:    %2 = aten.clamp_min(%1, min = 0.0)
// CHECK-NEXT:    func.return %0, %2

func.func @aten.clamp_max(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.clamp_max(%x, max = 1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.clamp_max(%0, max = 1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = aten.clamp_max(%y, max = 2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = aten.clamp_max(%2, max = 1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.clamp_max(
// CHECK-NEXT:    %0 = aten.clamp_max(%x, max = 1)
// CHECK-NEXT:    %1 = aten.clamp_max(%y, max = 2)
// CHECK-NEXT:    %2 = aten.clamp_max(%1, max = 1)
// CHECK-NEXT:    func.return %0, %2

func.func @aten.sign(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.sign(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.sign(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = aten.neg(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = aten.sign(%2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.sign(
// CHECK-NEXT:    %0 = aten.sign(%x)
// CHECK-NEXT:    %1 = aten.neg(%y)
// CHECK-NEXT:    %2 = aten.sign(%1)
// CHECK-NEXT:    func.return %0, %2

func.func @aten.floor(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.floor(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.floor(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = aten.neg(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = aten.floor(%2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.floor(
// CHECK-NEXT:    %0 = aten.floor(%x)
// CHECK-NEXT:    %1 = aten.neg(%y)
// CHECK-NEXT:    %2 = aten.floor(%1)
// CHECK-NEXT:    func.return %0, %2

func.func @aten.ceil(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.ceil(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.ceil(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = aten.neg(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = aten.ceil(%2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.ceil(
// CHECK-NEXT:    %0 = aten.ceil(%x)
// CHECK-NEXT:    %1 = aten.neg(%y)
// CHECK-NEXT:    %2 = aten.ceil(%1)
// CHECK-NEXT:    func.return %0, %2

func.func @aten.trunc(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.trunc(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.trunc(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = aten.neg(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = aten.trunc(%2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.trunc(
// CHECK-NEXT:    %0 = aten.trunc(%x)
// CHECK-NEXT:    %1 = aten.neg(%y)
// CHECK-NEXT:    %2 = aten.trunc(%1)
// CHECK-NEXT:    func.return %0, %2

func.func @aten.fix(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.fix(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.fix(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = aten.neg(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = aten.fix(%2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.fix(
// CHECK-NEXT:    %0 = aten.fix(%x)
// CHECK-NEXT:    %1 = aten.neg(%y)
// CHECK-NEXT:    %2 = aten.fix(%1)
// CHECK-NEXT:    func.return %0, %2

func.func @aten.round(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.round(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.round(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = aten.neg(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = aten.round(%2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.round(
// CHECK-NEXT:    %0 = aten.round(%x)
// CHECK-NEXT:    %1 = aten.neg(%y)
// CHECK-NEXT:    %2 = aten.round(%1)
// CHECK-NEXT:    func.return %0, %2

func.func @aten.clamp.Tensor(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.clamp.Tensor(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.clamp.Tensor(%0, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = aten.clamp.Tensor(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = aten.clamp.Tensor(%2, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.clamp.Tensor(
// CHECK-NEXT:    %0 = aten.clamp.Tensor(%x, %y)
// CHECK-NEXT:    %1 = aten.clamp.Tensor(%x, %y)
// CHECK-NEXT:    %2 = aten.clamp.Tensor(%1, %x)
// CHECK-NEXT:    func.return %0, %2

// The least integer negated is itself, and its own absolute value; 255 of unsigned ones negated is 1.
func.func @aten.abs(%x: tensor<2x3xf32>, %n: tensor<2x3xi32>, %u: tensor<2x3xui8>) -> (tensor<2x3xf32>, tensor<2x3xi32>, tensor<2x3xui8>) {
  %0 = aten.abs(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.abs(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = aten.neg(%n) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %3 = aten.abs(%2) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %4 = aten.neg(%u) : (tensor<2x3xui8>) -> tensor<2x3xui8>
  %5 = aten.abs(%4) : (tensor<2x3xui8>) -> tensor<2x3xui8>
  func.return %1, %3, %5 : tensor<2x3xf32>, tensor<2x3xi32>, tensor<2x3xui8>
}
// CHECK-LABEL: func.func @aten.abs(
// CHECK-NEXT:    %0 = aten.abs(%x)
// CHECK-NEXT:    %1 = aten.abs(%n)
// CHECK-NEXT:    %2 = aten.neg(%u)
// CHECK-NEXT:    %3 = aten.abs(%2)
// CHECK-NEXT:    func.return %0, %1, %3

// All bits set are neutral, and an operand is with itself.
func.func @aten.bitwise_and.Tensor(%n: tensor<2x3xi32>, %b: tensor<2x3xi1>) -> (tensor<2x3xi32>, tensor<2x3xi1>, tensor<2x3xi32>, tensor<2x3xi32>) {
  %0 = exir.constant -1 : tensor<i32>
  %1 = aten.bitwise_and.Tensor(%n, %0) : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  %2 = exir.constant true : tensor<i1>
  %3 = aten.bitwise_and.Tensor(%2, %b) : (tensor<i1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  %4 = aten.bitwise_and.Tensor(%n, %n) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %5 = exir.constant 1 : tensor<i32>
  %6 = aten.bitwise_and.Tensor(%n, %5) : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  func.return %1, %3, %4, %6 : tensor<2x3xi32>, tensor<2x3xi1>, tensor<2x3xi32>, tensor<2x3xi32>
}
// CHECK-LABEL: func.func @aten.bitwise_and.Tensor(
// CHECK-NEXT:    %0 = exir.constant 1 : tensor<i32>
// CHECK-NEXT:    %1 = aten.bitwise_and.Tensor(%n, %0)
// CHECK-NEXT:    func.return %n, %b, %n, %1

func.func @aten.bitwise_and.Scalar(%n: tensor<2x3xi32>) -> (tensor<2x3xi32>, tensor<2x3xi32>) {
  %0 = aten.bitwise_and.Scalar(%n, other = -1) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %1 = aten.bitwise_and.Scalar(%n, other = 1) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return %0, %1 : tensor<2x3xi32>, tensor<2x3xi32>
}
// CHECK-LABEL: func.func @aten.bitwise_and.Scalar(
// CHECK-NEXT:    %0 = aten.bitwise_and.Scalar(%n, other = 1)
// CHECK-NEXT:    func.return %n, %0

// No bit set is neutral.
func.func @aten.bitwise_or.Tensor(%n: tensor<2x3xi32>, %b: tensor<2x3xi1>) -> (tensor<2x3xi32>, tensor<2x3xi1>, tensor<2x3xi32>, tensor<2x3xi32>) {
  %0 = exir.constant 0 : tensor<i32>
  %1 = aten.bitwise_or.Tensor(%n, %0) : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  %2 = exir.constant false : tensor<i1>
  %3 = aten.bitwise_or.Tensor(%2, %b) : (tensor<i1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  %4 = aten.bitwise_or.Tensor(%n, %n) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %5 = exir.constant 1 : tensor<i32>
  %6 = aten.bitwise_or.Tensor(%n, %5) : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  func.return %1, %3, %4, %6 : tensor<2x3xi32>, tensor<2x3xi1>, tensor<2x3xi32>, tensor<2x3xi32>
}
// CHECK-LABEL: func.func @aten.bitwise_or.Tensor(
// CHECK-NEXT:    %0 = exir.constant 1 : tensor<i32>
// CHECK-NEXT:    %1 = aten.bitwise_or.Tensor(%n, %0)
// CHECK-NEXT:    func.return %n, %b, %n, %1

func.func @aten.bitwise_or.Scalar(%n: tensor<2x3xi32>) -> (tensor<2x3xi32>, tensor<2x3xi32>) {
  %0 = aten.bitwise_or.Scalar(%n, other = 0) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %1 = aten.bitwise_or.Scalar(%n, other = 1) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return %0, %1 : tensor<2x3xi32>, tensor<2x3xi32>
}
// CHECK-LABEL: func.func @aten.bitwise_or.Scalar(
// CHECK-NEXT:    %0 = aten.bitwise_or.Scalar(%n, other = 1)
// CHECK-NEXT:    func.return %n, %0

// No bit set is neutral; with itself it is 0.
func.func @aten.bitwise_xor.Tensor(%n: tensor<2x3xi32>, %b: tensor<2x3xi1>) -> (tensor<2x3xi32>, tensor<2x3xi1>, tensor<2x3xi32>, tensor<2x3xi32>) {
  %0 = exir.constant 0 : tensor<i32>
  %1 = aten.bitwise_xor.Tensor(%n, %0) : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  %2 = exir.constant false : tensor<i1>
  %3 = aten.bitwise_xor.Tensor(%2, %b) : (tensor<i1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  %4 = aten.bitwise_xor.Tensor(%n, %n) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %5 = exir.constant -1 : tensor<i32>
  %6 = aten.bitwise_xor.Tensor(%n, %5) : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  func.return %1, %3, %4, %6 : tensor<2x3xi32>, tensor<2x3xi1>, tensor<2x3xi32>, tensor<2x3xi32>
}
// CHECK-LABEL: func.func @aten.bitwise_xor.Tensor(
// CHECK-NEXT:    %0 = aten.bitwise_xor.Tensor(%n, %n)
// CHECK-NEXT:    %1 = exir.constant -1 : tensor<i32>
// CHECK-NEXT:    %2 = aten.bitwise_xor.Tensor(%n, %1)
// CHECK-NEXT:    func.return %n, %b, %0, %2

func.func @aten.bitwise_xor.Scalar(%n: tensor<2x3xi32>) -> (tensor<2x3xi32>, tensor<2x3xi32>) {
  %0 = aten.bitwise_xor.Scalar(%n, other = 0) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %1 = aten.bitwise_xor.Scalar(%n, other = -1) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return %0, %1 : tensor<2x3xi32>, tensor<2x3xi32>
}
// CHECK-LABEL: func.func @aten.bitwise_xor.Scalar(
// CHECK-NEXT:    %0 = aten.bitwise_xor.Scalar(%n, other = -1)
// CHECK-NEXT:    func.return %n, %0

// Of numbers the result is a boolean.
func.func @aten.logical_and(%b: tensor<2x3xi1>, %q: tensor<2x3xi1>, %n: tensor<2x3xi32>) -> (tensor<2x3xi1>, tensor<2x3xi1>, tensor<2x3xi1>) {
  %0 = exir.constant true : tensor<i1>
  %1 = aten.logical_and(%b, %0) : (tensor<2x3xi1>, tensor<i1>) -> tensor<2x3xi1>
  %2 = aten.logical_and(%b, %q) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  %3 = aten.logical_and(%n, %n) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  func.return %1, %2, %3 : tensor<2x3xi1>, tensor<2x3xi1>, tensor<2x3xi1>
}
// CHECK-LABEL: func.func @aten.logical_and(
// CHECK-NEXT:    %0 = aten.logical_and(%b, %q)
// CHECK-NEXT:    %1 = aten.logical_and(%n, %n)
// CHECK-NEXT:    func.return %b, %0, %1

func.func @aten.logical_or(%b: tensor<2x3xi1>, %q: tensor<2x3xi1>, %n: tensor<2x3xi32>) -> (tensor<2x3xi1>, tensor<2x3xi1>, tensor<2x3xi1>) {
  %0 = exir.constant false : tensor<i1>
  %1 = aten.logical_or(%b, %0) : (tensor<2x3xi1>, tensor<i1>) -> tensor<2x3xi1>
  %2 = aten.logical_or(%b, %q) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  %3 = aten.logical_or(%n, %n) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  func.return %1, %2, %3 : tensor<2x3xi1>, tensor<2x3xi1>, tensor<2x3xi1>
}
// CHECK-LABEL: func.func @aten.logical_or(
// CHECK-NEXT:    %0 = aten.logical_or(%b, %q)
// CHECK-NEXT:    %1 = aten.logical_or(%n, %n)
// CHECK-NEXT:    func.return %b, %0, %1

func.func @aten.logical_xor(%b: tensor<2x3xi1>, %q: tensor<2x3xi1>, %n: tensor<2x3xi32>) -> (tensor<2x3xi1>, tensor<2x3xi1>, tensor<2x3xi1>) {
  %0 = exir.constant false : tensor<i1>
  %1 = aten.logical_xor(%b, %0) : (tensor<2x3xi1>, tensor<i1>) -> tensor<2x3xi1>
  %2 = aten.logical_xor(%b, %q) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  %3 = aten.logical_xor(%n, %n) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  func.return %1, %2, %3 : tensor<2x3xi1>, tensor<2x3xi1>, tensor<2x3xi1>
}
// CHECK-LABEL: func.func @aten.logical_xor(
// CHECK-NEXT:    %0 = aten.logical_xor(%b, %q)
// CHECK-NEXT:    %1 = aten.logical_xor(%n, %n)
// CHECK-NEXT:    func.return %b, %0, %1

func.func @aten.maximum(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.maximum(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.maximum(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.maximum(
// CHECK-NEXT:    %0 = aten.maximum(%x, %y)
// CHECK-NEXT:    func.return %x, %0

func.func @aten.minimum(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.minimum(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.minimum(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.minimum(
// CHECK-NEXT:    %0 = aten.minimum(%x, %y)
// CHECK-NEXT:    func.return %x, %0

func.func @aten.fmax(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.fmax(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.fmax(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.fmax(
// CHECK-NEXT:    %0 = aten.fmax(%x, %y)
// CHECK-NEXT:    func.return %x, %0

func.func @aten.fmin(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.fmin(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.fmin(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.fmin(
// CHECK-NEXT:    %0 = aten.fmin(%x, %y)
// CHECK-NEXT:    func.return %x, %0

// Values are elements: whose memory they are in makes no difference.
func.func @aten.alias(%s: tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>> {
  %0 = aten.alias(%s) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  func.return %0 : tensor<?x3xf32, #exir.shape<[s0, 3]>>
}
// CHECK-LABEL: func.func @aten.alias(
// CHECK-NEXT:    func.return %s

func.func @aten.detach(%s: tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>> {
  %0 = aten.detach(%s) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  func.return %0 : tensor<?x3xf32, #exir.shape<[s0, 3]>>
}
// CHECK-LABEL: func.func @aten.detach(
// CHECK-NEXT:    func.return %s

func.func @aten.lift(%s: tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>> {
  %0 = aten.lift(%s) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  func.return %0 : tensor<?x3xf32, #exir.shape<[s0, 3]>>
}
// CHECK-LABEL: func.func @aten.lift(
// CHECK-NEXT:    func.return %s

func.func @aten.lift_fresh(%s: tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>> {
  %0 = aten.lift_fresh(%s) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  func.return %0 : tensor<?x3xf32, #exir.shape<[s0, 3]>>
}
// CHECK-LABEL: func.func @aten.lift_fresh(
// CHECK-NEXT:    func.return %s

func.func @aten.lift_fresh_copy(%s: tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>> {
  %0 = aten.lift_fresh_copy(%s) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  func.return %0 : tensor<?x3xf32, #exir.shape<[s0, 3]>>
}
// CHECK-LABEL: func.func @aten.lift_fresh_copy(
// CHECK-NEXT:    func.return %s

func.func @aten.positive(%s: tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>> {
  %0 = aten.positive(%s) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  func.return %0 : tensor<?x3xf32, #exir.shape<[s0, 3]>>
}
// CHECK-LABEL: func.func @aten.positive(
// CHECK-NEXT:    func.return %s

func.func @aten.resolve_conj(%s: tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>> {
  %0 = aten.resolve_conj(%s) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  func.return %0 : tensor<?x3xf32, #exir.shape<[s0, 3]>>
}
// CHECK-LABEL: func.func @aten.resolve_conj(
// CHECK-NEXT:    func.return %s

func.func @aten.resolve_neg(%s: tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>> {
  %0 = aten.resolve_neg(%s) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  func.return %0 : tensor<?x3xf32, #exir.shape<[s0, 3]>>
}
// CHECK-LABEL: func.func @aten.resolve_neg(
// CHECK-NEXT:    func.return %s

// A memory format is a wish that is kept.
func.func @aten.clone(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.clone(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.clone(%x, memory_format = "contiguous_format") : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.clone(
// CHECK-NEXT:    %0 = aten.clone(%x, memory_format = "contiguous_format")
// CHECK-NEXT:    func.return %x, %0

// By way of a dtype that holds every number; what C leaves open, floats out of range of integers, is cast as it is written.
func.func @aten._to_copy(%x: tensor<2x3xf32>, %h: tensor<2x3xf16>, %n: tensor<2x3xi32>, %u: tensor<2x3xui8>, %z: tensor<2x3xcomplex<f32>>) -> (tensor<2x3xf32>, tensor<2x3xf16>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xcomplex<f32>>, tensor<2x3xf32>) {
  %0 = aten._to_copy(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten._to_copy(%h, dtype = f32) : (tensor<2x3xf16>) -> tensor<2x3xf32>
  %2 = aten._to_copy(%1, dtype = f16) : (tensor<2x3xf32>) -> tensor<2x3xf16>
  %3 = aten._to_copy(%u, dtype = i16) : (tensor<2x3xui8>) -> tensor<2x3xi16>
  %4 = aten._to_copy(%3, dtype = f32) : (tensor<2x3xi16>) -> tensor<2x3xf32>
  %5 = aten._to_copy(%h, dtype = f64) : (tensor<2x3xf16>) -> tensor<2x3xf64>
  %6 = aten._to_copy(%5, dtype = f32) : (tensor<2x3xf64>) -> tensor<2x3xf32>
  %7 = aten._to_copy(%x, dtype = f16) : (tensor<2x3xf32>) -> tensor<2x3xf16>
  %8 = aten._to_copy(%7, dtype = f32) : (tensor<2x3xf16>) -> tensor<2x3xf32>
  %9 = aten._to_copy(%n, dtype = f32) : (tensor<2x3xi32>) -> tensor<2x3xf32>
  %10 = aten._to_copy(%9, dtype = i32) : (tensor<2x3xf32>) -> tensor<2x3xi32>
  %11 = aten._to_copy(%x, dtype = f64) : (tensor<2x3xf32>) -> tensor<2x3xf64>
  %12 = aten._to_copy(%11, dtype = i32) : (tensor<2x3xf64>) -> tensor<2x3xi32>
  %13 = aten._to_copy(%z, dtype = complex<f64>) : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f64>>
  %14 = aten._to_copy(%13, dtype = complex<f32>) : (tensor<2x3xcomplex<f64>>) -> tensor<2x3xcomplex<f32>>
  %15 = aten._to_copy(%x, memory_format = "contiguous_format") : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0, %2, %4, %6, %8, %10, %12, %14, %15 : tensor<2x3xf32>, tensor<2x3xf16>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xcomplex<f32>>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten._to_copy(
// CHECK-NEXT:    %0 = aten._to_copy(%u, dtype = f32)
// CHECK-NEXT:    %1 = aten._to_copy(%h, dtype = f32)
// CHECK-NEXT:    %2 = aten._to_copy(%x, dtype = f16)
// CHECK-NEXT:    %3 = aten._to_copy(%2, dtype = f32)
// CHECK-NEXT:    %4 = aten._to_copy(%n, dtype = f32)
// CHECK-NEXT:    %5 = aten._to_copy(%4, dtype = i32)
// CHECK-NEXT:    %6 = aten._to_copy(%x, dtype = f64)
// CHECK-NEXT:    %7 = aten._to_copy(%6, dtype = i32)
// CHECK-NEXT:    %8 = aten._to_copy(%z, dtype = complex<f64>)
// CHECK-NEXT:    %9 = aten._to_copy(%8, dtype = complex<f32>)
// CHECK-NEXT:    %10 = aten._to_copy(%x, memory_format = "contiguous_format")
// CHECK-NEXT:    func.return %x, %h, %0, %1, %3, %5, %7, %9, %10

// Of a condition that is known, of one thing twice, and the other way round.
func.func @aten.where.self(%b: tensor<2x3xi1>, %x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = exir.constant true : tensor<i1>
  %1 = aten.where.self(%0, %x, %y) : (tensor<i1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = exir.constant false : tensor<i1>
  %3 = aten.where.self(%2, %x, %y) : (tensor<i1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = aten.where.self(%b, %x, %x) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = aten.logical_not(%b) : (tensor<2x3xi1>) -> tensor<2x3xi1>
  %6 = aten.where.self(%5, %x, %y) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = aten.logical_not(%x) : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %8 = aten.where.self(%7, %x, %y) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1, %3, %4, %6, %8 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.where.self(
// CHECK-NEXT:    %0 = aten.where.self(%b, %y, %x)
// CHECK-NEXT:    %1 = aten.logical_not(%x)
// CHECK-NEXT:    %2 = aten.where.self(%1, %x, %y)
// CHECK-NEXT:    func.return %x, %y, %x, %0, %2

func.func @aten.masked_fill.Scalar(%b: tensor<2x3xi1>, %x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = exir.constant false : tensor<i1>
  %1 = aten.masked_fill.Scalar(%x, %0, value = 1) : (tensor<2x3xf32>, tensor<i1>) -> tensor<2x3xf32>
  %2 = aten.masked_fill.Scalar(%x, %b, value = 1) : (tensor<2x3xf32>, tensor<2x3xi1>) -> tensor<2x3xf32>
  %3 = exir.constant true : tensor<i1>
  %4 = aten.masked_fill.Scalar(%x, %3, value = 1) : (tensor<2x3xf32>, tensor<i1>) -> tensor<2x3xf32>
  func.return %1, %2, %4 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.masked_fill.Scalar(
// CHECK-NEXT:    %0 = aten.masked_fill.Scalar(%x, %b, value = 1)
// CHECK-NEXT:    %1 = exir.constant true : tensor<i1>
// CHECK-NEXT:    %2 = aten.masked_fill.Scalar(%x, %1, value = 1)
// CHECK-NEXT:    func.return %x, %0, %2

func.func @aten.masked_fill.Tensor(%b: tensor<2x3xi1>, %x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = exir.constant false : tensor<i1>
  %1 = exir.constant 1.0 : tensor<f32>
  %2 = aten.masked_fill.Tensor(%x, %0, %1) : (tensor<2x3xf32>, tensor<i1>, tensor<f32>) -> tensor<2x3xf32>
  %3 = exir.constant 1.0 : tensor<f32>
  %4 = aten.masked_fill.Tensor(%x, %b, %3) : (tensor<2x3xf32>, tensor<2x3xi1>, tensor<f32>) -> tensor<2x3xf32>
  func.return %2, %4 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.masked_fill.Tensor(
// CHECK-NEXT:    %0 = exir.constant 1.0 : tensor<f32>
// CHECK-NEXT:    %1 = aten.masked_fill.Tensor(%x, %b, %0)
// CHECK-NEXT:    func.return %x, %1
