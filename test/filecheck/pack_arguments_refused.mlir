// RUN: not xdsl-opt %s -p pack-arguments 2>&1 | filecheck %s

func.func @forward(%x : tensor<4xf32>) attributes {llvm.emit_c_interface} {
  func.return
}
// CHECK: functions that are called from outside take no tensor<4xf32>
