// RUN: xdsl-opt %s --split-input-file -p form-dispatches,verify-edge | filecheck %s
// RUN: xdsl-opt %s --split-input-file -p form-dispatches --print-op-generic | xdsl-opt --split-input-file | filecheck %s
// RUN: xdsl-opt %s --split-input-file -p form-dispatches,form-dispatches | filecheck %s
// RUN: xdsl-opt %s --split-input-file -p form-dispatches,inline-delegates | filecheck %s --check-prefix=BACK
// RUN: xdsl-opt %s --split-input-file -p form-dispatches,to-destinations | filecheck %s --check-prefix=DRIVER
// RUN: %if mlir-opt %{ xdsl-opt %s --split-input-file -p form-dispatches --print-op-generic | mlir-opt-22 --split-input-file --allow-unregistered-dialect > /dev/null %}

// A product with what follows it is one kernel; a view is no dispatch; rows are another kernel, and what has none is MLIR's.
func.func @forward(%x : tensor<4x8xf32>, %w : tensor<8x16xf32>, %i : tensor<4xi64>) -> (tensor<4x4xf32>, tensor<4x16xf32>) {
  %0 = edge.aten.mm(%x, %w) : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = edge.aten.relu(%0) : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %2 = edge.aten._softmax(%1, dim = 1, half_to_float = false) : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %3 = edge.aten.index_select(%2, dim = 1, index = %i) : (tensor<4x16xf32>, tensor<4xi64>) -> tensor<4x4xf32>
  %4 = edge.aten.permute(%3, dims = [1, 0]) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %4, %2 : tensor<4x4xf32>, tensor<4x16xf32>
}
// CHECK:         func.func @forward(%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x16xf32>, %[[I:.*]]: tensor<4xi64>)
// CHECK-NEXT:      %[[A:.*]] = backend.dispatch kernel "Matmul" inputs(%[[X]], %[[W]] : tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32> {
// CHECK-NEXT:      ^bb0(%[[P:.*]]: tensor<4x8xf32>, %[[Q:.*]]: tensor<8x16xf32>):
// CHECK-NEXT:        %[[R:.*]] = edge.aten.mm(%[[P]], %[[Q]])
// CHECK-NEXT:        %[[S:.*]] = edge.aten.relu(%[[R]])
// CHECK-NEXT:        backend.yield %[[S]] : tensor<4x16xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:      %[[B:.*]] = backend.dispatch kernel "Rows" inputs(%[[A]] : tensor<4x16xf32>) -> tensor<4x16xf32> {
// CHECK:             edge.aten._softmax
// CHECK:           %[[C:.*]] = backend.dispatch inputs(%[[B]], %[[I]] : tensor<4x16xf32>, tensor<4xi64>) -> tensor<4x4xf32> {
// CHECK:             edge.aten.index_select
// CHECK:           %[[D:.*]] = edge.aten.permute(%[[C]], dims = [1, 0])
// CHECK-NEXT:      func.return %[[D]], %[[B]]
// BACK:          func.func @forward
// BACK-NEXT:       edge.aten.mm
// BACK-NEXT:       edge.aten.relu
// BACK-NEXT:       edge.aten._softmax
// BACK-NEXT:       edge.aten.index_select
// BACK-NEXT:       edge.aten.permute
// BACK-NEXT:       func.return
// DRIVER:        func.func private @{{exir.kernel_[0-9a-f]*}}({{.*}} {is = "Matmul",
// DRIVER:        func.func private @{{exir.kernel_[0-9a-f]*}}({{.*}} {is = "Rows",
// DRIVER:        func.func @forward(

// -----

