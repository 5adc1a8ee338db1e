// Patterns as data: PDL in a file, and in the same module. What they build has what they do not say: properties that are
// missing are defaults, results have the types that the operator gives.
// DEFINE: %{opt} = env XDSL_EXIR_OPS=%S/../../examples/fused/fused.yaml xdsl-opt
// RUN: %{opt} %s -p 'apply-pdl{pdl_file="%S/../../examples/fused/fuse.mlir"}' | filecheck %s --check-prefix=FILE
// RUN: %{opt} %s -p apply-pdl | filecheck %s --check-prefix=SAME
// RUN: %{opt} %s -p apply-pdl --print-op-generic | filecheck %s --check-prefix=GENERIC

func.func @fused(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>, %b: tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = aten.linear(%x, %w, %b) : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %1 = aten.gelu(%0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return %1 : tensor<2x4xf32>
}
// FILE-LABEL: func.func @fused
// FILE-NEXT:    %0 = fused.linear_gelu(%x, %w, %b) : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
// FILE-NEXT:    func.return %0

// An attribute that the pattern says is another one here; a result that others use stays.
func.func @others(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>, %b: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = aten.linear(%x, %w, %b) : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %1 = aten.gelu(%0, approximate = "tanh") : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = aten.gelu(%0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return %0, %1, %2 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}
// FILE-LABEL: func.func @others
// FILE-NEXT:    %0 = aten.linear(%x, %w, %b)
// FILE-NEXT:    %1 = aten.gelu(%0, approximate = "tanh")
// FILE-NEXT:    %2 = fused.linear_gelu(%x, %w, %b)

func.func @here(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>, %b: tensor<2x4xf32>) -> tensor<2x8xf32> {
  %0 = edge.aten.mm(%x, %w) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = edge.aten.add.Tensor(%0, %b) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = edge.aten.add.Tensor(%0, %b, alpha = 2) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = edge.aten.cat([%1, %2], dim = 1) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  func.return %3 : tensor<2x8xf32>
}
// SAME-LABEL: func.func @here
// SAME-NEXT:    %0 = edge.aten.addmm(%b, %x, %w) : (tensor<2x4xf32>, tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
// SAME-NEXT:    %1 = edge.aten.addmm(%b, %x, %w, beta = 2) : (tensor<2x4xf32>, tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
// GENERIC:      "edge.aten.addmm"(%b, %x, %w) <{beta = 1 : i64, alpha = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}>

// Lists of tensors: which operands they have follows. What is built between has another type than what is replaced.
func.func @lists(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<3x4xf32> {
  %0 = aten.hstack([%x, %y]) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %1 = aten.view(%0, size = [3, 4]) : (tensor<2x6xf32>) -> tensor<3x4xf32>
  func.return %1 : tensor<3x4xf32>
}
// SAME-LABEL: func.func @lists
// SAME-NEXT:    %0 = aten.cat([%x, %y], dim = 1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
// SAME-NEXT:    %1 = aten.reshape(%0, shape = [3, 4]) : (tensor<2x6xf32>) -> tensor<3x4xf32>

// A value of an attribute is a variable like others.
pdl.pattern @to_addmm : benefit(1) {
  %x = pdl.operand
  %w = pdl.operand
  %b = pdl.operand
  %alpha = pdl.attribute
  %type = pdl.type
  %0 = pdl.operation "edge.aten.mm" (%x, %w : !pdl.value, !pdl.value) -> (%type : !pdl.type)
  %1 = pdl.result 0 of %0
  %2 = pdl.operation "edge.aten.add.Tensor" (%1, %b : !pdl.value, !pdl.value) {"alpha" = %alpha} -> (%type : !pdl.type)
  pdl.rewrite %2 {
    %3 = pdl.operation "edge.aten.addmm" (%b, %x, %w : !pdl.value, !pdl.value, !pdl.value) {"beta" = %alpha}
    pdl.replace %2 with %3
  }
}

pdl.pattern @to_cat : benefit(1) {
  %x = pdl.operand
  %y = pdl.operand
  %size = pdl.attribute
  %type = pdl.type
  %result = pdl.type
  %0 = pdl.operation "aten.hstack" (%x, %y : !pdl.value, !pdl.value) -> (%type : !pdl.type)
  %1 = pdl.result 0 of %0
  %2 = pdl.operation "aten.view" (%1 : !pdl.value) {"size" = %size} -> (%result : !pdl.type)
  pdl.rewrite %2 {
    %one = pdl.attribute = 1 : i64
    %3 = pdl.operation "aten.cat" (%x, %y : !pdl.value, !pdl.value) {"dim" = %one}
    %4 = pdl.result 0 of %3
    %5 = pdl.operation "aten.reshape" (%4 : !pdl.value) {"shape" = %size}
    pdl.replace %2 with %5
  }
}
