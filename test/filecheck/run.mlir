// RUN: xdsl-opt %s -t 'exir-run{inputs=ones}' | filecheck %s --check-prefix=ONES
// RUN: xdsl-opt %s -t 'exir-run{inputs=arange}' | filecheck %s --check-prefix=ARANGE
// RUN: xdsl-opt %s -p decompose-aten,aten-to-edge -t 'exir-run{inputs=arange}' | filecheck %s --check-prefix=ARANGE
// RUN: not xdsl-opt %s -t 'exir-run{inputs=zeros}' 2>&1 | filecheck %s --check-prefix=REFUSED

func.func @forward(%x: tensor<?x3xf32, #exir.shape<[s0, 3]>>, %m: tensor<3xi1>) -> (tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<i64>, tensor<?xbf16, #exir.shape<[s0]>>, tensor<3xf32>) {
  %0 = aten.add.Tensor(%x, %x) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  %1 = aten.sum(%m) : (tensor<3xi1>) -> tensor<i64>
  %2 = aten.sum.dim_IntList(%x, dim = [1]) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?xf32, #exir.shape<[s0]>>
  %3 = aten._to_copy(%2, dtype = bf16) : (tensor<?xf32, #exir.shape<[s0]>>) -> tensor<?xbf16, #exir.shape<[s0]>>
  %4 = exir.constant [inf, -1.5, nan] : tensor<3xf32>
  func.return %0, %1, %3, %4 : tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<i64>, tensor<?xbf16, #exir.shape<[s0]>>, tensor<3xf32>
}

// ONES:      float32[2, 3] {{\[\[}}2., 2., 2.],
// ONES-NEXT:  [2., 2., 2.]]
// ONES-NEXT: int64[] 3
// ONES-NEXT: bfloat16[2] [3, 3]
// ONES-NEXT: float32[3] [ inf, -1.5,  nan]

// ARANGE:      float32[2, 3] {{\[\[}} 0.,  2.,  4.],
// ARANGE-NEXT:  [ 6.,  8., 10.]]
// ARANGE-NEXT: int64[] 2
// ARANGE-NEXT: bfloat16[2] [3, 12]
// ARANGE-NEXT: float32[3] [ inf, -1.5,  nan]

// REFUSED: exir-run: inputs are one of ones, arange, random, not 'zeros'
