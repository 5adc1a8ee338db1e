// RUN: xdsl-opt %s -p count-sizes | filecheck %s

// A size that depends on data: a count, its number, and operators that take it.
func.func @nonzero(%x: tensor<4xf32>) -> tensor<?x1xi64, #exir.shape<[u0, 1]>> {
  %0 = edge.aten.nonzero(%x) : (tensor<4xf32>) -> tensor<?x1xi64, #exir.shape<[u0, 1]>>
  func.return %0 : tensor<?x1xi64, #exir.shape<[u0, 1]>>
}
// CHECK-LABEL: func.func @nonzero(
// CHECK-NEXT:    %0 = exir.constant 0.0 : tensor<f32>
// CHECK-NEXT:    %1 = edge.aten.ne.Tensor(%x, %0)
// CHECK-NEXT:    %2 = edge.aten.sum.dim_IntList(%1, dim = [])
// CHECK-NEXT:    %3 = edge.aten._local_scalar_dense(%2) : (tensor<i64>) -> !exir.symint<u0>
// CHECK-NEXT:    %4 = edge.aten.nonzero_static(%x, size = %3)
// CHECK-NEXT:    func.return %4

// Of how many elements are True it is known between which numbers that is: what is asserted beyond that stays.
func.func @asserted(%x: tensor<4xi1>) -> tensor<?x1xi64, #exir.shape<[u0, 1]>> {
  %0 = edge.aten.nonzero(%x) : (tensor<4xi1>) -> tensor<?x1xi64, #exir.shape<[u0, 1]>>
  %1 = edge.aten.sym_size.int(%0, dim = 0) : (tensor<?x1xi64, #exir.shape<[u0, 1]>>) -> !exir.symint<u0>
  %2 = exir.number 4 : !exir.symint<4>
  %3 = exir.sym_le %1, %2 : (!exir.symint<u0>, !exir.symint<4>) -> !exir.symbool<le(u0, 4)>
  edge.aten._assert_scalar(self = %3, assert_msg = "at most all") : (!exir.symbool<le(u0, 4)>) -> ()
  %4 = exir.number 3 : !exir.symint<3>
  %5 = exir.sym_le %1, %4 : (!exir.symint<u0>, !exir.symint<3>) -> !exir.symbool<le(u0, 3)>
  edge.aten._assert_scalar(self = %5, assert_msg = "not all") : (!exir.symbool<le(u0, 3)>) -> ()
  func.return %0 : tensor<?x1xi64, #exir.shape<[u0, 1]>>
}
// CHECK-LABEL: func.func @asserted(
// CHECK-NOT: at most all
// CHECK: assert_msg = "not all"
// CHECK: func.return

// Left alone: of indices that are no masks, the sizes are known.
func.func @index(%x: tensor<4x2xf32>, %i: tensor<3xi64>) -> tensor<3x2xf32> {
  %0 = edge.aten.index.Tensor(%x, [%i]) : (tensor<4x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  func.return %0 : tensor<3x2xf32>
}
// CHECK-LABEL: func.func @index(
// CHECK-NEXT:    %0 = edge.aten.index.Tensor(%x, [%i])
// CHECK-NEXT:    func.return %0
