// RUN: xdsl-opt %s -p to-memory-formats | filecheck %s --check-prefix=ATEN
// RUN: xdsl-opt %s -p forget-layouts,verify-edge | filecheck %s --check-prefix=FORGET

// What edge says of how tensors lie in memory: in ATen's words for PyTorch, and gone for native code.
func.func @layouts(%x: tensor<2x3x4x5xf32>) -> (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf16>, tensor<2x3xf32>, tensor<2x3x4x5xf32>) {
  %0 = edge.dim_order_ops._clone_dim_order(%x, dim_order = [0, 1, 2, 3]) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %1 = edge.dim_order_ops._to_dim_order_copy(%x, dtype = f16, dim_order = [0, 2, 3, 1]) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf16>
  %2 = edge.dim_order_ops._empty_dim_order(size = [2, 3], dim_order = [0, 1]) : () -> tensor<2x3xf32>
  %3 = edge.dim_order_ops._clone_dim_order(%x) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %4 = edge.dim_order_ops._to_dim_order_copy(%3, dim_order = [0, 2, 3, 1]) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  func.return %0, %1, %2, %4 : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf16>, tensor<2x3xf32>, tensor<2x3x4x5xf32>
}

// ATEN-LABEL: func.func @layouts
// ATEN-NEXT:    %0 = edge.aten.clone(%x, memory_format = "contiguous_format")
// ATEN-NEXT:    %1 = edge.aten._to_copy(%x, dtype = f16, memory_format = "channels_last")
// ATEN-NEXT:    %2 = edge.aten.empty.memory_format(size = [2, 3], memory_format = "contiguous_format")
// ATEN-NEXT:    %3 = edge.aten.clone(%x)
// ATEN-NEXT:    %4 = edge.aten._to_copy(%3, memory_format = "channels_last")

// FORGET-LABEL: func.func @layouts
// FORGET-NEXT:    %0 = edge.aten._to_copy(%x, dtype = f16)
// FORGET-NEXT:    %1 = edge.aten.empty.memory_format(size = [2, 3])
// FORGET-NEXT:    func.return %x, %0, %1, %x
