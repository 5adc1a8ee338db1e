// RUN: xdsl-opt %s --split-input-file -p 'plan-memory{planner=by-size},verify-memory' | filecheck %s
// RUN: xdsl-opt %s --split-input-file -p 'plan-memory,verify-memory' | xdsl-opt --split-input-file -p verify-memory --print-op-generic | xdsl-opt --split-input-file -p verify-memory | filecheck %s
// RUN: xdsl-opt %s --split-input-file -p 'plan-memory{planner=by-start},verify-memory' > /dev/null
// RUN: xdsl-opt %s --split-input-file -p 'plan-memory{planner=by-lifetime},verify-memory' > /dev/null
// RUN: %if mlir-opt %{ xdsl-opt %s --split-input-file -p plan-memory --print-op-generic | mlir-opt-22 --split-input-file > /dev/null %}
// RUN: not xdsl-opt %s --split-input-file -p 'plan-memory{planner=worst}' 2>&1 | filecheck %s --check-prefix=PLANNER
// RUN: not xdsl-opt %s --split-input-file -p verify-memory 2>&1 | filecheck %s --check-prefix=NOT

// PLANNER: plan-memory: no planner 'worst'; there are by-size, by-lifetime, by-start, best
// NOT: plan-memory has not run on @chain

// %b and %d are not needed while %a and %c are: they share memory. A view needs what it is a view of.
func.func private @use(memref<32xf32>, memref<32xf32>)
func.func @chain() {
  %a = memref.alloc() : memref<32xf32>
  %b = memref.alloc() : memref<32xf32>
  func.call @use(%a, %b) : (memref<32xf32>, memref<32xf32>) -> ()
  %c = memref.alloc() : memref<32xf32>
  func.call @use(%b, %c) : (memref<32xf32>, memref<32xf32>) -> ()
  %v = memref.reinterpret_cast %c to offset: [0], sizes: [32], strides: [1] : memref<32xf32> to memref<32xf32>
  %d = memref.alloc() : memref<32xf32>
  func.call @use(%v, %d) : (memref<32xf32>, memref<32xf32>) -> ()
  func.return
}
// CHECK-LABEL: func.func @chain(%{{.*}}: memref<256xi8>) attributes {exir.arena_bytes = 256 : i64}
// CHECK:         %[[FIRST:.*]] = arith.constant 0 : index
// CHECK:         %[[SECOND:.*]] = arith.constant 128 : index
// CHECK:         %a = memref.view %{{.*}}[%[[FIRST]]][] : memref<256xi8> to memref<32xf32>
// CHECK:         %b = memref.view %{{.*}}[%[[SECOND]]][] : memref<256xi8> to memref<32xf32>
// CHECK:         %c = memref.view %{{.*}}[%[[FIRST]]][] : memref<256xi8> to memref<32xf32>
// CHECK:         %d = memref.view %{{.*}}[%[[SECOND]]][] : memref<256xi8> to memref<32xf32>

// -----

// What a loop finds it needs until its end, though it is used at its beginning alone; a branch frees what only it needs.
func.func private @use(memref<16xf32>)
func.func @regions(%n : index, %p : i1) {
  %step = arith.constant 1 : index
  %a = memref.alloc() : memref<16xf32>
  scf.for %i = %step to %n step %step {
    func.call @use(%a) : (memref<16xf32>) -> ()
    %b = memref.alloc() : memref<16xf32>
    func.call @use(%b) : (memref<16xf32>) -> ()
  }
  scf.if %p {
    %c = memref.alloc() : memref<16xf32>
    func.call @use(%c) : (memref<16xf32>) -> ()
  } else {
    %d = memref.alloc() : memref<16xf32>
    func.call @use(%d) : (memref<16xf32>) -> ()
  }
  func.return
}
// CHECK-LABEL: func.func @regions(%n: index, %p: i1, %{{.*}}: memref<128xi8>) attributes {exir.arena_bytes = 128 : i64}
// CHECK-DAG:     %[[FIRST:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[SECOND:.*]] = arith.constant 64 : index
// CHECK:         %a = memref.view %{{.*}}[%[[FIRST]]][]
// CHECK:         scf.for
// CHECK:           %b = memref.view %{{.*}}[%[[SECOND]]][]
// CHECK:         scf.if
// CHECK:           %c = memref.view %{{.*}}[%[[FIRST]]][]
// CHECK:         else
// CHECK:           %d = memref.view %{{.*}}[%[[FIRST]]][]

// -----

// Symbolic sizes: parts lie behind those of known sizes, at offsets that are computed from the symbols.
func.func private @use(memref<4xf32>, memref<?xf32>, memref<?xf32>)
func.func @symbolic(%s0 : index) attributes {exir.symbols = ["s0"]} {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc(%s0) {exir.bytes = "4 * s0", exir.typical = 256 : i64} : memref<?xf32>
  %c = memref.alloc(%s0) {exir.bytes = "4 * s0", exir.typical = 256 : i64} : memref<?xf32>
  func.call @use(%a, %b, %c) : (memref<4xf32>, memref<?xf32>, memref<?xf32>) -> ()
  func.return
}
// CHECK-LABEL: func.func @symbolic(%s0: index, %{{.*}}: memref<?xi8>) attributes {exir.symbols = ["s0"], exir.arena_bytes = "4 * s0 + 64 * ((4 * s0 + 127) floordiv 64)"}
// CHECK:         arith.divsi
// CHECK:         memref.view %{{.*}}[%{{.*}}][] : memref<?xi8> to memref<4xf32>
// CHECK:         memref.view %{{.*}}[%{{.*}}][%s0] {exir.bytes = "4 * s0", exir.typical = 256 : i64} : memref<?xi8> to memref<?xf32>
// CHECK:         memref.view %{{.*}}[%{{.*}}][%s0] {exir.bytes = "4 * s0", exir.typical = 256 : i64, exir.offset = "64 * ((4 * s0 + 127) floordiv 64)"} : memref<?xi8> to memref<?xf32>
