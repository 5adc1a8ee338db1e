// RUN: xdsl-opt %s --split-input-file -p canonicalize | filecheck %s
// RUN: xdsl-opt %s --split-input-file -p decompose-aten,aten-to-edge,canonicalize,verify-edge | filecheck %s --check-prefix=EDGE
// RUN: xdsl-opt %s --split-input-file -p "canonicalize-fastmath{flags=nsz}" | filecheck %s --check-prefix=NSZ
// RUN: xdsl-opt %s --split-input-file -p "canonicalize-fastmath{flags=fast}" | filecheck %s --check-prefix=FAST

// The stock pass knows our operators. What is built has the location and the origin of what it stands for.
func.func @constants() -> (tensor<f32>, tensor<2xi64>) {
  %two = exir.constant 2.0 : tensor<f32>
  %0 = aten.mul.Tensor(%two, %two) {exir.origin = #exir.origin<"mul", "aten.mul.Tensor", "">} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %range = aten.arange.start_step(start = 0, end = 2) : () -> tensor<2xi64>
  func.return %0, %range : tensor<f32>, tensor<2xi64>
}
// CHECK-LABEL: func.func @constants
// CHECK-NEXT:    exir.constant 4.0 {exir.origin = #exir.origin<"mul", "aten.mul.Tensor", "">} : tensor<f32>
// CHECK-NEXT:    exir.constant [0, 1] : tensor<2xi64>
// CHECK-NEXT:    func.return
// EDGE-LABEL: func.func @constants
// EDGE-NEXT:    exir.constant 4.0
// EDGE-NEXT:    exir.constant [0, 1]

// -----
// Adding 0.0 changes -0.0; multiplying by 1 changes nothing.
func.func @identities(%x: tensor<2x3xf32>, %n: tensor<3xi8>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xi8>) {
  %one = exir.number 1 : i64
  %zero = exir.number 0.0 : f64
  %0 = aten.mul.Tensor(%x, %one) : (tensor<2x3xf32>, i64) -> tensor<2x3xf32>
  %1 = aten.add.Tensor(%x, %zero) : (tensor<2x3xf32>, f64) -> tensor<2x3xf32>
  %2 = aten.neg(%n) : (tensor<3xi8>) -> tensor<3xi8>
  %3 = aten.neg(%2) : (tensor<3xi8>) -> tensor<3xi8>
  func.return %0, %1, %3 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xi8>
}
// CHECK-LABEL: func.func @identities
// CHECK:         %0 = aten.add.Tensor(%x, %zero)
// CHECK-NEXT:    func.return %x, %0, %n
// EDGE-LABEL: func.func @identities
// EDGE:          %1 = edge.aten.add.Tensor(%x, %0)
// EDGE-NEXT:     func.return %x, %1, %n

// -----
// Sizes that are computed though they are known become part of the view; a memory format is kept.
func.func @views(%x: tensor<2x3xf32>, %y: tensor<?x6xf32, #exir.shape<[s0, 6]>>) -> (tensor<2x3xf32>, tensor<?x3x2xf32, #exir.shape<[s0, 3, 2]>>, tensor<2x3xf32>) {
  %0 = aten.permute(%x, dims = [1, 0]) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = aten.transpose.int(%0, dim0 = 0, dim1 = 1) : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %n = aten.sym_size.int(%y, dim = 0) : (tensor<?x6xf32, #exir.shape<[s0, 6]>>) -> !exir.symint<s0>
  %three = exir.number 3 : !exir.symint<3>
  %2 = aten.unsqueeze(%y, dim = 0) : (tensor<?x6xf32, #exir.shape<[s0, 6]>>) -> tensor<1x?x6xf32, #exir.shape<[1, s0, 6]>>
  %3 = aten.view(%2, size = [%n, %three, 2]) : (tensor<1x?x6xf32, #exir.shape<[1, s0, 6]>>, !exir.symint<s0>, !exir.symint<3>) -> tensor<?x3x2xf32, #exir.shape<[s0, 3, 2]>>
  %4 = aten.alias(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = exir.refine %4 : tensor<2x3xf32> -> tensor<2x3xf32>
  %6 = aten.clone(%5, memory_format = "contiguous_format") : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1, %3, %6 : tensor<2x3xf32>, tensor<?x3x2xf32, #exir.shape<[s0, 3, 2]>>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @views
// CHECK-NEXT:    %n = aten.sym_size.int(%y, dim = 0)
// CHECK-NEXT:    %0 = aten.view(%y, size = [%n, 3, 2])
// CHECK-NEXT:    %1 = aten.clone(%x, memory_format = "contiguous_format")
// CHECK-NEXT:    func.return %x, %0, %1
// EDGE-LABEL: func.func @views
// EDGE-NEXT:     edge.aten.sym_size.int
// EDGE-NEXT:     edge.aten.view(%y, size = [%{{.*}}, 3, 2])
// EDGE-NEXT:     edge.dim_order_ops._clone_dim_order(%x, dim_order = [0, 1])

// -----
// A cast is dropped where nothing is lost.
func.func @casts(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = aten._to_copy(%x, dtype = f64) : (tensor<3xf32>) -> tensor<3xf64>
  %1 = aten._to_copy(%0, dtype = f32) : (tensor<3xf64>) -> tensor<3xf32>
  %2 = aten._to_copy(%x, dtype = bf16) : (tensor<3xf32>) -> tensor<3xbf16>
  %3 = aten._to_copy(%2, dtype = f32) : (tensor<3xbf16>) -> tensor<3xf32>
  func.return %1, %3 : tensor<3xf32>, tensor<3xf32>
}
// CHECK-LABEL: func.func @casts
// CHECK-NEXT:    %0 = aten._to_copy(%x, dtype = bf16)
// CHECK-NEXT:    %1 = aten._to_copy(%0, dtype = f32)
// CHECK-NEXT:    func.return %x, %1
// EDGE-LABEL: func.func @casts
// EDGE:          func.return %x, %1

// -----
// A branch that is known is taken, and a loop that never turns goes; symbols that a region has of its own are kept by name.
func.func @control_flow(%x: tensor<?xf32, #exir.shape<[s0]>>, %i: tensor<i64>) -> (tensor<?xf32, #exir.shape<[s0]>>, tensor<i64>) {
  %true = exir.constant true : tensor<i1>
  %0 = higher_order.cond %true : tensor<i1> inputs(%x : tensor<?xf32, #exir.shape<[s0]>>) -> tensor<?xf32, #exir.shape<[s0]>> {
  ^bb0(%a: tensor<?xf32, #exir.shape<[s0]>>):
    %b = aten.sin(%a) : (tensor<?xf32, #exir.shape<[s0]>>) -> tensor<?xf32, #exir.shape<[s0]>>
    higher_order.yield %b : tensor<?xf32, #exir.shape<[s0]>>
  } else {
  ^bb1(%c: tensor<?xf32, #exir.shape<[s0]>>):
    %d = aten.cos(%c) : (tensor<?xf32, #exir.shape<[s0]>>) -> tensor<?xf32, #exir.shape<[s0]>>
    higher_order.yield %d : tensor<?xf32, #exir.shape<[s0]>>
  }
  %1 = higher_order.while_loop carried(%i : tensor<i64>) -> tensor<i64> {
  ^bb2(%j: tensor<i64>):
    %one = exir.constant 1 : tensor<i64>
    %two = exir.constant 2 : tensor<i64>
    %no = aten.gt.Tensor(%one, %two) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    higher_order.yield %no : tensor<i1>
  } do {
  ^bb3(%j: tensor<i64>):
    %k = aten.add.Tensor(%j, %j) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    higher_order.yield %k : tensor<i64>
  }
  func.return %0, %1 : tensor<?xf32, #exir.shape<[s0]>>, tensor<i64>
}
// CHECK-LABEL: func.func @control_flow
// CHECK-NEXT:    %b = aten.sin(%x)
// CHECK-NEXT:    func.return %b, %i
// EDGE-LABEL: func.func @control_flow
// EDGE-NEXT:     edge.aten.sin(%x)
// EDGE-NEXT:     func.return %{{.*}}, %i

// -----
// What is random stays, once for each time, and nothing that has an effect is computed.
func.func @effects(%n: !exir.symint<u0>) -> tensor<2xf32> {
  %0 = aten.rand(size = [2]) : () -> tensor<2xf32>
  %1 = aten.neg(%0) : (tensor<2xf32>) -> tensor<2xf32>
  %2 = aten.neg(%1) : (tensor<2xf32>) -> tensor<2xf32>
  %unused = aten.rand(size = [2]) : () -> tensor<2xf32>
  aten._assert_scalar(self = %n, assert_msg = "positive") : (!exir.symint<u0>) -> ()
  func.return %2 : tensor<2xf32>
}
// CHECK-LABEL: func.func @effects
// CHECK-NEXT:    %0 = aten.rand(
// CHECK-NEXT:    %unused = aten.rand(
// CHECK-NEXT:    aten._assert_scalar
// CHECK-NEXT:    func.return %0
// EDGE-LABEL: func.func @effects
// EDGE-NEXT:     edge.aten.rand(
// EDGE-NEXT:     edge.aten.rand(

// -----
// What a backend has accepted stays as it is.
func.func @delegated(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = backend.delegate "npu" inputs(%x : tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<3xf32>):
    %1 = edge.aten.neg(%a) : (tensor<3xf32>) -> tensor<3xf32>
    %2 = edge.aten.neg(%1) : (tensor<3xf32>) -> tensor<3xf32>
    backend.yield %2 : tensor<3xf32>
  }
  func.return %0 : tensor<3xf32>
}
// EDGE-LABEL: func.func @delegated
// EDGE:          edge.aten.neg(%a)
// EDGE-NEXT:     edge.aten.neg(

// -----
// What changes a result's bits needs a flag.
func.func @fast(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %zero = exir.constant 0.0 : tensor<f32>
  %three = exir.constant 3.0 : tensor<f32>
  %0 = aten.add.Tensor(%x, %zero) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %1 = aten.mul.Tensor(%x, %zero) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %2 = aten.div.Tensor(%x, %three) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %3 = aten.mul.Tensor(%x, %three) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %4 = aten.mul.Tensor(%3, %three) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  func.return %0, %1, %2, %4 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}
// CHECK-LABEL: func.func @fast
// CHECK:         aten.add.Tensor(%x, %zero)
// CHECK-NEXT:    aten.mul.Tensor(%x, %zero)
// CHECK-NEXT:    aten.div.Tensor(%x, %three)
// CHECK-NEXT:    aten.mul.Tensor(%x, %three)
// CHECK-NEXT:    aten.mul.Tensor(
// NSZ-LABEL: func.func @fast
// NSZ-NOT:     aten.add
// NSZ:         aten.mul.Tensor(%x, %zero)
// NSZ-NEXT:    aten.div.Tensor(%x, %three)
// FAST-LABEL: func.func @fast
// FAST:         exir.constant 0.0 : tensor<3xf32>
// FAST-NEXT:    exir.constant 0.3333333432674408 : tensor<f32>
// FAST-NEXT:    aten.mul.Tensor(%x, %
// FAST-NEXT:    exir.constant 9.0 : tensor<f32>
// FAST-NEXT:    aten.mul.Tensor(%x, %
// FAST-NEXT:    func.return %x
