// RUN: xdsl-opt %s -p canonicalize | filecheck %s

// One function an operator: what its rule makes simpler, then what it leaves.

// Of the same diagonal.
func.func @aten.tril(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.tril(%x, diagonal = 1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.tril(%0, diagonal = 1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = aten.tril(%y, diagonal = 1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = aten.tril(%2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.tril(
// CHECK-NEXT:    %0 = aten.tril(%x, diagonal = 1)
// CHECK-NEXT:    %1 = aten.tril(%y, diagonal = 1)
// CHECK-NEXT:    %2 = aten.tril(%1)
// CHECK-NEXT:    func.return %0, %2

func.func @aten.triu(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.triu(%x, diagonal = 1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.triu(%0, diagonal = 1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = aten.triu(%y, diagonal = 1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = aten.triu(%2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.triu(
// CHECK-NEXT:    %0 = aten.triu(%x, diagonal = 1)
// CHECK-NEXT:    %1 = aten.triu(%y, diagonal = 1)
// CHECK-NEXT:    %2 = aten.triu(%1)
// CHECK-NEXT:    func.return %0, %2

// What is computed of the elements that a mask picks, and of what comes after its dimensions. Not by another mask, nor added; nor a
// division that a mask may keep from failing, what is in another order, and values that have the mask's dimension.
func.func @aten.index_put(%x: tensor<2x3x4xf32>, %y: tensor<2x3x4xf32>, %mask: tensor<3xi1>, %row: tensor<4xf32>, %n: tensor<3xi32>, %m: tensor<3xi32>, %other: tensor<3xi1>, %v: tensor<1xi32>) -> (tensor<2x3x4xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) {
  %0 = aten.index.Tensor(%x, [none, %mask]) : (tensor<2x3x4xf32>, tensor<3xi1>) -> tensor<2x?x4xf32, #exir.shape<[2, u0, 4]>>
  %1 = aten.index.Tensor(%y, [none, %mask]) : (tensor<2x3x4xf32>, tensor<3xi1>) -> tensor<2x?x4xf32, #exir.shape<[2, u0, 4]>>
  %2 = aten.div.Tensor(%0, %1) : (tensor<2x?x4xf32, #exir.shape<[2, u0, 4]>>, tensor<2x?x4xf32, #exir.shape<[2, u0, 4]>>) -> tensor<2x?x4xf32, #exir.shape<[2, u0, 4]>>
  %3 = aten.add.Tensor(%2, %row) : (tensor<2x?x4xf32, #exir.shape<[2, u0, 4]>>, tensor<4xf32>) -> tensor<2x?x4xf32, #exir.shape<[2, u0, 4]>>
  %4 = aten.index_put(%x, [none, %mask], %3) : (tensor<2x3x4xf32>, tensor<3xi1>, tensor<2x?x4xf32, #exir.shape<[2, u0, 4]>>) -> tensor<2x3x4xf32>
  %5 = aten.index.Tensor(%n, [%mask]) : (tensor<3xi32>, tensor<3xi1>) -> tensor<?xi32, #exir.shape<[u0]>>
  %6 = aten.index.Tensor(%m, [%mask]) : (tensor<3xi32>, tensor<3xi1>) -> tensor<?xi32, #exir.shape<[u0]>>
  %7 = aten.index_put(%n, [%other], %6) : (tensor<3xi32>, tensor<3xi1>, tensor<?xi32, #exir.shape<[u0]>>) -> tensor<3xi32>
  %8 = aten.index_put(%n, [%mask], %6, accumulate = true) : (tensor<3xi32>, tensor<3xi1>, tensor<?xi32, #exir.shape<[u0]>>) -> tensor<3xi32>
  %9 = aten.floor_divide(%5, %6) : (tensor<?xi32, #exir.shape<[u0]>>, tensor<?xi32, #exir.shape<[u0]>>) -> tensor<?xi32, #exir.shape<[u0]>>
  %10 = aten.index_put(%n, [%mask], %9) : (tensor<3xi32>, tensor<3xi1>, tensor<?xi32, #exir.shape<[u0]>>) -> tensor<3xi32>
  %11 = aten.flip(%6, dims = [0]) : (tensor<?xi32, #exir.shape<[u0]>>) -> tensor<?xi32, #exir.shape<[u0]>>
  %12 = aten.index_put(%n, [%mask], %11) : (tensor<3xi32>, tensor<3xi1>, tensor<?xi32, #exir.shape<[u0]>>) -> tensor<3xi32>
  %13 = aten.add.Tensor(%6, %v) : (tensor<?xi32, #exir.shape<[u0]>>, tensor<1xi32>) -> tensor<?xi32, #exir.shape<[u0]>>
  %14 = aten.index_put(%n, [%mask], %13) : (tensor<3xi32>, tensor<3xi1>, tensor<?xi32, #exir.shape<[u0]>>) -> tensor<3xi32>
  func.return %4, %7, %8, %10, %12, %14 : tensor<2x3x4xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>
}
// CHECK-LABEL: func.func @aten.index_put(
// CHECK-NEXT:    %0 = aten.div.Tensor(%x, %y)
// CHECK-NEXT:    %1 = aten.add.Tensor(%0, %row)
// CHECK-NEXT:    %2 = aten.view(%mask, size = [3, 1])
// CHECK-NEXT:    %3 = aten.where.self(%2, %1, %x)
// CHECK-NEXT:    %4 = aten.index.Tensor(%n, [%mask])
// CHECK-NEXT:    %5 = aten.index.Tensor(%m, [%mask])
// CHECK-NEXT:    aten.index_put(%n, [%other], %5)
// CHECK-NEXT:    aten.index_put(%n, [%mask], %5, accumulate = true)
// CHECK-NEXT:    aten.floor_divide(%4, %5)
// CHECK-NEXT:    aten.index_put(
// CHECK-NEXT:    aten.flip(
// CHECK-NEXT:    aten.index_put(
// CHECK-NEXT:    aten.add.Tensor(
// CHECK-NEXT:    aten.index_put(
// CHECK-NEXT:    func.return %3
