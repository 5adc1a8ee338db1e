// RUN: xdsl-opt %s -p edge-to-linalg | filecheck %s

func.func @relu(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = edge.aten.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
// CHECK-LABEL: func.func @relu(
// CHECK:         linalg.generic
// CHECK-NOT:     edge.

// A symbol that only a multiple of it plus a constant says.
func.func @derived(%x : tensor<?xf32, #exir.shape<[2 * s0 + 1]>>) -> tensor<?xf32, #exir.shape<[2 * s0 + 1]>> {
  %0 = edge.aten.relu(%x) : (tensor<?xf32, #exir.shape<[2 * s0 + 1]>>) -> tensor<?xf32, #exir.shape<[2 * s0 + 1]>>
  func.return %0 : tensor<?xf32, #exir.shape<[2 * s0 + 1]>>
}
// CHECK-LABEL: func.func @derived(
// CHECK:         %[[SIZE:.*]] = tensor.dim %x
// CHECK:         %[[REST:.*]] = arith.subi %[[SIZE]]
// CHECK:         %[[S0:.*]] = arith.divsi %[[REST]]
// CHECK:         arith.muli {{.*}} %[[S0]]

// In reverse order by an affine map; a size that is not known, which no map names, by reading each element.
func.func @flip(%x : tensor<4x6xf32>, %y : tensor<?xf32, #exir.shape<[s0]>>) -> (tensor<4x6xf32>, tensor<?xf32, #exir.shape<[s0]>>) {
  %0 = edge.aten.flip(%x, dims = [0]) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = edge.aten.flip(%y, dims = [-1]) : (tensor<?xf32, #exir.shape<[s0]>>) -> tensor<?xf32, #exir.shape<[s0]>>
  func.return %0, %1 : tensor<4x6xf32>, tensor<?xf32, #exir.shape<[s0]>>
}
// CHECK-LABEL: func.func @flip(
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (((d0 * -1) + 3), d1)>, affine_map<(d0, d1) -> (d0, d1)>]
// CHECK-NEXT:    ^bb
// CHECK-NEXT:      linalg.yield
// CHECK:         tensor.extract %y

// A size that depends on data is the number that a tensor holds; what is asserted of it, unless it always holds, is asserted here.
func.func @few(%x : tensor<8xi1>) -> tensor<?x1xi64, #exir.shape<[u0, 1]>> {
  %0 = edge.aten.nonzero(%x) : (tensor<8xi1>) -> tensor<?x1xi64, #exir.shape<[u0, 1]>>
  %1 = edge.aten.sym_size.int(%0, dim = 0) : (tensor<?x1xi64, #exir.shape<[u0, 1]>>) -> !exir.symint<u0>
  %2 = exir.number 5 : !exir.symint<5>
  %3 = exir.sym_le %1, %2 : (!exir.symint<u0>, !exir.symint<5>) -> !exir.symbool<le(u0, 5)>
  edge.aten._assert_scalar(self = %3, assert_msg = "too many") : (!exir.symbool<le(u0, 5)>) -> ()
  func.return %0 : tensor<?x1xi64, #exir.shape<[u0, 1]>>
}
// CHECK-LABEL: func.func @few(
// CHECK:         %[[COUNT:.*]] = tensor.extract %{{.*}}[] : tensor<i64>
// CHECK-NEXT:    %[[U0:.*]] = arith.index_cast %[[COUNT]] : i64 to index
// CHECK-NOT:     cf.assert
// CHECK:         tensor.empty(%{{.*}}) : tensor<?x1xi64>
// CHECK:         arith.cmpi sle, %[[U0]]
// CHECK:         cf.assert %{{.*}}, "too many"
