// RUN: xdsl-opt %s | filecheck %s --check-prefix=SAME
// RUN: xdsl-opt %s --print-op-generic | xdsl-opt | filecheck %s --check-prefix=SAME
// RUN: xdsl-opt %s -p inline-torchscript-calls | filecheck %s --check-prefix=INLINE
// RUN: xdsl-opt %s -p 'torchscript-to-aten{inputs="float32[2, 3]",3}' | filecheck %s
// RUN: xdsl-opt %s -p 'inline-torchscript-calls,torchscript-to-aten{inputs="float32[2, 3]",3}' | filecheck %s
// RUN: xdsl-opt %s -p 'torchscript-to-aten{inputs="float32[s0, 3]",0},decompose-aten,aten-to-edge,verify-edge' | filecheck %s --check-prefix=EDGE
// RUN: xdsl-opt %s -p 'torchscript-to-aten{method=by_data inputs="float32[2]"}' | filecheck %s --check-prefix=DATA
// RUN: xdsl-opt %s -p 'torchscript-to-aten{inputs="float32[2, 3]",3}' -t 'exir-run{inputs=arange}' | filecheck %s --check-prefix=NUMBERS
// RUN: not xdsl-opt %s -p 'torchscript-to-aten{inputs="float32[2, 3]"}' 2>&1 | filecheck %s --check-prefix=MISSING
// RUN: not xdsl-opt %s -p 'torchscript-to-aten{method=backward inputs="float32[2, 3]"}' 2>&1 | filecheck %s --check-prefix=METHOD
// RUN: not xdsl-opt %s -p 'torchscript-to-aten{method=longer inputs="float32[2]"}' 2>&1 | filecheck %s --check-prefix=REFUSED
// RUN: %if mlir-opt %{ xdsl-opt %s -p 'torchscript-to-aten{inputs="float32[2, 3]",3}' --print-op-generic | mlir-opt-22 --allow-unregistered-dialect > /dev/null %}

// What numbers and types decide is gone: the call, the loop, the list. A write is what its tensor is from there on.
// SAME-LABEL: torchscript.func() {sym_name = "forward"
// SAME: torchscript.prim.CallFunction(%{{.*}}) {name = "twice"}
// INLINE-LABEL: torchscript.func() {sym_name = "forward"
// INLINE: torchscript.prim.Loop
// INLINE-NOT: CallFunction
// INLINE: torchscript.aten.mul.Scalar
// INLINE-NOT: sym_name = "twice"
// CHECK-LABEL: func.func @forward(%x: tensor<2x3xf32>
// CHECK-NEXT: [[A:%.*]] = aten.mul.Scalar(%x, other = 2)
// CHECK-NEXT: [[B:%.*]] = aten.mul.Scalar([[A]], other = 2)
// CHECK-NEXT: [[C:%.*]] = aten.mul.Scalar([[B]], other = 2)
// CHECK-NEXT: [[D:%.*]] = aten.add.Scalar([[C]], other = 2)
// CHECK-NEXT: func.return [[D]]
// EDGE-LABEL: func.func @forward(%x: tensor<?x3xf32, #exir.shape<[s0, 3]>>
// EDGE: edge.aten.add.Tensor
// NUMBERS: float32[2, 3] {{\[\[}} 2., 10., 18.],
torchscript.func() {sym_name = "forward", results = [!torchscript.Tensor]} : () -> () {
^bb0(%x: !torchscript.Tensor, %n: !torchscript.int):
  %two = torchscript.prim.Constant() {value = 2 : i64} : () -> !torchscript.int
  %one = torchscript.prim.Constant() {value = 1 : i64} : () -> !torchscript.int
  %true = torchscript.prim.Constant() {value = true} : () -> !torchscript.bool
  %y = torchscript.prim.Loop(%n, %true, %x) : (!torchscript.int, !torchscript.bool, !torchscript.Tensor) -> !torchscript.Tensor {
  ^bb0(%i: !torchscript.int, %z: !torchscript.Tensor):
    %w = torchscript.prim.CallFunction(%z) {name = "twice"} : (!torchscript.Tensor) -> !torchscript.Tensor
    torchscript.yield(%true, %w) : (!torchscript.bool, !torchscript.Tensor) -> ()
  }
  %list = torchscript.prim.ListConstruct(%y) : (!torchscript.Tensor) -> !torchscript.List<!torchscript.Tensor>
  %zero = torchscript.prim.Constant() {value = 0 : i64} : () -> !torchscript.int
  %item = torchscript.aten.__getitem__.t(%list, %zero) : (!torchscript.List<!torchscript.Tensor>, !torchscript.int) -> !torchscript.Tensor
  %more = torchscript.aten.add.Scalar(%item, %two, %one) : (!torchscript.Tensor, !torchscript.int, !torchscript.int) -> !torchscript.Tensor
  torchscript.return(%more) : (!torchscript.Tensor) -> ()
}

torchscript.func() {sym_name = "twice", results = [!torchscript.Tensor]} : () -> () {
^bb0(%x: !torchscript.Tensor):
  %two = torchscript.prim.Constant() {value = 2 : i64} : () -> !torchscript.int
  %y = torchscript.aten.mul.Scalar(%x, %two) : (!torchscript.Tensor, !torchscript.int) -> !torchscript.Tensor
  torchscript.return(%y) : (!torchscript.Tensor) -> ()
}

// What data decide stays, as operations of aten.
// DATA-LABEL: func.func @by_data(%x: tensor<2xf32>
// DATA: higher_order.cond
torchscript.func() {sym_name = "by_data", results = [!torchscript.Tensor]} : () -> () {
^bb0(%x: !torchscript.Tensor):
  %any = torchscript.aten.any(%x) : (!torchscript.Tensor) -> !torchscript.Tensor
  %c = torchscript.aten.Bool.Tensor(%any) : (!torchscript.Tensor) -> !torchscript.bool
  %y = torchscript.prim.If(%c) : (!torchscript.bool) -> !torchscript.Tensor {
    %a = torchscript.aten.relu(%x) : (!torchscript.Tensor) -> !torchscript.Tensor
    torchscript.yield(%a) : (!torchscript.Tensor) -> ()
  } {
    %b = torchscript.aten.exp(%x) : (!torchscript.Tensor) -> !torchscript.Tensor
    torchscript.yield(%b) : (!torchscript.Tensor) -> ()
  }
  torchscript.return(%y) : (!torchscript.Tensor) -> ()
}

// MISSING: forward needs argument 'n'
// METHOD: no method 'backward'; the program has forward, twice, by_data, longer
// REFUSED: tensors of the branches are float32 of 1 dimensions and float32 of 2 dimensions, and data decide which
torchscript.func() {sym_name = "longer", results = [!torchscript.Tensor]} : () -> () {
^bb0(%x: !torchscript.Tensor):
  %any = torchscript.aten.any(%x) : (!torchscript.Tensor) -> !torchscript.Tensor
  %c = torchscript.aten.Bool.Tensor(%any) : (!torchscript.Tensor) -> !torchscript.bool
  %y = torchscript.prim.If(%c) : (!torchscript.bool) -> !torchscript.Tensor {
    torchscript.yield(%x) : (!torchscript.Tensor) -> ()
  } {
    %zero = torchscript.prim.Constant() {value = 0 : i64} : () -> !torchscript.int
    %b = torchscript.aten.unsqueeze(%x, %zero) : (!torchscript.Tensor, !torchscript.int) -> !torchscript.Tensor
    torchscript.yield(%b) : (!torchscript.Tensor) -> ()
  }
  torchscript.return(%y) : (!torchscript.Tensor) -> ()
}
