// RUN: xdsl-opt %s | filecheck %s
// RUN: xdsl-opt %s | xdsl-opt | filecheck %s
// RUN: xdsl-opt %s --print-op-generic | xdsl-opt | filecheck %s

// CHECK-LABEL: func.func @numbers
func.func @numbers() {
  // CHECK-NEXT: exir.number 2.0 : f64
  %0 = exir.number 2.0 : f64
  // CHECK-NEXT: exir.number -2 : i64
  %1 = exir.number -2 : i64
  // CHECK-NEXT: exir.number true : i1
  %2 = exir.number true : i1
  // CHECK-NEXT: exir.number (1.0, -2.5) : complex<f64>
  %3 = exir.number (1.0, -2.5) : complex<f64>
  // CHECK-NEXT: exir.number -inf : f64
  %4 = exir.number -inf : f64
  // CHECK-NEXT: exir.number nan : f64
  %5 = exir.number nan : f64
  // CHECK-NEXT: exir.number -0.0 : f64
  %6 = exir.number -0.0 : f64
  // CHECK-NEXT: exir.number 3 : !exir.symint<3>
  %7 = exir.number 3 : !exir.symint<3>
  // CHECK-NEXT: exir.number true : !exir.symbool<true>
  %8 = exir.number true : !exir.symbool<true>
  // CHECK-NEXT: exir.number 9223372036854775807 : i64
  %9 = exir.number 9223372036854775807 : i64
  func.return
}

// CHECK-LABEL: func.func @literals
func.func @literals() {
  // CHECK-NEXT: exir.constant 2.0 : tensor<f32>
  %0 = exir.constant 2.0 : tensor<f32>
  // CHECK-NEXT: exir.constant [1, 2, 3] : tensor<3xi64>
  %1 = exir.constant [1, 2, 3] : tensor<3xi64>
  // CHECK-NEXT: exir.constant [true, false, true, true] : tensor<2x2xi1>
  %2 = exir.constant [true, false, true, true] : tensor<2x2xi1>
  // CHECK-NEXT: exir.constant [inf, nan] : tensor<2xbf16>
  %3 = exir.constant [inf, nan] : tensor<2xbf16>
  // CHECK-NEXT: exir.constant (0.0, 1.0) : tensor<2xcomplex<f32>>
  %4 = exir.constant (0.0, 1.0) : tensor<2xcomplex<f32>>
  // CHECK-NEXT: exir.constant [(0.0, 1.0), (2.0, 3.0)] : tensor<2xcomplex<f32>>
  %5 = exir.constant [(0.0, 1.0), (2.0, 3.0)] : tensor<2xcomplex<f32>>
  // CHECK-NEXT: exir.constant [] : tensor<0x3xf32>
  %6 = exir.constant [] : tensor<0x3xf32>
  // CHECK-NEXT: exir.constant 7 : tensor<2xui8>
  %7 = exir.constant 7 : tensor<2xui8>
  func.return
}

// CHECK-LABEL: func.func @types
// CHECK-SAME:    tensor<?x8xf32, #exir.shape<[2 * s0 + 1, 8]>>
// CHECK-SAME:    tensor<1x3x8x8xf32, #exir.shape<dim_order = [0, 2, 3, 1]>>
// CHECK-SAME:    tensor<2xf32, #exir.shape<device = "cuda:0">>
// CHECK-SAME:    tensor<?x3xf16, #exir.shape<[(s53 - 1) floordiv 2 + 1, 3], dim_order = [1, 0], device = "cuda">>
// CHECK-SAME:    !exir.symint<max(s0, 2 * s1)>
// CHECK-SAME:    !exir.symfloat<truediv(s0, 2)>
// CHECK-SAME:    !exir.symbool<gt(s0, 4)>
func.func @types(
    %0: tensor<?x8xf32, #exir.shape<[1 + s0 * 2, 8]>>,
    %1: tensor<1x3x8x8xf32, #exir.shape<dim_order = [0, 2, 3, 1]>>,
    %2: tensor<2xf32, #exir.shape<device = "cuda:0">>,
    %3: tensor<?x3xf16, #exir.shape<[(s53 - 1) floordiv 2 + 1, 3], dim_order = [1, 0], device = "cuda">>,
    %4: !exir.symint<max(2 * s1, s0)>,
    %5: !exir.symfloat<truediv(s0, 2)>,
    %6: !exir.symbool<lt(4, s0)>) {
  func.return
}

