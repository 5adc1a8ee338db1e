// RUN: xdsl-opt %s --split-input-file -p optimize | filecheck %s
// RUN: xdsl-opt %s --split-input-file -p 'optimize{level=0}' | filecheck %s --check-prefix=NONE
// RUN: xdsl-opt %s --split-input-file -p 'optimize{level=2}' | filecheck %s --check-prefix=LEVEL2
// RUN: xdsl-opt %s --split-input-file -p sink-casts | filecheck %s --check-prefix=SINK
// RUN: xdsl-opt %s --split-input-file -p merge-common | filecheck %s --check-prefix=COMMON
// RUN: xdsl-opt %s --split-input-file -p dce | filecheck %s --check-prefix=DCE
// RUN: xdsl-opt %s --split-input-file -p hoist-invariants | filecheck %s --check-prefix=HOIST
// RUN: xdsl-opt %s --split-input-file -p fold-batch-norm | filecheck %s --check-prefix=NORM
// RUN: xdsl-opt %s --split-input-file -p batch-matmuls | filecheck %s --check-prefix=BATCH
// RUN: xdsl-opt %s --split-input-file -p merge-views | filecheck %s --check-prefix=VIEWS
// RUN: xdsl-opt %s --split-input-file -p unroll-loops | filecheck %s --check-prefix=UNROLL
// RUN: xdsl-opt %s --split-input-file -p 'unroll-loops{turns=2}' | filecheck %s --check-prefix=FEW

