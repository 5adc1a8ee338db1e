// RUN: xdsl-opt %s -p 'edge-to-linalg{named=true}' | filecheck %s
// RUN: xdsl-opt %s -p edge-to-linalg | filecheck %s --check-prefix=LOOPS

// LOOPS-NOT: linalg.conv
// LOOPS-NOT: tensor.pad

func.func @convolution(%x : tensor<1x4x8x8xf32>, %w : tensor<6x4x3x3xf32>) -> tensor<1x6x4x4xf32> {
  %0 = edge.aten.convolution(%x, %w, bias = none, stride = [2, 2], padding = [1, 1], dilation = [1, 1], transposed = false, output_padding = [0, 0], groups = 1) : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x4x4xf32>
  func.return %0 : tensor<1x6x4x4xf32>
}
// CHECK-LABEL: func.func @convolution(
// CHECK:         %[[PADDED:.*]] = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1]
// CHECK:         linalg.fill {{.*}} outs({{.*}} : tensor<1x6x4x4xf32>)
// CHECK:         "linalg.conv_2d_nchw_fchw"(%[[PADDED]], %w, {{.*}}) <{strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>
// CHECK-NOT:     f64

func.func @depthwise(%x : tensor<1x4x8x8xf32>, %w : tensor<4x1x3x3xf32>) -> tensor<1x4x6x6xf32> {
  %0 = edge.aten.convolution(%x, %w, bias = none, stride = [1, 1], padding = [0, 0], dilation = [1, 1], transposed = false, output_padding = [0, 0], groups = 4) : (tensor<1x4x8x8xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return %0 : tensor<1x4x6x6xf32>
}
// CHECK-LABEL: func.func @depthwise(
// CHECK:         "linalg.depthwise_conv_2d_nchw_chw"(%x, {{.*}}) <{strides = dense<1>
// CHECK:         tensor<1x4x8x8xf32>, tensor<4x3x3xf32>
