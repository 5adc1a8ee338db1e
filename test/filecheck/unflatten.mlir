// RUN: xdsl-opt %s -p unflatten | filecheck %s
// RUN: xdsl-opt %s -p unflatten | xdsl-opt -p inline-modules | filecheck %s --check-prefix=INLINE

// Modules that operations name become functions; an operation that names none stays where it is.
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = aten.relu(%x) {exir.origin = #exir.origin<"a", "aten.relu", "a.b">} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = aten.exp(%0) {exir.origin = #exir.origin<"b", "aten.exp", "a.b.c">} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = aten.sin(%1) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %2 : tensor<2xf32>
}
// CHECK:         func.func @f(
// CHECK-NEXT:      %0 = func.call @a.b(%x)
// CHECK-NEXT:      %1 = aten.sin(%0)
// CHECK:         func.func private @a.b(
// CHECK-NEXT:      %0 = aten.relu(%x)
// CHECK-NEXT:      %1 = func.call @a.b.c(%0)
// CHECK:         func.func private @a.b.c(
// CHECK-NEXT:      %1 = aten.exp(%0)

// INLINE:        func.func @f(
// INLINE-NEXT:     %0 = aten.relu(%x)
// INLINE-NEXT:     %1 = aten.exp(%0)
// INLINE-NEXT:     %2 = aten.sin(%1)
// INLINE-NEXT:     func.return %2
// INLINE-NOT:    func.func