// One thing said twice, by two nodes of the exported graph; what is random is two things.
func.func @common(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0 = aten.sin(%x) {exir.origin = #exir.origin<"sin", "aten.sin", "">} : (tensor<3xf32>) -> tensor<3xf32>
  %1 = aten.sin(%x) {exir.origin = #exir.origin<"sin_1", "aten.sin", "">} : (tensor<3xf32>) -> tensor<3xf32>
  %2 = aten.mul.Tensor(%0, %1) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %3 = aten.rand_like(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %4 = aten.rand_like(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %5 = aten.cos(%1) : (tensor<3xf32>) -> tensor<3xf32>
  %6 = aten.rand_like(%5) : (tensor<3xf32>) -> tensor<3xf32>
  %7 = aten.cos(%0) : (tensor<3xf32>) -> tensor<3xf32>
  func.return %2, %3, %4 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}
// CHECK-LABEL:  func.func @common
// CHECK-NEXT:     %0 = aten.sin(%x) {exir.origin = #exir.origin<"sin", "aten.sin", "">}
// CHECK-NEXT:     %1 = aten.mul.Tensor(%0, %0)
// CHECK-NEXT:     %2 = aten.rand_like(%x)
// CHECK-NEXT:     %3 = aten.rand_like(%x)
// CHECK-NEXT:     %4 = aten.cos(%0)
// CHECK-NEXT:     %5 = aten.rand_like(%4)
// CHECK-NEXT:     func.return
// NONE-LABEL:   func.func @common
// NONE-NEXT:      aten.sin(
// NONE-NEXT:      aten.sin(
// DCE-LABEL:    func.func @common
// DCE-NEXT:       aten.sin(
// DCE-NEXT:       aten.sin(
// DCE-NEXT:       aten.mul.Tensor(
// DCE-NEXT:       aten.rand_like(
// DCE-NEXT:       aten.rand_like(
// DCE-NEXT:       aten.cos(
// DCE-NEXT:       aten.rand_like(
// DCE-NEXT:       func.return
// COMMON-LABEL: func.func @common
// COMMON-NEXT:    aten.sin(
// COMMON-NEXT:    aten.mul.Tensor(

// -----
// Casts to more bits go below what moves elements, others stay.
func.func @casts(%x: tensor<2x3xbf16>, %y: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<3x2xbf16>) {
  %0 = aten._to_copy(%x, dtype = f32) : (tensor<2x3xbf16>) -> tensor<2x3xf32>
  %1 = aten.permute(%0, dims = [1, 0]) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = aten._to_copy(%y, dtype = bf16) : (tensor<2x3xf32>) -> tensor<2x3xbf16>
  %3 = aten.permute(%2, dims = [1, 0]) : (tensor<2x3xbf16>) -> tensor<3x2xbf16>
  func.return %1, %3 : tensor<3x2xf32>, tensor<3x2xbf16>
}
// SINK-LABEL: func.func @casts
// SINK-NEXT:    %0 = aten.permute(%x, dims = [1, 0]) : (tensor<2x3xbf16>) -> tensor<3x2xbf16>
// SINK-NEXT:    %1 = aten._to_copy(%0, dtype = f32) : (tensor<3x2xbf16>) -> tensor<3x2xf32>
// SINK-NEXT:    %2 = aten._to_copy(%y, dtype = bf16)
// SINK-NEXT:    %3 = aten.permute(%2, dims = [1, 0])

// -----
func.func @views(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %0 = aten.view(%x, size = [3, 2]) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = aten.neg(%0) : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %2 = aten.neg(%1) : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %3 = aten.view(%2, size = [2, 3]) : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %4 = aten.view(%3, size = [6]) : (tensor<2x3xf32>) -> tensor<6xf32>
  func.return %4 : tensor<6xf32>
}
// VIEWS-LABEL: func.func @views
// VIEWS:         aten.neg(
// VIEWS-NEXT:    %2 = aten.neg(
// VIEWS-NEXT:    %3 = aten.view(%2, size = [6])

// -----
// Three turns, as computing the condition says; and as many as there are rows.
func.func @loops(%x: tensor<2xf32>, %rows: tensor<2x2xf32>) -> (tensor<i64>, tensor<2xf32>, tensor<2xf32>, tensor<2x2xf32>) {
  %zero = exir.constant 0 : tensor<i64>
  %0, %1 = higher_order.while_loop carried(%zero, %x : tensor<i64>, tensor<2xf32>) -> tensor<i64>, tensor<2xf32> {
  ^bb0(%i: tensor<i64>, %a: tensor<2xf32>):
    %c = aten.lt.Scalar(%i, other = 3) : (tensor<i64>) -> tensor<i1>
    higher_order.yield %c : tensor<i1>
  } do {
  ^bb1(%i: tensor<i64>, %a: tensor<2xf32>):
    %one = exir.number 1 : i64
    %j = aten.add.Tensor(%i, %one) : (tensor<i64>, i64) -> tensor<i64>
    %b = aten.sin(%a) : (tensor<2xf32>) -> tensor<2xf32>
    higher_order.yield %j, %b : tensor<i64>, tensor<2xf32>
  }
  %2, %3 = higher_order.scan init(%1 : tensor<2xf32>) xs(%rows : tensor<2x2xf32>) -> tensor<2xf32>, tensor<2x2xf32> {
  ^bb2(%carry: tensor<2xf32>, %row: tensor<2xf32>):
    %d = aten.sub.Tensor(%carry, %row) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    higher_order.yield %d, %d : tensor<2xf32>, tensor<2xf32>
  }
  func.return %0, %1, %2, %3 : tensor<i64>, tensor<2xf32>, tensor<2xf32>, tensor<2x2xf32>
}
// CHECK-LABEL: func.func @loops
// CHECK-NEXT:    aten.sin(%x)
// CHECK:         exir.constant 3 : tensor<i64>
// CHECK:         aten.select.int(%rows, dim = 0, index = 0)
// CHECK-NEXT:    aten.sub.Tensor(
// CHECK-NEXT:    aten.select.int(%rows, dim = 0, index = 1)
// CHECK-NEXT:    aten.sub.Tensor(
// CHECK-NEXT:    aten.unsqueeze(
// CHECK-NEXT:    aten.unsqueeze(
// CHECK-NEXT:    aten.cat(
// CHECK-NEXT:    func.return
// UNROLL-LABEL: func.func @loops
// UNROLL-NOT:     higher_order
// UNROLL:         func.return
// FEW-LABEL: func.func @loops
// FEW:            higher_order.while_loop
// FEW-NOT:        higher_order.scan

// -----
// What no turn changes is computed before the loop; what is carried, random, or may be an error for no turn, is not.
func.func @invariants(%n: tensor<i64>, %x: tensor<2xf32>, %w: tensor<2xf32>) -> (tensor<i64>, tensor<2xf32>) {
  %0, %1 = higher_order.while_loop carried(%n, %x : tensor<i64>, tensor<2xf32>) additional(%w : tensor<2xf32>) -> tensor<i64>, tensor<2xf32> {
  ^bb0(%i: tensor<i64>, %a: tensor<2xf32>, %v: tensor<2xf32>):
    %c = aten.gt.Scalar(%i, other = 0) : (tensor<i64>) -> tensor<i1>
    higher_order.yield %c : tensor<i1>
  } do {
  ^bb1(%i: tensor<i64>, %a: tensor<2xf32>, %v: tensor<2xf32>):
    %j = aten.sub.Scalar(%i, other = 1) : (tensor<i64>) -> tensor<i64>
    %e = aten.exp(%v) : (tensor<2xf32>) -> tensor<2xf32>
    %r = aten.rand_like(%e) : (tensor<2xf32>) -> tensor<2xf32>
    %f = aten.mul.Tensor(%a, %r) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    higher_order.yield %j, %f : tensor<i64>, tensor<2xf32>
  }
  func.return %0, %1 : tensor<i64>, tensor<2xf32>
}
// HOIST-LABEL: func.func @invariants
// HOIST-NEXT:    %e = aten.exp(%w)
// HOIST-NEXT:    higher_order.while_loop
// HOIST-NOT:     aten.exp
// HOIST:         aten.sub.Scalar(
// HOIST-NEXT:    aten.rand_like(
// HOIST-NEXT:    aten.mul.Tensor(

// -----
// What weights alone make is left to fold-constants, which needs the program's state. Products with an input's columns stay apart.
func.func @weights(%w: tensor<4x2x3x3xf32> {exir.input = #exir.input<parameter, "w">}, %g: tensor<4xf32> {exir.input = #exir.input<parameter, "g">},
                   %a: tensor<5x2xf32> {exir.input = #exir.input<parameter, "a">}, %b: tensor<5x3xf32> {exir.input = #exir.input<parameter, "b">},
                   %x: tensor<1x2x5x5xf32> {exir.input = #exir.input<user_input, "x">}, %y: tensor<6x5xf32> {exir.input = #exir.input<user_input, "y">},
                   %c: tensor<5x3xf32> {exir.input = #exir.input<user_input, "c">})
    -> (tensor<1x4x3x3xf32>, tensor<6x2xf32>, tensor<6x3xf32>, tensor<6x3xf32>) {
  %0 = aten.convolution(%x, %w, bias = none, stride = [1, 1], padding = [0, 0], dilation = [1, 1], transposed = false, output_padding = [0, 0], groups = 1) : (tensor<1x2x5x5xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x3x3xf32>
  %1, %2, %3 = aten._native_batch_norm_legit_no_training(%0, %g, %g, %g, %g, momentum = 0.1, eps = 1.0e-05) : (tensor<1x4x3x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<1x4x3x3xf32>, tensor<0xf32>, tensor<0xf32>)
  %4 = aten.mm(%y, %a) : (tensor<6x5xf32>, tensor<5x2xf32>) -> tensor<6x2xf32>
  %5 = aten.mm(%y, %b) : (tensor<6x5xf32>, tensor<5x3xf32>) -> tensor<6x3xf32>
  %6 = aten.mm(%y, %c) : (tensor<6x5xf32>, tensor<5x3xf32>) -> tensor<6x3xf32>
  func.return %1, %4, %5, %6 : tensor<1x4x3x3xf32>, tensor<6x2xf32>, tensor<6x3xf32>, tensor<6x3xf32>
}
// LEVEL2-LABEL: func.func @weights
// LEVEL2-NOT:     batch_norm{{.*}}(%x
// LEVEL2:         aten.convolution(%x, %{{.*}}, %{{.*}}, stride
// LEVEL2-NOT:     batch_norm
// LEVEL2:         aten.cat([%a, %b], dim = 1)
// LEVEL2-NEXT:    aten.mm(%y, %{{.*}}) : (tensor<6x5xf32>, tensor<5x5xf32>) -> tensor<6x5xf32>
// LEVEL2-NEXT:    aten.slice.Tensor(%{{.*}}, dim = 1, start = 0, end = 2)
// LEVEL2-NEXT:    aten.slice.Tensor(%{{.*}}, dim = 1, start = 2, end = 5)
// LEVEL2-NEXT:    aten.mm(%y, %c)
// NORM-LABEL: func.func @weights
// NORM-NEXT:    %[[ZEROS:.*]] = exir.constant 0.0 : tensor<4xf32>
// NORM-NEXT:    %[[BIAS:.*]] = aten.view(%[[ZEROS]], size = [1, 4])
// NORM-NEXT:    %[[WEIGHT:.*]] = aten.view(%w, size = [1, 4, -1])
// NORM-NEXT:    aten._native_batch_norm_legit_no_training(%[[WEIGHT]], %g, bias = none, running_mean = %[[ZEROS]], running_var = %g
// NORM-NEXT:    aten.view(%{{.*}}, size = [4, 2, 3, 3])
// NORM-NEXT:    aten._native_batch_norm_legit_no_training(%[[BIAS]], %g, %g, %g, %g
// NORM-NEXT:    aten.view(%{{.*}}, size = [4])
// NORM-NEXT:    aten.convolution(%x, %{{.*}}, %{{.*}}, stride
// NORM-NEXT:    aten.mm(

// -----
// A norm stays where something else uses the convolution, where a weight is an input, and where its statistics are used.
func.func @norms(%w: tensor<4x2x3x3xf32> {exir.input = #exir.input<parameter, "w">}, %g: tensor<4xf32> {exir.input = #exir.input<parameter, "g">},
                 %u: tensor<4xf32> {exir.input = #exir.input<user_input, "u">}, %x: tensor<1x2x5x5xf32> {exir.input = #exir.input<user_input, "x">})
    -> (tensor<1x4x3x3xf32>, tensor<1x4x3x3xf32>, tensor<1x4x3x3xf32>) {
  %0 = aten.convolution(%x, %w, bias = none, stride = [1, 1], padding = [0, 0], dilation = [1, 1], transposed = false, output_padding = [0, 0], groups = 1) : (tensor<1x2x5x5xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x3x3xf32>
  %1, %2, %3 = aten._native_batch_norm_legit_no_training(%0, %g, %g, %g, %g, momentum = 0.1, eps = 1.0e-05) : (tensor<1x4x3x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<1x4x3x3xf32>, tensor<0xf32>, tensor<0xf32>)
  %4 = aten.convolution(%x, %w, bias = none, stride = [1, 1], padding = [0, 0], dilation = [1, 1], transposed = false, output_padding = [0, 0], groups = 1) : (tensor<1x2x5x5xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x3x3xf32>
  %5, %6, %7 = aten._native_batch_norm_legit_no_training(%4, %u, %g, %g, %g, momentum = 0.1, eps = 1.0e-05) : (tensor<1x4x3x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<1x4x3x3xf32>, tensor<0xf32>, tensor<0xf32>)
  func.return %0, %1, %5 : tensor<1x4x3x3xf32>, tensor<1x4x3x3xf32>, tensor<1x4x3x3xf32>
}
// NORM-LABEL: func.func @norms
// NORM-NEXT:    aten.convolution(%x, %w, bias = none
// NORM-NEXT:    aten._native_batch_norm_legit_no_training(
// NORM-NEXT:    aten.convolution(%x, %w, bias = none
// NORM-NEXT:    aten._native_batch_norm_legit_no_training(

// -----
// Linear layers have their channels last; where the input has more dimensions, the norm's are others. A weight may be transposed first.
func.func @linear_norms(%w: tensor<3x4xf32> {exir.input = #exir.input<parameter, "w">}, %v: tensor<4x4xf32> {exir.input = #exir.input<parameter, "v">},
                        %g: tensor<4xf32> {exir.input = #exir.input<parameter, "g">},
                        %x: tensor<5x3xf32> {exir.input = #exir.input<user_input, "x">}, %y: tensor<5x4x4xf32> {exir.input = #exir.input<user_input, "y">})
    -> (tensor<5x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>, tensor<5x4x4xf32>) {
  %0 = aten.mm(%x, %w) : (tensor<5x3xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
  %1, %2, %3 = aten._native_batch_norm_legit_no_training(%0, %g, %g, %g, %g, momentum = 0.1, eps = 1.0e-05) : (tensor<5x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<5x4xf32>, tensor<0xf32>, tensor<0xf32>)
  %t = aten.permute(%v, dims = [1, 0]) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = aten.addmm(%g, %1, %t) : (tensor<4xf32>, tensor<5x4xf32>, tensor<4x4xf32>) -> tensor<5x4xf32>
  %5, %6, %7 = aten._native_batch_norm_legit_no_training(%4, %g, %g, %g, %g, momentum = 0.1, eps = 1.0e-05) : (tensor<5x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<5x4xf32>, tensor<0xf32>, tensor<0xf32>)
  %8 = aten.addmm(%g, %5, %v, beta = 2) : (tensor<4xf32>, tensor<5x4xf32>, tensor<4x4xf32>) -> tensor<5x4xf32>
  %9, %10, %11 = aten._native_batch_norm_legit_no_training(%8, %g, %g, %g, %g, momentum = 0.1, eps = 1.0e-05) : (tensor<5x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<5x4xf32>, tensor<0xf32>, tensor<0xf32>)
  %12 = aten.linear(%y, %v) : (tensor<5x4x4xf32>, tensor<4x4xf32>) -> tensor<5x4x4xf32>
  %13, %14, %15 = aten._native_batch_norm_legit_no_training(%12, %g, %g, %g, %g, momentum = 0.1, eps = 1.0e-05) : (tensor<5x4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<5x4x4xf32>, tensor<0xf32>, tensor<0xf32>)
  func.return %1, %5, %9, %13 : tensor<5x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>, tensor<5x4x4xf32>
}
// NORM-LABEL: func.func @linear_norms
// NORM:         %[[SCALED:.*]], %{{.*}}, %{{.*}} = aten._native_batch_norm_legit_no_training(%w, %g, bias = none
// NORM:         %[[FIRST:.*]] = aten.addmm(%{{.*}}, %x, %[[SCALED]])
// NORM:         %[[OTHER:.*]], %{{.*}}, %{{.*}} = aten._native_batch_norm_legit_no_training(%t, %g, bias = none
// NORM:         %[[SECOND:.*]] = aten.addmm(%{{.*}}, %[[FIRST]], %[[OTHER]])
// NORM:         aten.addmm(%g, %[[SECOND]], %v, beta = 2)
// NORM-NEXT:    aten._native_batch_norm_legit_no_training(
// NORM-NEXT:    aten.linear(%y, %v)
// NORM-NEXT:    aten._native_batch_norm_legit_no_training(

// -----
// Products of one shape are one, where all that they need is there before the first: not the product of another.
func.func @shapes(%x: tensor<?x3xf32, #exir.shape<[s0, 3]>>, %y: tensor<?x3xf32, #exir.shape<[s0, 3]>>, %a: tensor<3x3xf32>, %b: tensor<3x3xf32>, %c: tensor<3xf32>, %h: tensor<3xf16>, %k: tensor<3x3xf16>)
    -> (tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf16>, tensor<3x3xf16>) {
  %0 = aten.mm(%x, %a) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<3x3xf32>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  %1 = aten.mm(%y, %b) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<3x3xf32>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  %2 = aten.mm(%1, %b) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<3x3xf32>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  %3 = aten.addmm(%c, %a, %b) : (tensor<3xf32>, tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %4 = aten.addmm(%c, %b, %a) : (tensor<3xf32>, tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %5 = aten.addmm(%h, %k, %k) : (tensor<3xf16>, tensor<3x3xf16>, tensor<3x3xf16>) -> tensor<3x3xf16>
  %6 = aten.addmm(%h, %k, %k) : (tensor<3xf16>, tensor<3x3xf16>, tensor<3x3xf16>) -> tensor<3x3xf16>
  func.return %0, %1, %2, %3, %4, %5, %6 : tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf16>, tensor<3x3xf16>
}
// BATCH-LABEL: func.func @shapes
// BATCH-NEXT:    %[[X:.*]] = aten.stack([%x, %y])
// BATCH-NEXT:    %[[A:.*]] = aten.stack([%a, %b])
// BATCH-NEXT:    %[[XA:.*]] = aten.bmm(%[[X]], %[[A]])
// BATCH-NEXT:    %[[ZERO:.*]] = aten.select.int(%[[XA]], dim = 0, index = 0)
// BATCH-NEXT:    %[[ONE:.*]] = aten.select.int(%[[XA]], dim = 0, index = 1)
// BATCH-NEXT:    %[[TWO:.*]] = aten.mm(%[[ONE]], %b)
// BATCH-NEXT:    aten.stack([%a, %b])
// BATCH-NEXT:    aten.stack([%b, %a])
// BATCH-NEXT:    aten.bmm(
// BATCH-NEXT:    aten.stack([%c, %c])
// BATCH-NEXT:    aten.unsqueeze(
// BATCH-NEXT:    aten.add.Tensor(
// BATCH-NEXT:    aten.select.int(
// BATCH-NEXT:    aten.select.int(
// BATCH-NEXT:    aten.addmm(%h, %k, %k)
// BATCH-NEXT:    aten.addmm(%h, %k, %k)
// BATCH-NEXT:    func.return %[[ZERO]], %[[ONE]], %[[TWO]]
