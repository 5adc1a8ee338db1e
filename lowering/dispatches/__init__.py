"""What `dispatch` cuts programs into, by kind: groups, views, copies, control flow; and the memory they share."""
