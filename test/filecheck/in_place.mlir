// RUN: xdsl-opt %s --split-input-file -p 'plan-memory,verify-memory' | filecheck %s
// RUN: xdsl-opt %s --split-input-file -p plan-memory | xdsl-opt --split-input-file -p plan-memory,verify-memory | filecheck %s
// RUN: %if mlir-opt %{ xdsl-opt %s --split-input-file -p plan-memory --print-op-generic | mlir-opt-22 --split-input-file > /dev/null %}

// @relu is a kernel that reads an element for the last time as it writes the one in its place: %b lies where %a does, %c, which is of nobody who says
// so, does not, and %d neither: %c is needed afterwards.
func.func private @relu(memref<4x16xf32>, memref<4x16xf32>) attributes {exir.kernel = {is = "Rows", leading = [4 : i64], inputs = [{is = "Input", shape = [4 : i64, 16 : i64]}], program = [{is = "Load", length = 16 : i64}, {is = "Map", length = 16 : i64, operands = [0 : i64], element = {is = "Elementwise", operator = "aten.relu"}}], outputs = [1 : i64], machine = {is = "Machine", lanes = 4 : i64, registers = 16 : i64}}}
func.func private @other(memref<4x16xf32>, memref<4x16xf32>)
func.func @in_place(%x: memref<4x16xf32>, %y: memref<4x16xf32>) {
  %a = memref.alloc() : memref<4x16xf32>
  func.call @other(%x, %a) : (memref<4x16xf32>, memref<4x16xf32>) -> ()
  %b = memref.alloc() : memref<4x16xf32>
  func.call @relu(%a, %b) : (memref<4x16xf32>, memref<4x16xf32>) -> ()
  %c = memref.alloc() : memref<4x16xf32>
  func.call @other(%b, %c) : (memref<4x16xf32>, memref<4x16xf32>) -> ()
  %d = memref.alloc() : memref<4x16xf32>
  func.call @relu(%c, %d) : (memref<4x16xf32>, memref<4x16xf32>) -> ()
  func.call @other(%c, %y) : (memref<4x16xf32>, memref<4x16xf32>) -> ()
  func.call @other(%d, %y) : (memref<4x16xf32>, memref<4x16xf32>) -> ()
  func.return
}
// CHECK-LABEL: func.func @in_place({{.*}}memref<512xi8>) attributes {exir.arena_bytes = 512 : i64}
// CHECK:         %[[FIRST:.*]] = arith.constant 0 : index
// CHECK:         %[[SECOND:.*]] = arith.constant 256 : index
// CHECK:         %a = memref.view %{{.*}}[%[[FIRST]]][]
// CHECK:         %b = memref.view %{{.*}}[%[[FIRST]]][]
// CHECK:         %c = memref.view %{{.*}}[%[[SECOND]]][]
// CHECK:         %d = memref.view %{{.*}}[%[[FIRST]]][]

// -----

// An input of the function is nobody's to write to, nor what a loop's next turn reads.
func.func private @relu(memref<4x16xf32>, memref<4x16xf32>) attributes {exir.kernel = {is = "Rows", leading = [4 : i64], inputs = [{is = "Input", shape = [4 : i64, 16 : i64]}], program = [{is = "Load", length = 16 : i64}, {is = "Map", length = 16 : i64, operands = [0 : i64], element = {is = "Elementwise", operator = "aten.relu"}}], outputs = [1 : i64], machine = {is = "Machine", lanes = 4 : i64, registers = 16 : i64}}}
func.func private @other(memref<4x16xf32>, memref<4x16xf32>)
func.func @not_in_place(%x: memref<4x16xf32>, %y: memref<4x16xf32>, %n: index) {
  %step = arith.constant 1 : index
  %a = memref.alloc() : memref<4x16xf32>
  func.call @relu(%x, %a) : (memref<4x16xf32>, memref<4x16xf32>) -> ()
  scf.for %i = %step to %n step %step {
    %b = memref.alloc() : memref<4x16xf32>
    func.call @relu(%a, %b) : (memref<4x16xf32>, memref<4x16xf32>) -> ()
    func.call @other(%b, %y) : (memref<4x16xf32>, memref<4x16xf32>) -> ()
  }
  func.return
}
// CHECK-LABEL: func.func @not_in_place({{.*}}memref<512xi8>) attributes {exir.arena_bytes = 512 : i64}
