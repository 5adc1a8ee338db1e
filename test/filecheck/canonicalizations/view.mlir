// RUN: xdsl-opt %s -p canonicalize | filecheck %s

// One function an operator: what its rule makes simpler, then what it leaves.

// Of what is another shape of the same elements, in their order; a permutation is none.
func.func @aten.view(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x3xf32>) {
  %0 = aten.view(%x, size = [2, -1]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.view(%x, size = [3, 2]) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = aten.view(%1, size = [2, 3]) : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %3 = aten.unsqueeze(%x, dim = 0) : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
  %4 = aten.view(%3, size = [3, 2]) : (tensor<1x2x3xf32>) -> tensor<3x2xf32>
  %5 = aten.permute(%x, dims = [1, 0]) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %6 = aten.view(%5, size = [2, 3]) : (tensor<3x2xf32>) -> tensor<2x3xf32>
  func.return %0, %2, %4, %6 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.view(
// CHECK-NEXT:    %0 = aten.view(%x, size = [3, 2])
// CHECK-NEXT:    %1 = aten.permute(%x, dims = [1, 0])
// CHECK-NEXT:    %2 = aten.view(%1, size = [2, 3])
// CHECK-NEXT:    func.return %x, %x, %0, %2

func.func @aten._unsafe_view(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x3xf32>) {
  %0 = aten._unsafe_view(%x, size = [2, -1]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten._unsafe_view(%x, size = [3, 2]) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = aten._unsafe_view(%1, size = [2, 3]) : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %3 = aten.unsqueeze(%x, dim = 0) : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
  %4 = aten._unsafe_view(%3, size = [3, 2]) : (tensor<1x2x3xf32>) -> tensor<3x2xf32>
  %5 = aten.permute(%x, dims = [1, 0]) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %6 = aten._unsafe_view(%5, size = [2, 3]) : (tensor<3x2xf32>) -> tensor<2x3xf32>
  func.return %0, %2, %4, %6 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten._unsafe_view(
// CHECK-NEXT:    %0 = aten._unsafe_view(%x, size = [3, 2])
// CHECK-NEXT:    %1 = aten.permute(%x, dims = [1, 0])
// CHECK-NEXT:    %2 = aten._unsafe_view(%1, size = [2, 3])
// CHECK-NEXT:    func.return %x, %x, %0, %2

func.func @aten.view_copy(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x3xf32>) {
  %0 = aten.view_copy(%x, size = [2, -1]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.view_copy(%x, size = [3, 2]) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = aten.view_copy(%1, size = [2, 3]) : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %3 = aten.unsqueeze(%x, dim = 0) : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
  %4 = aten.view_copy(%3, size = [3, 2]) : (tensor<1x2x3xf32>) -> tensor<3x2xf32>
  %5 = aten.permute(%x, dims = [1, 0]) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %6 = aten.view_copy(%5, size = [2, 3]) : (tensor<3x2xf32>) -> tensor<2x3xf32>
  func.return %0, %2, %4, %6 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.view_copy(
// CHECK-NEXT:    %0 = aten.view_copy(%x, size = [3, 2])
// CHECK-NEXT:    %1 = aten.permute(%x, dims = [1, 0])
// CHECK-NEXT:    %2 = aten.view_copy(%1, size = [2, 3])
// CHECK-NEXT:    func.return %x, %x, %0, %2

func.func @aten.reshape(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x3xf32>) {
  %0 = aten.reshape(%x, shape = [2, -1]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.reshape(%x, shape = [3, 2]) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = aten.reshape(%1, shape = [2, 3]) : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %3 = aten.unsqueeze(%x, dim = 0) : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
  %4 = aten.reshape(%3, shape = [3, 2]) : (tensor<1x2x3xf32>) -> tensor<3x2xf32>
  %5 = aten.permute(%x, dims = [1, 0]) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %6 = aten.reshape(%5, shape = [2, 3]) : (tensor<3x2xf32>) -> tensor<2x3xf32>
  func.return %0, %2, %4, %6 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.reshape(
// CHECK-NEXT:    %0 = aten.reshape(%x, shape = [3, 2])
// CHECK-NEXT:    %1 = aten.permute(%x, dims = [1, 0])
// CHECK-NEXT:    %2 = aten.reshape(%1, shape = [2, 3])
// CHECK-NEXT:    func.return %x, %x, %0, %2

func.func @aten.unsqueeze(%o: tensor<1x3xf32>, %x: tensor<2x3xf32>) -> (tensor<1x3xf32>, tensor<2x1x3xf32>) {
  %0 = aten.squeeze.dim(%o, dim = 0) : (tensor<1x3xf32>) -> tensor<3xf32>
  %1 = aten.unsqueeze(%0, dim = 0) : (tensor<3xf32>) -> tensor<1x3xf32>
  %2 = aten.unsqueeze(%x, dim = 1) : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
  func.return %1, %2 : tensor<1x3xf32>, tensor<2x1x3xf32>
}
// CHECK-LABEL: func.func @aten.unsqueeze(
// CHECK-NEXT:    %0 = aten.unsqueeze(%x, dim = 1)
// CHECK-NEXT:    func.return %o, %0

func.func @aten.unsqueeze_copy(%o: tensor<1x3xf32>, %x: tensor<2x3xf32>) -> (tensor<1x3xf32>, tensor<2x1x3xf32>) {
  %0 = aten.squeeze.dim(%o, dim = 0) : (tensor<1x3xf32>) -> tensor<3xf32>
  %1 = aten.unsqueeze_copy(%0, dim = 0) : (tensor<3xf32>) -> tensor<1x3xf32>
  %2 = aten.unsqueeze_copy(%x, dim = 1) : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
  func.return %1, %2 : tensor<1x3xf32>, tensor<2x1x3xf32>
}
// CHECK-LABEL: func.func @aten.unsqueeze_copy(
// CHECK-NEXT:    %0 = aten.unsqueeze_copy(%x, dim = 1)
// CHECK-NEXT:    func.return %o, %0

// Where no dimension is of size 1, or one has been put in.
func.func @aten.squeeze(%x: tensor<2x3xf32>, %o: tensor<1x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>) {
  %0 = aten.squeeze(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.unsqueeze(%x, dim = 1) : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
  %2 = aten.squeeze(%1) : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
  %3 = aten.permute(%o, dims = [1, 0]) : (tensor<1x3xf32>) -> tensor<3x1xf32>
  %4 = aten.squeeze(%3) : (tensor<3x1xf32>) -> tensor<3xf32>
  func.return %0, %2, %4 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>
}
// CHECK-LABEL: func.func @aten.squeeze(
// CHECK-NEXT:    %0 = aten.permute(%o, dims = [1, 0])
// CHECK-NEXT:    %1 = aten.squeeze(%0)
// CHECK-NEXT:    func.return %x, %x, %1

func.func @aten.squeeze.dim(%x: tensor<2x3xf32>, %o: tensor<1x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>) {
  %0 = aten.squeeze.dim(%x, dim = 1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.unsqueeze(%x, dim = 1) : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
  %2 = aten.squeeze.dim(%1, dim = 1) : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
  %3 = aten.permute(%o, dims = [1, 0]) : (tensor<1x3xf32>) -> tensor<3x1xf32>
  %4 = aten.squeeze.dim(%3, dim = 1) : (tensor<3x1xf32>) -> tensor<3xf32>
  func.return %0, %2, %4 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>
}
// CHECK-LABEL: func.func @aten.squeeze.dim(
// CHECK-NEXT:    %0 = aten.permute(%o, dims = [1, 0])
// CHECK-NEXT:    %1 = aten.squeeze.dim(%0, dim = 1)
// CHECK-NEXT:    func.return %x, %x, %1

func.func @aten.squeeze.dims(%x: tensor<2x3xf32>, %o: tensor<1x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>) {
  %0 = aten.squeeze.dims(%x, dim = [1]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.unsqueeze(%x, dim = 1) : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
  %2 = aten.squeeze.dims(%1, dim = [1]) : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
  %3 = aten.permute(%o, dims = [1, 0]) : (tensor<1x3xf32>) -> tensor<3x1xf32>
  %4 = aten.squeeze.dims(%3, dim = [1]) : (tensor<3x1xf32>) -> tensor<3xf32>
  func.return %0, %2, %4 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>
}
// CHECK-LABEL: func.func @aten.squeeze.dims(
// CHECK-NEXT:    %0 = aten.permute(%o, dims = [1, 0])
// CHECK-NEXT:    %1 = aten.squeeze.dims(%0, dim = [1])
// CHECK-NEXT:    func.return %x, %x, %1

func.func @aten.squeeze_copy(%x: tensor<2x3xf32>, %o: tensor<1x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>) {
  %0 = aten.squeeze_copy(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.unsqueeze(%x, dim = 1) : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
  %2 = aten.squeeze_copy(%1) : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
  %3 = aten.permute(%o, dims = [1, 0]) : (tensor<1x3xf32>) -> tensor<3x1xf32>
  %4 = aten.squeeze_copy(%3) : (tensor<3x1xf32>) -> tensor<3xf32>
  func.return %0, %2, %4 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>
}
// CHECK-LABEL: func.func @aten.squeeze_copy(
// CHECK-NEXT:    %0 = aten.permute(%o, dims = [1, 0])
// CHECK-NEXT:    %1 = aten.squeeze_copy(%0)
// CHECK-NEXT:    func.return %x, %x, %1

func.func @aten.squeeze_copy.dim(%x: tensor<2x3xf32>, %o: tensor<1x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>) {
  %0 = aten.squeeze_copy.dim(%x, dim = 1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.unsqueeze(%x, dim = 1) : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
  %2 = aten.squeeze_copy.dim(%1, dim = 1) : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
  %3 = aten.permute(%o, dims = [1, 0]) : (tensor<1x3xf32>) -> tensor<3x1xf32>
  %4 = aten.squeeze_copy.dim(%3, dim = 1) : (tensor<3x1xf32>) -> tensor<3xf32>
  func.return %0, %2, %4 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>
}
// CHECK-LABEL: func.func @aten.squeeze_copy.dim(
// CHECK-NEXT:    %0 = aten.permute(%o, dims = [1, 0])
// CHECK-NEXT:    %1 = aten.squeeze_copy.dim(%0, dim = 1)
// CHECK-NEXT:    func.return %x, %x, %1

func.func @aten.squeeze_copy.dims(%x: tensor<2x3xf32>, %o: tensor<1x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>) {
  %0 = aten.squeeze_copy.dims(%x, dim = [1]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.unsqueeze(%x, dim = 1) : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
  %2 = aten.squeeze_copy.dims(%1, dim = [1]) : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
  %3 = aten.permute(%o, dims = [1, 0]) : (tensor<1x3xf32>) -> tensor<3x1xf32>
  %4 = aten.squeeze_copy.dims(%3, dim = [1]) : (tensor<3x1xf32>) -> tensor<3xf32>
  func.return %0, %2, %4 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>
}
// CHECK-LABEL: func.func @aten.squeeze_copy.dims(
// CHECK-NEXT:    %0 = aten.permute(%o, dims = [1, 0])
// CHECK-NEXT:    %1 = aten.squeeze_copy.dims(%0, dim = [1])
// CHECK-NEXT:    func.return %x, %x, %1

func.func @aten.flatten.using_ints(%r: tensor<6xf32>, %x: tensor<2x3xf32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) {
  %0 = aten.flatten.using_ints(%r) : (tensor<6xf32>) -> tensor<6xf32>
  %1 = aten.view(%r, size = [2, 3]) : (tensor<6xf32>) -> tensor<2x3xf32>
  %2 = aten.flatten.using_ints(%1) : (tensor<2x3xf32>) -> tensor<6xf32>
  %3 = aten.flatten.using_ints(%x) : (tensor<2x3xf32>) -> tensor<6xf32>
  func.return %0, %2, %3 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
}
// CHECK-LABEL: func.func @aten.flatten.using_ints(
// CHECK-NEXT:    %0 = aten.flatten.using_ints(%x)
// CHECK-NEXT:    func.return %r, %r, %0

func.func @aten.unflatten.int(%x: tensor<2x3xf32>, %r: tensor<6xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.view(%x, size = [6]) : (tensor<2x3xf32>) -> tensor<6xf32>
  %1 = aten.unflatten.int(%0, dim = 0, sizes = [2, 3]) : (tensor<6xf32>) -> tensor<2x3xf32>
  %2 = aten.unflatten.int(%r, dim = 0, sizes = [2, 3]) : (tensor<6xf32>) -> tensor<2x3xf32>
  func.return %1, %2 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.unflatten.int(
// CHECK-NEXT:    %0 = aten.unflatten.int(%r, dim = 0, sizes = [2, 3])
// CHECK-NEXT:    func.return %x, %0

// -1 is the size there was; where that is a symbol, two stay two.
func.func @aten.expand(%x: tensor<2x3xf32>, %o: tensor<1x3xf32>, %g: tensor<?xf32, #exir.shape<[s0]>>) -> (tensor<2x3xf32>, tensor<4x2x3xf32>, tensor<3x2x?xf32, #exir.shape<[3, 2, s0]>>) {
  %0 = aten.expand(%x, size = [2, 3]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.expand(%o, size = [2, -1]) : (tensor<1x3xf32>) -> tensor<2x3xf32>
  %2 = aten.expand(%1, size = [4, 2, -1]) : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  %3 = aten.unsqueeze(%g, dim = 0) : (tensor<?xf32, #exir.shape<[s0]>>) -> tensor<1x?xf32, #exir.shape<[1, s0]>>
  %4 = aten.expand(%3, size = [2, -1]) : (tensor<1x?xf32, #exir.shape<[1, s0]>>) -> tensor<2x?xf32, #exir.shape<[2, s0]>>
  %5 = aten.expand(%4, size = [3, 2, -1]) : (tensor<2x?xf32, #exir.shape<[2, s0]>>) -> tensor<3x2x?xf32, #exir.shape<[3, 2, s0]>>
  func.return %0, %2, %5 : tensor<2x3xf32>, tensor<4x2x3xf32>, tensor<3x2x?xf32, #exir.shape<[3, 2, s0]>>
}
// CHECK-LABEL: func.func @aten.expand(
// CHECK-NEXT:    %0 = aten.expand(%o, size = [4, 2, 3])
// CHECK-NEXT:    %1 = aten.unsqueeze(%g, dim = 0)
// CHECK-NEXT:    %2 = aten.expand(%1, size = [2, -1])
// CHECK-NEXT:    %3 = aten.expand(%2, size = [3, 2, -1])
// CHECK-NEXT:    func.return %x, %0, %3

func.func @aten.expand_copy(%x: tensor<2x3xf32>, %o: tensor<1x3xf32>, %g: tensor<?xf32, #exir.shape<[s0]>>) -> (tensor<2x3xf32>, tensor<4x2x3xf32>, tensor<3x2x?xf32, #exir.shape<[3, 2, s0]>>) {
  %0 = aten.expand_copy(%x, size = [2, 3]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.expand_copy(%o, size = [2, -1]) : (tensor<1x3xf32>) -> tensor<2x3xf32>
  %2 = aten.expand_copy(%1, size = [4, 2, -1]) : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  %3 = aten.unsqueeze(%g, dim = 0) : (tensor<?xf32, #exir.shape<[s0]>>) -> tensor<1x?xf32, #exir.shape<[1, s0]>>
  %4 = aten.expand_copy(%3, size = [2, -1]) : (tensor<1x?xf32, #exir.shape<[1, s0]>>) -> tensor<2x?xf32, #exir.shape<[2, s0]>>
  %5 = aten.expand_copy(%4, size = [3, 2, -1]) : (tensor<2x?xf32, #exir.shape<[2, s0]>>) -> tensor<3x2x?xf32, #exir.shape<[3, 2, s0]>>
  func.return %0, %2, %5 : tensor<2x3xf32>, tensor<4x2x3xf32>, tensor<3x2x?xf32, #exir.shape<[3, 2, s0]>>
}
// CHECK-LABEL: func.func @aten.expand_copy(
// CHECK-NEXT:    %0 = aten.expand(%o, size = [4, 2, 3])
// CHECK-NEXT:    %1 = aten.unsqueeze(%g, dim = 0)
// CHECK-NEXT:    %2 = aten.expand_copy(%1, size = [2, -1])
// CHECK-NEXT:    %3 = aten.expand_copy(%2, size = [3, 2, -1])
// CHECK-NEXT:    func.return %x, %0, %3

func.func @aten.broadcast_to(%x: tensor<2x3xf32>, %o: tensor<1x3xf32>, %g: tensor<?xf32, #exir.shape<[s0]>>) -> (tensor<2x3xf32>, tensor<4x2x3xf32>, tensor<3x2x?xf32, #exir.shape<[3, 2, s0]>>) {
  %0 = aten.broadcast_to(%x, size = [2, 3]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.broadcast_to(%o, size = [2, -1]) : (tensor<1x3xf32>) -> tensor<2x3xf32>
  %2 = aten.broadcast_to(%1, size = [4, 2, -1]) : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  %3 = aten.unsqueeze(%g, dim = 0) : (tensor<?xf32, #exir.shape<[s0]>>) -> tensor<1x?xf32, #exir.shape<[1, s0]>>
  %4 = aten.broadcast_to(%3, size = [2, -1]) : (tensor<1x?xf32, #exir.shape<[1, s0]>>) -> tensor<2x?xf32, #exir.shape<[2, s0]>>
  %5 = aten.broadcast_to(%4, size = [3, 2, -1]) : (tensor<2x?xf32, #exir.shape<[2, s0]>>) -> tensor<3x2x?xf32, #exir.shape<[3, 2, s0]>>
  func.return %0, %2, %5 : tensor<2x3xf32>, tensor<4x2x3xf32>, tensor<3x2x?xf32, #exir.shape<[3, 2, s0]>>
}
// CHECK-LABEL: func.func @aten.broadcast_to(
// CHECK-NEXT:    %0 = aten.expand(%o, size = [4, 2, 3])
// CHECK-NEXT:    %1 = aten.unsqueeze(%g, dim = 0)
// CHECK-NEXT:    %2 = aten.broadcast_to(%1, size = [2, -1])
// CHECK-NEXT:    %3 = aten.broadcast_to(%2, size = [3, 2, -1])
// CHECK-NEXT:    func.return %x, %0, %3

func.func @aten.alias_copy(%s: tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>> {
  %0 = aten.alias_copy(%s) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  func.return %0 : tensor<?x3xf32, #exir.shape<[s0, 3]>>
}
// CHECK-LABEL: func.func @aten.alias_copy(
// CHECK-NEXT:    func.return %s

func.func @aten.detach_copy(%s: tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>> {
  %0 = aten.detach_copy(%s) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  func.return %0 : tensor<?x3xf32, #exir.shape<[s0, 3]>>
}
// CHECK-LABEL: func.func @aten.detach_copy(
// CHECK-NEXT:    func.return %s

// A type that stays says that nothing was done.
func.func @aten.expand_as(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %o: tensor<1x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.expand_as(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.expand_as(%o, %y) : (tensor<1x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.expand_as(
// CHECK-NEXT:    %0 = aten.expand_as(%o, %y)
// CHECK-NEXT:    func.return %x, %0

func.func @aten.view_as(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %r: tensor<6xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.view_as(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.view_as(%r, %y) : (tensor<6xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.view_as(
// CHECK-NEXT:    %0 = aten.view_as(%r, %y)
// CHECK-NEXT:    func.return %x, %0

func.func @aten.reshape_as(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %r: tensor<6xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.reshape_as(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.reshape_as(%r, %y) : (tensor<6xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.reshape_as(
// CHECK-NEXT:    %0 = aten.reshape_as(%r, %y)
// CHECK-NEXT:    func.return %x, %0

func.func @aten.ravel(%r: tensor<6xf32>, %x: tensor<2x3xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %0 = aten.ravel(%r) : (tensor<6xf32>) -> tensor<6xf32>
  %1 = aten.ravel(%x) : (tensor<2x3xf32>) -> tensor<6xf32>
  func.return %0, %1 : tensor<6xf32>, tensor<6xf32>
}
// CHECK-LABEL: func.func @aten.ravel(
// CHECK-NEXT:    %0 = aten.ravel(%x)
// CHECK-NEXT:    func.return %r, %0

func.func @aten.atleast_1d(%r: tensor<6xf32>, %i: tensor<i64>) -> (tensor<6xf32>, tensor<1xi64>) {
  %0 = aten.atleast_1d(%r) : (tensor<6xf32>) -> tensor<6xf32>
  %1 = aten.atleast_1d(%i) : (tensor<i64>) -> tensor<1xi64>
  func.return %0, %1 : tensor<6xf32>, tensor<1xi64>
}
// CHECK-LABEL: func.func @aten.atleast_1d(
// CHECK-NEXT:    %0 = aten.atleast_1d(%i)
// CHECK-NEXT:    func.return %r, %0

// One after another is one, or none.
func.func @aten.permute(%w: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<4x2x3xf32>, tensor<3x2x4xf32>) {
  %0 = aten.permute(%w, dims = [0, -2, 2]) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %1 = aten.permute(%w, dims = [1, 2, 0]) : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %2 = aten.permute(%1, dims = [2, 0, 1]) : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  %3 = aten.permute(%w, dims = [1, 2, 0]) : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %4 = aten.permute(%3, dims = [1, 2, 0]) : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  %5 = aten.neg(%w) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %6 = aten.permute(%5, dims = [1, 0, 2]) : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  func.return %0, %2, %4, %6 : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<4x2x3xf32>, tensor<3x2x4xf32>
}
// CHECK-LABEL: func.func @aten.permute(
// CHECK-NEXT:    %0 = aten.permute(%w, dims = [2, 0, 1])
// CHECK-NEXT:    %1 = aten.neg(%w)
// CHECK-NEXT:    %2 = aten.permute(%1, dims = [1, 0, 2])
// CHECK-NEXT:    func.return %w, %w, %0, %2

func.func @aten.permute_copy(%w: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<4x2x3xf32>, tensor<3x2x4xf32>) {
  %0 = aten.permute_copy(%w, dims = [0, -2, 2]) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %1 = aten.permute_copy(%w, dims = [1, 2, 0]) : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %2 = aten.permute_copy(%1, dims = [2, 0, 1]) : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  %3 = aten.permute_copy(%w, dims = [1, 2, 0]) : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %4 = aten.permute_copy(%3, dims = [1, 2, 0]) : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  %5 = aten.neg(%w) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %6 = aten.permute_copy(%5, dims = [1, 0, 2]) : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  func.return %0, %2, %4, %6 : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<4x2x3xf32>, tensor<3x2x4xf32>
}
// CHECK-LABEL: func.func @aten.permute_copy(
// CHECK-NEXT:    %0 = aten.permute(%w, dims = [2, 0, 1])
// CHECK-NEXT:    %1 = aten.neg(%w)
// CHECK-NEXT:    %2 = aten.permute_copy(%1, dims = [1, 0, 2])
// CHECK-NEXT:    func.return %w, %w, %0, %2

func.func @aten.transpose.int(%w: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<3x4x2xf32>, tensor<3x2x4xf32>) {
  %0 = aten.transpose.int(%w, dim0 = 1, dim1 = -2) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %1 = aten.transpose.int(%w, dim0 = 0, dim1 = 1) : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %2 = aten.transpose.int(%1, dim0 = 0, dim1 = 1) : (tensor<3x2x4xf32>) -> tensor<2x3x4xf32>
  %3 = aten.transpose.int(%w, dim0 = 0, dim1 = 1) : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %4 = aten.transpose.int(%3, dim0 = 1, dim1 = 2) : (tensor<3x2x4xf32>) -> tensor<3x4x2xf32>
  %5 = aten.transpose.int(%w, dim0 = 0, dim1 = 1) : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  func.return %0, %2, %4, %5 : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<3x4x2xf32>, tensor<3x2x4xf32>
}
// CHECK-LABEL: func.func @aten.transpose.int(
// CHECK-NEXT:    %0 = aten.permute(%w, dims = [1, 2, 0])
// CHECK-NEXT:    %1 = aten.transpose.int(%w, dim0 = 0, dim1 = 1)
// CHECK-NEXT:    func.return %w, %w, %0, %1

func.func @aten.transpose_copy.int(%w: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<3x4x2xf32>, tensor<3x2x4xf32>) {
  %0 = aten.transpose_copy.int(%w, dim0 = 1, dim1 = -2) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %1 = aten.transpose_copy.int(%w, dim0 = 0, dim1 = 1) : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %2 = aten.transpose_copy.int(%1, dim0 = 0, dim1 = 1) : (tensor<3x2x4xf32>) -> tensor<2x3x4xf32>
  %3 = aten.transpose_copy.int(%w, dim0 = 0, dim1 = 1) : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %4 = aten.transpose_copy.int(%3, dim0 = 1, dim1 = 2) : (tensor<3x2x4xf32>) -> tensor<3x4x2xf32>
  %5 = aten.transpose_copy.int(%w, dim0 = 0, dim1 = 1) : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  func.return %0, %2, %4, %5 : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<3x4x2xf32>, tensor<3x2x4xf32>
}
// CHECK-LABEL: func.func @aten.transpose_copy.int(
// CHECK-NEXT:    %0 = aten.permute(%w, dims = [1, 2, 0])
// CHECK-NEXT:    %1 = aten.transpose_copy.int(%w, dim0 = 0, dim1 = 1)
// CHECK-NEXT:    func.return %w, %w, %0, %1

func.func @aten.swapaxes(%w: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<3x4x2xf32>, tensor<3x2x4xf32>) {
  %0 = aten.swapaxes(%w, axis0 = 1, axis1 = -2) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %1 = aten.swapaxes(%w, axis0 = 0, axis1 = 1) : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %2 = aten.swapaxes(%1, axis0 = 0, axis1 = 1) : (tensor<3x2x4xf32>) -> tensor<2x3x4xf32>
  %3 = aten.swapaxes(%w, axis0 = 0, axis1 = 1) : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %4 = aten.swapaxes(%3, axis0 = 1, axis1 = 2) : (tensor<3x2x4xf32>) -> tensor<3x4x2xf32>
  %5 = aten.swapaxes(%w, axis0 = 0, axis1 = 1) : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  func.return %0, %2, %4, %5 : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<3x4x2xf32>, tensor<3x2x4xf32>
}
// CHECK-LABEL: func.func @aten.swapaxes(
// CHECK-NEXT:    %0 = aten.permute(%w, dims = [1, 2, 0])
// CHECK-NEXT:    %1 = aten.swapaxes(%w, axis0 = 0, axis1 = 1)
// CHECK-NEXT:    func.return %w, %w, %0, %1

func.func @aten.swapdims(%w: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<3x4x2xf32>, tensor<3x2x4xf32>) {
  %0 = aten.swapdims(%w, dim0 = 1, dim1 = -2) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %1 = aten.swapdims(%w, dim0 = 0, dim1 = 1) : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %2 = aten.swapdims(%1, dim0 = 0, dim1 = 1) : (tensor<3x2x4xf32>) -> tensor<2x3x4xf32>
  %3 = aten.swapdims(%w, dim0 = 0, dim1 = 1) : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %4 = aten.swapdims(%3, dim0 = 1, dim1 = 2) : (tensor<3x2x4xf32>) -> tensor<3x4x2xf32>
  %5 = aten.swapdims(%w, dim0 = 0, dim1 = 1) : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  func.return %0, %2, %4, %5 : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<3x4x2xf32>, tensor<3x2x4xf32>
}
// CHECK-LABEL: func.func @aten.swapdims(
// CHECK-NEXT:    %0 = aten.permute(%w, dims = [1, 2, 0])
// CHECK-NEXT:    %1 = aten.swapdims(%w, dim0 = 0, dim1 = 1)
// CHECK-NEXT:    func.return %w, %w, %0, %1

func.func @aten.t(%s: tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> (tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<3x?xf32, #exir.shape<[3, s0]>>) {
  %0 = aten.t(%s) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<3x?xf32, #exir.shape<[3, s0]>>
  %1 = aten.t(%0) : (tensor<3x?xf32, #exir.shape<[3, s0]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  %2 = aten.t(%s) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<3x?xf32, #exir.shape<[3, s0]>>
  func.return %1, %2 : tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<3x?xf32, #exir.shape<[3, s0]>>
}
// CHECK-LABEL: func.func @aten.t(
// CHECK-NEXT:    %0 = aten.t(%s)
// CHECK-NEXT:    func.return %s, %0

func.func @aten.t_copy(%s: tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> (tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<3x?xf32, #exir.shape<[3, s0]>>) {
  %0 = aten.t_copy(%s) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<3x?xf32, #exir.shape<[3, s0]>>
  %1 = aten.t_copy(%0) : (tensor<3x?xf32, #exir.shape<[3, s0]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  %2 = aten.t_copy(%s) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<3x?xf32, #exir.shape<[3, s0]>>
  func.return %1, %2 : tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<3x?xf32, #exir.shape<[3, s0]>>
}
// CHECK-LABEL: func.func @aten.t_copy(
// CHECK-NEXT:    %0 = aten.t_copy(%s)
// CHECK-NEXT:    func.return %s, %0

func.func @aten.numpy_T(%s: tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> (tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<3x?xf32, #exir.shape<[3, s0]>>) {
  %0 = aten.numpy_T(%s) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<3x?xf32, #exir.shape<[3, s0]>>
  %1 = aten.numpy_T(%0) : (tensor<3x?xf32, #exir.shape<[3, s0]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  %2 = aten.numpy_T(%s) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<3x?xf32, #exir.shape<[3, s0]>>
  func.return %1, %2 : tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<3x?xf32, #exir.shape<[3, s0]>>
}
// CHECK-LABEL: func.func @aten.numpy_T(
// CHECK-NEXT:    %0 = aten.numpy_T(%s)
// CHECK-NEXT:    func.return %s, %0

func.func @aten.mT(%s: tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> (tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<3x?xf32, #exir.shape<[3, s0]>>) {
  %0 = aten.mT(%s) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<3x?xf32, #exir.shape<[3, s0]>>
  %1 = aten.mT(%0) : (tensor<3x?xf32, #exir.shape<[3, s0]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  %2 = aten.mT(%s) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<3x?xf32, #exir.shape<[3, s0]>>
  func.return %1, %2 : tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<3x?xf32, #exir.shape<[3, s0]>>
}
// CHECK-LABEL: func.func @aten.mT(
// CHECK-NEXT:    %0 = aten.mT(%s)
// CHECK-NEXT:    func.return %s, %0

// Each dimension an even number of times is none.
func.func @aten.flip(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = aten.flip(%x, dims = []) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.flip(%x, dims = [0, 1]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = aten.flip(%1, dims = [-1, 0]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = aten.flip(%x, dims = [0]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = aten.flip(%3, dims = [0, 1]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = aten.flip(%x, dims = [1]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0, %2, %4, %5 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @aten.flip(
// CHECK-NEXT:    %0 = aten.flip(%x, dims = [1])
// CHECK-NEXT:    %1 = aten.flip(%x, dims = [1])
// CHECK-NEXT:    func.return %x, %x, %0, %1
