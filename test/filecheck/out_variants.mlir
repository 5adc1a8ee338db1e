// DEFINE: %{opt} = env XDSL_EXIR_TARGETS=%S/Inputs/npu.py xdsl-opt
// RUN: %{opt} %s -p 'to-out-variants{ignore=true},verify-backend' | filecheck %s
// RUN: %{opt} %s -p 'to-out-variants{ignore=true}' | %{opt} | filecheck %s
// RUN: %{opt} %s -p 'to-out-variants{ignore=true}' --print-op-generic | %{opt} | filecheck %s
// RUN: %{opt} %s -p 'to-out-variants{ignore=true},cse,dce,decompose-backend{keep="npu.best"},verify-backend' | filecheck %s --check-prefix=BACK
// RUN: %{opt} %s -t 'exir-run{inputs=arange}' > %t.edge
// RUN: %{opt} %s -p 'to-out-variants{ignore=true}' -t 'exir-run{inputs=arange}' > %t.out
// RUN: diff %t.edge %t.out
// RUN: %{opt} %s -p decompose-backend,verify-edge | filecheck %s --check-prefix=BODY
// RUN: not %{opt} %s -p to-out-variants 2>&1 | filecheck %s --check-prefix=MISSING
// RUN: not %{opt} %s -p 'to-out-variants{ignore=true},verify-edge' 2>&1 | filecheck %s --check-prefix=EDGE

func.func @f(%x : tensor<2x3xf32>, %y : tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2x3xf32>) {
  %0 = edge.aten.add.Tensor(%x, %y, alpha = 2) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = edge.aten.view(%0, size = [3, 2]) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = edge.aten.view(%1, size = [2, 3]) : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %v, %i = edge.aten.max.dim(%2, dim = 1) : (tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xi64>)
  %w, %j = backend.npu.best(%2, dim = 1) : (tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xi64>)
  %3 = edge.aten.relu6(%2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = edge.aten.eq.Tensor(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %5 = edge.aten.where.self(%4, %3, %x) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0, %v, %i, %j, %5 : tensor<2x3xf32>, tensor<2xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @f
// CHECK-NEXT:    %[[A:.*]] = backend.alloc : tensor<2x3xf32>
// CHECK-NEXT:    %[[S:.*]] = backend.out_variant "aten.add.out" of "aten.add.Tensor" ins(%x, %y : tensor<2x3xf32>, tensor<2x3xf32>) outs(%[[A]] : tensor<2x3xf32>) with {alpha = 2 : i64} -> tensor<2x3xf32>
// CHECK:         backend.out_variant "aten.view_copy.out" of "aten.view" ins(%[[S]] : tensor<2x3xf32>)
// CHECK:         backend.out_variant "aten.view_copy.out"
// CHECK-NEXT:    %[[V:.*]] = backend.alloc : tensor<2xf32>
// CHECK-NEXT:    %[[I:.*]] = backend.alloc : tensor<2xi64>
// CHECK-NEXT:    %{{.*}}, %{{.*}} = backend.out_variant "aten.max.dim_max" of "aten.max.dim" ins(%{{.*}}) outs(%[[V]], %[[I]] : tensor<2xf32>, tensor<2xi64>) with {dim = 1 : i64
// CHECK:         backend.out_variant "npu.best.out" of "npu.best"
// CHECK:         edge.aten.relu6
// CHECK:         backend.out_variant "aten.eq.Tensor_out" of "aten.eq.Tensor"
// CHECK:         backend.out_variant "aten.where.self_out" of "aten.where.self"

// BACK-LABEL: func.func @f
// BACK-NEXT:    edge.aten.add.Tensor(%x, %y, alpha = 2)
// BACK-NEXT:    edge.aten.view
// BACK-NEXT:    edge.aten.view
// BACK-NEXT:    edge.aten.max.dim
// BACK-NEXT:    backend.npu.best
// BACK-NEXT:    edge.aten.relu6
// BACK-NEXT:    edge.aten.eq.Tensor
// BACK-NEXT:    edge.aten.where.self

// BODY-LABEL: func.func @f
// BODY:         edge.aten.tanh
// BODY-NEXT:    edge.aten.max.dim
// BODY-NOT:     backend.

// MISSING: unsupported: edge.aten.relu6: it has no out-variant
// EDGE: backend.alloc: an operator that only backend has
