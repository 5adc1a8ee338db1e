// RUN: not xdsl-opt %s -p 'grad{method=order}' 2>&1 | filecheck %s --check-prefix=ORDER
// RUN: not xdsl-opt %s -p 'grad{method=vector}' 2>&1 | filecheck %s --check-prefix=VECTOR
// RUN: not xdsl-opt %s -p 'grad{method=nothing}' 2>&1 | filecheck %s --check-prefix=NOTHING
// RUN: not xdsl-opt %s -p 'grad{method=two}' 2>&1 | filecheck %s --check-prefix=TWO
// RUN: not xdsl-opt %s -p 'grad{method=two of=2}' 2>&1 | filecheck %s --check-prefix=THIRD
// RUN: not xdsl-opt %s -p 'grad{method=later}' 2>&1 | filecheck %s --check-prefix=LATER
// RUN: not xdsl-opt %s -p 'grad{method=two wrt=v of=0}' 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not xdsl-opt %s -p 'grad{method=whole of=0}' 2>&1 | filecheck %s --check-prefix=WHOLE
// RUN: not xdsl-opt %s -p 'grad{method=whole wrt=n of=1}' 2>&1 | filecheck %s --check-prefix=INPUT
// RUN: not xdsl-opt %s -p 'grad{recompute=cheap}' 2>&1 | filecheck %s --check-prefix=CHEAP

// All operators that no gradient passes are named, with the line of Python that each is of.
func.func @order(%w: tensor<3xf32> {exir.input = #exir.input<parameter, "w">}) -> tensor<f32> {
  %0 = aten.special_bessel_j0(%w) : (tensor<3xf32>) -> tensor<3xf32> loc("model.py":7:0)
  %1 = aten.special_airy_ai(%0) : (tensor<3xf32>) -> tensor<3xf32> loc("model.py":8:0)
  %2 = aten.sum(%1) : (tensor<3xf32>) -> tensor<f32>
  func.return %2 : tensor<f32>
}
// ORDER: unsupported: aten.special_bessel_j0: it has no gradient rule (model.py:7); aten.special_airy_ai: it has no gradient rule (model.py:8)

func.func @vector(%w: tensor<3xf32> {exir.input = #exir.input<parameter, "w">}) -> tensor<3xf32> {
  func.return %w : tensor<3xf32>
}
// VECTOR: grad: the output is tensor<3xf32>, and a loss is one real number: name another, or give cotangents

func.func @nothing(%x: tensor<f32> {exir.input = #exir.input<user_input, "x">}) -> tensor<f32> {
  func.return %x : tensor<f32>
}
// NOTHING: grad: no parameters; wrt names some of x

func.func @two(%w: tensor<f32> {exir.input = #exir.input<parameter, "w">}) -> (tensor<f32>, tensor<f32>) {
  func.return %w, %w : tensor<f32>, tensor<f32>
}
// TWO: grad: 2 outputs: `of` says which is the loss
// THIRD: grad: of: no output 2; there are 2
// NAME: grad: wrt: no 'v'; there is w

func.func @later(%w: tensor<f32> {exir.input = #exir.input<parameter, "w">}) -> tensor<f32> {
  %0 = edge.aten.sin(%w) : (tensor<f32>) -> tensor<f32>
  func.return %0 : tensor<f32>
}
// LATER: grad: edge.aten.sin: gradients are taken in aten, before to_edge

func.func @whole(%w: tensor<f32> {exir.input = #exir.input<parameter, "w">}, %n: tensor<i64>) -> (tensor<i64>, tensor<f32>) {
  func.return %n, %w : tensor<i64>, tensor<f32>
}
// WHOLE: grad: the output is tensor<i64>: only floats have gradients
// INPUT: grad: wrt: 'n' is tensor<i64>: only floats have gradients
// CHEAP: grad: recompute: 'cheap' is no operator, no pattern of some, and no family
