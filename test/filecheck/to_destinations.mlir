// (xDSL's bufferization.to_tensor takes no memrefs with a layout, hence --disable-verify; this package's context does.)
// RUN: xdsl-opt %s --split-input-file -p to-destinations | filecheck %s
// RUN: xdsl-opt %s --split-input-file -p to-destinations --print-op-generic | xdsl-opt --split-input-file --disable-verify | filecheck %s
// RUN: xdsl-opt %s --split-input-file -p to-destinations,plan-memory,verify-memory | filecheck %s --check-prefix=PLANNED
// RUN: %if mlir-opt %{ xdsl-opt %s --split-input-file -p to-destinations --print-op-generic | mlir-opt-22 --split-input-file > /dev/null %}

// Dispatches are linalg on tensors between memrefs. A product has a kernel of ours, with what follows it in its epilogue; a
// permutation moves nothing, until its result has to be where the caller wants it.
func.func @forward(%x : tensor<4x8xf32>, %w : tensor<8x16xf32>) -> (tensor<4x16xf32>, tensor<16x4xf32>) {
  %0 = edge.aten.mm(%x, %w) : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = edge.aten.relu(%0) : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %2 = edge.aten.flip(%1, dims = [0]) : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %3 = edge.aten.permute(%2, dims = [1, 0]) : (tensor<4x16xf32>) -> tensor<16x4xf32>
  func.return %1, %3 : tensor<4x16xf32>, tensor<16x4xf32>
}
// CHECK:         func.func private @[[MM:exir.kernel_[0-9a-f]*]](%{{.*}}: memref<4x8xf32>, %{{.*}}: memref<8x16xf32>, %[[TO:.*]]: memref<4x16xf32>) attributes {exir.kernel = {is = "Matmul", m = 4 : i64,
// CHECK:           linalg.generic {{.*}}, iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK:           bufferization.materialize_in_destination %{{.*}} in restrict writable %[[TO]] : (tensor<4x16xf32>, memref<4x16xf32>) -> ()
// CHECK:         func.func private @[[FLIP:exir.group_[0-9a-f]*]](%{{.*}}: memref<4x16xf32>, %{{.*}}: memref<4x16xf32>)
// CHECK:           linalg.generic
// CHECK:           bufferization.materialize_in_destination
// CHECK:         func.func private @[[COPY:exir.group_[0-9a-f]*]](%{{.*}}: memref<16x4xf32, strided<[1, 16]>>, %{{.*}}: memref<16x4xf32>)
// CHECK-NEXT:      linalg.copy
// CHECK:         func.func @forward(%[[X:.*]]: memref<4x8xf32>, %[[W:.*]]: memref<8x16xf32>, %[[OUT0:.*]]: memref<4x16xf32>, %[[OUT1:.*]]: memref<16x4xf32>)
// CHECK-NEXT:      func.call @[[MM]](%[[X]], %[[W]], %[[OUT0]])
// CHECK-NEXT:      %[[A:.*]] = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
// CHECK-NEXT:      func.call @[[FLIP]](%[[OUT0]], %[[A]])
// CHECK-NEXT:      %[[P:.*]] = memref.reinterpret_cast %[[A]] to offset: [0], sizes: [16, 4], strides: [1, 16]
// CHECK-NEXT:      func.call @[[COPY]](%[[P]], %[[OUT1]])
// CHECK-NEXT:      func.return
// PLANNED-LABEL: func.func @forward(
// PLANNED-SAME:    %{{.*}}: memref<256xi8>) attributes {{{.*}}exir.arena_bytes = 256 : i64}
// PLANNED:         memref.view %{{.*}}[%{{.*}}][] : memref<256xi8> to memref<4x16xf32>

// -----

// Symbols come first; sizes that the driver needs are computed from them at its top. Loops are scf, an element of what they go over is a view at an
// offset that is computed inside.
func.func @scan(%x : tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<3xf32> attributes {exir.ranges = {"s0" = #exir.range<1, 100>}} {
  %zero = exir.constant 0.0 : tensor<3xf32>
  %last = higher_order.scan init(%zero : tensor<3xf32>) xs(%x : tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<3xf32> {
  ^bb0(%sum : tensor<3xf32>, %row : tensor<3xf32>):
    %next = edge.aten.add.Tensor(%sum, %row) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    higher_order.yield %next : tensor<3xf32>
  }
  func.return %last : tensor<3xf32>
}
// CHECK:         func.func @scan(%[[S0:.*]]: index, %[[X:.*]]: memref<?xf32>, %{{.*}}: memref<3xf32>, %[[OUT:.*]]: memref<3xf32>) attributes {{{.*}}exir.symbols = ["s0"], exir.plan = {inputs = [0 : i64], constants = ["scan.constant_0"], copies = [], updates = [], conditions = [], checks = []}
// CHECK:           scf.for %[[TURN:.*]] = %{{.*}} to %[[S0]] step %{{.*}} {
// CHECK:             %[[AT:.*]] = arith.muli %{{.*}}, %[[TURN]] : index
// CHECK:             memref.reinterpret_cast %[[X]] to offset: [%[[AT]]], sizes: [3], strides: [1] : memref<?xf32> to memref<3xf32, strided<[1], offset: ?>>
// CHECK:             func.call @exir.kernel{{.*}}
// CHECK:           }

// -----

// A size that depends on data is read where it is known; memory is as much as it may need, and the caller is given the number to cut the result.
func.func @positive(%x : tensor<8xf32>) -> tensor<?xf32, #exir.shape<[u0]>> {
  %zero = exir.constant 0.0 : tensor<f32>
  %mask = edge.aten.gt.Tensor(%x, %zero) : (tensor<8xf32>, tensor<f32>) -> tensor<8xi1>
  %values = edge.aten.masked_select(%x, %mask) : (tensor<8xf32>, tensor<8xi1>) -> tensor<?xf32, #exir.shape<[u0]>>
  %sorted, %places = edge.aten.sort.stable(%values, stable = true) : (tensor<?xf32, #exir.shape<[u0]>>) -> (tensor<?xf32, #exir.shape<[u0]>>, tensor<?xi64, #exir.shape<[u0]>>)
  func.return %sorted : tensor<?xf32, #exir.shape<[u0]>>
}
// CHECK:         func.func @positive(%[[X:.*]]: memref<8xf32>, %[[OUT:.*]]: memref<?xf32>, %[[COUNT:.*]]: memref<i64>)
// CHECK-SAME:      checks = [], reads = [["u0", 8 : i64]]}
// CHECK:           func.call @{{.*}}(%{{.*}}, %[[COUNT]])
// CHECK:           %[[READ:.*]] = memref.load %[[COUNT]][] : memref<i64>
// CHECK-NEXT:      %[[U0:.*]] = arith.index_cast %[[READ]] : i64 to index
// CHECK:           %[[VALUES:.*]] = memref.alloc(%[[U0]]) {alignment = 64 : i64, exir.bytes = 32 : i64
// CHECK:           func.call @{{.*}}(%[[U0]], %{{.*}}, %[[X]], %[[VALUES]])
// CHECK:           %[[TO:.*]] = memref.reinterpret_cast %[[OUT]] to offset: [0], sizes: [%[[U0]]], strides: [1]
// PLANNED-LABEL: func.func @positive(
// PLANNED:         memref.view %{{.*}}[%{{.*}}][%{{.*}}] {{.*}}exir.bytes = 32 : i64{{.*}} : memref<{{[0-9]+}}xi8> to memref<?xf32>
