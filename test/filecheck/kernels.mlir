// RUN: python %S/Inputs/kernels.py | filecheck %s
// RUN: %if mlir-opt %{ python %S/Inputs/kernels.py | mlir-opt-22 --allow-unregistered-dialect > /dev/null %}

// A small kernel of each kind, as operations: what they are made of is in Inputs/kernels.py.

// Two rows of the left-hand side by one vector of the packed right-hand side; a bias, and the largest of that and 0, before it is stored.
// CHECK:       "func.func"() <{"sym_name" = "matmul", "function_type" = (memref<2x8xf32>, memref<1x8x4xf32>, memref<4xf32>, memref<2x4xf32>) -> (), "sym_visibility" = "private"}> ({
// CHECK-NEXT:  ^bb{{\d+}}([[L:%\d+]] : memref<2x8xf32>, [[R:%\d+]] : memref<1x8x4xf32>, [[B:%\d+]] : memref<4xf32>, [[O:%\d+]] : memref<2x4xf32>):
// CHECK:       "scf.for"
// CHECK-NEXT:  ^bb{{\d+}}([[K:%\d+]] : index, [[A0:%\d+]] : vector<4xf32>, [[A1:%\d+]] : vector<4xf32>):
// CHECK-NEXT:  [[V:%\d+]] = "vector.load"([[R]], {{%\d+}}, [[K]], {{%\d+}})
// CHECK-NEXT:  "memref.load"([[L]], {{%\d+}}, [[K]])
// CHECK-NEXT:  [[X0:%\d+]] = "vector.broadcast"
// CHECK-NEXT:  "memref.load"([[L]], {{%\d+}}, [[K]])
// CHECK-NEXT:  [[X1:%\d+]] = "vector.broadcast"
// CHECK-NEXT:  [[S0:%\d+]] = "vector.fma"([[X0]], [[V]], [[A0]])
// CHECK-NEXT:  [[S1:%\d+]] = "vector.fma"([[X1]], [[V]], [[A1]])
// CHECK-NEXT:  "scf.yield"([[S0]], [[S1]])
// CHECK:       [[BIAS:%\d+]] = "vector.load"([[B]]
// CHECK-NEXT:  [[SUM:%\d+]] = "arith.addf"({{%\d+}}, [[BIAS]])
// CHECK-NEXT:  [[MAX:%\d+]] = "arith.maximumf"([[SUM]]
// CHECK-NEXT:  "vector.store"([[MAX]], [[O]]
// CHECK:       "func.return"() : () -> ()
// CHECK-NEXT:  }) {"passthrough" = ["noinline"]} : () -> ()

// Symbols are the first arguments; sizes are computed at the top; threads are started where symbols say that it pays.
// CHECK: "sym_name" = "symbolic"
// CHECK:       ^bb{{\d+}}([[S:%\d+]] : index, {{%\d+}} : memref<?x8xf32>, {{%\d+}} : memref<1x8x4xf32>, {{%\d+}} : memref<?x4xf32>):
// CHECK:       [[WORK:%\d+]] = "arith.muli"({{%\d+}}, [[S]])
// CHECK:       [[ENOUGH:%\d+]] = "arith.cmpi"([[WORK]], {{%\d+}}) <{"predicate" = 5 : i64}>
// CHECK-NEXT:  "omp.parallel"([[ENOUGH]]) <{"operandSegmentSizes" = array<i32: 0, 0, 1, 0, 0, 0>}>
// CHECK:       "omp.wsloop"
// CHECK:       "omp.loop_nest"
// CHECK:       "omp.yield"
// CHECK:       "omp.terminator"
// CHECK:       {"exir.symbols" = ["s0"], "passthrough" = ["noinline"]}

// The right-hand side is transposed in registers, by rounds of shuffles, to a buffer of the worker's.
// CHECK: "sym_name" = "transposed"
// CHECK-COUNT-8: "vector.shuffle"
// CHECK-COUNT-4: "vector.store"
// CHECK:         "scf.for"
// CHECK-COUNT-4: "vector.fma"

// Lanes along channels: a tile's rows are pixels, transposed before they are stored.
// CHECK: "sym_name" = "channels"
// CHECK:          "memref.collapse_shape"
// CHECK-COUNT-3:  "scf.for"
// CHECK:          "vector.fma"
// CHECK:          "vector.shuffle"
// CHECK:          "vector.store"

// An image with zeros around it in a buffer of the worker's; then all nine taps, with the numbers of the kernel in registers.
// CHECK: "sym_name" = "depthwise"
// CHECK-COUNT-9:  "vector.broadcast"
// CHECK-COUNT-36: "vector.fma"
// CHECK:          "vector.store"

