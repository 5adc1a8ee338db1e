// RUN: xdsl-opt %s -p expand-math | filecheck %s
// RUN: %if mlir-opt %{ xdsl-opt %s -p expand-math --print-op-generic | mlir-opt-22 > /dev/null %}

// e^x = 2^n e^r: n and r, a polynomial of r, and 2^n in two factors. Constants stand at the top.
// CHECK-LABEL: func.func @numbers
func.func @numbers(%x: f32) -> f32 {
  // CHECK:       arith.constant 8.900000e+01 : f32
  // CHECK:       [[BELOW:%\d+]] = "arith.select"({{%\d+}}, {{%\d+}}, %x)
  // CHECK-NEXT:  "arith.cmpf"({{%\d+}}, [[BELOW]])
  // CHECK-NEXT:  "arith.select"
  // CHECK-COUNT-2: math.fma
  // CHECK:       arith.bitcast %{{.*}} : f32 to i32
  // CHECK:       arith.shrui
  // CHECK-COUNT-2: arith.shli
  // CHECK:       arith.mulf
  // CHECK:       [[R:%\d+]] = arith.mulf
  // CHECK-NEXT:  func.return [[R]]
  // CHECK-NOT:   math.exp
  %0 = math.exp %x : f32
  func.return %0 : f32
}

// In regions, too: constants of both are one.
// CHECK-LABEL: func.func @rounds
func.func @rounds(%x: vector<8xf32>, %n: index) -> vector<8xf32> {
  // CHECK:       arith.constant dense<1.000000e+00> : vector<8xf32>
  // CHECK:       scf.for
  // CHECK-NEXT:  math.absf
  // CHECK:       math.copysign
  // CHECK-NEXT:  {{%\d+}} = "arith.select"
  // CHECK:       math.absf
  // CHECK:       math.copysign
  // CHECK-NEXT:  [[R:%\d+]] = "arith.select"
  // CHECK-NEXT:  scf.yield [[R]]
  // CHECK-NOT:   math.{{tanh|erf}}
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> (vector<8xf32>) {
    %0 = math.tanh %a : vector<8xf32>
    %1 = math.erf %0 : vector<8xf32>
    scf.yield %1 : vector<8xf32>
  }
  func.return %r : vector<8xf32>
}

// Other types and functions are left to MLIR.
// CHECK-LABEL: func.func @others
func.func @others(%x: f64, %y: vector<2x4xf32>, %z: vector<4xf32>) -> (f64, vector<2x4xf32>, vector<4xf32>) {
  // CHECK-NEXT:  math.sin %x : f64
  // CHECK-NEXT:  math.erf %y : vector<2x4xf32>
  // CHECK-NEXT:  math.sqrt %z : vector<4xf32>
  %0 = math.sin %x : f64
  %1 = math.erf %y : vector<2x4xf32>
  %2 = math.sqrt %z : vector<4xf32>
  func.return %0, %1, %2 : f64, vector<2x4xf32>, vector<4xf32>
}

// float64: log of a number is arithmetic; of an angle of a million and more the sine is MLIR's, if some lane has one.
// CHECK-LABEL: func.func @wide
func.func @wide(%x: f64, %y: vector<8xf64>) -> (f64, vector<8xf64>) {
  // CHECK:       arith.divf
  // CHECK-NOT:   math.log
  // CHECK:       vector.reduction
  // CHECK-NEXT:  scf.if
  // CHECK-NEXT:  math.sin %y : vector<8xf64>
  // CHECK:       func.return
  %0 = math.log %x : f64
  %1 = math.sin %y : vector<8xf64>
  func.return %0, %1 : f64, vector<8xf64>
}

// The arc tangent of hyperbolic functions of float32 in float32.
// CHECK-LABEL: func.func @hyperbolic
func.func @hyperbolic(%x: vector<16xf32>) -> vector<16xf32> {
  // CHECK-NOT:   math.atanh
  // CHECK-NOT:   f64
  // CHECK:       arith.divf
  // CHECK:       func.return
  %0 = math.atanh %x : vector<16xf32>
  func.return %0 : vector<16xf32>
}
