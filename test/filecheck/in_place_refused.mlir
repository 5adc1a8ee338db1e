// RUN: not xdsl-opt %s -p verify-memory 2>&1 | filecheck %s

// Where one part lies in another's place, but: @other has no kernel that says it may write there; %a is needed afterwards; %b begins later than %a.
func.func private @relu(memref<4x16xf32>, memref<4x16xf32>) attributes {exir.kernel = {is = "Rows", leading = [4 : i64], inputs = [{is = "Input", shape = [4 : i64, 16 : i64]}], program = [{is = "Load", length = 16 : i64}, {is = "Map", length = 16 : i64, operands = [0 : i64], element = {is = "Elementwise", operator = "aten.relu"}}], outputs = [1 : i64], machine = {is = "Machine", lanes = 4 : i64, registers = 16 : i64}}}
func.func private @other(memref<4x16xf32>, memref<4x16xf32>)
func.func @without(%y: memref<4x16xf32>, %arena : memref<256xi8>) attributes {exir.arena_bytes = 256 : i64} {
  %0 = arith.constant 0 : index
  %a = memref.view %arena[%0][] : memref<256xi8> to memref<4x16xf32>
  func.call @other(%y, %a) : (memref<4x16xf32>, memref<4x16xf32>) -> ()
  %b = memref.view %arena[%0][] : memref<256xi8> to memref<4x16xf32>
  func.call @other(%a, %b) : (memref<4x16xf32>, memref<4x16xf32>) -> ()
  func.return
}
// CHECK: @without: [0, 256) overlaps [0, 256), which is needed at the same time
func.func @needed(%y: memref<4x16xf32>, %arena : memref<256xi8>) attributes {exir.arena_bytes = 256 : i64} {
  %0 = arith.constant 0 : index
  %a = memref.view %arena[%0][] : memref<256xi8> to memref<4x16xf32>
  func.call @other(%y, %a) : (memref<4x16xf32>, memref<4x16xf32>) -> ()
  %b = memref.view %arena[%0][] : memref<256xi8> to memref<4x16xf32>
  func.call @relu(%a, %b) : (memref<4x16xf32>, memref<4x16xf32>) -> ()
  func.call @other(%a, %y) : (memref<4x16xf32>, memref<4x16xf32>) -> ()
  func.return
}
// CHECK: @needed: [0, 256) overlaps [0, 256), which is needed at the same time
func.func @later(%y: memref<4x16xf32>, %arena : memref<320xi8>) attributes {exir.arena_bytes = 320 : i64} {
  %0 = arith.constant 0 : index
  %64 = arith.constant 64 : index
  %a = memref.view %arena[%0][] : memref<320xi8> to memref<4x16xf32>
  func.call @other(%y, %a) : (memref<4x16xf32>, memref<4x16xf32>) -> ()
  %b = memref.view %arena[%64][] : memref<320xi8> to memref<4x16xf32>
  func.call @relu(%a, %b) : (memref<4x16xf32>, memref<4x16xf32>) -> ()
  func.return
}
// CHECK: @later: [64, 320) overlaps [0, 256), which is needed at the same time
func.func @used_before(%y: memref<4x16xf32>, %arena : memref<256xi8>) attributes {exir.arena_bytes = 256 : i64} {
  %0 = arith.constant 0 : index
  %a = memref.view %arena[%0][] : memref<256xi8> to memref<4x16xf32>
  func.call @other(%y, %a) : (memref<4x16xf32>, memref<4x16xf32>) -> ()
  %b = memref.view %arena[%0][] : memref<256xi8> to memref<4x16xf32>
  func.call @other(%y, %b) : (memref<4x16xf32>, memref<4x16xf32>) -> ()
  func.call @relu(%a, %b) : (memref<4x16xf32>, memref<4x16xf32>) -> ()
  func.return
}
// CHECK: @used_before: [0, 256) overlaps [0, 256), which is needed at the same time
