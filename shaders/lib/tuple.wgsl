// Tuples of indices into the first axes of a tensor: where the slice of a row of ``indices`` is.
// params.axes holds (extent, stride, 0, 0) of each of those axes. Needs lib/index.wgsl.
fn slice_of(row: u32) -> u32 {
  var offset = 0u;
  for (var k = 0u; k < {{ depth }}u; k++) {
    let i = indices[row * {{ depth }}u + k];
    let axis = params.axes[k];
    offset += resolve_index({{ index_load }}, axis.x, params.first_word + k) * axis.y;
  }
  return offset;
}
