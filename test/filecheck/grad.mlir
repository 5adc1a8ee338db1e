// RUN: xdsl-opt %s --split-input-file -p grad | filecheck %s
// RUN: xdsl-opt %s --split-input-file -p 'grad{wrt=x,w recompute="aten.sin"}' | filecheck %s --check-prefix=AGAIN
// RUN: xdsl-opt %s --split-input-file -p 'grad{wrt=x cotangents=true}' | filecheck %s --check-prefix=GIVEN
// RUN: xdsl-opt %s --split-input-file -p 'grad{wrt=w},grad{wrt=w of=w cotangents=true}' | filecheck %s --check-prefix=TWICE
// RUN: xdsl-opt %s --split-input-file -p 'grad{wrt=x,w},decompose-aten,aten-to-edge,verify-edge' | filecheck %s --check-prefix=EDGE

// The gradient of a parameter, whose bits were repeated; what the backward pass uses of the forward one is the sine.
func.func @forward(%w: tensor<3xf32> {exir.input = #exir.input<parameter, "w">}, %x: tensor<2x3xf32> {exir.input = #exir.input<user_input, "x">}) -> tensor<f32> {
  %0 = aten.sin(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.mul.Tensor(%0, %w) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2 = aten.sum(%1) : (tensor<2x3xf32>) -> tensor<f32>
  func.return %2 : tensor<f32>
}
// CHECK:        -> (tensor<f32> {exir.output = #exir.output<loss_output>}, tensor<3xf32> {exir.output = #exir.output<gradient_to_parameter, "w">})
// CHECK-NEXT:     %0 = aten.sin(%x)
// CHECK-NEXT:     %1 = aten.mul.Tensor(%0, %w)
// CHECK-NEXT:     %2 = aten.sum.dim_IntList(%1, dim = [])
// CHECK-NEXT:     %3 = aten.full(size = [], fill_value = 1, dtype = f32)
// CHECK-NEXT:     %4 = aten.expand(%3, size = [2, 3])
// CHECK-NEXT:     %5 = aten.mul.Tensor(%4, %0)
// CHECK-NEXT:     %6 = aten.sum.dim_IntList(%5, dim = [0])
// CHECK-NEXT:     func.return %2, %6

// AGAIN:        gradient_to_user_input, "x">}, tensor<3xf32> {exir.output = #exir.output<gradient_to_parameter, "w">}
// AGAIN:          %[[SIN:\w+]] = aten.sin(%x) : (
// AGAIN-NEXT:     %{{\w+}} = aten.mul.Tensor(%[[SIN]], %w)
// AGAIN:          %[[ANEW:\w+]] = aten.sin(%x) {exir.recomputed}
// AGAIN-NEXT:     %{{\w+}} = aten.mul.Tensor(%{{\w+}}, %[[ANEW]])
// AGAIN:          aten.cos(%x)

// GIVEN:        %cotangent: tensor<f32> {exir.input = #exir.input<user_input, "cotangent_0">}) -> (tensor<f32> {exir.output = #exir.output<user_output>}, tensor<2x3xf32>

// It is linear in w: the second gradient is none.
// TWICE:        %[[NONE:\w+]] = aten.full(size = [3], fill_value = 0, dtype = f32)
// TWICE-NEXT:   func.return %{{\w+}}, %{{\w+}}, %[[NONE]]

// EDGE:         edge.aten.cos(%x)
// EDGE:         func.return

// -----

// Of a branch both have gradients; where one does not use the parameter, it is zero.
func.func @branches(%w: tensor<3xf32> {exir.input = #exir.input<parameter, "w">}, %x: tensor<3xf32>, %p: tensor<i1>) -> tensor<f32> {
  %0 = higher_order.cond %p : tensor<i1> inputs(%x, %w : tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a : tensor<3xf32>, %b : tensor<3xf32>):
    %1 = aten.mul.Tensor(%a, %b) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    higher_order.yield %1 : tensor<3xf32>
  } else {
  ^bb1(%a : tensor<3xf32>, %b : tensor<3xf32>):
    higher_order.yield %a : tensor<3xf32>
  }
  %2 = aten.sum(%0) : (tensor<3xf32>) -> tensor<f32>
  func.return %2 : tensor<f32>
}
// CHECK-LABEL:  func.func @branches
// CHECK:          %[[GRAD:\w+]] = higher_order.cond %p : tensor<i1> inputs(%x, %w, %{{\w+}} : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> {
// CHECK-NEXT:     ^{{\w+}}(%[[A:\w+]]: tensor<3xf32>, %{{\w+}}: tensor<3xf32>, %[[G:\w+]]: tensor<3xf32>):
// CHECK-NEXT:       %[[OF:\w+]] = aten.mul.Tensor(%[[G]], %[[A]])
// CHECK-NEXT:       higher_order.yield %[[OF]]
// CHECK-NEXT:     } else {
// CHECK:            %[[ZERO:\w+]] = aten.full(size = [3], fill_value = 0, dtype = f32)
// CHECK-NEXT:       higher_order.yield %[[ZERO]]
// CHECK:          func.return %{{\w+}}, %[[GRAD]]

// -----

// A scan goes back from the end; the forward one keeps what each step began with.
func.func @steps(%w: tensor<3xf32> {exir.input = #exir.input<parameter, "w">}, %x: tensor<4x3xf32>) -> tensor<f32> {
  %0 = higher_order.scan init(%w : tensor<3xf32>) xs(%x : tensor<4x3xf32>) -> tensor<3xf32> {
  ^bb0(%carry : tensor<3xf32>, %a : tensor<3xf32>):
    %1 = aten.mul.Tensor(%carry, %a) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    higher_order.yield %1 : tensor<3xf32>
  }
  %2 = aten.sum(%0) : (tensor<3xf32>) -> tensor<f32>
  func.return %2 : tensor<f32>
}
// CHECK-LABEL:  func.func @steps
// CHECK:          %[[LAST:\w+]], %[[KEPT:\w+]] = higher_order.scan init(%w : tensor<3xf32>) xs(%x : tensor<4x3xf32>) -> tensor<3xf32>, tensor<4x3xf32>
// CHECK:            higher_order.yield %{{\w+}}, %carry
// CHECK:          %[[X:\w+]] = aten.flip(%x, dims = [0])
// CHECK-NEXT:     %[[BACK:\w+]] = higher_order.scan init(%{{\w+}} : tensor<3xf32>) xs(%{{\w+}}, %[[X]] : tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<3xf32>
// CHECK:          func.return %{{\w+}}, %[[BACK]]
