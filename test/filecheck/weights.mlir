// RUN: xdsl-exir import %s -p fold-constants | filecheck %s --check-prefix=FOLD
// RUN: xdsl-exir import %s -p dedupe-weights | filecheck %s --check-prefix=DEDUPE
// RUN: xdsl-opt %s -p fold-constants,dedupe-weights | filecheck %s --check-prefix=NONE

// The weights are in weights.safetensors: "w" and "same" have the same elements, "count" too, but the program writes to it.
func.func @forward(%w: tensor<3xf32> {exir.input = #exir.input<parameter, "w">},
                   %same: tensor<3xf32> {exir.input = #exir.input<parameter, "same">},
                   %other: tensor<3xf32> {exir.input = #exir.input<parameter, "other">},
                   %count: tensor<3xf32> {exir.input = #exir.input<buffer, "count">},
                   %x: tensor<3xf32> {exir.input = #exir.input<user_input, "x">})
    -> (tensor<3xf32> {exir.output = #exir.output<buffer_mutation, "count">}, tensor<3xf32> {exir.output = #exir.output<user_output>}, tensor<3xf32> {exir.output = #exir.output<user_output>}) {
  %0 = aten.exp(%w) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = aten.mul.Tensor(%0, %other) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %2 = aten.mul.Tensor(%x, %1) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %3 = aten.exp(%count) : (tensor<3xf32>) -> tensor<3xf32>
  %4 = aten.rand_like(%w) : (tensor<3xf32>) -> tensor<3xf32>
  %5 = aten.sub.Tensor(%4, %same) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %3, %2, %5 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// What depends on weights alone is folded, what is written to or random is not; weights that nobody else needs go.
// FOLD-LABEL: func.func @forward(
// FOLD-SAME:    %w: {{[^,]*}}, "w">}, %same: {{[^,]*}}, "same">}, %count: {{[^,]*}}, "count">}, %0: {{[^,]*}}<constant_tensor, "folded_0">}, %x:
// FOLD-NEXT:    %1 = aten.mul.Tensor(%x, %0)
// FOLD-NEXT:    %2 = aten.exp(%count)
// FOLD-NEXT:    %3 = aten.rand_like(%w)
// FOLD-NEXT:    %4 = aten.sub.Tensor(%3, %same)
// FOLD-NEXT:    func.return %2, %1, %4

// DEDUPE-LABEL: func.func @forward(
// DEDUPE-SAME:    %w: {{[^,]*}}, "w">}, %other: {{[^,]*}}, "other">}, %count: {{[^,]*}}, "count">}, %x:
// DEDUPE:         %3 = aten.exp(%count)
// DEDUPE-NEXT:    %4 = aten.rand_like(%w)
// DEDUPE-NEXT:    %5 = aten.sub.Tensor(%4, %w)

// Under xdsl-opt a program has no weights.
// NONE-LABEL: func.func @forward(%w
// NONE-NEXT:    %0 = aten.exp(%w)
// NONE-NEXT:    %1 = aten.mul.Tensor(%0, %other)
// NONE:         %5 = aten.sub.Tensor(%4, %same)
