// An index that may count from the end, as an offset within the extent; the nearest where it
// leaves it, so that nothing outside of a tensor is touched.
fn resolve_index(index: i32, extent: u32) -> u32 {
  let from_front = select(index, index + i32(extent), index < 0);
  return u32(clamp(from_front, 0, i32(extent) - 1));
}
