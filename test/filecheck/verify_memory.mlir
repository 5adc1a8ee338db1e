// RUN: not xdsl-opt %s -p verify-memory 2>&1 | filecheck %s

// Parts that are needed at the same time and overlap, one that is not aligned, one that reaches beyond the arena; a symbolic one that may
// overlap, as nothing is known of its symbol.

func.func private @use(memref<32xf32>, memref<32xf32>)
func.func @overlap(%arena : memref<256xi8>) attributes {exir.arena_bytes = 256 : i64} {
  %0 = arith.constant 0 : index
  %64 = arith.constant 64 : index
  %a = memref.view %arena[%0][] : memref<256xi8> to memref<32xf32>
  %b = memref.view %arena[%64][] : memref<256xi8> to memref<32xf32>
  func.call @use(%a, %b) : (memref<32xf32>, memref<32xf32>) -> ()
  func.return
}
// CHECK: @overlap: [64, 192) overlaps [0, 128), which is needed at the same time

func.func @places(%arena : memref<256xi8>) attributes {exir.arena_bytes = 256 : i64} {
  %8 = arith.constant 8 : index
  %192 = arith.constant 192 : index
  %a = memref.view %arena[%8][] : memref<256xi8> to memref<32xf32>
  %b = memref.view %arena[%192][] : memref<256xi8> to memref<32xf32>
  func.call @use(%a, %a) : (memref<32xf32>, memref<32xf32>) -> ()
  func.call @use(%b, %b) : (memref<32xf32>, memref<32xf32>) -> ()
  func.return
}
// CHECK: @places: [192, 320) reaches beyond the arena, which has 256 bytes
// CHECK: @places: [8, 136) is not aligned to 64 bytes

func.func private @symbolic_use(memref<?xf32>, memref<32xf32>)
func.func @symbolic(%s0 : index, %arena : memref<?xi8>) attributes {exir.symbols = ["s0"], exir.arena_bytes = "4 * s0 + 256"} {
  %0 = arith.constant 0 : index
  %128 = arith.constant 128 : index
  %a = memref.view %arena[%0][%s0] {exir.bytes = "4 * s0"} : memref<?xi8> to memref<?xf32>
  %b = memref.view %arena[%128][] : memref<?xi8> to memref<32xf32>
  func.call @symbolic_use(%a, %b) : (memref<?xf32>, memref<32xf32>) -> ()
  func.return
}
// CHECK: @symbolic: [128, 256) overlaps [0, 4 * s0), which is needed at the same time
