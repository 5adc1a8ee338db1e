// RUN: xdsl-opt %s -p kernel-forms | filecheck %s

// Once for an operator that takes it twice.
// CHECK-LABEL: @half
// CHECK: %[[A:[0-9]+]] = edge.aten._to_copy(%a, dtype = f32)
// CHECK: edge.aten.mm(%[[A]], %[[A]])
// CHECK: edge.aten._to_copy({{.*}}, dtype = f16)
func.func @half(%a: tensor<4x4xf16>) -> tensor<4x4xf16> {
  %0 = edge.aten.mm(%a, %a) : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  func.return %0 : tensor<4x4xf16>
}

// Two phases, each of as many taps as it has.
// CHECK-LABEL: @transposed
// CHECK: edge.aten.convolution({{.*}}transposed = false{{.*}} : (tensor<1x2x5xf32>, tensor<3x2x2xf32>) -> tensor<1x3x6xf32>
// CHECK: edge.aten.convolution({{.*}}transposed = false{{.*}} : (tensor<1x2x5xf32>, tensor<3x2x1xf32>) -> tensor<1x3x7xf32>
// CHECK: edge.aten.cat
func.func @transposed(%x: tensor<1x2x5xf32>, %w: tensor<2x3x3xf32>) -> tensor<1x3x11xf32> {
  %0 = edge.aten.convolution(%x, %w, bias = none, stride = [2], padding = [0], dilation = [1], transposed = true, output_padding = [0], groups = 1) : (tensor<1x2x5xf32>, tensor<2x3x3xf32>) -> tensor<1x3x11xf32>
  func.return %0 : tensor<1x3x11xf32>
}

// Rows along another dimension; running sums of halves are as they were.
// CHECK-LABEL: @across
// CHECK: [[TURNED:%[0-9]+]] = edge.aten.permute(%x, dims = [1, 0])
// CHECK: [[ROWS:%[0-9]+]] = edge.aten._softmax([[TURNED]], dim = 1
// CHECK: edge.aten.permute([[ROWS]], dims = [1, 0])
// CHECK: edge.aten.cumsum(%h, dim = 1) : (tensor<4x20xf16>) -> tensor<4x20xf16>
// CHECK: edge.aten.amax({{.*}}dim = [0]{{.*}} : (tensor<20x6xf32>) -> tensor<6xf32>
func.func @across(%x: tensor<40x4xf32>, %h: tensor<4x20xf16>, %z: tensor<4x5x6xf32>) -> (tensor<40x4xf32>, tensor<4x20xf16>, tensor<6xf32>) {
  %0 = edge.aten._softmax(%x, dim = 0, half_to_float = false) : (tensor<40x4xf32>) -> tensor<40x4xf32>
  %1 = edge.aten.cumsum(%h, dim = 1) : (tensor<4x20xf16>) -> tensor<4x20xf16>
  %2 = edge.aten.amax(%z, dim = [0, 1]) : (tensor<4x5x6xf32>) -> tensor<6xf32>
  func.return %0, %1, %2 : tensor<40x4xf32>, tensor<4x20xf16>, tensor<6xf32>
}

// Transforms along several dimensions one after the other: of real values the last one first, of what becomes real it comes last.
// One along a single dimension is as it was.
// CHECK-LABEL: @transforms
// CHECK: [[HALF:%[0-9]+]] = edge.aten._fft_r2c(%x, dim = [1], normalization = 1, onesided = true)
// CHECK: [[WHOLE:%[0-9]+]] = edge.aten._fft_c2c([[HALF]], dim = [0], normalization = 1, forward = true)
// CHECK: [[BACK:%[0-9]+]] = edge.aten._fft_c2c([[WHOLE]], dim = [0], normalization = 2, forward = false)
// CHECK: edge.aten._fft_c2r([[BACK]], dim = [1], normalization = 2, last_dim_size = 6)
// CHECK: edge.aten._fft_r2c(%x, dim = [0], normalization = 0, onesided = false)
func.func @transforms(%x: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xcomplex<f32>>) {
  %0 = edge.aten._fft_r2c(%x, dim = [0, 1], normalization = 1, onesided = true) : (tensor<4x6xf32>) -> tensor<4x4xcomplex<f32>>
  %1 = edge.aten._fft_c2r(%0, dim = [0, 1], normalization = 2, last_dim_size = 6) : (tensor<4x4xcomplex<f32>>) -> tensor<4x6xf32>
  %2 = edge.aten._fft_r2c(%x, dim = [0], normalization = 0, onesided = false) : (tensor<4x6xf32>) -> tensor<4x6xcomplex<f32>>
  func.return %1, %2 : tensor<4x6xf32>, tensor<4x6xcomplex<f32>>
}