// The largest of rows along the row, then of columns, a stride apart.
// CHECK: "sym_name" = "pool"
// CHECK:         "vector.load"
// CHECK:         "arith.maximumf"
// CHECK:         "vector.store"
// CHECK:         [[PAIRS:%\d+]] = "vector.load"
// CHECK-NEXT:    "vector.shuffle"([[PAIRS]], {{%\d+}}) <{"mask" = array<i64: 0, 2>}>
// CHECK-NEXT:    "vector.shuffle"([[PAIRS]], {{%\d+}}) <{"mask" = array<i64: 1, 3>}>
// CHECK-NEXT:    "arith.maximumf"

// A row's mean in float64, the last two of six elements by a mask; then what remains of each.
// CHECK: "sym_name" = "rows"
// CHECK:           "vector.load"
// CHECK-NEXT:      "arith.extf"{{.*}} : (vector<4xf32>) -> vector<4xf64>
// CHECK:           [[MASK:%\d+]] = "vector.constant_mask"() <{"mask_dim_sizes" = array<i64: 2>}>
// CHECK-NEXT:      [[REST:%\d+]] = "vector.maskedload"({{%\d+}}, {{%\d+}}, {{%\d+}}, [[MASK]]
// CHECK-NEXT:      "arith.select"([[MASK]], [[REST]]
// CHECK-COUNT-4:   "vector.extract_strided_slice"
// CHECK:           [[SUM:%\d+]] = "vector.extract"
// CHECK-NEXT:      [[MEAN:%\d+]] = "arith.divf"([[SUM]]
// CHECK-NEXT:      [[NARROW:%\d+]] = "arith.truncf"([[MEAN]]
// CHECK-NEXT:      "vector.broadcast"([[NARROW]]
// CHECK-NEXT:      "arith.subf"
// CHECK:           "vector.maskedstore"

// A block of rows: right-hand sides are packed; the first product's rows go to a buffer, are made absolute in their place, and their sums are kept; the
// second product of these is divided by the sums where it lies.
// CHECK: "sym_name" = "chain"
// CHECK:          [[HELD:%\d+]] = "memref.subview"
// CHECK:          [[SUMS:%\d+]] = "memref.subview"
// CHECK:          "scf.for"
// CHECK-COUNT-8:  "vector.fma"
// CHECK:          "vector.store"({{%\d+}}, [[HELD]]
// CHECK:          "math.absf"
// CHECK-NEXT:     "vector.store"({{%\d+}}, [[HELD]]
// CHECK:          "memref.store"({{%\d+}}, [[SUMS]]
// CHECK-COUNT-4:  "vector.fma"
// CHECK:          "vector.store"({{%\d+}}, [[OUT:%\d+]]
// CHECK:          "arith.divf"
// CHECK-NEXT:     "vector.store"({{%\d+}}, [[OUT]]

// A long reduction, part by part: sums of tiles begin with zeros in a buffer, to which those of each part are added.
// CHECK: "sym_name" = "long"
// CHECK:          ^bb{{\d+}}({{%\d+}} : memref<2x5000xf32>, {{%\d+}} : memref<1x5000x4xf32>, [[KEPT:%\d+]] : memref<1x2x4xf32>, [[OUT:%\d+]] : memref<2x4xf32>):
// CHECK-COUNT-2:  "vector.store"({{%\d+}}, [[KEPT]]
// CHECK-COUNT-3:  "scf.for"
// CHECK-COUNT-2:  "vector.fma"
// CHECK-COUNT-2:  "vector.store"({{%\d+}}, [[KEPT]]
// CHECK-COUNT-2:  "vector.store"({{%\d+}}, [[OUT]]

// Four real values as two complex ones, of which sum and difference are the transform; the middle one is turned by a root. Then rows of halves.
// CHECK: "sym_name" = "fourier"
// CHECK:           [[ROWS:%\d+]] = "builtin.unrealized_conversion_cast"
// CHECK:           [[GIVEN:%\d+]] = "vector.load"([[ROWS]]
// CHECK-NEXT:      "vector.store"([[GIVEN]]
// CHECK-COUNT-4:   "vector.load"
// CHECK-NEXT:      "arith.addf"
// CHECK-NEXT:      "arith.addf"
// CHECK-NEXT:      "arith.subf"
// CHECK-NEXT:      "arith.subf"
// CHECK:           "vector.fma"
// CHECK-COUNT-2:   "vector.shuffle"
// CHECK-NEXT:      "vector.store"
