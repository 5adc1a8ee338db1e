// RUN: xdsl-opt %s -p canonicalize | filecheck %s

// One function an operator: what its rule makes simpler, then what it leaves.

// Of the same scale, where every number of the dtype is within bounds. What is dequantized after it was quantized has been rounded, as the program says.
func.func @quantized_decomposed.quantize_per_tensor(%c: tensor<2x3xi8>, %x: tensor<2x3xf32>, %j: tensor<2x3xi32>) -> (tensor<2x3xi8>, tensor<2x3xf32>, tensor<2x3xi8>, tensor<2x3xi8>, tensor<2x3xi8>, tensor<2x3xi32>, tensor<2x3xi8>) {
  %0 = quantized_decomposed.dequantize_per_tensor(%c, scale = 0.1, zero_point = 3, quant_min = -128, quant_max = 127, dtype = i8) : (tensor<2x3xi8>) -> tensor<2x3xf32>
  %1 = quantized_decomposed.quantize_per_tensor(%0, scale = 0.1, zero_point = 3, quant_min = -128, quant_max = 127, dtype = i8) : (tensor<2x3xf32>) -> tensor<2x3xi8>
  %2 = quantized_decomposed.quantize_per_tensor(%x, scale = 0.1, zero_point = 3, quant_min = -128, quant_max = 127, dtype = i8) : (tensor<2x3xf32>) -> tensor<2x3xi8>
  %3 = quantized_decomposed.dequantize_per_tensor(%2, scale = 0.1, zero_point = 3, quant_min = -128, quant_max = 127, dtype = i8) : (tensor<2x3xi8>) -> tensor<2x3xf32>
  %4 = quantized_decomposed.quantize_per_tensor(%3, scale = 0.1, zero_point = 3, quant_min = -128, quant_max = 127, dtype = i8) : (tensor<2x3xf32>) -> tensor<2x3xi8>
  %5 = quantized_decomposed.dequantize_per_tensor(%4, scale = 0.1, zero_point = 3, quant_min = -128, quant_max = 127, dtype = i8) : (tensor<2x3xi8>) -> tensor<2x3xf32>
  %6 = quantized_decomposed.dequantize_per_tensor(%c, scale = 0.1, zero_point = 3, quant_min = -127, quant_max = 127, dtype = i8) : (tensor<2x3xi8>) -> tensor<2x3xf32>
  %7 = quantized_decomposed.quantize_per_tensor(%6, scale = 0.1, zero_point = 3, quant_min = -127, quant_max = 127, dtype = i8) : (tensor<2x3xf32>) -> tensor<2x3xi8>
  %8 = quantized_decomposed.dequantize_per_tensor(%c, scale = 0.1, zero_point = 3, quant_min = -128, quant_max = 127, dtype = i8) : (tensor<2x3xi8>) -> tensor<2x3xf32>
  %9 = quantized_decomposed.quantize_per_tensor(%8, scale = 0.2, zero_point = 3, quant_min = -128, quant_max = 127, dtype = i8) : (tensor<2x3xf32>) -> tensor<2x3xi8>
  %10 = quantized_decomposed.dequantize_per_tensor(%c, scale = 0.1, zero_point = 3, quant_min = -128, quant_max = 127, dtype = i8, out_dtype = f16) : (tensor<2x3xi8>) -> tensor<2x3xf16>
  %11 = quantized_decomposed.quantize_per_tensor(%10, scale = 0.1, zero_point = 3, quant_min = -128, quant_max = 127, dtype = i8) : (tensor<2x3xf16>) -> tensor<2x3xi8>
  %12 = quantized_decomposed.dequantize_per_tensor(%j, scale = 0.1, zero_point = 3, quant_min = -2147483648, quant_max = 2147483647, dtype = i32) : (tensor<2x3xi32>) -> tensor<2x3xf32>
  %13 = quantized_decomposed.quantize_per_tensor(%12, scale = 0.1, zero_point = 3, quant_min = -2147483648, quant_max = 2147483647, dtype = i32) : (tensor<2x3xf32>) -> tensor<2x3xi32>
  %14 = quantized_decomposed.dequantize_per_tensor(%c, scale = 1.0e-40, zero_point = 3, quant_min = -128, quant_max = 127, dtype = i8) : (tensor<2x3xi8>) -> tensor<2x3xf32>
  %15 = quantized_decomposed.quantize_per_tensor(%14, scale = 1.0e-40, zero_point = 3, quant_min = -128, quant_max = 127, dtype = i8) : (tensor<2x3xf32>) -> tensor<2x3xi8>
  func.return %1, %5, %7, %9, %11, %13, %15 : tensor<2x3xi8>, tensor<2x3xf32>, tensor<2x3xi8>, tensor<2x3xi8>, tensor<2x3xi8>, tensor<2x3xi32>, tensor<2x3xi8>
}
// CHECK-LABEL: func.func @quantized_decomposed.quantize_per_tensor(
// CHECK-NEXT:    %0 = quantized_decomposed.quantize_per_tensor(%x, scale = 0.1, zero_point = 3, quant_min = -128, quant_max = 127, dtype = i8)
// CHECK-NEXT:    %1 = quantized_decomposed.dequantize_per_tensor(%0, scale = 0.1, zero_point = 3, quant_min = -128, quant_max = 127, dtype = i8)
// CHECK-NEXT:    %2 = quantized_decomposed.dequantize_per_tensor(%c, scale = 0.1, zero_point = 3, quant_min = -127, quant_max = 127, dtype = i8)
// CHECK-NEXT:    %3 = quantized_decomposed.quantize_per_tensor(%2, scale = 0.1, zero_point = 3, quant_min = -127, quant_max = 127, dtype = i8)
// CHECK-NEXT:    %4 = quantized_decomposed.dequantize_per_tensor(%c, scale = 0.1, zero_point = 3, quant_min = -128, quant_max = 127, dtype = i8)
// CHECK-NEXT:    %5 = quantized_decomposed.quantize_per_tensor(%4, scale = 0.2, zero_point = 3, quant_min = -128, quant_max = 127, dtype = i8)
// CHECK-NEXT:    %6 = quantized_decomposed.dequantize_per_tensor(%c, scale = 0.1, zero_point = 3, quant_min = -128, quant_max = 127, dtype = i8, out_dtype = f16)
// CHECK-NEXT:    %7 = quantized_decomposed.quantize_per_tensor(%6, scale = 0.1, zero_point = 3, quant_min = -128, quant_max = 127, dtype = i8)
// CHECK-NEXT:    %8 = quantized_decomposed.dequantize_per_tensor(%j, scale = 0.1, zero_point = 3, quant_min = -2147483648, quant_max = 2147483647, dtype = i32)
// CHECK-NEXT:    %9 = quantized_decomposed.quantize_per_tensor(%8, scale = 0.1, zero_point = 3, quant_min = -2147483648, quant_max = 2147483647, dtype = i32)
// CHECK-NEXT:    %10 = quantized_decomposed.dequantize_per_tensor(%c, scale = 1.0e-40, zero_point = 3, quant_min = -128, quant_max = 127, dtype = i8)
// CHECK-NEXT:    %11 = quantized_decomposed.quantize_per_tensor(%10, scale = 1.0e-40, zero_point = 3, quant_min = -128, quant_max = 127, dtype = i8)
// CHECK-NEXT:    func.return %c, %1, %3, %5, %7, %9, %11

