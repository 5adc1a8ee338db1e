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

// Left alone: of indices that are no masks, the sizes are known.
func.func @index(%x: tensor<4x2xf32>, %i: tensor<3xi64>) -> tensor<3x2xf32> {
  %0 = edge.aten.index.Tensor(%x, [%i]) : (tensor<4x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  func.return %0 : tensor<3x2xf32>
}
// CHECK-LABEL: func.func @index(
// CHECK-NEXT:    %0 = edge.aten.index.Tensor(%x, [%i])
// CHECK-NEXT:    func.return %0
