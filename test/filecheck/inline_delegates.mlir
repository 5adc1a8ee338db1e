// RUN: xdsl-opt %s -p inline-delegates | filecheck %s
// RUN: xdsl-opt %s -p 'inline-delegates{keep=vendor}' | filecheck %s --check-prefix=KEEP

func.func @f(%x : tensor<2xf32>) -> tensor<2xf32> {
  %0 = backend.delegate "vendor" inputs(%x : tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a : tensor<2xf32>):
    %1 = edge.aten.relu(%a) : (tensor<2xf32>) -> tensor<2xf32>
    backend.yield %1 : tensor<2xf32>
  }
  %2 = backend.delegate "other" inputs(%0 : tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a : tensor<2xf32>):
    %3 = edge.aten.exp(%a) : (tensor<2xf32>) -> tensor<2xf32>
    backend.yield %3 : tensor<2xf32>
  }
  func.return %2 : tensor<2xf32>
}
// CHECK-LABEL: func.func @f(
// CHECK-NEXT:    %a = edge.aten.relu(%x)
// CHECK-NEXT:    %{{.*}} = edge.aten.exp(%a)
// CHECK-NEXT:    func.return

// KEEP:        backend.delegate "vendor"
// KEEP-NOT:    backend.delegate "other"
// KEEP:        edge.aten.exp(
