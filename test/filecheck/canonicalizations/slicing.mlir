// RUN: xdsl-opt %s -p canonicalize | filecheck %s

// One function an operator: what its rule makes simpler, then what it leaves.

func.func @aten.narrow(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<1x3xf32>) {
  %0 = aten.narrow(%x, dim = 0, start = 0, length = 2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.narrow(%x, dim = 0, start = 0, length = 1) : (tensor<2x3xf32>) -> tensor<1x3xf32>
  func.return %0, %1 : tensor<2x3xf32>, tensor<1x3xf32>
}
// CHECK-LABEL: func.func @aten.narrow(
// CHECK-NEXT:    %0 = aten.narrow(%x, dim = 0, start = 0, length = 1)
// CHECK-NEXT:    func.return %x, %0

func.func @aten.narrow_copy(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x2xf32>) {
  %0 = aten.narrow_copy(%x, dim = 1, start = 0, length = 3) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.narrow_copy(%x, dim = 1, start = 1, length = 2) : (tensor<2x3xf32>) -> tensor<2x2xf32>
  func.return %0, %1 : tensor<2x3xf32>, tensor<2x2xf32>
}
// CHECK-LABEL: func.func @aten.narrow_copy(
// CHECK-NEXT:    %0 = aten.narrow_copy(%x, dim = 1, start = 1, length = 2)
// CHECK-NEXT:    func.return %x, %0

// What has all rows, and one of another of the same dimension.
func.func @aten.slice.Tensor(%x: tensor<2x3xf32>, %r: tensor<6xf32>) -> (tensor<2x3xf32>, tensor<2xf32>, tensor<1x2xf32>) {
  %0 = aten.slice.Tensor(%x, start = 0, end = 4611686018427387904) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.slice.Tensor(%r, start = 1, end = 6, step = 2) : (tensor<6xf32>) -> tensor<3xf32>
  %2 = aten.slice.Tensor(%1, start = 1) : (tensor<3xf32>) -> tensor<2xf32>
  %3 = aten.slice.Tensor(%x, start = 1, end = 2) : (tensor<2x3xf32>) -> tensor<1x3xf32>
  %4 = aten.slice.Tensor(%3, dim = 1, start = 1, end = 3) : (tensor<1x3xf32>) -> tensor<1x2xf32>
  func.return %0, %2, %4 : tensor<2x3xf32>, tensor<2xf32>, tensor<1x2xf32>
}
// CHECK-LABEL: func.func @aten.slice.Tensor(
// CHECK-NEXT:    %0 = aten.slice.Tensor(%r, start = 3, end = 7, step = 2)
// CHECK-NEXT:    %1 = aten.slice.Tensor(%x, start = 1, end = 2)
// CHECK-NEXT:    %2 = aten.slice.Tensor(%1, dim = 1, start = 1, end = 3)
// CHECK-NEXT:    func.return %x, %0, %2

func.func @aten.slice_copy.Tensor(%x: tensor<2x3xf32>, %r: tensor<6xf32>) -> (tensor<2x3xf32>, tensor<2xf32>, tensor<1x2xf32>) {
  %0 = aten.slice_copy.Tensor(%x, start = 0, end = 4611686018427387904) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.slice_copy.Tensor(%r, start = 1, end = 6, step = 2) : (tensor<6xf32>) -> tensor<3xf32>
  %2 = aten.slice_copy.Tensor(%1, start = 1) : (tensor<3xf32>) -> tensor<2xf32>
  %3 = aten.slice_copy.Tensor(%x, start = 1, end = 2) : (tensor<2x3xf32>) -> tensor<1x3xf32>
  %4 = aten.slice_copy.Tensor(%3, dim = 1, start = 1, end = 3) : (tensor<1x3xf32>) -> tensor<1x2xf32>
  func.return %0, %2, %4 : tensor<2x3xf32>, tensor<2xf32>, tensor<1x2xf32>
}
// CHECK-LABEL: func.func @aten.slice_copy.Tensor(
// CHECK-NEXT:    %0 = aten.slice.Tensor(%r, start = 3, end = 7, step = 2)
// CHECK-NEXT:    %1 = aten.slice_copy.Tensor(%x, start = 1, end = 2)
// CHECK-NEXT:    %2 = aten.slice_copy.Tensor(%1, dim = 1, start = 1, end = 3)
// CHECK-NEXT:    func.return %x, %0, %2

// Of a dimension that was put in, or of what was stacked along it.
func.func @aten.select.int(%s: tensor<?x3xf32, #exir.shape<[s0, 3]>>, %x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<2x3xf32>, tensor<1x3xf32>, tensor<3xf32>) {
  %0 = aten.unsqueeze(%s, dim = 0) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<1x?x3xf32, #exir.shape<[1, s0, 3]>>
  %1 = aten.select.int(%0, dim = 0, index = 0) : (tensor<1x?x3xf32, #exir.shape<[1, s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  %2 = aten.stack([%x, %y], dim = -1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3x2xf32>
  %3 = aten.select.int(%2, dim = 2, index = -1) : (tensor<2x3x2xf32>) -> tensor<2x3xf32>
  %4 = aten.unsqueeze(%x, dim = 0) : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
  %5 = aten.select.int(%4, dim = 1, index = 0) : (tensor<1x2x3xf32>) -> tensor<1x3xf32>
  %6 = aten.select.int(%y, dim = 0, index = 1) : (tensor<2x3xf32>) -> tensor<3xf32>
  func.return %1, %3, %5, %6 : tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<2x3xf32>, tensor<1x3xf32>, tensor<3xf32>
}
// CHECK-LABEL: func.func @aten.select.int(
// CHECK-NEXT:    %0 = aten.unsqueeze(%x, dim = 0)
// CHECK-NEXT:    %1 = aten.select.int(%0, dim = 1, index = 0)
// CHECK-NEXT:    %2 = aten.select.int(%y, dim = 0, index = 1)
// CHECK-NEXT:    func.return %s, %y, %1, %2

func.func @aten.select_copy.int(%s: tensor<?x3xf32, #exir.shape<[s0, 3]>>, %x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<2x3xf32>, tensor<1x3xf32>, tensor<3xf32>) {
  %0 = aten.unsqueeze(%s, dim = 0) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<1x?x3xf32, #exir.shape<[1, s0, 3]>>
  %1 = aten.select_copy.int(%0, dim = 0, index = 0) : (tensor<1x?x3xf32, #exir.shape<[1, s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  %2 = aten.stack([%x, %y], dim = -1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3x2xf32>
  %3 = aten.select_copy.int(%2, dim = 2, index = -1) : (tensor<2x3x2xf32>) -> tensor<2x3xf32>
  %4 = aten.unsqueeze(%x, dim = 0) : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
  %5 = aten.select_copy.int(%4, dim = 1, index = 0) : (tensor<1x2x3xf32>) -> tensor<1x3xf32>
  %6 = aten.select_copy.int(%y, dim = 0, index = 1) : (tensor<2x3xf32>) -> tensor<3xf32>
  func.return %1, %3, %5, %6 : tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<2x3xf32>, tensor<1x3xf32>, tensor<3xf32>
}
// CHECK-LABEL: func.func @aten.select_copy.int(
// CHECK-NEXT:    %0 = aten.unsqueeze(%x, dim = 0)
// CHECK-NEXT:    %1 = aten.select_copy.int(%0, dim = 1, index = 0)
// CHECK-NEXT:    %2 = aten.select_copy.int(%y, dim = 0, index = 1)
// CHECK-NEXT:    func.return %s, %y, %1, %2

// One piece is all of it.
func.func @aten.split_with_sizes(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>) {
  %0 = aten.split_with_sizes(%x, split_sizes = [2]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1, %2 = aten.split_with_sizes(%x, split_sizes = [1, 1]) : (tensor<2x3xf32>) -> (tensor<1x3xf32>, tensor<1x3xf32>)
  func.return %0, %1, %2 : tensor<2x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>
}
// CHECK-LABEL: func.func @aten.split_with_sizes(
// CHECK-NEXT:    %0, %1 = aten.split_with_sizes(%x, split_sizes = [1, 1])
// CHECK-NEXT:    func.return %x, %0, %1

func.func @aten.split.Tensor(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>) {
  %0 = aten.split.Tensor(%x, split_size = 2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1, %2 = aten.split.Tensor(%x, split_size = 1) : (tensor<2x3xf32>) -> (tensor<1x3xf32>, tensor<1x3xf32>)
  func.return %0, %1, %2 : tensor<2x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>
}
// CHECK-LABEL: func.func @aten.split.Tensor(
// CHECK-NEXT:    %0, %1 = aten.split.Tensor(%x, split_size = 1)
// CHECK-NEXT:    func.return %x, %0, %1

func.func @aten.chunk(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>) {
  %0 = aten.chunk(%x, chunks = 1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1, %2 = aten.chunk(%x, chunks = 2) : (tensor<2x3xf32>) -> (tensor<1x3xf32>, tensor<1x3xf32>)
  func.return %0, %1, %2 : tensor<2x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>
}
// CHECK-LABEL: func.func @aten.chunk(
// CHECK-NEXT:    %0, %1 = aten.chunk(%x, chunks = 2)
// CHECK-NEXT:    func.return %x, %0, %1