// What a program says stays: what is in two dispatches is not fused, and what has no kernel gets none.
func.func @said(%x : tensor<4x8xf32>, %w : tensor<8x16xf32>) -> tensor<4x16xf32> {
  %0 = backend.dispatch kernel "Matmul" inputs(%x, %w : tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32> {
  ^bb0(%a : tensor<4x8xf32>, %b : tensor<8x16xf32>):
    %1 = edge.aten.mm(%a, %b) : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    backend.yield %1 : tensor<4x16xf32>
  }
  %2 = backend.dispatch inputs(%0 : tensor<4x16xf32>) -> tensor<4x16xf32> {
  ^bb0(%c : tensor<4x16xf32>):
    %3 = edge.aten.relu(%c) : (tensor<4x16xf32>) -> tensor<4x16xf32>
    backend.yield %3 : tensor<4x16xf32>
  }
  func.return %2 : tensor<4x16xf32>
}
// CHECK:         func.func @said
// CHECK-NEXT:      backend.dispatch kernel "Matmul"
// CHECK:             edge.aten.mm
// CHECK-NEXT:        backend.yield
// CHECK:           backend.dispatch inputs
// CHECK:             edge.aten.relu
// DRIVER:        func.func private @{{exir.kernel_[0-9a-f]*}}({{.*}} {is = "Matmul",
// DRIVER:        func.func private @{{exir.group_[0-9a-f]*}}(
// DRIVER:          linalg.generic
// DRIVER-NOT:    "Rows"
// DRIVER:        func.func @said(

// -----

// Views and sizes between operators of one dispatch are part of it; the number is a literal of its own.
func.func @between(%x : tensor<?x6xf32, #exir.shape<[s0, 6]>>) -> tensor<?x2xf32, #exir.shape<[s0, 2]>> attributes {exir.ranges = {"s0" = #exir.range<2, 100>}} {
  %one = exir.constant 1.0 : tensor<f32>
  %0 = edge.aten.add.Tensor(%x, %one) : (tensor<?x6xf32, #exir.shape<[s0, 6]>>, tensor<f32>) -> tensor<?x6xf32, #exir.shape<[s0, 6]>>
  %1 = edge.aten.slice.Tensor(%0, dim = 1, start = 2, end = 4) : (tensor<?x6xf32, #exir.shape<[s0, 6]>>) -> tensor<?x2xf32, #exir.shape<[s0, 2]>>
  %2 = edge.aten.flip(%1, dims = [0]) : (tensor<?x2xf32, #exir.shape<[s0, 2]>>) -> tensor<?x2xf32, #exir.shape<[s0, 2]>>
  %3 = edge.aten.logcumsumexp(%2, dim = 0) : (tensor<?x2xf32, #exir.shape<[s0, 2]>>) -> tensor<?x2xf32, #exir.shape<[s0, 2]>>
  func.return %3 : tensor<?x2xf32, #exir.shape<[s0, 2]>>
}
// CHECK:         func.func @between
// CHECK-NEXT:      backend.dispatch kernel "Rows"
// CHECK:             exir.constant
// CHECK-NEXT:        edge.aten.add.Tensor
// CHECK:           edge.aten.slice.Tensor
// CHECK-NEXT:      backend.dispatch inputs
// CHECK:             edge.aten.flip
// CHECK-NEXT:        edge.aten.logcumsumexp

// -----

// Running sums are one kernel, along whichever dimension.
func.func @down(%x : tensor<4x6x16xf16>) -> tensor<4x6x16xf16> {
  %0 = edge.aten.cumsum(%x, dim = 1) : (tensor<4x6x16xf16>) -> tensor<4x6x16xf16>
  func.return %0 : tensor<4x6x16xf16>
}
// CHECK:         func.func @down
// CHECK-NEXT:      backend.dispatch kernel "Scan"

// -----

// Rows that indices pick are picked out of memory: what makes them is another dispatch.
func.func @picked(%x : tensor<4x16xf32>, %i : tensor<4xi64>) -> tensor<4x16xf32> {
  %0 = edge.aten._softmax(%x, dim = 1, half_to_float = false) : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %1 = edge.aten.index_select(%0, dim = 0, index = %i) : (tensor<4x16xf32>, tensor<4xi64>) -> tensor<4x16xf32>
  %2 = edge.aten.relu(%1) : (tensor<4x16xf32>) -> tensor<4x16xf32>
  func.return %2 : tensor<4x16xf32>
}
// CHECK:         func.func @picked
// CHECK-NEXT:      backend.dispatch kernel "Rows"
// CHECK:             edge.aten._softmax
// CHECK-NEXT:        backend.yield
// CHECK:           backend.dispatch kernel "Rows"
// CHECK:             edge.aten.index_select
// CHECK-NEXT:        edge.aten.relu
// CHECK-NEXT:        backend.yield

// -----

// Two products, and what is done row by row between them, are one kernel: what is between is not all in memory.
func.func @chain(%q : tensor<300x16xf32>, %k : tensor<16x300xf32>, %v : tensor<300x16xf32>) -> tensor<300x16xf32> {
  %0 = edge.aten.mm(%q, %k) : (tensor<300x16xf32>, tensor<16x300xf32>) -> tensor<300x300xf32>
  %1 = edge.aten._softmax(%0, dim = 1, half_to_float = false) : (tensor<300x300xf32>) -> tensor<300x300xf32>
  %2 = edge.aten.mm(%1, %v) : (tensor<300x300xf32>, tensor<300x16xf32>) -> tensor<300x16xf32>
  func.return %2 : tensor<300x16xf32>
}
// CHECK:         func.func @chain
// CHECK-NEXT:      backend.dispatch kernel "Chain"
// CHECK:             edge.aten.mm
// CHECK-NEXT:        edge.aten._softmax
// CHECK-NEXT:        edge.aten.mm
// CHECK-NEXT:        backend.yield
// BACK:          func.func @chain
// BACK-NEXT:       edge.aten.mm
// BACK-NEXT:       edge.aten._softmax
// BACK-NEXT:       edge.aten.mm
// BACK-NEXT:       func.return
// DRIVER:        func.func private @{{exir.kernel_[0-9a-f]*}}({{.*}} {is = "Chain",
// DRIVER:        func.func @chain(

// -----

// Not where something else uses what is between them.
func.func @used(%q : tensor<300x16xf32>, %k : tensor<16x300xf32>, %v : tensor<300x16xf32>) -> (tensor<300x16xf32>, tensor<300x300xf32>) {
  %0 = edge.aten.mm(%q, %k) : (tensor<300x16xf32>, tensor<16x300xf32>) -> tensor<300x300xf32>
  %1 = edge.aten._softmax(%0, dim = 1, half_to_float = false) : (tensor<300x300xf32>) -> tensor<300x300xf32>
  %2 = edge.aten.mm(%1, %v) : (tensor<300x300xf32>, tensor<300x16xf32>) -> tensor<300x16xf32>
  func.return %2, %1 : tensor<300x16xf32>, tensor<300x300xf32>
}
// CHECK:         func.func @used
// CHECK-NEXT:      backend.dispatch kernel "Matmul"
// CHECK:           backend.dispatch kernel "Rows"
// CHECK:           backend.dispatch kernel "Matmul"

// -----

// Nor where rows are columns of the second product, or few: a row at a time, the scores are as small as what they are made of.
func.func @columns(%q : tensor<300x16xf32>, %k : tensor<16x300xf32>, %v : tensor<16x300xf32>) -> tensor<16x300xf32> {
  %0 = edge.aten.mm(%q, %k) : (tensor<300x16xf32>, tensor<16x300xf32>) -> tensor<300x300xf32>
  %1 = edge.aten._softmax(%0, dim = 1, half_to_float = false) : (tensor<300x300xf32>) -> tensor<300x300xf32>
  %2 = edge.aten.mm(%v, %1) : (tensor<16x300xf32>, tensor<300x300xf32>) -> tensor<16x300xf32>
  func.return %2 : tensor<16x300xf32>
}
// CHECK:         func.func @columns
// CHECK-NEXT:      backend.dispatch kernel "Matmul"

// -----

func.func @row(%q : tensor<1x16xf32>, %k : tensor<16x99999xf32>, %v : tensor<99999x16xf32>) -> tensor<1x16xf32> {
  %0 = edge.aten.mm(%q, %k) : (tensor<1x16xf32>, tensor<16x99999xf32>) -> tensor<1x99999xf32>
  %1 = edge.aten._softmax(%0, dim = 1, half_to_float = false) : (tensor<1x99999xf32>) -> tensor<1x99999xf32>
  %2 = edge.aten.mm(%1, %v) : (tensor<1x99999xf32>, tensor<99999x16xf32>) -> tensor<1x16xf32>
  func.return %2 : tensor<1x16xf32>
}
// CHECK:         func.func @row
// CHECK-NEXT:      backend.dispatch kernel "Matmul"

// -----

// Halves of a right-hand side are read as they are, through views, unless others take what they become.
func.func @halves(%x: tensor<2x1x8xf32>, %k: tensor<2x16x8xbf16>, %v: tensor<2x16x8xf16>) -> (tensor<2x1x8xf32>, tensor<2x16x8xf32>) {
  %0 = edge.aten._to_copy(%k, dtype = f32) : (tensor<2x16x8xbf16>) -> tensor<2x16x8xf32>
  %1 = edge.aten.permute(%0, dims = [0, 2, 1]) : (tensor<2x16x8xf32>) -> tensor<2x8x16xf32>
  %2 = edge.aten.bmm(%x, %1) : (tensor<2x1x8xf32>, tensor<2x8x16xf32>) -> tensor<2x1x16xf32>
  %3 = edge.aten.relu(%v) : (tensor<2x16x8xf16>) -> tensor<2x16x8xf16>
  %4 = edge.aten._to_copy(%3, dtype = f32) : (tensor<2x16x8xf16>) -> tensor<2x16x8xf32>
  %5 = edge.aten.bmm(%2, %4) : (tensor<2x1x16xf32>, tensor<2x16x8xf32>) -> tensor<2x1x8xf32>
  func.return %5, %4 : tensor<2x1x8xf32>, tensor<2x16x8xf32>
}
// CHECK:         func.func @halves
// CHECK-NEXT:      backend.dispatch kernel "Matmul" inputs(%k, %x : tensor<2x16x8xbf16>, tensor<2x1x8xf32>)
// CHECK:           [[WIDE:%[0-9]+]] = backend.dispatch kernel "Rows" inputs(%v :
// CHECK:           backend.dispatch kernel "Matmul" inputs({{.*}}[[WIDE]]{{.*}} : tensor<2x1x16xf32>, tensor<2x16x8xf32>)

// -----

// Operands that are cast each of its own are cast where they are taken, in one dispatch.
func.func @cast(%a : tensor<4x32xf16>, %b : tensor<4x32xf16>, %c : tensor<4x32xf16>) -> tensor<4x32xf16> {
  %0 = edge.aten._to_copy(%a, dtype = f32) : (tensor<4x32xf16>) -> tensor<4x32xf32>
  %1 = edge.aten._to_copy(%b, dtype = f32) : (tensor<4x32xf16>) -> tensor<4x32xf32>
  %2 = edge.aten._to_copy(%c, dtype = f32) : (tensor<4x32xf16>) -> tensor<4x32xf32>
  %3 = edge.aten.mul.Tensor(%1, %2) : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4x32xf32>
  %4 = edge.aten.add.Tensor(%0, %3) : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4x32xf32>
  %5 = edge.aten._to_copy(%4, dtype = f16) : (tensor<4x32xf32>) -> tensor<4x32xf16>
  func.return %5 : tensor<4x32xf16>
}
// CHECK:         func.func @cast
// CHECK-NEXT:      backend.dispatch kernel "Rows" inputs(%b, %c, %a
// CHECK-NOT:       backend.dispatch
// CHECK:           func.return

// -----

// Not where others take what is cast.
func.func @cast_for_others(%a : tensor<4x32xf16>, %b : tensor<4x32xf16>) -> (tensor<4x32xf32>, tensor<4x32xf32>) {
  %h = edge.aten.relu(%a) : (tensor<4x32xf16>) -> tensor<4x32xf16>
  %0 = edge.aten._to_copy(%h, dtype = f32) : (tensor<4x32xf16>) -> tensor<4x32xf32>
  %1 = edge.aten._to_copy(%b, dtype = f32) : (tensor<4x32xf16>) -> tensor<4x32xf32>
  %2 = edge.aten.mul.Tensor(%1, %0) : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4x32xf32>
  func.return %0, %2 : tensor<4x32xf32>, tensor<4x32xf32>
}
// CHECK:         func.func @cast_for_others
// CHECK-NEXT:      backend.dispatch kernel "Rows" inputs(%a :
// CHECK:           backend.dispatch kernel "Rows" inputs(%b,
