// RUN: xdsl-opt %s -p canonicalize | filecheck %s

// One function an operator: what its rule makes simpler, then what it leaves.

// Of dimensions of size 1. (A sum of one element is not that element: of -0.0 it is 0.0.)
func.func @aten.amax(%s: tensor<?x3xf32, #exir.shape<[s0, 3]>>, %i: tensor<i64>, %o: tensor<1x3xf32>, %x: tensor<2x3xf32>) -> (tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<1x3xf32>, tensor<i64>, tensor<2xf32>, tensor<f32>) {
  %0 = aten.unsqueeze(%s, dim = 1) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x1x3xf32, #exir.shape<[s0, 1, 3]>>
  %1 = aten.amax(%0, dim = [1]) : (tensor<?x1x3xf32, #exir.shape<[s0, 1, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  %2 = aten.amax(%o, dim = [0], keepdim = true) : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %3 = aten.amax(%i) : (tensor<i64>) -> tensor<i64>
  %4 = aten.amax(%x, dim = [1]) : (tensor<2x3xf32>) -> tensor<2xf32>
  %5 = aten.amax(%o) : (tensor<1x3xf32>) -> tensor<f32>
  func.return %1, %2, %3, %4, %5 : tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<1x3xf32>, tensor<i64>, tensor<2xf32>, tensor<f32>
}
// CHECK-LABEL: func.func @aten.amax(
// CHECK-NEXT:    %0 = aten.amax(%x, dim = [1])
// CHECK-NEXT:    %1 = aten.amax(%o)
// CHECK-NEXT:    func.return %s, %o, %i, %0, %1

func.func @aten.amin(%s: tensor<?x3xf32, #exir.shape<[s0, 3]>>, %i: tensor<i64>, %o: tensor<1x3xf32>, %x: tensor<2x3xf32>) -> (tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<1x3xf32>, tensor<i64>, tensor<2xf32>, tensor<f32>) {
  %0 = aten.unsqueeze(%s, dim = 1) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x1x3xf32, #exir.shape<[s0, 1, 3]>>
  %1 = aten.amin(%0, dim = [1]) : (tensor<?x1x3xf32, #exir.shape<[s0, 1, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  %2 = aten.amin(%o, dim = [0], keepdim = true) : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %3 = aten.amin(%i) : (tensor<i64>) -> tensor<i64>
  %4 = aten.amin(%x, dim = [1]) : (tensor<2x3xf32>) -> tensor<2xf32>
  %5 = aten.amin(%o) : (tensor<1x3xf32>) -> tensor<f32>
  func.return %1, %2, %3, %4, %5 : tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<1x3xf32>, tensor<i64>, tensor<2xf32>, tensor<f32>
}
// CHECK-LABEL: func.func @aten.amin(
// CHECK-NEXT:    %0 = aten.amin(%x, dim = [1])
// CHECK-NEXT:    %1 = aten.amin(%o)
// CHECK-NEXT:    func.return %s, %o, %i, %0, %1
