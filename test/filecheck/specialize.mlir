// RUN: xdsl-opt %s -p 'specialize{symbols="s0=4"},canonicalize' | filecheck %s --check-prefix=SYMBOLS
// RUN: xdsl-opt %s -p 'specialize{dtypes="f32=bf16"}' | filecheck %s --check-prefix=DTYPES
// RUN: xdsl-opt %s -p 'specialize{versions="s0=4"},canonicalize' | filecheck %s --check-prefix=VERSIONS
// RUN: not xdsl-opt %s -p 'specialize{symbols="s0=9"}' 2>&1 | filecheck %s --check-prefix=RANGE
// RUN: not xdsl-opt %s -p 'specialize{dtypes="f16=bf16"}' 2>&1 | filecheck %s --check-prefix=NONE

// What says a dtype keeps it.
func.func @forward(%x: tensor<?x3xf32, #exir.shape<[s0, 3]>>, %n: tensor<3xi64>) -> (tensor<?xf32, #exir.shape<[3 * s0]>>, tensor<?x3xf64, #exir.shape<[s0, 3]>>)
    attributes {exir.ranges = {s0 = #exir.range<2, 8>}} {
  %0 = aten.sym_size.int(%x, dim = 0) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> !exir.symint<s0>
  %three = exir.number 3 : !exir.symint<3>
  %1 = exir.sym_mul %0, %three : (!exir.symint<s0>, !exir.symint<3>) -> !exir.symint<3 * s0>
  %2 = aten.mul.Tensor(%x, %n) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<3xi64>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  %3 = aten.view(%2, size = [%1]) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>, !exir.symint<3 * s0>) -> tensor<?xf32, #exir.shape<[3 * s0]>>
  %4 = aten._to_copy(%2, dtype = f64) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf64, #exir.shape<[s0, 3]>>
  func.return %3, %4 : tensor<?xf32, #exir.shape<[3 * s0]>>, tensor<?x3xf64, #exir.shape<[s0, 3]>>
}

// SYMBOLS:      func.func @forward(%x: tensor<4x3xf32>, %n: tensor<3xi64>) -> (tensor<12xf32>, tensor<4x3xf64>) {
// SYMBOLS-NEXT:   %0 = aten.mul.Tensor(%x, %n)
// SYMBOLS-NEXT:   %1 = aten.view(%0, size = [12])
// SYMBOLS-NEXT:   %2 = aten._to_copy(%0, dtype = f64)

// DTYPES:      func.func @forward(%x: tensor<?x3xbf16, #exir.shape<[s0, 3]>>, %n: tensor<3xi64>) -> (tensor<?xbf16, #exir.shape<[3 * s0]>>, tensor<?x3xf64, #exir.shape<[s0, 3]>>)
// DTYPES:        %2 = aten.mul.Tensor(%x, %n) : (tensor<?x3xbf16, #exir.shape<[s0, 3]>>, tensor<3xi64>) -> tensor<?x3xbf16, #exir.shape<[s0, 3]>>
// DTYPES-NEXT:   %3 = aten.view(%2, size = [%1])
// DTYPES-NEXT:   %4 = aten._to_copy(%2, dtype = f64)

// VERSIONS:      func.func @forward(%x: tensor<?x3xf32, #exir.shape<[s0, 3]>>, %n: tensor<3xi64>) -> (tensor<?xf32, #exir.shape<[3 * s0]>>, tensor<?x3xf64, #exir.shape<[s0, 3]>>)
// VERSIONS-NEXT:   %0 = aten.sym_size.int(%x, dim = 0)
// VERSIONS-NEXT:   %1 = exir.number 4 : !exir.symint<4>
// VERSIONS-NEXT:   %2 = exir.sym_eq %0, %1
// VERSIONS-NEXT:   %3, %4 = higher_order.cond %2
// VERSIONS-NEXT:   ^bb0(
// VERSIONS-NEXT:     exir.refine %{{.*}} -> tensor<4x3xf32>
// VERSIONS-NEXT:     aten.mul.Tensor(
// VERSIONS-NEXT:     aten.view(%{{.*}}, size = [12]) : (tensor<4x3xf32>) -> tensor<12xf32>
// VERSIONS-NEXT:     aten._to_copy(
// VERSIONS-NEXT:     exir.refine %{{.*}} : tensor<12xf32> -> tensor<?xf32, #exir.shape<[3 * s0]>>
// VERSIONS-NEXT:     exir.refine
// VERSIONS-NEXT:     higher_order.yield
// VERSIONS-NEXT:   } else {
// VERSIONS:          aten.mul.Tensor(
// VERSIONS:          higher_order.yield

// RANGE: s0 is 0 to 8, not 9
// NONE: no method has an argument 'f16', or one of that dtype