// CHECK-LABEL: func.func @signature
// CHECK-SAME:    exir.input = #exir.input<user_input, "x">
// CHECK-SAME:    exir.input = #exir.input<parameter, "fc.weight">
// CHECK-SAME:    exir.input = #exir.input<buffer, "mask", transient>
// CHECK-SAME:    exir.input = #exir.input<constant_tensor, "lifted">
// CHECK-SAME:    exir.output = #exir.output<buffer_mutation, "mask">
// CHECK-SAME:    exir.output = #exir.output<user_input_mutation, "x">
// CHECK-SAME:    exir.output = #exir.output<user_output>
// CHECK-SAME:    exir.ranges = {s0 = #exir.range<2, 1024>, u0 = #exir.range<-inf, inf>, u1 = #exir.range<-4, -1>}
func.func @signature(
    %x: tensor<2xf32> {exir.input = #exir.input<user_input, "x">},
    %w: tensor<2xf32> {exir.input = #exir.input<parameter, "fc.weight">},
    %m: tensor<2xf32> {exir.input = #exir.input<buffer, "mask", transient>},
    %c: tensor<2xf32> {exir.input = #exir.input<constant_tensor, "lifted">})
    -> (tensor<2xf32> {exir.output = #exir.output<buffer_mutation, "mask">},
        tensor<2xf32> {exir.output = #exir.output<user_input_mutation, "x">},
        tensor<2xf32> {exir.output = #exir.output<user_output>})
    attributes {exir.ranges = {s0 = #exir.range<2, 1024>, u0 = #exir.range<-inf, inf>, u1 = #exir.range<-4, -1>}} {
  func.return %w, %m, %c : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

!i = !exir.symint<s0>
!j = !exir.symint<s1>
!b = !exir.symbool<gt(s0, 4)>

// CHECK-LABEL: func.func @arithmetic
func.func @arithmetic(%0: !i, %1: !j, %2: !b, %3: !exir.symfloat<truediv(s0, 2)>, %4: !exir.symint<3>) {
  // CHECK-NEXT: exir.sym_add %0, %1 : (!exir.symint<s0>, !exir.symint<s1>) -> !exir.symint<s0 + s1>
  %add = exir.sym_add %0, %1 : (!i, !j) -> !exir.symint<s0 + s1>
  // CHECK-NEXT: exir.sym_sub {{.*}} -> !exir.symint<s0 - s1>
  %sub = exir.sym_sub %0, %1 : (!i, !j) -> !exir.symint<s0 - s1>
  // CHECK-NEXT: exir.sym_mul {{.*}} -> !exir.symint<s0 * s1>
  %mul = exir.sym_mul %0, %1 : (!i, !j) -> !exir.symint<s1 * s0>
  // CHECK-NEXT: exir.sym_floordiv {{.*}} -> !exir.symint<s0 floordiv s1>
  %floordiv = exir.sym_floordiv %0, %1 : (!i, !j) -> !exir.symint<s0 floordiv s1>
  // CHECK-NEXT: exir.sym_mod {{.*}} -> !exir.symint<s0 mod s1>
  %mod = exir.sym_mod %0, %1 : (!i, !j) -> !exir.symint<s0 mod s1>
  // CHECK-NEXT: exir.sym_truediv {{.*}} -> !exir.symfloat<truediv(s0, s1)>
  %truediv = exir.sym_truediv %0, %1 : (!i, !j) -> !exir.symfloat<truediv(s0, s1)>
  // CHECK-NEXT: exir.sym_pow {{.*}} -> !exir.symint<pow(s0, s1)>
  %pow = exir.sym_pow %0, %1 : (!i, !j) -> !exir.symint<pow(s0, s1)>
  // CHECK-NEXT: exir.sym_lshift {{.*}} -> !exir.symint<8 * s0>
  %lshift = exir.sym_lshift %0, %4 : (!i, !exir.symint<3>) -> !exir.symint<8 * s0>
  // CHECK-NEXT: exir.sym_rshift {{.*}} -> !exir.symint<s0 floordiv 8>
  %rshift = exir.sym_rshift %0, %4 : (!i, !exir.symint<3>) -> !exir.symint<s0 floordiv 8>
  // CHECK-NEXT: exir.sym_max {{.*}} -> !exir.symint<max(s0, s1)>
  %max = exir.sym_max %0, %1 : (!i, !j) -> !exir.symint<max(s0, s1)>
  // CHECK-NEXT: exir.sym_min {{.*}} -> !exir.symint<min(s0, s1)>
  %min = exir.sym_min %0, %1 : (!i, !j) -> !exir.symint<min(s0, s1)>
  // CHECK-NEXT: exir.sym_sum %0, %1, %0 {{.*}} -> !exir.symint<2 * s0 + s1>
  %sum = exir.sym_sum %0, %1, %0 : (!i, !j, !i) -> !exir.symint<2 * s0 + s1>
  // CHECK-NEXT: exir.sym_and %0, %1 {{.*}} -> !exir.symint<bitwise_and(s0, s1)>
  %bits = exir.sym_and %0, %1 : (!i, !j) -> !exir.symint<bitwise_and(s0, s1)>
  // CHECK-NEXT: exir.sym_abs %0 {{.*}} -> !exir.symint<abs(s0)>
  %abs = exir.sym_abs %0 : (!i) -> !exir.symint<abs(s0)>
  // CHECK-NEXT: exir.sym_neg %0 {{.*}} -> !exir.symint<-s0>
  %neg = exir.sym_neg %0 : (!i) -> !exir.symint<-s0>
  // CHECK-NEXT: exir.sym_eq {{.*}} -> !exir.symbool<eq(s0, s1)>
  %eq = exir.sym_eq %0, %1 : (!i, !j) -> !exir.symbool<eq(s0, s1)>
  // CHECK-NEXT: exir.sym_ne {{.*}} -> !exir.symbool<ne(s0, s1)>
  %ne = exir.sym_ne %0, %1 : (!i, !j) -> !exir.symbool<ne(s0, s1)>
  // CHECK-NEXT: exir.sym_lt {{.*}} -> !exir.symbool<lt(s0, s1)>
  %lt = exir.sym_lt %0, %1 : (!i, !j) -> !exir.symbool<lt(s0, s1)>
  // CHECK-NEXT: exir.sym_le {{.*}} -> !exir.symbool<le(s0, s1)>
  %le = exir.sym_le %0, %1 : (!i, !j) -> !exir.symbool<le(s0, s1)>
  // CHECK-NEXT: exir.sym_gt {{.*}} -> !exir.symbool<gt(s0, s1)>
  %gt = exir.sym_gt %0, %1 : (!i, !j) -> !exir.symbool<gt(s0, s1)>
  // CHECK-NEXT: exir.sym_ge {{.*}} -> !exir.symbool<ge(s0, s1)>
  %ge = exir.sym_ge %0, %1 : (!i, !j) -> !exir.symbool<ge(s0, s1)>
  // CHECK-NEXT: exir.sym_and %2, %eq {{.*}} -> !exir.symbool<and(gt(s0, 4), eq(s0, s1))>
  %and = exir.sym_and %2, %eq : (!b, !exir.symbool<eq(s0, s1)>) -> !exir.symbool<and(gt(s0, 4), eq(s0, s1))>
  // CHECK-NEXT: exir.sym_or %2, %eq {{.*}} -> !exir.symbool<or(gt(s0, 4), eq(s0, s1))>
  %or = exir.sym_or %2, %eq : (!b, !exir.symbool<eq(s0, s1)>) -> !exir.symbool<or(gt(s0, 4), eq(s0, s1))>
  // CHECK-NEXT: exir.sym_not %2 {{.*}} -> !exir.symbool<le(s0, 4)>
  %not = exir.sym_not %2 : (!b) -> !exir.symbool<le(s0, 4)>
  // CHECK-NEXT: exir.sym_float %0 {{.*}} -> !exir.symfloat<to_float(s0)>
  %float = exir.sym_float %0 : (!i) -> !exir.symfloat<to_float(s0)>
  // CHECK-NEXT: exir.sym_int %3 {{.*}} -> !exir.symint<trunc_to_int(truediv(s0, 2))>
  %int = exir.sym_int %3 : (!exir.symfloat<truediv(s0, 2)>) -> !exir.symint<trunc_to_int(truediv(s0, 2))>
  // CHECK-NEXT: exir.sym_ceil %3 {{.*}} -> !exir.symint<(s0 + 1) floordiv 2>
  %ceil = exir.sym_ceil %3 : (!exir.symfloat<truediv(s0, 2)>) -> !exir.symint<(s0 + 1) floordiv 2>
  // CHECK-NEXT: exir.sym_floor %3 {{.*}} -> !exir.symint<s0 floordiv 2>
  %floor = exir.sym_floor %3 : (!exir.symfloat<truediv(s0, 2)>) -> !exir.symint<s0 floordiv 2>
  // CHECK-NEXT: exir.sym_round %3 {{.*}} -> !exir.symint<round_to_int(truediv(s0, 2))>
  %round = exir.sym_round %3 : (!exir.symfloat<truediv(s0, 2)>) -> !exir.symint<round_to_int(truediv(s0, 2))>
  // CHECK-NEXT: exir.sym_sqrt %0 {{.*}} -> !exir.symfloat<sqrt(to_float(s0))>
  %sqrt = exir.sym_sqrt %0 : (!i) -> !exir.symfloat<sqrt(to_float(s0))>
  func.return
}

// CHECK-LABEL: func.func @refine
func.func @refine(%x: tensor<?xf32, #exir.shape<[s0]>>, %n: !i) {
  // CHECK-NEXT: exir.refine %x : tensor<?xf32, #exir.shape<[s0]>> -> tensor<?xf32, #exir.shape<[u0]>>
  %0 = exir.refine %x : tensor<?xf32, #exir.shape<[s0]>> -> tensor<?xf32, #exir.shape<[u0]>>
  // CHECK-NEXT: exir.refine %n {named = "n"} : !exir.symint<s0> -> !exir.symint<u1>
  %1 = exir.refine %n {named = "n"} : !i -> !exir.symint<u1>
  func.return
}
