// RUN: xdsl-opt %s -p 'plan-memory{pools="1:1024:256","2"},verify-memory' | filecheck %s
// RUN: xdsl-opt %s -p 'plan-memory{pools="1:1024:256","2"}' --print-op-generic | xdsl-opt -p verify-memory | filecheck %s
// RUN: %if mlir-opt %{ xdsl-opt %s -p 'plan-memory{pools="1:1024:256"}' --print-op-generic | mlir-opt-22 > /dev/null %}
// RUN: not xdsl-opt %s -p 'plan-memory{pools="1:256"}' 2>&1 | filecheck %s --check-prefix=SMALL
// RUN: not xdsl-opt %s -p 'plan-memory{pools="1:2:3:4"}' 2>&1 | filecheck %s --check-prefix=TEXT
// RUN: not xdsl-opt %s -p 'plan-memory{pools="1","1:8"}' 2>&1 | filecheck %s --check-prefix=TWICE

// SMALL: memory space 1 has 256 bytes, and 320 are needed
// TEXT: plan-memory: '1:2:3:4' is no pool: SPACE:BYTES:ALIGNMENT in numbers
// TWICE: plan-memory: '1:8': a space has one pool, and an alignment above 0

// An arena for each memory space that there is something in.
func.func private @use(memref<16xf32>, memref<16xf32, 1>, memref<64xf32, 1>, memref<16xf32, 2>)
func.func @f() {
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc() : memref<16xf32, 1>
  %c = memref.alloc() : memref<64xf32, 1>
  %d = memref.alloc() : memref<16xf32, 2>
  func.call @use(%a, %b, %c, %d) : (memref<16xf32>, memref<16xf32, 1>, memref<64xf32, 1>, memref<16xf32, 2>) -> ()
  func.return
}
// CHECK-LABEL: func.func @f(%{{.*}}: memref<64xi8>, %{{.*}}: memref<320xi8, 1 : i64>, %{{.*}}: memref<64xi8, 2 : i64>) attributes {exir.arena_bytes = 64 : i64, exir.pools = {"1" = {bytes = 320 : i64, capacity = 1024 : i64, alignment = 256 : i64}, "2" = {bytes = 64 : i64, alignment = 64 : i64}}}
// CHECK:         %[[FIRST:.*]] = arith.constant 0 : index
// CHECK:         %[[SECOND:.*]] = arith.constant 256 : index
// CHECK:         memref.view %{{.*}}[%[[FIRST]]][] : memref<64xi8> to memref<16xf32>
// CHECK:         memref.view %{{.*}}[%[[SECOND]]][] : memref<320xi8, 1 : i64> to memref<16xf32, 1 : i64>
// CHECK:         memref.view %{{.*}}[%[[FIRST]]][] : memref<320xi8, 1 : i64> to memref<64xf32, 1 : i64>
// CHECK:         memref.view %{{.*}}[%[[FIRST]]][] : memref<64xi8, 2 : i64> to memref<16xf32, 2 : i64>
