// The library of examples/mylib, in stock xdsl-opt.
// DEFINE: %{opt} = env XDSL_EXIR_OPS=%S/../../examples/mylib/mylib.yaml xdsl-opt
// RUN: %{opt} %s | filecheck %s --check-prefix=CUSTOM
// RUN: %{opt} %s --print-op-generic | %{opt} | filecheck %s --check-prefix=CUSTOM
// RUN: %{opt} %s --print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: %{opt} %s -p decompose-aten,aten-to-edge,verify-edge | filecheck %s --check-prefix=EDGE
// RUN: %{opt} %s -p 'decompose-aten{keep="mylib.row_norms"},aten-to-edge,verify-edge' | filecheck %s --check-prefix=KEEP
// RUN: %{opt} %s -p 'decompose-aten,aten-to-edge,partition{backend=mine ops="mylib.*"},verify-edge' | filecheck %s --check-prefix=PART
// RUN: %{opt} %s -p decompose-aten,aten-to-edge,edge-to-linalg | filecheck %s --check-prefix=LINALG
// RUN: not xdsl-opt %s 2>&1 | filecheck %s --check-prefix=UNKNOWN

func.func @f(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2xf32>) {
  %rows, %norms = mylib.row_norms(%x, weight = none) : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2xf32>)
  %0 = mylib.soft_relu(%rows, beta = 2.0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return %0, %norms : tensor<2x4xf32>, tensor<2xf32>
}
// CUSTOM:         %rows, %norms = mylib.row_norms(%x) : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2xf32>)
// CUSTOM-NEXT:    %0 = mylib.soft_relu(%rows, beta = 2.0) : (tensor<2x4xf32>) -> tensor<2x4xf32>

// GENERIC:        "mylib.row_norms"(%x) : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2xf32>)
// GENERIC-NEXT:   "mylib.soft_relu"(%rows) <{beta = 2.000000e+00 : f64}> : (tensor<2x4xf32>) -> tensor<2x4xf32>

// EDGE-NOT:     row_norms
// EDGE:         edge.aten.sqrt
// EDGE:         edge.mylib.soft_relu(%{{.*}}, beta = 2.0) : (tensor<2x4xf32>) -> tensor<2x4xf32>

// KEEP:         edge.mylib.row_norms(%x)
// KEEP-NEXT:    edge.mylib.soft_relu(

// PART:         backend.delegate "mine" inputs(%{{.*}} : tensor<2x4xf32>) -> tensor<2x4xf32> {
// PART-NEXT:    ^bb0
// PART-NEXT:      edge.mylib.soft_relu(

// LINALG:       linalg.generic
// LINALG:         math.log1p
// LINALG-NOT:   mylib

// UNKNOWN:      Operation mylib.row_norms is not registered