// A scale that is not known may be zero.
func.func @quantized_decomposed.quantize_per_tensor.tensor(%c: tensor<2x3xi8>, %p: tensor<f64>) -> (tensor<2x3xi8>, tensor<2x3xi8>) {
  %0 = exir.constant 0.1 : tensor<f64>
  %1 = exir.constant 3 : tensor<i64>
  %2 = quantized_decomposed.dequantize_per_tensor.tensor(%c, %0, %1, quant_min = -128, quant_max = 127, dtype = i8) : (tensor<2x3xi8>, tensor<f64>, tensor<i64>) -> tensor<2x3xf32>
  %3 = quantized_decomposed.quantize_per_tensor.tensor(%2, %0, %1, quant_min = -128, quant_max = 127, dtype = i8) : (tensor<2x3xf32>, tensor<f64>, tensor<i64>) -> tensor<2x3xi8>
  %4 = quantized_decomposed.dequantize_per_tensor.tensor(%c, %p, %1, quant_min = -128, quant_max = 127, dtype = i8) : (tensor<2x3xi8>, tensor<f64>, tensor<i64>) -> tensor<2x3xf32>
  %5 = quantized_decomposed.quantize_per_tensor.tensor(%4, %p, %1, quant_min = -128, quant_max = 127, dtype = i8) : (tensor<2x3xf32>, tensor<f64>, tensor<i64>) -> tensor<2x3xi8>
  func.return %3, %5 : tensor<2x3xi8>, tensor<2x3xi8>
}
// CHECK-LABEL: func.func @quantized_decomposed.quantize_per_tensor.tensor(
// CHECK-NEXT:    %0 = exir.constant 3 : tensor<i64>
// CHECK-NEXT:    %1 = quantized_decomposed.dequantize_per_tensor.tensor(%c, %p, %0, quant_min = -128, quant_max = 127, dtype = i8)
// CHECK-NEXT:    %2 = quantized_decomposed.quantize_per_tensor.tensor(%1, %p, %0, quant_min = -128, quant_max = 127, dtype = i8)
// CHECK-NEXT:    func.return %c, %2
