// RUN: xdsl-opt %s -p lay-results,verify-edge | filecheck %s

// What is computed by elements of turned operands lies as they do; operands that repeat are turned.
func.func @turned(%x: tensor<2x3x4xf32>, %y: tensor<2x3x4xf32>, %b: tensor<3xf32>) -> (tensor<2x4x3xf32> {exir.output = #exir.output<user_output, dim_order = [0, 2, 1]>}) {
  %0 = edge.aten.permute(%x, dims = [0, 2, 1]) : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %1 = edge.aten.permute(%y, dims = [0, -1, 1]) : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %2 = edge.aten.relu(%0) : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  %3 = edge.aten.mul.Tensor(%2, %b) : (tensor<2x4x3xf32>, tensor<3xf32>) -> tensor<2x4x3xf32>
  %4 = edge.aten.add.Tensor(%3, %1) : (tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  func.return %4 : tensor<2x4x3xf32>
}
// CHECK-LABEL: func.func @turned
// CHECK-NEXT:    [[R:%\S+]] = edge.aten.relu(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    [[U:%\S+]] = edge.aten.unsqueeze(%b, dim = 0)
// CHECK-NEXT:    [[V:%\S+]] = edge.aten.unsqueeze([[U]], dim = 0)
// CHECK-NEXT:    [[B:%\S+]] = edge.aten.permute([[V]], dims = [0, 2, 1]) : (tensor<1x1x3xf32>) -> tensor<1x3x1xf32>
// CHECK-NEXT:    [[M:%\S+]] = edge.aten.mul.Tensor([[R]], [[B]])
// CHECK-NEXT:    [[A:%\S+]] = edge.aten.add.Tensor([[M]], %y) : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    [[P:%\S+]] = edge.aten.permute([[A]], dims = [0, 2, 1]) : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
// CHECK-NEXT:    func.return [[P]]

// An operand that lies otherwise, a result that others use, an order that is another one, and none: all stay.
func.func @others(%x: tensor<3x4xf32>, %y: tensor<4x3xf32>) -> (tensor<4x3xf32> {exir.output = #exir.output<user_output, dim_order = [1, 0]>}, tensor<4x3xf32> {exir.output = #exir.output<user_output, dim_order = [1, 0]>}, tensor<4x3xf32> {exir.output = #exir.output<user_output>}) {
  %0 = edge.aten.permute(%x, dims = [1, 0]) : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %1 = edge.aten.add.Tensor(%0, %y) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %2 = edge.aten.relu(%0) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %3 = edge.aten.neg(%2) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  func.return %1, %2, %3 : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>
}
// CHECK-LABEL: func.func @others
// CHECK-NEXT:    edge.aten.permute
// CHECK-NEXT:    edge.aten.add.Tensor
// CHECK-NEXT:    edge.aten.relu
// CHECK-NEXT:    edge.aten.neg
// CHECK-NEXT:    func.return
