// RUN: xdsl-opt %s -p decompose-aten | filecheck %s
// RUN: xdsl-opt %s -p decompose-aten --print-debuginfo | filecheck %s --check-prefix=WHENCE
// RUN: xdsl-opt %s -p 'decompose-aten{keep="aten.silu","aten.linear"}' | filecheck %s --check-prefix=KEEP
// RUN: xdsl-opt %s -p 'decompose-aten,decompose-aten' | filecheck %s
// RUN: not xdsl-opt %s -p 'decompose-aten{keep="aten.nonesuch"}' 2>&1 | filecheck %s --check-prefix=UNKNOWN

// UNKNOWN: decompose-aten: keep: unknown operator 'aten.nonesuch'

func.func @linear_silu(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>, %b: tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = aten.linear(%x, %w, %b) {exir.origin = #exir.origin<"linear", "aten.linear", "net.0">} : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32> loc("model.py":3:0)
  %1 = aten.silu(%0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return %1 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @linear_silu
// CHECK:         [[T:%.+]] = aten.permute(%w, dims = [1, 0]) {{.*}} -> tensor<3x4xf32>
// CHECK-NEXT:    [[L:%.+]] = aten.addmm(%b, %x, [[T]]) {{.*}} -> tensor<2x4xf32>
// CHECK-NEXT:    [[S:%.+]] = aten.sigmoid([[L]]) : (tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    [[R:%.+]] = aten.mul.Tensor([[L]], [[S]]) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    func.return [[R]]

// What an operation becomes keeps where it came from.
// WHENCE-LABEL: func.func @linear_silu
// WHENCE:         aten.permute{{.*}} {exir.origin = #exir.origin<"linear", "aten.linear", "net.0">} {{.*}} loc("model.py":3:0)
// WHENCE:         aten.addmm{{.*}} {exir.origin = #exir.origin<"linear", "aten.linear", "net.0">} {{.*}} loc("model.py":3:0)

// KEEP-LABEL: func.func @linear_silu
// KEEP:         aten.linear(%x, %w, %b)
// KEEP-NEXT:    aten.silu(

func.func @attention(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x4x8xf32>, %v: tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32> {
  %0 = aten.scaled_dot_product_attention(%q, %k, %v) : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  func.return %0 : tensor<1x2x4x8xf32>
}

// CHECK-LABEL: func.func @attention
// CHECK:         aten.bmm({{.*}} -> tensor<2x4x4xf32>
// CHECK:         aten._softmax({{.*}}, dim = -1, half_to_float = false)
// CHECK:         aten.bmm({{.*}} -> tensor<2x4x8xf32>
// CHECK-NOT:     scaled_dot_product
// CHECK:         func.return

func.func @chunks(%x: tensor<?x6xf32, #exir.shape<[s0, 6]>>) -> tensor<?x2xf32, #exir.shape<[s0, 2]>> {
  %0, %1, %2 = aten.chunk(%x, chunks = 3, dim = 1) : (tensor<?x6xf32, #exir.shape<[s0, 6]>>) -> (tensor<?x2xf32, #exir.shape<[s0, 2]>>, tensor<?x2xf32, #exir.shape<[s0, 2]>>, tensor<?x2xf32, #exir.shape<[s0, 2]>>)
  func.return %1 : tensor<?x2xf32, #exir.shape<[s0, 2]>>
}

// CHECK-LABEL: func.func @chunks
// CHECK:         %0, %1, %2 = aten.split_with_sizes(%x, split_sizes = [2, 2, 2], dim = 1)
// CHECK-NEXT:    func.return %1

func.func @core_stays(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = aten.relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @core_stays
// CHECK-NEXT:    %0 = aten.relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    func.return %0

func.func @inside_regions(%p: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %y = higher_order.cond %p : tensor<i1> inputs(%x : tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a : tensor<2xf32>):
    %0 = aten.silu(%a) : (tensor<2xf32>) -> tensor<2xf32>
    higher_order.yield %0 : tensor<2xf32>
  } else {
  ^bb0(%a : tensor<2xf32>):
    higher_order.yield %a : tensor<2xf32>
  }
  func.return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func @inside_regions
// CHECK:         higher_order.cond
// CHECK:           aten.sigmoid(%a)
// CHECK-NEXT:      aten.mul.Tensor(%a,
// KEEP-LABEL:  func.func @inside_regions
// KEEP:            aten.silu(%a)

// A recurrent layer is a loop over its steps; what the input contributes is one product before it. Backwards the times are turned round.
func.func @layer(%x: tensor<?x2x3xf32, #exir.shape<[s0, 2, 3]>>, %h: tensor<2x2x4xf32>, %wi: tensor<4x3xf32>, %wh: tensor<4x4xf32>, %vi: tensor<4x3xf32>, %vh: tensor<4x4xf32>) -> tensor<?x2x8xf32, #exir.shape<[s0, 2, 8]>> {
  %0, %1 = aten.rnn_tanh.input(%x, %h, [%wi, %wh, %vi, %vh], has_biases = false, num_layers = 1, dropout = 0.0, train = false, bidirectional = true, batch_first = false) : (tensor<?x2x3xf32, #exir.shape<[s0, 2, 3]>>, tensor<2x2x4xf32>, tensor<4x3xf32>, tensor<4x4xf32>, tensor<4x3xf32>, tensor<4x4xf32>) -> (tensor<?x2x8xf32, #exir.shape<[s0, 2, 8]>>, tensor<2x2x4xf32>)
  func.return %0 : tensor<?x2x8xf32, #exir.shape<[s0, 2, 8]>>
}

// CHECK-LABEL: func.func @layer
// CHECK:         aten.mm(
// CHECK:         [[F:%.+]], [[O:%.+]] = higher_order.scan init({{.*}} : tensor<2x4xf32>) xs({{.*}}) additional(%wh : tensor<4x4xf32>)
// CHECK-NEXT:    ^bb{{.*}}([[H:%.+]]: tensor<2x4xf32>, [[G:%.+]]: tensor<2x4xf32>, [[W:%.+]]: tensor<4x4xf32>):
// CHECK-NEXT:      [[P:%.+]] = aten.permute([[W]], dims = [1, 0])
// CHECK-NEXT:      [[M:%.+]] = aten.mm([[H]], [[P]])
// CHECK-NEXT:      [[S:%.+]] = aten.add.Tensor([[M]], [[G]])
// CHECK-NEXT:      [[N:%.+]] = aten.tanh([[S]])
// CHECK-NEXT:      higher_order.yield [[N]], [[N]]
// CHECK:         aten.flip(%x, dims = [0])
// CHECK:         aten.mm(
// CHECK:         higher_order.scan init({{.*}}) xs({{.*}}) additional(%vh : tensor<4x4xf32>)
// CHECK:         aten.flip({{.*}}, dims = [0])
// CHECK:         aten.cat([[[O]], {{.*}}], dim = -1)
