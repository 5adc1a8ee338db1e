// RUN: xdsl-opt -p simplify-sizes %s | filecheck %s

// A range, or a guard that is as good as one, says which is the maximum; another guard that two sizes are the same.
func.func @positions(%x: tensor<?x8xf32, #exir.shape<[s0, 8]>>, %bias: tensor<64x64xf32>, %first: !exir.symint<max(-s0 + 1, 0)>, %later: !exir.symint<max(-s0 + 64, 0)>) -> tensor<?x?xf32, #exir.shape<[-max(-s0 + 1, 0) + 1, -max(-s0 + 64, 0) + 64]>>
    attributes {exir.ranges = {s0 = #exir.range<2, inf>}, exir.guards = [!exir.symbool<ge(s0, 1)>, !exir.symbool<eq(s0, -max(-s0 + 64, 0) + 64)>]} {
  %row = edge.aten.slice.Tensor(%bias, dim = 0, end = 1) : (tensor<64x64xf32>) -> tensor<1x64xf32>
  %some = edge.aten.slice.Tensor(%row, dim = 0, start = %first) : (tensor<1x64xf32>, !exir.symint<max(-s0 + 1, 0)>) -> tensor<?x64xf32, #exir.shape<[-max(-s0 + 1, 0) + 1, 64]>>
  %made = edge.aten.slice.Tensor(%some, dim = 1, start = %later) : (tensor<?x64xf32, #exir.shape<[-max(-s0 + 1, 0) + 1, 64]>>, !exir.symint<max(-s0 + 64, 0)>) -> tensor<?x?xf32, #exir.shape<[-max(-s0 + 1, 0) + 1, -max(-s0 + 64, 0) + 64]>>
  func.return %made : tensor<?x?xf32, #exir.shape<[-max(-s0 + 1, 0) + 1, -max(-s0 + 64, 0) + 64]>>
}
// CHECK-LABEL: func.func @positions(
// CHECK-SAME:    !exir.symint<0>, %later: !exir.symint<max(-s0 + 64, 0)>) -> tensor<1x?xf32, #exir.shape<[1, s0]>>
// CHECK:         %some = edge.aten.slice.Tensor(%row, start = %first) : (tensor<1x64xf32>, !exir.symint<0>) -> tensor<1x64xf32>
// CHECK-NEXT:    %made = edge.aten.slice.Tensor(%some, dim = 1, start = %later) : (tensor<1x64xf32>, !exir.symint<max(-s0 + 64, 0)>) -> tensor<1x?xf32, #exir.shape<[1, s0]>>

// A size of which nobody said the lower end may be 0.
func.func @unknown(%x: tensor<?x?xf32, #exir.shape<[s0, max(s0, 1)]>>) -> tensor<?x?xf32, #exir.shape<[s0, max(s0, 1)]>> attributes {exir.ranges = {s0 = #exir.range<2, inf>}} {
  func.return %x : tensor<?x?xf32, #exir.shape<[s0, max(s0, 1)]>>
}
// CHECK-LABEL: func.func @unknown(
// CHECK-SAME:    tensor<?x?xf32, #exir.shape<[s0, max(s0, 1)]>>) -> tensor<?x?xf32, #exir.shape<[s0, max(s0, 1)]>>

// Unless all that it is 1 for else are empty tensors: then it is asserted that these are not given.
func.func @some(%x: tensor<?x8xf32, #exir.shape<[s0, 8]>>, %y: tensor<?x8xf32, #exir.shape<[-max(-s0 + 1, 0) + 1, 8]>>) -> tensor<?x8xf32, #exir.shape<[s0, 8]>> attributes {exir.ranges = {s0 = #exir.range<2, inf>}} {
  %0 = edge.aten.add.Tensor(%x, %y) : (tensor<?x8xf32, #exir.shape<[s0, 8]>>, tensor<?x8xf32, #exir.shape<[-max(-s0 + 1, 0) + 1, 8]>>) -> tensor<?x8xf32, #exir.shape<[s0, 8]>>
  func.return %0 : tensor<?x8xf32, #exir.shape<[s0, 8]>>
}
// CHECK-LABEL: func.func @some(
// CHECK:         %0 = edge.aten.sym_size.int(%x, dim = 0)
// CHECK-NEXT:    %1 = exir.number 0 : !exir.symint<0>
// CHECK-NEXT:    %2 = exir.sym_gt %0, %1 : (!exir.symint<s0>, !exir.symint<0>) -> !exir.symbool<gt(s0, 0)>
// CHECK-NEXT:    edge.aten._assert_scalar(self = %2, assert_msg = "s0 elements along a dimension are taken to be some")
// CHECK-NEXT:    %3 = edge.aten.add.Tensor(%x, %y) : (tensor<?x8xf32, #exir.shape<[s0, 8]>>, tensor<1x8xf32>) -> tensor<?x8xf32, #exir.shape<[s0, 8]>>
