// RUN: xdsl-opt %s -p pack-arguments | filecheck %s
// RUN: xdsl-opt %s -p pack-arguments --print-op-generic | xdsl-opt | filecheck %s
// RUN: %if mlir-opt %{ xdsl-opt %s -p pack-arguments --print-op-generic | mlir-opt-22 --pass-pipeline='builtin.module(convert-to-llvm,reconcile-unrealized-casts)' > /dev/null %}

// A number is a word, a memref of rank 2 seven of them: pointers, offset, sizes, strides. What is called by others of the module alone stays as it is.
func.func @forward(%n : index, %x : memref<?x4xf32>, %s : memref<i8>) attributes {llvm.emit_c_interface} {
  func.call @kernel(%n, %x, %s) : (index, memref<?x4xf32>, memref<i8>) -> ()
  func.return
}
func.func private @kernel(index, memref<?x4xf32>, memref<i8>)
// CHECK:       func.func @exir.entry.forward(%[[WORDS:.*]]: !llvm.ptr) {
// CHECK-NEXT:    %[[P0:.*]] = llvm.getelementptr %[[WORDS]][0] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-NEXT:    %[[N64:.*]] = llvm.load %[[P0]] : !llvm.ptr -> i64
// CHECK-NEXT:    %[[N:.*]] = arith.index_cast %[[N64]] : i64 to index
// CHECK-NEXT:    %[[P1:.*]] = llvm.getelementptr %[[WORDS]][1] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-NEXT:    %[[D1:.*]] = llvm.load %[[P1]] : !llvm.ptr -> !llvm.struct<(!llvm.ptr, !llvm.ptr, i64, !llvm.array<2 x i64>, !llvm.array<2 x i64>)>
// CHECK-NEXT:    %[[X:.*]] = builtin.unrealized_conversion_cast %[[D1]] : {{.*}} to memref<?x4xf32>
// CHECK-NEXT:    %[[P8:.*]] = llvm.getelementptr %[[WORDS]][8] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-NEXT:    %[[D8:.*]] = llvm.load %[[P8]] : !llvm.ptr -> !llvm.struct<(!llvm.ptr, !llvm.ptr, i64)>
// CHECK-NEXT:    %[[S:.*]] = builtin.unrealized_conversion_cast %[[D8]] : {{.*}} to memref<i8>
// CHECK-NEXT:    func.call @kernel(%[[N]], %[[X]], %[[S]])
// CHECK:       func.func private @kernel(index, memref<?x4xf32>, memref<i8>)

// What is needed later is read later, and before the region in which it is; what is not needed is not read.
func.func @later(%n : index, %unused : memref<4xf32>, %x : memref<i8>, %on : memref<i1>) attributes {llvm.emit_c_interface} {
  func.call @count(%n) : (index) -> ()
  %0 = memref.load %on[] : memref<i1>
  scf.if %0 {
    func.call @scalar(%x) : (memref<i8>) -> ()
  }
  func.call @scalar(%x) : (memref<i8>) -> ()
  func.return
}
func.func private @count(index)
func.func private @scalar(memref<i8>)
// CHECK:       func.func @exir.entry.later(%[[WORDS:.*]]: !llvm.ptr) {
// CHECK:         llvm.getelementptr %[[WORDS]][0] :
// CHECK:         func.call @count(
// CHECK-NEXT:    %{{.*}} = llvm.getelementptr %[[WORDS]][9] :
// CHECK:         memref.load
// CHECK-NEXT:    %{{.*}} = llvm.getelementptr %[[WORDS]][6] :
// CHECK:         scf.if
// CHECK-NOT:     llvm.getelementptr
// CHECK:         func.return
