// A linear layer and its gelu are one operator:
//   XDSL_EXIR_OPS=fused.yaml xdsl-opt model.mlir -p 'apply-pdl{pdl_file="fuse.mlir"}'
// Result types and arguments that are not said are inferred and defaults in what is built; in what is looked for, they may be any.
pdl.pattern @fuse_linear_gelu : benefit(1) {
  %x = pdl.operand
  %weight = pdl.operand
  %bias = pdl.operand
  %exact = pdl.attribute = "none"
  %type = pdl.type
  %0 = pdl.operation "aten.linear" (%x, %weight, %bias : !pdl.value, !pdl.value, !pdl.value) -> (%type : !pdl.type)
  %1 = pdl.result 0 of %0
  %2 = pdl.operation "aten.gelu" (%1 : !pdl.value) {"approximate" = %exact} -> (%type : !pdl.type)
  pdl.rewrite %2 {
    %3 = pdl.operation "fused.linear_gelu" (%x, %weight, %bias : !pdl.value, !pdl.value, !pdl.value)
    pdl.replace %2 with %3
  }
}
