// RUN: xdsl-opt %s -p 'partition{backend=native ops="aten.mm","aten.relu","aten.mul.*"},verify-edge' | filecheck %s
// RUN: xdsl-opt %s -p 'partition{backend=native ops="aten.mm","aten.relu","aten.mul.*"}' | xdsl-opt | filecheck %s
// RUN: xdsl-opt %s -p 'partition{backend=native ops="aten.mm","aten.relu","aten.mul.*"}' --print-op-generic | xdsl-opt | filecheck %s
// RUN: %if mlir-opt %{ xdsl-opt %s -p 'partition{backend=native ops="aten.mm"}' --print-op-generic | mlir-opt-22 --allow-unregistered-dialect --mlir-print-op-generic | xdsl-opt | filecheck %s --check-prefix=MLIR %}
// RUN: xdsl-opt %s -p 'partition{backend=other ops="aten.*"},inline-delegates,verify-edge' | filecheck %s --check-prefix=INLINE
// RUN: xdsl-opt %s -p 'partition{backend=native ops="aten.mm","aten.relu","aten.mul.*"},canonicalize,cse,dce' | filecheck %s --check-prefix=CLEAN
// RUN: xdsl-opt %s -t 'exir-run{inputs=arange}' > %t.whole
// RUN: xdsl-opt %s -p 'partition{backend=native ops="aten.*"}' -t 'exir-run{inputs=arange delegates=region}' > %t.parts
// RUN: diff %t.whole %t.parts
// RUN: not xdsl-opt %s -p 'partition{backend=native ops="aten.mmm"}' 2>&1 | filecheck %s --check-prefix=UNKNOWN

// The literal is copied; what is listed before the sort is one group, what depends on the sort another.
func.func @literal_and_two_results(%x : tensor<2x3xf32>, %w : tensor<3x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xi64>) {
  %two = exir.constant 2.0 : tensor<f32>
  %0 = edge.aten.mm(%x, %w) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = edge.aten.mul.Tensor(%0, %two) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %v, %i = edge.aten.sort(%1) : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xi64>)
  %2 = edge.aten.relu(%v) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = edge.aten.mul.Tensor(%2, %0) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return %3, %i : tensor<2x4xf32>, tensor<2x4xi64>
}
// CHECK-LABEL: func.func @literal_and_two_results
// CHECK-NEXT:    %0, %1 = backend.delegate "native" inputs(%x, %w : tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>, tensor<2x4xf32> {
// CHECK-NEXT:    ^bb0(%x_1: tensor<2x3xf32>, %w_1: tensor<3x4xf32>):
// CHECK-NEXT:      %two = exir.constant 2.0 : tensor<f32>
// CHECK-NEXT:      %2 = edge.aten.mm(%x_1, %w_1)
// CHECK-NEXT:      %3 = edge.aten.mul.Tensor(%2, %two)
// CHECK-NEXT:      backend.yield %2, %3 : tensor<2x4xf32>, tensor<2x4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %v, %i = edge.aten.sort(%1)
// CHECK-NEXT:    %{{.*}} = backend.delegate "native" inputs(%v, %0 : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      edge.aten.relu
// CHECK-NEXT:      edge.aten.mul.Tensor
// CHECK-NEXT:      backend.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %{{.*}}, %i

// MLIR-LABEL: func.func @literal_and_two_results
// MLIR:         backend.delegate "native" inputs(%{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> {

// INLINE-LABEL: func.func @literal_and_two_results
// INLINE-NOT:     backend.
// INLINE:         func.return

// CLEAN-LABEL: func.func @literal_and_two_results
// CLEAN:         backend.delegate
// CLEAN:         backend.delegate
// CLEAN:         func.return

// %0 with %5 would be convex, and so would %3 with %2, but each of the two groups would wait for the other.
func.func @no_cycle_between_groups(%x : tensor<2x2xf32>, %y : tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %0 = edge.aten.mm(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = edge.aten.sin(%0) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = edge.aten.relu(%1) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = edge.aten.mm(%y, %y) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = edge.aten.cos(%3) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %5 = edge.aten.relu(%4) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  func.return %2, %5 : tensor<2x2xf32>, tensor<2x2xf32>
}
// CHECK-LABEL: func.func @no_cycle_between_groups
// CHECK-NEXT:    %0, %1 = backend.delegate "native" inputs(%x, %y
// CHECK:           edge.aten.mm
// CHECK-NEXT:      edge.aten.mm
// CHECK-NEXT:      backend.yield
// CHECK:         edge.aten.sin(%0)
// CHECK-NEXT:    edge.aten.cos(%1)
// CHECK-NEXT:    backend.delegate
// CHECK:           edge.aten.relu
// CHECK-NEXT:      edge.aten.relu
// CHECK-NEXT:      backend.yield

// Random numbers are drawn in order, outside of delegates; in a region, groups are made inside.
func.func @effects_and_regions(%p : tensor<i1>, %x : tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %r = higher_order.cond %p : tensor<i1> inputs(%x : tensor<2x2xf32>) -> tensor<2x2xf32> {
  ^bb0(%a : tensor<2x2xf32>):
    %0 = edge.aten.relu(%a) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %1 = edge.aten.mm(%0, %a) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    higher_order.yield %1 : tensor<2x2xf32>
  } else {
  ^bb0(%a : tensor<2x2xf32>):
    higher_order.yield %a : tensor<2x2xf32>
  }
  %n = edge.aten.sum(%r) : (tensor<2x2xf32>) -> tensor<f32>
  %m = edge.aten.mul.Tensor(%r, %n) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %d = edge.aten.rand_like(%m) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %e = edge.aten.rand_like(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %f = edge.aten.sub.Tensor(%d, %d) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  func.return %m, %f : tensor<2x2xf32>, tensor<2x2xf32>
}
// CHECK-LABEL: func.func @effects_and_regions
// CHECK-NEXT:    higher_order.cond
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      backend.delegate
// CHECK:             edge.aten.relu
// CHECK-NEXT:        edge.aten.mm
// CHECK:           higher_order.yield
// CHECK:         edge.aten.sum
// CHECK-NEXT:    %m = backend.delegate
// CHECK:           edge.aten.mul.Tensor
// CHECK:         %d = edge.aten.rand_like(%m)
// CHECK-NEXT:    %e = edge.aten.rand_like(%x)

// UNKNOWN: partition: no operator matches 'aten.mmm'
