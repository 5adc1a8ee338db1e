// REQUIRES: mlir-opt
// RUN: xdsl-opt %s --print-op-generic | mlir-opt-22 --allow-unregistered-dialect --mlir-print-op-generic --mlir-print-local-scope | xdsl-opt | filecheck %s
// RUN: xdsl-opt %s -p decompose-aten,aten-to-edge --print-op-generic | mlir-opt-22 --allow-unregistered-dialect --mlir-print-op-generic --mlir-print-local-scope | xdsl-opt -p verify-edge | filecheck %s --check-prefix=EDGE

// MLIR itself reads the generic form, and what it prints is read back.

func.func @forward(%x: tensor<?x3xf32, #exir.shape<[s0, 3]>> {exir.input = #exir.input<user_input, "x">}, %w: tensor<4x3xf32> {exir.input = #exir.input<parameter, "fc.weight">})
    -> (tensor<?x4xf32, #exir.shape<[s0, 4]>> {exir.output = #exir.output<user_output>}) attributes {exir.ranges = {s0 = #exir.range<2, inf>}} {
  %half = exir.number 0.5 : f64
  %m = exir.constant [true, false, false, true] : tensor<4xi1>
  %0 = aten.linear(%x, %w) {exir.origin = #exir.origin<"linear", "aten.linear", "fc">} : (tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<4x3xf32>) -> tensor<?x4xf32, #exir.shape<[s0, 4]>>
  %1 = aten.mul.Tensor(%0, %half) : (tensor<?x4xf32, #exir.shape<[s0, 4]>>, f64) -> tensor<?x4xf32, #exir.shape<[s0, 4]>>
  %2 = aten.masked_fill.Scalar(%1, %m, value = -inf) : (tensor<?x4xf32, #exir.shape<[s0, 4]>>, tensor<4xi1>) -> tensor<?x4xf32, #exir.shape<[s0, 4]>>
  func.return %2 : tensor<?x4xf32, #exir.shape<[s0, 4]>>
}

// CHECK:      func.func @forward({{.*}} tensor<?x3xf32, #exir.shape<[s0, 3]>> {exir.input = #exir.input<user_input, "x">}, {{.*}} tensor<4x3xf32> {exir.input = #exir.input<parameter, "fc.weight">})
// CHECK-SAME:   -> (tensor<?x4xf32, #exir.shape<[s0, 4]>> {exir.output = #exir.output<user_output>}) attributes {exir.ranges = {s0 = #exir.range<2, inf>}} {
// CHECK:        exir.number 0.5 : f64
// CHECK:        aten.linear({{.*}}) {exir.origin = #exir.origin<"linear", "aten.linear", "fc">} :
// CHECK:        aten.mul.Tensor({{.*}}) : (tensor<?x4xf32, #exir.shape<[s0, 4]>>, f64) ->
// CHECK:        aten.masked_fill.Scalar({{.*}}, value = -inf) :

// EDGE:      func.func @forward
// EDGE:        edge.aten.mm(
// EDGE:        edge.aten.mul.Tensor(
