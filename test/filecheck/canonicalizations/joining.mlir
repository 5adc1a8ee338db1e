// RUN: xdsl-opt %s -p canonicalize | filecheck %s

// One function an operator: what its rule makes simpler, then what it leaves.

func.func @aten.repeat(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x6xf32>) {
  %0 = aten.repeat(%x, repeats = [1, 1]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.repeat(%x, repeats = [1, 2]) : (tensor<2x3xf32>) -> tensor<2x6xf32>
  func.return %0, %1 : tensor<2x3xf32>, tensor<2x6xf32>
}
// CHECK-LABEL: func.func @aten.repeat(
// CHECK-NEXT:    %0 = aten.repeat(%x, repeats = [1, 2])
// CHECK-NEXT:    func.return %x, %0

// One piece is itself, pieces without elements go, and a piece that nobody else needs is what it was put together of, along this dimension and of one dtype.
func.func @aten.cat(%s: tensor<?x3xf32, #exir.shape<[s0, 3]>>, %x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %e: tensor<2x0xf32>, %h: tensor<2x3xf16>) -> (tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<2x3xf32>, tensor<2x9xf32>, tensor<4x3xf32>, tensor<4x6xf32>, tensor<2x9xf32>) {
  %0 = aten.cat([%s], dim = 1) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  %1 = aten.cat([%x, %e], dim = 1) : (tensor<2x3xf32>, tensor<2x0xf32>) -> tensor<2x3xf32>
  %2 = aten.cat([%y, %x], dim = 1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %3 = aten.cat([%x, %2], dim = -1) : (tensor<2x3xf32>, tensor<2x6xf32>) -> tensor<2x9xf32>
  %4 = aten.cat([%x, %y]) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %5 = aten.cat([%x, %y], dim = 1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %6 = aten.cat([%y, %x], dim = 1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %7 = aten.cat([%5, %6]) : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<4x6xf32>
  %8 = aten.cat([%h, %y], dim = 1) : (tensor<2x3xf16>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %9 = aten.cat([%x, %8], dim = 1) : (tensor<2x3xf32>, tensor<2x6xf32>) -> tensor<2x9xf32>
  func.return %0, %1, %3, %4, %7, %9 : tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<2x3xf32>, tensor<2x9xf32>, tensor<4x3xf32>, tensor<4x6xf32>, tensor<2x9xf32>
}
// CHECK-LABEL: func.func @aten.cat(
// CHECK-NEXT:    %0 = aten.cat([%x, %y, %x], dim = -1)
// CHECK-NEXT:    %1 = aten.cat([%x, %y])
// CHECK-NEXT:    %2 = aten.cat([%x, %y], dim = 1)
// CHECK-NEXT:    %3 = aten.cat([%y, %x], dim = 1)
// CHECK-NEXT:    %4 = aten.cat([%2, %3])
// CHECK-NEXT:    %5 = aten.cat([%h, %y], dim = 1)
// CHECK-NEXT:    %6 = aten.cat([%x, %5], dim = 1)
// CHECK-NEXT:    func.return %s, %x, %0, %1, %4, %6

func.func @aten.stack(%s: tensor<?x3xf32, #exir.shape<[s0, 3]>>, %x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<?x1x3xf32, #exir.shape<[s0, 1, 3]>>, tensor<2x2x3xf32>) {
  %0 = aten.stack([%s], dim = 1) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x1x3xf32, #exir.shape<[s0, 1, 3]>>
  %1 = aten.stack([%x, %y]) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2x3xf32>
  func.return %0, %1 : tensor<?x1x3xf32, #exir.shape<[s0, 1, 3]>>, tensor<2x2x3xf32>
}
// CHECK-LABEL: func.func @aten.stack(
// CHECK-NEXT:    %0 = aten.unsqueeze(%s, dim = 1)
// CHECK-NEXT:    %1 = aten.stack([%x, %y])
// CHECK-NEXT:    func.return %0, %1

// By the same number, where nothing is cut off.
func.func @aten.constant_pad_nd(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<7x7xf32>, tensor<2x7xf32>, tensor<2x5xf32>) {
  %0 = aten.constant_pad_nd(%x, pad = [0, 0], value = 1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.constant_pad_nd(%x, pad = [1, 2], value = 1) : (tensor<2x3xf32>) -> tensor<2x6xf32>
  %2 = aten.constant_pad_nd(%1, pad = [0, 1, 2, 3], value = 1) : (tensor<2x6xf32>) -> tensor<7x7xf32>
  %3 = aten.constant_pad_nd(%x, pad = [1, 2], value = 1) : (tensor<2x3xf32>) -> tensor<2x6xf32>
  %4 = aten.constant_pad_nd(%3, pad = [0, 1]) : (tensor<2x6xf32>) -> tensor<2x7xf32>
  %5 = aten.constant_pad_nd(%x, pad = [-1, 2], value = 1) : (tensor<2x3xf32>) -> tensor<2x4xf32>
  %6 = aten.constant_pad_nd(%5, pad = [1, 0], value = 1) : (tensor<2x4xf32>) -> tensor<2x5xf32>
  func.return %0, %2, %4, %6 : tensor<2x3xf32>, tensor<7x7xf32>, tensor<2x7xf32>, tensor<2x5xf32>
}
// CHECK-LABEL: func.func @aten.constant_pad_nd(
// CHECK-NEXT:    %0 = aten.constant_pad_nd(%x, pad = [1, 3, 2, 3], value = 1)
// CHECK-NEXT:    %1 = aten.constant_pad_nd(%x, pad = [1, 2], value = 1)
// CHECK-NEXT:    %2 = aten.constant_pad_nd(%1, pad = [0, 1])
// CHECK-NEXT:    %3 = aten.constant_pad_nd(%x, pad = [-1, 2], value = 1)
// CHECK-NEXT:    %4 = aten.constant_pad_nd(%3, pad = [1, 0], value = 1)
// CHECK-NEXT:    func.return %x, %0, %2, %4
