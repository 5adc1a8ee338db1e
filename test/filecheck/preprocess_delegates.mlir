// DEFINE: %{opt} = env XDSL_EXIR_TARGETS=%S/Inputs/chip.py xdsl-opt
// RUN: %{opt} %s -p 'partition{backend=chip ops="aten.mm" constants=true specs="speed=high","size=2"},verify-edge' | filecheck %s
// RUN: %{opt} %s -p 'partition{backend=chip ops="aten.mm" constants=true specs="speed=high","size=2"}' | %{opt} | filecheck %s
// RUN: %{opt} %s -p 'partition{backend=chip ops="aten.mm" constants=true specs="speed=high","size=2"}' --print-op-generic | %{opt} | filecheck %s
// RUN: %{opt} %s -p 'partition{backend=chip ops="aten.mm" constants=true},inline-delegates,verify-backend' | filecheck %s --check-prefix=BACK
// RUN: %{opt} %s -p 'partition{backend=chip ops="aten.relu"},fuse-operators,preprocess-delegates' | filecheck %s --check-prefix=DONE
// RUN: %{opt} %s -p preprocess-delegates,verify-edge | filecheck %s --check-prefix=FIRST
// RUN: not %{opt} %s -p 'partition{backend=vendor ops="aten.relu"},fuse-operators,preprocess-delegates' 2>&1 | filecheck %s --check-prefix=NOBODY
// RUN: not %{opt} %s -p 'partition{backend=chip ops="aten.relu" specs="speed"}' 2>&1 | filecheck %s --check-prefix=SPEC

func.func @forward(%w : tensor<3x4xf32> {exir.input = #exir.input<parameter, "w">}, %x : tensor<?x3xf32, #exir.shape<[s0, 3]>> {exir.input = #exir.input<user_input, "x">}) -> (tensor<?x4xf32, #exir.shape<[s0, 4]>> {exir.output = #exir.output<user_output, "y">}) attributes {exir.ranges = {s0 = #exir.range<1, 8>, s1 = #exir.range<1, 9>}} {
  %0 = edge.aten.mm(%x, %w) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<3x4xf32>) -> tensor<?x4xf32, #exir.shape<[s0, 4]>>
  %1 = edge.aten.relu(%0) : (tensor<?x4xf32, #exir.shape<[s0, 4]>>) -> tensor<?x4xf32, #exir.shape<[s0, 4]>>
  func.return %1 : tensor<?x4xf32, #exir.shape<[s0, 4]>>
}
// CHECK:      func.func @forward(%x: tensor<?x3xf32, #exir.shape<[s0, 3]>> {exir.input = #exir.input<user_input, "x">})
// CHECK-NEXT:   %0 = backend.delegate "chip" constants [#exir.input<parameter, "w">] specs {speed = "high", size = "2"} ranges {s0 = #exir.range<1, 8>} inputs(%x : tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x4xf32, #exir.shape<[s0, 4]>> {
// CHECK-NEXT:   ^bb0(%x_1: tensor<?x3xf32, #exir.shape<[s0, 3]>>, %w: tensor<3x4xf32>):
// CHECK-NEXT:     %1 = edge.aten.mm(%x_1, %w)
// CHECK-NEXT:     backend.yield %1
// CHECK-NEXT:   }
// CHECK-NEXT:   edge.aten.relu(%0)

// BACK: func.func @forward(%w: tensor<3x4xf32> {exir.input = #exir.input<parameter, "w">}, %x:
// BACK-NEXT: edge.aten.mm(%x, %w)

// DONE: backend.delegate "chip" ranges {s0 = #exir.range<1, 8>} processed "chip.processed_0" inputs(

// What is in it is said in operators of edge from then on.
func.func @square(%x : tensor<2xf32>) -> tensor<2xf32> {
  %0 = backend.delegate "chip" inputs(%x : tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a : tensor<2xf32>):
    %1 = backend.chip.square(%a) : (tensor<2xf32>) -> tensor<2xf32>
    backend.yield %1 : tensor<2xf32>
  }
  func.return %0 : tensor<2xf32>
}
// FIRST-LABEL: func.func @square
// FIRST-NEXT:    backend.delegate "chip" processed "chip.processed_0" inputs(%x : tensor<2xf32>)
// FIRST-NEXT:    ^bb0(%a: tensor<2xf32>):
// FIRST-NEXT:      edge.aten.mul.Tensor(%a, %a)
// FIRST-NEXT:      backend.yield

// NOBODY: delegate of backend vendor: it is not registered
// SPEC: partition: specs are 'key=value', not 'speed'