// Where the largest is: the least of the places that hold it, or a NaN. What is repeated is expanded and copied. Short rows, and those along another dimension, stay.
// CHECK-LABEL: @places
// CHECK: [[LARGEST:%[0-9]+]] = edge.aten.amax(%x, dim = [-1], keepdim = true)
// CHECK: [[SAME:%[0-9]+]] = edge.aten.eq.Tensor(%x, [[LARGEST]])
// CHECK: [[NAN:%[0-9]+]] = edge.aten.ne.Tensor(%x, %x)
// CHECK: [[HERE:%[0-9]+]] = edge.aten.logical_or([[SAME]], [[NAN]])
// CHECK: [[ALL:%[0-9]+]] = edge.aten.where.self([[HERE]],
// CHECK: edge.aten.amin([[ALL]], dim = [-1], keepdim = true)
// CHECK: edge.aten._to_copy({{.*}} -> tensor<4x1xi64>
// CHECK: edge.aten.argmin(%x, dim = 0
// CHECK: [[WIDE:%[0-9]+]] = edge.aten.expand({{.*}}size = [2, 4, 3, 40]
// CHECK: [[COPIED:%[0-9]+]] = edge.aten.clone([[WIDE]])
// CHECK: edge.aten.view([[COPIED]], size = [8, 120])
func.func @places(%x: tensor<4x40xf32>) -> (tensor<4xi64>, tensor<40xi64>, tensor<8x120xf32>) {
  %0 = edge.aten.argmax(%x, dim = 1) : (tensor<4x40xf32>) -> tensor<4xi64>
  %1 = edge.aten.argmin(%x, dim = 0) : (tensor<4x40xf32>) -> tensor<40xi64>
  %2 = edge.aten.repeat(%x, repeats = [2, 3]) : (tensor<4x40xf32>) -> tensor<8x120xf32>
  func.return %0, %1, %2 : tensor<4xi64>, tensor<40xi64>, tensor<8x120xf32>
}

// What makes float32 of halves stands before what takes it, and not where the first product is.
// CHECK-LABEL: @sunk
// CHECK: edge.aten._to_copy(%k
// CHECK-NEXT: edge.aten.mm(
// CHECK-NEXT: edge.aten._to_copy(%v
// CHECK-NEXT: edge.aten.mm(
func.func @sunk(%x: tensor<4x4xf32>, %k: tensor<4x4xf16>, %v: tensor<4x4xf16>) -> tensor<4x4xf32> {
  %0 = edge.aten._to_copy(%v, dtype = f32) : (tensor<4x4xf16>) -> tensor<4x4xf32>
  %1 = edge.aten._to_copy(%k, dtype = f32) : (tensor<4x4xf16>) -> tensor<4x4xf32>
  %2 = edge.aten.mm(%x, %1) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = edge.aten.mm(%2, %0) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %3 : tensor<4x4xf32>
}

// What is reduced to one number of float64 is made in rows, as of float32.
// CHECK-LABEL: func.func @doubles
func.func @doubles(%x: tensor<262144xf64>) -> (tensor<f64>, tensor<f64>) {
  // CHECK:       edge.aten.sum.dim_IntList({{.*}}, dim = [1]{{.*}} : (tensor<256x1024xf64>) -> tensor<256xf64>
  // CHECK-NEXT:  edge.aten.sum.dim_IntList({{.*}}, dim = [0]{{.*}} : (tensor<256xf64>) -> tensor<f64>
  // CHECK:       edge.aten.prod.dim_int({{.*}}, dim = 1{{.*}} : (tensor<256x1024xf64>) -> tensor<256xf64>
  // CHECK-NEXT:  edge.aten.prod.dim_int({{.*}}, dim = 0{{.*}} : (tensor<256xf64>) -> tensor<f64>
  %0 = edge.aten.sum.dim_IntList(%x, dim = []) : (tensor<262144xf64>) -> tensor<f64>
  %1 = edge.aten.prod(%x) : (tensor<262144xf64>) -> tensor<f64>
  func.return %0, %1 : tensor<f64>, tensor<f64>
}

