// RUN: xdsl-opt %s -p to-irdl-names | filecheck %s --check-prefix=TO
// RUN: xdsl-opt %s -p to-irdl-names,from-irdl-names | filecheck %s --check-prefix=BACK
// RUN: xdsl-opt %s -p to-irdl-names | xdsl-opt --allow-unregistered-dialect -p from-irdl-names | filecheck %s --check-prefix=BACK

func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = aten.add.Tensor(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = arith.constant 0 : index
  func.return %0 : tensor<2x3xf32>
}
// Operations of other dialects keep their names.
// TO:        %0 = "aten.add_dot_tensor"(%x, %x) {alpha = 1 : i64}
// TO-NEXT:   %1 = arith.constant 0 : index
// BACK:      %0 = aten.add.Tensor(%x, %x) :
// BACK-NEXT: %1 = arith.constant 0 : index
