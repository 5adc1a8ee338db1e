// RUN: xdsl-opt %s -p forget-sizes | filecheck %s

// A size that is asked of a tensor is a value of its own: with `dce` the relu has no use.
func.func @sizes(%x: tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?xf32, #exir.shape<[3 * s0]>> {
  %0 = edge.aten.relu(%x) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  %1 = edge.aten.sym_size.int(%0, dim = 0) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> !exir.symint<s0>
  %2 = exir.number 3 : !exir.symint<3>
  %3 = exir.sym_mul %1, %2 : (!exir.symint<s0>, !exir.symint<3>) -> !exir.symint<3 * s0>
  %4 = edge.aten.view(%x, size = [%3]) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>, !exir.symint<3 * s0>) -> tensor<?xf32, #exir.shape<[3 * s0]>>
  func.return %4 : tensor<?xf32, #exir.shape<[3 * s0]>>
}
// CHECK-LABEL: func.func @sizes(
// CHECK:         %1 = builtin.unrealized_conversion_cast to !exir.symint<s0>
// CHECK-NEXT:    %2 = exir.number 3
// CHECK-NEXT:    %3 = exir.sym_mul %1, %2
// CHECK-NEXT:    %4 = edge.aten.view(%x, size = [%3])

// Left alone: arithmetic of numbers, and a number that is read out of memory.
func.func @numbers(%n: !exir.symint<s0>, %x: tensor<i64>) -> (!exir.symint<2 * s0>, !exir.symint<u0>) {
  %0 = exir.number 2 : !exir.symint<2>
  %1 = exir.sym_mul %n, %0 : (!exir.symint<s0>, !exir.symint<2>) -> !exir.symint<2 * s0>
  %2 = edge.aten._local_scalar_dense(%x) : (tensor<i64>) -> !exir.symint<u0>
  func.return %1, %2 : !exir.symint<2 * s0>, !exir.symint<u0>
}
// CHECK-LABEL: func.func @numbers(
// CHECK-NEXT:    %0 = exir.number 2
// CHECK-NEXT:    %1 = exir.sym_mul %n, %0
// CHECK-NEXT:    %2 = edge.aten._local_scalar_dense(%x)