// A norm of halves over two dimensions has the rows that its casts have.
func.func @norm_of_two(%x : tensor<2x3x8xf16>) -> tensor<2x3x8xf16> {
  %0, %1, %2 = edge.aten.native_layer_norm(%x, normalized_shape = [3, 8], weight = none, bias = none, eps = 1.0e-05) : (tensor<2x3x8xf16>) -> (tensor<2x3x8xf16>, tensor<2x1x1xf16>, tensor<2x1x1xf16>)
  func.return %0 : tensor<2x3x8xf16>
}
// CHECK:       func.func @norm_of_two
// CHECK-NEXT:    edge.aten.view(%x, size = [2, 24])
// CHECK-NEXT:    edge.aten._to_copy({{.*}}, dtype = f32)
// CHECK-NEXT:    edge.aten.native_layer_norm({{.*}}, normalized_shape = [24]
// CHECK-NEXT:    edge.aten._to_copy({{.*}}, dtype = f16) : (tensor<2x24xf32>)
// CHECK-NEXT:    edge.aten.view({{.*}}, size = [2, 3, 8])

// One over a width that is not known says its statistics.
func.func @norm_of_any_width(%x : tensor<?x?xf32, #exir.shape<[s0, s1]>>, %n : !exir.symint<s1>, %w : tensor<?xf32, #exir.shape<[s1]>>) -> tensor<?x?xf32, #exir.shape<[s0, s1]>> {
  %0, %1, %2 = edge.aten.native_layer_norm(%x, normalized_shape = [%n], weight = %w, bias = none, eps = 1.0e-05) : (tensor<?x?xf32, #exir.shape<[s0, s1]>>, !exir.symint<s1>, tensor<?xf32, #exir.shape<[s1]>>) -> (tensor<?x?xf32, #exir.shape<[s0, s1]>>, tensor<?x1xf32, #exir.shape<[s0, 1]>>, tensor<?x1xf32, #exir.shape<[s0, 1]>>)
  func.return %0 : tensor<?x?xf32, #exir.shape<[s0, s1]>>
}
// CHECK:       func.func @norm_of_any_width
// CHECK:         %[[VARIANCE:[0-9]+]], %[[MEAN:[0-9]+]] = edge.aten.var_mean.correction({{.*}}, dim = [-1], correction = 0, keepdim = true)
// CHECK:         edge.aten.rsqrt
// CHECK-NEXT:    edge.aten.sub.Tensor({{.*}}, %[[MEAN]])
// CHECK-NOT:     native_layer_norm
// CHECK:         func.return

// Integers of 8 bits go to the product, and the scales of its columns behind it.
func.func @integer_weights(%w : tensor<5x4xi8> {exir.input = #exir.input<buffer, "w">}, %s : tensor<5xf32> {exir.input = #exir.input<buffer, "s">}, %x : tensor<3x4xf32> {exir.input = #exir.input<user_input, "x">}) -> (tensor<3x5xf32>) {
  %0 = edge.quantized_decomposed.dequantize_per_channel(%w, %s, zero_points = none, axis = 0, quant_min = -127, quant_max = 127, dtype = i8) : (tensor<5x4xi8>, tensor<5xf32>) -> tensor<5x4xf32>
  %1 = edge.aten.permute(%0, dims = [1, 0]) : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %2 = edge.aten.mm(%x, %1) : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  func.return %2 : tensor<3x5xf32>
}
// CHECK:       func.func @integer_weights
// CHECK-NEXT:    %[[W:[0-9]+]] = edge.aten.permute(%w, dims = [1, 0]) : (tensor<5x4xi8>) -> tensor<4x5xi8>
// CHECK-NOT:     dequantize
// CHECK:         %[[WIDE:[0-9]+]] = edge.aten._to_copy(%[[W]], dtype = f32)
// CHECK-NEXT:    %[[MADE:[0-9]+]] = edge.aten.mm(%x, %[[WIDE]])
// CHECK:         edge.aten.mul.Tensor(%[[MADE]], %{{[0-9]+}}) : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<3x5xf32>

// Scales along the reduction stay where they are.
func.func @scales_of_rows(%w : tensor<5x4xi8> {exir.input = #exir.input<buffer, "w">}, %s : tensor<4xf32> {exir.input = #exir.input<buffer, "s">}, %x : tensor<3x4xf32> {exir.input = #exir.input<user_input, "x">}) -> (tensor<3x5xf32>) {
  %0 = edge.quantized_decomposed.dequantize_per_channel(%w, %s, zero_points = none, axis = 1, quant_min = -127, quant_max = 127, dtype = i8) : (tensor<5x4xi8>, tensor<4xf32>) -> tensor<5x4xf32>
  %1 = edge.aten.permute(%0, dims = [1, 0]) : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %2 = edge.aten.mm(%x, %1) : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  func.return %2 : tensor<3x5xf32>
}
// CHECK:       func.func @scales_of_rows
// CHECK-NEXT:    dequantize_per_channel

// What is quantized and dequantized at once is rounded and clamped.
func.func @on_a_grid(%x : tensor<8xf32>) -> tensor<8xf32> {
  %0 = edge.quantized_decomposed.quantize_per_tensor(%x, scale = 0.5, zero_point = 3, quant_min = -128, quant_max = 127, dtype = i8) : (tensor<8xf32>) -> tensor<8xi8>
  %1 = edge.quantized_decomposed.dequantize_per_tensor(%0, scale = 0.5, zero_point = 3, quant_min = -128, quant_max = 127, dtype = i8) : (tensor<8xi8>) -> tensor<8xf32>
  func.return %1 : tensor<8xf32>
}
// CHECK:       func.func @on_a_grid
// CHECK:         edge.aten.mul.Tensor(%x,
// CHECK-NEXT:    edge.aten.round
// CHECK:         edge.aten.add.Tensor
// CHECK-NEXT:    edge.aten.clamp({{.*}}, min = -128.0, max = 127.0)
// CHECK:         edge.aten.sub.Tensor
// CHECK:         edge.aten.mul.Tensor
// CHECK-NEXT:    func.return

// Scales of groups of the reduction are those of groups of rows.
func.func @scales_of_groups(%w : tensor<5x4xi8> {exir.input = #exir.input<buffer, "w">}, %s : tensor<5x2x1xf32> {exir.input = #exir.input<buffer, "s">}, %x : tensor<3x4xf32> {exir.input = #exir.input<user_input, "x">}) -> (tensor<3x5xf32>) {
  %0 = edge.aten.view(%w, size = [5, 2, 2]) : (tensor<5x4xi8>) -> tensor<5x2x2xi8>
  %1 = edge.aten._to_copy(%0, dtype = f32) : (tensor<5x2x2xi8>) -> tensor<5x2x2xf32>
  %2 = edge.aten.mul.Tensor(%1, %s) : (tensor<5x2x2xf32>, tensor<5x2x1xf32>) -> tensor<5x2x2xf32>
  %3 = edge.aten.view(%2, size = [5, 4]) : (tensor<5x2x2xf32>) -> tensor<5x4xf32>
  %4 = edge.aten.permute(%3, dims = [1, 0]) : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %5 = edge.aten.mm(%x, %4) : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  func.return %5 : tensor<3x5xf32>
}
// CHECK:       func.func @scales_of_groups
// CHECK:         %[[W:[0-9]+]] = edge.aten.permute({{.*}}) : (tensor<5x4xi8>) -> tensor<4x5xi8>
// CHECK:         edge.aten._to_copy(%[[W]], dtype = f32) : (tensor<4x5xi8>) -> tensor<4x5xf32>
// CHECK:         edge.aten.mul.Tensor({{.*}}) : (tensor<2x2x5xf32>, tensor<2x1x5xf32>) -> tensor<2x2x5xf32>
// CHECK:         edge.aten.mm

// A norm of known statistics is a scale and a shift of each channel; halves are so in float32.
func.func @known_statistics(%x : tensor<2x3x5xf16>, %w : tensor<3xf16>, %m : tensor<3xf16>, %v : tensor<3xf16>) -> tensor<2x3x5xf16> {
  %0, %1, %2 = edge.aten._native_batch_norm_legit_no_training(%x, %w, bias = none, running_mean = %m, running_var = %v, momentum = 0.1, eps = 0.5) : (tensor<2x3x5xf16>, tensor<3xf16>, tensor<3xf16>, tensor<3xf16>) -> (tensor<2x3x5xf16>, tensor<0xf16>, tensor<0xf16>)
  func.return %0 : tensor<2x3x5xf16>
}
// CHECK:       func.func @known_statistics
// CHECK:         edge.aten.sqrt
// CHECK:         edge.aten.neg
// CHECK:         edge.aten.mul.Tensor({{.*}}) : (tensor<2x3x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xf32>
// CHECK:         edge.aten.add.Tensor({{.*}}) : (tensor<2x3x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT:    edge.aten._to_copy({{.*}}, dtype = f16)
// CHECK-NEXT:    func.return

// Windows that divide sizes, and have more taps than there is code for, are reductions along one dimension after the other; others stay.
func.func @adaptive(%x : tensor<2x40x4xf32>, %y : tensor<2x6x6xf32>) -> (tensor<2x1x2xf32>, tensor<2x3x3xf32>) {
  %0 = edge.aten._adaptive_avg_pool2d(%x, output_size = [1, 2]) : (tensor<2x40x4xf32>) -> tensor<2x1x2xf32>
  %1 = edge.aten._adaptive_avg_pool2d(%y, output_size = [3, 3]) : (tensor<2x6x6xf32>) -> tensor<2x3x3xf32>
  func.return %0, %1 : tensor<2x1x2xf32>, tensor<2x3x3xf32>
}
// CHECK:       func.func @adaptive
// CHECK:         edge.aten.view(%x, size = [2, 1, 40, 2, 2])
// CHECK-NEXT:    edge.aten.mean.dim({{.*}}, dim = [2]) : (tensor<2x1x40x2x2xf32>) -> tensor<2x1x2x2xf32>
// CHECK-NEXT:    edge.aten.mean.dim({{.*}}, dim = [3]) : (tensor<2x1x2x2xf32>) -> tensor<2x1x2xf32>
// CHECK-NEXT:    edge.aten._adaptive_avg_pool2d(%y
// CHECK-NEXT:    func.return

// What a kernel of two elements sees that lie as far apart as a size says, put side by side.
// CHECK-LABEL: @moved_by_sizes
// CHECK: [[SEEN:%[0-9]+]] = edge.aten.index_select({{.*}}, dim = 2, index = {{.*}}
// CHECK: edge.aten.convolution([[SEEN]], %w, bias = none, stride = [2], padding = [0], dilation = [1]
func.func @moved_by_sizes(%x: tensor<1x2x?xf32, #exir.shape<[1, 2, s0]>>, %w: tensor<3x2x2xf32>) -> tensor<1x3x?xf32, #exir.shape<[1, 3, s0 - s0 floordiv 4]>> attributes {exir.ranges = {s0 = #exir.range<12, 64>}} {
  %n = edge.aten.sym_size.int(%x, dim = 2) : (tensor<1x2x?xf32, #exir.shape<[1, 2, s0]>>) -> !exir.symint<s0>
  %4 = exir.number 4 : !exir.symint<4>
  %far = exir.sym_floordiv %n, %4 : (!exir.symint<s0>, !exir.symint<4>) -> !exir.symint<s0 floordiv 4>
  %0 = edge.aten.convolution(%x, %w, bias = none, stride = [1], padding = [0], dilation = [%far], transposed = false, output_padding = [0], groups = 1) : (tensor<1x2x?xf32, #exir.shape<[1, 2, s0]>>, tensor<3x2x2xf32>, !exir.symint<s0 floordiv 4>) -> tensor<1x3x?xf32, #exir.shape<[1, 3, s0 - s0 floordiv 4]>>
  func.return %0 : tensor<1x3x?xf32, #exir.shape<[1, 3, s0 - s0 floordiv 4]>>
}
